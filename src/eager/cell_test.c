#include "eager/cell.h"
#include "eager/device.h"
#include "eager/test_device.h"

static tpt_cell_t* make_cell(void) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_cell_t* cell = NULL;
  tpt_buffer_t* buffer = NULL;
  tpt_type_t type = tpt_type_make(TPT_F32, 1, (int64_t[]){4});
  CHECK_OK(tpt_buffer_from_host(device->client, 0, &type, (float[]){1, 2, 3, 4}, &buffer));
  if (CHECK_OK(tpt_cell_create(device, &cell))) tpt_cell_fill(cell, buffer, 16);
  return cell;
}

static void test_last_reference_frees(void) {
  tpt_device_t* device = tpt_device_peek(0);
  int64_t before = device->memory.allocated;
  tpt_cell_t* cell = make_cell();
  CHECK_EQ(device->memory.allocated, before + 16);
  tpt_cell_retain(cell);
  tpt_cell_release(cell);
  CHECK_EQ(device->memory.allocated, before + 16);
  tpt_cell_release(cell);
  CHECK_EQ(device->memory.allocated, before);
  tpt_cell_release(NULL);
}

static void test_good_suspect_is_cleared(void) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_cell_t *first = make_cell(), *second = make_cell();
  tpt_cell_suspect(first);
  tpt_cell_suspect(second);
  tpt_cell_suspect(second);
  CHECK(device->suspects == second && second->next == first);
  CHECK_OK(tpt_buffer_await(first->buffer));
  tpt_cell_settle(first);
  CHECK(!first->is_suspect && device->suspects == second && !second->next);
  tpt_cell_clear(second);
  CHECK(device->suspects == NULL);
  tpt_cell_release(first);
  tpt_cell_release(second);
}

static void test_dropped_suspect_is_freed_once_it_is_known_good(void) {
  tpt_device_t* device = tpt_device_peek(0);
  int64_t before = device->memory.allocated;
  tpt_cell_t* cell = make_cell();
  CHECK_OK(tpt_buffer_await(cell->buffer));
  tpt_cell_suspect(cell);
  tpt_cell_release(cell);
  CHECK(device->suspects == NULL);
  CHECK_EQ(device->memory.allocated, before);
}

static void test_blame_names_the_call(void) {
  tpt_cell_t* cell = make_cell();
  cell->site = (tpt_site_t){"index.Tensor", "model.py", 12};
  CHECK(tpt_cell_blame(cell, NULL) == NULL);
  CHECK(!cell->is_reported);
  CHECK_FAILS(tpt_cell_blame(cell, tpt_status_make(TPT_OUT_OF_RANGE, "x.c", 1, "bad index")),
              TPT_OUT_OF_RANGE, "in aten::index.Tensor called at model.py:12");
  CHECK(cell->is_reported);
  cell->site.file = NULL;
  CHECK_FAILS(tpt_cell_blame(cell, tpt_status_make(TPT_OUT_OF_RANGE, "x.c", 1, "bad index")),
              TPT_OUT_OF_RANGE, "in aten::index.Tensor");
  tpt_cell_release(cell);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_last_reference_frees);
  RUN(test_good_suspect_is_cleared);
  RUN(test_dropped_suspect_is_freed_once_it_is_known_good);
  RUN(test_blame_names_the_call);
  return TEST_RESULT;
}
