/*
 * When packets to targets begin to be dropped.
 *
 *   drops SENDER INTERVAL-MS        SENDER is an interface of OVS
 *
 * Reads a line "INTERFACE SOURCE TARGET" for each target, the last two being IPv4 addresses whose hardware addresses are 0a:58 and the
 * address, until an empty line. Sends a small UDP packet to each in every interval. Prints "ready" when each has got one, and from then on
 * "INDEX NANOSECONDS" for each that has not got any for some seconds: when the first that is missing was sent, by CLOCK_MONOTONIC. Ends with the
 * last one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_TARGETS 1024
#define SILENCE_NS 4000000000LL
#define PORT 4789
#define BUFFER (64 << 20)

struct frame {
  struct ether_header ethernet;
  struct iphdr ip;
  struct udphdr udp;
  long long sent;
} __attribute__((packed));

struct target {
  int interface;
  struct frame frame;
  /* When the last packet that has arrived was sent; 0: none has. */
  long long arrived;
  int is_reported;
};

static struct target targets[MAX_TARGETS];
static int count;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void set_hardware(unsigned char *to, const struct in_addr *address) {
  to[0] = 0x0a;
  to[1] = 0x58;
  memcpy(to + 2, address, 4);
}

static unsigned short checksum(const unsigned short *words, int length) {
  unsigned sum = 0;
  for (int i = 0; i < length; i++) sum += words[i];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return (unsigned short)~sum;
}

static void add_target(const char *line) {
  char interface[IF_NAMESIZE], source[16], destination[16];
  struct in_addr from, to;
  if (count == MAX_TARGETS || sscanf(line, "%15s %15s %15s", interface, source, destination) != 3) die("target");
  struct target *target = &targets[count++];
  struct frame *frame = &target->frame;
  if (inet_pton(AF_INET, source, &from) != 1 || inet_pton(AF_INET, destination, &to) != 1) die("address");
  target->interface = (int)if_nametoindex(interface);
  if (target->interface == 0) die(interface);
  set_hardware(frame->ethernet.ether_shost, &from);
  set_hardware(frame->ethernet.ether_dhost, &to);
  frame->ethernet.ether_type = htons(ETHERTYPE_IP);
  frame->ip = (struct iphdr){.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP};
  frame->ip.tot_len = htons(sizeof *frame - sizeof frame->ethernet);
  frame->ip.saddr = from.s_addr;
  frame->ip.daddr = to.s_addr;
  unsigned short header[10];
  memcpy(header, &frame->ip, sizeof header);
  frame->ip.check = checksum(header, 10);
  /* Without a checksum, as IPv4 allows (RFC 768). */
  frame->udp.source = htons(PORT + 1);
  frame->udp.dest = htons(PORT);
  frame->udp.len = htons(sizeof frame->udp + sizeof frame->sent);
}

static void send_to(int fd, struct target *target) {
  target->frame.sent = now();
  if (send(fd, &target->frame, sizeof target->frame, 0) < 0 && errno != ENOBUFS && errno != EAGAIN) die("send");
}

static void receive(int fd) {
  for (;;) {
    struct frame frame;
    struct sockaddr_ll from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(fd, &frame, sizeof frame, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0 && errno != ENETDOWN) die("recvfrom");
    if (size < (ssize_t)sizeof frame || from.sll_pkttype == PACKET_OUTGOING || frame.udp.dest != htons(PORT)) continue;
    for (int i = 0; i < count; i++) {
      struct target *target = &targets[i];
      if (target->interface != from.sll_ifindex || frame.sent <= target->arrived) continue;
      target->arrived = frame.sent;
    }
  }
}

/* @returns how many are left */
static int report(int *is_ready, int interval) {
  int silent = 0, left = 0;
  for (int i = 0; i < count; i++) silent += targets[i].arrived == 0;
  if (silent > 0) return count;
  if (!*is_ready) printf("ready\n");
  *is_ready = 1;
  for (int i = 0; i < count; i++) {
    struct target *target = &targets[i];
    if (target->is_reported) continue;
    left++;
    if (now() - target->arrived < SILENCE_NS) continue;
    target->is_reported = 1;
    /* The next one after the last that has arrived. */
    printf("%d %lld\n", i, target->arrived + interval * 1000000LL);
  }
  fflush(stdout);
  return left;
}

int main(int argc, char **argv) {
  char line[128];
  int is_ready = 0, buffer = BUFFER;
  if (argc != 3) return 1;
  int interval = atoi(argv[2]);
  while (fgets(line, sizeof line, stdin) && line[0] != '\n') add_target(line);
  struct sockaddr_ll sender = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(argv[1])};
  int out = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  int in = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
  if (out < 0 || in < 0 || bind(out, (struct sockaddr *)&sender, sizeof sender) < 0) die(argv[1]);
  if (setsockopt(in, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0) die("SO_RCVBUFFORCE");
  for (long long tick = 0, start = now();; tick++) {
    for (int i = (int)(tick % interval); i < count; i += interval)
      if (!targets[i].is_reported) send_to(out, &targets[i]);
    receive(in);
    if (tick % 100 == 0 && report(&is_ready, interval) == 0) return 0;
    long long rest = start + (tick + 1) * 1000000LL - now();
    if (rest > 0) nanosleep(&(struct timespec){.tv_nsec = rest}, NULL);
  }
}
