/*
 * The CNI plugin that a container runtime executes: hands the request to the node's agent and prints the answer.
 * No policy is in here. The wire protocol is described in README.md:
 *
 *   request   "udn-cni/1 <bytes of environment> <bytes of stdin>\n" environment stdin
 *   run       "udn-cni/1 run <milliseconds> <bytes of environment> <bytes of stdin>\n" name environment stdin; answered by
 *             "udn-cni/1 ran <how> <number> <bytes>\n" stdout. Any number of times, before the response.
 *   response  "udn-cni/1 <exit status> <bytes>\n" body
 *
 * Error codes are those of the CNI specification 1.1.0, section "Error"; 100 and above are our own.
 */
#define _GNU_SOURCE
#include "run.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "udn-cni/1 "
#define RUNS "UDN_CNI_RUNS=1" /* to the agent: this shim runs plugins */
#define CONNECT_MS 2000
#define ABSENT_MS 20000 /* an agent that was killed is back within seconds, and a kubelet comes again only after ten */
#define LOOK_MS 50
#define OVERALL_MS 120000

enum { BAD_ENVIRONMENT = 4, IO_FAILURE = 5, BAD_CONFIG = 6, TRY_AGAIN = 11, UNAVAILABLE = 50, BROKEN_ANSWER = 100 };

extern char **environ;

static const char *const SUPPORTED[] = {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};
static const char *version = "1.1.0"; /* of what is printed: the request's when it is supported */
static int is_status;
static long long deadline, patience; /* until when: for everything; for an agent that is not there */
static char config[LIMIT + 1], answer[LIMIT + 128], output[LIMIT]; /* pages that are not used cost nothing */

long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Everything that goes to stdout, in pieces of any size. */
static void print(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(STDOUT_FILENO, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(1);
    bytes += n, length -= (size_t)n;
  }
}

static size_t escaped(char *to, size_t size, const char *from) {
  size_t n = 0;
  for (; *from && n + 7 < size; from++) {
    unsigned char c = (unsigned char)*from;
    if (c == '"' || c == '\\') to[n++] = '\\';
    if (c < 0x20) n += (size_t)sprintf(to + n, "\\u%04x", c);
    else to[n++] = (char)c;
  }
  to[n] = 0;
  return n;
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int code, const char *format, ...) {
  char message[512], json[1024], out[1280];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  escaped(json, sizeof json, message);
  int n = snprintf(out, sizeof out, "{\"cniVersion\":\"%s\",\"code\":%d,\"msg\":\"%s\"}\n", version, code, json);
  print(out, (size_t)n);
  _exit(1);
}

/* The agent can't be asked: a runtime tries ADD again, and takes the node for not ready when STATUS says 50. */
__attribute__((noreturn)) static void unreachable(const char *path, const char *why) {
  fail(is_status ? UNAVAILABLE : TRY_AGAIN, "the ovn-udn agent of this node does not answer on %s: %s", path, why);
}

static void wait_for(int fd, short events, const char *path) {
  struct pollfd p = {.fd = fd, .events = events};
  for (;;) {
    long long left = deadline - now_ms();
    if (left <= 0) unreachable(path, "timed out");
    int n = poll(&p, 1, (int)left);
    if (n > 0) return;
    if (n < 0 && errno != EINTR) fail(IO_FAILURE, "poll: %s", strerror(errno));
  }
}

static size_t read_config(void) {
  size_t length = 0;
  for (;;) {
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    long long left = deadline - now_ms();
    int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
    if (ready == 0) fail(IO_FAILURE, "the network configuration has not come in time");
    if (ready < 0 && errno == EINTR) continue;
    ssize_t n = read(STDIN_FILENO, config + length, sizeof config - length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(IO_FAILURE, "can't read the network configuration: %s", strerror(errno));
    if (n == 0) return length;
    if ((length += (size_t)n) > LIMIT) fail(BAD_CONFIG, "the network configuration is longer than %d bytes", LIMIT);
  }
}

/* The end of the JSON string that starts after the quote at `s`, or NULL. */
static const char *string_end(const char *s, const char *end) {
  for (; s < end && *s != '"'; s++)
    if (*s == '\\') s++;
  return s < end ? s : NULL;
}

static const char *skip_space(const char *s, const char *end) {
  while (s < end && strchr(" \t\r\n", *s) && *s) s++;
  return s;
}

/* Takes over "cniVersion" of the outermost object when it is one of ours; whatever else is there is the agent's. */
static void scan_version(const char *s, const char *end) {
  for (int depth = 0; s < end; s++) {
    if (*s == '{' || *s == '[') depth++;
    if (*s == '}' || *s == ']') depth--;
    if (*s != '"') continue;
    const char *name = s + 1, *close = string_end(name, end);
    if (close == NULL) return;
    s = close;
    if (depth != 1 || close - name != 10 || memcmp(name, "cniVersion", 10) != 0) continue;
    const char *value = skip_space(close + 1, end);
    if (value == end || *value != ':') continue;
    value = skip_space(value + 1, end);
    if (value == end || *value != '"' || (close = string_end(value + 1, end)) == NULL) return;
    for (size_t i = 0; i < sizeof SUPPORTED / sizeof *SUPPORTED; i++)
      if ((size_t)(close - value - 1) == strlen(SUPPORTED[i]) && !memcmp(value + 1, SUPPORTED[i], strlen(SUPPORTED[i])))
        version = SUPPORTED[i];
    return;
  }
}

static int print_versions(void) {
  char out[128];
  int n = snprintf(out, sizeof out, "{\"cniVersion\":\"%s\",\"supportedVersions\":[\"%s\",\"%s\",\"%s\",\"%s\",\"%s\"]}\n",
                   version, SUPPORTED[0], SUPPORTED[1], SUPPORTED[2], SUPPORTED[3], SUPPORTED[4]);
  print(out, (size_t)n);
  return 0;
}

/* STATUS asks whether there is an agent; everything else waits for the next one. */
static int may_wait(void) {
  struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
  if (is_status || now_ms() + LOOK_MS >= patience) return 0;
  nanosleep(&pause, NULL);
  return 1;
}

/* A blocking connect with a time limit: a non-blocking one fails with EAGAIN when the backlog is full, unix(7). */
static int connect_to(const char *path, long long timeout_ms) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval limit = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 + 1};
  if (strlen(path) >= sizeof address.sun_path) fail(BAD_ENVIRONMENT, "UDN_CNI_SOCKET is too long");
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(IO_FAILURE, "socket: %s", strerror(errno));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  while (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    int why = errno;
    if (why == EINTR || ((why == ECONNREFUSED || why == ENOENT) && may_wait())) continue;
    unreachable(path, why == EAGAIN ? "timed out" : strerror(why));
  }
  return fd;
}

/* 0 when the agent closed before it had read everything: it may have answered nevertheless. */
static int put(int fd, const char *bytes, size_t length, const char *path) {
  while (length > 0) {
    wait_for(fd, POLLOUT, path);
    ssize_t n = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return 0;
    bytes += n, length -= (size_t)n;
  }
  return 1;
}

static void send_request(int fd, size_t config_length, const char *path) {
  char header[64];
  size_t environment = sizeof RUNS;
  for (char **e = environ; *e; e++)
    if (!strncmp(*e, "CNI_", 4)) environment += strlen(*e) + 1;
  int n = snprintf(header, sizeof header, MAGIC "%zu %zu\n", environment, config_length);
  if (!put(fd, header, (size_t)n, path) || !put(fd, RUNS, sizeof RUNS, path)) return;
  for (char **e = environ; *e; e++)
    if (!strncmp(*e, "CNI_", 4) && !put(fd, *e, strlen(*e) + 1, path)) return;
  put(fd, config, config_length, path);
}

/* What the agent sends: its answer, or a plugin that is to be run. */
struct frame {
  int status, is_run;
  int run_ms;
  size_t environment, length; /* of the body; of a plugin's environment, which is its beginning */
  char *body;
};

/* 0 while the header is not complete. */
static int parse_header(size_t length, struct frame *frame) {
  int end = 0;
  size_t input = 0;
  char *newline = memchr(answer, '\n', length < 64 ? length : 64);
  if (newline == NULL && length < 64) return 0;
  answer[length] = 0;
  *frame = (struct frame){.body = newline ? newline + 1 : NULL};
  if (newline && sscanf(answer, MAGIC "run %6d %7zu %7zu%n", &frame->run_ms, &frame->environment, &input, &end) == 3) {
    frame->is_run = 1, frame->length = frame->environment + input;
  } else if (newline) sscanf(answer, MAGIC "%3d %7zu%n", &frame->status, &frame->length, &end);
  if (newline == NULL || end == 0 || answer + end != newline || frame->status < 0 || frame->status > 255 ||
      frame->run_ms < 0 || frame->length > LIMIT)
    fail(BROKEN_ANSWER, "the ovn-udn agent's answer is not of this protocol");
  return 1;
}

/* An agent that has ended meanwhile does not hear of it: the next one is asked everything. */
static void run_for_agent(int fd, const struct frame *frame, const char *path) {
  char header[96];
  long long until = now_ms() + frame->run_ms;
  struct outcome ran = run_plugin(frame->body, frame->environment, frame->body + frame->environment,
                                  frame->length - frame->environment, until < deadline ? until : deadline, output);
  int n = snprintf(header, sizeof header, MAGIC "ran %s %d %zu\n", ran.how, ran.number, ran.length);
  patience = now_ms() + ABSENT_MS < deadline ? now_ms() + ABSENT_MS : deadline;
  if (put(fd, header, (size_t)n, path)) put(fd, output, ran.length, path);
}

/* An answer is printed whole or not at all. Negative when there is none: the agent ended, and the next one is to be asked. */
static int print_answer(int fd, const char *path) {
  size_t length = 0;
  for (struct frame frame;;) {
    int is_known = parse_header(length, &frame);
    size_t present = is_known ? length - (size_t)(frame.body - answer) : 0;
    if (is_known && present > frame.length) fail(BROKEN_ANSWER, "the ovn-udn agent's answer is longer than it says");
    if (is_known && present == frame.length) {
      if (!frame.is_run) return print(frame.body, frame.length), frame.status;
      run_for_agent(fd, &frame, path);
      length = 0;
      continue;
    }
    wait_for(fd, POLLIN, path);
    ssize_t n = recv(fd, answer + length, sizeof answer - 1 - length, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0 && length == 0 && may_wait()) return -1;
    if (n <= 0 && length == 0) fail(TRY_AGAIN, "the ovn-udn agent closed the connection without an answer");
    if (n <= 0) fail(BROKEN_ANSWER, "the ovn-udn agent broke off its answer after %zu bytes", length);
    length += (size_t)n;
  }
}

/*
 * Under the name `loopback`, for nodes that have no such plugin: containerd runs it for each pod (README.md). It sets `lo` up and asks no
 * agent. DEL leaves `lo`, which ends with its network namespace.
 */
static int loopback(const char *command) {
  const char *netns = getenv("CNI_NETNS");
  int is_add = !strcmp(command, "ADD");
  if (!is_add && strcmp(command, "CHECK")) return 0;
  int fd = netns ? open(netns, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
    fail(BAD_ENVIRONMENT, "can't enter the network namespace %s: %s", netns ? netns : "of CNI_NETNS", strerror(errno));
  struct ifreq lo = {.ifr_name = "lo"};
  int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) control = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0 || ioctl(control, SIOCGIFFLAGS, &lo) < 0) fail(IO_FAILURE, "can't read lo: %s", strerror(errno));
  if (!is_add) {
    if (!(lo.ifr_flags & IFF_UP)) fail(IO_FAILURE, "lo is down");
    return 0;
  }
  lo.ifr_flags |= IFF_UP;
  if (ioctl(control, SIOCSIFFLAGS, &lo) < 0) fail(IO_FAILURE, "can't set lo up: %s", strerror(errno));
  char path[512], out[1024];
  escaped(path, sizeof path, netns);
  int n = snprintf(out, sizeof out,
                   "{\"cniVersion\":\"%s\",\"interfaces\":[{\"name\":\"lo\",\"mac\":\"00:00:00:00:00:00\",\"sandbox\":\"%s\"}]}\n",
                   version, path);
  print(out, (size_t)n);
  return 0;
}

static int is_called(const char *program, const char *name) {
  const char *slash = strrchr(program, '/');
  return !strcmp(slash ? slash + 1 : program, name);
}

int main(int argc, char **argv) {
  const char *command = getenv("CNI_COMMAND"), *path = getenv("UDN_CNI_SOCKET"), *ms = getenv("UDN_CNI_TIMEOUT_MS");
  long long timeout = ms && atoll(ms) > 0 && atoll(ms) < OVERALL_MS ? atoll(ms) : OVERALL_MS;
  deadline = now_ms() + timeout;
  if (path == NULL || *path == 0) path = "/run/ovn-udn/cni.sock";
  if (command == NULL || *command == 0) fail(BAD_ENVIRONMENT, "CNI_COMMAND is not set: this is a CNI plugin");
  is_status = !strcmp(command, "STATUS");
  size_t length = read_config();
  scan_version(config, config + length);
  if (!strcmp(command, "VERSION")) return print_versions();
  if (argc > 0 && is_called(argv[0], "loopback")) return loopback(command);
  patience = now_ms() + ABSENT_MS < deadline ? now_ms() + ABSENT_MS : deadline;
  for (int status = -1;;) {
    int fd = connect_to(path, timeout < CONNECT_MS ? timeout : CONNECT_MS);
    send_request(fd, length, path);
    if ((status = print_answer(fd, path)) >= 0) return status;
    close(fd);
  }
}
