// Tests of handles.
#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/handle.h"

static void test_handles_are_zeroed_and_marked(void) {
  char* handle = vtpu_handle_take(VTPU_HANDLE_CLIENT);
  CHECK_OK(vtpu_handle_check(handle, VTPU_HANDLE_CLIENT));
  memset(handle + sizeof(vtpu_handle_t), 0x55, VTPU_HANDLE_SIZE - sizeof(vtpu_handle_t));
  vtpu_handle_give(handle);
  char* again = vtpu_handle_take(VTPU_HANDLE_DEVICE);
  CHECK(again == handle);
  int wrong = 0;
  for (size_t i = sizeof(uint32_t); i < VTPU_HANDLE_SIZE; i++)
    wrong += again[i] != 0;
  CHECK_EQ(wrong, 0);
  vtpu_handle_give(again);
  vtpu_handle_give(NULL);
}

static void test_stale_and_wrong_handles_are_told(void) {
  void* handle = vtpu_handle_take(VTPU_HANDLE_TOPOLOGY);
  CHECK_FAILS(vtpu_handle_check(handle, VTPU_HANDLE_CLIENT), TPT_INVALID_ARGUMENT,
              "not a live client");
  CHECK_FAILS(vtpu_handle_check(NULL, VTPU_HANDLE_LOADED), TPT_INVALID_ARGUMENT,
              "loaded executable is NULL");
  vtpu_handle_give(handle);
  CHECK_FAILS(vtpu_handle_check(handle, VTPU_HANDLE_TOPOLOGY), TPT_INVALID_ARGUMENT,
              "not a live topology: destroyed before");
  CHECK_FAILS(vtpu_handle_check(NULL, VTPU_HANDLE_TRACKING), TPT_INVALID_ARGUMENT,
              "tracking event is NULL");
}

int main(void) {
  RUN(test_handles_are_zeroed_and_marked);
  RUN(test_stale_and_wrong_handles_are_told);
  return TEST_RESULT;
}
