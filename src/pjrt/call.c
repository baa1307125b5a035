// Calls into a plugin: gating, and the mapping from a plugin's error to a status, once for all.
#include "pjrt/call.h"

#include <string.h>

#include "base/str.h"

enum { OLDEST_MINOR = 57 };  // before that the fields of PJRT_Api stood in another order

#define SLOT(number, name, result, fields)                                                         \
  _Static_assert(offsetof(PJRT_Api, PJRT_##name) == 40 + 8 * (number), "PJRT_" #name);
#include "pjrt/pjrt_slots.def"
#undef SLOT

static const char* const slot_names[PJRT_SLOT_COUNT] = {
#define SLOT(number, name, result, fields) "PJRT_" #name,
#include "pjrt/pjrt_slots.def"
#undef SLOT
};

const char* tpt__slot_name(PJRT_Slot slot) {
  return (unsigned)slot < PJRT_SLOT_COUNT ? slot_names[slot] : "PJRT_?";
}

tpt_status_t tpt__plugin_bind(tpt_plugin_t* plugin, const PJRT_Api* api) {
  if (!api || api->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy)) {
    TPT_FAIL(TPT_FAILED_PRECONDITION, "%s: GetPjrtApi gave no usable table", plugin->path);
  }
  int major = api->pjrt_api_version.major_version, minor = api->pjrt_api_version.minor_version;
  if (major != PJRT_ABI_MAJOR || minor < OLDEST_MINOR) {
    TPT_FAIL(
        TPT_FAILED_PRECONDITION,
        "%s speaks PJRT C API %d.%d; this build speaks %d.%d and accepts %d.%d or later of the "
        "same major version",
        plugin->path, major, minor, PJRT_ABI_MAJOR, PJRT_ABI_MINOR, PJRT_ABI_MAJOR, OLDEST_MINOR);
  }
  memset(&plugin->api, 0, sizeof(plugin->api));
  // Whole entries only: a table that ends inside an entry does not have it.
  size_t size = api->struct_size & ~(size_t)(sizeof(void*) - 1);
  memcpy(&plugin->api, api, size < sizeof(plugin->api) ? size : sizeof(plugin->api));
  return NULL;
}

tpt_status_t tpt__plugin_lacks(const tpt_plugin_t* plugin, PJRT_Slot slot) {
  TPT_FAIL(TPT_UNIMPLEMENTED, "%s (PJRT C API %d.%d) has no %s", plugin->path,
           plugin->api.pjrt_api_version.major_version, plugin->api.pjrt_api_version.minor_version,
           tpt__slot_name(slot));
}

static tpt_code_t error_code(const tpt_plugin_t* plugin, const PJRT_Error* error) {
  PJRT_Error_GetCode_Args args = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                  .error = error};
  if (!plugin->api.PJRT_Error_GetCode) return TPT_UNKNOWN;
  PJRT_Error* second = plugin->api.PJRT_Error_GetCode(&args);
  if (second) {  // an error about an error: free it, ask nothing more
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = second};
    if (plugin->api.PJRT_Error_Destroy) plugin->api.PJRT_Error_Destroy(&destroy);
    return TPT_UNKNOWN;
  }
  int code = (int)args.code;
  return code >= TPT_CANCELLED && code <= TPT_UNAUTHENTICATED ? (tpt_code_t)code : TPT_UNKNOWN;
}

static tpt_status_t __attribute__((noinline))
status_of_error(const tpt_plugin_t* plugin, PJRT_Slot slot, PJRT_Error* take_error) {
  tpt_code_t code = error_code(plugin, take_error);
  PJRT_Error_Message_Args message = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                     .error = take_error};
  if (plugin->api.PJRT_Error_Message) plugin->api.PJRT_Error_Message(&message);
  size_t size = message.message ? message.message_size : 0;
  while (size > 0 && (message.message[size - 1] == '\n' || message.message[size - 1] == ' '))
    size--;
  tpt_status_t status =
      size > 0 ? tpt_status_make(code, __FILE__, __LINE__, "%.*s",
                                 (int)(size < 1 << 20 ? size : 1 << 20), message.message)
               : tpt_status_make(code, __FILE__, __LINE__, "the plugin gave no message");
  PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                     .error = take_error};
  if (plugin->api.PJRT_Error_Destroy) plugin->api.PJRT_Error_Destroy(&destroy);
  return tpt_status_note(status, "calling %s", tpt__slot_name(slot));
}

tpt_status_t tpt__plugin_status(const tpt_plugin_t* plugin, PJRT_Slot slot,
                                PJRT_Error* take_error) {
  if (__builtin_expect(!take_error, 1)) return NULL;
  return status_of_error(plugin, slot, take_error);
}

static void event_destroy(const tpt_plugin_t* plugin, PJRT_Event* take_event) {
  PJRT_Event_Destroy_Args args = {.event = take_event};
  tpt_status_release(TPT_PJRT_CALL(plugin, Event_Destroy, &args));
}

tpt_status_t tpt__event_finish(const tpt_plugin_t* plugin, PJRT_Slot slot, PJRT_Event* take_event) {
  if (!take_event) return NULL;
  PJRT_Event_Await_Args args = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE,
                                .event = take_event};
  tpt_status_t status = plugin->api.PJRT_Event_Await
                            ? tpt__plugin_status(plugin, slot, plugin->api.PJRT_Event_Await(&args))
                            : tpt__plugin_lacks(plugin, PJRT_SLOT_Event_Await);
  event_destroy(plugin, take_event);
  return status;
}

tpt_status_t tpt__event_drop(const tpt_plugin_t* plugin, PJRT_Slot slot, PJRT_Event* take_event) {
  if (!take_event) return NULL;
  PJRT_Event_IsReady_Args ready = {.event = take_event};
  tpt_status_t status = TPT_PJRT_CALL(plugin, Event_IsReady, &ready);
  if (!status && ready.is_ready && plugin->api.PJRT_Event_Error) {
    PJRT_Event_Error_Args args = {.struct_size = PJRT_Event_Error_Args_STRUCT_SIZE,
                                  .event = take_event};
    status = tpt__plugin_status(plugin, slot, plugin->api.PJRT_Event_Error(&args));
  }
  event_destroy(plugin, take_event);
  return status;
}
