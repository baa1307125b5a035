// Owns the status object: one heap block with code, place and message; a note makes a longer block.
// Must not know who fails or why. Invariant: reporting never needs memory: when the heap is empty a
// static status stands in, and release ignores it.
#include "tputorch/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"

struct tpt_status {
  tpt_code_t code;
  size_t message_size;
  char where[64];
  char message[];
};

// A static object has no flexible array, so its message is returned by tpt_status_message.
static struct tpt_status out_of_memory = {.code = TPT_RESOURCE_EXHAUSTED};

// The last two parts of a path ("hlo/graph.c"): the same in every build folder.
static const char* short_path(const char* path) {
  const char* last = path;
  const char* previous = path;
  for (const char* p = path; *p; p++) {
    if (*p != '/') continue;
    previous = last;
    last = p + 1;
  }
  return previous;
}

static tpt_status_t allocate(tpt_code_t code, size_t message_size) {
  tpt_status_t status = tpt_malloc(sizeof(*status) + message_size + 1);
  if (!status) return &out_of_memory;
  status->code = code;
  status->message_size = message_size;
  status->where[0] = 0;
  status->message[message_size] = 0;
  return status;
}

tpt_status_t tpt_status_make(tpt_code_t code, const char* file, int line, const char* format, ...) {
  char text[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(text, sizeof(text), format, args);
  if (size < 0) size = snprintf(text, sizeof(text), "(message could not be formatted)");
  tpt_status_t status = allocate(code, (size_t)size);
  if (status != &out_of_memory) {
    snprintf(status->where, sizeof(status->where), "%s:%d", short_path(file), line);
    if ((size_t)size < sizeof(text))
      memcpy(status->message, text, (size_t)size + 1);
    else
      vsnprintf(status->message, (size_t)size + 1, format, again);
  }
  va_end(again);
  va_end(args);
  return status;
}

tpt_status_t tpt_status_note(tpt_status_t take_status, const char* format, ...) {
  if (!take_status || take_status == &out_of_memory) return take_status;
  char text[1024];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (size <= 0) return take_status;
  if ((size_t)size >= sizeof(text)) size = (int)sizeof(text) - 1;
  size_t old_size = take_status->message_size;
  tpt_status_t longer = allocate(take_status->code, old_size + 2 + (size_t)size);
  // Without memory the note is dropped: the error itself matters more.
  if (longer == &out_of_memory) return take_status;
  memcpy(longer->where, take_status->where, sizeof(longer->where));
  memcpy(longer->message, take_status->message, old_size);
  memcpy(longer->message + old_size, "; ", 2);
  memcpy(longer->message + old_size + 2, text, (size_t)size);
  tpt_status_release(take_status);
  return longer;
}

tpt_code_t tpt_status_code(tpt_status_t status) {
  return status ? status->code : TPT_OK;
}

const char* tpt_status_message(tpt_status_t status) {
  if (!status) return "OK";
  return status == &out_of_memory ? "out of host memory" : status->message;
}

const char* tpt_status_where(tpt_status_t status) {
  return status ? status->where : "";
}

tpt_status_t tpt_status_clone(tpt_status_t status) {
  if (!status || status == &out_of_memory) return status;
  tpt_status_t copy = allocate(status->code, status->message_size);
  if (copy == &out_of_memory) return copy;
  memcpy(copy->where, status->where, sizeof(copy->where));
  memcpy(copy->message, status->message, status->message_size + 1);
  return copy;
}

void tpt_status_release(tpt_status_t take_status) {
  if (take_status != &out_of_memory) tpt_free(take_status);
}

tpt_status_t tpt_status_first(tpt_status_t a, tpt_status_t b) {
  if (!a) return b;
  tpt_status_release(b);
  return a;
}
