/*
 * toolbox container --pid-file FILE --exit-file FILE [--net-file FILE] --cgroup FOLDER --hostname NAME
 *                   --staging FOLDER --lower TREE [--bind SOURCE:TARGET[:rw]]… [--workdir FOLDER] [--env NAME=VALUE]…
 *                   [--log FILE] [--shim-cgroup FOLDER] -- COMMAND…
 *
 * Starts a container and stays with it until it ends, whatever becomes of the process that asked for it. FILE of
 * --pid-file gets the pid of the container's first process once the command runs; FILE of --exit-file gets
 * {"started":BOOL,"code":N,"signal":N} when it has ended. This process moves to --shim-cgroup. The first process is a minimal init: it hands signals on to the
 * command and reaps orphans.
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
#include <sys/wait.h>
#include <unistd.h>

struct container_options {
  const char *pid_file, *exit_file, *net_file, *cgroup, *shim_cgroup, *hostname, *workdir, *log, *env[256];
  size_t env_count;
  struct rootfs root;
};

static void take_pid_file(void *into, const char *v) { ((struct container_options *)into)->pid_file = v; }
static void take_exit_file(void *into, const char *v) { ((struct container_options *)into)->exit_file = v; }
static void take_net_file(void *into, const char *v) { ((struct container_options *)into)->net_file = v; }
static void take_cgroup(void *into, const char *v) { ((struct container_options *)into)->cgroup = v; }
static void take_shim_cgroup(void *into, const char *v) { ((struct container_options *)into)->shim_cgroup = v; }
static void take_hostname(void *into, const char *v) { ((struct container_options *)into)->hostname = v; }
static void take_workdir(void *into, const char *v) { ((struct container_options *)into)->workdir = v; }
static void take_log(void *into, const char *v) { ((struct container_options *)into)->log = v; }
static void take_staging(void *into, const char *v) { ((struct container_options *)into)->root.staging = v; }
static void take_lower(void *into, const char *v) { ((struct container_options *)into)->root.lower = v; }
static void take_root_bind(void *into, const char *v) { take_bind(&((struct container_options *)into)->root, v); }
static void take_env(void *into, const char *v) {
  struct container_options *o = into;
  if (o->env_count == sizeof o->env / sizeof *o->env) die("too many --env");
  o->env[o->env_count++] = v;
}

static const struct option_spec SPECS[] = {
    {"pid-file", take_pid_file, 0}, {"exit-file", take_exit_file, 0}, {"net-file", take_net_file, 0},
    {"cgroup", take_cgroup, 0},     {"hostname", take_hostname, 0},   {"workdir", take_workdir, 0},
    {"log", take_log, 0},           {"staging", take_staging, 0},     {"lower", take_lower, 0},
    {"bind", take_root_bind, 0},    {"env", take_env, 0},             {"shim-cgroup", take_shim_cgroup, 0},
    {NULL, NULL, 0},
};

static int must_open(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0) die_errno("can't open %s", path);
  return fd;
}

static void redirect(const char *log) {
  int in = must_open("/dev/null", O_RDONLY), out = must_open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND);
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) die_errno("dup2");
  close(in), close(out);
}

static void set_environment(const struct container_options *o) {
  clearenv();
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  setenv("HOME", "/root", 1);
  setenv("HOSTNAME", o->hostname, 1);
  for (size_t i = 0; i < o->env_count; i++)
    if (putenv((char *)o->env[i]) != 0) die_errno("putenv");
}

static void signals(int how) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(how, &all, NULL);
}

/* Returns when the command has been executed; ends this process as a shell would when it can't be. */
static pid_t start_command(const struct container_options *o, char **argv) {
  int failed[2];
  char mark;
  if (pipe2(failed, O_CLOEXEC) < 0) die_errno("pipe");
  pid_t child = fork_with(0);
  if (child < 0) die_errno("fork");
  if (child == 0) {
    signals(SIG_UNBLOCK);
    setsid();
    if (o->workdir && chdir(o->workdir) < 0) die_errno("can't go to %s", o->workdir);
    execvp(argv[0], argv);
    int code = errno == ENOENT ? 127 : 126;
    fprintf(stderr, "can't execute %s: %s\n", argv[0], strerror(errno));
    if (write(failed[1], "-", 1) != 1) exit(125);
    exit(code);
  }
  close(failed[1]);
  int status, has_failed = read(failed[0], &mark, 1) == 1;
  close(failed[0]);
  if (!has_failed) return child;
  waitpid(child, &status, 0);
  exit_like(status);
}

static void run_init(const struct container_options *o, int net, int cgroup, int started, char **argv) {
  die_with_parent();
  signals(SIG_BLOCK);
  join_cgroup(cgroup);
  if (unshare(CLONE_NEWCGROUP) < 0) die_errno("unshare cgroup");
  if (net >= 0 && setns(net, CLONE_NEWNET) < 0) die_errno("can't enter %s", o->net_file);
  if (sethostname(o->hostname, strlen(o->hostname)) < 0) die_errno("sethostname");
  enter_new_root(&o->root);
  set_environment(o);
  pid_t child = start_command(o, argv);
  if (write(started, "+", 1) != 1) die_errno("can't report");
  close(started);
  int status = supervise_as_init(child);
  if (WIFEXITED(status)) exit(WEXITSTATUS(status));
  exit(128 + WTERMSIG(status)); /* pid 1 can't end itself by a signal */
}

static void report_exit(const char *path, int started, int status) {
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : code > 128 ? code - 128 : 0;
  char *text = must_format("{\"started\":%s,\"code\":%d,\"signal\":%d}\n", started ? "true" : "false", code, signal_number);
  if (write_atomically(path, text) < 0) die_errno("can't write %s", path);
}

int container_main(int argc, char **argv) {
  struct container_options o = {.root.cgroup_read_only = 1};
  int first = parse_options(argc, argv, SPECS, &o), started[2], status;
  char mark;
  if (first >= argc) die("container needs a command");
  if (!o.pid_file || !o.exit_file || !o.cgroup || !o.hostname || !o.root.staging || !o.root.lower)
    die("container needs --pid-file, --exit-file, --cgroup, --hostname, --staging and --lower");
  setsid();
  redirect(o.log);
  if (o.shim_cgroup) join_cgroup(open_cgroup("/", o.shim_cgroup));
  int net = o.net_file ? must_open(o.net_file, O_RDONLY) : -1, cgroup = open_cgroup("/", o.cgroup);
  if (pipe2(started, O_CLOEXEC) < 0) die_errno("pipe");
  pid_t init = fork_with(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC);
  if (init < 0) die_errno("can't make the namespaces");
  if (init == 0) run_init(&o, net, cgroup, started[1], argv + first);
  close(started[1]);
  int has_started = read(started[0], &mark, 1) == 1;
  if (has_started && write_atomically(o.pid_file, must_format("%d\n", (int)init)) < 0)
    die_errno("can't write %s", o.pid_file);
  while (waitpid(init, &status, 0) < 0)
    if (errno != EINTR) die_errno("wait");
  report_exit(o.exit_file, has_started, status);
  return 0;
}
