// PJRT client: loads any plugin by path and wraps the objects the runtime needs. The only code that
// calls a plugin. Reference-counted: client, buffer, executable, event. Thread-safe unless said.
#ifndef TPUTORCH_PJRT_CLIENT_H_
#define TPUTORCH_PJRT_CLIENT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"
#include "tputorch/type.h"

#include "base/str.h"

typedef struct tpt_plugin tpt_plugin_t;  // lives for the process
typedef struct tpt_client tpt_client_t;
typedef struct tpt_executable tpt_executable_t;
typedef struct tpt_buffer tpt_buffer_t;
typedef struct tpt_event tpt_event_t;

// --- plugin --------------------------------------------------------------------------------------
// dlopen (RTLD_NOW | RTLD_LOCAL), GetPjrtApi, version check, Plugin_Initialize. Loading the same path
// again returns the same plugin. NOT_FOUND / FAILED_PRECONDITION name the path, and both versions.
TPT_MUST_USE tpt_status_t tpt_plugin_load(const char* path, tpt_plugin_t** out_plugin);
const char* tpt_plugin_path(const tpt_plugin_t* plugin);
void tpt_plugin_version(const tpt_plugin_t* plugin, int* out_major, int* out_minor);

// --- client --------------------------------------------------------------------------------------
typedef struct tpt_named_value {  // create option; text NULL: the integer
  const char* name;
  const char* text;
  int64_t integer;
} tpt_named_value_t;
TPT_MUST_USE tpt_status_t tpt_client_create(tpt_plugin_t* plugin, const tpt_named_value_t* options,
                                            int option_count, tpt_client_t** out_client);
void tpt_client_release(tpt_client_t* take_client);
const char* tpt_client_platform_name(const tpt_client_t* client);            // borrowed
const char* tpt_client_platform_version(const tpt_client_t* client);         // borrowed
int tpt_client_device_count(const tpt_client_t* client);                     // addressable
const char* tpt_client_device_kind(const tpt_client_t* client, int device);  // "TPU v5e"; borrowed

// Appends everything that a compiled program depends on besides its text: the plugin's code and version,
// its devices, compile options and flags, this machine's processor. Equal bytes: an executable that one
// client serialized is good for the other.
TPT_MUST_USE tpt_status_t tpt_client_identity(const tpt_client_t* client, tpt_str_t* out_text);

typedef struct tpt_memory_stats {  // bytes; -1 where the plugin does not say
  int64_t in_use, peak_in_use, limit, largest_free, alloc_count;
} tpt_memory_stats_t;
// UNIMPLEMENTED on plugins without statistics.
TPT_MUST_USE tpt_status_t tpt_client_memory_stats(tpt_client_t* client, int device,
                                                  tpt_memory_stats_t* out);

// --- executables ---------------------------------------------------------------------------------
// Compiles StableHLO text as a portable executable of one replica and one partition.
TPT_MUST_USE tpt_status_t tpt_client_compile(tpt_client_t* client, const char* text,
                                             size_t text_size, tpt_executable_t** out_executable);
TPT_MUST_USE tpt_status_t tpt_executable_serialize(tpt_executable_t* executable, void** out_bytes,
                                                   size_t* out_size);  // free with tpt_free
TPT_MUST_USE tpt_status_t tpt_client_deserialize(tpt_client_t* client, const void* bytes,
                                                 size_t size, tpt_executable_t** out_executable);
// Appends the plugin's own account of how the program runs, as text. UNIMPLEMENTED where the plugin
// has none (all but vtpu).
TPT_MUST_USE tpt_status_t tpt_executable_plan(tpt_executable_t* executable, tpt_str_t* out_text);
void tpt_executable_release(tpt_executable_t* take_executable);
int tpt_executable_result_count(const tpt_executable_t* executable);

// Enqueues a run on `device`. args borrowed; results receives result_count owned buffers. Arguments
// in `keep` (sorted numbers) are not donated even where the program aliases them; a donated buffer
// is dead after success. Returns at once; errors found later travel with the result buffers.
typedef struct tpt_run_params {
  int device;
  tpt_buffer_t* const* args;
  int arg_count;
  const int64_t* keep;
  int keep_count;
} tpt_run_params_t;
TPT_MUST_USE tpt_status_t tpt_executable_run(tpt_executable_t* executable,
                                             const tpt_run_params_t* params,
                                             tpt_buffer_t** results);

// --- buffers -------------------------------------------------------------------------------------
// Copies dense row-major host data to the device; the host memory is free again on return.
TPT_MUST_USE tpt_status_t tpt_buffer_from_host(tpt_client_t* client, int device,
                                               const tpt_type_t* type, const void* data,
                                               tpt_buffer_t** out_buffer);
// Waits for the buffer and copies it out as dense row-major data; size must be its size.
TPT_MUST_USE tpt_status_t tpt_buffer_to_host(tpt_buffer_t* buffer, void* data, size_t size);
// Waits until the buffer's value exists; the failure that made it, if any.
TPT_MUST_USE tpt_status_t tpt_buffer_await(tpt_buffer_t* buffer);
bool tpt_buffer_is_ready(tpt_buffer_t* buffer);
// A copy on another device of the client.
TPT_MUST_USE tpt_status_t tpt_buffer_copy_to_device(tpt_buffer_t* buffer, int device,
                                                    tpt_buffer_t** out_buffer);
// Element type and dimensions, asked from the plugin.
TPT_MUST_USE tpt_status_t tpt_buffer_type(tpt_buffer_t* buffer, tpt_type_t* out_type);
// Device bytes, as the plugin counts them.
TPT_MUST_USE tpt_status_t tpt_buffer_size(tpt_buffer_t* buffer, size_t* out_size);
tpt_buffer_t* tpt_buffer_retain(tpt_buffer_t* buffer);
// Waits until the buffer is ready, at most `seconds`; the buffer's own failure is not looked at. Plugins
// without callbacks wait to the end.
TPT_MUST_USE tpt_status_t tpt_buffer_wait_for(tpt_buffer_t* buffer, double seconds,
                                              bool* out_is_ready);
bool tpt_buffer_is_shared(const tpt_buffer_t* buffer);  // more than one reference
void tpt_buffer_release(tpt_buffer_t* take_buffer);     // NULL is legal

#endif  // TPUTORCH_PJRT_CLIENT_H_
