/*
 * Runs programs and times each from just before its start until it has ended, as a container runtime waits for a CNI
 * plugin. Small on purpose: starting a program from a large process takes long, and counts as the program's time.
 *
 *   in    one line per program, tabs between: FILE STDIN NAME=VALUE…; an empty line starts all of them at once
 *   out   per program, in their order: "NANOSECONDS STATUS BYTES\n" and the bytes that it printed; then the
 *         nanoseconds from the first start to the last end, and a newline
 *
 * STATUS is that of wait(2).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 128
#define MAX_WORDS 64
#define MAX_OUTPUT (64 << 10)

struct run {
  char *line, *words[MAX_WORDS + 1], output[MAX_OUTPUT];
  size_t length;
  pid_t pid;
  int out, status;
  long long started, ended;
};

static struct run runs[MAX_RUNS];

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void prepare(struct run *run, char *line) {
  size_t count = 0;
  run->line = strdup(line);
  for (char *rest = run->line, *word; (word = strsep(&rest, "\t")) && count < MAX_WORDS;) run->words[count++] = word;
  run->words[count] = NULL;
  run->length = 0;
  if (count < 2) errno = EINVAL, die(line);
}

static void start(struct run *run) {
  int ends[2], error;
  char *argv[] = {run->words[0], NULL};
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) < 0) die("pipe");
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, run->words[1], O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  run->started = now();
  if ((error = posix_spawn(&run->pid, run->words[0], &actions, NULL, argv, run->words + 2))) errno = error, die(run->words[0]);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  run->out = ends[0];
}

/* What it printed, and once that is all, how it ended. */
static int take(struct run *run) {
  ssize_t n = read(run->out, run->output + run->length, sizeof run->output - run->length);
  if (n < 0 && errno == EINTR) return 0;
  if (n < 0) die("read");
  run->length += (size_t)n;
  if (n > 0) return 0;
  close(run->out);
  while (waitpid(run->pid, &run->status, 0) < 0)
    if (errno != EINTR) die("waitpid");
  run->ended = now();
  return 1;
}

static void run_all(int count) {
  struct pollfd fds[MAX_RUNS];
  long long last = 0;
  for (int i = 0; i < count; i++) start(&runs[i]);
  for (int i = 0; i < count; i++) fds[i] = (struct pollfd){.fd = runs[i].out, .events = POLLIN};
  for (int left = count; left > 0;) {
    if (poll(fds, (nfds_t)count, -1) < 0 && errno != EINTR) die("poll");
    for (int i = 0; i < count; i++)
      if (fds[i].fd >= 0 && fds[i].revents && take(&runs[i])) fds[i].fd = -1, left--;
  }
  for (int i = 0; i < count; i++) {
    struct run *r = &runs[i];
    printf("%lld %d %zu\n", r->ended - r->started, r->status, r->length);
    fwrite(r->output, 1, r->length, stdout);
    if (r->ended > last) last = r->ended;
    free(r->line);
  }
  printf("%lld\n", count > 0 ? last - runs[0].started : 0);
  fflush(stdout);
}

int main(void) {
  char *line = NULL;
  size_t size = 0;
  int count = 0;
  for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
    line[length - 1] = 0;
    if (*line == 0) run_all(count), count = 0;
    else if (count == MAX_RUNS) errno = E2BIG, die("programs");
    else prepare(&runs[count++], line);
  }
  return 0;
}
