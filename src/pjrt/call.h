// Calls into a plugin: the plugin's body and the one door to its entry points. Knows the ABI and
// status; must not know clients, buffers or programs.
//
// Invariant: `api` holds NULL for every entry that the plugin lacks (absent, or past its
// struct_size), so one test gates a call, and an error becomes a status in one place.
#ifndef TPUTORCH_PJRT_CALL_H_
#define TPUTORCH_PJRT_CALL_H_

#include "tputorch/status.h"

#include "pjrt/client.h"
#include "pjrt/pjrt_abi.h"

struct tpt_plugin {
  PJRT_Api api;   // a copy, cut at what the plugin has
  char* path;     // as first given; owned
  void* library;  // dlopen handle, never closed
  struct tpt_plugin* next;
};

// Copies a plugin's table into `plugin`. FAILED_PRECONDITION when its version cannot be spoken.
TPT_MUST_USE tpt_status_t tpt__plugin_bind(tpt_plugin_t* plugin, const PJRT_Api* api);

// Turns an error of the plugin into a status that names the entry point, and frees it; NULL stays
// NULL.
TPT_MUST_USE tpt_status_t tpt__plugin_status(const tpt_plugin_t* plugin, PJRT_Slot slot,
                                             PJRT_Error* take_error);
// UNIMPLEMENTED: the plugin has no such entry point.
TPT_MUST_USE tpt_status_t tpt__plugin_lacks(const tpt_plugin_t* plugin, PJRT_Slot slot);
// "PJRT_Client_Create". Static.
const char* tpt__slot_name(PJRT_Slot slot);

// Calls PJRT_<name> with a zeroed args struct whose inputs are set; evaluates to a status.
#define TPT_PJRT_CALL(plugin, name, args)                                                          \
  ((plugin)->api.PJRT_##name                                                                       \
       ? ((args)->struct_size = PJRT_##name##_Args_STRUCT_SIZE,                                    \
          tpt__plugin_status((plugin), PJRT_SLOT_##name, (plugin)->api.PJRT_##name(args)))         \
       : tpt__plugin_lacks((plugin), PJRT_SLOT_##name))

// Waits for an event and destroys it; the failure that it carries, named after `slot`. NULL is
// legal.
TPT_MUST_USE tpt_status_t tpt__event_finish(const tpt_plugin_t* plugin, PJRT_Slot slot,
                                            PJRT_Event* take_event);
// The same without waiting: an event that is not ready yet is dropped.
TPT_MUST_USE tpt_status_t tpt__event_drop(const tpt_plugin_t* plugin, PJRT_Slot slot,
                                          PJRT_Event* take_event);

#endif  // TPUTORCH_PJRT_CALL_H_
