/*
 * toolbox pause [--until-eof] [--unshare NS,…] [--cgroup-root FOLDER --cgroup PATH] [--hostname NAME] [--sysctl KEY=VALUE]…
 *               [--staging FOLDER --lower TREE [--bind SOURCE:TARGET[:rw]]… [--folder PATH]…]
 *
 * Holds namespaces open: the first process of a node. With --unshare it makes them itself, prints the pid of the process
 * that holds them when they are ready, and ends when that one does. With --until-eof it lives until its stdin ends, so
 * that nothing outlives whoever holds the other end, however that died: the kernel ends a pid namespace with its first
 * process, pid_namespaces(7).
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pause_options {
  int flags, until_eof;
  const char *cgroup_root, *cgroup, *hostname, *sysctls[32];
  size_t sysctl_count;
  struct rootfs root;
};

static const struct { const char *name; int flag; } NAMESPACES[] = {
    {"cgroup", CLONE_NEWCGROUP}, {"ipc", CLONE_NEWIPC}, {"mnt", CLONE_NEWNS}, {"net", CLONE_NEWNET},
    {"pid", CLONE_NEWPID},       {"uts", CLONE_NEWUTS},
};

static void take_unshare(void *into, const char *value) {
  struct pause_options *o = into;
  char *copy = must_format("%s", value);
  for (char *name = strtok(copy, ","); name; name = strtok(NULL, ",")) {
    size_t i = 0, count = sizeof NAMESPACES / sizeof *NAMESPACES;
    while (i < count && strcmp(NAMESPACES[i].name, name)) i++;
    if (i == count) die("unknown namespace %s", name);
    o->flags |= NAMESPACES[i].flag;
  }
  free(copy);
}

static void take_until_eof(void *into, const char *value) {
  (void)value;
  ((struct pause_options *)into)->until_eof = 1;
}
static void take_cgroup(void *into, const char *value) { ((struct pause_options *)into)->cgroup = value; }
static void take_cgroup_root(void *into, const char *value) { ((struct pause_options *)into)->cgroup_root = value; }
static void take_hostname(void *into, const char *value) { ((struct pause_options *)into)->hostname = value; }
static void take_staging(void *into, const char *value) { ((struct pause_options *)into)->root.staging = value; }
static void take_lower(void *into, const char *value) { ((struct pause_options *)into)->root.lower = value; }
static void take_root_bind(void *into, const char *value) { take_bind(&((struct pause_options *)into)->root, value); }
static void take_root_folder(void *into, const char *value) { take_folder(&((struct pause_options *)into)->root, value); }
static void take_sysctl(void *into, const char *value) {
  struct pause_options *o = into;
  if (o->sysctl_count == sizeof o->sysctls / sizeof *o->sysctls) die("too many --sysctl");
  o->sysctls[o->sysctl_count++] = value;
}

static const struct option_spec SPECS[] = {
    {"unshare", take_unshare, 0}, {"until-eof", take_until_eof, 1}, {"cgroup-root", take_cgroup_root, 0},
    {"cgroup", take_cgroup, 0},   {"hostname", take_hostname, 0},   {"staging", take_staging, 0},
    {"lower", take_lower, 0},     {"bind", take_root_bind, 0},      {"folder", take_root_folder, 0},
    {"sysctl", take_sysctl, 0},
    {NULL, NULL, 0},
};

/* `net.ipv4.ip_forward=1`; a key that this kernel lacks is skipped, as a node without IPv6 has none of its keys. */
static void set_sysctl(const char *setting) {
  char *path = must_format("/proc/sys/%s", setting);
  char *value = strchr(path, '=');
  if (value == NULL) die("--sysctl must be KEY=VALUE, not \"%s\"", setting);
  *value++ = 0;
  for (char *c = path + strlen("/proc/sys/"); *c; c++)
    if (*c == '.') *c = '/';
  if (write_text(path, value) < 0 && errno != ENOENT) die_errno("can't set %s", setting);
  free(path);
}

static void set_up(const struct pause_options *o) {
  if (o->cgroup) {
    char *init = must_format("%s/init.scope", o->cgroup);
    int group = open_cgroup(o->cgroup_root, o->cgroup), scope = open_cgroup(o->cgroup_root, init);
    join_cgroup(group);
    if (o->flags & CLONE_NEWCGROUP && unshare(CLONE_NEWCGROUP) < 0) die_errno("unshare cgroup");
    join_cgroup(scope);
    close(group), close(scope), free(init);
  }
  if (o->flags & CLONE_NEWNET) bring_up_loopback();
  if (o->hostname && sethostname(o->hostname, strlen(o->hostname)) < 0) die_errno("sethostname");
  if (o->root.staging) enter_new_root(&o->root);
  for (size_t i = 0; i < o->sysctl_count; i++) set_sysctl(o->sysctls[i]);
}

/* The child in the new namespaces; says so on `ready` and idles. */
static void run_first_process(const struct pause_options *o, int ready) {
  die_with_parent();
  set_up(o);
  if (write(ready, "+", 1) != 1) die_errno("can't report");
  close(ready);
  close(STDOUT_FILENO);
  idle_as_init(o->until_eof);
  exit(0);
}

static int hold(const struct pause_options *o) {
  int ready[2], status;
  char mark;
  if (pipe2(ready, O_CLOEXEC) < 0) die_errno("pipe");
  pid_t child = fork_with(o->flags & ~CLONE_NEWCGROUP);
  if (child < 0) die_errno("can't make the namespaces");
  if (child == 0) run_first_process(o, ready[1]);
  close(ready[1]);
  close(STDIN_FILENO);
  if (read(ready[0], &mark, 1) == 1) {
    printf("%d\n", (int)child);
    fflush(stdout);
  }
  close(STDOUT_FILENO);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) die_errno("wait");
  exit_like(status);
}

int pause_main(int argc, char **argv) {
  struct pause_options o = {0};
  if (parse_options(argc, argv, SPECS, &o) != argc) die("pause takes options only");
  if (o.cgroup && o.cgroup_root == NULL) die("--cgroup needs --cgroup-root");
  if (o.root.staging && o.root.lower == NULL) die("--staging needs --lower");
  if (o.flags || o.root.staging) return hold(&o);
  idle_as_init(o.until_eof);
  return 0;
}
