// What the files of the ABI side share: the objects behind the opaque handles and one function per
// entry of the table. An entry checks the args struct's size (plugin.c), then calls vtpu_slot_NAME,
// which answers a status; a PJRT_Error is a status under another name.
#ifndef TPUTORCH_VTPU_PLUGIN_H_
#define TPUTORCH_VTPU_PLUGIN_H_

#include "pjrt/pjrt_abi.h"
#include "vtpu/buffer.h"
#include "vtpu/chip.h"
#include "vtpu/code.h"
#include "vtpu/compile_options.h"
#include "vtpu/handle.h"

#define VTPU_VERSION       "0.1.0"
#define VTPU_PLATFORM_NAME "vtpu"

// vtpu_slot_Client_Create(PJRT_Client_Create_Args*) ... Declared for all entries; plugin.c makes those
// that vtpu lacks.
#define SLOT(number, name, result, fields)                                                         \
  TPT_MUST_USE tpt_status_t vtpu_slot_##name(PJRT_##name##_Args* args);
#include "pjrt/pjrt_slots.def"
#undef SLOT

static inline PJRT_Error* vtpu_error(tpt_status_t take_status) {
  return (PJRT_Error*)take_status;
}
static inline tpt_status_t vtpu_status(const PJRT_Error* error) {
  return (tpt_status_t)error;
}

// True if the caller's struct reaches past `field`.
#define VTPU_HAS(args, type, field) ((args)->struct_size >= PJRT_ABI_END(type, field))
// INVALID_ARGUMENT "NAME is NULL".
TPT_MUST_USE tpt_status_t vtpu_need(const void* pointer, const char* name);
// A status from a client's code, text and size; NULL for code 0.
TPT_MUST_USE tpt_status_t vtpu_status_from(int code, const char* message, size_t message_size);

// --- topology ---------------------------------------------------------------------------------------
enum { VTPU_ATTRIBUTE_COUNT = 4, VTPU_TEXT_SIZE = 160 };

struct PJRT_DeviceDescription {
  vtpu_handle_t handle;
  int id;
  const char* kind;
  char debug_text[VTPU_TEXT_SIZE], text[VTPU_TEXT_SIZE];
  vtpu_place_t place;
  PJRT_NamedValue attributes[VTPU_ATTRIBUTE_COUNT];
};

struct PJRT_TopologyDescription {
  vtpu_handle_t handle;
  vtpu_slice_t* slice;
  PJRT_DeviceDescription* descriptions;
  PJRT_DeviceDescription** list;
  PJRT_NamedValue* attributes;  // one
  char* platform_version;
  bool is_of_client;  // must not be destroyed by hand
};
// `take` nothing; the slice is copied.
TPT_MUST_USE tpt_status_t vtpu_topology_create(const vtpu_slice_t* slice,
                                               PJRT_TopologyDescription** out_topology);
void vtpu_topology_release(PJRT_TopologyDescription* take_topology);

// --- client -----------------------------------------------------------------------------------------
typedef struct vtpu_client vtpu_client_t;

struct PJRT_Memory {
  vtpu_handle_t handle;
  int id;
  PJRT_Device* device;
  char text[VTPU_TEXT_SIZE];
};

struct PJRT_Device {
  vtpu_handle_t handle;
  vtpu_client_t* client;
  vtpu_device_t* device;
  PJRT_DeviceDescription* description;
  PJRT_Memory memory;
  PJRT_Memory* memories[1];
  PJRT_Device* devices[1];  // itself: who reaches its memory
};

struct vtpu_client {
  _Atomic bool is_closed;  // its handle is gone; the last object frees it
  vtpu_client_t* next_closed;
  _Atomic int64_t object_count;  // executables and transfer managers
  int device_count;
  PJRT_TopologyDescription* topology;
  PJRT_Device* devices;
  PJRT_Device** device_list;
  PJRT_Memory** memory_list;
  tpt_pool_t *pool, *serial;
};

struct PJRT_Client {
  vtpu_handle_t handle;
  vtpu_client_t* client;
};

TPT_MUST_USE static inline tpt_status_t vtpu_client_check(const PJRT_Client* client) {
  return vtpu_handle_check(client, VTPU_HANDLE_CLIENT);
}
// Frees a closed client once its last buffer, executable and manager are gone; call after destroying
// one of them if vtpu_client_is_closed said so before. The client may be gone by then. On a worker
// thread (a callback that destroys the last buffer) nothing happens: a worker cannot end itself.
void vtpu_client_reap(vtpu_client_t* client);
static inline bool vtpu_client_is_closed(vtpu_client_t* client) {
  return atomic_load_explicit(&client->is_closed, memory_order_acquire);
}
static inline PJRT_Device* vtpu_device_owner(const vtpu_device_t* device) {
  return (PJRT_Device*)device->params.owner;
}
// The device that `device` or `memory` names (device 0 if both are NULL), checked to be the client's.
TPT_MUST_USE tpt_status_t vtpu_client_place(vtpu_client_t* client, PJRT_Device* device,
                                            PJRT_Memory* memory, vtpu_device_t** out_device);

typedef struct vtpu_client_options {
  const vtpu_chip_t* chip;
  int64_t devices, hbm, threads, inline_limit, keep;
  bool flush_subnormals, profile;
  double memory_fraction;
} vtpu_client_options_t;
// INVALID_ARGUMENT names an unknown option and the known ones, or the legal values of one.
TPT_MUST_USE tpt_status_t vtpu_client_options_parse(const PJRT_NamedValue* values, size_t count,
                                                    vtpu_client_options_t* out_options);

// --- executables --------------------------------------------------------------------------------------
// What an executable and its loaded form share. Constant once made, but for `queries`.
typedef struct vtpu_image {
  _Atomic uint32_t ref_count;
  vtpu_code_t* code;
  vtpu_compile_options_t options;
  char* options_data;  // the blob as it came
  size_t options_size;
  // --- tables that queries lend, made with the image
  PJRT_Buffer_Type* result_dtypes;
  int64_t* result_dims;  // all results' dimensions, one after the other
  size_t* result_ranks;
  const char** kinds;  // max(params, results) times "device"
  size_t* kind_sizes;
  PJRT_NamedValue costs[3];
  char fingerprint[33];
  bool has_fingerprint;
} vtpu_image_t;
TPT_MUST_USE tpt_status_t vtpu_image_compile(const char* text, size_t text_size,
                                             const char* options, size_t options_size,
                                             vtpu_image_t** out_image);
TPT_MUST_USE tpt_status_t vtpu_image_deserialize(const char* data, size_t size,
                                                 vtpu_image_t** out_image);
TPT_MUST_USE tpt_status_t vtpu_image_serialize(vtpu_image_t* image, char** out_data,
                                               size_t* out_size);
// 32 hexadecimal digits, borrowed; equal programs with equal options agree.
TPT_MUST_USE tpt_status_t vtpu_image_fingerprint(vtpu_image_t* image, const char** out_text);
vtpu_image_t* vtpu_image_retain(vtpu_image_t* image);
void vtpu_image_release(vtpu_image_t* take_image);
// Reads a PJRT_Program of format "mlir" in text form. UNIMPLEMENTED for bytecode and other formats.
TPT_MUST_USE tpt_status_t vtpu_program_compile_abi(const PJRT_Program* program, const char* options,
                                                   size_t options_size, vtpu_image_t** out_image);

struct PJRT_Executable {
  vtpu_handle_t handle;
  vtpu_image_t* image;
};

struct PJRT_LoadedExecutable {
  vtpu_handle_t handle;
  vtpu_image_t* image;
  vtpu_client_t* client;
  PJRT_Device* device;  // where it runs unless a call says otherwise
  _Atomic bool is_deleted;
};
TPT_MUST_USE tpt_status_t vtpu_executable_create(vtpu_image_t* take_image,
                                                 PJRT_Executable** out_executable);
TPT_MUST_USE tpt_status_t vtpu_loaded_create(vtpu_client_t* client, vtpu_image_t* take_image,
                                             PJRT_LoadedExecutable** out_executable);

// --- buffers and events -----------------------------------------------------------------------------
static inline vtpu_buffer_t* vtpu_buffer_of(PJRT_Buffer* buffer) {
  return (vtpu_buffer_t*)buffer;
}
static inline PJRT_Buffer* vtpu_buffer_handle(vtpu_buffer_t* buffer) {
  return (PJRT_Buffer*)buffer;
}
static inline vtpu_event_t* vtpu_event_of(PJRT_Event* event) {
  return (vtpu_event_t*)event;
}
// UNIMPLEMENTED unless the layout (NULL is legal) is dense and row-major.
TPT_MUST_USE tpt_status_t vtpu_layout_check(const tpt_type_t* type,
                                            const PJRT_Buffer_MemoryLayout* layout);
// Turns a reference into a hold of the client.
PJRT_Event* vtpu_event_hand_out(vtpu_event_t* take_event);

// A copy of bytes that a client holds until it calls the deleter; the holder, NULL when memory is out.
void* vtpu_bytes_create(const void* data, size_t size, const char** out_bytes);
void vtpu_bytes_release(void* take_holder);

#endif  // TPUTORCH_VTPU_PLUGIN_H_
