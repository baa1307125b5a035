// Entry: one compiled call: key, program, where each operand comes from, what each output becomes.
// Made once per key and kept until too many others were used more recently.
#ifndef TPUTORCH_EAGER_ENTRY_H_
#define TPUTORCH_EAGER_ENTRY_H_

#include "eager/device.h"

typedef enum tpt_operand_kind {
  TPT_OPERAND_HOME,    // the value of storage group `index`
  TPT_OPERAND_START,   // frame->starts[index]
  TPT_OPERAND_OFFSET,  // the offset of use `index`
  TPT_OPERAND_SCALAR,  // a number of argument `arg`
  TPT_OPERAND_SEED,
  TPT_OPERAND_COUNTER,  // the generator's offset
} tpt_operand_kind_t;

typedef struct tpt_operand {
  tpt_operand_kind_t kind;
  tpt_dtype_t dtype;
  uint32_t index;
  int32_t item;
  int16_t arg;
  bool is_tensor;  // SCALAR: a host tensor's number
} tpt_operand_t;

typedef struct tpt_output {
  int32_t result;  // number among the program's results, -1: none is computed
  int32_t shared;  // group whose value this takes as it is, -1: none
  int32_t group;   // written storage, -1: a plain result
  bool is_undefined;
  const tpt_home_t* home;
  const tpt_window_t* window;     // (plain) the whole of its storage
  int64_t strides[TPT_RANK_MAX];  // (plain)
} tpt_output_t;

typedef struct tpt_donation {
  uint32_t operand;
  uint32_t group;
} tpt_donation_t;

typedef struct tpt_entry {
  uint64_t hash;
  uint64_t last_call;  // number of the call that used it last
  uint64_t* words;
  size_t word_count;
  tpt_executable_t* executable;  // NULL: nothing to compute
  tpt_operand_t* operands;
  uint32_t operand_count;
  tpt_output_t* outputs;  // plain results in order, then written storages
  uint32_t output_count, plain_count;
  tpt_donation_t* donations;  // operands in ascending order
  uint32_t donation_count;
  uint64_t rng_counters;  // of the generator, per call
  size_t result_size;     // bytes of all results
  const char* label;      // "add.Tensor"
  bool is_checked;        // the program may fail on values (index checks)
  bool has_writes;
} tpt_entry_t;

void tpt_entry_release(tpt_entry_t* take_entry);  // NULL is legal
// Makes the entry findable by its key, dropping old ones when the device has entry_max. On success the
// device owns it.
TPT_MUST_USE tpt_status_t tpt_entry_add(tpt_device_t* device, tpt_entry_t* entry);
void tpt_entries_deinit(tpt_device_t* device);

// Fills the device's frame from a call: uses, groups, starts, key and hash. May upload pending bytes.
TPT_MUST_USE tpt_status_t tpt_key_build(tpt_device_t* device, const tpt_call_t* call,
                                        uint64_t* out_hash);
uint64_t tpt_frame_hash(const tpt_frame_t* frame);
// The compiled call whose key is in the frame, or NULL.
tpt_entry_t* tpt_key_find(tpt_device_t* device, uint64_t hash);
// Lowers, prints and compiles the call in the frame; adds the entry to the device.
TPT_MUST_USE tpt_status_t tpt_entry_build(tpt_device_t* device, const tpt_call_t* call,
                                          tpt_entry_t** out_entry);
// Runs an entry on the frame's operands and commits its outputs; results has room for plain_count.
TPT_MUST_USE tpt_status_t tpt_entry_launch(tpt_device_t* device, const tpt_call_t* call,
                                           tpt_entry_t* entry, tpt_result_t* results);

#endif  // TPUTORCH_EAGER_ENTRY_H_
