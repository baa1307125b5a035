// The door of dot_general: a product seen as batch x free x contracting, and the two ways to run it.
// Private to the files dot*.c.
#ifndef TPUTORCH_VTPU_DOT_H_
#define TPUTORCH_VTPU_DOT_H_

#include "hlo/builder.h"
#include "vtpu/kernel.h"
#include "vtpu/panel.h"

// One operand. Axes that collapse have a stride, others a table.
typedef struct vtpu_dot_side {
  tpt_dtype_t dtype;
  vtpu_axis_t free, contract;
  int64_t batch_stride[TPT_RANK_MAX];
  bool contract_inner;  // which of the two axes is (nearer to) contiguous
} vtpu_dot_side_t;

typedef struct vtpu_dot_shape {
  vtpu_dot_side_t sides[2];
  tpt_dtype_t result;
  tpt_precision_t precision;
  vtpu_compute_t compute;
  int batch_rank;
  int64_t batch_dims[TPT_RANK_MAX];
  int64_t batch_count, m, n, k;
} vtpu_dot_shape_t;

// Every state of a dot kernel starts with this.
typedef struct vtpu_dot_state {
  vtpu_run_fn_t run;
} vtpu_dot_state_t;

static inline const vtpu_axis_t* vtpu_dot_inner(const vtpu_dot_side_t* side) {
  return side->contract_inner ? &side->contract : &side->free;
}
static inline const vtpu_axis_t* vtpu_dot_outer(const vtpu_dot_side_t* side) {
  return side->contract_inner ? &side->free : &side->contract;
}
static inline double vtpu_dot_flops(const vtpu_dot_shape_t* s) {
  return 2.0 * (double)s->batch_count * (double)s->m * (double)s->n * (double)s->k;
}
// How the kernel's node multiplies its operands; the shape's tables live in the kernel's arena.
TPT_MUST_USE tpt_status_t vtpu_dot_shape_make(const vtpu_kernel_t* kernel, vtpu_dot_shape_t* shape);
// Prepares the kernel for a shape, by the best of the ways below.
TPT_MUST_USE tpt_status_t vtpu_dot_shape_prepare(vtpu_kernel_t* kernel,
                                                 const vtpu_dot_shape_t* shape);
// What a packed copy of an operand depends on (keep.h): the way (`how`, and `more` of it), its place in
// the array.
enum { VTPU_DOT_FORM_MAX = 24 + 2 * TPT_RANK_MAX };
typedef struct vtpu_dot_form {
  size_t count;  // 0: it is not kept
  int64_t words[VTPU_DOT_FORM_MAX];
} vtpu_dot_form_t;
typedef enum vtpu_dot_way { VTPU_DOT_WAY_STRIPS = 1, VTPU_DOT_WAY_BF16 } vtpu_dot_way_t;
void vtpu_dot_form_make(const vtpu_dot_shape_t* shape, int side, vtpu_dot_way_t how, int64_t more,
                        vtpu_dot_form_t* out);
// Bytes that a product reads and writes at least.
double vtpu_dot_bytes(const vtpu_kernel_t* kernel);
// Elements from the start of an operand to its batch element `batch`.
int64_t vtpu_dot_batch_offset(const vtpu_dot_shape_t* shape, int side, int64_t batch);

// BLAS tiles, any types (dot_blas.c).
TPT_MUST_USE tpt_status_t vtpu_dot_blas_prepare(vtpu_kernel_t* kernel,
                                                const vtpu_dot_shape_t* shape);
// True if that beats packing: products with a few vectors, small and narrow ones of unconverted operands.
bool vtpu_dot_wants_blas(const vtpu_dot_shape_t* shape);
// Packed strips on the CPU's own units (dot_strip.c); *out_done is false if this is no product for it.
TPT_MUST_USE tpt_status_t vtpu_dot_strip_prepare(vtpu_kernel_t* kernel,
                                                 const vtpu_dot_shape_t* shape, bool* out_done);

#endif  // TPUTORCH_VTPU_DOT_H_
