/*
 * toolbox proxy FROM… TO: hands every connection on to a socket. Each is ADDRESS:PORT or unix:PATH. A unix socket that
 * it listens on is one of a folder, not of a network namespace: it leads into the one that the proxy is in.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>
#include <unistd.h>

#define BUFFER 65536

struct link;

/* One end of a connection. `buffer` holds what was read here and is still to be written to the other end. */
struct end {
  int fd, is_read_to_end, is_shut;
  size_t from, to;
  char *buffer;
  struct link *link;
};

struct link {
  struct end ends[2];
  struct link *next_dead;
  int is_dead;
};

static int poller;
/* An address of either family of sockets. */
union place {
  struct sockaddr any;
  struct sockaddr_un path;
  union address address;
};
static union place upstream;
static socklen_t upstream_length;
static struct link *dead;

static void bury(struct link *link) {
  if (link->is_dead) return;
  link->is_dead = 1;
  for (int i = 0; i < 2; i++) close(link->ends[i].fd);
  link->next_dead = dead;
  dead = link;
}

/* Events of one batch may still point at a buried link, so memory is freed after the batch. */
static void free_dead(void) {
  while (dead) {
    struct link *next = dead->next_dead;
    for (int i = 0; i < 2; i++) free(dead->ends[i].buffer);
    free(dead);
    dead = next;
  }
}

static struct end *other(struct end *end) { return &end->link->ends[end == end->link->ends]; }

/* One event at a time: an end that nothing is wanted of must not report EPOLLHUP again and again, epoll_ctl(2). */
static void watch(struct end *end) {
  struct end *peer = other(end);
  uint32_t wanted = (!end->is_read_to_end && end->from == end->to ? EPOLLIN : 0) | (peer->from < peer->to ? EPOLLOUT : 0);
  struct epoll_event event = {.events = wanted | EPOLLONESHOT, .data.ptr = end};
  if (wanted) epoll_ctl(poller, EPOLL_CTL_MOD, end->fd, &event);
}

/* Writes what `end` has read to its peer. False when the link is over. */
static int flush(struct end *end) {
  struct end *peer = other(end);
  while (end->from < end->to) {
    ssize_t n = send(peer->fd, end->buffer + end->from, end->to - end->from, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    end->from += (size_t)n;
  }
  end->from = end->to = 0;
  if (end->is_read_to_end && !end->is_shut) {
    end->is_shut = 1;
    shutdown(peer->fd, SHUT_WR);
  }
  return 1;
}

static int fill(struct end *end) {
  if (end->is_read_to_end || end->from < end->to) return 1;
  ssize_t n = recv(end->fd, end->buffer, BUFFER, MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) end->is_read_to_end = 1;
  end->to = (size_t)n;
  return flush(end);
}

static void serve_end(struct end *end, uint32_t events) {
  struct end *peer = other(end);
  if (end->link->is_dead) return;
  int alive = !(events & EPOLLERR) && fill(end) && flush(peer);
  if (!alive || (end->is_shut && peer->is_shut)) {
    bury(end->link);
    return;
  }
  watch(end);
  watch(peer);
}

static void open_link(int client) {
  int fd = socket(upstream.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0 || connect(fd, &upstream.any, upstream_length) < 0) {
    if (fd >= 0) close(fd);
    close(client);
    return;
  }
  /* Of the two, a unix socket refuses. */
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct link *link = must_alloc(sizeof *link);
  for (int i = 0; i < 2; i++) {
    struct end *end = &link->ends[i];
    *end = (struct end){.fd = i ? fd : client, .buffer = must_alloc(BUFFER), .link = link};
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = end};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, end->fd, &event) < 0) die_errno("epoll");
  }
}

static void parse_place(const char *text, union place *place, socklen_t *length) {
  memset(place, 0, sizeof *place);
  if (!strncmp(text, "unix:", 5)) {
    if (strlen(text + 5) >= sizeof place->path.sun_path) die("the path is too long");
    place->path.sun_family = AF_UNIX;
    strcpy(place->path.sun_path, text + 5);
    *length = sizeof place->path;
  } else if (!parse_address(text, 0, 0, &place->address, length) || place->address.v4.sin_port == 0) {
    die("\"%s\" is not ADDRESS:PORT or unix:PATH", text);
  }
}

static int *listen_on(const char *text) {
  union place place;
  socklen_t length;
  int on = 1, *fd = must_alloc(sizeof *fd);
  parse_place(text, &place, &length);
  *fd = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.any.sa_family == AF_INET6) setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (*fd < 0 || bind(*fd, &place.any, length) < 0 || listen(*fd, 512) < 0) die_errno("can't listen on %s", text);
  return fd;
}

int proxy_main(int argc, char **argv) {
  if (argc < 3) die("proxy FROM… TO");
  parse_place(argv[argc - 1], &upstream, &upstream_length);
  poller = epoll_create1(EPOLL_CLOEXEC);
  int *listeners[16] = {0}, count = 0;
  for (int i = 1; i < argc - 1 && count < 16; i++, count++) {
    listeners[count] = listen_on(argv[i]);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = listeners[count]};
    epoll_ctl(poller, EPOLL_CTL_ADD, *listeners[count], &event);
  }
  puts("listening"), fflush(stdout);
  for (struct epoll_event events[64];;) {
    int n = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < n; i++) {
      int listener = 0;
      for (int j = 0; j < count; j++)
        if (events[i].data.ptr == listeners[j]) listener = *listeners[j];
      if (listener == 0) serve_end(events[i].data.ptr, events[i].events);
      else
        for (int client; (client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) open_link(client);
    }
    free_dead();
  }
}
