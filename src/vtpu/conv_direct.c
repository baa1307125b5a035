// Convolutions with one or two outputs per group (depthwise ones, mostly), where a matrix product would
// spend its time on packing. Sums run over the taps in order; along K they run in 16 lanes, the same
// ones whatever the vector width of the CPU.
#include <string.h>

#include "vtpu/conv.h"
#include "vtpu/simd.h"

enum { LANES = 16, PLACES = 4 };

static void axpy_strided(float w, const float* x, int64_t stride, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    y[i] += w * x[i * stride];
}

// How many positions from `i` on lie one after another (along K: the same).
static int64_t run_at(const vtpu_axis_t* axis, int64_t i) {
  if (axis->table) return axis->run[i];
  return axis->stride == 1 ? axis->count - i : 1;
}

// Longest stretches on average, judged by the first one.
static bool k_runs_are_longer(const vtpu_conv_tables_t* t) {
  if (t->k_count == 0 || t->position_count == 0) return false;
  return run_at(&t->k, 0) > run_at(&t->position, 0) && t->k_count > t->position_count;
}

typedef float floats_t __attribute__((vector_size(64)));
typedef int32_t bits_t __attribute__((vector_size(64)));

VTPU_INLINE void floats_load(const float* from, floats_t* out) {
  memcpy(out, from, sizeof(*out));
}

// lanes += a * b. The elements that fill no vector are the last ones of the vector that ends with them;
// of short runs they are added one by one.
VTPU_INLINE void run_add(const float* a, const float* b, int64_t count, floats_t* lanes) {
  floats_t x, y;
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    floats_load(a + i, &x);
    floats_load(b + i, &y);
    *lanes += x * y;
  }
  if (i == count) return;
  if (i == 0) {
    for (int l = 0; i < count; i++, l++)
      (*lanes)[l] += a[i] * b[i];
    return;
  }
  const bits_t number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  bits_t is_new = number >= (int32_t)(LANES - (count - i));
  floats_load(a + count - LANES, &x);
  floats_load(b + count - LANES, &y);
  *lanes += (floats_t)((bits_t)(x * y) & is_new);
}

// Each position is a dot product along K.
VTPU_INLINE void by_position_body(const vtpu_conv_direct_t* d, const float* weight, float* result) {
  const vtpu_conv_tables_t* t = d->tables;
  for (int64_t p = 0; p < t->position_count; p++) {
    const float* stage = d->stage + vtpu_axis_offset(&t->position, p);
    floats_t lanes = {0};
    float sum = d->accumulate ? result[p] : 0;
    for (int64_t k = 0; k < t->k_count;) {
      int64_t count = run_at(&t->k, k);
      run_add(weight + k, stage + vtpu_axis_offset(&t->k, k), count, &lanes);
      k += count;
    }
    for (int l = 0; l < LANES; l++)
      sum += lanes[l];
    result[p] = sum;
  }
}
VTPU_SIMD_FUNCTION(static, by_position,
                   (const vtpu_conv_direct_t* d, const float* weight, float* result),
                   (d, weight, result))

// `count` places (1 to PLACES vectors) of all taps together, which stay in registers.
VTPU_INLINE void taps_add(const vtpu_conv_direct_t* d, const float* weight, int64_t first,
                          int vectors) {
  const vtpu_conv_tables_t* t = d->tables;
  floats_t sums[PLACES] = {{0}};
  for (int64_t k = 0; k < t->k_count; k++) {
    const float* from = d->stage + vtpu_axis_offset(&t->k, k) + first;
    for (int v = 0; v < vectors; v++) {
      floats_t x;
      floats_load(from + v * LANES, &x);
      sums[v] += x * weight[k];
    }
  }
  memcpy(d->temp + first, sums, (size_t)vectors * sizeof(*sums));
}

// All positions at once, laid out as the stage is. The places between rows are computed too and thrown
// away.
VTPU_INLINE void taps_flat_body(const vtpu_conv_direct_t* d, const float* weight, int64_t span) {
  const vtpu_conv_tables_t* t = d->tables;
  int64_t i = 0;
  for (; i + PLACES * LANES <= span; i += PLACES * LANES)
    taps_add(d, weight, i, PLACES);
  for (; i + LANES <= span; i += LANES)
    taps_add(d, weight, i, 1);
  for (; i < span; i++) {
    float sum = 0;
    for (int64_t k = 0; k < t->k_count; k++)
      sum += weight[k] * d->stage[vtpu_axis_offset(&t->k, k) + i];
    d->temp[i] = sum;
  }
}
VTPU_SIMD_FUNCTION(static, taps_flat,
                   (const vtpu_conv_direct_t* d, const float* weight, int64_t span),
                   (d, weight, span))

static void by_tap_flat(const vtpu_conv_direct_t* d, const float* weight, float* result,
                        int64_t span) {
  const vtpu_conv_tables_t* t = d->tables;
  taps_flat(d, weight, span);
  for (int64_t p = 0; p < t->position_count;) {
    const float* from = d->temp + vtpu_axis_offset(&t->position, p);
    int64_t count = run_at(&t->position, p);
    for (int64_t i = 0; i < count; i++)
      result[p + i] = d->accumulate ? result[p + i] + from[i] : from[i];
    p += count;
  }
}

// Row by row of the innermost axis, for strided positions.
static void by_tap_rows(const vtpu_conv_direct_t* d, const float* weight, float* result) {
  const vtpu_conv_tables_t* t = d->tables;
  int64_t row = 1, step = 1;
  while (row < t->position_count) {
    int64_t next = vtpu_axis_offset(&t->position, row) - vtpu_axis_offset(&t->position, row - 1);
    if (row == 1) step = next;
    if (next != step) break;
    row++;
  }
  while (t->position_count % row != 0)
    row--;  // rows of a region are equally long
  if (!d->accumulate) memset(result, 0, (size_t)t->position_count * sizeof(float));
  for (int64_t p = 0; p < t->position_count; p += row) {
    const float* stage = d->stage + vtpu_axis_offset(&t->position, p);
    for (int64_t k = 0; k < t->k_count; k++)
      axpy_strided(weight[k], stage + vtpu_axis_offset(&t->k, k), step, result + p, row);
  }
}

void vtpu_conv_direct(const vtpu_conv_direct_t* d) {
  const vtpu_conv_tables_t* t = d->tables;
  if (t->position_count == 0) return;
  int64_t span = vtpu_axis_offset(&t->position, t->position_count - 1) + 1;
  bool is_flat = span <= 2 * t->position_count + 64;
  bool has_room = span <= 4 * t->position_count;
  for (int64_t o = 0; o < d->outputs; o++) {
    const float* weight = d->weight + o * d->weight_ld;
    float* result = d->result + o * d->result_ld;
    if (k_runs_are_longer(t)) {
      by_position(d, weight, result);
    } else if (is_flat && has_room) {
      by_tap_flat(d, weight, result, span);
    } else {
      by_tap_rows(d, weight, result);
    }
  }
}
