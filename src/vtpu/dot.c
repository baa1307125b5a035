// dot_general: every operand is seen as batch x free x contracting, then the product runs on
// packed strips or on BLAS.
//
// f32: DEFAULT multiplies operands rounded to bf16, HIGH adds the products of the rests (three
// passes), HIGHEST is plain f32. The precision of complex operands is always HIGHEST.
#include "vtpu/dot.h"

#include "vtpu/kernel_rows.h"

typedef struct dims {
  int count;
  int64_t size[TPT_RANK_MAX], stride[TPT_RANK_MAX];
} dims_t;

static void dims_add(dims_t* dims, int64_t size, int64_t stride) {
  if (size == 1) return;
  dims->size[dims->count] = size;
  dims->stride[dims->count++] = stride;
}

static int64_t dims_size(const dims_t* dims) {
  int64_t size = 1;
  for (int i = 0; i < dims->count; i++)
    size *= dims->size[i];
  return size;
}

// Row-major walk over `dims` as one axis: a stride if they collapse, a table otherwise.
static vtpu_axis_t axis_make(const dims_t* dims, tpt_arena_t* arena) {
  vtpu_axis_t axis = {.count = dims_size(dims), .stride = 1};
  if (dims->count == 0 || axis.count == 0) return axis;
  axis.stride = dims->stride[dims->count - 1];
  bool collapses = true;
  for (int i = 0; i + 1 < dims->count; i++)
    collapses &= dims->stride[i] == dims->size[i + 1] * dims->stride[i + 1];
  if (collapses) return axis;
  int64_t* table = tpt_arena_alloc(arena, (size_t)axis.count * sizeof(*table));
  int32_t* run = tpt_arena_alloc(arena, (size_t)axis.count * sizeof(*run));
  if (!table || !run) return axis;
  for (int64_t i = 0; i < axis.count; i++) {
    int64_t rest = i, offset = 0;
    for (int d = dims->count - 1; d >= 0; d--) {
      offset += rest % dims->size[d] * dims->stride[d];
      rest /= dims->size[d];
    }
    table[i] = offset;
  }
  axis.even_run = vtpu_axis_runs(table, axis.count, run);
  axis.table = table;
  axis.run = run;
  return axis;
}

static void strides_of(const tpt_type_t* type, int64_t* strides) {
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= type->dims[d];
  }
}

// Contracting pairs in the order of the lhs's (or the rhs's) dimensions: any common order sums the
// same products, and the operand's own order is the one that collapses.
static void contract_sort(tpt_dot_t* dims, bool by_rhs) {
  int64_t* key = by_rhs ? dims->rhs_contract : dims->lhs_contract;
  int64_t* other = by_rhs ? dims->lhs_contract : dims->rhs_contract;
  for (int i = 1; i < dims->contract_count; i++) {
    for (int j = i; j > 0 && key[j - 1] > key[j]; j--) {
      int64_t a = key[j], b = other[j];
      key[j] = key[j - 1], other[j] = other[j - 1];
      key[j - 1] = a, other[j - 1] = b;
    }
  }
}

static void side_axes(vtpu_dot_side_t* side, const tpt_type_t* type, const tpt_dot_t* dot,
                      bool is_rhs, tpt_arena_t* arena) {
  const int64_t* batch = is_rhs ? dot->rhs_batch : dot->lhs_batch;
  const int64_t* contract = is_rhs ? dot->rhs_contract : dot->lhs_contract;
  int64_t strides[TPT_RANK_MAX];
  strides_of(type, strides);
  bool is_taken[TPT_RANK_MAX] = {false};
  dims_t free = {0}, inner = {0};
  for (int i = 0; i < dot->batch_count; i++) {
    side->batch_stride[i] = strides[batch[i]];
    is_taken[batch[i]] = true;
  }
  for (int i = 0; i < dot->contract_count; i++) {
    dims_add(&inner, type->dims[contract[i]], strides[contract[i]]);
    is_taken[contract[i]] = true;
  }
  for (int d = 0; d < type->rank; d++)
    if (!is_taken[d]) dims_add(&free, type->dims[d], strides[d]);
  side->dtype = type->dtype;
  side->free = axis_make(&free, arena);
  side->contract = axis_make(&inner, arena);
  bool contract_is_unit = inner.count == 0 || inner.stride[inner.count - 1] == 1;
  bool free_is_unit = free.count == 0 || free.stride[free.count - 1] == 1;
  side->contract_inner = contract_is_unit || !free_is_unit;
}

int64_t vtpu_dot_batch_offset(const vtpu_dot_shape_t* shape, int side, int64_t batch) {
  int64_t offset = 0;
  for (int d = shape->batch_rank - 1; d >= 0; d--) {
    offset += batch % shape->batch_dims[d] * shape->sides[side].batch_stride[d];
    batch /= shape->batch_dims[d];
  }
  return offset;
}

enum { KEEP_MIN = 4096 };  // elements; smaller operands are packed in no time

static void form_add(vtpu_dot_form_t* form, int64_t word) {
  form->words[form->count++] = word;
}

void vtpu_dot_form_make(const vtpu_dot_shape_t* shape, int side, vtpu_dot_way_t how, int64_t more,
                        vtpu_dot_form_t* out) {
  const vtpu_dot_side_t* at = &shape->sides[side];
  out->count = 0;
  if (at->free.table || at->contract.table || at->free.count * shape->k < KEEP_MIN) return;
  form_add(out, how);
  form_add(out, more);
  form_add(out, side);
  form_add(out, at->dtype);
  form_add(out, at->contract_inner);
  form_add(out, at->free.count);
  form_add(out, at->free.stride);
  form_add(out, at->contract.count);
  form_add(out, at->contract.stride);
  for (int d = 0; d < shape->batch_rank; d++) {
    form_add(out, shape->batch_dims[d]);
    form_add(out, at->batch_stride[d]);
  }
}

double vtpu_dot_bytes(const vtpu_kernel_t* kernel) {
  return (double)(tpt_type_size(&kernel->operand_types[0]) +
                  tpt_type_size(&kernel->operand_types[1]) +
                  tpt_type_size(&kernel->result_types[0]));
}

static bool is_byte(tpt_dtype_t dtype) {
  return dtype == TPT_S8 || dtype == TPT_U8;
}

tpt_status_t vtpu_dot_shape_make(const vtpu_kernel_t* kernel, vtpu_dot_shape_t* shape) {
  const tpt_type_t *lhs = &kernel->operand_types[0], *rhs = &kernel->operand_types[1];
  shape->result = kernel->result_types[0].dtype;
  TPT_TRY(vtpu_compute_find(lhs->dtype, rhs->dtype, shape->result, &shape->compute));
  bool is_bytes = is_byte(lhs->dtype) && is_byte(rhs->dtype);
  if (is_bytes && shape->compute == VTPU_COMPUTE_U32) shape->compute = VTPU_COMPUTE_S16;
  tpt_dot_t dims;
  tpt_node_dot(kernel->node, &dims);
  shape->precision = dims.precision;
  contract_sort(&dims, tpt_type_count(rhs) > tpt_type_count(lhs));
  side_axes(&shape->sides[0], lhs, &dims, false, kernel->arena);
  side_axes(&shape->sides[1], rhs, &dims, true, kernel->arena);
  shape->batch_rank = dims.batch_count;
  shape->batch_count = 1;
  for (int i = 0; i < dims.batch_count; i++) {
    shape->batch_dims[i] = lhs->dims[dims.lhs_batch[i]];
    shape->batch_count *= shape->batch_dims[i];
  }
  shape->m = shape->sides[0].free.count;
  shape->n = shape->sides[1].free.count;
  shape->k = shape->sides[0].contract.count;
  return tpt_arena_status(kernel->arena);
}

tpt_status_t vtpu_dot_shape_prepare(vtpu_kernel_t* kernel, const vtpu_dot_shape_t* shape) {
  kernel->flops = vtpu_dot_flops(shape);
  bool is_done = false;
  TPT_TRY(vtpu_dot_strip_prepare(kernel, shape, &is_done));
  return is_done ? NULL : vtpu_dot_blas_prepare(kernel, shape);
}

tpt_status_t vtpu_dot_prepare(vtpu_kernel_t* kernel) {
  vtpu_dot_shape_t shape = {0};
  TPT_TRY(vtpu_dot_shape_make(kernel, &shape));
  return vtpu_dot_shape_prepare(kernel, &shape);
}

tpt_status_t vtpu_dot_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                          const void* const* in, void* const* out) {
  const vtpu_dot_state_t* state = kernel->state;
  return state->run(kernel, exec, scratch, in, out);
}
