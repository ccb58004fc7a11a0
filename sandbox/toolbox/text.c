#include "toolbox.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void complain(const char *format, va_list args) {
  fputs("toolbox: ", stderr);
  vfprintf(stderr, format, args);
}

void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain(format, args);
  fputc('\n', stderr);
  exit(125);
}

void die_errno(const char *format, ...) {
  const char *why = strerror(errno);
  va_list args;
  va_start(args, format);
  complain(format, args);
  fprintf(stderr, ": %s\n", why);
  exit(125);
}

void *must_alloc(size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL) die("out of memory");
  return memory;
}

char *must_format(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) die("out of memory");
  va_end(args);
  return text;
}

void json_escape(char *to, size_t size, const char *text) {
  size_t n = 0;
  for (; *text && n + 7 < size; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') to[n++] = '\\';
    if (c < 0x20 || c > 0x7e) n += (size_t)sprintf(to + n, "\\u%04x", c);
    else to[n++] = (char)c;
  }
  to[n] = 0;
}

long parse_number(const char *text, long min, long max, const char *what) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < min || value > max)
    die("%s must be a number from %ld to %ld, not \"%s\"", what, min, max, text);
  return value;
}

int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}
