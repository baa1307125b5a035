// cholesky: one LAPACK call per matrix, batches over the pool. The other triangle of the result is
// zero; a matrix that is not positive definite gives NaN in its triangle.
#include <math.h>
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/triangular.h"

typedef struct cholesky {
  vtpu_compute_t compute;
  bool lower;
  int64_t n, batch;
  vtpu_convert_fn_t widen, narrow;
  size_t size, compute_size;
  int lane_count;
  size_t lane_size;
} cholesky_t;

tpt_status_t vtpu_cholesky_prepare(vtpu_kernel_t* kernel) {
  cholesky_t* c = tpt_arena_calloc(kernel->arena, 1, sizeof(*c));
  if (!c) return tpt_arena_status(kernel->arena);
  kernel->state = c;
  const tpt_type_t* type = &kernel->operand_types[0];
  TPT_TRY(vtpu_triangular_find("cholesky", type->dtype, &c->compute));
  c->lower = tpt_node_int(kernel->node, 0) != 0;
  c->n = type->dims[type->rank - 1];
  if (c->n > INT32_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "cholesky of a matrix with more than %d rows", INT32_MAX);
  c->batch = 1;
  for (int d = 0; d < type->rank - 2; d++)
    c->batch *= type->dims[d];
  c->widen = vtpu_widen_fn(type->dtype, c->compute, VTPU_PART_EXACT);
  c->narrow = vtpu_narrow_fn(c->compute, type->dtype);
  c->size = tpt_dtype_size(type->dtype);
  c->compute_size = vtpu_compute_row(c->compute)->size;
  kernel->flops = (double)c->batch * (double)c->n * (double)c->n * (double)c->n / 3;
  kernel->cost = 300 + (int64_t)(kernel->flops / 10) + vtpu_move_cost(2 * tpt_type_size(type));
  c->lane_count = vtpu_lane_count(c->batch, kernel->cost);
  c->lane_size = vtpu_scratch_align((size_t)(c->n * c->n) * c->compute_size);
  kernel->scratch_size = c->lane_size * (size_t)c->lane_count;
  return NULL;
}

typedef struct run {
  const cholesky_t* cholesky;
  const char* in;
  char* out;
  char* scratch;
} run_t;

static bool factor(vtpu_compute_t compute, bool lower, int n, void* a) {
  switch (compute) {
  case VTPU_COMPUTE_F32:
    return vtpu_potrf_f32(lower, n, a);
  case VTPU_COMPUTE_F64:
    return vtpu_potrf_f64(lower, n, a);
  case VTPU_COMPUTE_C64:
    return vtpu_potrf_c64(lower, n, a);
  default:
    return vtpu_potrf_c128(lower, n, a);
  }
}

// NaN in every number of a run of elements; a NaN of f32 fits all element types but f64's.
static void fill_nan(vtpu_compute_t compute, char* to, int64_t count) {
  bool is_double = compute == VTPU_COMPUTE_F64 || compute == VTPU_COMPUTE_C128;
  bool is_complex = compute == VTPU_COMPUTE_C64 || compute == VTPU_COMPUTE_C128;
  for (int64_t i = 0; i < (is_complex ? 2 * count : count); i++) {
    if (is_double) {
      ((double*)to)[i] = NAN;
    } else {
      ((float*)to)[i] = NAN;
    }
  }
}

static void matrix_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const cholesky_t* c = run->cholesky;
  char* a = run->scratch + c->lane_size * (size_t)lane_number;
  int64_t n = c->n, elements = n * n;
  c->widen(run->in + item * elements * (int64_t)c->size, a, elements);
  bool is_definite = factor(c->compute, c->lower, (int)n, a);
  for (int64_t i = 0; i < n; i++) {
    char* row = a + (size_t)(i * n) * c->compute_size;
    int64_t first = c->lower ? 0 : i, count = c->lower ? i + 1 : n - i;
    if (!is_definite) fill_nan(c->compute, row + (size_t)first * c->compute_size, count);
    int64_t zero = c->lower ? i + 1 : 0;
    memset(row + (size_t)zero * c->compute_size, 0, (size_t)(n - count) * c->compute_size);
  }
  c->narrow(a, run->out + item * elements * (int64_t)c->size, elements);
}

tpt_status_t vtpu_cholesky_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                               const void* const* in, void* const* out) {
  const cholesky_t* c = kernel->state;
  run_t run = {.cholesky = c, .in = in[0], .out = out[0], .scratch = scratch};
  if (c->n > 0) vtpu_lane_for(exec, c->lane_count, c->batch, matrix_item, &run);
  return NULL;
}
