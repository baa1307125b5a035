// Tests of the compile options' reader, with the byte strings that clients send.
#include "base/check.h"
#include "vtpu/compile_options.h"

#define PARSE(options, ...)                                                                        \
  vtpu_compile_options_parse((const char[]){__VA_ARGS__}, sizeof((const char[]){__VA_ARGS__}),     \
                             (options))

static void test_known_blobs(void) {
  vtpu_compile_options_t o;
  CHECK_OK(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1));
  CHECK(o.replica_count == 1 && o.partition_count == 1 && o.device_id == -1 && !o.is_portable);
  CHECK_OK(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1, 0x20, 1));
  CHECK(o.is_portable);
  CHECK_OK(PARSE(&o, 0x1a, 0x0f, 0x20, 1, 0x28, 1, 0x4a, 9, 8, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 1));
  CHECK_EQ(o.device_id, 1);
  // The assignment's ids unpacked; device_ordinal -1 in ten bytes; an unknown field of each wire type.
  CHECK_OK(PARSE(&o, 0x1a, 0x1d, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 0x20, 1, 0x28, 1, 0x4a,
                 8, 8, 1, 0x10, 1, 0x1a, 2, 8, 2, 0x38, 1, 0x32, 0));
  CHECK_EQ(o.device_id, 2);
  CHECK_OK(PARSE(&o, 0x7d, 1, 2, 3, 4, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 4, 0x20, 1, 0x28, 1));
}

static void test_counts_other_than_one(void) {
  vtpu_compile_options_t o;
  CHECK_FAILS(vtpu_compile_options_parse("", 0, &o), TPT_INVALID_ARGUMENT, "empty");
  CHECK_FAILS(vtpu_compile_options_parse(NULL, 0, &o), TPT_INVALID_ARGUMENT, "empty");
  CHECK_FAILS(PARSE(&o, 0x1a, 4, 0x20, 0, 0x28, 1), TPT_INVALID_ARGUMENT,
              "0 replicas and 1 partitions");
  CHECK_FAILS(PARSE(&o, 0x20, 1), TPT_INVALID_ARGUMENT, "0 replicas and 0 partitions");
  CHECK_FAILS(PARSE(&o, 0x1a, 4, 0x20, 4, 0x28, 1), TPT_UNIMPLEMENTED, "4 replicas");
  CHECK_FAILS(PARSE(&o, 0x1a, 6, 0x20, 1, 0x28, 4, 0x30, 1), TPT_UNIMPLEMENTED, "4 partitions");
}

static void test_what_would_change_results_is_refused(void) {
  vtpu_compile_options_t o;
  CHECK_FAILS(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1, 0x50, 2), TPT_UNIMPLEMENTED,
              "matrix_unit_operand_precision 2");
  CHECK_OK(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1, 0x50, 0));
  CHECK_OK(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1, 0x3a, 7, 0x0a, 5, 'x', 'l', 'a', '_', 'y'));
  CHECK_FAILS(PARSE(&o, 0x1a, 4, 0x20, 1, 0x28, 1, 0x3a, 5, 0x0a, 3, 'f', 'o', 'o'),
              TPT_INVALID_ARGUMENT, "No such compile option: 'foo'");
}

static void test_every_cut_is_survived(void) {
  const char whole[] = {0x1a, 0x0f, 0x20, 1, 0x28, 1, 0x4a, 9, 8,   1,   0x10, 1,   0x1a,
                        3,    0x0a, 1,    1, 0x3a, 7, 0x0a, 5, 'x', 'l', 'a',  '_', 'y'};
  vtpu_compile_options_t o;
  int accepted = 0;
  for (size_t size = 1; size < sizeof(whole); size++) {
    tpt_status_t status = vtpu_compile_options_parse(whole, size, &o);
    if (!status) accepted++;
    CHECK(!status || tpt_status_code(status) == TPT_INVALID_ARGUMENT);
    tpt_status_release(status);
  }
  CHECK_EQ(accepted, 1);  // between the two top-level fields
  CHECK_FAILS(PARSE(&o, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1), TPT_INVALID_ARGUMENT,
              "damaged");
  CHECK_FAILS(PARSE(&o, 0x1b, 1), TPT_INVALID_ARGUMENT, "damaged");
}

int main(void) {
  RUN(test_known_blobs);
  RUN(test_counts_other_than_one);
  RUN(test_what_would_change_results_is_refused);
  RUN(test_every_cut_is_survived);
  return TEST_RESULT;
}
