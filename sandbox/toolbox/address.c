#include "toolbox.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fill(const char *host, int family, int port, union address *out, socklen_t *length) {
  memset(out, 0, sizeof *out);
  if (family != 6 && inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons((uint16_t)port);
    *length = sizeof out->v4;
    return 1;
  }
  if (family != 4 && inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons((uint16_t)port);
    *length = sizeof out->v6;
    return 1;
  }
  return 0;
}

static int read_port(const char *text) {
  char *end;
  long port = strtol(text, &end, 10);
  return *text == 0 || *end || port < 1 || port > 65535 ? 0 : (int)port;
}

int parse_address(const char *text, int family, int default_port, union address *out, socklen_t *length) {
  char host[64];
  if (strlen(text) >= sizeof host) return 0;
  strcpy(host, text[0] == '[' ? text + 1 : text);
  int port = default_port;
  char *end = text[0] == '[' ? strchr(host, ']') : NULL;
  char *colon = end ? (end[1] == ':' ? end + 1 : NULL) : strchr(host, ':');
  if (text[0] == '[' && end == NULL) return 0;
  if (end && end[1] && colon == NULL) return 0;
  if (end == NULL && colon && strchr(colon + 1, ':')) colon = NULL; /* a bare IPv6 address */
  if (colon && (port = read_port(colon + 1)) == 0) return 0;
  if (end) *end = 0;
  else if (colon) *colon = 0;
  return fill(host, family, port, out, length);
}

void format_address(const union address *address, char *to, size_t size) {
  char host[INET6_ADDRSTRLEN];
  const struct in6_addr *v6 = &address->v6.sin6_addr;
  if (address->any.sa_family == AF_INET) {
    inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
    snprintf(to, size, "%s:%d", host, ntohs(address->v4.sin_port));
  } else if (IN6_IS_ADDR_V4MAPPED(v6)) {
    inet_ntop(AF_INET, v6->s6_addr + 12, host, sizeof host);
    snprintf(to, size, "%s:%d", host, ntohs(address->v6.sin6_port));
  } else {
    inet_ntop(AF_INET6, v6, host, sizeof host);
    snprintf(to, size, "[%s]:%d", host, ntohs(address->v6.sin6_port));
  }
}
