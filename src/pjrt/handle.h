// Bodies of the counted objects of the PJRT layer. Private to src/pjrt.
//
// Invariant: a buffer or an executable keeps its client alive, so any order of release is right.
#ifndef TPUTORCH_PJRT_HANDLE_H_
#define TPUTORCH_PJRT_HANDLE_H_

#include <stdatomic.h>

#include "pjrt/call.h"

typedef struct tpt_client_device {
  PJRT_Device* device;  // owned by the plugin's client
  char* kind;           // owned
} tpt_client_device_t;

struct tpt_client {
  atomic_int references;
  tpt_plugin_t* plugin;
  PJRT_Client* client;
  char* platform_name;
  char* platform_version;
  tpt_client_device_t* devices;  // addressable ones, in the plugin's order
  int device_count;
  bool wants_host_layout;  // reads must say row-major, else they get the device's own layout
};

struct tpt_executable {
  atomic_int references;
  tpt_client_t* client;
  PJRT_LoadedExecutable* loaded;
  PJRT_Executable* executable;
  int result_count;
};

struct tpt_buffer {
  atomic_int references;
  tpt_client_t* client;
  PJRT_Buffer* buffer;
};

static inline tpt_client_t* tpt__client_retain(tpt_client_t* client) {
  atomic_fetch_add_explicit(&client->references, 1, memory_order_relaxed);
  return client;
}
// True when the last reference is gone.
static inline bool tpt__reference_drop(atomic_int* references) {
  return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

// OUT_OF_RANGE unless 0 <= device < device_count.
TPT_MUST_USE tpt_status_t tpt__client_check_device(const tpt_client_t* client, int device);

// Appends the serialized options that every program is compiled with.
TPT_MUST_USE tpt_status_t tpt__client_compile_options(const tpt_client_t* client, tpt_str_t* out);

// Wraps a buffer of the plugin, which belongs to the wrapper then, and is destroyed on failure.
TPT_MUST_USE tpt_status_t tpt__buffer_wrap(tpt_client_t* client, PJRT_Buffer* take_buffer,
                                           tpt_buffer_t** out_buffer);

#endif  // TPUTORCH_PJRT_HANDLE_H_
