// The single door to the BLAS library (OpenBLAS): row-major products of one tile on the calling
// thread. Also the integer products, which no BLAS has, in the same shape. Thread-safe.
#ifndef TPUTORCH_VTPU_BLAS_H_
#define TPUTORCH_VTPU_BLAS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// c (m x n) = op(a) (m x k) * op(b) (k x n), or c += with `accumulate`. Row-major; ld* is the
// element distance of stored rows: a is stored k x m if trans_a, b is stored n x k if trans_b. k =
// 0 gives zeros (or leaves c alone); m = 0 or n = 0 does nothing. c must not overlap a or b.
typedef struct vtpu_gemm {
  bool trans_a, trans_b, accumulate;
  int m, n, k;
  int lda, ldb, ldc;
  const void* a;
  const void* b;
  void* c;
} vtpu_gemm_t;

typedef void (*vtpu_gemm_fn_t)(const vtpu_gemm_t* gemm);

void vtpu_gemm_f32(const vtpu_gemm_t* gemm);
void vtpu_gemm_f64(const vtpu_gemm_t* gemm);
void vtpu_gemm_c64(const vtpu_gemm_t* gemm);
void vtpu_gemm_c128(const vtpu_gemm_t* gemm);
// Wrapping arithmetic modulo 2^32 and 2^64.
void vtpu_gemm_u32(const vtpu_gemm_t* gemm);
void vtpu_gemm_u64(const vtpu_gemm_t* gemm);

// b (m x n, row-major) = inv(op(a)) * b (left) or b * inv(op(a)), a triangular; element type by the
// name. `conjugate` matters for complex types only and implies the transpose.
typedef struct vtpu_trsm {
  bool left, lower, trans, conjugate, unit_diagonal;
  int m, n;
  int lda, ldb;
  const void* a;
  void* b;
} vtpu_trsm_t;

typedef void (*vtpu_trsm_fn_t)(const vtpu_trsm_t* trsm);

void vtpu_trsm_f32(const vtpu_trsm_t* trsm);
void vtpu_trsm_f64(const vtpu_trsm_t* trsm);
void vtpu_trsm_c64(const vtpu_trsm_t* trsm);
void vtpu_trsm_c128(const vtpu_trsm_t* trsm);

// Cholesky factor in place, row-major: a = L L^H with `lower`, else U^H U; only that triangle is read and
// written. False when the matrix is not positive definite (the triangle is then garbage).
bool vtpu_potrf_f32(bool lower, int n, void* a);
bool vtpu_potrf_f64(bool lower, int n, void* a);
bool vtpu_potrf_c64(bool lower, int n, void* a);
bool vtpu_potrf_c128(bool lower, int n, void* a);

#endif  // TPUTORCH_VTPU_BLAS_H_
