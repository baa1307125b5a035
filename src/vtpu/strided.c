// Strided copies. Dimensions of size 1 go, neighbours that step alike on both sides merge, the rest is
// an odometer over rows. Invariant: the merged shape visits the same pairs of elements.
#include "vtpu/strided.h"

#include <string.h>

typedef struct walk {
  int rank;  // of the dimensions around the row
  int64_t dims[TPT_RANK_MAX];
  int64_t dst_strides[TPT_RANK_MAX], src_strides[TPT_RANK_MAX];
  int64_t row_count, row_dst, row_src;
} walk_t;

void vtpu_strides_dense(const tpt_type_t* type, int64_t* strides) {
  int64_t step = (int64_t)tpt_dtype_size(type->dtype);
  for (int i = type->rank - 1; i >= 0; i--) {
    strides[i] = step;
    step *= type->dims[i];
  }
}

tpt_status_t vtpu_strides_permuted(const tpt_type_t* type, const int64_t* minor_to_major,
                                   size_t count, int64_t* strides) {
  uint32_t seen = 0;
  if (count != (size_t)type->rank || (count > 0 && !minor_to_major))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "layout: minor_to_major has %zu dimensions, the array has %d",
             count, type->rank);
  int64_t step = (int64_t)tpt_dtype_size(type->dtype);
  for (size_t i = 0; i < count; i++) {
    int64_t d = minor_to_major[i];
    if (d < 0 || d >= type->rank || (seen >> d & 1))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "layout: minor_to_major is not a permutation (entry %zu is %lld)", i, (long long)d);
    seen |= 1u << d;
    strides[d] = step;
    step *= type->dims[d];
  }
  return NULL;
}

bool vtpu_strides_are_dense(const tpt_type_t* type, const int64_t* strides) {
  int64_t step = (int64_t)tpt_dtype_size(type->dtype);
  if (tpt_type_count(type) == 0) return true;
  for (int i = type->rank - 1; i >= 0; i--) {
    if (type->dims[i] != 1 && strides[i] != step) return false;
    step *= type->dims[i];
  }
  return true;
}

bool vtpu_strides_extent(const tpt_type_t* type, const int64_t* strides, int64_t* out_low,
                         int64_t* out_high) {
  *out_low = *out_high = 0;
  if (tpt_type_count(type) == 0) return true;
  *out_high = (int64_t)tpt_dtype_size(type->dtype);
  for (int i = 0; i < type->rank; i++) {
    int64_t reach;
    if (__builtin_mul_overflow(type->dims[i] - 1, strides[i], &reach)) return false;
    int64_t* end = reach < 0 ? out_low : out_high;
    if (__builtin_add_overflow(*end, reach, end)) return false;
  }
  return true;
}

// The innermost dimension becomes the row.
static walk_t plan_walk(const tpt_type_t* type, const int64_t* dst_strides,
                        const int64_t* src_strides) {
  walk_t walk = {.rank = 0};
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] == 1) continue;
    int last = walk.rank - 1;
    if (last >= 0 && walk.dst_strides[last] == dst_strides[i] * type->dims[i] &&
        walk.src_strides[last] == src_strides[i] * type->dims[i]) {
      walk.dims[last] *= type->dims[i];
    } else {
      last = walk.rank++;
      walk.dims[last] = type->dims[i];
    }
    walk.dst_strides[last] = dst_strides[i];
    walk.src_strides[last] = src_strides[i];
  }
  walk.row_count = 1;
  walk.row_dst = walk.row_src = (int64_t)tpt_dtype_size(type->dtype);
  if (walk.rank > 0) {
    int last = --walk.rank;
    walk.row_count = walk.dims[last];
    walk.row_dst = walk.dst_strides[last];
    walk.row_src = walk.src_strides[last];
  }
  return walk;
}

// memcpy of a constant size is one move; the host's side may be unaligned.
#define COPY_ROW(bytes)                                                                            \
  for (int64_t i = 0; i < walk->row_count; i++)                                                    \
  memcpy(dst + i * walk->row_dst, src + i * walk->row_src, (bytes))

static void copy_row(const walk_t* walk, char* dst, const char* src, size_t size) {
  if (walk->row_dst == (int64_t)size && walk->row_src == (int64_t)size) {
    memcpy(dst, src, (size_t)walk->row_count * size);
    return;
  }
  switch (size) {
  case 1:
    COPY_ROW(1);
    break;
  case 2:
    COPY_ROW(2);
    break;
  case 4:
    COPY_ROW(4);
    break;
  case 8:
    COPY_ROW(8);
    break;
  default:
    COPY_ROW(size);
    break;
  }
}
#undef COPY_ROW

void vtpu_strided_copy(const tpt_type_t* type, void* dst, const int64_t* dst_strides,
                       const void* src, const int64_t* src_strides) {
  if (tpt_type_count(type) == 0) return;
  size_t size = tpt_dtype_size(type->dtype);
  walk_t walk = plan_walk(type, dst_strides, src_strides);
  int64_t index[TPT_RANK_MAX] = {0};
  char* to = dst;
  const char* from = src;
  for (;;) {
    copy_row(&walk, to, from, size);
    int d = walk.rank - 1;
    for (; d >= 0; d--) {
      to += walk.dst_strides[d];
      from += walk.src_strides[d];
      if (++index[d] < walk.dims[d]) break;
      to -= walk.dst_strides[d] * walk.dims[d];
      from -= walk.src_strides[d] * walk.dims[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}
