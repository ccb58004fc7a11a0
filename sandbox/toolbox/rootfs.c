/*
 * A root of its own: an overlay of `lower` with a tmpfs on top, and fresh /proc, /sys, /dev, /run and /tmp. Everything is
 * mounted in the caller's mount namespace, so that it is gone with the last process in there.
 */
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void take_bind(struct rootfs *root, const char *value) {
  if (root->bind_count == sizeof root->binds / sizeof *root->binds) die("too many --bind");
  root->binds[root->bind_count++] = value;
}

void take_folder(struct rootfs *root, const char *value) {
  if (root->folder_count == sizeof root->folders / sizeof *root->folders) die("too many --folder");
  root->folders[root->folder_count++] = value;
}

static void must_mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data) {
  if (mount(source, target, type, flags, data) < 0) die_errno("can't mount %s on %s", source, target);
}

static void mount_overlay(const struct rootfs *root) {
  must_mount("tmpfs", root->staging, "tmpfs", 0, "mode=0755");
  char *upper = must_format("%s/upper", root->staging), *work = must_format("%s/work", root->staging);
  char *merged = must_format("%s/merged", root->staging);
  make_folders(upper), make_folders(work), make_folders(merged);
  char *data = must_format("lowerdir=%s,upperdir=%s,workdir=%s", root->lower, upper, work);
  must_mount("overlay", merged, "overlay", 0, data);
  if (chdir(merged) < 0) die_errno("chdir %s", merged);
}

static void bind_mount(const char *source, const char *target, int read_only) {
  must_mount(source, target, NULL, MS_BIND | MS_REC, NULL);
  if (read_only) must_mount("none", target, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
}

/* `SOURCE:TARGET[:rw]`, the target below the new root. */
static void bind_into_root(const char *spec) {
  char *source = must_format("%s", spec);
  char *target = strchr(source, ':');
  if (target == NULL) die("--bind must be SOURCE:TARGET[:rw], not \"%s\"", spec);
  *target++ = 0;
  char *mode = strchr(target, ':');
  if (mode) *mode++ = 0;
  struct stat info;
  if (stat(source, &info) < 0) die_errno("can't bind %s", source);
  char *relative = must_format(".%s", target);
  char *parent = must_format(".%s", target);
  *strrchr(parent, '/') = 0;
  if (S_ISDIR(info.st_mode)) make_folders(relative);
  else make_folders(parent), close(open(relative, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  bind_mount(source, relative, mode == NULL || strcmp(mode, "rw"));
  free(source), free(relative), free(parent);
}

/* The devices that a container usually has, and net/tun for the userspace datapath. */
static void make_devices(void) {
  static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty", "net/tun"};
  must_mount("tmpfs", "dev", "tmpfs", MS_NOSUID, "mode=0755");
  make_folders("dev/net"), make_folders("dev/pts"), make_folders("dev/shm");
  for (size_t i = 0; i < sizeof DEVICES / sizeof *DEVICES; i++) {
    char *source = must_format("/dev/%s", DEVICES[i]), *target = must_format("dev/%s", DEVICES[i]);
    struct stat info;
    if (stat(source, &info) == 0) {
      close(open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
      must_mount(source, target, NULL, MS_BIND, NULL);
    }
    free(source), free(target);
  }
  must_mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
  must_mount("tmpfs", "dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  if (symlink("pts/ptmx", "dev/ptmx") < 0 || symlink("/proc/self/fd", "dev/fd") < 0 ||
      symlink("/proc/self/fd/0", "dev/stdin") < 0 || symlink("/proc/self/fd/1", "dev/stdout") < 0 ||
      symlink("/proc/self/fd/2", "dev/stderr") < 0)
    die_errno("can't make links in /dev");
}

static void mount_kernel_views(int cgroup_read_only) {
  must_mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  must_mount("sysfs", "sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  must_mount("cgroup2", "sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC | (cgroup_read_only ? MS_RDONLY : 0),
             NULL);
  must_mount("tmpfs", "run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
  must_mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
}

/* pivot_root(2), "pivot_root(".", ".")": no folder for the old root is needed. */
static void pivot(void) {
  if (syscall(SYS_pivot_root, ".", ".") < 0) die_errno("pivot_root");
  if (umount2(".", MNT_DETACH) < 0) die_errno("can't leave the old root");
  if (chdir("/") < 0) die_errno("chdir /");
}

void enter_new_root(const struct rootfs *root) {
  /* Mounts of the machine still arrive, ours don't leave. */
  must_mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL);
  mount_overlay(root);
  mount_kernel_views(root->cgroup_read_only);
  make_devices();
  for (size_t i = 0; i < root->bind_count; i++) bind_into_root(root->binds[i]);
  pivot();
  /* For `mountPropagation: Bidirectional` and for network namespaces that one process pins and another enters. */
  must_mount("none", "/", NULL, MS_REC | MS_SHARED, NULL);
  for (size_t i = 0; i < root->folder_count; i++) make_folders(root->folders[i]);
}
