// Tests of the chip table and of topology names.
#include "base/check.h"
#include "vtpu/chip.h"

static void test_every_chip_is_found_by_its_name(void) {
  int count = 0;
  for (; vtpu_chip_row(count); count++) {
    const vtpu_chip_t* row = vtpu_chip_row(count);
    const vtpu_chip_t* found = NULL;
    CHECK_OK(vtpu_chip_find(row->name, strlen(row->name), &found));
    CHECK(found == row);
    CHECK(row->hbm_size > (int64_t)15 << 30 && row->hbm_size % (1 << 20) == 0);
    CHECK(row->core_count * row->device_count <= 2 && strlen(row->source) > 0);
  }
  CHECK_EQ(count, 5);
  CHECK(vtpu_chip_row(-1) == NULL);
}

static void test_v5e_is_what_libtpu_shows(void) {
  const vtpu_chip_t* chip = NULL;
  CHECK_OK(vtpu_chip_find("v5e:2x2", 3, &chip));
  CHECK_STR(chip->kind, "TPU v5 lite");
  CHECK_EQ(chip->hbm_size, 16909336576);
}

static void test_unknown_chip_lists_the_known(void) {
  const vtpu_chip_t* chip = NULL;
  CHECK_FAILS(vtpu_chip_find("v9", 2, &chip), TPT_INVALID_ARGUMENT, "'v9'; vtpu models v4, v5e");
  CHECK_FAILS(vtpu_chip_find("", 0, &chip), TPT_INVALID_ARGUMENT, "unknown chip ''");
}

static tpt_status_t parse(const char* name, vtpu_slice_t* slice) {
  return vtpu_slice_parse(name, strlen(name), slice);
}

static void test_slice_counts_devices(void) {
  vtpu_slice_t slice;
  CHECK_OK(parse("v5e:2x2", &slice));
  CHECK_EQ(slice.device_count, 4);
  CHECK_OK(parse("v5e", &slice));
  CHECK_EQ(slice.device_count, 1);
  CHECK_OK(parse("v5e:16x16", &slice));
  CHECK_EQ(slice.device_count, 256);
  CHECK_OK(parse("v4:2x2x1", &slice));
  CHECK_EQ(slice.device_count, 4);
  CHECK_OK(parse("tpu7x:2x2x1", &slice));
  CHECK_EQ(slice.device_count, 8);
}

static void test_slice_places_devices(void) {
  vtpu_slice_t slice;
  CHECK_OK(parse("tpu7x:2x3x1", &slice));
  vtpu_place_t place = vtpu_slice_place(&slice, 0);
  CHECK(place.coords[0] == 0 && place.coords[1] == 0 && place.core_on_chip == 0);
  place = vtpu_slice_place(&slice, 7);  // chip 3
  CHECK_EQ(place.core_on_chip, 1);
  CHECK_EQ(place.coords[0], 1);
  CHECK_EQ(place.coords[1], 1);
  CHECK_EQ(place.coords[2], 0);
}

static void test_bad_names_are_refused(void) {
  const char* const bad[] = {"v5e:",
                             "v5e:2x",
                             "v5e:0x2",
                             "v5e:2x2x2",
                             "v5e:axb",
                             "v5e:2x2 ",
                             "v5e:-1",
                             "v4:x",
                             "v5e:99999999999999x1",
                             "v5e:1000x1000",
                             "v5e:2xx2",
                             "v9:2x2",
                             ""};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    vtpu_slice_t slice;
    CHECK_FAILS(parse(bad[i], &slice), TPT_INVALID_ARGUMENT, "");
  }
}

int main(void) {
  RUN(test_every_chip_is_found_by_its_name);
  RUN(test_v5e_is_what_libtpu_shows);
  RUN(test_unknown_chip_lists_the_known);
  RUN(test_slice_counts_devices);
  RUN(test_slice_places_devices);
  RUN(test_bad_names_are_refused);
  return TEST_RESULT;
}
