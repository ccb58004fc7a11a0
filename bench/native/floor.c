/*
 * The floor of CNI ADD: plays a script of system calls and OVSDB transactions as fast as they go, and waits until
 * ovn-controller has installed the ports. It knows nothing of pods; who writes the script decides what is done in which
 * order. Everything is read and decoded before the clock starts, and the connections to ovsdb-server are there already.
 *
 *   netns SLOT PATH            opens a namespace as file descriptor BASE + SLOT, and an rtnetlink socket in it
 *   netlink SLOT|- HEX         requests in one write, to a namespace or (-) the own one; waits for the last one's answer
 *   sysctl SLOT KEY VALUE      below /proc/sys/net
 *   checksum SLOT LINK 0|1     transmit checksum offload
 *   transact ovs|nb JSON       sends the parameters of a transaction; goes on without the reply
 *   committed                  waits for the replies of all transactions
 *   installed NAME…            waits until ovn-installed is set on all these interfaces
 *   go                         plays what was read, prints "ok NANOSECONDS", closes the namespaces
 *
 * Tabs between words; arguments are the sockets of the two servers. Prints "ready" at its start. Ends with status 1 and a
 * sentence at the first thing that fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BASE 200
#define SLOTS 64
#define MAX_STEPS 2048
#define MAX_WORDS 80

struct step {
  char *words[MAX_WORDS + 1], *line;
  unsigned char *bytes;
  size_t length;
};

struct server {
  const char *name;
  int fd, sent, replies;
  char *inbox;
  size_t size, length;
};

static struct step steps[MAX_STEPS];
static struct server ovs = {.name = "ovs"}, nb = {.name = "nb"};
static char *pending[2 * SLOTS];
static int sockets[SLOTS], own_socket, home, wanted;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void put(const struct server *to, const char *text, size_t length) {
  while (length > 0) {
    ssize_t n = write(to->fd, text, length);
    if (n < 0 && errno != EINTR) fail("%s: %s", to->name, strerror(errno));
    if (n > 0) text += n, length -= (size_t)n;
  }
}

/* ---- what ovsdb-server says ---- */

/* Just after the JSON object that starts at `s`, or NULL while it is not complete. */
static char *object_end(char *s, const char *end) {
  int depth = 0, in_string = 0;
  for (; s < end; s++) {
    if (in_string && *s == '\\') s++;
    else if (*s == '"') in_string = !in_string;
    else if (!in_string && *s == '{') depth++;
    else if (!in_string && *s == '}' && --depth == 0) return s + 1;
  }
  return NULL;
}

static void note_installed(const char *row) {
  char name[64];
  if (strstr(row, "[\"ovn-installed\",\"true\"]") == NULL) return;
  for (int i = 0; i < wanted; i++) {
    snprintf(name, sizeof name, "\"name\":\"%s\"", pending[i]);
    if (strstr(row, name) == NULL) continue;
    pending[i--] = pending[--wanted];
  }
}

static void handle(struct server *from, char *message, char *end) {
  char saved = *end;
  *end = 0;
  if (strstr(message, "\"method\":\"echo\"")) {
    static const char answer[] = "{\"id\":\"echo\",\"result\":[],\"error\":null}";
    put(from, answer, sizeof answer - 1);
  } else if (strstr(message, "\"method\":\"update\"")) {
    for (char *at = message, *close; (at = strstr(at, "\"new\":{")); at = close) {
      if ((close = object_end(at + 6, end)) == NULL) fail("a row without an end");
      char behind = *close;
      *close = 0;
      note_installed(at);
      *close = behind;
    }
  } else {
    if (strstr(message, "\"error\":\"") || strstr(message, "\"error\":{")) fail("refused: %s", message);
    from->replies++;
  }
  *end = saved;
}

static void hear(struct server *from) {
  if (from->size - from->length < 65536 && !(from->inbox = realloc(from->inbox, from->size = 2 * from->size + 131072)))
    fail("no memory");
  ssize_t n = read(from->fd, from->inbox + from->length, from->size - from->length - 1);
  if (n == 0) fail("%s closed the connection", from->name);
  if (n < 0 && errno != EINTR) fail("%s: %s", from->name, strerror(errno));
  if (n > 0) from->length += (size_t)n;
  char *at = from->inbox, *end;
  while ((end = object_end(at, from->inbox + from->length))) handle(from, at, end), at = end;
  from->length -= (size_t)(at - from->inbox);
  memmove(from->inbox, at, from->length);
}

static void hear_replies(struct server *from) {
  while (from->replies < from->sent) hear(from);
}

static void connect_server(struct server *to, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  to->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(to->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("%s: %s", path, strerror(errno));
}

static void monitor_interfaces(void) {
  static const char monitor[] = "{\"method\":\"monitor\",\"id\":\"m\",\"params\":[\"Open_vSwitch\",\"floor\",{\"Interface\":"
                                "[{\"columns\":[\"external_ids\",\"name\"],\"select\":{\"initial\":false}}]}]}";
  put(&ovs, monitor, sizeof monitor - 1);
  ovs.sent++;
  hear_replies(&ovs);
}

/* ---- the kernel ---- */

static int netlink_socket(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), on = 1;
  if (fd < 0) fail("socket: %s", strerror(errno));
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  return fd;
}

static void enter(int netns) {
  if (setns(netns, CLONE_NEWNET) < 0) fail("setns: %s", strerror(errno));
}

static int slot_of(const char *word) {
  int slot = atoi(word);
  if (slot < 0 || slot >= SLOTS) fail("no slot %s", word);
  return slot;
}

static void open_netns(int slot, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || dup3(fd, BASE + slot, O_CLOEXEC) < 0) fail("%s: %s", path, strerror(errno));
  close(fd);
  enter(BASE + slot);
  sockets[slot] = netlink_socket();
  enter(home);
}

/* Only the last request asks for an acknowledgement; a refusal of any of them comes as well. */
static void change(int fd, const struct step *step) {
  char answer[8192];
  if (send(fd, step->bytes, step->length, 0) < 0) fail("netlink: %s", strerror(errno));
  for (ssize_t n;;) {
    if ((n = recv(fd, answer, sizeof answer, 0)) < 0) fail("netlink: %s", strerror(errno));
    for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
      struct nlmsgerr *error = NLMSG_DATA(h);
      if (h->nlmsg_type != NLMSG_ERROR) continue;
      if (error->error != 0) fail("netlink request %u of: %s: %s", h->nlmsg_seq, step->words[2], strerror(-error->error));
      return;
    }
  }
}

static void set_sysctl(int slot, const char *key, const char *value) {
  char path[256];
  snprintf(path, sizeof path, "/proc/sys/net/%s", key);
  enter(BASE + slot);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  enter(home);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) fail("%s: %s", path, strerror(errno));
  close(fd);
}

static void set_checksum(int slot, const char *link, int on) {
  struct ethtool_value request = {.cmd = ETHTOOL_STXCSUM, .data = (unsigned)on};
  struct ifreq interface = {.ifr_data = (char *)&request};
  strncpy(interface.ifr_name, link, IFNAMSIZ - 1);
  if (ioctl(sockets[slot], SIOCETHTOOL, &interface) < 0) fail("checksum of %s: %s", link, strerror(errno));
}

/* ---- the script ---- */

static void transact(struct server *to, const char *params) {
  char head[64];
  int n = snprintf(head, sizeof head, "{\"method\":\"transact\",\"id\":%d,\"params\":", ++to->sent);
  put(to, head, (size_t)n), put(to, params, strlen(params)), put(to, "}", 1);
}

static void play(const struct step *step) {
  char *const *w = step->words;
  if (!strcmp(w[0], "netns")) open_netns(slot_of(w[1]), w[2]);
  else if (!strcmp(w[0], "netlink")) change(*w[1] == '-' ? own_socket : sockets[slot_of(w[1])], step);
  else if (!strcmp(w[0], "sysctl")) set_sysctl(slot_of(w[1]), w[2], w[3]);
  else if (!strcmp(w[0], "checksum")) set_checksum(slot_of(w[1]), w[2], atoi(w[3]));
  else if (!strcmp(w[0], "transact")) transact(strcmp(w[1], nb.name) ? &ovs : &nb, w[2]);
  else if (!strcmp(w[0], "committed")) hear_replies(&nb), hear_replies(&ovs);
  else if (!strcmp(w[0], "installed")) while (wanted > 0) hear(&ovs);
  else fail("unknown: %s", w[0]);
}

static void parse(struct step *step, char *line) {
  int count = 0;
  step->line = strdup(line);
  for (char *rest = step->line, *word; (word = strsep(&rest, "\t")) && count < MAX_WORDS;) step->words[count++] = word;
  step->words[count] = NULL;
  if (!strcmp(step->words[0], "installed"))
    for (int i = 1; i < count; i++) pending[wanted++] = step->words[i];
  if (strcmp(step->words[0], "netlink") || count < 3) return;
  const char *hex = step->words[2];
  step->length = strlen(hex) / 2;
  step->bytes = malloc(step->length + 1);
  for (size_t i = 0; i < step->length; i++) sscanf(hex + 2 * i, "%2hhx", &step->bytes[i]);
}

static void go(int count) {
  long long start = now();
  for (int i = 0; i < count; i++) play(&steps[i]);
  printf("ok %lld\n", now() - start);
  fflush(stdout);
  for (int i = 0; i < count; i++) {
    if (!strcmp(steps[i].words[0], "netns")) close(sockets[slot_of(steps[i].words[1])]), close(BASE + slot_of(steps[i].words[1]));
    free(steps[i].line), free(steps[i].bytes);
  }
  memset(steps, 0, sizeof *steps * (size_t)count);
}

int main(int argc, char **argv) {
  char *line = NULL;
  size_t size = 0;
  int count = 0;
  home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  own_socket = netlink_socket();
  connect_server(&ovs, argc > 1 ? argv[1] : "/run/openvswitch/db.sock");
  connect_server(&nb, argc > 2 ? argv[2] : "/run/ovn/ovnnb_db.sock");
  monitor_interfaces();
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("ready\n"), fflush(stdout);
  for (;;) {
    /* ovsdb-server asks every few seconds whether its clients live. */
    struct pollfd fds[] = {
        {.fd = 0, .events = POLLIN}, {.fd = ovs.fd, .events = POLLIN}, {.fd = nb.fd, .events = POLLIN}};
    if (poll(fds, 3, -1) < 0) {
      if (errno != EINTR) fail("poll: %s", strerror(errno));
      continue;
    }
    if (fds[1].revents) hear(&ovs);
    if (fds[2].revents) hear(&nb);
    if (!fds[0].revents) continue;
    ssize_t length = getline(&line, &size, stdin);
    if (length <= 0) return 0;
    line[length - 1] = 0;
    if (!strcmp(line, "go")) go(count), count = 0;
    else if (count == MAX_STEPS) fail("too many steps");
    else parse(&steps[count++], line);
  }
}
