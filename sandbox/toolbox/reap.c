#include "toolbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int watch_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  int fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die_errno("signalfd");
  return fd;
}

static int next_signal(int fd) {
  struct signalfd_siginfo info;
  return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/* True when `wanted` was among the children that have ended. */
static int reap(pid_t wanted, int *status) {
  int s;
  for (pid_t pid; (pid = waitpid(-1, &s, WNOHANG)) > 0;)
    if (pid == wanted) return *status = s, 1;
  return 0;
}

static int stdin_ended(void) {
  char buffer[256];
  ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
  return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

void idle_as_init(int until_eof) {
  struct pollfd fds[2] = {{.fd = watch_signals(), .events = POLLIN}, {.fd = until_eof ? 0 : -1, .events = POLLIN}};
  for (;;) {
    int status;
    reap(0, &status);
    if (poll(fds, 2, -1) < 0 && errno != EINTR) die_errno("poll");
    for (int s; (s = next_signal(fds[0].fd));)
      if (s == SIGTERM || s == SIGINT) return;
    if (fds[1].revents && stdin_ended()) return;
  }
}

int supervise_as_init(pid_t child) {
  struct pollfd signals = {.fd = watch_signals(), .events = POLLIN};
  for (int status;;) {
    if (reap(child, &status)) return status;
    if (poll(&signals, 1, -1) < 0 && errno != EINTR) die_errno("poll");
    for (int s; (s = next_signal(signals.fd));)
      if (s != SIGCHLD) kill(child, s);
  }
}
