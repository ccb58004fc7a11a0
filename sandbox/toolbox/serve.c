/*
 * toolbox [serve|netexec] [--http-port N] [--udp-port N] [--tcp-port N] [--sctp-port N] [--sctp-address IP]… [--hostname NAME]
 *
 * The server of every pod without a command: see answers.c. All of it on IPv4 and IPv6; HTTP also on SEEN_SOCKET, where
 * `toolbox seen` asks. A port of 0 leaves that service out.
 */
#define _GNU_SOURCE
#include "answers.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>
#include <unistd.h>

#define ICMP_FILTER_ 1 /* linux/icmp.h, of level SOL_RAW */
#define SOL_RAW_ 255

enum kind { LISTEN_HTTP, LISTEN_ECHO, LISTEN_SCTP, UDP, ICMP4, ICMP6, HTTP, ECHO, SCTP };

struct source {
  int fd;
  enum kind kind;
  char peer[64];
  size_t length;
  char *buffer;
  struct source *next_dead;
};

#define BUFFER 8192
#define ECHO_BUFFER 16384

struct serve_options {
  int http, udp, tcp, sctp;
  /* One of each family; none: all that the host has. */
  const char *sctp_addresses[2];
  const char *hostname;
};

static int poller;
static const char *hostname;
static struct source *dead;

static void add(int fd, enum kind kind, const char *peer) {
  struct source *source = must_alloc(sizeof *source);
  *source = (struct source){.fd = fd, .kind = kind};
  snprintf(source->peer, sizeof source->peer, "%s", peer);
  if (kind == HTTP) source->buffer = must_alloc(BUFFER);
  if (kind == ECHO || kind == SCTP) source->buffer = must_alloc(ECHO_BUFFER);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) die_errno("epoll");
}

/* Events of one batch may still point at it, so memory is freed after the batch. */
static void drop(struct source *source) {
  close(source->fd);
  source->fd = -1;
  source->next_dead = dead;
  dead = source;
}

static void free_dead(void) {
  while (dead) {
    struct source *next = dead->next_dead;
    free(dead->buffer);
    free(dead);
    dead = next;
  }
}

/* Both families on one socket where there is IPv6, else IPv4. */
static int bound_socket(int type, int port) {
  int off = 0, on = 1;
  union address address = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};
  int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 && bind(fd, &address.any, sizeof address.v6) == 0)
    return fd;
  if (fd >= 0) close(fd);
  if (fd >= 0 && errno == EADDRINUSE) die_errno("port %d", port);
  memset(&address, 0, sizeof address);
  address.v4.sin_family = AF_INET, address.v4.sin_port = htons((uint16_t)port);
  fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, &address.any, sizeof address.v4) < 0) die_errno("port %d", port);
  return fd;
}

static void listen_on(int port, enum kind kind) {
  int fd = port ? bound_socket(SOCK_STREAM, port) : -1;
  if (fd >= 0 && listen(fd, 512) == 0) add(fd, kind, "");
  else if (port) die_errno("can't listen on port %d", port);
}

/* A socket has addresses of one family: see serve_main. */
static void listen_for_sctp(const union address *address, socklen_t size) {
  int on = 1, family = address->any.sa_family;
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_SCTP);
  if (fd < 0) return;
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, &address->any, size) == 0 && listen(fd, 512) == 0) add(fd, LISTEN_SCTP, "");
  else close(fd);
}

/*
 * A server that has all addresses of its host answers from the one that the route to the client prefers, whichever was asked
 * (sctp_v4_get_dst): behind a translation the answer is then none. Hosts with several addresses name those that are asked.
 */
static void open_sctp(const struct serve_options *o) {
  static const char *const ALL[] = {"0.0.0.0", "::"};
  const char *const *texts = o->sctp_addresses[0] ? o->sctp_addresses : ALL;
  for (int i = 0; i < 2 && o->sctp > 0 && texts[i]; i++) {
    union address address;
    socklen_t size;
    if (!parse_address(texts[i], 0, o->sctp, &address, &size)) die("--sctp-address: %s is none", texts[i]);
    listen_for_sctp(&address, size);
  }
}

/* A probe that arrived must be on record, also when hundreds arrive at once. */
static void enlarge_buffer(int fd) {
  int size = 16 << 20;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

/* The address that a datagram was sent to is the one the answer must come from: the pod may have several. */
static void open_udp(int port) {
  int on = 1, fd = port ? bound_socket(SOCK_DGRAM, port) : -1;
  if (fd < 0) return;
  setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
  setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  enlarge_buffer(fd);
  add(fd, UDP, "");
}

/* Echo requests are answered by the kernel; a raw socket sees a copy of each. Not every container may open one. */
static void open_icmp(void) {
  uint32_t all_but_echo = ~(1u << ICMP_ECHO);
  int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP);
  if (fd >= 0) {
    setsockopt(fd, SOL_RAW_, ICMP_FILTER_, &all_but_echo, sizeof all_but_echo);
    enlarge_buffer(fd);
    add(fd, ICMP4, "");
  }
  struct icmp6_filter filter;
  ICMP6_FILTER_SETBLOCKALL(&filter);
  ICMP6_FILTER_SETPASS(ICMP6_ECHO_REQUEST, &filter);
  fd = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6);
  if (fd >= 0) {
    setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
    enlarge_buffer(fd);
    add(fd, ICMP6, "");
  }
}

static void open_seen_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SEEN_SOCKET};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  unlink(SEEN_SOCKET);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 64) == 0) add(fd, LISTEN_HTTP, "");
  else if (fd >= 0) close(fd);
}

static void accept_all(struct source *listener) {
  for (;;) {
    char peer[64] = "unix";
    union address address = {.any.sa_family = AF_UNIX};
    socklen_t length = sizeof address;
    int fd = accept4(listener->fd, &address.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (address.any.sa_family != AF_UNIX) format_address(&address, peer, sizeof peer);
    add(fd, listener->kind == LISTEN_HTTP ? HTTP : listener->kind == LISTEN_SCTP ? SCTP : ECHO, peer);
  }
}

/* Responses are small: a caller that does not read them until the socket's buffer is full is dropped. */
static int write_now(int fd, const char *bytes, size_t length) {
  return send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static int serve_http(struct source *source) {
  struct http_exchange exchange;
  ssize_t n = recv(source->fd, source->buffer + source->length, BUFFER - source->length, 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return 0;
  source->length += (size_t)n;
  while (answer_http(source->buffer, source->length, hostname, source->peer, &exchange)) {
    if (!write_now(source->fd, exchange.response, exchange.response_length) || !exchange.keep_open) return 0;
    source->length -= exchange.used;
    memmove(source->buffer, source->buffer + exchange.used, source->length);
  }
  return 1;
}

/* What netexec answers over SCTP is what it answers over UDP. Other messages come back as they are. */
static void answer_message(struct source *source) {
  char answer[2048];
  int length = answer_udp(source->buffer, source->length, hostname, source->peer, answer, sizeof answer);
  if (length < 0) return;
  memcpy(source->buffer, answer, (size_t)length);
  source->length = (size_t)length;
}

/* Nothing more is read until all is written: a caller that writes faster than it reads has to wait, as with any echo server. */
static int serve_echo(struct source *source) {
  if (source->length == 0) {
    ssize_t n = recv(source->fd, source->buffer, ECHO_BUFFER, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return 0;
    source->length = (size_t)n;
    if (source->kind == SCTP) answer_message(source);
  }
  ssize_t sent = send(source->fd, source->buffer, source->length, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return 0;
  if (sent > 0) {
    source->length -= (size_t)sent;
    memmove(source->buffer, source->buffer + sent, source->length);
  }
  struct epoll_event event = {.events = source->length > 0 ? EPOLLOUT : EPOLLIN, .data.ptr = source};
  return epoll_ctl(poller, EPOLL_CTL_MOD, source->fd, &event) == 0;
}

static int serve_udp(struct source *source) {
  char bytes[2048], answer[2048], control[256], peer[64];
  union address from;
  struct iovec in = {bytes, sizeof bytes}, out = {answer, 0};
  struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &in, .msg_iovlen = 1,
                           .msg_control = control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(source->fd, &message, 0);
  if (n < 0) return 1;
  format_address(&from, peer, sizeof peer);
  int length = answer_udp(bytes, (size_t)n, hostname, peer, answer, sizeof answer);
  if (length < 0) return 1;
  /* The information that came with the request, less the interface: routing finds the way back. */
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level == IPPROTO_IPV6) ((struct in6_pktinfo *)CMSG_DATA(c))->ipi6_ifindex = 0;
    if (c->cmsg_level == IPPROTO_IP) ((struct in_pktinfo *)CMSG_DATA(c))->ipi_ifindex = 0;
  }
  out.iov_len = (size_t)length;
  message.msg_iov = &out;
  sendmsg(source->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return 1;
}

static int record_icmp(struct source *source) {
  char bytes[2048];
  ssize_t n = recv(source->fd, bytes, sizeof bytes, 0);
  size_t header = source->kind == ICMP4 && n > 0 ? (size_t)(bytes[0] & 15) * 4 : 0;
  header += 8;
  size_t magic = strlen(PROBE_MAGIC);
  if (n < (ssize_t)(header + magic) || memcmp(bytes + header, PROBE_MAGIC, magic)) return 1;
  const char *nonce = bytes + header + magic;
  record_nonce(nonce, strnlen(nonce, (size_t)n - header - magic));
  return 1;
}

static int serve_source(struct source *source) {
  switch (source->kind) {
    case LISTEN_HTTP:
    case LISTEN_ECHO:
    case LISTEN_SCTP: accept_all(source); return 1;
    case UDP: return serve_udp(source);
    case ICMP4:
    case ICMP6: return record_icmp(source);
    case HTTP: return serve_http(source);
    case ECHO:
    case SCTP: return serve_echo(source);
  }
  return 0;
}

static void take_http(void *into, const char *v) { ((struct serve_options *)into)->http = (int)parse_number(v, 0, 65535, "--http-port"); }
static void take_udp(void *into, const char *v) { ((struct serve_options *)into)->udp = (int)parse_number(v, 0, 65535, "--udp-port"); }
static void take_tcp(void *into, const char *v) { ((struct serve_options *)into)->tcp = (int)parse_number(v, 0, 65535, "--tcp-port"); }
static void take_sctp(void *into, const char *v) { ((struct serve_options *)into)->sctp = (int)parse_number(v, -1, 65535, "--sctp-port"); }
static void take_sctp_address(void *into, const char *v) {
  const char **addresses = ((struct serve_options *)into)->sctp_addresses;
  if (addresses[0] && addresses[1]) die("--sctp-address: one of each family, not more");
  addresses[addresses[0] ? 1 : 0] = v;
}
static void take_hostname(void *into, const char *v) { ((struct serve_options *)into)->hostname = v; }

static const struct option_spec SPECS[] = {
    {"http-port", take_http, 0}, {"udp-port", take_udp, 0},      {"tcp-port", take_tcp, 0},
    {"sctp-port", take_sctp, 0}, {"hostname", take_hostname, 0}, {"sctp-address", take_sctp_address, 0}, {NULL, NULL, 0}};

static void stop(int number) {
  (void)number;
  _exit(0);
}

static const char *own_name(void) {
  char *name = must_alloc(256);
  if (gethostname(name, 255) < 0) die_errno("gethostname");
  return name;
}

int serve_main(int argc, char **argv) {
  struct serve_options o = {.http = HTTP_PORT, .udp = UDP_PORT, .tcp = TCP_PORT, .sctp = SCTP_PORT};
  if (parse_options(argc, argv, SPECS, &o) != argc) die("serve takes options only");
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  hostname = o.hostname ? o.hostname : own_name();
  poller = epoll_create1(EPOLL_CLOEXEC);
  listen_on(o.http, LISTEN_HTTP);
  listen_on(o.tcp, LISTEN_ECHO);
  /*
   * A socket for both families has addresses of both. Those of IPv4 are left out where the client's address is none of RFC 1918 and
   * the pod has two of IPv6, which Linux takes for global ones (sctp_bind_addr_copy); then it aborts what comes by IPv4.
   */
  open_sctp(&o);
  open_udp(o.udp);
  open_icmp();
  open_seen_socket();
  puts("serving"), fflush(stdout);
  for (struct epoll_event events[64];;) {
    int n = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < n; i++) {
      struct source *source = events[i].data.ptr;
      if (source->fd >= 0 && !serve_source(source)) drop(source);
    }
    free_dead();
  }
}
