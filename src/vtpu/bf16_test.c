// bf16 products of every level that this CPU has, against sums in double of operands rounded one by
// one; packing of every layout; special numbers.
#include <math.h>

#include "vtpu/bf16.h"
#include "vtpu/half.h"
#include "vtpu/kernel_probe.h"

static const float START = 0x1p-20f;  // of a sum that is added to

typedef struct shape {
  int m, n, k;
  bool lhs_k_inner, rhs_k_inner;
  vtpu_bf16_source_t lhs, rhs;
} shape_t;

typedef struct operand {
  void* data;    // as stored
  float* value;  // as multiplied, free x k
  int64_t free, k;
  vtpu_bf16_block_t block;
} operand_t;

static float rest_of(float x) {
  float high = vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(x)));
  return vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(x - high)));
}

// Random numbers, stored with gaps between rows; with `scatters` at every third place of a row.
static operand_t operand_make(int free_count, int k, bool k_inner, vtpu_bf16_source_t source,
                              bool scatters) {
  operand_t x = {.free = free_count, .k = k};
  int64_t inner = k_inner ? k : free_count, outer = k_inner ? free_count : k;
  int64_t step = scatters ? 3 : 1, ld = inner * step + 5;
  size_t size = source == VTPU_BF16_FROM_BF16 ? 2 : 4;
  x.data = malloc((size_t)(outer * ld) * size + 1);
  x.value = malloc((size_t)(free_count * k) * sizeof(float) + 1);
  memset(x.data, 0xFF, (size_t)(outer * ld) * size);
  for (int64_t i = 0; i < free_count; i++) {
    for (int64_t j = 0; j < k; j++) {
      float v = (float)probe_real();
      int64_t at = (k_inner ? i * ld + j * step : j * ld + i * step);
      if (size == 2) {
        ((uint16_t*)x.data)[at] = vtpu_bf16_from_f32_one(v);
      } else {
        ((float*)x.data)[at] = v;
      }
      x.value[i * k + j] = source == VTPU_BF16_FROM_F32_LOW
                               ? rest_of(v)
                               : vtpu_f32_from_bf16_one(vtpu_bf16_from_f32_one(v));
    }
  }
  vtpu_axis_t in = {.count = inner, .stride = step}, out = {.count = outer, .stride = ld};
  x.block = (vtpu_bf16_block_t){.data = x.data,
                                .element_size = size,
                                .free = k_inner ? out : in,
                                .contract = k_inner ? in : out,
                                .contract_inner = k_inner,
                                .source = source,
                                .free_count = free_count,
                                .k_count = k};
  return x;
}

static uint16_t* aligned(int64_t elements) {
  void* data = NULL;
  if (posix_memalign(&data, 64, (size_t)elements * 2 + 64) != 0) abort();
  memset(data, 0xFF, (size_t)elements * 2);
  return data;
}

static uint16_t* operand_pack(operand_t* x, bool is_rhs) {
  x->block.is_rhs = is_rhs;
  x->block.strip_stride = vtpu_bf16_strip(x->k);
  x->block.out = aligned(vtpu_bf16_strips(x->free) * x->block.strip_stride);
  void* temp = malloc(vtpu_bf16_temp_size(&x->block) + 1);
  vtpu_bf16_pack(&x->block, temp);
  free(temp);
  return x->block.out;
}

static void operand_free(operand_t* x) {
  free(x->data);
  free(x->value);
  free(x->block.out);
}

// The worst error of c = start + a * b, relative to the sum of magnitudes.
static double worst_error(const operand_t* a, const operand_t* b, const float* c, int64_t ldc,
                          double start) {
  double worst = 0;
  for (int64_t i = 0; i < a->free; i++) {
    for (int64_t j = 0; j < b->free; j++) {
      double sum = start, scale = start;
      for (int64_t k = 0; k < a->k; k++) {
        double x = (double)a->value[i * a->k + k] * b->value[j * b->k + k];
        sum += x, scale += fabs(x);
      }
      double error = fabs(sum - c[i * ldc + j]);
      if (!(error <= worst * scale)) worst = error / scale;
    }
  }
  return worst;
}

static void shape_check(const vtpu_bf16_row_t* row, const shape_t* s, bool scatters) {
  operand_t a = operand_make(s->m, s->k, s->lhs_k_inner, s->lhs, scatters);
  operand_t b = operand_make(s->n, s->k, s->rhs_k_inner, s->rhs, scatters);
  int64_t ldc = s->n + 3;
  float* c = malloc((size_t)(s->m * ldc) * sizeof(float));
  for (int accumulate = 0; accumulate < 2; accumulate++) {
    for (int64_t i = 0; i < s->m * ldc; i++)
      c[i] = START;
    vtpu_bf16_product_t p = {.m = s->m, .n = s->n, .k_tiles = (int)vtpu_bf16_tiles(s->k)};
    if (accumulate) free(a.block.out), free(b.block.out);
    p.a = operand_pack(&a, false), p.a_stride = a.block.strip_stride;
    p.b = operand_pack(&b, true), p.b_stride = b.block.strip_stride;
    p.c = c, p.ldc = ldc, p.accumulate = accumulate;
    row->product(&p);
    CHECK_NEAR(worst_error(&a, &b, c, ldc, accumulate * START), 0, 1e-6);
    bool gaps_are_left = true;
    for (int64_t i = 0; i < s->m; i++)
      for (int64_t j = s->n; j < ldc; j++)
        gaps_are_left &= c[i * ldc + j] == START;
    CHECK(gaps_are_left);
  }
  free(c);
  operand_free(&a);
  operand_free(&b);
}

static void test_every_level_and_layout_matches_sums(void) {
  static const int sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 100};
  for (int level = VTPU_BF16_AVX512; level < VTPU_BF16_LEVEL_COUNT; level++) {
    const vtpu_bf16_row_t* row = vtpu_bf16_level(level);
    if (!row) continue;  // not on this CPU
    for (int round = 0; round < 144; round++) {
      shape_t s = {.m = sizes[probe_int(0, 13)], .n = sizes[probe_int(0, 13)]};
      s.k = sizes[probe_int(0, 13)] * (round % 9 == 0 ? 13 : 1);
      s.lhs_k_inner = round & 1, s.rhs_k_inner = round & 2;
      s.lhs = (vtpu_bf16_source_t)(round / 4 % 3), s.rhs = (vtpu_bf16_source_t)(round / 12 % 3);
      shape_check(row, &s, round % 5 == 0);
    }
  }
}

static void test_a_product_without_terms_is_zero(void) {
  for (int level = VTPU_BF16_AVX512; level < VTPU_BF16_LEVEL_COUNT; level++) {
    const vtpu_bf16_row_t* row = vtpu_bf16_level(level);
    if (!row) continue;
    float c[2] = {5, 6};
    uint16_t* none = aligned(VTPU_BF16_TILE);
    vtpu_bf16_product_t p = {.a = none, .b = none, .m = 1, .n = 2, .c = c, .ldc = 2};
    row->product(&p);
    CHECK(c[0] == 0 && c[1] == 0);
    free(none);
  }
}

static float pair_product(const vtpu_bf16_row_t* row, const float* a, const float* b, int k,
                          vtpu_bf16_source_t source) {
  uint16_t *pa = aligned(VTPU_BF16_TILE), *pb = aligned(VTPU_BF16_TILE);
  vtpu_bf16_block_t block = {.data = a,
                             .element_size = 4,
                             .free = {.count = 1, .stride = k},
                             .contract = {.count = k, .stride = 1},
                             .contract_inner = true,
                             .source = source,
                             .free_count = 1,
                             .k_count = k,
                             .out = pa,
                             .strip_stride = VTPU_BF16_TILE};
  vtpu_bf16_pack(&block, NULL);
  block.data = b, block.out = pb, block.is_rhs = true, block.source = VTPU_BF16_FROM_F32;
  vtpu_bf16_pack(&block, NULL);
  float c = 0;
  vtpu_bf16_product_t p = {.a = pa, .b = pb, .m = 1, .n = 1, .k_tiles = 1, .c = &c, .ldc = 1};
  row->product(&p);
  free(pa);
  free(pb);
  return c;
}

static void test_special_numbers(void) {
  for (int level = VTPU_BF16_AVX512; level < VTPU_BF16_LEVEL_COUNT; level++) {
    const vtpu_bf16_row_t* row = vtpu_bf16_level(level);
    if (!row) continue;
    const vtpu_bf16_source_t f32 = VTPU_BF16_FROM_F32, low = VTPU_BF16_FROM_F32_LOW;
    float one[2] = {1, 1}, zero[2] = {0, 0};
    float inf[2] = {INFINITY, 2}, nan[2] = {NAN, 1}, both[2] = {INFINITY, -INFINITY};
    CHECK(pair_product(row, inf, one, 2, f32) == INFINITY);
    CHECK(isnan(pair_product(row, inf, zero, 2, f32)));
    CHECK(isnan(pair_product(row, nan, one, 2, f32)));
    CHECK(isnan(pair_product(row, both, one, 2, f32)));
    CHECK(pair_product(row, inf, one, 2, low) == 0);
    CHECK(pair_product(row, nan, one, 2, low) == 0);
    float huge[1] = {3.4e38f}, tie[2] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f};
    CHECK(pair_product(row, huge, one, 1, f32) == INFINITY);  // above the largest bf16
    CHECK(pair_product(row, tie, one, 1, f32) == 1);          // ties go to even
    CHECK(pair_product(row, tie + 1, one, 1, f32) == 1 + 0x1p-6f);
    // Subnormal operands and sums are zero on these units.
    float tiny[1] = {0x1p-130f}, big[1] = {0x1p100f}, small[1] = {0x1p-70f};
    CHECK(pair_product(row, tiny, big, 1, f32) == 0);
    CHECK(pair_product(row, small, small, 1, f32) == 0);
    float least[1] = {0x1p-126f};
    CHECK(pair_product(row, least, big, 1, f32) == 0x1p-26f);
  }
}

static void test_the_limit_lowers_the_level(void) {
  const vtpu_bf16_row_t* best = vtpu_bf16_row();
  vtpu_bf16_limit(VTPU_BF16_NONE);
  CHECK(vtpu_bf16_row() == NULL);
  vtpu_bf16_limit(VTPU_BF16_AVX512);
  CHECK(vtpu_bf16_row() == vtpu_bf16_level(VTPU_BF16_AVX512));
  vtpu_bf16_limit(VTPU_BF16_AMX);
  CHECK(vtpu_bf16_row() == best);
}

static void test_sources_follow_type_and_precision(void) {
  vtpu_bf16_source_t source;
  CHECK(vtpu_bf16_source_of(TPT_F32, TPT_PRECISION_DEFAULT, &source));
  CHECK_EQ(source, VTPU_BF16_FROM_F32);
  CHECK(vtpu_bf16_source_of(TPT_BF16, TPT_PRECISION_HIGHEST, &source));
  CHECK_EQ(source, VTPU_BF16_FROM_BF16);
  CHECK(!vtpu_bf16_source_of(TPT_F32, TPT_PRECISION_HIGHEST, &source));
  CHECK(!vtpu_bf16_source_of(TPT_F16, TPT_PRECISION_DEFAULT, &source));
}

int main(void) {
  printf("level: %s\n", vtpu_bf16_row() ? vtpu_bf16_row()->name : "none");
  RUN(test_every_level_and_layout_matches_sums);
  RUN(test_a_product_without_terms_is_zero);
  RUN(test_special_numbers);
  RUN(test_the_limit_lowers_the_level);
  RUN(test_sources_follow_type_and_precision);
  return TEST_RESULT;
}
