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
  int refs;  // of the device, and of recorded calls
  uint64_t hash;
  uint64_t last_call;  // number of the call that used it last
  uint64_t* words;
  size_t word_count;
  tpt_executable_t* executable;  // NULL: nothing to compute, or
  bool is_lowered_only;          // the call was only recorded so far
  tpt_operand_t* operands;
  uint32_t operand_count;
  tpt_output_t* outputs;  // plain results in order, then written storages
  uint32_t output_count, plain_count;
  tpt_donation_t* donations;  // operands in ascending order
  uint32_t donation_count;
  uint64_t rng_counters;  // of the generator, per call
  int32_t rng_result;     // result that counts what is taken beside those; -1: nothing is
  bool has_draws;
  size_t result_size;               // bytes of all results
  const char* label;                // "add.Tensor"
  struct tpt_signature* signature;  // (optional) of calls recorded in fused mode, for reports
  bool is_checked;                  // the program may fail on values (index checks)
  bool is_confirmed;  // its failure must be known at once: the calls in it are then run one by one
  bool has_writes;
} tpt_entry_t;

static inline tpt_entry_t* tpt_entry_retain(tpt_entry_t* entry) {
  entry->refs++;
  return entry;
}
void tpt_entry_release(tpt_entry_t* take_entry);  // NULL is legal; device locked
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
// Lowers the call in the frame, compiles it if it is to be run, and adds the entry to the device.
TPT_MUST_USE tpt_status_t tpt_entry_build(tpt_device_t* device, const tpt_call_t* call, bool is_run,
                                          tpt_entry_t** out_entry);
// Compiles an entry that was lowered only; its call is in the frame.
TPT_MUST_USE tpt_status_t tpt_entry_compile(tpt_device_t* device, const tpt_call_t* call,
                                            tpt_entry_t* entry);
// Drops the compiled calls of an op that ends (a program).
void tpt_entries_drop(tpt_device_t* device, const tpt_op_t* op);
// Runs an entry on the frame's operands and commits its outputs; results has room for plain_count.
TPT_MUST_USE tpt_status_t tpt_entry_launch(tpt_device_t* device, const tpt_call_t* call,
                                           tpt_entry_t* entry, tpt_result_t* results);
// True when a launch waits for its results before it commits: the program may fail and writes, or the
// mode is blocking.
static inline bool tpt_entry_must_confirm(const tpt_device_t* device, const tpt_entry_t* entry) {
  bool can_fail = entry->is_checked && device->checks_indices;
  return (can_fail && (entry->has_writes || entry->is_confirmed)) || tpt_blocking_get();
}
// Earlier work that such a launch would wait for: a value that is not there yet, of the call in the frame
// or the newest of all (one reference), or NULL.
tpt_buffer_t* tpt_entry_pending(const tpt_device_t* device, const tpt_entry_t* entry);
// The same, but records' way: outputs get cells that have no buffer yet, random state stays. out_cells:
// one per output (NULL: no value), borrowed until the next call.
TPT_MUST_USE tpt_status_t tpt_entry_defer(tpt_device_t* device, const tpt_call_t* call,
                                          tpt_entry_t* entry, tpt_result_t* results,
                                          tpt_cell_t*** out_cells);
// The number that an operand of kind other than HOME takes from the call in the frame.
tpt_number_t tpt_operand_number(const tpt_device_t* device, const tpt_call_t* call,
                                const tpt_operand_t* operand);

#endif  // TPUTORCH_EAGER_ENTRY_H_
