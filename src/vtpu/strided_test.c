// Tests of strided copies against element-by-element copies.
#include <stdlib.h>

#include "base/check.h"
#include "vtpu/strided.h"

enum { BYTES = 1 << 16 };
static unsigned char host[BYTES], dense[BYTES], back[BYTES];

static size_t offset_of(const tpt_type_t* type, const int64_t* strides, int64_t flat) {
  int64_t offset = 0;
  for (int i = type->rank - 1; i >= 0; i--) {
    offset += flat % type->dims[i] * strides[i];
    flat /= type->dims[i];
  }
  return (size_t)offset;
}

static void check_round_trip(const tpt_type_t* type, const int64_t* strides, int64_t origin) {
  int64_t dense_strides[TPT_RANK_MAX];
  size_t size = tpt_dtype_size(type->dtype);
  int64_t count = tpt_type_count(type);
  vtpu_strides_dense(type, dense_strides);
  for (int i = 0; i < BYTES; i++)
    host[i] = (unsigned char)rand();
  memset(dense, 0, BYTES);
  vtpu_strided_copy(type, dense, dense_strides, host + origin, strides);
  int wrong = 0;
  for (int64_t i = 0; i < count; i++)
    wrong += memcmp(dense + (size_t)i * size, host + origin + offset_of(type, strides, i), size);
  CHECK_EQ(wrong, 0);
  memset(back, 0, BYTES);
  vtpu_strided_copy(type, back + origin, strides, dense, dense_strides);
  for (int64_t i = 0; i < count; i++)
    wrong += memcmp(dense + (size_t)i * size, back + origin + offset_of(type, strides, i), size);
  CHECK_EQ(wrong, 0);
}

static void test_copy_follows_any_strides(void) {
  const tpt_dtype_t dtypes[] = {TPT_S8, TPT_BF16, TPT_F32, TPT_F64, TPT_C128};
  const int64_t dims[] = {3, 1, 4, 5};
  for (int k = 0; k < 5; k++) {
    tpt_type_t type = tpt_type_make(dtypes[k], 4, dims);
    int64_t e = (int64_t)tpt_dtype_size(dtypes[k]);
    const int64_t row[] = {20 * e, 20 * e, 5 * e, e};
    const int64_t column[] = {e, 99, 3 * e, 12 * e};
    const int64_t padded[] = {60 * e, 7, 12 * e, 2 * e};
    const int64_t negative[] = {-20 * e, 0, 5 * e, -e};
    const int64_t odd[] = {20 * e + 3, 1, 5 * e, e};
    check_round_trip(&type, row, 64);
    check_round_trip(&type, column, 64);
    check_round_trip(&type, padded, 64);
    check_round_trip(&type, negative, 4096);
    check_round_trip(&type, odd, 65);
  }
}

static void test_zero_strides_repeat(void) {
  const int64_t dims[] = {4, 3}, strides[] = {0, 4};
  tpt_type_t type = tpt_type_make(TPT_S32, 2, dims);
  int64_t dense_strides[2];
  const int32_t row[] = {7, 8, 9};
  int32_t out[12];
  vtpu_strides_dense(&type, dense_strides);
  vtpu_strided_copy(&type, out, dense_strides, row, strides);
  for (int i = 0; i < 12; i++)
    CHECK_EQ(out[i], row[i % 3]);
}

static void test_scalars_and_empty_arrays(void) {
  tpt_type_t scalar = tpt_type_scalar(TPT_F32);
  const int64_t dims[] = {2, 0}, strides[] = {4, 4};
  tpt_type_t empty = tpt_type_make(TPT_F32, 2, dims);
  float in = 2.5f, out = 0;
  vtpu_strided_copy(&scalar, &out, NULL, &in, NULL);
  CHECK(out == 2.5f);
  vtpu_strided_copy(&empty, NULL, strides, NULL, strides);
  CHECK(vtpu_strides_are_dense(&empty, strides));
  CHECK(vtpu_strides_are_dense(&scalar, NULL));
}

static void test_dense_is_recognised(void) {
  const int64_t dims[] = {2, 1, 3};
  tpt_type_t type = tpt_type_make(TPT_F32, 3, dims);
  const int64_t yes[] = {12, 77, 4}, no[] = {16, 4, 4}, reversed[] = {12, 4, -4};
  CHECK(vtpu_strides_are_dense(&type, yes));
  CHECK(!vtpu_strides_are_dense(&type, no));
  CHECK(!vtpu_strides_are_dense(&type, reversed));
}

static void test_permuted_strides(void) {
  const int64_t dims[] = {2, 3, 5}, order[] = {1, 0, 2}, twice[] = {1, 1, 2}, wide[] = {0, 1, 3};
  tpt_type_t type = tpt_type_make(TPT_F32, 3, dims);
  int64_t strides[3];
  CHECK_OK(vtpu_strides_permuted(&type, order, 3, strides));
  CHECK(strides[1] == 4 && strides[0] == 12 && strides[2] == 24);
  CHECK_FAILS(vtpu_strides_permuted(&type, twice, 3, strides), TPT_INVALID_ARGUMENT, "permutation");
  CHECK_FAILS(vtpu_strides_permuted(&type, wide, 3, strides), TPT_INVALID_ARGUMENT, "entry 2 is 3");
  CHECK_FAILS(vtpu_strides_permuted(&type, order, 2, strides), TPT_INVALID_ARGUMENT,
              "2 dimensions");
}

static void test_extent_covers_both_ends(void) {
  const int64_t dims[] = {3, 4}, strides[] = {-16, 8}, wide[] = {INT64_MAX, 8};
  tpt_type_t type = tpt_type_make(TPT_F32, 2, dims);
  int64_t low, high;
  CHECK(vtpu_strides_extent(&type, strides, &low, &high));
  CHECK_EQ(low, -32);
  CHECK_EQ(high, 28);
  CHECK(!vtpu_strides_extent(&type, wide, &low, &high));
}

int main(void) {
  RUN(test_copy_follows_any_strides);
  RUN(test_zero_strides_repeat);
  RUN(test_scalars_and_empty_arrays);
  RUN(test_dense_is_recognised);
  RUN(test_permuted_strides);
  RUN(test_extent_covers_both_ends);
  return TEST_RESULT;
}
