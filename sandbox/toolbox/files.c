#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  size_t length = strlen(text);
  int ok = write(fd, text, length) == (ssize_t)length;
  close(fd);
  return ok ? 0 : -1;
}

int write_atomically(const char *path, const char *text) {
  char *draft = must_format("%s.new", path);
  int ok = write_text(draft, text) == 0 && rename(draft, path) == 0;
  free(draft);
  return ok ? 0 : -1;
}

void make_folders(const char *path) {
  char *copy = must_format("%s", path);
  for (char *slash = strchr(copy + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash) *slash = 0;
    if (mkdir(copy, 0755) < 0 && errno != EEXIST) die_errno("can't make %s", copy);
    if (slash == NULL) break;
    *slash = '/';
  }
  free(copy);
}

int open_cgroup(const char *root, const char *path) {
  char *copy = must_format("%s", path);
  int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) die_errno("can't open the cgroup %s", root);
  for (char *name = strtok(copy, "/"); name; name = strtok(NULL, "/")) {
    if (mkdirat(folder, name, 0755) < 0 && errno != EEXIST) die_errno("can't make the cgroup %s in %s", path, root);
    int next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (next < 0) die_errno("can't open the cgroup %s in %s", path, root);
    close(folder);
    folder = next;
  }
  int procs = openat(folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (procs < 0) die_errno("can't open cgroup.procs of %s", path);
  close(folder);
  free(copy);
  return procs;
}

void join_cgroup(int procs_fd) {
  if (write(procs_fd, "0", 1) != 1) die_errno("can't move into the cgroup");
}

void send_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) die_errno("can't send");
    bytes += n;
    length -= (size_t)n;
  }
}
