// Convolutions with one or two outputs per group (depthwise ones, mostly), where a matrix product would
// spend its time on packing. Sums run over the taps in order; along K they run in 16 lanes, the same
// ones whatever the vector width of the CPU.
#include <string.h>

#include "vtpu/conv.h"
#include "vtpu/simd.h"

enum { LANES = 16 };

VTPU_INLINE void axpy_body(float w, const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    y[i] += w * x[i];
}
VTPU_SIMD_FUNCTION(static, axpy, (float w, const float* x, float* y, int64_t count),
                   (w, x, y, count))

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

// Each position is a dot product along K.
VTPU_INLINE void by_position_body(const vtpu_conv_direct_t* d, const float* weight, float* result) {
  const vtpu_conv_tables_t* t = d->tables;
  for (int64_t p = 0; p < t->position_count; p++) {
    const float* stage = d->stage + vtpu_axis_offset(&t->position, p);
    float lanes[LANES] = {0}, sum = d->accumulate ? result[p] : 0;
    for (int64_t k = 0; k < t->k_count;) {
      const float *a = weight + k, *b = stage + vtpu_axis_offset(&t->k, k);
      int64_t count = run_at(&t->k, k), i = 0;
      for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; l++)
          lanes[l] += a[i + l] * b[i + l];
      for (int l = 0; i < count; i++, l++)
        lanes[l] += a[i] * b[i];
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

// All positions at once, laid out as the stage is: each tap is one long loop. The places between rows
// are computed too and thrown away.
static void by_tap_flat(const vtpu_conv_direct_t* d, const float* weight, float* result,
                        int64_t span) {
  const vtpu_conv_tables_t* t = d->tables;
  memset(d->temp, 0, (size_t)span * sizeof(float));
  for (int64_t k = 0; k < t->k_count; k++)
    axpy(weight[k], d->stage + vtpu_axis_offset(&t->k, k), d->temp, span);
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
