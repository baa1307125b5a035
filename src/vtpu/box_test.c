// Strided copies against an index walk; fills; index reading.
#include "vtpu/box.h"
#include "vtpu/kernel_probe.h"

static void test_copy_matches_a_walk(void) {
  static const size_t sizes[5] = {1, 2, 4, 8, 16};
  vtpu_exec_t exec = {.pool = probe_pool()};
  for (int round = 0; round < 200; round++) {
    size_t size = sizes[round % 5];
    vtpu_box_t box = {.rank = (int)probe_int(0, 4)};
    int64_t in_place = (int64_t)size, out_place = (int64_t)size, count = 1;
    for (int d = box.rank - 1; d >= 0; d--) {
      box.size[d] = probe_int(1, 5);
      int64_t gap = probe_int(0, 2);
      box.in_stride[d] = in_place, box.out_stride[d] = out_place;
      in_place *= box.size[d] + gap, out_place *= box.size[d];
      count *= box.size[d];
    }
    unsigned char* in = malloc((size_t)in_place);
    unsigned char* out = malloc((size_t)out_place);
    for (int64_t i = 0; i < in_place; i++)
      in[i] = (unsigned char)probe_next();
    vtpu_box_t simple = box;
    vtpu_box_simplify(&simple);
    vtpu_box_copy(&simple, size, &exec, in, out);
    int wrong = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t rest = i, from = 0, to = 0;
      for (int d = box.rank - 1; d >= 0; d--) {
        from += rest % box.size[d] * box.in_stride[d];
        to += rest % box.size[d] * box.out_stride[d];
        rest /= box.size[d];
      }
      wrong += memcmp(in + from, out + to, size) != 0;
    }
    CHECK_EQ(wrong, 0);
    free(in);
    free(out);
  }
}

static void test_simplify_merges_contiguous_dimensions(void) {
  vtpu_box_t box = {
      .rank = 4, .size = {3, 1, 4, 5}, .in_stride = {80, 7, 20, 4}, .out_stride = {160, 9, 20, 4}};
  vtpu_box_simplify(&box);
  CHECK_EQ(box.rank, 2);
  CHECK_EQ(box.size[1], 20);
  CHECK_EQ(box.in_stride[0], 80);
}

static void test_large_copy_and_fill_use_the_pool(void) {
  enum { COUNT = 1 << 20 };
  vtpu_exec_t exec = {.pool = probe_pool()};
  uint32_t* in = malloc(COUNT * 4);
  uint32_t* out = malloc(COUNT * 4);
  uint32_t element = 0x01020304;
  vtpu_fill(&exec, &element, 4, in, COUNT);
  vtpu_copy(&exec, in, out, COUNT * 4);
  int wrong = 0;
  for (int i = 0; i < COUNT; i++)
    wrong += out[i] != element;
  CHECK_EQ(wrong, 0);
  element = 0;
  vtpu_fill(&exec, &element, 4, out, COUNT);
  CHECK(out[0] == 0 && out[COUNT - 1] == 0);
  free(in);
  free(out);
}

static void test_indices_of_every_type_load(void) {
  CHECK_EQ(vtpu_index_load(TPT_S8, (int8_t[]){1, -2}, 1), -2);
  CHECK_EQ(vtpu_index_load(TPT_U8, (uint8_t[]){1, 254}, 1), 254);
  CHECK_EQ(vtpu_index_load(TPT_S16, (int16_t[]){-300}, 0), -300);
  CHECK_EQ(vtpu_index_load(TPT_U16, (uint16_t[]){65000}, 0), 65000);
  CHECK_EQ(vtpu_index_load(TPT_S32, (int32_t[]){-70000}, 0), -70000);
  CHECK_EQ(vtpu_index_load(TPT_U32, (uint32_t[]){4000000000u}, 0), 4000000000ll);
  CHECK_EQ(vtpu_index_load(TPT_S64, (int64_t[]){-5}, 0), -5);
  CHECK_EQ(vtpu_index_load(TPT_U64, (uint64_t[]){UINT64_MAX}, 0), INT64_MAX);
}

int main(void) {
  RUN(test_copy_matches_a_walk);
  RUN(test_simplify_merges_contiguous_dimensions);
  RUN(test_large_copy_and_fill_use_the_pool);
  RUN(test_indices_of_every_type_load);
  return TEST_RESULT;
}
