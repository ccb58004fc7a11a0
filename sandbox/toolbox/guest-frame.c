#define _GNU_SOURCE
#include "guest.h"
#include "toolbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A pipe that poll(2) calls writable takes so much at once, pipe(7), also when it is not in non-blocking mode. */
#define PIPE_ATOMIC 4096

static void make_room(struct queue *queue, size_t length) {
  if (queue->from > 0) {
    memmove(queue->bytes, queue->bytes + queue->from, queue_length(queue));
    queue->to -= queue->from, queue->from = 0;
  }
  while (queue->capacity < queue->to + length) {
    queue->capacity = queue->capacity ? queue->capacity * 2 : 4096;
    queue->bytes = realloc(queue->bytes, queue->capacity);
    if (queue->bytes == NULL) die("out of memory");
  }
}

void queue_append(struct queue *queue, const void *bytes, size_t length) {
  if (length == 0) return;
  if (queue->to + length > queue->capacity) make_room(queue, length);
  memcpy(queue->bytes + queue->to, bytes, length);
  queue->to += length;
}

void queue_drop(struct queue *queue, size_t length) {
  queue->from += length;
  if (queue->from == queue->to) queue->from = queue->to = 0;
}

void queue_frame(struct queue *queue, enum frame_kind kind, const void *content, size_t length) {
  char head[FRAME_HEAD] = {(char)kind};
  uint32_t size = htonl((uint32_t)length);
  memcpy(head + 1, &size, sizeof size);
  queue_append(queue, head, sizeof head);
  queue_append(queue, content, length);
}

void queue_number(struct queue *queue, enum frame_kind kind, uint32_t number) {
  number = htonl(number);
  queue_frame(queue, kind, &number, sizeof number);
}

int queue_peek(const struct queue *queue, struct frame *frame) {
  uint32_t size;
  if (queue_length(queue) < FRAME_HEAD) return 0;
  const char *at = queue->bytes + queue->from;
  memcpy(&size, at + 1, sizeof size);
  *frame = (struct frame){.kind = (enum frame_kind)at[0], .length = ntohl(size), .content = at + FRAME_HEAD};
  if (frame->length > FRAME_MAX) die("a frame of %zu bytes is too long", frame->length);
  return queue_length(queue) >= FRAME_HEAD + frame->length;
}

uint32_t frame_number(const struct frame *frame) {
  uint32_t number = 0;
  if (frame->length == sizeof number) memcpy(&number, frame->content, sizeof number);
  return ntohl(number);
}

int queue_read(struct queue *queue, int fd) {
  make_room(queue, FRAME_MAX);
  ssize_t n = read(fd, queue->bytes + queue->to, FRAME_MAX);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  queue->to += (size_t)n;
  return n > 0;
}

int queue_write(struct queue *queue, int fd) {
  while (queue_length(queue) > 0) {
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    if (poll(&writable, 1, 0) < 1) return 1;
    size_t length = queue_length(queue) < PIPE_ATOMIC ? queue_length(queue) : PIPE_ATOMIC;
    ssize_t n = write(fd, queue->bytes + queue->from, length);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    queue_drop(queue, (size_t)n);
  }
  return 1;
}
