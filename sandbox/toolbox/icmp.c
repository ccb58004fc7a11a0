#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ICMP_FILTER_ 1 /* linux/icmp.h, of level SOL_RAW */
#define SOL_RAW_ 255
#define SOCKETS 64

static struct icmp_socket sockets[SOCKETS];
static int socket_count;

static void filter4(int fd) {
  uint32_t blocked = ~(1u << ICMP_ECHOREPLY | 1u << ICMP_DEST_UNREACH | 1u << ICMP_TIME_EXCEEDED);
  setsockopt(fd, SOL_RAW_, ICMP_FILTER_, &blocked, sizeof blocked);
}

static void filter6(int fd) {
  struct icmp6_filter filter;
  ICMP6_FILTER_SETBLOCKALL(&filter);
  ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
  ICMP6_FILTER_SETPASS(ICMP6_DST_UNREACH, &filter);
  ICMP6_FILTER_SETPASS(ICMP6_TIME_EXCEEDED, &filter);
  setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
}

struct icmp_socket *icmp_socket_at(int index) { return &sockets[index]; }

int icmp_socket_for(const struct probe *probe, int *is_new) {
  *is_new = 0;
  for (int i = 0; i < socket_count; i++)
    if (sockets[i].family == probe->family && !strcmp(sockets[i].interface, probe->interface)) return i;
  if (socket_count == SOCKETS) return errno = EMFILE, -1;
  int is4 = probe->family == 4, size = 16 << 20;
  int fd = socket(is4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, is4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
  if (fd < 0) return -1;
  if (probe->interface[0] &&
      setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, probe->interface, (socklen_t)strlen(probe->interface)) < 0) {
    close(fd);
    return -1;
  }
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  if (is4) filter4(fd);
  else filter6(fd);
  sockets[socket_count] = (struct icmp_socket){.fd = fd, .family = probe->family};
  strcpy(sockets[socket_count].interface, probe->interface);
  *is_new = 1;
  return socket_count++;
}

/* RFC 1071. The kernel does it for ICMPv6. */
static uint16_t checksum(const unsigned char *bytes, size_t length) {
  uint32_t sum = 0;
  for (size_t i = 0; i < length; i += 2) sum += (uint32_t)(bytes[i] << 8 | (i + 1 < length ? bytes[i + 1] : 0));
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)~sum;
}

static uint16_t identifier(void) { return (uint16_t)getpid(); }

int icmp_send(const struct icmp_socket *socket, const struct probe *probe, uint16_t sequence) {
  unsigned char packet[8 + sizeof PROBE_MAGIC + NONCE_MAX] = {
      [0] = socket->family == 4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST, [4] = (unsigned char)(identifier() >> 8),
      [5] = (unsigned char)identifier(), [6] = (unsigned char)(sequence >> 8), [7] = (unsigned char)sequence};
  memcpy(packet + 8, PROBE_MAGIC, strlen(PROBE_MAGIC));
  strcpy((char *)packet + 8 + strlen(PROBE_MAGIC), probe->nonce);
  size_t length = 8 + strlen(PROBE_MAGIC) + strlen(probe->nonce) + 1;
  if (socket->family == 4) {
    uint16_t sum = checksum(packet, length);
    packet[2] = (unsigned char)(sum >> 8), packet[3] = (unsigned char)sum;
  }
  union address to = probe->to;
  if (socket->family == 6) to.v6.sin6_port = 0; /* raw(7): it would have to be the protocol */
  return sendto(socket->fd, packet, length, MSG_DONTWAIT, &to.any, probe->to_length) == (ssize_t)length ? 0 : -1;
}

/* The sequence number of an echo message of ours, or -1. */
static int own_sequence(const unsigned char *icmp, size_t length) {
  if (length < 8 || (icmp[4] << 8 | icmp[5]) != identifier()) return -1;
  return icmp[6] << 8 | icmp[7];
}

static const char *unreachable4(int type, int code) {
  if (type == ICMP_TIME_EXCEEDED) return "time exceeded";
  return code == 13 || code == 9 || code == 10 ? "administratively prohibited" : code == 0 ? "network unreachable" : "host unreachable";
}

static const char *unreachable6(int type, int code) {
  if (type == ICMP6_TIME_EXCEEDED) return "time exceeded";
  return code == 1 ? "administratively prohibited" : code == 0 ? "network unreachable" : "host unreachable";
}

/* An error carries the packet it is about: its IP header and at least the ICMP header. */
static int quoted_sequence(int family, const unsigned char *quoted, size_t length) {
  size_t header = family == 6 ? 40 : length > 0 ? (size_t)(quoted[0] & 15) * 4 : 0;
  return length < header + 8 ? -1 : own_sequence(quoted + header, length - header);
}

int icmp_receive(const struct icmp_socket *socket, char *payload, size_t size, const char **error) {
  unsigned char packet[2048];
  ssize_t n = recv(socket->fd, packet, sizeof packet, MSG_DONTWAIT);
  size_t header = socket->family == 4 && n > 0 ? (size_t)(packet[0] & 15) * 4 : 0;
  if (n < (ssize_t)header + 8) return -1;
  const unsigned char *icmp = packet + header;
  size_t length = (size_t)n - header;
  payload[0] = 0, *error = NULL;
  if (icmp[0] == (socket->family == 4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY)) {
    size_t kept = length - 8 < size - 1 ? length - 8 : size - 1;
    memcpy(payload, icmp + 8, kept);
    payload[kept] = 0;
    return own_sequence(icmp, length);
  }
  *error = socket->family == 4 ? unreachable4(icmp[0], icmp[1]) : unreachable6(icmp[0], icmp[1]);
  return quoted_sequence(socket->family, icmp + 8, length - 8);
}
