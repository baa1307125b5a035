// Calls OpenBLAS. The library's own threads are switched off at first use: vtpu spreads tiles over
// its own pool, and a BLAS that spawned threads inside each tile would run cores x cores threads;
// one thread a call also makes results independent of the machine's core count. Owns no memory; the
// only file that includes cblas.h.
#include "vtpu/blas.h"

#include <cblas.h>
#include <pthread.h>
#include <string.h>

#include "vtpu/simd.h"

#ifdef TPUTORCH_BLAS_SCIPY
#define BLAS(name) scipy_##name
#else
#define BLAS(name) name
#endif

static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

static void blas_start(void) {
  BLAS(openblas_set_num_threads)(1);
}

// Handles what needs no product at all; true when nothing is left to do.
static bool gemm_is_trivial(const vtpu_gemm_t* gemm, size_t element_size) {
  pthread_once(&blas_once, blas_start);
  if (gemm->m <= 0 || gemm->n <= 0) return true;
  if (gemm->k > 0) return false;
  if (!gemm->accumulate) {
    for (int i = 0; i < gemm->m; i++)
      memset((char*)gemm->c + (size_t)i * (size_t)gemm->ldc * element_size, 0,
             (size_t)gemm->n * element_size);
  }
  return true;
}

// One row or one column of output is a matrix-vector product, several times faster as such.
typedef struct gemv {
  const void* matrix;
  const void* x;
  bool trans;
  int rows, cols, ld, incx, incy;
} gemv_t;

static bool gemm_to_gemv(const vtpu_gemm_t* g, gemv_t* out) {
  if (g->m == 1) {
    *out = (gemv_t){.matrix = g->b,
                    .x = g->a,
                    .trans = !g->trans_b,
                    .ld = g->ldb,
                    .rows = g->trans_b ? g->n : g->k,
                    .cols = g->trans_b ? g->k : g->n,
                    .incx = g->trans_a ? g->lda : 1,
                    .incy = 1};
    return true;
  }
  if (g->n == 1) {
    *out = (gemv_t){.matrix = g->a,
                    .x = g->b,
                    .trans = g->trans_a,
                    .ld = g->lda,
                    .rows = g->trans_a ? g->k : g->m,
                    .cols = g->trans_a ? g->m : g->k,
                    .incx = g->trans_b ? 1 : g->ldb,
                    .incy = g->ldc};
    return true;
  }
  return false;
}

#define TRANS(flag) ((flag) ? CblasTrans : CblasNoTrans)

// `one` and `zero` are scalars for real types and pointers for complex ones, as cblas wants them.
#define GEMM_REAL(name, type, prefix)                                                              \
  void name(const vtpu_gemm_t* g) {                                                                \
    if (gemm_is_trivial(g, sizeof(type))) return;                                                  \
    type beta = g->accumulate ? 1 : 0;                                                             \
    gemv_t v;                                                                                      \
    if (gemm_to_gemv(g, &v)) {                                                                     \
      BLAS(cblas_##prefix##gemv)(CblasRowMajor, TRANS(v.trans), v.rows, v.cols, 1, v.matrix, v.ld, \
                                 v.x, v.incx, beta, g->c, v.incy);                                 \
      return;                                                                                      \
    }                                                                                              \
    BLAS(cblas_##prefix##gemm)(CblasRowMajor, TRANS(g->trans_a), TRANS(g->trans_b), g->m, g->n,    \
                               g->k, 1, g->a, g->lda, g->b, g->ldb, beta, g->c, g->ldc);           \
  }

#define GEMM_COMPLEX(name, type, prefix)                                                           \
  void name(const vtpu_gemm_t* g) {                                                                \
    if (gemm_is_trivial(g, 2 * sizeof(type))) return;                                              \
    type one[2] = {1, 0}, beta[2] = {g->accumulate ? 1 : 0, 0};                                    \
    BLAS(cblas_##prefix##gemm)(CblasRowMajor, TRANS(g->trans_a), TRANS(g->trans_b), g->m, g->n,    \
                               g->k, one, g->a, g->lda, g->b, g->ldb, beta, g->c, g->ldc);         \
  }

GEMM_REAL(vtpu_gemm_f32, float, s)
GEMM_REAL(vtpu_gemm_f64, double, d)
GEMM_COMPLEX(vtpu_gemm_c64, float, c)
GEMM_COMPLEX(vtpu_gemm_c128, double, z)

// --- integers: c row by row, the inner loop runs along n when b is stored k x n, along k otherwise
// --
#define GEMM_INTEGER(name, type)                                                                             \
  VTPU_INLINE void name##_row_body(const vtpu_gemm_t* g, int i) {                                            \
    const type* a = (const type*)g->a + (g->trans_a ? (size_t)i : (size_t)i * (size_t)g->lda);               \
    size_t a_step = g->trans_a ? (size_t)g->lda : 1;                                                         \
    const type* b = g->b;                                                                                    \
    type* restrict c = (type*)g->c + (size_t)i * (size_t)g->ldc;                                             \
    if (g->trans_b) {                                                                                        \
      for (int j = 0; j < g->n; j++) {                                                                       \
        const type* row = b + (size_t)j * (size_t)g->ldb;                                                    \
        type sum = 0;                                                                                        \
        for (int k = 0; k < g->k; k++)                                                                       \
          sum += a[(size_t)k * a_step] * row[k];                                                             \
        c[j] += sum;                                                                                         \
      }                                                                                                      \
      return;                                                                                                \
    }                                                                                                        \
    for (int k = 0; k < g->k; k++) {                                                                         \
      const type x = a[(size_t)k * a_step], *row = b + (size_t)k * (size_t)g->ldb;                           \
      for (int j = 0; j < g->n; j++)                                                                         \
        c[j] += x * row[j];                                                                                  \
    }                                                                                                        \
  }                                                                                                          \
  VTPU_SIMD_FUNCTION(static, name##_row, (const vtpu_gemm_t* g, int i), (g, i))                              \
  /* Four rows of c by two vectors of columns, in registers while k runs; then the columns that are left. */ \
  VTPU_INLINE void name##_four_body(const vtpu_gemm_t* g, int i) {                                           \
    typedef type vector_t __attribute__((vector_size(64)));                                                  \
    enum { LANES = 64 / sizeof(type), WIDE = 2 * LANES };                                                    \
    const type* a = (const type*)g->a + (size_t)i * (g->trans_a ? 1 : (size_t)g->lda);                       \
    size_t a_row = g->trans_a ? 1 : (size_t)g->lda, a_step = g->trans_a ? (size_t)g->lda : 1;                \
    type* c = (type*)g->c + (size_t)i * (size_t)g->ldc;                                                      \
    int j = 0;                                                                                               \
    for (; j + WIDE <= g->n; j += WIDE) {                                                                    \
      const type *b = (const type*)g->b + j, *x = a;                                                         \
      vector_t sums[4][2], y[2];                                                                             \
      for (int r = 0; r < 4; r++)                                                                            \
        memcpy(sums[r], c + (size_t)r * (size_t)g->ldc + j, sizeof(sums[r]));                                \
      for (int k = 0; k < g->k; k++, x += a_step, b += g->ldb) {                                             \
        memcpy(y, b, sizeof(y));                                                                             \
        for (int r = 0; r < 4; r++) {                                                                        \
          sums[r][0] += y[0] * x[(size_t)r * a_row];                                                         \
          sums[r][1] += y[1] * x[(size_t)r * a_row];                                                         \
        }                                                                                                    \
      }                                                                                                      \
      for (int r = 0; r < 4; r++)                                                                            \
        memcpy(c + (size_t)r * (size_t)g->ldc + j, sums[r], sizeof(sums[r]));                                \
    }                                                                                                        \
    for (; j < g->n; j++)                                                                                    \
      for (int r = 0; r < 4; r++) {                                                                          \
        type sum = 0;                                                                                        \
        for (int k = 0; k < g->k; k++)                                                                       \
          sum += a[(size_t)r * a_row + (size_t)k * a_step] *                                                 \
                 ((const type*)g->b)[(size_t)k * (size_t)g->ldb + (size_t)j];                                \
        c[(size_t)r * (size_t)g->ldc + (size_t)j] += sum;                                                    \
      }                                                                                                      \
  }                                                                                                          \
  VTPU_SIMD_FUNCTION(static, name##_four, (const vtpu_gemm_t* g, int i), (g, i))                             \
  void name(const vtpu_gemm_t* g) {                                                                          \
    if (gemm_is_trivial(g, sizeof(type))) return;                                                            \
    int i = 0;                                                                                               \
    for (int r = 0; r < g->m && !g->accumulate; r++)                                                         \
      memset((type*)g->c + (size_t)r * (size_t)g->ldc, 0, (size_t)g->n * sizeof(type));                      \
    for (; !g->trans_b && i + 4 <= g->m; i += 4)                                                             \
      name##_four(g, i);                                                                                     \
    for (; i < g->m; i++)                                                                                    \
      name##_row(g, i);                                                                                      \
  }

GEMM_INTEGER(vtpu_gemm_u32, uint32_t)
GEMM_INTEGER(vtpu_gemm_u64, uint64_t)

// --- triangular solves
// ------------------------------------------------------------------------------
#define TRSM(name, prefix, one)                                                                    \
  void name(const vtpu_trsm_t* t) {                                                                \
    pthread_once(&blas_once, blas_start);                                                          \
    if (t->m <= 0 || t->n <= 0) return;                                                            \
    BLAS(cblas_##prefix##trsm)(                                                                    \
        CblasRowMajor, t->left ? CblasLeft : CblasRight, t->lower ? CblasLower : CblasUpper,       \
        t->conjugate ? CblasConjTrans : TRANS(t->trans),                                           \
        t->unit_diagonal ? CblasUnit : CblasNonUnit, t->m, t->n, one, t->a, t->lda, t->b, t->ldb); \
  }

static const float one_c64[2] = {1, 0};
static const double one_c128[2] = {1, 0};

TRSM(vtpu_trsm_f32, s, 1)
TRSM(vtpu_trsm_f64, d, 1)
TRSM(vtpu_trsm_c64, c, one_c64)
TRSM(vtpu_trsm_c128, z, one_c128)

// --- Cholesky ---------------------------------------------------------------------------------------
// LAPACK is column-major and sees the transpose, conjugate for a Hermitian matrix: its upper factor is
// the lower one here. The prototypes are LAPACK's own; not every system ships a header.
#define POTRF(name, lapack)                                                                        \
  extern int BLAS(lapack)(const char* uplo, const blasint* n, void* a, const blasint* lda,         \
                          blasint* info);                                                          \
  bool name(bool lower, int n, void* a) {                                                          \
    pthread_once(&blas_once, blas_start);                                                          \
    blasint size = n, lda = n > 0 ? n : 1, info = 0;                                               \
    BLAS(lapack)(lower ? "U" : "L", &size, a, &lda, &info);                                        \
    return info == 0;                                                                              \
  }

POTRF(vtpu_potrf_f32, spotrf_)
POTRF(vtpu_potrf_f64, dpotrf_)
POTRF(vtpu_potrf_c64, cpotrf_)
POTRF(vtpu_potrf_c128, zpotrf_)
