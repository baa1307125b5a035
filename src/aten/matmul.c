// Lowerings of matrix products. f16 and bf16 products accumulate in f32, are scaled and added to in f32,
// and are rounded once; f32 products carry the call's precision. alpha and beta stay run-time numbers;
// a beta of 0 means that `self` is not read, NaN or not. Shapes that do not fit are told in PyTorch's
// words; dtypes that do not are left to the CPU.
#include "aten/array.h"
#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/special.h"

typedef struct product {
  tpt_dtype_t dtype;    // of operands and result
  tpt_dtype_t compute;  // of the product before rounding
} product_t;

static tpt_status_t check_dtypes(tpt_lower_t* l, const int* args, int count, product_t* out) {
  out->dtype = tpt_lower_tensor(l, args[0])->dtype;
  out->compute = tpt_dtype_compute(out->dtype);
  if (out->dtype == TPT_PRED) return tpt_refuse_dtype(l, out->dtype);
  for (int i = 1; i < count; i++) {
    tpt_dtype_t other = tpt_lower_tensor(l, args[i])->dtype;
    if (other != out->dtype) return tpt_refuse_dtype(l, other);
  }
  return NULL;
}

static tpt_v multiply(tpt_lower_t* l, const product_t* p, tpt_v a, tpt_v b, tpt_dot_t* dot) {
  dot->precision = p->dtype == TPT_F32 ? l->precision : TPT_PRECISION_DEFAULT;
  dot->result = p->compute;
  return tpt_hlo_dot_general(l->graph, a, b, dot);
}

// a [n, k] times b [k, m].
static tpt_v multiply_matrices(tpt_lower_t* l, const product_t* p, int a, int b) {
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  return multiply(l, p, tpt_lower_value(l, a), tpt_lower_value(l, b), &dot);
}

// a [b, n, k] times b [b, k, m].
static tpt_v multiply_batches(tpt_lower_t* l, const product_t* p, int a, int b) {
  tpt_dot_t dot = {.batch_count = 1,
                   .lhs_batch = {0},
                   .rhs_batch = {0},
                   .contract_count = 1,
                   .lhs_contract = {2},
                   .rhs_contract = {1}};
  return multiply(l, p, tpt_lower_value(l, a), tpt_lower_value(l, b), &dot);
}

static tpt_status_t check_matrices(const tpt_lower_t* l, int a, int b) {
  const tpt_tensor_t *x = tpt_lower_tensor(l, a), *y = tpt_lower_tensor(l, b);
  if (a == 0 && x->rank != 2) TPT_FAIL(TPT_INVALID_ARGUMENT, "self must be a matrix");
  if (a == 0 && y->rank != 2) TPT_FAIL(TPT_INVALID_ARGUMENT, "mat2 must be a matrix");
  if (x->rank != 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "mat1 must be a matrix, got %d-D tensor", (int)x->rank);
  if (y->rank != 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "mat2 must be a matrix, got %d-D tensor", (int)y->rank);
  if (x->sizes[1] != y->sizes[0])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
             (long long)x->sizes[0], (long long)x->sizes[1], (long long)y->sizes[0],
             (long long)y->sizes[1]);
  return NULL;
}

static tpt_status_t check_batches(const tpt_lower_t* l, int a, int b) {
  const tpt_tensor_t *x = tpt_lower_tensor(l, a), *y = tpt_lower_tensor(l, b);
  if (x->rank != 3) TPT_FAIL(TPT_INVALID_ARGUMENT, "batch1 must be a 3D tensor");
  if (y->rank != 3) TPT_FAIL(TPT_INVALID_ARGUMENT, "batch2 must be a 3D tensor");
  if (x->sizes[0] != y->sizes[0] || x->sizes[2] != y->sizes[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: "
             "[%lld, %lld].",
             (long long)x->sizes[0], (long long)x->sizes[2], (long long)y->sizes[0],
             (long long)y->sizes[1]);
  return NULL;
}

tpt_status_t lower_mm(tpt_lower_t* l) {
  product_t p;
  TPT_TRY(check_matrices(l, 0, 1));
  TPT_TRY(check_dtypes(l, (int[]){0, 1}, 2, &p));
  tpt_v y = multiply_matrices(l, &p, 0, 1);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, y, p.dtype));
}

tpt_status_t lower_bmm(tpt_lower_t* l) {
  product_t p;
  TPT_TRY(check_batches(l, 0, 1));
  TPT_TRY(check_dtypes(l, (int[]){0, 1}, 2, &p));
  tpt_v y = multiply_batches(l, &p, 0, 1);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, y, p.dtype));
}

// beta * self + alpha * y, self broadcast to y's shape. `beta` is the argument number; alpha follows.
static tpt_status_t add_scaled(tpt_lower_t* l, const product_t* p, tpt_v y, int beta_arg,
                               tpt_v* out) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, y);
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  for (int d = 0; d < self->rank; d++) {
    int to = d + type.rank - self->rank;
    if (to < 0 || (self->sizes[d] != 1 && self->sizes[d] != type.dims[to]))
      return tpt_refuse_dtype(l, p->dtype);  // CPU has the message with both shapes
  }
  tpt_v beta = tpt_lower_scalar(l, beta_arg, p->compute);
  tpt_v alpha = tpt_lower_scalar(l, beta_arg + 1, p->compute);
  tpt_v x = tpt_operand(l, 0, p->dtype);
  tpt_v is_unread = tpt_eq(g, beta, tpt_like_i64(g, beta, 0));
  x = tpt_select(g, is_unread, tpt_like_i64(g, x, 0), tpt_mul(g, x, beta));
  x = tpt_hlo_broadcast_to(g, x, type.rank, type.dims);
  *out = tpt_add(g, x, tpt_mul(g, y, alpha));
  return NULL;
}

static tpt_status_t add_and_round(tpt_lower_t* l, const product_t* p, tpt_v y) {
  TPT_TRY(add_scaled(l, p, y, 3, &y));
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, y, p->dtype));
}

tpt_status_t lower_addmm(tpt_lower_t* l) {
  product_t p;
  TPT_TRY(check_matrices(l, 1, 2));
  TPT_TRY(check_dtypes(l, (int[]){0, 1, 2}, 3, &p));
  return add_and_round(l, &p, multiply_matrices(l, &p, 1, 2));
}

tpt_status_t lower_addmm_activation(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  product_t p;
  TPT_TRY(check_matrices(l, 1, 2));
  TPT_TRY(check_dtypes(l, (int[]){0, 1, 2}, 3, &p));
  if (!tpt_dtype_is_float(p.dtype)) return tpt_refuse_dtype(l, p.dtype);
  tpt_v y = multiply_matrices(l, &p, 1, 2);
  TPT_TRY(add_scaled(l, &p, y, 3, &y));
  y = tpt_lower_bool(l, 5) ? formula_gelu(g, &y) : formula_relu(g, &y);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, p.dtype));
}

tpt_status_t lower_baddbmm(tpt_lower_t* l) {
  product_t p;
  TPT_TRY(check_batches(l, 1, 2));
  TPT_TRY(check_dtypes(l, (int[]){0, 1, 2}, 3, &p));
  return add_and_round(l, &p, multiply_batches(l, &p, 1, 2));
}

// Products of a batch, summed over it.
tpt_status_t lower_addbmm(tpt_lower_t* l) {
  product_t p;
  TPT_TRY(check_batches(l, 1, 2));
  TPT_TRY(check_dtypes(l, (int[]){0, 1, 2}, 3, &p));
  tpt_dot_t dot = {.contract_count = 2, .lhs_contract = {0, 2}, .rhs_contract = {0, 1}};
  tpt_v y = multiply(l, &p, tpt_lower_value(l, 1), tpt_lower_value(l, 2), &dot);
  return add_and_round(l, &p, y);
}

// --- vectors -----------------------------------------------------------------------------------------------

static tpt_status_t multiply_vector(tpt_lower_t* l, const product_t* p, int matrix, tpt_v* out) {
  const tpt_tensor_t *a = tpt_lower_tensor(l, matrix), *b = tpt_lower_tensor(l, matrix + 1);
  if (a->rank != 2 || b->rank != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "vector + matrix @ vector expected, got %d, %d, %d",
             matrix ? (int)tpt_lower_tensor(l, 0)->rank : 1, (int)a->rank, (int)b->rank);
  if (a->sizes[1] != b->sizes[0])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
             (long long)a->sizes[0], (long long)a->sizes[0], (long long)a->sizes[1],
             (long long)b->sizes[0]);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  *out = multiply(l, p, tpt_lower_value(l, matrix), tpt_lower_value(l, matrix + 1), &dot);
  return NULL;
}

tpt_status_t lower_mv(tpt_lower_t* l) {
  product_t p;
  tpt_v y;
  TPT_TRY(check_dtypes(l, (int[]){0, 1}, 2, &p));
  TPT_TRY(multiply_vector(l, &p, 0, &y));
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, y, p.dtype));
}

tpt_status_t lower_addmv(tpt_lower_t* l) {
  product_t p;
  tpt_v y;
  TPT_TRY(check_dtypes(l, (int[]){0, 1, 2}, 3, &p));
  TPT_TRY(multiply_vector(l, &p, 1, &y));
  return add_and_round(l, &p, y);
}

// dot and vdot (mode 1: the first vector conjugated).
tpt_status_t lower_dot(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t *a = tpt_lower_tensor(l, 0), *b = tpt_lower_tensor(l, 1);
  if (a->rank != 1 || b->rank != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "1D tensors expected, but got %dD and %dD tensors", (int)a->rank,
             (int)b->rank);
  if (a->sizes[0] != b->sizes[0])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same "
             "number of elements, but got %lld and %lld elements respectively",
             (long long)a->sizes[0], (long long)b->sizes[0], (long long)a->sizes[0],
             (long long)b->sizes[0]);
  product_t p;
  TPT_TRY(check_dtypes(l, (int[]){0, 1}, 2, &p));
  tpt_v x = tpt_lower_value(l, 0);
  if (l->op->params.mode) x = formula_conj(g, &x);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {0}, .rhs_contract = {0}};
  tpt_v y = multiply(l, &p, x, tpt_lower_value(l, 1), &dot);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, p.dtype));
}

// beta * self + alpha * (a outer b): elementwise, not a product of the matrix unit.
tpt_status_t lower_addr(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t *a = tpt_lower_tensor(l, 1), *b = tpt_lower_tensor(l, 2);
  if (a->rank != 1 || b->rank != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "addr: Expected 1-D arguments vec1 and vec2, got %d-D and %d-D",
             (int)a->rank, (int)b->rank);
  product_t p;
  p.dtype = tpt_lower_promote(l, (int[]){0, 1, 2}, 3, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  if (p.dtype == TPT_PRED) return tpt_refuse_dtype(l, p.dtype);
  p.compute = tpt_dtype_compute(p.dtype);
  tpt_v column = tpt_unsqueeze(g, tpt_operand(l, 1, p.dtype), 1);
  return add_and_round(l, &p, tpt_mul(g, column, tpt_operand(l, 2, p.dtype)));
}

tpt_status_t lower_int_mm(tpt_lower_t* l) {
  TPT_TRY(check_matrices(l, 0, 1));
  product_t p;
  TPT_TRY(check_dtypes(l, (int[]){0, 1}, 2, &p));
  if (p.dtype != TPT_S8) return tpt_refuse_dtype(l, p.dtype);
  p.compute = TPT_S32;
  return tpt_lower_result(l, multiply_matrices(l, &p, 0, 1));
}
