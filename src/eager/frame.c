// Owns growth and release of a call's arrays. Must not know what stands in them.
#include "eager/frame.h"

#include "base/allocator.h"

tpt_status_t tpt_frame_grow(void** inout_data, size_t* inout_capacity, size_t count,
                            size_t element_size) {
  if (tpt_grow(inout_data, inout_capacity, count, element_size)) return NULL;
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for the arguments of a call");
}

void tpt_frame_deinit(tpt_frame_t* frame) {
  tpt_free(frame->words);
  tpt_free(frame->uses);
  tpt_free(frame->starts);
  tpt_free(frame->groups);
  tpt_free(frame->operands);
  tpt_free(frame->results);
  tpt_free(frame->cells);
  tpt_free(frame->keep);
  *frame = (tpt_frame_t){0};
}
