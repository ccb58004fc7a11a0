/* What the server answers, without sockets. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "toolbox.h"

/* One HTTP request out of a buffer: what was used of it, the response, and whether the connection stays open. */
struct http_exchange {
  size_t used;
  char response[4096];
  size_t response_length;
  int keep_open;
};

/* False when the request is not complete yet. `peer` is ADDRESS:PORT of the caller. */
int answer_http(const char *bytes, size_t length, const char *hostname, const char *peer, struct http_exchange *out);

/* The answer to a datagram; its length, or -1 for none. */
int answer_udp(const char *bytes, size_t length, const char *hostname, const char *peer, char *to, size_t size);

#endif
