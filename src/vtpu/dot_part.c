// Parts of products: kernels prepared for fewer rows and one batch element, called with the addresses of
// their piece of the operands.
#include "vtpu/dot_part.h"

#include <string.h>

#include "vtpu/dot.h"
#include "vtpu/kernel_rows.h"

static bool is_dense_rows(const vtpu_dot_shape_t* shape) {
  const vtpu_dot_side_t* lhs = &shape->sides[0];
  if (lhs->contract.table || (lhs->contract.count > 1 && lhs->contract.stride != 1)) return false;
  if (lhs->free.table || (lhs->free.count > 1 && lhs->free.stride != shape->k)) return false;
  int64_t stride = shape->m * shape->k;
  for (int d = shape->batch_rank - 1; d >= 0; d--) {
    if (shape->batch_dims[d] > 1 && lhs->batch_stride[d] != stride) return false;
    stride *= shape->batch_dims[d];
  }
  return true;
}

tpt_status_t vtpu_dot_part_make(const vtpu_kernel_t* whole, vtpu_dot_part_t* out, bool* out_ok) {
  vtpu_dot_shape_t shape = {0};
  memset(out, 0, sizeof(*out));
  TPT_TRY(vtpu_dot_shape_make(whole, &shape));
  out->batch_count = shape.batch_count;
  out->m = shape.m;
  out->n = shape.n;
  out->k = shape.k;
  out->batch_rank = shape.batch_rank;
  memcpy(out->batch_dims, shape.batch_dims, sizeof(out->batch_dims));
  for (int s = 0; s < 2; s++)
    for (int d = 0; d < shape.batch_rank; d++)
      out->batch_strides[s][d] =
          shape.sides[s].batch_stride[d] * (int64_t)tpt_dtype_size(shape.sides[s].dtype);
  out->row_stride = shape.sides[0].free.stride * (int64_t)tpt_dtype_size(shape.sides[0].dtype);
  out->result_stride = shape.n * (int64_t)tpt_dtype_size(shape.result);
  out->lhs_is_rows = is_dense_rows(&shape);
  *out_ok = !shape.sides[0].free.table;
  return NULL;
}

static tpt_status_t kernel_make(const vtpu_kernel_t* whole, int64_t rows,
                                const vtpu_kernel_t** out) {
  vtpu_kernel_t* kernel = tpt_arena_copy(whole->arena, whole, sizeof(*whole));
  vtpu_dot_shape_t shape = {0};
  if (!kernel) return tpt_arena_status(whole->arena);
  kernel->state = NULL;
  kernel->scratch_size = 0;
  TPT_TRY(vtpu_dot_shape_make(kernel, &shape));
  tpt_type_t* types = tpt_arena_alloc(whole->arena, 3 * sizeof(*types));
  if (!types) return tpt_arena_status(whole->arena);
  types[0] = tpt_type_make(shape.sides[0].dtype, 2, (int64_t[]){rows, shape.k});
  types[1] = tpt_type_make(shape.sides[1].dtype, 2, (int64_t[]){shape.k, shape.n});
  types[2] = tpt_type_make(shape.result, 2, (int64_t[]){rows, shape.n});
  kernel->operand_types = types;
  kernel->result_types = types + 2;
  shape.batch_rank = 0;
  shape.batch_count = 1;
  shape.m = shape.sides[0].free.count = rows;
  TPT_TRY(vtpu_dot_shape_prepare(kernel, &shape));
  *out = kernel;
  return NULL;
}

tpt_status_t vtpu_dot_part_prepare(const vtpu_kernel_t* whole, int64_t rows, int64_t last_rows,
                                   vtpu_dot_part_t* part) {
  TPT_TRY(kernel_make(whole, rows, &part->kernels[0]));
  part->scratch_size = part->kernels[0]->scratch_size;
  if (last_rows == 0) return NULL;
  TPT_TRY(kernel_make(whole, last_rows, &part->kernels[1]));
  if (part->kernels[1]->scratch_size > part->scratch_size)
    part->scratch_size = part->kernels[1]->scratch_size;
  return NULL;
}

static int64_t batch_offset(const vtpu_dot_part_t* part, int side, int64_t batch) {
  int64_t offset = 0;
  for (int d = part->batch_rank - 1; d >= 0; d--) {
    offset += batch % part->batch_dims[d] * part->batch_strides[side][d];
    batch /= part->batch_dims[d];
  }
  return offset;
}

tpt_status_t vtpu_dot_part_run(const vtpu_dot_part_t* part, const vtpu_dot_piece_t* piece) {
  int64_t batch = piece->row / part->m, inside = piece->row % part->m;
  const void* in[2] = {piece->lhs_rows, (const char*)piece->rhs + batch_offset(part, 1, batch)};
  if (!piece->lhs_rows)
    in[0] = (const char*)piece->lhs + batch_offset(part, 0, batch) + inside * part->row_stride;
  vtpu_exec_t exec = {.pool = NULL, .flush_subnormals = piece->flush_subnormals};
  void* out[1] = {piece->out_rows};
  return vtpu_dot_run(part->kernels[piece->which], &exec, piece->scratch, in, out);
}
