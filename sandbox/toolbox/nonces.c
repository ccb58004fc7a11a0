/* A hash set that grows, up to a limit: a probe's nonce is remembered until the process ends. */
#include "toolbox.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT (1 << 17)

static char (*slots)[NONCE_MAX + 1];
static size_t slot_count, used;

static int is_nonce(const char *text, size_t length) {
  if (length == 0 || length > NONCE_MAX) return 0;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)text[i]) && !memchr("._-", text[i], 3)) return 0;
  return 1;
}

/* FNV-1a. */
static size_t hash(const char *text, size_t length) {
  uint64_t h = 14695981039346656037ULL;
  for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211ULL;
  return (size_t)h;
}

/* Where the nonce is, or where it would be put. */
static char *find(const char *nonce, size_t length) {
  size_t i = hash(nonce, length) & (slot_count - 1);
  while (slots[i][0] && (strlen(slots[i]) != length || memcmp(slots[i], nonce, length))) i = (i + 1) & (slot_count - 1);
  return slots[i];
}

static void grow(void) {
  char(*old)[NONCE_MAX + 1] = slots;
  size_t old_count = slot_count;
  slot_count = old_count ? old_count * 2 : 64;
  slots = must_alloc(slot_count * sizeof *slots);
  for (size_t i = 0; i < old_count; i++)
    if (old[i][0]) strcpy(find(old[i], strlen(old[i])), old[i]);
  free(old);
}

int has_nonce(const char *nonce, size_t length) {
  return used > 0 && is_nonce(nonce, length) && find(nonce, length)[0] != 0;
}

int record_nonce(const char *nonce, size_t length) {
  if (!is_nonce(nonce, length) || has_nonce(nonce, length) || used == LIMIT) return 0;
  if (used * 2 >= slot_count) grow();
  char *slot = find(nonce, length);
  memcpy(slot, nonce, length);
  slot[length] = 0;
  used++;
  return 1;
}

size_t nonce_count(void) { return used; }
