// The table products of the PJRT C ABI: slot numbers, one args struct and struct size per row of
// pjrt_slots.def, function tables of objects, and PJRT_Api. Part of pjrt_abi.h, which includes it
// last.
#ifndef TPUTORCH_PJRT_PJRT_ABI_API_H_
#define TPUTORCH_PJRT_PJRT_ABI_API_H_

#include "pjrt/pjrt_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// PJRT_SLOT_Client_Create = 10 ...; PJRT_SLOT_COUNT = 138.
typedef enum PJRT_Slot {
#define SLOT(number, name, result, fields) PJRT_SLOT_##name = number,
#include "pjrt/pjrt_slots.def"
#undef SLOT
  PJRT_SLOT_COUNT,
} PJRT_Slot;

// PJRT_X_Args, and PJRT_X_Args_STRUCT_SIZE: where a byte that followed the last field would stand.
#define IN(type, name)  type name;
#define OUT(type, name) type name;
#define NO_FIELDS
#define SLOT(number, name, result, fields)                                                         \
  typedef struct PJRT_##name##_Args {                                                              \
    size_t struct_size;                                                                            \
    PJRT_Extension_Base* extension_start;                                                          \
    fields                                                                                         \
  } PJRT_##name##_Args;                                                                            \
  struct PJRT_##name##_Extent {                                                                    \
    size_t struct_size;                                                                            \
    PJRT_Extension_Base* extension_start;                                                          \
    fields char end;                                                                               \
  };                                                                                               \
  enum { PJRT_##name##_Args_STRUCT_SIZE = offsetof(struct PJRT_##name##_Extent, end) };
#include "pjrt/pjrt_slots.def"
#undef SLOT
#undef NO_FIELDS
#undef OUT
#undef IN

// The entry points. `struct_size` tells how many there are.
typedef struct PJRT_Api {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Api_Version pjrt_api_version;
#define SLOT(number, name, result, fields) result (*PJRT_##name)(PJRT_##name##_Args * args);
#include "pjrt/pjrt_slots.def"
#undef SLOT
} PJRT_Api;

// What a plugin exports, under exactly this name.
typedef const PJRT_Api* (*PJRT_GetPjrtApi)(void);

// First member of a plugin's PJRT_Error (0.112 and later).
typedef struct PJRT_Error_FunctionTable {
  size_t struct_size;
  size_t instance_size;
  PJRT_Extension_Base* extension_start;
  void (*destroy)(PJRT_Error* error);
  void (*message)(const PJRT_Error* error, const char** message, size_t* message_size);
  PJRT_Error_Code (*get_code)(const PJRT_Error* error);
  void (*for_each_payload)(const PJRT_Error* error, PJRT_Error_PayloadVisitor visitor,
                           void* user_arg);
} PJRT_Error_FunctionTable;

// First member of a plugin's PJRT_Memory (0.112 and later).
typedef struct PJRT_Memory_FunctionTable {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  size_t instance_struct_size;
  void* (*get_user_data)(PJRT_Memory* memory, const void* key);
  void (*set_user_data)(PJRT_Memory* memory, const void* key, void* data, void (*destroy)(void*));
} PJRT_Memory_FunctionTable;

enum {
  PJRT_Extension_Base_STRUCT_SIZE = PJRT_ABI_END(PJRT_Extension_Base, next),
  PJRT_Api_STRUCT_SIZE = sizeof(PJRT_Api),
  PJRT_Api_Version_STRUCT_SIZE = PJRT_ABI_END(PJRT_Api_Version, minor_version),
  PJRT_NamedValue_STRUCT_SIZE = PJRT_ABI_END(PJRT_NamedValue, value_size),
  PJRT_Program_STRUCT_SIZE = PJRT_ABI_END(PJRT_Program, format_size),
  PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_Buffer_MemoryLayout_Tiled, num_tiles),
  PJRT_Buffer_MemoryLayout_Strides_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_Buffer_MemoryLayout_Strides, num_byte_strides),
  PJRT_Buffer_MemoryLayout_STRUCT_SIZE = PJRT_ABI_END(PJRT_Buffer_MemoryLayout, type),
  PJRT_ShapeSpec_STRUCT_SIZE = PJRT_ABI_END(PJRT_ShapeSpec, element_type),
  PJRT_ProcessInfo_STRUCT_SIZE = PJRT_ABI_END(PJRT_ProcessInfo, error_message_size),
  PJRT_LoadOptions_STRUCT_SIZE = PJRT_ABI_END(PJRT_LoadOptions, multi_slice_config),
  PJRT_ExecuteOptions_STRUCT_SIZE = PJRT_ABI_END(PJRT_ExecuteOptions, num_hlo_output_callbacks),
  PJRT_KeyValueGetCallback_Args_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_KeyValueGetCallback_Args, value_deleter_callback),
  PJRT_KeyValueTryGetCallback_Args_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_KeyValueTryGetCallback_Args, value_deleter_callback),
  PJRT_KeyValuePutCallback_Args_STRUCT_SIZE = PJRT_ABI_END(PJRT_KeyValuePutCallback_Args, user_arg),
  PJRT_Buffer_CopyRawToHostFuture_Callback_Args_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_Buffer_CopyRawToHostFuture_Callback_Args, dst),
  PJRT_Buffer_DonateWithControlDependency_Callback_Args_STRUCT_SIZE =
      PJRT_ABI_END(PJRT_Buffer_DonateWithControlDependency_Callback_Args, error_message_size),
  PJRT_Error_FunctionTable_STRUCT_SIZE = PJRT_ABI_END(PJRT_Error_FunctionTable, for_each_payload),
  PJRT_Memory_FunctionTable_STRUCT_SIZE = PJRT_ABI_END(PJRT_Memory_FunctionTable, set_user_data),
};

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_PJRT_PJRT_ABI_API_H_
