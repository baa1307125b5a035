// Frame: the memory of the call in progress: its tensors as windows, their storages grouped, starts,
// key and operand arrays. One per device, reused; device locked.
#ifndef TPUTORCH_EAGER_FRAME_H_
#define TPUTORCH_EAGER_FRAME_H_

#include "eager/storage.h"

// One tensor argument that lives on the device.
typedef struct tpt_use {
  const tpt_tensor_t* tensor;
  const tpt_window_t* window;
  tpt_solution_t solution;
  uint32_t group;        // its storage's place among the call's storages
  uint32_t first_start;  // in frame->starts
  int32_t arg;
  int32_t item;
} tpt_use_t;

typedef struct tpt_frame {
  uint64_t* words;  // the key
  size_t word_count, word_capacity;
  tpt_use_t* uses;
  size_t use_count, use_capacity;
  int64_t* starts;
  size_t start_count, start_capacity;
  tpt_storage_t** groups;  // distinct storages, in order of appearance
  size_t group_count, group_capacity;
  tpt_buffer_t** operands;
  size_t operand_capacity;
  tpt_buffer_t** results;
  size_t result_capacity;
  tpt_cell_t** cells;
  size_t cell_capacity;
  int64_t* keep;
  size_t keep_capacity;
} tpt_frame_t;

TPT_MUST_USE tpt_status_t tpt_frame_grow(void** inout_data, size_t* inout_capacity, size_t count,
                                         size_t element_size);
// Makes room for `count` elements in one of the arrays.
TPT_MUST_USE static inline tpt_status_t tpt_frame_reserve(void** inout_data, size_t* inout_capacity,
                                                          size_t count, size_t element_size) {
  if (__builtin_expect(count <= *inout_capacity, 1)) return NULL;
  return tpt_frame_grow(inout_data, inout_capacity, count, element_size);
}
void tpt_frame_deinit(tpt_frame_t* frame);

#endif  // TPUTORCH_EAGER_FRAME_H_
