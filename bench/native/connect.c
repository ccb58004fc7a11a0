/*
 * TCP connections over IPv4, one after the other: how long each takes, from its SYN until both ends have closed it.
 *
 *   connect serve PORT                              says a byte to everybody and closes, until it is killed
 *   connect measure ADDRESS PORT SOURCE COUNT       prints the nanoseconds of COUNT connections, each from a port of its own:
 *                                                   SOURCE, SOURCE + 1, …
 *
 * The server closes first, so that the client may go on at once. Source ports are given because connections to a Service and
 * to its endpoint are the same to the endpoint: one with the addresses and ports of one that has just ended would have to wait.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 5

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct sockaddr_in at(const char *address, int port) {
  struct sockaddr_in it = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, address, &it.sin_addr) != 1) {
    fprintf(stderr, "not an IPv4 address: %s\n", address);
    exit(2);
  }
  return it;
}

static int socket_at(struct sockaddr_in address) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) die("socket");
  int yes = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0) die("SO_REUSEADDR");
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) die("bind");
  return fd;
}

static void serve(int port) {
  signal(SIGPIPE, SIG_IGN);
  int fd = socket_at(at("0.0.0.0", port));
  if (listen(fd, 128) < 0) die("listen");
  for (;;) {
    int client = accept(fd, NULL, NULL);
    if (client < 0) die("accept");
    /* Who has gone meanwhile does not matter. */
    if (write(client, "!", 1) < 0) perror("write");
    close(client);
  }
}

static long long one(struct sockaddr_in server, int source) {
  int fd = socket_at(at("0.0.0.0", source));
  struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) die("SO_RCVTIMEO");
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0) die("SO_SNDTIMEO");
  long long start = now();
  if (connect(fd, (struct sockaddr *)&server, sizeof server) < 0) die("connect");
  char byte;
  int said = 0;
  for (ssize_t got; (got = read(fd, &byte, 1)) != 0; said++)
    if (got < 0) die("read");
  close(fd);
  if (said != 1) {
    fprintf(stderr, "the server said %d bytes\n", said);
    exit(1);
  }
  return now() - start;
}

int main(int argc, char **argv) {
  if (argc == 3 && argv[1][0] == 's') serve(atoi(argv[2]));
  if (argc != 6) {
    fprintf(stderr, "usage: connect serve PORT | connect measure ADDRESS PORT SOURCE COUNT\n");
    return 2;
  }
  struct sockaddr_in server = at(argv[2], atoi(argv[3]));
  int source = atoi(argv[4]), count = atoi(argv[5]);
  for (int i = 0; i < count; i++) printf("%lld\n", one(server, source + i));
  return 0;
}
