/* The parts of `toolbox probe`. */
#ifndef PROBE_H
#define PROBE_H

#include "toolbox.h"

enum probe_protocol { PROBE_ICMP, PROBE_TCP, PROBE_UDP, PROBE_SCTP };

struct probe {
  char id[128], nonce[NONCE_MAX + 1], interface[16];
  int family, fd, tries, is_done;
  enum probe_protocol protocol;
  union address to;
  socklen_t to_length;
  int64_t sent_at, deadline;
  /* Of TCP and SCTP: what has come so far. Of all: the answer's text. */
  size_t length;
  char answer[512];
  const char *error;
};

struct probe_settings {
  int timeout_ms, tries, parallel, tcp_port, udp_port;
};

/* `id family protocol address [interface|-] [nonce]`; NULL, with a sentence on stderr, when it is something else. */
struct probe *parse_probe(const char *line, const struct probe_settings *settings);
void print_probe(const struct probe *probe);

/* icmp.c: one raw socket per family and interface; a reply is matched by its sequence number, the probe's index. */
struct icmp_socket {
  int fd, family;
  char interface[16];
};
/* Which socket a probe needs, made when it is the first; -1 when there can be none, and errno says why. */
int icmp_socket_for(const struct probe *probe, int *is_new);
struct icmp_socket *icmp_socket_at(int index);
int icmp_send(const struct icmp_socket *socket, const struct probe *probe, uint16_t sequence);
/*
 * Reads one message. The sequence number of what it answers, or -1; `payload` gets an echo's payload, `error` a text when
 * a router refused.
 */
int icmp_receive(const struct icmp_socket *socket, char *payload, size_t size, const char **error);

#endif
