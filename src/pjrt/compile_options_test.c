#include "base/check.h"
#include "pjrt/compile_options.h"

static void check_bytes(const tpt_compile_options_t* options, const char* hex) {
  tpt_str_t out, text;
  tpt_str_init(&out);
  tpt_str_init(&text);
  if (CHECK_OK(tpt_compile_options_print(options, &out))) {
    for (size_t i = 0; i < out.size; i++) {
      tpt_str_printf(&text, "%s%02x", i ? " " : "", (unsigned)(unsigned char)out.data[i]);
    }
    CHECK_STR(text.data, hex);
  }
  tpt_str_deinit(&text);
  tpt_str_deinit(&out);
}

static void test_print_matches_known_blobs(void) {
  const int64_t device = 1;
  check_bytes(&(tpt_compile_options_t){.replicas = 1, .partitions = 1}, "1a 04 20 01 28 01");
  check_bytes(&(tpt_compile_options_t){.replicas = 1, .partitions = 1, .is_portable = true},
              "1a 04 20 01 28 01 20 01");
  check_bytes(
      &(tpt_compile_options_t){.replicas = 1, .partitions = 1, .keeps_nan = true},
      "1a 04 20 01 28 01 3a 21 0a 1b 78 6c 61 5f 63 70 75 5f 65 6e 61 62 6c 65 5f 66 61 73 74 "
      "5f 6d 69 6e 5f 6d 61 78 12 02 10 00");
  check_bytes(&(tpt_compile_options_t){.replicas = 4, .partitions = 1}, "1a 04 20 04 28 01");
  check_bytes(&(tpt_compile_options_t){.replicas = 1, .partitions = 4}, "1a 06 20 01 28 04 30 01");
  check_bytes(&(tpt_compile_options_t){.replicas = 1, .partitions = 1, .devices = &device},
              "1a 0f 20 01 28 01 4a 09 08 01 10 01 1a 03 0a 01 01");
}

static void test_print_lists_devices_by_partition(void) {
  const int64_t devices[4] = {10, 11, 300, 13};  // replica 0: 10 11; replica 1: 300 13
  check_bytes(&(tpt_compile_options_t){.replicas = 2, .partitions = 2, .devices = devices},
              "1a 19 20 02 28 02 30 01 4a 11 08 02 10 02 1a 05 0a 03 0a ac 02 1a 04 0a 02 0b 0d");
}

static void test_print_refuses_what_kills_a_plugin(void) {
  const int64_t device = 0;
  tpt_str_t out;
  tpt_str_init(&out);
  tpt_compile_options_t zero = {.replicas = 0, .partitions = 1};
  CHECK_FAILS(tpt_compile_options_print(&zero, &out), TPT_INVALID_ARGUMENT, "0 replicas");
  tpt_compile_options_t none = {.replicas = 1};
  CHECK_FAILS(tpt_compile_options_print(&none, &out), TPT_INVALID_ARGUMENT, "0 partitions");
  tpt_compile_options_t many = {.replicas = 2, .partitions = 1, .is_portable = true};
  CHECK_FAILS(tpt_compile_options_print(&many, &out), TPT_INVALID_ARGUMENT, "portable");
  tpt_compile_options_t pinned = {
      .replicas = 1, .partitions = 1, .is_portable = true, .devices = &device};
  CHECK_FAILS(tpt_compile_options_print(&pinned, &out), TPT_INVALID_ARGUMENT, "portable");
  CHECK_EQ(out.size, 0);
  tpt_str_deinit(&out);
}

int main(void) {
  RUN(test_print_matches_known_blobs);
  RUN(test_print_lists_devices_by_partition);
  RUN(test_print_refuses_what_kills_a_plugin);
  return TEST_RESULT;
}
