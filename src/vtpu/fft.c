// fft: FFT, IFFT, RFFT, IRFFT over the last one to three dimensions. Every batch element is worked on in
// double precision in its lane's scratch, dimension after dimension, and rounded once at the end.
// Inverse transforms are divided by the number of points.
#include <complex.h>
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/fft_line.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"

enum { FFT_DIMS_MAX = 3 };

typedef struct fft {
  tpt_fft_t kind;
  int rank;  // transformed dimensions
  int64_t length[FFT_DIMS_MAX];
  const vtpu_fft_line_t* line[FFT_DIMS_MAX];
  int64_t batch;
  int64_t in_last, out_last;  // elements of the last dimension, as stored
  int64_t points;             // product of the lengths
  int64_t rows;               // points / the last length
  bool is_double;
  size_t in_size, out_size;
  int64_t line_max, line_scratch;
  int lane_count;
  size_t lane_size, in_offset, out_offset, scratch_offset;
} fft_t;

tpt_status_t vtpu_fft_prepare(vtpu_kernel_t* kernel) {
  fft_t* fft = tpt_arena_calloc(kernel->arena, 1, sizeof(*fft));
  if (!fft) return tpt_arena_status(kernel->arena);
  kernel->state = fft;
  const tpt_type_t *in = &kernel->operand_types[0], *out = &kernel->result_types[0];
  fft->kind = (tpt_fft_t)tpt_node_int(kernel->node, 0);
  const int64_t* length = tpt_node_ints(kernel->node, 1, &fft->rank);
  fft->points = fft->batch = 1;
  for (int d = 0; d < fft->rank; d++) {
    fft->length[d] = length[d];
    fft->points *= length[d];
    if (length[d] > fft->line_max) fft->line_max = length[d];
    if (length[d] == 0) continue;
    fft->line[d] = vtpu_fft_line_make(length[d], kernel->arena);
    if (!fft->line[d]) return tpt_arena_status(kernel->arena);
    int64_t scratch = vtpu_fft_line_scratch(fft->line[d]);
    if (scratch > fft->line_scratch) fft->line_scratch = scratch;
  }
  for (int d = 0; d < in->rank - fft->rank; d++)
    fft->batch *= in->dims[d];
  fft->in_last = in->dims[in->rank - 1];
  fft->out_last = out->dims[out->rank - 1];
  fft->rows = fft->points > 0 ? fft->points / length[fft->rank - 1] : 0;
  fft->in_size = tpt_dtype_size(in->dtype);
  fft->out_size = tpt_dtype_size(out->dtype);
  fft->is_double = tpt_dtype_real(out->dtype) == TPT_F64;
  double depth = 1;
  while (depth < 64 && (double)fft->points > (double)(1ull << (int)depth))
    depth++;
  kernel->flops = 5 * (double)fft->points * depth * (double)fft->batch;
  kernel->cost = 200 + (int64_t)(kernel->flops * (fft->line_scratch > 0 ? 6 : 1));
  fft->lane_count = vtpu_lane_count(fft->batch, kernel->cost);
  size_t line = vtpu_scratch_align((size_t)fft->line_max * sizeof(vtpu_c128_t));
  fft->in_offset = vtpu_scratch_align((size_t)fft->points * sizeof(vtpu_c128_t));
  fft->out_offset = fft->in_offset + line;
  fft->scratch_offset = fft->out_offset + line;
  fft->lane_size =
      fft->scratch_offset + vtpu_scratch_align((size_t)fft->line_scratch * sizeof(vtpu_c128_t));
  kernel->scratch_size = fft->lane_size * (size_t)fft->lane_count;
  return tpt_arena_status(kernel->arena);
}

typedef struct run {
  const fft_t* fft;
  const char* in;
  char* out;
  char* scratch;
} run_t;

static vtpu_c128_t load(const fft_t* fft, const char* in, int64_t i) {
  if (fft->kind == TPT_RFFT)
    return fft->is_double ? ((const double*)in)[i] : (double)((const float*)in)[i];
  if (fft->is_double) {
    const double* pair = (const double*)in + 2 * i;
    return pair[0] + pair[1] * I;
  }
  const float* pair = (const float*)in + 2 * i;
  return (double)pair[0] + (double)pair[1] * I;
}

static void store(const fft_t* fft, vtpu_c128_t value, char* out, int64_t i) {
  bool is_real = fft->kind == TPT_IRFFT;
  if (fft->is_double) {
    double* to = (double*)out + (is_real ? i : 2 * i);
    to[0] = creal(value);
    if (!is_real) to[1] = cimag(value);
    return;
  }
  float* to = (float*)out + (is_real ? i : 2 * i);
  to[0] = (float)creal(value);
  if (!is_real) to[1] = (float)cimag(value);
}

// Transforms every line of the work array along dimension d.
static void dimension_run(const fft_t* fft, int d, vtpu_c128_t* work, char* lane) {
  vtpu_c128_t* in = (vtpu_c128_t*)(lane + fft->in_offset);
  vtpu_c128_t* out = (vtpu_c128_t*)(lane + fft->out_offset);
  vtpu_c128_t* scratch = (vtpu_c128_t*)(lane + fft->scratch_offset);
  bool inverse = fft->kind == TPT_IFFT || fft->kind == TPT_IRFFT;
  int64_t n = fft->length[d], inner = 1;
  for (int e = d + 1; e < fft->rank; e++)
    inner *= fft->length[e];
  for (int64_t row = 0; row < fft->points / n; row++) {
    vtpu_c128_t* line = work + row / inner * inner * n + row % inner;
    for (int64_t i = 0; i < n; i++)
      in[i] = line[i * inner];
    vtpu_fft_line_run(fft->line[d], inverse, in, out, scratch);
    for (int64_t i = 0; i < n; i++)
      line[i * inner] = out[i];
  }
}

// The half of a real signal's spectrum that is not stored: conjugates, mirrored along the last
// dimension (the others are transformed back already). The first and the middle element of a real
// line's spectrum are real; whatever imaginary part they carry is ignored, as the definition says.
static void half_complete(const fft_t* fft, vtpu_c128_t* work) {
  int64_t n = fft->length[fft->rank - 1];
  for (int64_t row = 0; row < fft->rows; row++) {
    vtpu_c128_t* line = work + row * n;
    line[0] = creal(line[0]);
    if (n % 2 == 0) line[n / 2] = creal(line[n / 2]);
    for (int64_t i = n / 2 + 1; i < n; i++)
      line[i] = conj(line[n - i]);
  }
}

static void batch_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const fft_t* fft = run->fft;
  char* lane = run->scratch + fft->lane_size * (size_t)lane_number;
  vtpu_c128_t* work = (vtpu_c128_t*)lane;
  int64_t last = fft->length[fft->rank - 1];
  const char* in = run->in + item * fft->rows * fft->in_last * (int64_t)fft->in_size;
  char* out = run->out + item * fft->rows * fft->out_last * (int64_t)fft->out_size;
  for (int64_t row = 0; row < fft->rows; row++)
    for (int64_t i = 0; i < last; i++)
      work[row * last + i] = i < fft->in_last ? load(fft, in, row * fft->in_last + i) : 0;
  for (int d = 0; d < fft->rank - 1; d++)
    dimension_run(fft, d, work, lane);
  if (fft->kind == TPT_IRFFT) half_complete(fft, work);
  dimension_run(fft, fft->rank - 1, work, lane);
  double scale = fft->kind == TPT_IFFT || fft->kind == TPT_IRFFT ? (double)fft->points : 1;
  for (int64_t row = 0; row < fft->rows; row++)
    for (int64_t i = 0; i < fft->out_last; i++)
      store(fft, work[row * last + i] / scale, out, row * fft->out_last + i);
}

tpt_status_t vtpu_fft_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                          const void* const* in, void* const* out) {
  const fft_t* fft = kernel->state;
  run_t run = {.fft = fft, .in = in[0], .out = out[0], .scratch = scratch};
  if (fft->points > 0) vtpu_lane_for(exec, fft->lane_count, fft->batch, batch_item, &run);
  return NULL;
}
