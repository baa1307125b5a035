// triangular_solve: BLAS on stretches of right-hand sides, over batches and stretches in parallel. Only
// the stated triangle of the matrix is read.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/triangular.h"

enum { STRETCH = 64 };  // right-hand sides of an item

typedef struct solve {
  vtpu_compute_t compute;
  vtpu_trsm_fn_t trsm;
  vtpu_trsm_t form;       // flags
  int64_t n, rows, cols;  // of the matrix, of the right-hand sides
  int64_t batch, stretches;
  vtpu_convert_fn_t widen, narrow;
  bool is_copy;  // the operands have the compute type
  size_t size, compute_size;
  int lane_count;
  size_t lane_size, b_offset;
} solve_t;

static const vtpu_trsm_fn_t trsm_fns[VTPU_COMPUTE_COUNT] = {[VTPU_COMPUTE_F32] = vtpu_trsm_f32,
                                                            [VTPU_COMPUTE_F64] = vtpu_trsm_f64,
                                                            [VTPU_COMPUTE_C64] = vtpu_trsm_c64,
                                                            [VTPU_COMPUTE_C128] = vtpu_trsm_c128};

tpt_status_t vtpu_triangular_solve_prepare(vtpu_kernel_t* kernel) {
  solve_t* s = tpt_arena_calloc(kernel->arena, 1, sizeof(*s));
  if (!s) return tpt_arena_status(kernel->arena);
  kernel->state = s;
  const tpt_type_t *a = &kernel->operand_types[0], *b = &kernel->operand_types[1];
  TPT_TRY(vtpu_triangular_find("triangular_solve", a->dtype, &s->compute));
  s->trsm = trsm_fns[s->compute];
  int64_t transpose = tpt_node_int(kernel->node, 3);
  bool is_complex = s->compute == VTPU_COMPUTE_C64 || s->compute == VTPU_COMPUTE_C128;
  s->form = (vtpu_trsm_t){.left = tpt_node_int(kernel->node, 0) != 0,
                          .lower = tpt_node_int(kernel->node, 1) != 0,
                          .unit_diagonal = tpt_node_int(kernel->node, 2) != 0,
                          .trans = transpose != TPT_NO_TRANSPOSE,
                          .conjugate = is_complex && transpose == TPT_ADJOINT_A};
  s->n = a->dims[a->rank - 1];
  s->rows = b->dims[b->rank - 2];
  s->cols = b->dims[b->rank - 1];
  if (s->n > INT32_MAX || s->rows > INT32_MAX || s->cols > INT32_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "triangular_solve with a dimension above %d", INT32_MAX);
  s->batch = 1;
  for (int d = 0; d < a->rank - 2; d++)
    s->batch *= a->dims[d];
  s->stretches = ((s->form.left ? s->cols : s->rows) + STRETCH - 1) / STRETCH;
  s->widen = vtpu_widen_fn(a->dtype, s->compute, VTPU_PART_EXACT);
  s->narrow = vtpu_narrow_fn(s->compute, a->dtype);
  s->is_copy = vtpu_widen_is_copy(a->dtype, s->compute, VTPU_PART_EXACT);
  s->size = tpt_dtype_size(a->dtype);
  s->compute_size = vtpu_compute_row(s->compute)->size;
  kernel->flops = (double)tpt_type_count(b) * (double)s->n;
  kernel->cost = 300 + (int64_t)(kernel->flops / 10) + vtpu_move_cost(2 * tpt_type_size(b));
  // Widened operands are whole matrices, one batch element a lane.
  if (!s->is_copy) s->stretches = s->stretches > 0;
  s->lane_count = vtpu_lane_count(s->batch * s->stretches, kernel->cost);
  if (!s->is_copy) {
    s->b_offset = vtpu_scratch_align((size_t)(s->n * s->n) * s->compute_size);
    s->lane_size = s->b_offset + vtpu_scratch_align((size_t)(s->rows * s->cols) * s->compute_size);
  }
  kernel->scratch_size = s->lane_size * (size_t)s->lane_count;
  return NULL;
}

typedef struct run {
  const solve_t* solve;
  const char* a;
  const char* b;
  char* out;
  char* scratch;
} run_t;

static void stretch_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const solve_t* s = run->solve;
  int64_t batch = item / s->stretches, first = item % s->stretches * STRETCH;
  int64_t elements = s->rows * s->cols;
  const char* a = run->a + batch * s->n * s->n * (int64_t)s->size;
  vtpu_trsm_t form = s->form;
  form.m = (int)s->rows, form.n = (int)s->cols;
  form.lda = (int)(s->n > 0 ? s->n : 1), form.ldb = (int)(s->cols > 0 ? s->cols : 1);
  if (!s->is_copy) {
    char* lane = run->scratch + s->lane_size * (size_t)lane_number;
    s->widen(a, lane, s->n * s->n);
    s->widen(run->b + batch * elements * (int64_t)s->size, lane + s->b_offset, elements);
    form.a = lane, form.b = lane + s->b_offset;
    s->trsm(&form);
    s->narrow(lane + s->b_offset, run->out + batch * elements * (int64_t)s->size, elements);
    return;
  }
  char* b = run->out + batch * elements * (int64_t)s->size;
  int64_t left = (form.left ? s->cols : s->rows) - first;
  int count = (int)(left < STRETCH ? left : STRETCH);
  if (form.left) {
    form.n = count;
    b += first * (int64_t)s->size;
  } else {
    form.m = count;
    b += first * s->cols * (int64_t)s->size;
  }
  form.a = a, form.b = b;
  s->trsm(&form);
}

tpt_status_t vtpu_triangular_solve_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                       void* scratch, const void* const* in, void* const* out) {
  const solve_t* s = kernel->state;
  run_t run = {.solve = s, .a = in[0], .b = in[1], .out = out[0], .scratch = scratch};
  if (s->is_copy) vtpu_copy(exec, in[1], out[0], tpt_type_size(&kernel->result_types[0]));
  if (s->rows > 0 && s->cols > 0)
    vtpu_lane_for(exec, s->lane_count, s->batch * s->stretches, stretch_item, &run);
  return NULL;
}
