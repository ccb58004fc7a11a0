/*
 * The endpoints of agnhost's netexec that tests use, and `/seen?nonce=N`. A nonce that comes with any request
 * (`?nonce=N`, `hostname N`, `echo N`) is recorded.
 */
#define _GNU_SOURCE
#include "answers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD_LIMIT 8000

/* The value of a query parameter, as it stands in the request; NULL when it is absent. */
static const char *parameter(const char *query, const char *end, const char *name, size_t *length) {
  size_t name_length = strlen(name);
  while (query && query < end) {
    const char *next = memchr(query, '&', (size_t)(end - query));
    const char *stop = next ? next : end;
    if ((size_t)(stop - query) > name_length && !memcmp(query, name, name_length) && query[name_length] == '=') {
      *length = (size_t)(stop - query) - name_length - 1;
      return query + name_length + 1;
    }
    query = next ? next + 1 : NULL;
  }
  return NULL;
}

/* %XX and + of a form. */
static size_t decode(const char *from, size_t length, char *to, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < length && n + 1 < size; i++) {
    char hex[3] = {0};
    if (from[i] == '%' && i + 2 < length && isxdigit((unsigned char)from[i + 1]) && isxdigit((unsigned char)from[i + 2])) {
      memcpy(hex, from + i + 1, 2);
      to[n++] = (char)strtol(hex, NULL, 16);
      i += 2;
    } else {
      to[n++] = from[i] == '+' ? ' ' : from[i];
    }
  }
  to[n] = 0;
  return n;
}

static void respond(struct http_exchange *out, int status, const char *body, size_t length, int is_head) {
  const char *reason = status == 200 ? "OK" : status == 404 ? "Not Found" : status == 405 ? "Method Not Allowed" : "Bad Request";
  int n = snprintf(out->response, sizeof out->response,
                   "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\nConnection: %s\r\n\r\n", status,
                   reason, length, out->keep_open ? "keep-alive" : "close");
  if (!is_head) memcpy(out->response + n, body, length);
  out->response_length = (size_t)n + (is_head ? 0 : length);
}

static int has_path(const char *path, size_t length, const char *wanted) {
  return length == strlen(wanted) && !strncasecmp(path, wanted, length);
}

static void answer_path(const char *target, const char *end, int is_head, const char *hostname, const char *peer,
                        struct http_exchange *out) {
  const char *question = memchr(target, '?', (size_t)(end - target)), *query = question ? question + 1 : NULL;
  size_t path = (size_t)((question ? question : end) - target), length = 0;
  char body[2048];
  const char *nonce = parameter(query, end, "nonce", &length);
  if (has_path(target, path, "/seen")) {
    int n = snprintf(body, sizeof body, "{\"nonce\":\"%.*s\",\"seen\":%s,\"count\":%zu}\n", length > NONCE_MAX ? 0 : (int)length,
                     nonce ? nonce : "", nonce && has_nonce(nonce, length) ? "true" : "false", nonce_count());
    respond(out, nonce ? 200 : 400, body, (size_t)n, is_head);
    return;
  }
  if (nonce) record_nonce(nonce, length);
  if (has_path(target, path, "/") || has_path(target, path, "/hostname"))
    respond(out, 200, hostname, strlen(hostname), is_head);
  else if (has_path(target, path, "/clientip")) respond(out, 200, peer, strlen(peer), is_head);
  else if (has_path(target, path, "/healthz") || has_path(target, path, "/readyz")) respond(out, 200, "ok", 2, is_head);
  else if (has_path(target, path, "/echo")) {
    const char *message = parameter(query, end, "msg", &length);
    size_t n = message ? decode(message, length, body, sizeof body) : 0;
    respond(out, 200, body, n, is_head);
  } else respond(out, 404, "not found\n", 10, is_head);
}

static int says_close(const char *head, size_t length) {
  const char *line = memmem(head, length, "\n", 1);
  while (line) {
    const char *stop = memmem(line + 1, length - (size_t)(line + 1 - head), "\n", 1);
    if (stop && !strncasecmp(line + 1, "connection:", 11)) return memmem(line, (size_t)(stop - line), "lose", 4) != NULL;
    line = stop;
  }
  return 0;
}

static int has_body(const char *head, size_t length) {
  return memmem(head, length, "ontent-", 7) != NULL || memmem(head, length, "ransfer-", 8) != NULL;
}

int answer_http(const char *bytes, size_t length, const char *hostname, const char *peer, struct http_exchange *out) {
  const char *blank = memmem(bytes, length, "\r\n\r\n", 4), *end = memmem(bytes, length, "\r\n", 2);
  if (blank == NULL && length < HEAD_LIMIT) return 0;
  const char *space = end ? memchr(bytes, ' ', (size_t)(end - bytes)) : NULL;
  const char *second = space ? memmem(space + 1, (size_t)(end - space - 1), " HTTP/1.", 8) : NULL;
  out->used = blank ? (size_t)(blank + 4 - bytes) : length;
  out->keep_open = 0;
  if (blank == NULL || second == NULL || space[1] != '/') {
    respond(out, 400, "bad request\n", 12, 0);
    return 1;
  }
  int is_head = !strncmp(bytes, "HEAD ", 5);
  /* A body is not read, so the connection can't go on after it. */
  out->keep_open = second[8] == '1' && !says_close(bytes, out->used) && !has_body(bytes, out->used);
  if (is_head || !strncmp(bytes, "GET ", 4) || !strncmp(bytes, "POST ", 5))
    answer_path(space + 1, second, is_head, hostname, peer, out);
  else respond(out, 405, "method not allowed\n", 19, 0);
  return 1;
}

int answer_udp(const char *bytes, size_t length, const char *hostname, const char *peer, char *to, size_t size) {
  while (length > 0 && isspace((unsigned char)bytes[length - 1])) length--;
  const char *space = memchr(bytes, ' ', length);
  size_t word = space ? (size_t)(space - bytes) : length, rest = space ? length - word - 1 : 0;
  if (space) record_nonce(space + 1, rest);
  if (word == 8 && !strncasecmp(bytes, "hostname", 8)) return snprintf(to, size, "%s", hostname);
  if (word == 8 && !strncasecmp(bytes, "clientip", 8)) return snprintf(to, size, "%s", peer);
  if (word != 4 || strncasecmp(bytes, "echo", 4) || space == NULL || rest > size) return -1;
  memcpy(to, space + 1, rest);
  return (int)rest;
}
