// The products and solves against triple loops, in every orientation.
#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/blas.h"

static uint64_t random_state = 7;
static uint64_t random_next(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state >> 33;
}
static double random_number(void) {
  return (double)(int64_t)(random_next() % 17) - 8.0;
}

// A random element with an imaginary part where the type has one.
#define NUMBER(type) ((type)(random_number() + random_number() * 1.0i))

enum { SIDE = 40, CELLS = SIDE * (SIDE + 3) };

// Small integers make every order of summation exact.
#define TEST_GEMM(name, fn, type)                                                                  \
  static void name(void) {                                                                         \
    static type a[CELLS], b[CELLS], c[CELLS], want[CELLS];                                         \
    for (int round = 0; round < 200; round++) {                                                    \
      vtpu_gemm_t g = {.trans_a = round & 1, .trans_b = round & 2, .accumulate = round & 4};       \
      g.m = round % 7 == 0 ? 1 : (int)(random_next() % SIDE);                                      \
      g.n = round % 9 == 0 ? 1 : (int)(random_next() % SIDE);                                      \
      g.k = round % 11 == 0 ? 0 : (int)(random_next() % SIDE);                                     \
      g.lda = (g.trans_a ? g.m : g.k) + 3, g.ldb = (g.trans_b ? g.k : g.n) + 2, g.ldc = g.n + 1;   \
      g.a = a, g.b = b, g.c = c;                                                                   \
      for (int i = 0; i < CELLS; i++) {                                                            \
        a[i] = NUMBER(type), b[i] = NUMBER(type);                                                  \
        want[i] = c[i] = NUMBER(type);                                                             \
      }                                                                                            \
      for (int i = 0; i < g.m; i++) {                                                              \
        for (int j = 0; j < g.n; j++) {                                                            \
          type sum = g.accumulate ? c[i * g.ldc + j] : 0;                                          \
          for (int k = 0; k < g.k; k++)                                                            \
            sum += (g.trans_a ? a[k * g.lda + i] : a[i * g.lda + k]) *                             \
                   (g.trans_b ? b[j * g.ldb + k] : b[k * g.ldb + j]);                              \
          want[i * g.ldc + j] = sum;                                                               \
        }                                                                                          \
      }                                                                                            \
      fn(&g);                                                                                      \
      int wrong = 0;                                                                               \
      for (int i = 0; i < CELLS; i++)                                                              \
        wrong += c[i] != want[i];                                                                  \
      CHECK_EQ(wrong, 0);                                                                          \
    }                                                                                              \
  }

TEST_GEMM(test_gemm_f32_matches_loops, vtpu_gemm_f32, float)
TEST_GEMM(test_gemm_f64_matches_loops, vtpu_gemm_f64, double)
TEST_GEMM(test_gemm_u32_wraps, vtpu_gemm_u32, uint32_t)
TEST_GEMM(test_gemm_u64_wraps, vtpu_gemm_u64, uint64_t)
TEST_GEMM(test_gemm_c64_matches_loops, vtpu_gemm_c64, _Complex float)
TEST_GEMM(test_gemm_c128_matches_loops, vtpu_gemm_c128, _Complex double)

static void test_gemm_overwrites_nan(void) {
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 1, 1, 1, 1, 1}, c[4] = {NAN, NAN, NAN, NAN};
  vtpu_gemm_t g = {.m = 2, .n = 2, .k = 3, .lda = 3, .ldb = 2, .ldc = 2, .a = a, .b = b, .c = c};
  vtpu_gemm_f32(&g);
  CHECK(c[0] == 6 && c[1] == 6 && c[2] == 15 && c[3] == 15);
  float y[2] = {NAN, NAN};
  g = (vtpu_gemm_t){.m = 2, .n = 1, .k = 3, .lda = 3, .ldb = 1, .ldc = 1, .a = a, .b = b, .c = y};
  vtpu_gemm_f32(&g);
  CHECK(y[0] == 6 && y[1] == 15);
  g = (vtpu_gemm_t){.m = 1, .n = 2, .k = 3, .lda = 3, .ldb = 2, .ldc = 2, .a = a, .b = b, .c = y};
  y[0] = y[1] = NAN;
  vtpu_gemm_f32(&g);
  CHECK(y[0] == 6 && y[1] == 6);
}

static void test_gemm_keeps_infinity_and_nan(void) {
  float a[4] = {INFINITY, 0, 1, 1}, b[4] = {1, 0, 1, NAN}, c[4];
  vtpu_gemm_t g = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .a = a, .b = b, .c = c};
  vtpu_gemm_f32(&g);
  CHECK(isinf(c[0]) && isnan(c[1]) && c[2] == 2 && isnan(c[3]));
}

static void test_trsm_solves_each_side_and_triangle(void) {
  enum { N = 5 };
  for (int round = 0; round < 16; round++) {
    double a[N * N], x[N * N], b[N * N];
    vtpu_trsm_t t = {.left = round & 1,
                     .lower = round & 2,
                     .trans = round & 4,
                     .unit_diagonal = round & 8,
                     .m = N,
                     .n = N,
                     .lda = N,
                     .ldb = N,
                     .a = a,
                     .b = b};
    for (int i = 0; i < N * N; i++)
      a[i] = random_number() / 8, x[i] = random_number();
    for (int i = 0; i < N; i++)
      a[i * N + i] = 3;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < N; k++) {
          int r = t.left ? i : k, c = t.left ? k : j;
          int row = t.trans ? c : r, col = t.trans ? r : c;
          double value = a[row * N + col];
          if (t.lower ? row < col : row > col) value = 0;
          if (row == col && t.unit_diagonal) value = 1;
          sum += t.left ? value * x[k * N + j] : x[i * N + k] * value;
        }
        b[i * N + j] = sum;
      }
    }
    vtpu_trsm_f64(&t);
    for (int i = 0; i < N * N; i++)
      CHECK_NEAR(b[i], x[i], 1e-9);
  }
}

int main(void) {
  RUN(test_gemm_f32_matches_loops);
  RUN(test_gemm_f64_matches_loops);
  RUN(test_gemm_c64_matches_loops);
  RUN(test_gemm_c128_matches_loops);
  RUN(test_gemm_u32_wraps);
  RUN(test_gemm_u64_wraps);
  RUN(test_gemm_overwrites_nan);
  RUN(test_gemm_keeps_infinity_and_nan);
  RUN(test_trsm_solves_each_side_and_triangle);
  return TEST_RESULT;
}
