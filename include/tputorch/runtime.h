// The eager runtime as its callers see it: devices, storages, calls, copies, random state, memory,
// counters. One runtime per process, opened at first use. Thread-safe: a lock per device covers key to
// launch. Every function that can fail returns a status; a failed call leaves its tensors as they were.
#ifndef TPUTORCH_RUNTIME_H_
#define TPUTORCH_RUNTIME_H_

#include <stddef.h>

#include "tputorch/op.h"
#include "tputorch/status.h"
#include "tputorch/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- process -----------------------------------------------------------------------------------------
// Folder that holds libvtpu.so; set once by the Python package before anything else.
TPT_MUST_USE tpt_status_t tpt_runtime_set_library_folder(const char* path);
// Opens plugin and client if that has not happened; the same error again if it failed. A forked child
// of an opened process gets FAILED_PRECONDITION ("... must use the 'spawn' start method").
TPT_MUST_USE tpt_status_t tpt_runtime_open(void);
bool tpt_runtime_is_open(void);
bool tpt_runtime_is_bad_fork(void);
// Devices without opening a chip where that is possible; 0 when there is no plugin.
int tpt_runtime_device_count(void);
// One option by name, as text, for this process; only before open for those that open reads
// (FAILED_PRECONDITION after).
TPT_MUST_USE tpt_status_t tpt_runtime_set_option(const char* name, const char* value);
TPT_MUST_USE tpt_status_t tpt_runtime_get_option(const char* name, char* text, int text_size);

typedef struct tpt_device_info {
  char kind[64];      // "TPU v5e"
  char platform[64];  // "vtpu", "tpu", "cpu"
  char platform_version[256];
  char plugin[1024];    // path
  int64_t memory_size;  // HBM bytes, 0 if unknown
} tpt_device_info_t;
TPT_MUST_USE tpt_status_t tpt_device_info(int device, tpt_device_info_t* out_info);
// Asked ten times a second while a thread waits for a value, with no lock held; its failure ends the
// wait (of this thread only: the work goes on) and is returned. NULL: nobody is asked.
typedef tpt_status_t (*tpt_wait_poll_fn_t)(void);
void tpt_wait_poll_set(tpt_wait_poll_fn_t poll);
// Waits for all work of the device; the first failure that nobody has seen yet, if any.
TPT_MUST_USE tpt_status_t tpt_device_synchronize(int device);

// --- storages ----------------------------------------------------------------------------------------
// A storage of `size` bytes with no buffer yet (reads give zeros). One owner.
TPT_MUST_USE tpt_status_t tpt_storage_create(int device, size_t size, tpt_storage_t** out_storage);
void tpt_storage_release(tpt_storage_t* take_storage);  // NULL is legal
// A unique address in a protected range: what data_ptr() shows; never dereferenced.
void* tpt_storage_address(const tpt_storage_t* storage);
// The live storage that an address (interior too) belongs to, or NULL; *out_offset in bytes.
tpt_storage_t* tpt_storage_find(const void* address, size_t* out_offset);
int tpt_storage_device(const tpt_storage_t* storage);
size_t tpt_storage_size(const tpt_storage_t* storage);
// Changes the byte size, keeping the leading bytes (untyped_storage().resize_).
TPT_MUST_USE tpt_status_t tpt_storage_resize(tpt_storage_t* storage, size_t size);

// --- copies ------------------------------------------------------------------------------------------
// Host data: dense row-major in the window's dtype and sizes.
TPT_MUST_USE tpt_status_t tpt_tensor_upload(const tpt_tensor_t* window, const void* data);
TPT_MUST_USE tpt_status_t tpt_tensor_download(const tpt_tensor_t* window, void* data);
// dst window = src window converted and broadcast; on different devices too. Overlap is safe.
TPT_MUST_USE tpt_status_t tpt_tensor_copy(const tpt_tensor_t* dst, const tpt_tensor_t* src);

// --- calls -------------------------------------------------------------------------------------------
typedef enum tpt_variant {
  TPT_FUNCTIONAL,  // new results
  TPT_INPLACE,     // result k is written to the k-th mutated argument: args[inplace_args[k]]
} tpt_variant_t;

typedef struct tpt_generator tpt_generator_t;

typedef struct tpt_call {
  const tpt_op_t* op;
  tpt_variant_t variant;
  const tpt_arg_t* args;
  int arg_count;
  const int* inplace_args;  // TPT_INPLACE: argument numbers (Tensor or Tensor[]), in result order
  int inplace_count;
  int device;
  tpt_dtype_t default_dtype;
  tpt_generator_t* generator;  // (optional) NULL: the device's default
  // (optional) Python line that issued the call; kept by the caller for the process. line 0: a phrase.
  const char* file;
  int line;
} tpt_call_t;

// A new tensor. storage is owned by the receiver (NULL: an undefined tensor); sizes and strides are
// borrowed until the thread's next call.
typedef struct tpt_result {
  tpt_storage_t* storage;
  tpt_dtype_t dtype;
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
} tpt_result_t;

// Runs an op. Plain results into *out_results (borrowed array until the thread's next call).
// Codes: INVALID_ARGUMENT (RuntimeError), OUT_OF_RANGE (IndexError), UNIMPLEMENTED
// (NotImplementedError: the caller may fall back), RESOURCE_EXHAUSTED (OutOfMemoryError).
TPT_MUST_USE tpt_status_t tpt_call_run(const tpt_call_t* call, tpt_result_t** out_results,
                                       int* out_count);

// What a row's writes may share with its reads, as PyTorch's CPU kernels have it.
typedef enum tpt_overlap_rule {
  TPT_OVERLAP_ANY,
  TPT_OVERLAP_NOT_PARTIAL,  // the same window or none of it
  TPT_OVERLAP_NONE,
  TPT_OVERLAP_LISTS,  // item by item; see tpt_overlap_check_lists
} tpt_overlap_rule_t;
tpt_overlap_rule_t tpt_op_overlap_rule(const tpt_op_t* op);
// INVALID_ARGUMENT if `written` shares with a tensor argument (other than skipped_arg; -1: none) what the
// rule forbids.
TPT_MUST_USE tpt_status_t tpt_overlap_check(tpt_overlap_rule_t rule, const tpt_tensor_t* written,
                                            const tpt_arg_t* args, int arg_count, int skipped_arg);
// The same for an in-place call on lists. UNIMPLEMENTED if items of different numbers share memory: then
// their order matters, and one program has none.
TPT_MUST_USE tpt_status_t tpt_overlap_check_lists(const tpt_call_t* call);

// The Python line of this thread's uploads and copies from now on (a call says its own); file as in
// tpt_call_t. line 0: `file` is a phrase ("the backward of MulBackward0").
void tpt_site_set(const char* file, int line);

// --- programs ----------------------------------------------------------------------------------------
// Many calls recorded once and run as one program. Between begin and end (or cancel) the calling
// thread's calls on the device are recorded instead of run: the tensors they return have types and no
// values, and whatever needs a value (a download, .item()) is FAILED_PRECONDITION. The recorded calls may
// use the placeholders of tpt_capture_input, what was made from them, and other tensors of the device: of
// those the program keeps the values that they have now.
// Captures of a thread nest: the calls go to the innermost one, the programs of control flow are made so.
typedef struct tpt_program tpt_program_t;
TPT_MUST_USE tpt_status_t tpt_capture_begin(int device);
// A tensor that stands for the next input: sizes and dtype of `like`, its strides when they are dense (in
// any order of dimensions) and contiguous ones otherwise, offset 0, a storage of its own. like->storage is
// not read. Result as of tpt_call_run.
TPT_MUST_USE tpt_status_t tpt_capture_input(int device, const tpt_tensor_t* like,
                                            tpt_result_t* out_result);
// Ends the recording. outputs: windows on anything the recorded calls made or were given (flag
// TPT_TENSOR_NONE: an undefined output). A placeholder that was written is an input that the program
// writes back to. Nothing is compiled yet. The recording ends on failure, too.
TPT_MUST_USE tpt_status_t tpt_capture_end(int device, const tpt_tensor_t* outputs, int output_count,
                                          tpt_program_t** out_program);
void tpt_capture_cancel(int device);
bool tpt_capture_is_active(void);  // on this thread
// The thread's captured calls draw from here on as if they began with a state (of tpt_random_state) and
// take nothing from the generator's stream; NULL: from the generator again. Draws from one state go on
// where the last ones from it ended.
TPT_MUST_USE tpt_status_t tpt_capture_draw_from(int device, const tpt_tensor_t* state);
void tpt_program_release(tpt_program_t* take_program);  // NULL is legal
// What errors, dumps and the compile log call it (copied). Before: "program".
TPT_MUST_USE tpt_status_t tpt_program_set_name(tpt_program_t* program, const char* name);
// Runs on inputs with the sizes, strides and dtypes of the placeholders, in their order
// (INVALID_ARGUMENT otherwise); where they lie in their storages is free and never part of the program.
// Compiles once per device and memory order of the inputs' storages. Results as of tpt_call_run, dense,
// in the outputs' strides (an output that is an untouched whole input shares its value). Random numbers
// continue the generator's stream (NULL: the device's default) as the same calls would one by one.
TPT_MUST_USE tpt_status_t tpt_program_run(tpt_program_t* program, const tpt_tensor_t* inputs,
                                          int input_count, tpt_generator_t* generator,
                                          tpt_result_t** out_results, int* out_count);

// Control flow over captured programs, run (or recorded) as one call. IF: operands[0] is the predicate
// (0-d bool), programs are then and else of the other operands. WHILE: programs are condition (one 0-d
// bool) and body; the body's results are the next first operands. Results as of tpt_call_run. UNIMPLEMENTED
// for programs that write their inputs, and for conditions that draw random numbers. What branches and bodies
// draw continues the stream: the device counts it.
typedef enum tpt_control_kind { TPT_CONTROL_IF, TPT_CONTROL_WHILE } tpt_control_kind_t;
TPT_MUST_USE tpt_status_t tpt_control_run(tpt_control_kind_t kind, tpt_program_t* const* programs,
                                          const tpt_tensor_t* operands, int operand_count,
                                          tpt_result_t** out_results, int* out_count);

// The tensors themselves, in a program behind an optimization barrier: what is made of the results is not
// merged with what was made of the tensors, nor made before all of them are there. Results as of
// tpt_call_run.
TPT_MUST_USE tpt_status_t tpt_barrier(const tpt_tensor_t* tensors, int count,
                                      tpt_result_t** out_results, int* out_count);

// --- eager mode --------------------------------------------------------------------------------------
typedef enum tpt_eager_mode {
  TPT_EAGER_STRICT,  // a call is a launch
  TPT_EAGER_DEBUG,   // and is awaited
  TPT_EAGER_FUSED,   // calls gather in a window that becomes one program when a value is needed
} tpt_eager_mode_t;
// Process-wide. Leaving TPT_EAGER_FUSED runs what is pending first; its failure, if any.
TPT_MUST_USE tpt_status_t tpt_eager_mode_set(tpt_eager_mode_t mode);
tpt_eager_mode_t tpt_eager_mode_get(void);

// --- precision ---------------------------------------------------------------------------------------
// 0 default (one bf16 pass), 1 high (three), 2 highest (f32). Process-wide.
void tpt_precision_set(int precision);
int tpt_precision_get(void);

// --- random state ------------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt_generator_create(int device, tpt_generator_t** out_generator);
void tpt_generator_release(tpt_generator_t* take_generator);  // NULL is legal
tpt_generator_t* tpt_generator_default(int device);           // borrowed for the process
void tpt_generator_set(tpt_generator_t* generator, uint64_t seed, uint64_t offset);
// Waits for programs whose draws only the device can count (control flow).
void tpt_generator_get(tpt_generator_t* generator, uint64_t* out_seed, uint64_t* out_offset);
// The state that the thread's next draw on the device starts from, as a tensor: int64[4], low and high word
// of the seed, of the offset. A call like others, so that a capture records it.
TPT_MUST_USE tpt_status_t tpt_random_state(int device, tpt_result_t* out_result);

// --- memory and counters -----------------------------------------------------------------------------
typedef struct
    tpt_device_memory {  // bytes of live storages' buffers, as this process accounts them
  int64_t allocated, peak_allocated, limit;  // limit: 0 if unknown
  int64_t in_use;                            // as the plugin counts; `allocated` if it does not
  int64_t allocation_count, storage_count;   // ever made; alive
} tpt_device_memory_t;
TPT_MUST_USE tpt_status_t tpt_device_memory(int device, tpt_device_memory_t* out_memory);
void tpt_device_memory_reset_peak(int device);
// The live tensors of a device, largest first: one per value, though several storages may share it.
typedef struct tpt_live_tensor {
  int64_t size;       // bytes
  tpt_type_t type;    // as it lies in memory; dtype INVALID: not known yet
  bool has_value;     // false: made without one (torch.empty), no device memory is taken yet
  int storage_count;  // that share it
  const char* op;     // (optional) "add.Tensor"; NULL: an upload, or no value
  const char* file;   // (optional) the Python line that made it, as in tpt_call_t
  int line;
} tpt_live_tensor_t;
// *out_count: how many there are, also beyond capacity. Names are kept for the process, but those of
// programs until they are released.
TPT_MUST_USE tpt_status_t tpt_device_live_tensors(int device, tpt_live_tensor_t* out_tensors,
                                                  int capacity, int* out_count);
// Drops what the runtime keeps only for speed (value cache, temporary buffers).
void tpt_device_empty_cache(int device);

typedef struct tpt_counters {
  uint64_t calls, hits, compiles, fallbacks, launches, uploads, downloads;
  uint64_t donations, refused_donations;
  // Of the compiles: loaded from disk instead, looked for there in vain. Then what went wrong with the
  // disk cache, in this process; never an error.
  uint64_t disk_hits, disk_misses, disk_errors;
  uint64_t fused_windows;  // programs that fused mode ran
  double compile_seconds;
} tpt_counters_t;
void tpt_counters_get(tpt_counters_t* out_counters);
// A write in place that copied its whole tensor, because the old value had to stay.
typedef struct tpt_refused_donation {
  const char* op;      // "add_.Tensor" by its row
  const char* file;    // (optional) Python line of the call
  const char* reason;  // static
  int line;
  size_t size;  // bytes that were copied
} tpt_refused_donation_t;
enum { TPT_REFUSED_DONATION_MAX = 16 };
// The latest ones of all devices, oldest first; how many were written to out.
int tpt_refused_donations(tpt_refused_donation_t out[TPT_REFUSED_DONATION_MAX]);
void tpt_counters_reset(void);
// The first trouble of the disk cache in words, cut at text_size; "" when there was none.
void tpt_disk_trouble(char* text, int text_size);
// The adapter reports each op that ran on the CPU.
void tpt_counters_add_fallback(void);

// The last compiles and their reasons, oldest first.
typedef struct tpt_compile_info {
  char op[64];       // "add.Tensor"
  char reason[448];  // "new sizes (3, 5), was (3, 4), of argument self, in model.py:12"
  double seconds;
  int64_t program_size;  // characters of StableHLO
  uint64_t number;       // of the process's compiles, from 1
  int device;
  bool is_loaded;  // from the disk cache
} tpt_compile_info_t;
int tpt_compile_log_capacity(void);
int tpt_compile_log_get(tpt_compile_info_t* out_entries, int capacity);  // how many
void tpt_compile_log_clear(void);
// While held (counted, process-wide), a call that would have to be compiled fails with
// FAILED_PRECONDITION and the reason. A program that the disk cache has is loaded, as at any time.
void tpt_compile_guard_hold(void);
void tpt_compile_guard_drop(void);

// Debug mode on, or back to strict.
void tpt_blocking_set(bool blocking);
bool tpt_blocking_get(void);

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_RUNTIME_H_
