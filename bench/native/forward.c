/*
 * Small UDP packets between two hosts: how many per second arrive, and how long one takes there and back.
 *
 *   forward serve ADDRESS PORT                            answers until it is killed
 *   forward measure ADDRESS PORT BATCHES ROUND-TRIPS      prints three lines: "PACKETS ARRIVED", the nanoseconds of every
 *                                                         batch of 32 packets, and those of every round trip
 *
 * Packets are counted where they arrive. They are timed where they are sent: what forwards them from veth to veth runs on
 * the sender's processor, within its system call (veth(4), `netif_rx`), so that a batch takes as long as forwarding it.
 * Whoever receives is on another processor, and its buffer has room for all of them: that it is late delays and loses none.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The first byte of a packet. All but a LOAD are answered. */
enum { PING = 'P', START = 'S', LOAD = 'L', END = 'E' };

#define SIZE 32
#define BATCH 32
#define BUFFER (128 << 20)
#define WARM_UP 64
#define PATIENCE_MS 250
#define TRIES 80

struct packet {
  unsigned char kind;
  /* Of a question, and of its answer: an answer that was late is none to the next question. */
  unsigned number;
  /* In an answer: how many LOADs came since START. */
  unsigned arrived;
};

struct batch {
  struct mmsghdr messages[BATCH];
  struct iovec parts[BATCH];
  struct sockaddr_storage peers[BATCH];
  unsigned char data[BATCH][SIZE];
};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Whoever receives is on the first of the processors that there are, whoever sends on the last one. */
static void take_processor(int last) {
  cpu_set_t all, one;
  int chosen = -1;
  if (sched_getaffinity(0, sizeof all, &all) < 0) die("sched_getaffinity");
  for (int i = 0; i < CPU_SETSIZE && (last || chosen < 0); i++)
    if (CPU_ISSET(i, &all)) chosen = i;
  CPU_ZERO(&one);
  CPU_SET(chosen, &one);
  if (sched_setaffinity(0, sizeof one, &one) < 0) die("sched_setaffinity");
}

static socklen_t parse(const char *address, const char *port, struct sockaddr_storage *result) {
  struct sockaddr_in *ipv4 = (struct sockaddr_in *)result;
  struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)result;
  memset(result, 0, sizeof *result);
  if (inet_pton(AF_INET, address, &ipv4->sin_addr) == 1) {
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons((uint16_t)atoi(port));
    return sizeof *ipv4;
  }
  if (inet_pton(AF_INET6, address, &ipv6->sin6_addr) == 1) {
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_port = htons((uint16_t)atoi(port));
    return sizeof *ipv6;
  }
  fprintf(stderr, "%s is no address\n", address);
  exit(1);
}

static void prepare(struct batch *batch, int with_peers) {
  for (int i = 0; i < BATCH; i++) {
    struct msghdr *header = &batch->messages[i].msg_hdr;
    batch->parts[i] = (struct iovec){.iov_base = batch->data[i], .iov_len = SIZE};
    *header = (struct msghdr){.msg_iov = &batch->parts[i], .msg_iovlen = 1};
    if (with_peers) *header = (struct msghdr){.msg_iov = &batch->parts[i], .msg_iovlen = 1, .msg_name = &batch->peers[i]};
  }
}

/* What the network says of a way that is not there (yet): it is told once. */
static int is_refusal(int error) { return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH; }

static void take(int fd, const struct msghdr *message, unsigned char *data, unsigned *arrived) {
  struct packet packet;
  memcpy(&packet, data, sizeof packet);
  if (packet.kind == LOAD) (*arrived)++;
  if (packet.kind == START) *arrived = 0;
  if (packet.kind == LOAD) return;
  packet.arrived = *arrived;
  memcpy(data, &packet, sizeof packet);
  /* One who is not there any more is no reason to end. */
  if (sendto(fd, data, SIZE, 0, message->msg_name, message->msg_namelen) < 0 && !is_refusal(errno)) die("sendto");
}

static void serve(const char *address, const char *port) {
  static struct batch batch;
  unsigned arrived = 0;
  struct sockaddr_storage own;
  socklen_t length = parse(address, port, &own);
  int fd = socket(own.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), buffer = BUFFER;
  if (fd < 0 || bind(fd, (struct sockaddr *)&own, length) < 0) die(address);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0) die("SO_RCVBUFFORCE");
  take_processor(0);
  prepare(&batch, 1);
  for (;;) {
    for (int i = 0; i < BATCH; i++) batch.messages[i].msg_hdr.msg_namelen = sizeof batch.peers[i];
    int count = recvmmsg(fd, batch.messages, BATCH, MSG_WAITFORONE, NULL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) die("recvmmsg");
    for (int i = 0; i < count; i++) take(fd, &batch.messages[i].msg_hdr, batch.data[i], &arrived);
  }
}

/* @returns whether the answer came */
static int is_answered(int fd, struct packet *packet) {
  unsigned char data[SIZE] = {0};
  unsigned number = packet->number;
  memcpy(data, packet, sizeof *packet);
  if (send(fd, data, SIZE, 0) < 0 && !is_refusal(errno)) die("send");
  for (;;) {
    ssize_t length = recv(fd, data, SIZE, 0);
    if (length < 0 && errno == EAGAIN) return 0;
    if (length < 0 && !is_refusal(errno)) die("recv");
    if (length != SIZE) continue;
    memcpy(packet, data, sizeof *packet);
    if (packet->number == number) return 1;
  }
}

/* Asks again when no answer comes: the way may not be there yet. @returns how many packets have arrived */
static unsigned ask(int fd, unsigned char kind) {
  static unsigned number;
  struct packet packet = {.kind = kind, .number = ++number};
  for (int i = 0; i < TRIES; i++)
    if (is_answered(fd, &packet)) return packet.arrived;
  fprintf(stderr, "no answer\n");
  exit(1);
}

static void load(int fd, int batches, long long *took) {
  static struct batch batch;
  prepare(&batch, 0);
  for (int i = 0; i < BATCH; i++) batch.data[i][0] = LOAD;
  for (int i = 0; i < batches; i++) {
    long long start = now();
    if (sendmmsg(fd, batch.messages, BATCH, 0) != BATCH) die("sendmmsg");
    took[i] = now() - start;
  }
}

static void round_trips(int fd, int count, long long *took) {
  for (int i = 0; i < count; i++) {
    long long start = now();
    ask(fd, PING);
    took[i] = now() - start;
  }
}

static void print(const long long *numbers, int count) {
  for (int i = 0; i < count; i++) printf("%lld%c", numbers[i], i + 1 < count ? ' ' : '\n');
}

static void measure(const char *address, const char *port, int batches, int trips) {
  struct sockaddr_storage to;
  socklen_t length = parse(address, port, &to);
  struct timeval patience = {.tv_usec = PATIENCE_MS * 1000};
  int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  long long *of_batches = calloc((size_t)batches, sizeof *of_batches), *of_trips = calloc((size_t)trips, sizeof *of_trips);
  if (!of_batches || !of_trips) die("calloc");
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, length) < 0) die(address);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) die("SO_RCVTIMEO");
  take_processor(1);
  for (int i = 0; i < WARM_UP; i++) ask(fd, PING);
  round_trips(fd, trips, of_trips);
  ask(fd, START);
  load(fd, batches, of_batches);
  printf("%d %u\n", batches * BATCH, ask(fd, END));
  print(of_batches, batches);
  print(of_trips, trips);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "serve")) serve(argv[2], argv[3]);
  else if (argc == 6 && !strcmp(argv[1], "measure")) measure(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
  else fprintf(stderr, "serve or measure?\n"), exit(2);
  return 0;
}
