/*
 * Runs one plugin as libcni does: the host's environment without its CNI_ variables, those of the agent instead, the configuration
 * on stdin, the result from stdout; stderr is the runtime's. The agent says which; what is checked here is that it is a name in CNI_PATH.
 */
#define _GNU_SOURCE
#include "run.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLES 512

extern char **environ;

static struct outcome outcome(const char *how, int number) { return (struct outcome){.how = how, .number = number}; }

static int is_name(const char *name) {
  return *name && strcmp(name, ".") && strcmp(name, "..") && !strchr(name, '/');
}

/* The first program of this name in CNI_PATH. */
static int find(const char *name, char *path, size_t size) {
  const char *folder = getenv("CNI_PATH");
  while (folder && *folder) {
    size_t length = strcspn(folder, ":");
    struct stat file;
    int n = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    if (*folder == '/' && n > 0 && (size_t)n < size && stat(path, &file) == 0 && S_ISREG(file.st_mode) && !access(path, X_OK))
      return 1;
    folder += length + (folder[length] == ':');
  }
  return 0;
}

/* 0 when there are too many. */
static int make_environment(char *given, char *end, char **variables) {
  size_t count = 0;
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, "CNI_", 4) && strncmp(*e, "UDN_", 4) && count < VARIABLES) variables[count++] = *e;
    if (!strncmp(*e, "CNI_PATH=", 9) && count < VARIABLES) variables[count++] = *e;
  }
  for (char *e = given; e < end; e += strlen(e) + 1)
    if (!strncmp(e, "CNI_", 4) && strncmp(e, "CNI_PATH=", 9) && count < VARIABLES) variables[count++] = e;
  variables[count] = NULL;
  return count < VARIABLES;
}

/* A file in memory: a plugin that does not read its stdin holds nobody up. */
static int as_file(const char *input, size_t length) {
  int fd = memfd_create("cni-config", MFD_CLOEXEC);
  while (fd >= 0 && length > 0) {
    ssize_t n = write(fd, input, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return close(fd), -1;
    input += n, length -= (size_t)n;
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

__attribute__((noreturn)) static void become(const char *path, char **variables, int input, int output, pid_t parent) {
  char *arguments[] = {(char *)path, NULL};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a runtime that gives up kills the shim, and calls DEL */
  if (getppid() != parent || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(126);
  execve(path, arguments, variables);
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  _exit(126);
}

/* Until it closes its stdout. @returns NULL, or why it is to be killed */
static const char *collect(int from, long long until, char *output, size_t *length) {
  for (;;) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    long long left = until - now_ms();
    int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return "late";
    if (*length == LIMIT) {
      char more;
      ssize_t n = read(from, &more, 1);
      if (n < 0 && errno == EINTR) continue;
      return n == 0 ? NULL : "long";
    }
    ssize_t n = read(from, output + *length, LIMIT - *length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return NULL;
    *length += (size_t)n;
  }
}

/* A plugin may close its stdout and go on. @returns 0: it has not ended in time */
static int ends(pid_t child, long long until) {
  int fd = (int)syscall(SYS_pidfd_open, child, 0), ready;
  if (fd < 0) return 1; /* Linux before 5.3: waitpid, however long it takes */
  struct pollfd p = {.fd = fd, .events = POLLIN};
  do {
    long long left = until - now_ms();
    ready = left > 0 ? poll(&p, 1, (int)left) : 0;
  } while (ready < 0 && errno == EINTR);
  close(fd);
  return ready != 0;
}

struct outcome run_plugin(char *environment, size_t environment_length, const char *input, size_t input_length,
                          long long until, char *output) {
  char path[4096], *variables[VARIABLES + 1], *end = environment + environment_length;
  if (environment_length == 0 || end[-1] != 0 || !is_name(environment)) return outcome("refused", 0);
  if (!find(environment, path, sizeof path)) return outcome("absent", 0);
  if (!make_environment(environment + strlen(environment) + 1, end, variables)) return outcome("refused", 0);
  int from[2], stdin_fd = as_file(input, input_length), status = 0;
  if (stdin_fd < 0) return outcome("failed", errno);
  if (pipe2(from, O_CLOEXEC) < 0) return close(stdin_fd), outcome("failed", errno);
  pid_t parent = getpid(), child = fork();
  if (child == 0) become(path, variables, stdin_fd, from[1], parent);
  int why = errno;
  close(stdin_fd), close(from[1]);
  if (child < 0) return close(from[0]), outcome("failed", why);
  size_t length = 0;
  const char *killed = collect(from[0], until, output, &length);
  close(from[0]);
  if (!killed && !ends(child, until)) killed = "late";
  if (killed) kill(-child, SIGKILL), kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (killed) return outcome(killed, 0);
  struct outcome done = WIFSIGNALED(status) ? outcome("signal", WTERMSIG(status)) : outcome("exit", WEXITSTATUS(status));
  done.length = length;
  return done;
}
