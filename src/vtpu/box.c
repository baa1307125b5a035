// Strided copies, fills and index reading. The rows of a box (its last dimension) are the unit of
// work; a box of one long row is cut into stretches.
#include "vtpu/box.h"

#include <string.h>

#include "vtpu/lane.h"

enum { GRAIN_SIZE = 128 << 10 };  // bytes that justify a hand-off to another thread

void vtpu_type_strides(const tpt_type_t* type, int64_t* out_strides) {
  int64_t stride = (int64_t)tpt_dtype_size(type->dtype);
  for (int d = type->rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    stride *= type->dims[d];
  }
}

int64_t vtpu_index_load(tpt_dtype_t dtype, const void* data, int64_t i) {
  switch (dtype) {
  case TPT_S8:
    return ((const int8_t*)data)[i];
  case TPT_PRED:
  case TPT_U8:
    return ((const uint8_t*)data)[i];
  case TPT_S16:
    return ((const int16_t*)data)[i];
  case TPT_U16:
    return ((const uint16_t*)data)[i];
  case TPT_S32:
    return ((const int32_t*)data)[i];
  case TPT_U32:
    return ((const uint32_t*)data)[i];
  case TPT_U64: {
    uint64_t x = ((const uint64_t*)data)[i];
    return x > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)x;
  }
  default:
    return ((const int64_t*)data)[i];
  }
}

void vtpu_box_simplify(vtpu_box_t* box) {
  int rank = 0;
  for (int d = 0; d < box->rank; d++) {
    int64_t size = box->size[d], in = box->in_stride[d], out = box->out_stride[d];
    if (size == 1) continue;
    if (rank > 0 && box->in_stride[rank - 1] == size * in &&
        box->out_stride[rank - 1] == size * out) {
      box->size[rank - 1] *= size;
      box->in_stride[rank - 1] = in;
      box->out_stride[rank - 1] = out;
      continue;
    }
    box->size[rank] = size;
    box->in_stride[rank] = in;
    box->out_stride[rank++] = out;
  }
  box->rank = rank;
}

typedef struct wide {
  uint64_t half[2];
} wide_t;

#define ROW_COPY(type)                                                                             \
  static void row_copy_##type(const char* in, int64_t in_stride, char* out, int64_t out_stride,    \
                              int64_t count) {                                                     \
    for (int64_t i = 0; i < count; i++)                                                            \
      *(type*)(out + i * out_stride) = *(const type*)(in + i * in_stride);                         \
  }

ROW_COPY(uint8_t)
ROW_COPY(uint16_t)
ROW_COPY(uint32_t)
ROW_COPY(uint64_t)
ROW_COPY(wide_t)

typedef void (*row_copy_fn_t)(const char*, int64_t, char*, int64_t, int64_t);

static row_copy_fn_t row_copy_fn(size_t element_size) {
  switch (element_size) {
  case 1:
    return row_copy_uint8_t;
  case 2:
    return row_copy_uint16_t;
  case 4:
    return row_copy_uint32_t;
  case 8:
    return row_copy_uint64_t;
  default:
    return row_copy_wide_t;
  }
}

typedef struct job {
  const vtpu_box_t* box;
  const char* in;
  char* out;
  size_t element_size;
  bool is_dense;  // rows are contiguous in both arrays
  row_copy_fn_t row_copy;
} job_t;

static void rows_copy(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const job_t* job = arg;
  const vtpu_box_t* box = job->box;
  int last = box->rank - 1;
  int64_t at[TPT_RANK_MAX], rest = begin;
  const char* in = job->in;
  char* out = job->out;
  for (int d = last - 1; d >= 0; d--) {
    at[d] = rest % box->size[d];
    rest /= box->size[d];
    in += at[d] * box->in_stride[d];
    out += at[d] * box->out_stride[d];
  }
  for (int64_t row = begin; row < end; row++) {
    if (job->is_dense) {
      memcpy(out, in, (size_t)box->size[last] * job->element_size);
    } else {
      job->row_copy(in, box->in_stride[last], out, box->out_stride[last], box->size[last]);
    }
    for (int d = last - 1; d >= 0; d--) {
      in += box->in_stride[d];
      out += box->out_stride[d];
      if (++at[d] < box->size[d]) break;
      in -= at[d] * box->in_stride[d];
      out -= at[d] * box->out_stride[d];
      at[d] = 0;
    }
  }
}

static void stretch_copy(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const job_t* job = arg;
  const vtpu_box_t* box = job->box;
  const char* in = job->in + begin * box->in_stride[0];
  char* out = job->out + begin * box->out_stride[0];
  if (job->is_dense) {
    memcpy(out, in, (size_t)(end - begin) * job->element_size);
  } else {
    job->row_copy(in, box->in_stride[0], out, box->out_stride[0], end - begin);
  }
}

void vtpu_box_copy(const vtpu_box_t* box, size_t element_size, const vtpu_exec_t* exec,
                   const void* in, void* out) {
  if (box->rank == 0) {
    memcpy(out, in, element_size);
    return;
  }
  int last = box->rank - 1;
  int64_t rows = 1, size = (int64_t)element_size;
  job_t job = {.box = box, .in = in, .out = out, .element_size = element_size};
  job.is_dense = box->in_stride[last] == size && box->out_stride[last] == size;
  job.row_copy = row_copy_fn(element_size);
  for (int d = 0; d < last; d++)
    rows *= box->size[d];
  int64_t row_size = box->size[last] * size;
  if (rows == 0 || row_size == 0) return;
  if (box->rank == 1) {
    vtpu_range_for(exec, box->size[0], GRAIN_SIZE / size, stretch_copy, &job);
    return;
  }
  int64_t grain = GRAIN_SIZE / row_size;
  vtpu_range_for(exec, rows, grain > 0 ? grain : 1, rows_copy, &job);
}

void vtpu_copy(const vtpu_exec_t* exec, const void* in, void* out, int64_t size) {
  if (in == out || size == 0) return;
  vtpu_box_t box = {.rank = 1, .size = {size}, .in_stride = {1}, .out_stride = {1}};
  vtpu_box_copy(&box, 1, exec, in, out);
}

typedef struct fill {
  wide_t element;
  size_t element_size;
  char* out;
} fill_t;

static void stretch_fill(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const fill_t* fill = arg;
  size_t size = fill->element_size;
  char* out = fill->out + begin * (int64_t)size;
  int64_t count = end - begin;
  const unsigned char* bytes = (const unsigned char*)&fill->element;
  bool is_uniform = true;
  for (size_t i = 1; i < size; i++)
    is_uniform &= bytes[i] == bytes[0];
  if (is_uniform) {
    memset(out, bytes[0], (size_t)count * size);
    return;
  }
  // A stride of zero on the side that is read repeats the element.
  row_copy_fn(size)((const char*)&fill->element, 0, out, (int64_t)size, count);
}

void vtpu_fill(const vtpu_exec_t* exec, const void* element, size_t element_size, void* out,
               int64_t count) {
  fill_t fill = {.element_size = element_size, .out = out};
  memcpy(&fill.element, element, element_size);
  vtpu_range_for(exec, count, GRAIN_SIZE / (int64_t)element_size, stretch_fill, &fill);
}
