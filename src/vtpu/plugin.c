// The shared library's one exported function and its table: every entry of the ABI, each behind the
// check of its args struct's size. Knows no entry's meaning.
//
// Version: the table says 0.90 although all 138 entries of 0.114 stand in it, and its struct_size ends
// after the last entry of 0.90. From some minor above that clients expect PJRT_Error and PJRT_Memory
// to begin with tables of functions, which ours do not; every client known takes 0.81 to 0.117.
#include "vtpu/plugin.h"

enum { REPORTED_MINOR = 90, REPORTED_SLOTS = PJRT_SLOT_Event_Set + 1 };

// --- entries that vtpu lacks ----------------------------------------------------------------------------

#define UNIMPLEMENTED(name, reason)                                                                \
  tpt_status_t vtpu_slot_##name(PJRT_##name##_Args* args) {                                        \
    (void)args;                                                                                    \
    TPT_FAIL(TPT_UNIMPLEMENTED, "PJRT_" #name ": " reason);                                        \
  }
UNIMPLEMENTED(CopyToDeviceStream_Destroy, "vtpu makes no copy streams")
UNIMPLEMENTED(CopyToDeviceStream_AddChunk, "vtpu makes no copy streams")
UNIMPLEMENTED(CopyToDeviceStream_TotalBytes, "vtpu makes no copy streams")
UNIMPLEMENTED(CopyToDeviceStream_GranuleSize, "vtpu makes no copy streams")
UNIMPLEMENTED(CopyToDeviceStream_CurrentBytes, "vtpu makes no copy streams")
UNIMPLEMENTED(Client_CreateViewOfDeviceBuffer, "vtpu's programs use their own HBM only")
UNIMPLEMENTED(Client_UpdateGlobalProcessInfo, "vtpu is one process")
UNIMPLEMENTED(Client_CreateAliasBuffer, "vtpu has no alias buffers")
UNIMPLEMENTED(Client_FulfillAliasBuffer, "vtpu has no alias buffers")
UNIMPLEMENTED(Buffer_CopyRawToHostFuture, "use PJRT_Buffer_CopyRawToHost")
UNIMPLEMENTED(Device_PoisonExecution, "vtpu cannot poison launches")
UNIMPLEMENTED(Buffer_DonateWithControlDependency, "vtpu donates by launches only")
UNIMPLEMENTED(Buffer_Bitcast, "vtpu has no views of buffers")
UNIMPLEMENTED(TopologyDescription_MakeCanonicalShapeForMemorySpace, "vtpu has one layout")
#undef UNIMPLEMENTED

// --- sizes ------------------------------------------------------------------------------------------------

// Structs that grew: the last field that an entry cannot do without. All others must be whole.
#define LAST(name, field) [PJRT_SLOT_##name] = PJRT_ABI_END(PJRT_##name##_Args, field)
static const size_t least_sizes[PJRT_SLOT_COUNT] = {
    LAST(Client_Create, client),
    LAST(Device_MemoryStats, peak_pool_bytes_is_set),
    LAST(Executable_GetCompiledMemoryStats, temp_size_in_bytes),
    LAST(Executable_DeserializeAndLoad, loaded_executable),
    LAST(Client_CreateErrorBuffer, buffer),
};
#undef LAST

static tpt_status_t short_struct(const size_t* struct_size, const char* name, size_t expected) {
  if (!struct_size) TPT_FAIL(TPT_INVALID_ARGUMENT, "PJRT_%s: args is NULL", name);
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "Unexpected PJRT_%s_Args size: expected %zu, got %zu. Check installed software versions",
           name, expected, *struct_size);
}

static inline tpt_status_t check_size(const size_t* struct_size, const char* name,
                                      size_t expected) {
  if (__builtin_expect(struct_size && *struct_size >= expected, 1)) return NULL;
  return short_struct(struct_size, name, expected);
}

// --- the table --------------------------------------------------------------------------------------------

// An error of Error_Destroy or Error_Message, which cannot return one, is dropped by discard.
static inline void* discard(tpt_status_t take_status, bool is_void) {
  if (is_void) tpt_status_release(take_status);
  return is_void ? NULL : take_status;
}

#define SLOT(number, name, result, fields)                                                         \
  static result enter_##name(PJRT_##name##_Args* args) {                                           \
    size_t expected =                                                                              \
        least_sizes[number] ? least_sizes[number] : (size_t)PJRT_##name##_Args_STRUCT_SIZE;        \
    tpt_status_t status = check_size(args ? &args->struct_size : NULL, #name, expected);           \
    if (!status) status = vtpu_slot_##name(args);                                                  \
    return (result)discard(status, (number) <= PJRT_SLOT_Error_Message);                           \
  }
#include "pjrt/pjrt_slots.def"
#undef SLOT

__attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi(void);

const PJRT_Api* GetPjrtApi(void) {
  static const PJRT_Api api = {
      .struct_size = offsetof(PJRT_Api, PJRT_Error_Destroy) + REPORTED_SLOTS * sizeof(void*),
      .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                           .major_version = PJRT_ABI_MAJOR,
                           .minor_version = REPORTED_MINOR},
#define SLOT(number, name, result, fields) .PJRT_##name = enter_##name,
#include "pjrt/pjrt_slots.def"
#undef SLOT
  };
  return &api;
}
