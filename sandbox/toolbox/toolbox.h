/* What the applets share. Static, musl: the headers of linux/ are not at hand, so their constants are spelled out. */
#ifndef TOOLBOX_H
#define TOOLBOX_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* An applet gets its own name as argv[0] and returns the exit status. */
typedef int applet(int argc, char **argv);
applet connect_main, container_main, enter_main, features_main, guest_init_main, guest_run_main, guest_serve_main, janitor_main,
    netns_main, pause_main, probe_main, proxy_main, seen_main, serve_main;

/* text.c */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);
/* With the meaning of errno. */
__attribute__((noreturn, format(printf, 1, 2))) void die_errno(const char *format, ...);
void *must_alloc(size_t size);
char *must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `text` as the inside of a JSON string; always ends with a NUL. */
void json_escape(char *to, size_t size, const char *text);
long parse_number(const char *text, long min, long max, const char *what);
int64_t now_us(void);

/* files.c */
int write_text(const char *path, const char *text);
/* Complete or not at all: written beside and renamed. */
int write_atomically(const char *path, const char *text);
void make_folders(const char *path);
/* Writes the process that calls it into the group of an open cgroup.procs. */
void join_cgroup(int procs_fd);
/*
 * Makes the cgroup below `root` and opens its cgroup.procs. The root is not made: when it has been removed meanwhile, this
 * fails and nothing comes back.
 */
int open_cgroup(const char *root, const char *path);
void send_all(int fd, const char *bytes, size_t length);

/* address.c */
union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};
/* `A`, `A:PORT`, `V6`, `[V6]:PORT`; family 0 takes both. False when it is none of them. */
int parse_address(const char *text, int family, int default_port, union address *out, socklen_t *length);
/* `address:port`, with brackets for IPv6; an IPv4-mapped address is shown as IPv4. */
void format_address(const union address *address, char *to, size_t size);

/* options.c: `--name value` and flags, up to `--` or the first argument that does not start with `--`. */
struct option_spec {
  const char *name;
  void (*take)(void *into, const char *value);
  int is_flag;
};
/* The index of the first argument that is no option. */
int parse_options(int argc, char **argv, const struct option_spec *specs, void *into);

/* rootfs.c: a root file system of its own for a node or a container. */
struct rootfs {
  const char *staging; /* an empty folder to mount on; NULL: no new root */
  const char *lower;   /* the tree below the overlay */
  const char *binds[32];
  size_t bind_count;
  const char *folders[32]; /* to be made after the mounts */
  size_t folder_count;
  int cgroup_read_only;
};
void take_bind(struct rootfs *root, const char *value);
void take_folder(struct rootfs *root, const char *value);
/* In a mount namespace of its own, as pid 1 of its pid namespace. */
void enter_new_root(const struct rootfs *root);

/* reap.c: what pid 1 does. */
/* Runs until stdin ends (when `until_eof`), SIGTERM or SIGINT; reaps every orphan. */
void idle_as_init(int until_eof);
/* Forwards signals to `child` and reaps everything until `child` ends. Returns its wait status. */
int supervise_as_init(pid_t child);

/* spawn.c */
/* fork(2) into new namespaces: clone(2) flags without CLONE_VM. */
pid_t fork_with(int clone_flags);
/* Ends as the child ended: with its exit status, or by its signal. */
__attribute__((noreturn)) void exit_like(int wait_status);
void die_with_parent(void);
void exec_or_die(char **argv);

/* links.c */
void bring_up_loopback(void);

/* nonces.c: the probes that arrived. */
#define NONCE_MAX 63
/* Whether it was new. Text that is no nonce ([A-Za-z0-9._-], 1 to 63 of them) is ignored. */
int record_nonce(const char *nonce, size_t length);
int has_nonce(const char *nonce, size_t length);
size_t nonce_count(void);

#define PROBE_MAGIC "udn-probe:" /* an ICMP payload: the magic, the nonce, a NUL */
#define SEEN_SOCKET "/run/toolbox.sock"
#define HTTP_PORT 8080
#define UDP_PORT 8081
#define TCP_PORT 8082
#define SCTP_PORT 8083

#endif
