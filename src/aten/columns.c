// Lowerings of im2col and col2im (Unfold and Fold): the elements under a sliding window as columns, and
// columns added back to the image. One strided slice for each place in the window.
#include "aten/array.h"
#include "aten/promote.h"
#include "aten/rows.h"

enum { PLACES_MAX = 256 };

typedef struct sliding {
  int64_t batch, channels, size[2], kernel[2], dilation[2], padding[2], stride[2], steps[2];
  bool is_batched;
} sliding_t;

// Arguments first .. first + 3: kernel_size, dilation, padding, stride.
static bool read_sliding(const tpt_lower_t* l, int first, sliding_t* s) {
  for (int i = 0; i < 4; i++)
    if (l->args[first + i].count != 2) return false;
  for (int d = 0; d < 2; d++) {
    s->kernel[d] = l->args[first].ints[d];
    s->dilation[d] = l->args[first + 1].ints[d];
    s->padding[d] = l->args[first + 2].ints[d];
    s->stride[d] = l->args[first + 3].ints[d];
    if (s->kernel[d] <= 0 || s->dilation[d] <= 0 || s->padding[d] < 0 || s->stride[d] <= 0)
      return false;
    int64_t reach = s->dilation[d] * (s->kernel[d] - 1) + 1;
    s->steps[d] = (s->size[d] + 2 * s->padding[d] - reach) / s->stride[d] + 1;
    if (s->size[d] + 2 * s->padding[d] < reach) return false;
  }
  return s->kernel[0] * s->kernel[1] <= PLACES_MAX;
}

// What the CPU would refuse, too, or what would unroll too far: the CPU has the words.
static tpt_status_t refuse(const tpt_lower_t* l) {
  return tpt_refuse_dtype(l, tpt_lower_tensor(l, 0)->dtype);
}

tpt_status_t lower_im2col(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  if (t->rank != 3 && t->rank != 4) return refuse(l);
  sliding_t s = {.batch = 1, .is_batched = t->rank == 4};
  if (s.is_batched) s.batch = t->sizes[0];
  s.channels = t->sizes[t->rank - 3];
  s.size[0] = t->sizes[t->rank - 2];
  s.size[1] = t->sizes[t->rank - 1];
  if (!read_sliding(l, 1, &s)) return refuse(l);
  tpt_v x = tpt_hlo_reshape(g, tpt_lower_value(l, 0), 4,
                            (int64_t[]){s.batch, s.channels, s.size[0], s.size[1]});
  int64_t pad[4] = {0, 0, s.padding[0], s.padding[1]}, none[4] = {0};
  x = tpt_hlo_pad(g, x, tpt_hlo_scalar_i64(g, t->dtype, 0), pad, pad, none);
  tpt_v places[PLACES_MAX];
  int count = 0;
  int64_t steps = s.steps[0] * s.steps[1];
  for (int64_t i = 0; i < s.kernel[0]; i++) {
    for (int64_t j = 0; j < s.kernel[1]; j++) {
      int64_t at[2] = {i * s.dilation[0], j * s.dilation[1]};
      int64_t start[4] = {0, 0, at[0], at[1]}, stride[4] = {1, 1, s.stride[0], s.stride[1]};
      int64_t limit[4] = {s.batch, s.channels, at[0] + (s.steps[0] - 1) * s.stride[0] + 1,
                          at[1] + (s.steps[1] - 1) * s.stride[1] + 1};
      tpt_v part = tpt_hlo_slice(g, x, start, limit, stride);
      places[count++] = tpt_hlo_reshape(g, part, 4, (int64_t[]){s.batch, s.channels, 1, steps});
    }
  }
  tpt_v y = tpt_hlo_concatenate(g, places, count, 2);
  int64_t dims[3] = {s.batch, s.channels * count, steps};
  return tpt_lower_result(l, tpt_hlo_reshape(g, y, s.is_batched ? 3 : 2, dims + !s.is_batched));
}

// self [batch, channels * places, steps], output_size, kernel_size, dilation, padding, stride
tpt_status_t lower_col2im(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  if ((t->rank != 2 && t->rank != 3) || l->args[1].count != 2) return refuse(l);
  sliding_t s = {.batch = t->rank == 3 ? t->sizes[0] : 1, .is_batched = t->rank == 3};
  s.size[0] = l->args[1].ints[0];
  s.size[1] = l->args[1].ints[1];
  if (!read_sliding(l, 2, &s)) return refuse(l);
  int64_t places = s.kernel[0] * s.kernel[1];
  if (t->sizes[t->rank - 2] % places != 0 || t->sizes[t->rank - 1] != s.steps[0] * s.steps[1])
    return refuse(l);
  s.channels = t->sizes[t->rank - 2] / places;
  tpt_v x = tpt_operand(l, 0, t->dtype);
  x = tpt_hlo_reshape(g, x, 5, (int64_t[]){s.batch, s.channels, places, s.steps[0], s.steps[1]});
  tpt_v zero = tpt_hlo_scalar_i64(g, tpt_dtype_of(g, x), 0), sum = TPT_VALUE_NONE;
  for (int64_t place = 0; place < places; place++) {
    tpt_v part = tpt_hlo_slice_dim(g, x, 2, place, place + 1, 1);
    part = tpt_hlo_reshape(g, part, 4, (int64_t[]){s.batch, s.channels, s.steps[0], s.steps[1]});
    int64_t at[2] = {place / s.kernel[1], place % s.kernel[1]};
    int64_t low[4] = {0}, high[4] = {0}, interior[4] = {0};
    for (int d = 0; d < 2; d++) {  // where the window's place lies in the image; padding is cut off
      low[2 + d] = at[d] * s.dilation[d] - s.padding[d];
      interior[2 + d] = s.stride[d] - 1;
      high[2 + d] = s.size[d] - low[2 + d] - ((s.steps[d] - 1) * s.stride[d] + 1);
    }
    part = tpt_hlo_pad(g, part, zero, low, high, interior);
    sum = place == 0 ? part : tpt_add(g, sum, part);
  }
  int64_t dims[4] = {s.batch, s.channels, s.size[0], s.size[1]};
  sum = tpt_hlo_reshape(g, sum, s.is_batched ? 4 : 3, dims + !s.is_batched);
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, t->dtype));
}
