// Tests of events: order and number of callbacks, waiting, errors, holds of clients.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/event.h"

typedef struct record {
  _Atomic int count;
  int order[4];
  tpt_code_t code;
} record_t;

typedef struct entry {
  record_t* record;
  int number;
} entry_t;

static void note(tpt_status_t status, void* arg) {
  entry_t* entry = arg;
  int at = atomic_fetch_add(&entry->record->count, 1);
  if (at < 4) entry->record->order[at] = entry->number;
  entry->record->code = tpt_status_code(status);
}

static void test_set_runs_callbacks_once_in_order(void) {
  vtpu_event_t* event = NULL;
  record_t record = {0};
  entry_t entries[3] = {{&record, 1}, {&record, 2}, {&record, 3}};
  CHECK_OK(vtpu_event_create(&event));
  CHECK_OK(vtpu_event_on_set(event, note, &entries[0]));
  CHECK_OK(vtpu_event_on_set(event, note, &entries[1]));
  CHECK_EQ(record.count, 0);
  CHECK_EQ(vtpu_event_get_state(event), VTPU_EVENT_PENDING);
  CHECK(vtpu_event_set(event, NULL));
  CHECK_EQ(record.count, 2);
  CHECK(record.order[0] == 1 && record.order[1] == 2);
  CHECK_OK(vtpu_event_on_set(event, note, &entries[2]));
  CHECK_EQ(record.count, 3);
  CHECK_EQ(record.code, TPT_OK);
  CHECK(!vtpu_event_set(event, NULL));
  CHECK_EQ(record.count, 3);
  vtpu_event_release(event);
}

static void test_failure_keeps_code_and_text(void) {
  vtpu_event_t* event = NULL;
  record_t record = {0};
  entry_t entry = {&record, 1};
  CHECK_OK(vtpu_event_create(&event));
  CHECK_OK(vtpu_event_on_set(event, note, &entry));
  CHECK(vtpu_event_error(event) == NULL);
  CHECK(vtpu_event_set(event, tpt_status_make(TPT_OUT_OF_RANGE, "f", 1, "index 9")));
  CHECK_EQ(record.code, TPT_OUT_OF_RANGE);
  CHECK_EQ(vtpu_event_get_state(event), VTPU_EVENT_FAILED);
  CHECK_STR(tpt_status_message(vtpu_event_await(event)), "index 9");
  CHECK(!vtpu_event_set(event, tpt_status_make(TPT_ABORTED, "f", 1, "late")));
  CHECK_STR(tpt_status_message(vtpu_event_error(event)), "index 9");
  vtpu_event_release(event);
}

static void* set_later(void* arg) {
  struct timespec nap = {0, 3000000};
  nanosleep(&nap, NULL);
  vtpu_event_set(arg, NULL);
  vtpu_event_release(arg);
  return NULL;
}

static void* await(void* arg) {
  vtpu_event_await(arg);
  vtpu_event_release(arg);
  return NULL;
}

static void test_await_sleeps_until_set(void) {
  for (int round = 0; round < 5; round++) {
    vtpu_event_t* event = NULL;
    pthread_t setter, waiters[3];
    CHECK_OK(vtpu_event_create(&event));
    for (int i = 0; i < 3; i++)
      pthread_create(&waiters[i], NULL, await, vtpu_event_retain(event));
    pthread_create(&setter, NULL, set_later, vtpu_event_retain(event));
    CHECK(vtpu_event_await(event) == NULL);
    CHECK_EQ(vtpu_event_get_state(event), VTPU_EVENT_READY);
    vtpu_event_release(event);
    pthread_join(setter, NULL);
    for (int i = 0; i < 3; i++)
      pthread_join(waiters[i], NULL);
  }
}

static void* hand_over(void* arg) {
  vtpu_event_t** events = arg;
  for (int i = 0; i < 2000; i++) {
    vtpu_event_set(events[i], NULL);
    vtpu_event_release(events[i]);
  }
  return NULL;
}

static void test_release_by_the_waiter_is_safe_while_setting(void) {
  static vtpu_event_t* events[2000];
  pthread_t setter;
  for (int i = 0; i < 2000; i++) {
    CHECK_OK(vtpu_event_create(&events[i]));
    vtpu_event_retain(events[i]);
  }
  pthread_create(&setter, NULL, hand_over, events);
  for (int i = 0; i < 2000; i++) {
    vtpu_event_await(events[i]);
    vtpu_event_release(events[i]);
  }
  pthread_join(setter, NULL);
}

static void test_the_ready_event_is_immortal(void) {
  vtpu_event_t* event = vtpu_event_ready();
  for (int i = 0; i < 3; i++)
    vtpu_event_release(event);
  for (int i = 0; i < 3; i++)
    CHECK_OK(vtpu_event_give_back(event));
  CHECK_EQ(vtpu_event_get_state(event), VTPU_EVENT_READY);
  CHECK(vtpu_event_await(vtpu_event_retain(event)) == NULL);
  CHECK(!vtpu_event_set(event, tpt_status_make(TPT_ABORTED, "f", 1, "no")));
}

static void test_second_give_back_is_an_error(void) {
  vtpu_event_t* event = NULL;
  CHECK_OK(vtpu_event_create(&event));
  CHECK_FAILS(vtpu_event_check(event), TPT_INVALID_ARGUMENT, "not a live event");
  CHECK(vtpu_event_lend(event) == event);
  CHECK_OK(vtpu_event_check(event));
  CHECK_OK(vtpu_event_give_back(event));
  CHECK_FAILS(vtpu_event_give_back(event), TPT_INVALID_ARGUMENT, "not a live event");
  vtpu_event_release(event);
  CHECK_FAILS(vtpu_event_give_back(event), TPT_INVALID_ARGUMENT, "destroyed before");
  CHECK_FAILS(vtpu_event_check(NULL), TPT_INVALID_ARGUMENT, "NULL");
  CHECK_OK(vtpu_event_give_back(NULL));
}

static void test_settable_is_asked_for(void) {
  vtpu_event_t* event = NULL;
  CHECK_OK(vtpu_event_create(&event));
  CHECK(!vtpu_event_is_settable(event));
  vtpu_event_allow_set(event);
  CHECK(vtpu_event_is_settable(event));
  vtpu_event_release(event);
}

static void test_release_of_a_pending_event_cancels(void) {
  vtpu_event_t* event = NULL;
  record_t record = {0};
  entry_t entry = {&record, 1};
  CHECK_OK(vtpu_event_create(&event));
  CHECK_OK(vtpu_event_on_set(event, note, &entry));
  tpt_allocator_fail_after(1);
  CHECK_FAILS(vtpu_event_on_set(event, note, &entry), TPT_RESOURCE_EXHAUSTED, "callback");
  tpt_allocator_fail_after(0);
  vtpu_event_release(event);
  CHECK_EQ(record.count, 1);
  CHECK_EQ(record.code, TPT_CANCELLED);
}

int main(void) {
  RUN(test_set_runs_callbacks_once_in_order);
  RUN(test_failure_keeps_code_and_text);
  RUN(test_await_sleeps_until_set);
  RUN(test_release_by_the_waiter_is_safe_while_setting);
  RUN(test_the_ready_event_is_immortal);
  RUN(test_second_give_back_is_an_error);
  RUN(test_settable_is_asked_for);
  RUN(test_release_of_a_pending_event_cancels);
  return TEST_RESULT;
}
