/*
 * toolbox features: which kernel features are here, as JSON. Asked of the kernel itself, in a network namespace of its
 * own; asking loads a module that is there but not loaded, as using the feature would.
 */
#define _GNU_SOURCE
#include "toolbox.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* linux/netlink.h, linux/genetlink.h, linux/if_link.h */
enum { AF_NETLINK_ = 16, ROUTE = 0, GENERIC = 16, NLM_REQUEST = 1, NLM_ACK = 4, NLM_EXCL = 0x200, NLM_CREATE = 0x400 };
enum { NLMSG_ERROR_ = 2, RTM_NEWLINK_ = 16, GENL_ID_CTRL_ = 16, CTRL_GETFAMILY = 3, CTRL_FAMILY_NAME = 2 };
enum { IFLA_LINKINFO_ = 18, INFO_KIND = 1, INFO_DATA = 2, VRF_TABLE = 1, GENEVE_COLLECT_METADATA = 6 };

struct message {
  struct { uint32_t length; uint16_t type, flags; uint32_t sequence, pid; } header;
  char body[256];
};

static size_t aligned(size_t n) { return (n + 3) & ~(size_t)3; }

/* Appends an attribute; returns where it is. */
static char *put(struct message *m, uint16_t type, const void *data, size_t length) {
  char *at = (char *)m + aligned(m->header.length);
  uint16_t head[2] = {(uint16_t)(length + 4), type};
  memcpy(at, head, 4);
  if (length) memcpy(at + 4, data, length);
  m->header.length = (uint32_t)(aligned(m->header.length) + aligned(length + 4));
  return at;
}

static void close_nest(struct message *m, char *at) {
  uint16_t length = (uint16_t)((char *)m + m->header.length - at);
  memcpy(at, &length, 2);
}

/* True when the kernel does it. */
static int ask(int protocol, struct message *m) {
  char answer[4096];
  uint16_t type = NLMSG_ERROR_;
  int32_t error = -1;
  int fd = socket(AF_NETLINK_, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (fd >= 0 && send(fd, m, m->header.length, 0) > 0 && recv(fd, answer, sizeof answer, 0) >= 20) {
    memcpy(&type, answer + 4, 2);
    memcpy(&error, answer + 16, 4);
  }
  if (fd >= 0) close(fd);
  return type != NLMSG_ERROR_ || error == 0;
}

static int has_family(const char *name) {
  struct message m = {.header = {.length = 20, .type = GENL_ID_CTRL_, .flags = NLM_REQUEST}};
  m.body[0] = CTRL_GETFAMILY;
  m.body[1] = 1;
  put(&m, CTRL_FAMILY_NAME, name, strlen(name) + 1);
  return ask(GENERIC, &m);
}

static int has_link(const char *kind, uint16_t attribute, const void *data, size_t length) {
  struct message m = {
      .header = {.length = 32, .type = RTM_NEWLINK_, .flags = NLM_REQUEST | NLM_ACK | NLM_CREATE | NLM_EXCL}};
  char *info = put(&m, IFLA_LINKINFO_, NULL, 0);
  put(&m, INFO_KIND, kind, strlen(kind));
  char *details = put(&m, INFO_DATA, NULL, 0);
  put(&m, attribute, data, length);
  close_nest(&m, details);
  close_nest(&m, info);
  return ask(ROUTE, &m);
}

static int has_sctp(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static const char *truth(int value) { return value ? "true" : "false"; }

int features_main(int argc, char **argv) {
  (void)argc, (void)argv;
  const uint32_t table = 1000;
  if (unshare(CLONE_NEWNET) < 0) die_errno("unshare");
  printf("{\"openvswitch\":%s,\"geneve\":%s,\"vrf\":%s,\"sctp\":%s}\n", truth(has_family("ovs_datapath")),
         truth(has_link("geneve", GENEVE_COLLECT_METADATA, NULL, 0)), truth(has_link("vrf", VRF_TABLE, &table, 4)),
         truth(has_sctp()));
  return 0;
}
