// Tests of the entries of errors, events and contexts.
#include "vtpu/plugin_probe.h"

typedef struct record {
  int count;
  PJRT_Error_Code code;
} record_t;

static void note(PJRT_Error* error, void* user_arg) {
  record_t* record = user_arg;
  record->count++;
  record->code = (PJRT_Error_Code)tpt_status_code(vtpu_status(error));
  ARGS(Error_Destroy, destroy, .error = error);
  GetPjrtApi()->PJRT_Error_Destroy(&destroy);
}

static void test_errors_have_message_and_code(void) {
  ARGS(Client_Destroy, bad, .client = (PJRT_Client*)probe_add);
  PJRT_Error* error = GetPjrtApi()->PJRT_Client_Destroy(&bad);
  ARGS(Error_Message, message, .error = error);
  GetPjrtApi()->PJRT_Error_Message(&message);
  CHECK(message.message_size == strlen(message.message) && message.message_size > 10);
  ARGS(Error_GetCode, code, .error = error);
  PASSES(Error_GetCode, code);
  CHECK_EQ(code.code, PJRT_Error_Code_INVALID_ARGUMENT);
  ARGS(Error_ForEachPayload, payloads, .error = error);
  PASSES(Error_ForEachPayload, payloads);
  ARGS(Error_Destroy, destroy, .error = error);
  GetPjrtApi()->PJRT_Error_Destroy(&destroy);
  destroy.error = NULL;
  GetPjrtApi()->PJRT_Error_Destroy(&destroy);
}

static void test_user_events(void) {
  record_t record = {0, 0};
  ARGS(Event_Create, create);
  PASSES(Event_Create, create);
  PJRT_Event* event = create.event;
  ARGS(Event_IsReady, ready, .event = event, .is_ready = true);
  PASSES(Event_IsReady, ready);
  CHECK(!ready.is_ready);
  ARGS(Event_Error, error, .event = event);
  REFUSES(Event_Error, error, TPT_FAILED_PRECONDITION, "not ready");
  ARGS(Event_OnReady, on_ready, .event = event, .callback = note, .user_arg = &record);
  PASSES(Event_OnReady, on_ready);
  CHECK_EQ(record.count, 0);
  ARGS(Event_Set, set, .event = event, .error_code = PJRT_Error_Code_ABORTED,
       .error_message = "stop here", .error_message_size = 4);
  PASSES(Event_Set, set);
  CHECK_EQ(record.count, 1);
  CHECK_EQ(record.code, PJRT_Error_Code_ABORTED);
  REFUSES(Event_Set, set, TPT_FAILED_PRECONDITION, "set before");
  PASSES(Event_IsReady, ready);
  CHECK(ready.is_ready);
  REFUSES(Event_Error, error, TPT_ABORTED, "stop");
  REFUSES(Event_Error, error, TPT_ABORTED, "stop");  // each error is a new one
  ARGS(Event_Await, await, .event = event);
  REFUSES(Event_Await, await, TPT_ABORTED, "stop");
  PASSES(Event_OnReady, on_ready);  // runs at once
  CHECK_EQ(record.count, 2);
  on_ready.callback = NULL;
  REFUSES(Event_OnReady, on_ready, TPT_INVALID_ARGUMENT, "callback is NULL");
  probe_destroy_event(event);
  ARGS(Event_Destroy, destroy, .event = event);
  REFUSES(Event_Destroy, destroy, TPT_INVALID_ARGUMENT, "not a live event");
  REFUSES(Event_IsReady, ready, TPT_INVALID_ARGUMENT, "not a live event");
}

static void test_destroying_a_pending_event_calls_back(void) {
  record_t record = {0, 0};
  ARGS(Event_Create, create);
  PASSES(Event_Create, create);
  ARGS(Event_OnReady, on_ready, .event = create.event, .callback = note, .user_arg = &record);
  PASSES(Event_OnReady, on_ready);
  probe_destroy_event(create.event);
  CHECK_EQ(record.count, 1);
  CHECK_EQ(record.code, PJRT_Error_Code_CANCELLED);
}

static void test_events_of_work_cannot_be_set(void) {
  PJRT_Client* client = probe_client(1, -1);
  PJRT_Buffer* pending = NULL;
  record_t record = {0, 0};
  PJRT_AsyncHostToDeviceTransferManager* manager = probe_pending(client, &pending);
  ARGS(Buffer_ReadyEvent, ready, .buffer = pending);
  PASSES(Buffer_ReadyEvent, ready);
  ARGS(Event_Set, set, .event = ready.event);
  REFUSES(Event_Set, set, TPT_INVALID_ARGUMENT, "only events of Event_Create");
  ARGS(Event_OnReady, on_ready, .event = ready.event, .callback = note, .user_arg = &record);
  PASSES(Event_OnReady, on_ready);
  probe_destroy_event(ready.event);  // the callback still comes
  probe_fill(manager, 1, 2, 3, 4);
  CHECK_EQ(record.count, 1);
  CHECK_EQ(record.code, PJRT_Error_Code_OK);
  probe_destroy(pending);
  probe_close(client);
}

static void test_contexts(void) {
  ARGS(ExecuteContext_Create, create);
  PASSES(ExecuteContext_Create, create);
  ARGS(ExecuteContext_Destroy, destroy, .context = create.context);
  PASSES(ExecuteContext_Destroy, destroy);
  REFUSES(ExecuteContext_Destroy, destroy, TPT_INVALID_ARGUMENT, "execute context");
}

static void test_codes_from_clients(void) {
  CHECK(vtpu_status_from(0, "x", 1) == NULL);
  CHECK_FAILS(vtpu_status_from(11, "index 100%", 10), TPT_OUT_OF_RANGE, "index 100%");
  CHECK_FAILS(vtpu_status_from(99, NULL, 5), TPT_UNKNOWN, "");
}

int main(void) {
  RUN(test_errors_have_message_and_code);
  RUN(test_user_events);
  RUN(test_destroying_a_pending_event_calls_back);
  RUN(test_events_of_work_cannot_be_set);
  RUN(test_contexts);
  RUN(test_codes_from_clients);
  return TEST_RESULT;
}
