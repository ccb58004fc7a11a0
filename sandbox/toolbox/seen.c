/* toolbox seen [NONCE…]: asks the server of this pod which probes arrived, one JSON line each; from stdin without arguments. */
#define _GNU_SOURCE
#include "toolbox.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

static FILE *from_server;
static int server;

static void connect_to_server(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SEEN_SOCKET};
  server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0) die_errno("no server is here: " SEEN_SOCKET);
  from_server = fdopen(server, "r");
  if (from_server == NULL) die_errno("fdopen");
}

/* Prints the body of one response. */
static void print_response(void) {
  char line[1024];
  size_t body = 0;
  while (fgets(line, sizeof line, from_server) && strcmp(line, "\r\n")) sscanf(line, "Content-Length: %zu", &body);
  if (body == 0 || body >= sizeof line || fread(line, 1, body, from_server) != body) die("the server broke off");
  fwrite(line, 1, body, stdout);
}

/* How many requests are under way at once: they fit the server's buffer, and so do the responses. */
#define BATCH 32

static const char *waiting[BATCH];
static int waiting_count;

static void ask_waiting(void) {
  char requests[BATCH * (NONCE_MAX + 40)];
  size_t n = 0;
  for (int i = 0; i < waiting_count; i++)
    n += (size_t)snprintf(requests + n, sizeof requests - n, "GET /seen?nonce=%s HTTP/1.1\r\n\r\n", waiting[i]);
  send_all(server, requests, n);
  for (; waiting_count > 0; waiting_count--) print_response();
}

static void ask(const char *nonce) {
  for (const char *c = nonce; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("._-", *c)) die("\"%s\" is not a nonce", nonce);
  if (strlen(nonce) > NONCE_MAX) die("\"%s\" is too long for a nonce", nonce);
  waiting[waiting_count++] = nonce;
  if (waiting_count == BATCH) ask_waiting();
}

int seen_main(int argc, char **argv) {
  static char lines[BATCH][256];
  connect_to_server();
  for (int i = 1; i < argc; i++) ask(argv[i]);
  char *line = lines[0];
  while (argc == 1 && fgets(line, sizeof *lines, stdin)) {
    line[strcspn(line, "\r\n")] = 0;
    if (*line) ask(line);
    line = lines[waiting_count];
  }
  ask_waiting();
  return 0;
}
