/*
 * toolbox janitor --cgroup FOLDER [--prune FOLDER]… [--remove FOLDER]
 *
 * Waits until stdin ends, then ends everything in the cgroup, removes the cgroup with all below it, the --remove folder,
 * and the --prune folders when they are empty. Its stdin is held by the process it cleans up after, so that it does its
 * work however that process ends.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIVE_UP_US (20 * 1000000LL)
#define AGAIN_MS 20

struct janitor_options {
  const char *cgroup, *remove, *prune[8];
  size_t prune_count;
};

static void take_cgroup(void *into, const char *v) { ((struct janitor_options *)into)->cgroup = v; }
static void take_remove(void *into, const char *v) { ((struct janitor_options *)into)->remove = v; }
static void take_prune(void *into, const char *v) {
  struct janitor_options *o = into;
  if (o->prune_count == sizeof o->prune / sizeof *o->prune) die("too many --prune");
  o->prune[o->prune_count++] = v;
}

static const struct option_spec SPECS[] = {
    {"cgroup", take_cgroup, 0}, {"prune", take_prune, 0}, {"remove", take_remove, 0}, {NULL, NULL, 0}};

static void wait_for_end_of_stdin(void) {
  char buffer[64];
  for (;;) {
    ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EINTR)) return;
  }
}

static int is_populated(int events) {
  char text[256];
  ssize_t n = pread(events, text, sizeof text - 1, 0);
  if (n < 0) return 0;
  text[n] = 0;
  return strstr(text, "populated 1") != NULL;
}

/* cgroups(7): cgroup.events can be polled for POLLPRI. */
static void wait_until_empty(const char *cgroup) {
  char *path = must_format("%s/cgroup.events", cgroup);
  int64_t give_up = now_us() + GIVE_UP_US;
  struct pollfd events = {.fd = open(path, O_RDONLY | O_CLOEXEC), .events = POLLPRI};
  while (events.fd >= 0 && is_populated(events.fd) && now_us() < give_up)
    poll(&events, 1, (int)((give_up - now_us()) / 1000 + 1));
  if (events.fd >= 0) close(events.fd);
  free(path);
}

static int remove_cgroup(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)info, (void)place;
  if (type == FTW_DP && rmdir(path) < 0 && errno != ENOENT) fprintf(stderr, "janitor: %s: %s\n", path, strerror(errno));
  return 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)info, (void)type, (void)place;
  if (remove(path) < 0 && errno != ENOENT) fprintf(stderr, "janitor: %s: %s\n", path, strerror(errno));
  return 0;
}

static void end_all(const char *cgroup) {
  char *kill_file = must_format("%s/cgroup.kill", cgroup);
  int fd = open(kill_file, O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "1", 1) != 1) fprintf(stderr, "janitor: %s: %s\n", kill_file, strerror(errno));
  if (fd >= 0) close(fd);
  free(kill_file);
  wait_until_empty(cgroup);
}

/*
 * Until it is gone: nftw(3) ends at a folder that another janitor of the same sandbox has removed meanwhile, and a process
 * that was on its way into the cgroup makes its own there.
 */
static void remove_all(const char *top, int (*remove_one)(const char *, const struct stat *, int, struct FTW *),
                       void (*before)(const char *)) {
  int64_t give_up = now_us() + GIVE_UP_US;
  for (;;) {
    if (before) before(top);
    nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (access(top, F_OK) < 0 || now_us() > give_up) return;
    poll(NULL, 0, AGAIN_MS);
  }
}

int janitor_main(int argc, char **argv) {
  struct janitor_options o = {0};
  if (parse_options(argc, argv, SPECS, &o) != argc || o.cgroup == NULL) die("janitor needs --cgroup");
  setsid();
  static const int IGNORED[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
  for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++) signal(IGNORED[i], SIG_IGN);
  wait_for_end_of_stdin();
  remove_all(o.cgroup, remove_cgroup, end_all);
  if (o.remove) remove_all(o.remove, remove_entry, NULL);
  for (size_t i = 0; i < o.prune_count; i++) rmdir(o.prune[i]);
  return 0;
}
