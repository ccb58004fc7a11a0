/* toolbox netns add|delete PATH: a network namespace that a file keeps, as ip-netns(8) does. Deleting twice is fine. */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int add(const char *path) {
  int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
  if (fd < 0) die_errno("can't make %s", path);
  close(fd);
  if (unshare(CLONE_NEWNET) < 0) die_errno("can't make a network namespace");
  bring_up_loopback();
  if (mount("/proc/self/ns/net", path, NULL, MS_BIND, NULL) < 0) {
    unlink(path);
    die_errno("can't pin the network namespace to %s", path);
  }
  return 0;
}

static int delete(const char *path) {
  if (umount2(path, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT) die_errno("can't unmount %s", path);
  if (unlink(path) < 0 && errno != ENOENT) die_errno("can't remove %s", path);
  return 0;
}

int netns_main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "add")) return add(argv[2]);
  if (argc == 3 && !strcmp(argv[1], "delete")) return delete(argv[2]);
  die("netns add|delete PATH");
}
