/*
 * Between a machine and its guest: a stream of frames, each a byte for its kind, four for the length (big-endian), and the
 * content. One connection per command.
 *
 *   to the guest    ARGUMENT, ENVIRONMENT and WORKDIR (text without NUL), then RUN (empty, or a struct window for a
 *                   terminal) or CONNECT (the path of a unix socket; from there on the stream is that socket's)
 *                   INPUT (empty: the end of it), SIGNAL (one byte), WINDOW
 *   from the guest  OUTPUT, ERRORS, TAKEN (four bytes: how much more INPUT may come), ENDED (four bytes: a wait status)
 */
#ifndef GUEST_H
#define GUEST_H

#include <stddef.h>
#include <stdint.h>

enum frame_kind {
  ARGUMENT = 'A', ENVIRONMENT = 'E', WORKDIR = 'D', RUN = 'R', CONNECT = 'C', INPUT = 'I', SIGNAL = 'S', WINDOW = 'W',
  OUTPUT = 'O', ERRORS = 'X', TAKEN = 'T', ENDED = 'Z',
};

#define FRAME_HEAD 5
#define FRAME_MAX 65536
/* INPUT that may be on its way: signals never wait behind it, since all of it fits into the guest's memory. */
#define INPUT_WINDOW 262144

struct window { uint16_t rows, columns; };

/* Bytes that wait: appended at the end, taken from the front. */
struct queue {
  char *bytes;
  size_t from, to, capacity;
};
static inline size_t queue_length(const struct queue *queue) { return queue->to - queue->from; }
void queue_append(struct queue *queue, const void *bytes, size_t length);
void queue_drop(struct queue *queue, size_t length);
void queue_frame(struct queue *queue, enum frame_kind kind, const void *content, size_t length);
void queue_number(struct queue *queue, enum frame_kind kind, uint32_t number);

struct frame {
  enum frame_kind kind;
  size_t length;
  const char *content; /* in the queue, until that is changed */
};
/* The first frame of a queue, when all of it is there. The caller drops FRAME_HEAD + length. */
int queue_peek(const struct queue *queue, struct frame *frame);
uint32_t frame_number(const struct frame *frame);

/* Reads what is there into the queue. 0 at the end of the file or when it is broken; 1 also when nothing is there now. */
int queue_read(struct queue *queue, int fd);
/* Writes what goes without waiting. 0 when nobody reads any more. */
int queue_write(struct queue *queue, int fd);

#endif
