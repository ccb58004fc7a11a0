/*
 * toolbox guest-run --socket PATH [--env NAME=VALUE]… [--workdir FOLDER] -- COMMAND…
 *
 * Runs a command in a guest as if it ran here: with this process' streams, terminal and signals, and ends as it ends.
 * When this process dies, the command is killed. A guest that hangs lets go of it after the fourth signal.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "toolbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

/* That many signals go to a command that says nothing, the next one ends this process. */
#define PATIENCE 3

struct run_options {
  const char *socket;
  struct queue frames;
};

struct client {
  int peer, signals, has_terminal, input_ended;
  /* Signals since the guest last said something. */
  int unanswered;
  size_t credit;
  struct queue to_peer, from_peer;
  /* What waits for stdout or stderr. */
  struct queue text;
  int text_fd;
};

static struct termios saved;

static void take_socket(void *into, const char *v) { ((struct run_options *)into)->socket = v; }
static void take_frame(void *into, enum frame_kind kind, const char *text) {
  if (strlen(text) > FRAME_MAX) die("an argument is too long");
  queue_frame(&((struct run_options *)into)->frames, kind, text, strlen(text));
}
static void take_env(void *into, const char *v) { take_frame(into, ENVIRONMENT, v); }
static void take_workdir(void *into, const char *v) { take_frame(into, WORKDIR, v); }

static const struct option_spec SPECS[] = {
    {"socket", take_socket, 0}, {"env", take_env, 0}, {"workdir", take_workdir, 0}, {NULL, NULL, 0}};

static const int HANDED_ON[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

static int watch_signals(void) {
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGWINCH);
  for (size_t i = 0; i < sizeof HANDED_ON / sizeof *HANDED_ON; i++) sigaddset(&set, HANDED_ON[i]);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die_errno("signalfd");
  return fd;
}

static struct window window_size(void) {
  struct winsize size = {0};
  ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
  return (struct window){htons(size.ws_row), htons(size.ws_col)};
}

static void restore_terminal(void) { tcsetattr(STDIN_FILENO, TCSADRAIN, &saved); }

/* The terminal of the guest does what this one would: echo, line editing, Ctrl-C. */
static void hand_over_terminal(void) {
  struct termios raw;
  if (tcgetattr(STDIN_FILENO, &saved) < 0) die_errno("tcgetattr");
  raw = saved;
  cfmakeraw(&raw);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  atexit(restore_terminal);
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (strlen(path) >= sizeof address.sun_path) die("the path is too long");
  strcpy(address.sun_path, path);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
    die_errno("the guest does not answer at %s", path);
  return fd;
}

static void take_signals(struct client *c) {
  struct signalfd_siginfo info;
  while (read(c->signals, &info, sizeof info) == sizeof info) {
    char number = (char)info.ssi_signo;
    struct window window = window_size();
    /* A guest may hang; nobody should have to look for the number of this process. */
    if (number != SIGWINCH && ++c->unanswered > PATIENCE) die("ended by force, the command may go on");
    if (number != SIGWINCH) queue_frame(&c->to_peer, SIGNAL, &number, 1);
    else if (c->has_terminal) queue_frame(&c->to_peer, WINDOW, &window, sizeof window);
  }
}

static void take_input(struct client *c) {
  char buffer[16384];
  ssize_t n = read(STDIN_FILENO, buffer, c->credit < sizeof buffer ? c->credit : sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) c->input_ended = 1;
  c->credit -= n > 0 ? (size_t)n : 0;
  queue_frame(&c->to_peer, INPUT, buffer, n > 0 ? (size_t)n : 0);
}

/* Up to the next text, which has to be written before what follows it. */
static void take_frames(struct client *c) {
  struct frame frame;
  while (queue_length(&c->text) == 0 && queue_peek(&c->from_peer, &frame)) {
    c->unanswered = 0;
    if (frame.kind == ENDED) {
      if (c->has_terminal) restore_terminal();
      exit_like((int)frame_number(&frame));
    }
    if (frame.kind == TAKEN) c->credit += frame_number(&frame);
    if (frame.kind == OUTPUT || frame.kind == ERRORS) {
      c->text_fd = frame.kind == OUTPUT ? STDOUT_FILENO : STDERR_FILENO;
      queue_append(&c->text, frame.content, frame.length);
    }
    queue_drop(&c->from_peer, FRAME_HEAD + frame.length);
    /* Whoever read it has gone: as a program here would be told. */
    if (!queue_write(&c->text, c->text_fd)) queue_drop(&c->text, queue_length(&c->text)), raise(SIGPIPE);
  }
}

static void attend(struct client *c) {
  for (;;) {
    int is_stuck = queue_length(&c->text) > 0;
    struct pollfd fds[] = {
        {.fd = c->peer, .events = (short)((is_stuck ? 0 : POLLIN) | (queue_length(&c->to_peer) ? POLLOUT : 0))},
        {.fd = c->signals, .events = POLLIN},
        {.fd = c->input_ended || c->credit == 0 ? -1 : STDIN_FILENO, .events = POLLIN},
        {.fd = is_stuck ? c->text_fd : -1, .events = POLLOUT},
    };
    if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 && errno != EINTR) die_errno("poll");
    if (fds[1].revents) take_signals(c);
    if (fds[2].revents) take_input(c);
    if (is_stuck && fds[3].revents && !queue_write(&c->text, c->text_fd)) raise(SIGPIPE), exit(1);
    int is_open = is_stuck || !(fds[0].revents & (POLLIN | POLLHUP | POLLERR)) || queue_read(&c->from_peer, c->peer);
    take_frames(c);
    if (!is_open && queue_length(&c->text) == 0) die("the guest ended");
    if (!queue_write(&c->to_peer, c->peer)) die("the guest ended");
  }
}

int guest_run_main(int argc, char **argv) {
  struct run_options o = {0};
  struct client c = {0};
  int first = parse_options(argc, argv, SPECS, &o);
  if (first >= argc || o.socket == NULL) die("guest-run needs --socket and a command");
  for (int i = first; i < argc; i++) take_frame(&o, ARGUMENT, argv[i]);
  c.peer = connect_to(o.socket);
  c.signals = watch_signals();
  c.has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  struct window window = window_size();
  c.to_peer = o.frames;
  queue_frame(&c.to_peer, RUN, &window, c.has_terminal ? sizeof window : 0);
  if (c.has_terminal) hand_over_terminal();
  attend(&c);
  return 0;
}
