/*
 * The few system calls that Node lacks for talking to the kernel about network namespaces. Everything else (message
 * formats, retries, meaning) is TypeScript. Reading and writing the sockets goes through fs.readSync and fs.writeSync.
 *
 * A socket and /proc/sys/net belong to the network namespace that the calling *thread* is in while it opens them
 * (network_namespaces(7)). So a call enters the namespace, opens, and goes back, all in C: no JavaScript, no other
 * thread of libuv and no finalizer runs in between. Every thread but the caller stays where it is.
 *
 * Errors are JavaScript errors with `code` ("EEXIST"), `errno` (negative, as in Node) and `syscall`.
 */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <node_api.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_PATH 256
#define MAX_VALUE 4096
#define SYSCTL_ROOT "/proc/sys/net/"
#define OWN_NETNS "/proc/thread-self/ns/net"

static napi_value fail(napi_env env, const char *syscall, int error) {
  napi_value message, code, number, name, object;
  char text[160];
  const char *symbol = strerrorname_np(error);
  snprintf(text, sizeof text, "%s: %s, %s", symbol ? symbol : "EUNKNOWN", strerror(error), syscall);
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message);
  napi_create_string_utf8(env, symbol ? symbol : "EUNKNOWN", NAPI_AUTO_LENGTH, &code);
  napi_create_string_utf8(env, syscall, NAPI_AUTO_LENGTH, &name);
  napi_create_int32(env, -error, &number);
  napi_create_error(env, code, message, &object);
  napi_set_named_property(env, object, "errno", number);
  napi_set_named_property(env, object, "syscall", name);
  napi_throw(env, object);
  return NULL;
}

/* Integer and boolean arguments in order of `kinds` ('i', 'b'); strings ('s') go to the next of `texts`. */
static bool arguments(napi_env env, napi_callback_info info, const char *kinds, int32_t *numbers, char texts[][MAX_VALUE]) {
  napi_value argv[6];
  size_t count = strlen(kinds), given = 6, text = 0;
  bool good = napi_get_cb_info(env, info, &given, argv, NULL, NULL) == napi_ok && given >= count;
  for (size_t i = 0; good && i < count; i++) {
    size_t length = 0;
    bool flag = false;
    if (kinds[i] == 's') {
      /* One byte more than fits means cut off. A NUL inside would end the text early for the kernel. */
      good = napi_get_value_string_utf8(env, argv[i], NULL, 0, &length) == napi_ok && length < MAX_VALUE &&
             napi_get_value_string_utf8(env, argv[i], texts[text], MAX_VALUE, &length) == napi_ok &&
             strlen(texts[text]) == length;
      text++;
    } else if (kinds[i] == 'b') {
      good = napi_get_value_bool(env, argv[i], &flag) == napi_ok;
      numbers[i] = flag;
    } else {
      good = napi_get_value_int32(env, argv[i], &numbers[i]) == napi_ok;
    }
  }
  if (!good) napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "nlsock: wrong arguments");
  return good;
}

/* The namespace of the process, opened once: every thread is in it whenever no call of this file is under way. */
static int home = -1;

/* False with errno when it fails. A negative namespace is the own one. */
static bool enter(int netns) { return netns < 0 || setns(netns, CLONE_NEWNET) == 0; }

/*
 * A thread that can't go back would from now on configure a pod's namespace instead of the node's, and the node's routes
 * and links would land in a tenant's hands. Nothing can be repaired from inside then; a supervisor starts us again.
 */
static void leave(int netns) {
  if (netns >= 0 && setns(home, CLONE_NEWNET) != 0) {
    perror("nlsock: can't return to the own network namespace");
    abort();
  }
}

/* openSocket(netnsFd | -1, protocol, receiveBufferBytes | 0, timeoutMs) -> fd of a bound netlink socket */
static napi_value open_socket(napi_env env, napi_callback_info info) {
  int32_t argument[4];
  if (!arguments(env, info, "iiii", argument, NULL)) return NULL;
  if (!enter(argument[0])) return fail(env, "setns", errno);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, argument[1]);
  int error = errno;
  leave(argument[0]);
  if (fd < 0) return fail(env, "socket", error);

  int on = 1, bytes = argument[2];
  struct timeval timeout = {.tv_sec = argument[3] / 1000, .tv_usec = argument[3] % 1000 * 1000};
  struct sockaddr_nl any = {.nl_family = AF_NETLINK};
  /* Wishes: kernels before 4.20 lack strict checking, and a user namespace's root may not force a buffer. */
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  if (bytes > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  const char *syscall = "setsockopt";
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0) {
    syscall = "bind";
    if (bind(fd, (struct sockaddr *)&any, sizeof any) == 0) {
      napi_value result;
      napi_create_int32(env, fd, &result);
      return result;
    }
  }
  error = errno;
  close(fd);
  return fail(env, syscall, error);
}

/* setMembership(fd, group, join): one multicast group of a netlink socket */
static napi_value set_membership(napi_env env, napi_callback_info info) {
  int32_t argument[3];
  if (!arguments(env, info, "iib", argument, NULL)) return NULL;
  int group = argument[1];
  int option = argument[2] ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP;
  if (setsockopt(argument[0], SOL_NETLINK, option, &group, sizeof group) != 0) return fail(env, "setsockopt", errno);
  return NULL;
}

/* An fd of a file below /proc/sys/net as the namespace sees it, or -1 with errno. */
static int open_sysctl(int netns, const char *name, int flags, const char **syscall) {
  char path[MAX_PATH];
  int length = snprintf(path, sizeof path, "%s%s", SYSCTL_ROOT, name);
  *syscall = "open";
  if (length >= (int)sizeof path || strstr(path, "..") != NULL) {
    errno = EINVAL;
    return -1;
  }
  *syscall = "setns";
  if (!enter(netns)) return -1;
  *syscall = "open";
  int fd = open(path, flags | O_CLOEXEC);
  int error = errno;
  leave(netns);
  errno = error;
  return fd;
}

/* readSysctl(netnsFd | -1, "ipv6/conf/eth0/accept_ra") -> text without the newline */
static napi_value read_sysctl(napi_env env, napi_callback_info info) {
  int32_t argument[2];
  char texts[1][MAX_VALUE], value[MAX_VALUE];
  const char *syscall;
  if (!arguments(env, info, "is", argument, texts)) return NULL;
  int fd = open_sysctl(argument[0], texts[0], O_RDONLY, &syscall);
  if (fd < 0) return fail(env, syscall, errno);
  ssize_t length = read(fd, value, sizeof value);
  int error = errno;
  close(fd);
  if (length < 0) return fail(env, "read", error);
  if (length > 0 && value[length - 1] == '\n') length--;
  napi_value result;
  napi_create_string_utf8(env, value, (size_t)length, &result);
  return result;
}

/* writeSysctl(netnsFd | -1, "ipv6/conf/eth0/accept_ra", "0") */
static napi_value write_sysctl(napi_env env, napi_callback_info info) {
  int32_t argument[3];
  char texts[2][MAX_VALUE];
  const char *syscall;
  if (!arguments(env, info, "iss", argument, texts)) return NULL;
  int fd = open_sysctl(argument[0], texts[0], O_WRONLY, &syscall);
  if (fd < 0) return fail(env, syscall, errno);
  ssize_t written = write(fd, texts[1], strlen(texts[1]));
  int error = errno;
  close(fd);
  return written < 0 ? fail(env, "write", error) : NULL;
}

/*
 * SIOCETHTOOL acts in the namespace of the socket, of whatever family it is (net/socket.c, sock_do_ioctl; ethtool(8)
 * falls back to a netlink socket for the same reason), so the rtnetlink socket of a pod serves and nothing is entered.
 */
static int ethtool_value(int fd, const char *link, uint32_t command, uint32_t *value) {
  struct ethtool_value request = {.cmd = command, .data = *value};
  struct ifreq interface = {.ifr_data = (char *)&request};
  if (strlen(link) >= IFNAMSIZ) {
    errno = ENODEV;
    return -1;
  }
  strcpy(interface.ifr_name, link);
  int result = ioctl(fd, SIOCETHTOOL, &interface);
  *value = request.data;
  return result;
}

/* getTxChecksum(fd, "eth0") -> whether the link leaves checksums of what it sends to hardware */
static napi_value get_tx_checksum(napi_env env, napi_callback_info info) {
  int32_t argument[2];
  char texts[1][MAX_VALUE];
  uint32_t value = 0;
  if (!arguments(env, info, "is", argument, texts)) return NULL;
  if (ethtool_value(argument[0], texts[0], ETHTOOL_GTXCSUM, &value) != 0) return fail(env, "ioctl SIOCETHTOOL", errno);
  napi_value result;
  napi_get_boolean(env, value != 0, &result);
  return result;
}

/* setTxChecksum(fd, "eth0", on): as `ethtool -K eth0 tx on|off` */
static napi_value set_tx_checksum(napi_env env, napi_callback_info info) {
  int32_t argument[3];
  char texts[1][MAX_VALUE];
  if (!arguments(env, info, "isb", argument, texts)) return NULL;
  uint32_t value = (uint32_t)argument[2];
  if (ethtool_value(argument[0], texts[0], ETHTOOL_STXCSUM, &value) != 0) return fail(env, "ioctl SIOCETHTOOL", errno);
  return NULL;
}

/*
 * Readiness of a multicast socket, which nobody may poll for and which libuv can't be asked for without its headers: a
 * thread waits, tells the JavaScript thread once, and waits again when that has read everything there was. It touches
 * nothing else, so it needs no lock.
 */
struct watcher {
  napi_threadsafe_function tell;
  pthread_t thread;
  int fd;
  /* An eventfd that is written to when everything has been read, and when it is over. */
  int wake;
  bool stopping;
};

static void wake(struct watcher *watcher) {
  uint64_t one = 1;
  while (write(watcher->wake, &one, sizeof one) < 0 && errno == EINTR) continue;
}

static void *wait_for_readiness(void *argument) {
  struct watcher *watcher = argument;
  bool armed = true;
  for (;;) {
    /* poll(2) ignores a negative descriptor. What is lost (ENOBUFS) shows as POLLERR, and the reader gets to know. */
    struct pollfd fds[] = {{.fd = watcher->wake, .events = POLLIN}, {.fd = armed ? watcher->fd : -1, .events = POLLIN}};
    if (poll(fds, 2, -1) < 0 && errno == EINTR) continue;
    uint64_t count;
    if (fds[0].revents != 0 && read(watcher->wake, &count, sizeof count) > 0) {
      if (__atomic_load_n(&watcher->stopping, __ATOMIC_ACQUIRE)) return NULL;
      armed = true;
    } else if (fds[1].revents != 0) {
      armed = false;
      if (napi_call_threadsafe_function(watcher->tell, NULL, napi_tsfn_nonblocking) != napi_ok) return NULL;
    }
  }
}

static void on_readiness(napi_env env, napi_value callback, void *context, void *data) {
  (void)data;
  napi_value undefined, error;
  bool thrown = false;
  if (env == NULL || __atomic_load_n(&((struct watcher *)context)->stopping, __ATOMIC_ACQUIRE)) return;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, callback, 0, NULL, NULL);
  if (napi_is_exception_pending(env, &thrown) == napi_ok && thrown) {
    napi_get_and_clear_last_exception(env, &error);
    napi_fatal_exception(env, error);
  }
  wake(context);
}

/* Ends the thread. The watcher itself goes with the function that it tells, whose last call may still be under way. */
static void stop_watcher(void *argument) {
  struct watcher *watcher = argument;
  if (watcher->stopping) return;
  __atomic_store_n(&watcher->stopping, true, __ATOMIC_RELEASE);
  wake(watcher);
  pthread_join(watcher->thread, NULL);
  napi_release_threadsafe_function(watcher->tell, napi_tsfn_abort);
}

static void free_watcher(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  close(((struct watcher *)data)->wake);
  free(data);
}

static napi_value end_watch(napi_env env, napi_callback_info info) {
  void *watcher;
  napi_get_cb_info(env, info, NULL, NULL, NULL, &watcher);
  if (!((struct watcher *)watcher)->stopping) napi_remove_env_cleanup_hook(env, stop_watcher, watcher);
  stop_watcher(watcher);
  return NULL;
}

/* watchReadable(fd, callback) -> function that ends it, to be called once and before the socket is closed */
static napi_value watch_readable(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value argv[2], name, end;
  napi_valuetype type = napi_undefined;
  int fd;
  if (napi_get_cb_info(env, info, &count, argv, NULL, NULL) != napi_ok || count < 2 ||
      napi_get_value_int32(env, argv[0], &fd) != napi_ok || napi_typeof(env, argv[1], &type) != napi_ok ||
      type != napi_function) {
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "nlsock: wrong arguments");
    return NULL;
  }
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return fail(env, "fcntl", errno);
  struct watcher *watcher = calloc(1, sizeof *watcher);
  if (watcher == NULL) return fail(env, "calloc", ENOMEM);
  watcher->fd = fd;
  watcher->wake = eventfd(0, EFD_CLOEXEC);
  if (watcher->wake < 0) {
    int error = errno;
    free(watcher);
    return fail(env, "eventfd", error);
  }
  napi_create_string_utf8(env, "nlsock", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, argv[1], NULL, name, 0, 1, watcher, free_watcher, watcher, on_readiness,
                                      &watcher->tell) != napi_ok) {
    free_watcher(env, watcher, NULL);
    return fail(env, "napi_create_threadsafe_function", ENOMEM);
  }
  int error = pthread_create(&watcher->thread, NULL, wait_for_readiness, watcher);
  if (error != 0) {
    watcher->stopping = true;
    napi_release_threadsafe_function(watcher->tell, napi_tsfn_abort);
    return fail(env, "pthread_create", error);
  }
  napi_add_env_cleanup_hook(env, stop_watcher, watcher);
  napi_create_function(env, "stop", NAPI_AUTO_LENGTH, end_watch, watcher, &end);
  return end;
}

NAPI_MODULE_INIT() {
  if (home < 0) home = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);
  if (home < 0) return fail(env, "open " OWN_NETNS, errno);
  const struct {
    const char *name;
    napi_callback function;
  } functions[] = {{"openSocket", open_socket},       {"setMembership", set_membership},
                   {"readSysctl", read_sysctl},       {"writeSysctl", write_sysctl},
                   {"getTxChecksum", get_tx_checksum}, {"setTxChecksum", set_tx_checksum},
                   {"watchReadable", watch_readable}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
