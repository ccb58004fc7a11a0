/*
 * toolbox enter [--target PID] [--ns NS,…] [--net-file PATH] [--cgroup-root FOLDER] [--cgroup PATH] [--workdir FOLDER] [--clear-env]
 *               [--env NAME=VALUE]… [--report-pid FD] -- COMMAND…
 *
 * Runs a command in the namespaces of a process (default: all of mnt, net, pid, uts, ipc, cgroup) and in a cgroup, whose
 * path is one of the caller. The cgroup is made below --cgroup-root, which has to be there. The command has no other open files
 * than the first three. Ends as the command ends. When this process dies, the command is killed.
 * Signals are handed on, except those that a terminal sent: they reach the command by themselves.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_COUNT 6
/* close_range(2), of which musl has the number alone. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
/* The mount namespace last: paths are opened before. */
static const char *const NS_NAMES[NS_COUNT] = {"cgroup", "ipc", "net", "pid", "uts", "mnt"};

struct enter_options {
  const char *target, *namespaces, *net_file, *cgroup_root, *cgroup, *workdir, *env[128];
  size_t env_count;
  int clear_env, report_fd;
};

static void take_target(void *into, const char *v) { ((struct enter_options *)into)->target = v; }
static void take_ns(void *into, const char *v) { ((struct enter_options *)into)->namespaces = v; }
static void take_net_file(void *into, const char *v) { ((struct enter_options *)into)->net_file = v; }
static void take_cgroup(void *into, const char *v) { ((struct enter_options *)into)->cgroup = v; }
static void take_cgroup_root(void *into, const char *v) { ((struct enter_options *)into)->cgroup_root = v; }
static void take_workdir(void *into, const char *v) { ((struct enter_options *)into)->workdir = v; }
static void take_clear_env(void *into, const char *v) {
  (void)v;
  ((struct enter_options *)into)->clear_env = 1;
}
static void take_report(void *into, const char *v) {
  ((struct enter_options *)into)->report_fd = (int)parse_number(v, 3, 1023, "--report-pid");
}
static void take_env(void *into, const char *v) {
  struct enter_options *o = into;
  if (o->env_count == sizeof o->env / sizeof *o->env) die("too many --env");
  o->env[o->env_count++] = v;
}

static const struct option_spec SPECS[] = {
    {"target", take_target, 0},           {"ns", take_ns, 0},         {"net-file", take_net_file, 0},
    {"cgroup-root", take_cgroup_root, 0}, {"cgroup", take_cgroup, 0}, {"workdir", take_workdir, 0},
    {"clear-env", take_clear_env, 1},     {"env", take_env, 0},       {"report-pid", take_report, 0},
    {NULL, NULL, 0},
};

static pid_t child;

static void hand_on(int number, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code <= 0 && child > 0) kill(child, number);
}

static int is_named(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
  return 0;
}

static void open_namespaces(const struct enter_options *o, int fds[NS_COUNT]) {
  for (int i = 0; i < NS_COUNT; i++) {
    int from_file = o->net_file && !strcmp(NS_NAMES[i], "net");
    fds[i] = -1;
    if (!from_file && (o->target == NULL || (o->namespaces && !is_named(o->namespaces, NS_NAMES[i])))) continue;
    char *path = from_file ? must_format("%s", o->net_file) : must_format("/proc/%s/ns/%s", o->target, NS_NAMES[i]);
    fds[i] = open(path, O_RDONLY | O_CLOEXEC);
    if (fds[i] < 0) die_errno("can't open %s", path);
    free(path);
  }
}

static void enter_namespace(int fd, const char *name) {
  if (fd >= 0 && setns(fd, 0) < 0) die_errno("can't enter the %s namespace", name);
}

static void apply_environment(const struct enter_options *o) {
  if (o->clear_env) clearenv();
  for (size_t i = 0; i < o->env_count; i++) {
    char *name = must_format("%s", o->env[i]), *value = strchr(name, '=');
    if (value == NULL) die("--env must be NAME=VALUE, not \"%s\"", o->env[i]);
    *value++ = 0;
    setenv(name, value, 1);
    free(name);
  }
}

static void run_command(const struct enter_options *o, const int fds[NS_COUNT], int cgroup, char **argv) {
  die_with_parent();
  /* What the caller learns our end by must not be held open by what the command leaves in the background. */
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0) die_errno("can't close files");
  if (cgroup >= 0) join_cgroup(cgroup);
  for (int i = 0; i < NS_COUNT; i++)
    if (strcmp(NS_NAMES[i], "pid")) enter_namespace(fds[i], NS_NAMES[i]);
  if (chdir(o->workdir ? o->workdir : fds[NS_COUNT - 1] >= 0 ? "/" : ".") < 0) die_errno("can't go to %s", o->workdir);
  apply_environment(o);
  exec_or_die(argv);
}

static const int HANDED_ON[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

/* The command may be heard of before there is who hands signals on to it: until then they wait. */
static sigset_t hold_signals(void) {
  sigset_t held, before;
  sigemptyset(&held);
  for (size_t i = 0; i < sizeof HANDED_ON / sizeof *HANDED_ON; i++) sigaddset(&held, HANDED_ON[i]);
  sigprocmask(SIG_BLOCK, &held, &before);
  return before;
}

static void release_signals(const sigset_t *before) { sigprocmask(SIG_SETMASK, before, NULL); }

static void watch_signals(void) {
  struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  for (size_t i = 0; i < sizeof HANDED_ON / sizeof *HANDED_ON; i++) sigaction(HANDED_ON[i], &action, NULL);
}

int enter_main(int argc, char **argv) {
  struct enter_options o = {.report_fd = -1};
  int fds[NS_COUNT], status, first = parse_options(argc, argv, SPECS, &o);
  if (first >= argc) die("enter needs a command");
  open_namespaces(&o, fds);
  int cgroup = o.cgroup ? open_cgroup(o.cgroup_root ? o.cgroup_root : "/", o.cgroup) : -1;
  for (int i = 0; i < NS_COUNT; i++)
    if (!strcmp(NS_NAMES[i], "pid")) enter_namespace(fds[i], "pid"); /* of children only, setns(2) */
  if (o.report_fd >= 0) fcntl(o.report_fd, F_SETFD, FD_CLOEXEC);
  sigset_t before = hold_signals();
  child = fork_with(0);
  if (child < 0) die_errno("fork");
  if (child == 0) {
    release_signals(&before);
    run_command(&o, fds, cgroup, argv + first);
  }
  watch_signals();
  release_signals(&before);
  if (o.report_fd >= 0) {
    dprintf(o.report_fd, "%d\n", (int)child);
    close(o.report_fd);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) die_errno("wait");
  exit_like(status);
}
