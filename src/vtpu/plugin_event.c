// Entries PJRT_Error_* and PJRT_Event_*. A PJRT_Error is a status; a PJRT_Event is an event of which
// the client holds a counted claim. Every error handed out is the receiver's own.
#include <string.h>

#include "base/allocator.h"
#include "vtpu/plugin.h"

tpt_status_t vtpu_need(const void* pointer, const char* name) {
  if (!pointer) TPT_FAIL(TPT_INVALID_ARGUMENT, "%s is NULL", name);
  return NULL;
}

tpt_status_t vtpu_status_from(int code, const char* message, size_t message_size) {
  if (code == TPT_OK) return NULL;
  if (code < 0 || code > TPT_UNAUTHENTICATED) code = TPT_UNKNOWN;
  if (!message) message_size = 0;
  return tpt_status_make((tpt_code_t)code, __FILE__, __LINE__, "%.*s",
                         message_size < 4000 ? (int)message_size : 4000, message ? message : "");
}

// --- errors -----------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Error_Destroy(PJRT_Error_Destroy_Args* args) {
  tpt_status_release(vtpu_status(args->error));
  return NULL;
}

tpt_status_t vtpu_slot_Error_Message(PJRT_Error_Message_Args* args) {
  args->message = tpt_status_message(vtpu_status(args->error));
  args->message_size = strlen(args->message);
  return NULL;
}

tpt_status_t vtpu_slot_Error_GetCode(PJRT_Error_GetCode_Args* args) {
  TPT_TRY(vtpu_need(args->error, "error"));
  args->code = (PJRT_Error_Code)tpt_status_code(vtpu_status(args->error));
  return NULL;
}

// Errors of vtpu carry no payloads.
tpt_status_t vtpu_slot_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args* args) {
  return vtpu_need(args->error, "error");
}

// --- events -----------------------------------------------------------------------------------------

PJRT_Event* vtpu_event_hand_out(vtpu_event_t* event) {
  vtpu_event_lend(event);
  vtpu_event_release(event);
  return (PJRT_Event*)event;
}

tpt_status_t vtpu_slot_Event_Destroy(PJRT_Event_Destroy_Args* args) {
  return vtpu_event_give_back(vtpu_event_of(args->event));
}

tpt_status_t vtpu_slot_Event_IsReady(PJRT_Event_IsReady_Args* args) {
  TPT_TRY(vtpu_event_check(vtpu_event_of(args->event)));
  args->is_ready = vtpu_event_get_state(vtpu_event_of(args->event)) != VTPU_EVENT_PENDING;
  return NULL;
}

tpt_status_t vtpu_slot_Event_Error(PJRT_Event_Error_Args* args) {
  vtpu_event_t* event = vtpu_event_of(args->event);
  TPT_TRY(vtpu_event_check(event));
  if (vtpu_event_get_state(event) == VTPU_EVENT_PENDING)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "Event_Error: the event is not ready; await it first");
  return tpt_status_clone(vtpu_event_error(event));
}

tpt_status_t vtpu_slot_Event_Await(PJRT_Event_Await_Args* args) {
  vtpu_event_t* event = vtpu_event_of(args->event);
  TPT_TRY(vtpu_event_check(event));
  return tpt_status_clone(vtpu_event_await(event));
}

typedef struct client_callback {
  PJRT_Event_OnReadyCallback callback;
  void* user_arg;
} client_callback_t;

static void call_client(tpt_status_t status, void* arg) {
  client_callback_t* c = arg;
  client_callback_t copy = *c;
  tpt_free(c);
  copy.callback(vtpu_error(tpt_status_clone(status)), copy.user_arg);
}

tpt_status_t vtpu_slot_Event_OnReady(PJRT_Event_OnReady_Args* args) {
  vtpu_event_t* event = vtpu_event_of(args->event);
  TPT_TRY(vtpu_event_check(event));
  if (!args->callback) TPT_FAIL(TPT_INVALID_ARGUMENT, "callback is NULL");
  if (vtpu_event_get_state(event) != VTPU_EVENT_PENDING) {
    args->callback(vtpu_error(tpt_status_clone(vtpu_event_error(event))), args->user_arg);
    return NULL;
  }
  client_callback_t* c = tpt_malloc(sizeof(*c));
  if (!c) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a callback");
  *c = (client_callback_t){args->callback, args->user_arg};
  tpt_status_t status = vtpu_event_on_set(event, call_client, c);
  if (status) tpt_free(c);
  return status;
}

tpt_status_t vtpu_slot_Event_Create(PJRT_Event_Create_Args* args) {
  vtpu_event_t* event = NULL;
  args->event = NULL;
  TPT_TRY(vtpu_event_create(&event));
  vtpu_event_allow_set(event);
  args->event = vtpu_event_hand_out(event);
  return NULL;
}

tpt_status_t vtpu_slot_Event_Set(PJRT_Event_Set_Args* args) {
  vtpu_event_t* event = vtpu_event_of(args->event);
  TPT_TRY(vtpu_event_check(event));
  if (!vtpu_event_is_settable(event))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Event_Set: only events of Event_Create can be set by hand");
  if (!vtpu_event_set(event, vtpu_status_from((int)args->error_code, args->error_message,
                                              args->error_message_size)))
    TPT_FAIL(TPT_FAILED_PRECONDITION, "Event_Set: the event was set before");
  return NULL;
}

// --- contexts ---------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  args->context = vtpu_handle_take(VTPU_HANDLE_CONTEXT);
  if (!args->context) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an execute context");
  return NULL;
}

tpt_status_t vtpu_slot_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  if (!args->context) return NULL;
  TPT_TRY(vtpu_handle_check(args->context, VTPU_HANDLE_CONTEXT));
  vtpu_handle_give(args->context);
  return NULL;
}
