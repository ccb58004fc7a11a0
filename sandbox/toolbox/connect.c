/*
 * toolbox connect [--timeout DURATION] [--protocol tcp|udp] [--udp-data TEXT] HOST:PORT
 *
 * What agnhost's command of that name does, with its answers: exit status 0 when a connection was made, or a datagram answered; else 1
 * and DNS, TIMEOUT, REFUSED, UNKNOWN or OTHER at the head of stderr. All addresses of a name are tried, one after the other.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct connect_options {
  int timeout_ms; /* -1: none, as poll(2) has it */
  int is_udp;
  const char *data;
};

static void take_timeout(void *into, const char *value) {
  char *unit;
  double number = strtod(value, &unit);
  int is_seconds = !strcmp(unit, "s");
  if (unit == value || number < 0 || (!is_seconds && strcmp(unit, "ms"))) die("--timeout must be as 3s or 500ms, not \"%s\"", value);
  int ms = (int)(is_seconds ? number * 1000 : number);
  ((struct connect_options *)into)->timeout_ms = ms == 0 ? -1 : ms;
}

static void take_protocol(void *into, const char *value) {
  struct connect_options *o = into;
  o->is_udp = !strcmp(value, "udp");
  if (!o->is_udp && strcmp(value, "tcp")) die("--protocol must be tcp or udp, not \"%s\"", value);
}

static void take_data(void *into, const char *value) { ((struct connect_options *)into)->data = value; }

static const struct option_spec SPECS[] = {
    {"timeout", take_timeout, 0}, {"protocol", take_protocol, 0}, {"udp-data", take_data, 0}, {NULL, NULL, 0}};

static struct addrinfo *resolve(const char *target, int type) {
  char *host = must_format("%s", target), *port = strrchr(host, ':');
  if (port == NULL) die("HOST:PORT, not \"%s\"", target);
  *port++ = 0;
  size_t length = strlen(host);
  if (host[0] == '[' && host[length - 1] == ']') host[length - 1] = 0, host++;
  struct addrinfo hints = {.ai_socktype = type}, *found;
  int error = getaddrinfo(host, port, &hints, &found);
  if (error) {
    fprintf(stderr, "DNS: lookup %s: %s\n", host, gai_strerror(error));
    exit(1);
  }
  return found;
}

/* 0, or the errno of what happened; ETIMEDOUT also when this side lost patience. */
static int wait_for(int fd, short events, int timeout_ms) {
  struct pollfd one = {.fd = fd, .events = events};
  int n = poll(&one, 1, timeout_ms), error = 0;
  socklen_t size = sizeof error;
  if (n < 0) return errno;
  if (n == 0) return ETIMEDOUT;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

static int ask(int fd, const struct connect_options *o) {
  char *request = must_format("%s\n", o->data), answer[2048];
  ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);
  int error = n < 0 ? errno : wait_for(fd, POLLIN, o->timeout_ms);
  free(request);
  if (error) return error;
  return recv(fd, answer, sizeof answer, 0) < 0 ? errno : 0;
}

static int attempt(const struct addrinfo *to, const struct connect_options *o) {
  int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  int error = connect(fd, to->ai_addr, to->ai_addrlen) < 0 ? errno : 0;
  if (error == EINPROGRESS) error = wait_for(fd, POLLOUT, o->timeout_ms);
  if (error == 0 && o->is_udp) error = ask(fd, o);
  close(fd);
  return error;
}

static const char *word_of(int error, int is_udp) {
  if (error == ETIMEDOUT) return "TIMEOUT";
  if (error == ECONNREFUSED) return "REFUSED";
  return is_udp ? "UNKNOWN" : "OTHER";
}

int connect_main(int argc, char **argv) {
  struct connect_options o = {.timeout_ms = -1, .data = "hostname"};
  int at = parse_options(argc, argv, SPECS, &o), error = 0;
  if (at != argc - 1) die("connect takes one HOST:PORT");
  for (struct addrinfo *to = resolve(argv[at], o.is_udp ? SOCK_DGRAM : SOCK_STREAM); to; to = to->ai_next)
    if ((error = attempt(to, &o)) == 0) return 0;
  fprintf(stderr, "%s: %s\n", word_of(error, o.is_udp), strerror(error));
  return 1;
}
