/*
 * guest-init --link NAME --address IPV4 --port PORT --tree PATH LOWER…: the first process of a guest, started by the kernel
 * from its initrd. Loads the modules of /modules, mounts LOWER… (the first on top), the last of which is the Debian tree,
 * under one overlay as the root, and serves commands (guest-serve). The tree is at PATH too, where the sandbox looks for it.
 * A LOWER is a disk or, in user-mode Linux, `hostfs:` and a folder of the machine.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOSTFS "hostfs:"
#define PREFIX "255.255.255.0"

struct init_options {
  const char *link, *address, *port, *tree;
};

static void take_link(void *into, const char *v) { ((struct init_options *)into)->link = v; }
static void take_address(void *into, const char *v) { ((struct init_options *)into)->address = v; }
static void take_port(void *into, const char *v) { ((struct init_options *)into)->port = v; }
static void take_tree(void *into, const char *v) { ((struct init_options *)into)->tree = v; }

static const struct option_spec SPECS[] = {
    {"link", take_link, 0}, {"address", take_address, 0}, {"port", take_port, 0}, {"tree", take_tree, 0}, {NULL, NULL, 0}};

static void must_mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data) {
  make_folders(target);
  if (mount(source, target, type, flags, data) < 0) die_errno("can't mount %s on %s", source, target);
}

static void load_module(const char *name) {
  char *path = must_format("/modules/%s", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)) die_errno("can't load %s", path);
  close(fd), free(path);
}

/* Their names sort in the order in which they need each other. */
static void load_modules(void) {
  struct dirent **entries;
  int count = scandir("/modules", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++)
    if (entries[i]->d_name[0] != '.') load_module(entries[i]->d_name);
}

static void mount_lower(const char *source, const char *target) {
  size_t length = strlen(HOSTFS);
  if (strncmp(source, HOSTFS, length) == 0)
    must_mount("machine", target, "hostfs", MS_RDONLY | MS_NODEV, source + length);
  else must_mount(source, target, "ext4", MS_RDONLY | MS_NODEV, "noload");
}

static void mount_root(const struct init_options *o, int count, char **lowers) {
  char *lower = must_format("%s", "");
  for (int i = 0; i < count; i++) {
    char *target = must_format("/lower/%d", i), *longer = must_format("%s%s%s", lower, i ? ":" : "", target);
    mount_lower(lowers[i], target);
    free(lower), free(target);
    lower = longer;
  }
  must_mount("tmpfs", "/upper", "tmpfs", 0, "mode=0755,size=75%");
  make_folders("/upper/files"), make_folders("/upper/work");
  must_mount("overlay", "/root", "overlay", 0, must_format("lowerdir=%s,upperdir=/upper/files,workdir=/upper/work", lower));
  must_mount(must_format("/lower/%d", count - 1), must_format("/root%s", o->tree), NULL, MS_BIND, NULL);
}

static void mount_kernel_views(void) {
  must_mount("/dev", "/root/dev", NULL, MS_MOVE, NULL);
  must_mount("devpts", "/root/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "mode=0620,ptmxmode=0666");
  must_mount("tmpfs", "/root/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  must_mount("proc", "/root/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  must_mount("sysfs", "/root/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  must_mount("cgroup2", "/root/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  must_mount("tmpfs", "/root/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
  must_mount("tmpfs", "/root/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
}

/* pivot_root(2) does not work on an initramfs. */
static void enter_root(void) {
  if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 || chdir("/") < 0)
    die_errno("can't enter the root");
}

static void set_address(int fd, const char *link, unsigned long what, const char *text) {
  struct ifreq request = {0};
  struct sockaddr_in address = {.sin_family = AF_INET};
  strncpy(request.ifr_name, link, IFNAMSIZ - 1);
  if (inet_pton(AF_INET, text, &address.sin_addr) != 1) die("\"%s\" is no IPv4 address", text);
  memcpy(&request.ifr_addr, &address, sizeof address);
  if (ioctl(fd, what, &request) < 0) die_errno("can't give %s the address %s", link, text);
}

static void bring_up_network(const char *link, const char *address) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strncpy(request.ifr_name, link, IFNAMSIZ - 1);
  bring_up_loopback();
  set_address(fd, link, SIOCSIFADDR, address);
  set_address(fd, link, SIOCSIFNETMASK, PREFIX);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0) die_errno("can't bring up %s", link);
  close(fd);
}

static pid_t start_server(const char *port) {
  pid_t child = fork_with(0);
  if (child < 0) die_errno("fork");
  if (child == 0) {
    char *argv[] = {"guest-serve", (char *)port, NULL};
    exit(guest_serve_main(2, argv));
  }
  return child;
}

/* When the first process ends, the kernel panics, and the reason is hard to find in what it says. */
static void power_off(void) {
  if (getpid() != 1) return;
  sync();
  reboot(RB_POWER_OFF);
}

int guest_init_main(int argc, char **argv) {
  struct init_options o = {0};
  int first = parse_options(argc, argv, SPECS, &o);
  if (getpid() != 1) die("guest-init is for the first process");
  if (first >= argc || !o.link || !o.address || !o.port || !o.tree)
    die("guest-init needs --link, --address, --port, --tree and what its root is made of");
  atexit(power_off);
  must_mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=0755");
  load_modules();
  mount_root(&o, argc - first, argv + first);
  mount_kernel_views();
  enter_root();
  if (sethostname("guest", 5) < 0) die_errno("sethostname");
  bring_up_network(o.link, o.address);
  supervise_as_init(start_server(o.port));
  return 0;
}
