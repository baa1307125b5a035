// Blocks of 4 x 4 results stay in registers while k runs, in pairs of elements. The last elements of k,
// fewer than a register holds, are added one by one.
#include "vtpu/gemm_s16.h"

#include <stdatomic.h>

#include "vtpu/simd.h"

enum { BLOCK = 4 };

// Rows of a and b that make a block; past the end the last row stands in.
typedef struct block {
  const int16_t *a[BLOCK], *b[BLOCK];
  int64_t k;
  uint32_t sums[BLOCK][BLOCK];
} block_t;

static void block_tail(block_t* block, int64_t from) {
  for (int i = 0; i < BLOCK; i++)
    for (int j = 0; j < BLOCK; j++)
      for (int64_t k = from; k < block->k; k++)
        block->sums[i][j] += (uint32_t)((int32_t)block->a[i][k] * block->b[j][k]);
}

typedef void (*block_fn_t)(block_t* block);

static void gemm_run(const vtpu_gemm_t* g, block_fn_t fn) {
  block_t block = {.k = g->k > 0 ? g->k : 0};
  for (int col = 0; col < g->n; col += BLOCK) {
    for (int j = 0; j < BLOCK; j++)
      block.b[j] = (const int16_t*)g->b + (int64_t)(col + j < g->n ? col + j : g->n - 1) * g->ldb;
    for (int row = 0; row < g->m; row += BLOCK) {
      for (int i = 0; i < BLOCK; i++)
        block.a[i] = (const int16_t*)g->a + (int64_t)(row + i < g->m ? row + i : g->m - 1) * g->lda;
      fn(&block);
      for (int i = 0; i < BLOCK && row + i < g->m; i++)
        for (int j = 0; j < BLOCK && col + j < g->n; j++) {
          uint32_t* c = (uint32_t*)g->c + (int64_t)(row + i) * g->ldc + col + j;
          *c = (g->accumulate ? *c : 0) + block.sums[i][j];
        }
    }
  }
}

static void block_base(block_t* block) {
  for (int i = 0; i < BLOCK; i++)
    for (int j = 0; j < BLOCK; j++)
      block->sums[i][j] = 0;
  block_tail(block, 0);
}
static void gemm_base(const vtpu_gemm_t* g) {
  gemm_run(g, block_base);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define WIDE_AVX2             16
#define LOAD_AVX2(p)          _mm256_loadu_si256((const __m256i*)(p))
#define ADD_AVX2(sum, a, b)   _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define STORE_AVX2(p, x)      _mm256_storeu_si256((__m256i*)(p), x)
#define WIDE_AVX512           32
#define LOAD_AVX512(p)        _mm512_loadu_si512(p)
#define ADD_AVX512(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#define ADD_VNNI(sum, a, b)   _mm512_dpwssd_epi32(sum, a, b)
#define STORE_AVX512(p, x)    _mm512_storeu_si512(p, x)

#define LEVEL(name, features, vector, wide, LOAD, ADD, STORE)                                      \
  __attribute__((target(features))) static void block_##name(block_t* block) {                     \
    vector sums[BLOCK][BLOCK] = {{{0}}};                                                           \
    int64_t k = 0;                                                                                 \
    for (; k + wide <= block->k; k += wide) {                                                      \
      vector b[BLOCK];                                                                             \
      for (int j = 0; j < BLOCK; j++)                                                              \
        b[j] = LOAD(block->b[j] + k);                                                              \
      for (int i = 0; i < BLOCK; i++) {                                                            \
        vector a = LOAD(block->a[i] + k);                                                          \
        for (int j = 0; j < BLOCK; j++)                                                            \
          sums[i][j] = ADD(sums[i][j], a, b[j]);                                                   \
      }                                                                                            \
    }                                                                                              \
    for (int i = 0; i < BLOCK; i++)                                                                \
      for (int j = 0; j < BLOCK; j++) {                                                            \
        uint32_t lanes[wide / 2], sum = 0;                                                         \
        STORE(lanes, sums[i][j]);                                                                  \
        for (int l = 0; l < wide / 2; l++)                                                         \
          sum += lanes[l];                                                                         \
        block->sums[i][j] = sum;                                                                   \
      }                                                                                            \
    block_tail(block, k);                                                                          \
  }                                                                                                \
  static void gemm_##name(const vtpu_gemm_t* g) {                                                  \
    gemm_run(g, block_##name);                                                                     \
  }

LEVEL(avx2, "avx2", __m256i, WIDE_AVX2, LOAD_AVX2, ADD_AVX2, STORE_AVX2)
LEVEL(avx512, "avx512f,avx512bw", __m512i, WIDE_AVX512, LOAD_AVX512, ADD_AVX512, STORE_AVX512)
LEVEL(vnni, "avx512f,avx512bw,avx512vnni", __m512i, WIDE_AVX512, LOAD_AVX512, ADD_VNNI,
      STORE_AVX512)

static int level_find(void) {
  int simd = vtpu_simd_level();
  if (simd == VTPU_SIMD_AVX512)
    return __builtin_cpu_supports("avx512vnni") ? VTPU_GEMM_S16_VNNI : VTPU_GEMM_S16_AVX512;
  return simd == VTPU_SIMD_AVX2 ? VTPU_GEMM_S16_AVX2 : VTPU_GEMM_S16_BASE;
}

static const vtpu_gemm_fn_t levels[VTPU_GEMM_S16_LEVEL_COUNT] = {gemm_base, gemm_avx2, gemm_avx512,
                                                                 gemm_vnni};
#else
static int level_find(void) {
  return VTPU_GEMM_S16_BASE;
}
static const vtpu_gemm_fn_t levels[VTPU_GEMM_S16_LEVEL_COUNT] = {gemm_base};
#endif

static int level_best(void) {
  static atomic_int cached = -1;
  int level = atomic_load_explicit(&cached, memory_order_relaxed);
  if (level >= 0) return level;
  level = level_find();
  atomic_store_explicit(&cached, level, memory_order_relaxed);
  return level;
}

vtpu_gemm_fn_t vtpu_gemm_s16_level(int level) {
  return level >= 0 && level <= level_best() ? levels[level] : NULL;
}

void vtpu_gemm_s16(const vtpu_gemm_t* g) {
  levels[level_best()](g);
}
