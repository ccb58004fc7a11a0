#include "toolbox.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t fork_with(int clone_flags) {
  fflush(NULL);
  if (clone_flags == 0) return fork();
  /* No stack: the child runs on its copy of this one, as after fork(2). The flags' order of arguments is x86's and arm64's
     alike for the first two. */
  return (pid_t)syscall(SYS_clone, (unsigned long)clone_flags | SIGCHLD, 0, 0, 0, 0);
}

void exit_like(int wait_status) {
  if (WIFEXITED(wait_status)) exit(WEXITSTATUS(wait_status));
  int signal_number = WTERMSIG(wait_status);
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(signal_number, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  raise(signal_number);
  exit(128 + signal_number);
}

void die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void exec_or_die(char **argv) {
  execvp(argv[0], argv);
  int code = errno == ENOENT ? 127 : 126;
  fprintf(stderr, "toolbox: can't execute %s: %s\n", argv[0], strerror(errno));
  exit(code);
}
