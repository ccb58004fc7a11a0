/*
 * Runs a program and prints how much memory it had resident at the most, in KiB. getrusage(2) does not tell for one so
 * small: the kernel counts pages on each processor and adds them up only when there are dozens. So the program is stopped
 * at its exit, while its memory is still there, and its page tables are walked (proc_pid_smaps(5)).
 *
 *   peak FILE STDIN [NAME=VALUE…]
 *
 * What the program prints goes to stderr. Ends with status 1 when that does not end with 0.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void run(char **argv) {
  char *const arguments[] = {argv[1], NULL};
  int in = open(argv[2], O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0 || dup2(2, 1) < 0) die(argv[2]);
  close(in);
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) die("ptrace");
  execve(argv[1], arguments, argv + 3);
  die(argv[1]);
}

/* The line of a file of /proc/PID that begins with `format`, which reads one number. */
static long number(pid_t pid, const char *file, const char *format) {
  char path[64], line[256];
  long value = 0;
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
  FILE *stream = fopen(path, "r");
  if (!stream) die(path);
  while (fgets(line, sizeof line, stream) && sscanf(line, format, &value) != 1) {}
  fclose(stream);
  return value;
}

int main(int argc, char **argv) {
  int status;
  long peak = 0;
  if (argc < 3) return 1;
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) run(argv);
  /* It stops at its execve(2) first. */
  if (waitpid(pid, &status, 0) < 0) die("waitpid");
  if (!WIFSTOPPED(status)) return 1;
  if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL) < 0) die("ptrace");
  for (int signal = 0;;) {
    if (ptrace(PTRACE_CONT, pid, NULL, signal) < 0) die("ptrace");
    if (waitpid(pid, &status, 0) < 0) die("waitpid");
    if (!WIFSTOPPED(status)) break;
    int is_exit = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
    signal = is_exit ? 0 : WSTOPSIG(status);
    if (!is_exit) continue;
    /* What it had and gave back is in the high water mark, as exact as the kernel's counters are. */
    long now = number(pid, "smaps_rollup", "Rss: %ld"), before = number(pid, "status", "VmHWM: %ld");
    peak = now > before ? now : before;
  }
  printf("%ld\n", peak);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
