/*
 * toolbox guest-serve PORT: runs commands for the machine that this guest is on, one process per connection, with streams,
 * signals and, where it is asked for, a terminal. A command whose connection ends is killed.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "toolbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of what a command wrote and nobody took yet. */
#define OUTPUT_LIMIT 65536
/* For a peer that reads nothing more. */
#define CLOSING_MS 30000

struct command {
  char *argv[1024], *env[256], *workdir;
  size_t arguments, variables;
};

struct session {
  int peer, signals, input, output, errors; /* -1 when closed; a terminal is both `input` and `output` */
  int has_terminal, input_ended, is_over, status;
  pid_t child;
  struct queue from_peer, to_peer, to_input;
};

static const char *const BASE_ENV[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "XDG_CACHE_HOME=/var/cache"};

static void take_word(char **words, size_t *count, size_t capacity, const struct frame *frame) {
  if (*count + 1 >= capacity) die("too many words");
  words[(*count)++] = must_format("%.*s", (int)frame->length, frame->content);
}

static void set_window(int terminal, const struct frame *frame) {
  struct window window;
  if (frame->length != sizeof window) return;
  memcpy(&window, frame->content, sizeof window);
  struct winsize size = {.ws_row = ntohs(window.rows), .ws_col = ntohs(window.columns)};
  ioctl(terminal, TIOCSWINSZ, &size);
}

static void become_command(struct command *command, const int fds[3], int has_terminal) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL), signal(SIGCHLD, SIG_DFL);
  die_with_parent();
  setsid();
  for (int i = 0; i < 3; i++) dup2(fds[i], i);
  if (has_terminal) ioctl(0, TIOCSCTTY, 0);
  clearenv();
  for (size_t i = 0; i < sizeof BASE_ENV / sizeof *BASE_ENV; i++) putenv((char *)BASE_ENV[i]);
  for (size_t i = 0; i < command->variables; i++) putenv(command->env[i]);
  if (command->workdir && chdir(command->workdir) < 0) die_errno("can't go to %s", command->workdir);
  exec_or_die(command->argv);
}

static void must_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) < 0) die_errno("pipe");
}

static void start_with_pipes(struct session *s, struct command *command) {
  int in[2], out[2], err[2];
  must_pipe(in), must_pipe(out), must_pipe(err);
  s->child = fork_with(0);
  if (s->child == 0) become_command(command, (int[]){in[0], out[1], err[1]}, 0);
  close(in[0]), close(out[1]), close(err[1]);
  s->input = in[1], s->output = out[0], s->errors = err[0];
}

static void start_with_terminal(struct session *s, struct command *command, const struct frame *size) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) die_errno("can't make a terminal");
  int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) die_errno("can't open the terminal");
  set_window(slave, size);
  s->has_terminal = 1;
  s->child = fork_with(0);
  if (s->child == 0) become_command(command, (int[]){slave, slave, slave}, 1);
  close(slave);
  s->input = s->output = master;
}

static void start(struct session *s, struct command *command, const struct frame *run) {
  if (command->arguments == 0) die("no command");
  if (run->length > 0) start_with_terminal(s, command, run);
  else start_with_pipes(s, command);
  if (s->child < 0) die_errno("fork");
  for (int i = 0, fds[] = {s->peer, s->input, s->output, s->errors}; i < 4; i++)
    if (fds[i] >= 0) fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
  queue_number(&s->to_peer, TAKEN, INPUT_WINDOW);
}

static void close_input(struct session *s) {
  if (s->input >= 0 && !s->has_terminal) close(s->input);
  s->input = -1;
  queue_drop(&s->to_input, queue_length(&s->to_input));
}

static void take_frame(struct session *s, const struct frame *frame) {
  switch (frame->kind) {
    case INPUT:
      if (frame->length == 0) s->input_ended = 1;
      else if (s->input >= 0) queue_append(&s->to_input, frame->content, frame->length);
      break;
    case SIGNAL:
      if (frame->length == 1 && s->child > 0) kill(s->child, frame->content[0]);
      break;
    case WINDOW:
      if (s->has_terminal) set_window(s->output, frame);
      break;
    default: die("unexpected frame %d", frame->kind);
  }
}

/* Hands input on and tells the peer how much more it may send. */
static void feed(struct session *s) {
  size_t before = queue_length(&s->to_input);
  if (s->input >= 0 && before > 0 && !queue_write(&s->to_input, s->input)) {
    close_input(s);
    return;
  }
  size_t taken = before - queue_length(&s->to_input);
  if (taken > 0) queue_number(&s->to_peer, TAKEN, (uint32_t)taken);
  if (s->input_ended && queue_length(&s->to_input) == 0) close_input(s);
}

/* A terminal whose last user is gone reports EIO, which is its end. */
static void take_output(struct session *s, int *fd, enum frame_kind kind) {
  char buffer[16384];
  if (*fd < 0 || queue_length(&s->to_peer) >= OUTPUT_LIMIT) return;
  ssize_t n = read(*fd, buffer, sizeof buffer);
  if (n > 0) queue_frame(&s->to_peer, kind, buffer, (size_t)n);
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) close(*fd), *fd = -1;
}

static void note_end(struct session *s) {
  struct signalfd_siginfo info;
  while (read(s->signals, &info, sizeof info) > 0);
  if (waitpid(s->child, &s->status, WNOHANG) == s->child) s->child = 0;
}

/* False when the peer is gone. */
static int take_from_peer(struct session *s) {
  struct frame frame;
  int open = queue_read(&s->from_peer, s->peer);
  while (queue_peek(&s->from_peer, &frame)) {
    take_frame(s, &frame);
    queue_drop(&s->from_peer, FRAME_HEAD + frame.length);
  }
  return open;
}

/* What the command wrote before it ended is still in the pipes; what its children write later is not waited for. */
static void finish(struct session *s) {
  for (size_t before = 0; before != queue_length(&s->to_peer);) {
    before = queue_length(&s->to_peer);
    if (before >= OUTPUT_LIMIT) return;
    take_output(s, &s->output, OUTPUT);
    take_output(s, &s->errors, ERRORS);
  }
  queue_number(&s->to_peer, ENDED, (uint32_t)s->status);
  s->is_over = 1;
}

static void attend(struct session *s) {
  while (!s->is_over || queue_length(&s->to_peer) > 0) {
    short reading = queue_length(&s->to_peer) < OUTPUT_LIMIT ? POLLIN : 0;
    struct pollfd fds[] = {
        {.fd = s->peer, .events = (short)(POLLIN | (queue_length(&s->to_peer) ? POLLOUT : 0))},
        {.fd = s->signals, .events = POLLIN},
        {.fd = reading ? s->output : -1, .events = reading},
        {.fd = reading ? s->errors : -1, .events = reading},
        {.fd = queue_length(&s->to_input) ? s->input : -1, .events = POLLOUT},
    };
    if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 && errno != EINTR) die_errno("poll");
    if (fds[1].revents) note_end(s);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR) && !take_from_peer(s)) return;
    if (!s->is_over) {
      feed(s);
      take_output(s, &s->output, OUTPUT);
      take_output(s, &s->errors, ERRORS);
      if (s->child == 0) finish(s);
    }
    if (!queue_write(&s->to_peer, s->peer)) return;
  }
}

/*
 * Until the peer has read everything: INPUT that comes to a closed connection resets it, and who is told so (the proxy) reads no more
 * of what came before, the ENDED frame.
 */
static void wait_for_peer(int peer) {
  char unread[4096];
  struct pollfd readable = {.fd = peer, .events = POLLIN};
  shutdown(peer, SHUT_WR);
  while (poll(&readable, 1, CLOSING_MS) > 0) {
    ssize_t n = read(peer, unread, sizeof unread);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return;
  }
}

/* From here on the stream is the socket's: whatever has been read already goes first. */
static void connect_to(struct session *s, const struct frame *frame) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (frame->length >= sizeof address.sun_path) die("the path is too long");
  memcpy(address.sun_path, frame->content, frame->length);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
    die_errno("can't connect to %s", address.sun_path);
  queue_drop(&s->from_peer, FRAME_HEAD + frame->length);
  for (int i = 0, fds[] = {s->peer, fd}; i < 2; i++) fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
  struct queue *queues[2] = {&s->from_peer, &s->to_peer};
  int ends[2] = {s->peer, fd}, is_open[2] = {1, 1}, is_shut[2] = {0, 0};
  while (!is_shut[0] || !is_shut[1]) {
    struct pollfd fds[2];
    for (int i = 0; i < 2; i++) {
      short reading = is_open[i] && queue_length(queues[i]) == 0 ? POLLIN : 0;
      short events = (short)(reading | (queue_length(queues[!i]) ? POLLOUT : 0));
      fds[i] = (struct pollfd){.fd = events ? ends[i] : -1, .events = events};
    }
    if (poll(fds, 2, -1) < 0 && errno != EINTR) die_errno("poll");
    for (int i = 0; i < 2; i++) {
      if (fds[i].revents & POLLERR) return;
      if (is_open[i] && queue_length(queues[i]) == 0 && fds[i].revents) is_open[i] = queue_read(queues[i], ends[i]);
      if (!queue_write(queues[i], ends[!i])) return;
      if (is_open[i] || is_shut[i] || queue_length(queues[i])) continue;
      shutdown(ends[!i], SHUT_WR);
      is_shut[i] = 1;
    }
  }
}

static void serve_peer(int peer) {
  struct session s = {.peer = peer, .input = -1, .output = -1, .errors = -1};
  struct command command = {0};
  struct frame frame;
  sigset_t children;
  sigemptyset(&children), sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  s.signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  for (;;) {
    while (!queue_peek(&s.from_peer, &frame))
      if (!queue_read(&s.from_peer, peer)) return;
    if (frame.kind == CONNECT) return connect_to(&s, &frame);
    if (frame.kind == ARGUMENT) take_word(command.argv, &command.arguments, 1024, &frame);
    else if (frame.kind == ENVIRONMENT) take_word(command.env, &command.variables, 256, &frame);
    else if (frame.kind == WORKDIR) command.workdir = must_format("%.*s", (int)frame.length, frame.content);
    else if (frame.kind == RUN) start(&s, &command, &frame);
    else die("unexpected frame %d", frame.kind);
    queue_drop(&s.from_peer, FRAME_HEAD + frame.length);
    if (frame.kind == RUN) break;
  }
  attend(&s);
  if (s.is_over && queue_length(&s.to_peer) == 0) wait_for_peer(s.peer);
  if (s.child > 0) kill(s.child, SIGKILL);
}

int guest_serve_main(int argc, char **argv) {
  int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (argc != 2) die("guest-serve PORT");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)parse_number(argv[1], 1, 65535, "PORT"))};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 512) < 0) die_errno("listen");
  puts("guest-serve: ready"), fflush(stdout);
  signal(SIGPIPE, SIG_IGN), signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (peer < 0) continue;
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fork_with(0) == 0) {
      close(listener);
      signal(SIGCHLD, SIG_DFL);
      serve_peer(peer);
      exit(0);
    }
    close(peer);
  }
}
