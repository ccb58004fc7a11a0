/*
 * toolbox probe [--timeout MS] [--tries N] [--parallel N] [--tcp-port N] [--udp-port N]
 *
 * Reads `id family protocol address [interface|-] [nonce]` lines (protocol icmp, tcp, udp or sctp) and runs the
 * probes at the same time; an address may have a port. Over SCTP it asks what it asks over UDP. Prints
 * {"id","answered","who","error","rtt_us","tries","nonce"} per probe as it ends. `who` is what the server calls itself. The server that a probe reaches records its nonce, answered or not.
 * A try takes as long as --timeout; one that fails sooner (refused, unreachable) is tried again when its time is over,
 * because rules and routes may be on their way.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_PROBES 60000 /* sequence numbers have 16 bits */

static struct probe_settings settings = {
    .timeout_ms = 1000, .tries = 3, .parallel = 2000, .tcp_port = HTTP_PORT, .udp_port = UDP_PORT};
static struct probe **probes;
static size_t count, next, running;
static int poller;

static void finish(struct probe *probe, const char *error) {
  if (probe->fd >= 0) close(probe->fd);
  probe->fd = -1;
  probe->error = error;
  probe->is_done = 1;
  running--;
  print_probe(probe);
}

/* This try is over before its time: the probe waits for its deadline, unless it was the last try. */
static void fail_try(struct probe *probe, const char *error) {
  if (probe->fd >= 0) close(probe->fd);
  probe->fd = -1;
  probe->error = error;
  if (probe->tries >= settings.tries) finish(probe, error);
}

/* Events of an ICMP socket carry its index plus this, those of a probe the probe's index. */
#define ICMP_EVENTS (1ULL << 32)

static int watch(int operation, int fd, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data.u64 = data};
  return epoll_ctl(poller, operation, fd, &event);
}

static void start_icmp(size_t index) {
  int is_new, at = icmp_socket_for(probes[index], &is_new);
  if (at >= 0 && is_new) watch(EPOLL_CTL_ADD, icmp_socket_at(at)->fd, EPOLLIN, ICMP_EVENTS + (uint64_t)at);
  if (at < 0 || icmp_send(icmp_socket_at(at), probes[index], (uint16_t)index) < 0)
    fail_try(probes[index], strerror(errno));
}

static int open_socket(struct probe *probe, size_t index) {
  int is_stream = probe->protocol != PROBE_UDP;
  int type = (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
  int fd = socket(probe->to.any.sa_family, type, probe->protocol == PROBE_SCTP ? IPPROTO_SCTP : 0);
  if (fd < 0) return -1;
  probe->fd = fd;
  int on = 1; /* udp may be to everybody of a subnet: socket(7) */
  setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  if (probe->interface[0] &&
      setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, probe->interface, (socklen_t)strlen(probe->interface)) < 0)
    return -1;
  if (connect(fd, &probe->to.any, probe->to_length) < 0 && errno != EINPROGRESS) return -1;
  return watch(EPOLL_CTL_ADD, fd, is_stream ? EPOLLOUT : EPOLLIN, index);
}

static int send_request(const struct probe *probe) {
  const char *format = probe->protocol == PROBE_TCP ? "GET /hostname?nonce=%s HTTP/1.0\r\nHost: toolbox\r\n\r\n" : "hostname %s";
  char request[NONCE_MAX + 64];
  int n = snprintf(request, sizeof request, format, probe->nonce);
  return send(probe->fd, request, (size_t)n, MSG_NOSIGNAL) == n ? 0 : -1;
}

static void start_socket(size_t index) {
  struct probe *probe = probes[index];
  probe->length = 0;
  if (open_socket(probe, index) < 0 || (probe->protocol == PROBE_UDP && send_request(probe) < 0))
    fail_try(probe, strerror(errno));
}

static void start_try(size_t index) {
  struct probe *probe = probes[index];
  if (probe->fd >= 0) close(probe->fd);
  probe->fd = -1;
  probe->error = "timed out";
  probe->tries++;
  probe->sent_at = now_us();
  probe->deadline = probe->sent_at + settings.timeout_ms * 1000LL;
  if (probe->protocol == PROBE_ICMP) start_icmp(index);
  else start_socket(index);
}

static int is_echo_of(const char *payload, const struct probe *probe) {
  size_t magic = strlen(PROBE_MAGIC);
  return !strncmp(payload, PROBE_MAGIC, magic) && !strcmp(payload + magic, probe->nonce);
}

static void read_icmp(const struct icmp_socket *socket) {
  char payload[256];
  const char *error;
  for (;;) {
    errno = 0;
    int index = icmp_receive(socket, payload, sizeof payload, &error);
    if (index < 0 && errno) return;
    if (index < 0 || (size_t)index >= next || probes[index]->is_done || probes[index]->protocol != PROBE_ICMP) continue;
    if (error) fail_try(probes[index], error);
    else if (is_echo_of(payload, probes[index])) finish(probes[index], NULL);
  }
}

/* A datagram may be empty; an association without a message has ended. */
static void read_message(struct probe *probe) {
  ssize_t n = recv(probe->fd, probe->answer, sizeof probe->answer - 1, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0 || (n == 0 && probe->protocol == PROBE_SCTP)) {
    fail_try(probe, n < 0 ? strerror(errno) : "ended without an answer");
    return;
  }
  probe->answer[n] = 0;
  finish(probe, NULL);
}

static void ask_when_connected(struct probe *probe, size_t index) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error) errno = error;
  if (error || send_request(probe) < 0 || watch(EPOLL_CTL_MOD, probe->fd, EPOLLIN, index) < 0)
    fail_try(probe, strerror(errno));
}

static void read_http(struct probe *probe) {
  ssize_t n = recv(probe->fd, probe->answer + probe->length, sizeof probe->answer - 1 - probe->length, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) {
    fail_try(probe, strerror(errno));
    return;
  }
  probe->length += (size_t)n;
  probe->answer[probe->length] = 0;
  if (n > 0 && probe->length < sizeof probe->answer - 1) return;
  char *body = strstr(probe->answer, "\r\n\r\n");
  if (body == NULL || strncmp(probe->answer, "HTTP/1.", 7)) {
    fail_try(probe, "not an HTTP response");
    return;
  }
  memmove(probe->answer, body + 4, strlen(body + 4) + 1);
  finish(probe, NULL);
}

static void serve_event(const struct epoll_event *event) {
  if (event->data.u64 >= ICMP_EVENTS) {
    read_icmp(icmp_socket_at((int)(event->data.u64 - ICMP_EVENTS)));
    return;
  }
  struct probe *probe = probes[event->data.u64];
  if (probe->is_done || probe->fd < 0) return;
  if (probe->protocol != PROBE_UDP && event->events & EPOLLOUT) ask_when_connected(probe, event->data.u64);
  else if (probe->protocol == PROBE_TCP) read_http(probe);
  else read_message(probe);
}

/* Starts what may start and tries again what has to. How long until the next deadline, in ms. */
static int advance(void) {
  int64_t now = now_us(), soonest = now + 1000000;
  for (size_t i = 0; i < next; i++) {
    if (probes[i]->is_done) continue;
    if (probes[i]->deadline <= now) {
      if (probes[i]->tries < settings.tries) start_try(i);
      else finish(probes[i], probes[i]->error);
    }
    if (!probes[i]->is_done && probes[i]->deadline < soonest) soonest = probes[i]->deadline;
  }
  for (; next < count && running < (size_t)settings.parallel; next++) {
    running++;
    start_try(next);
    if (probes[next]->deadline < soonest) soonest = probes[next]->deadline;
  }
  return soonest <= now ? 0 : (int)((soonest - now) / 1000 + 1);
}

static int read_probes(void) {
  char line[512];
  int is_bad = 0;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\r\n")] = 0;
    if (line[0] == 0) continue;
    struct probe *probe = parse_probe(line, &settings);
    if (probe == NULL) is_bad = 1;
    if (probe == NULL) continue;
    if (count == MAX_PROBES) die("more than %d probes", MAX_PROBES);
    probes[count++] = probe;
  }
  return is_bad;
}

static void raise_file_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

#define TAKE(name, field, min, max) \
  static void take_##field(void *into, const char *v) { ((struct probe_settings *)into)->field = (int)parse_number(v, min, max, name); }
TAKE("--timeout", timeout_ms, 1, 600000)
TAKE("--tries", tries, 1, 1000)
TAKE("--parallel", parallel, 1, MAX_PROBES)
TAKE("--tcp-port", tcp_port, 1, 65535)
TAKE("--udp-port", udp_port, 1, 65535)

static const struct option_spec SPECS[] = {
    {"timeout", take_timeout_ms, 0}, {"tries", take_tries, 0},       {"parallel", take_parallel, 0},
    {"tcp-port", take_tcp_port, 0},  {"udp-port", take_udp_port, 0}, {NULL, NULL, 0}};

int probe_main(int argc, char **argv) {
  if (parse_options(argc, argv, SPECS, &settings) != argc) die("probe takes options only, probes come from stdin");
  probes = must_alloc(MAX_PROBES * sizeof *probes);
  raise_file_limit();
  poller = epoll_create1(EPOLL_CLOEXEC);
  int is_bad = read_probes();
  struct epoll_event events[128];
  for (int wait = advance(); running > 0; wait = advance()) {
    int n = epoll_wait(poller, events, 128, wait);
    for (int i = 0; i < n; i++) serve_event(&events[i]);
  }
  return is_bad ? 2 : 0;
}
