#include <stdint.h>

#include "base/check.h"
#include "eager/address.h"

enum { COUNT = 300 };

static tpt_storage_t* fake(int i) {
  return (tpt_storage_t*)(uintptr_t)(0x10000 + 64 * i);
}

static void test_interior_addresses_lead_back(void) {
  void* addresses[COUNT];
  size_t sizes[COUNT];
  for (int i = 0; i < COUNT; i++) {
    sizes[i] = (size_t)(i % 7) * 1000 + (size_t)(i % 3) * 70000;
    if (!CHECK_OK(tpt_address_take(fake(i), sizes[i], &addresses[i]))) return;
    CHECK(tpt_address_room(addresses[i]) >= sizes[i]);
    CHECK(((uintptr_t)addresses[i] & 63) == 0);
  }
  for (int i = 0; i < COUNT; i++) {
    size_t offset = 99;
    CHECK(tpt_address_find(addresses[i], &offset) == fake(i));
    CHECK_EQ(offset, 0);
    if (sizes[i] == 0) continue;
    CHECK(tpt_address_find((char*)addresses[i] + sizes[i] - 1, &offset) == fake(i));
    CHECK_EQ(offset, sizes[i] - 1);
  }
  for (int i = 0; i < COUNT; i++)
    tpt_address_release(addresses[i]);
  for (int i = 0; i < COUNT; i++)
    CHECK(tpt_address_find(addresses[i], NULL) == NULL);
}

static void test_released_addresses_come_again(void) {
  void *first, *second, *third;
  CHECK_OK(tpt_address_take(fake(1), 4096, &first));
  CHECK_OK(tpt_address_take(fake(2), 4096, &second));
  CHECK(first != second);
  tpt_address_release(first);
  CHECK_OK(tpt_address_take(fake(3), 4096, &third));
  CHECK(third == first);
  CHECK(tpt_address_find(third, NULL) == fake(3));
  tpt_address_release(second);
  tpt_address_release(third);
}

static void test_foreign_addresses_are_nobodys(void) {
  int local;
  CHECK(tpt_address_find(&local, NULL) == NULL);
  CHECK(tpt_address_find(NULL, NULL) == NULL);
  tpt_address_release(NULL);
  tpt_address_release(&local);
}

static void test_impossible_size_is_refused(void) {
  void* address;
  CHECK_FAILS(tpt_address_take(fake(1), (size_t)1 << 60, &address), TPT_RESOURCE_EXHAUSTED,
              "no address is left");
}

int main(void) {
  RUN(test_interior_addresses_lead_back);
  RUN(test_released_addresses_come_again);
  RUN(test_foreign_addresses_are_nobodys);
  RUN(test_impossible_size_is_refused);
  return TEST_RESULT;
}
