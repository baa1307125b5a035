// Program: a trace as an op. Its lowering is that of all records; its call has the arguments
// (inputs Tensor[], numbers Scalar[]), so key, compile, donation and commit are those of any call.
#ifndef TPUTORCH_EAGER_PROGRAM_H_
#define TPUTORCH_EAGER_PROGRAM_H_

#include "eager/trace.h"

typedef struct tpt_program_output {
  uint32_t value;              // of the trace; ZEROS: zeros of the window's type
  int32_t input;               // written back to this input; -1: a plain result
  bool is_undefined;           // (plain)
  const tpt_window_t* window;  // how the output lies in its value; NULL: it is all of the value
  tpt_solution_t solution;
  int64_t starts[TPT_START_MAX];
} tpt_program_output_t;

typedef struct tpt_program_input {
  uint32_t value;
  const tpt_home_t* home;      // of the value
  const tpt_window_t* window;  // (captures) sizes, strides and dtype the input must have
  bool has_strides;            // false: any strides will do
  int64_t strides[TPT_RANK_MAX];
} tpt_program_input_t;

struct tpt_control;
struct tpt_program {
  tpt_op_t op;  // what calls name
  int refs;
  struct tpt_control* control;  // (optional) owned: control flow in which it is the second program
  uint64_t number;              // among all programs ever made
  tpt_device_t* device;
  const tpt_trace_t* trace;  // borrowed for the next run, or &captured
  tpt_trace_t captured;      // (captures) owned
  bool is_captured;
  const char* label;            // for the process: sites of values keep it
  tpt_program_input_t* inputs;  // owned; then the trace's further inputs
  uint32_t input_count, placeholder_count;
  tpt_storage_t* constants;       // (captures) the further inputs' values; owned
  tpt_program_output_t* outputs;  // owned; plain ones in order
  uint32_t output_count;
  bool has_draws;   // (captures) it takes random numbers from the generator's stream
  uint64_t* words;  // (fused) what finds it again; owned
  size_t word_count, trace_word_count;
  uint64_t hash, last_run;
  tpt_entry_t** calls;  // (fused) the window's, one reference each, for reports
  size_t call_count;
  tpt_str_t reason;  // (fused) why it is not one of the programs before it; "": not known
  bool is_cycle;     // (fused) it ended where its own beginning came again
};

// The text, kept for the process; equal texts are one.
TPT_MUST_USE tpt_status_t tpt_label_intern(const char* text, const char** out_label);
// A program without trace, inputs and outputs. label is copied.
TPT_MUST_USE tpt_status_t tpt_program_create(tpt_device_t* device, const char* label,
                                             tpt_program_t** out_program);
void tpt_program_unref(tpt_program_t* take_program);  // device locked; NULL is legal
static inline tpt_program_t* tpt_program_ref(tpt_program_t* program) {
  program->refs++;
  return program;
}
uint64_t tpt_program_next_number(void);
// What a recorded call needs of its op: a reference on the programs in it; nothing for other ops.
void tpt_op_ref(const tpt_op_t* op);
void tpt_op_unref(const tpt_op_t* op);
// Its results from logical values of its inputs, inside another program: no writes. Random numbers go on
// in l's stream.
TPT_MUST_USE tpt_status_t tpt_program_lower(const tpt_program_t* program, tpt_lower_t* l,
                                            const tpt_value_t* inputs, tpt_value_t* out_results);
// The program that an op is, or NULL. The number that stands for an op in keys.
const tpt_program_t* tpt_op_program(const tpt_op_t* op);
uint64_t tpt_op_identity(const tpt_op_t* op);
// Calls it, never recorded; device locked.
TPT_MUST_USE tpt_status_t tpt_program_call(tpt_program_t* program, const tpt_tensor_t* inputs,
                                           tpt_generator_t* generator, tpt_result_t** out_results,
                                           int* out_count);

// --- the device's fused window (fused.c) -------------------------------------------------------------------
struct tpt_fused;
void tpt_fused_release(struct tpt_fused* take_fused);  // NULL is legal
// The window that calls go to in fused mode; created at first use.
TPT_MUST_USE tpt_status_t tpt_fused_trace(tpt_device_t* device, tpt_trace_t** out_trace);
// Runs what waits. The first failure; all other values are there, in order.
TPT_MUST_USE tpt_status_t tpt_fused_flush(tpt_device_t* device);
// To be told of each record; then, whether the window is full or begins to repeat itself.
void tpt_fused_note_record(tpt_device_t* device);
bool tpt_fused_is_due(const tpt_device_t* device);

// --- captures (capture.c) ----------------------------------------------------------------------------------
tpt_trace_t* tpt_capture_trace(const tpt_device_t* device);  // this thread's, or NULL

#endif  // TPUTORCH_EAGER_PROGRAM_H_
