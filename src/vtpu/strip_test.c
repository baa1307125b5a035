// products of every level that this CPU has, against sums in double of operands rounded one by
// one; packing of every layout; special numbers.
#include <math.h>

#include "vtpu/half.h"
#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

static const float START = 0x1p-20f;  // of a sum that is added to

typedef struct shape {
  int m, n, k;
  bool lhs_k_inner, rhs_k_inner;
  vtpu_strip_source_t lhs, rhs;
} shape_t;

typedef struct operand {
  void* data;    // as stored
  float* value;  // as multiplied, free x k
  int64_t free, k;
  vtpu_strip_block_t block;
} operand_t;

static float rest_of(float x) {
  float high = vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(x)));
  return vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(x - high)));
}

static float multiplied(vtpu_strip_source_t source, float x) {
  if (source == VTPU_STRIP_FROM_LOW) return rest_of(x);
  if (source == VTPU_STRIP_FROM_F32) return x;
  if (source == VTPU_STRIP_FROM_F16) return vtpu_f32_from_f16_one(vtpu_f16_from_f32_one(x));
  return vtpu_f32_from_bf16_one(vtpu_bf16_from_f32_one(x));
}

// Random numbers, stored with gaps between rows; with `scatters` at every third place of a row.
static operand_t operand_make(int free_count, int k, bool k_inner, vtpu_strip_source_t source,
                              bool scatters) {
  operand_t x = {.free = free_count, .k = k};
  int64_t inner = k_inner ? k : free_count, outer = k_inner ? free_count : k;
  int64_t step = scatters ? 3 : 1, ld = inner * step + 5;
  bool is_f16 = source == VTPU_STRIP_FROM_F16;
  size_t size = source == VTPU_STRIP_FROM_BF16 || is_f16 ? 2 : 4;
  x.data = malloc((size_t)(outer * ld) * size + 1);
  x.value = malloc((size_t)(free_count * k) * sizeof(float) + 1);
  memset(x.data, 0xFF, (size_t)(outer * ld) * size);
  for (int64_t i = 0; i < free_count; i++) {
    for (int64_t j = 0; j < k; j++) {
      float v = (float)probe_real();
      int64_t at = (k_inner ? i * ld + j * step : j * ld + i * step);
      if (size == 2) {
        ((uint16_t*)x.data)[at] = is_f16 ? vtpu_f16_from_f32_one(v) : vtpu_bf16_from_f32_one(v);
      } else {
        ((float*)x.data)[at] = v;
      }
      x.value[i * k + j] = multiplied(source, v);
    }
  }
  vtpu_axis_t in = {.count = inner, .stride = step}, out = {.count = outer, .stride = ld};
  x.block = (vtpu_strip_block_t){.data = x.data,
                                 .element_size = size,
                                 .free = k_inner ? out : in,
                                 .contract = k_inner ? in : out,
                                 .contract_inner = k_inner,
                                 .source = source,
                                 .free_count = free_count,
                                 .k_count = k};
  return x;
}

static char* aligned(int64_t size) {
  void* data = NULL;
  if (posix_memalign(&data, 64, (size_t)size + 64) != 0) abort();
  memset(data, 0xFF, (size_t)size);
  return data;
}

static char* operand_pack(const vtpu_strip_unit_t* unit, operand_t* x, bool is_rhs) {
  x->block.is_rhs = is_rhs;
  x->block.strip_stride = vtpu_strip_stride(unit, x->k);
  x->block.out = aligned(vtpu_strip_count(x->free) * x->block.strip_stride);
  void* temp = malloc(vtpu_strip_temp_size(unit, &x->block) + 1);
  vtpu_strip_pack(unit, &x->block, temp);
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

static void shape_check(const vtpu_strip_unit_t* unit, const shape_t* s, bool scatters) {
  operand_t a = operand_make(s->m, s->k, s->lhs_k_inner, s->lhs, scatters);
  operand_t b = operand_make(s->n, s->k, s->rhs_k_inner, s->rhs, scatters);
  int64_t ldc = s->n + 3;
  float* c = malloc((size_t)(s->m * ldc) * sizeof(float));
  for (int accumulate = 0; accumulate < 2; accumulate++) {
    for (int64_t i = 0; i < s->m * ldc; i++)
      c[i] = START;
    vtpu_strip_product_t p = {.m = s->m, .n = s->n, .k = s->k};
    if (accumulate) free(a.block.out), free(b.block.out);
    p.a = operand_pack(unit, &a, false), p.a_stride = a.block.strip_stride;
    p.b = operand_pack(unit, &b, true), p.b_stride = b.block.strip_stride;
    p.c = c, p.ldc = ldc, p.accumulate = accumulate;
    unit->product(&p);
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
  for (int level = VTPU_STRIP_F32_AVX512; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    const vtpu_strip_unit_t* unit = vtpu_strip_level(level);
    if (!unit) continue;  // not on this CPU
    for (int round = 0; round < 144; round++) {
      shape_t s = {.m = sizes[probe_int(0, 13)], .n = sizes[probe_int(0, 13)]};
      s.k = sizes[probe_int(0, 13)] * (round % 9 == 0 ? 13 : 1);
      s.lhs_k_inner = round & 1, s.rhs_k_inner = round & 2;
      int sources = level == VTPU_STRIP_F32_AVX512 ? VTPU_STRIP_SOURCE_COUNT : 3;
      s.lhs = (vtpu_strip_source_t)(round / 4 % sources);
      s.rhs = (vtpu_strip_source_t)(round / 4 / sources % sources);
      shape_check(unit, &s, round % 5 == 0);
    }
  }
}

static void test_a_product_without_terms_is_zero(void) {
  for (int level = VTPU_STRIP_F32_AVX512; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    const vtpu_strip_unit_t* unit = vtpu_strip_level(level);
    if (!unit) continue;
    float c[2] = {5, 6};
    char* none = aligned(VTPU_STRIP_TILE);
    vtpu_strip_product_t p = {.a = none, .b = none, .m = 1, .n = 2, .c = c, .ldc = 2};
    unit->product(&p);
    CHECK(c[0] == 0 && c[1] == 0);
    free(none);
  }
}

static float pair_product(const vtpu_strip_unit_t* unit, const float* a, const float* b, int k,
                          vtpu_strip_source_t source) {
  char *pa = aligned(VTPU_STRIP_TILE), *pb = aligned(VTPU_STRIP_TILE);
  vtpu_strip_block_t block = {.data = a,
                              .element_size = 4,
                              .free = {.count = 1, .stride = k},
                              .contract = {.count = k, .stride = 1},
                              .contract_inner = true,
                              .source = source,
                              .free_count = 1,
                              .k_count = k,
                              .out = pa,
                              .strip_stride = VTPU_STRIP_TILE};
  vtpu_strip_pack(unit, &block, NULL);
  block.data = b, block.out = pb, block.is_rhs = true, block.source = VTPU_STRIP_FROM_HIGH;
  vtpu_strip_pack(unit, &block, NULL);
  float c = 0;
  vtpu_strip_product_t p = {.a = pa, .b = pb, .m = 1, .n = 1, .k = k, .c = &c, .ldc = 1};
  unit->product(&p);
  free(pa);
  free(pb);
  return c;
}

static void test_special_numbers(void) {
  for (int level = VTPU_STRIP_F32_AVX512; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    const vtpu_strip_unit_t* unit = vtpu_strip_level(level);
    if (!unit) continue;
    const vtpu_strip_source_t high = VTPU_STRIP_FROM_HIGH, low = VTPU_STRIP_FROM_LOW;
    float one[2] = {1, 1}, zero[2] = {0, 0};
    float inf[2] = {INFINITY, 2}, nan[2] = {NAN, 1}, both[2] = {INFINITY, -INFINITY};
    CHECK(pair_product(unit, inf, one, 2, high) == INFINITY);
    CHECK(isnan(pair_product(unit, inf, zero, 2, high)));
    CHECK(isnan(pair_product(unit, nan, one, 2, high)));
    CHECK(isnan(pair_product(unit, both, one, 2, high)));
    CHECK(pair_product(unit, inf, one, 2, low) == 0);
    CHECK(pair_product(unit, nan, one, 2, low) == 0);
    float huge[1] = {3.4e38f}, tie[2] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f};
    CHECK(pair_product(unit, huge, one, 1, high) == INFINITY);  // above the largest bf16
    CHECK(pair_product(unit, tie, one, 1, high) == 1);          // ties go to even
    CHECK(pair_product(unit, tie + 1, one, 1, high) == 1 + 0x1p-6f);
    // Subnormal operands and sums are zero on units of bf16, and kept on those of f32.
    bool keeps = level == VTPU_STRIP_F32_AVX512;
    float tiny[1] = {0x1p-130f}, big[1] = {0x1p100f}, small[1] = {0x1p-70f};
    CHECK(pair_product(unit, tiny, big, 1, high) == (keeps ? 0x1p-30f : 0));
    CHECK(pair_product(unit, small, small, 1, high) == (keeps ? 0x1p-140f : 0));
    float least[1] = {0x1p-126f};
    CHECK(pair_product(unit, least, big, 1, high) == 0x1p-26f);
  }
}

static const vtpu_strip_unit_t* choose(tpt_dtype_t dtype, tpt_precision_t precision, int* parts) {
  vtpu_strip_source_t sources[2][2];
  int counts[2] = {0};
  tpt_dtype_t dtypes[2] = {dtype, dtype};
  const vtpu_strip_unit_t* unit = vtpu_strip_choose(dtypes, precision, sources, counts);
  *parts = counts[0];
  return unit;
}

static void test_the_choice_follows_type_precision_and_limit(void) {
  int parts;
  for (int level = VTPU_STRIP_NONE; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    if (level > VTPU_STRIP_NONE && !vtpu_strip_level(level)) continue;
    vtpu_strip_limit(level);
    const vtpu_strip_unit_t* f32 = level ? vtpu_strip_level(VTPU_STRIP_F32_AVX512) : NULL;
    CHECK(choose(TPT_F32, TPT_PRECISION_DEFAULT, &parts) == vtpu_strip_level(level));
    CHECK(choose(TPT_BF16, TPT_PRECISION_HIGHEST, &parts) == vtpu_strip_level(level));
    CHECK(choose(TPT_F32, TPT_PRECISION_HIGHEST, &parts) == f32);
    CHECK(choose(TPT_F16, TPT_PRECISION_DEFAULT, &parts) == f32);
    CHECK(choose(TPT_F64, TPT_PRECISION_DEFAULT, &parts) == NULL);
  }
  vtpu_strip_limit(VTPU_STRIP_LEVEL_COUNT - 1);
  if (choose(TPT_F32, TPT_PRECISION_HIGH, &parts)) CHECK_EQ(parts, 2);
  if (choose(TPT_BF16, TPT_PRECISION_HIGH, &parts)) CHECK_EQ(parts, 1);
}

// Packing by pieces of an axis equals packing the gathered array.
static void test_pieces_pack_what_a_gather_does(void) {
  enum { COUNT = 75, ROWS = 21, PITCH = 400 };
  for (int round = 0; round < 48; round++) {
    const vtpu_strip_unit_t* unit = vtpu_strip_level(VTPU_STRIP_F32_AVX512 + round % 3);
    if (!unit) continue;
    int64_t table[COUNT], at = 0;
    int32_t run[COUNT];
    for (int i = 0; i < COUNT; i++)
      table[i] = at, at += probe_int(0, 3) == 0 ? probe_int(1, 5) : 1;
    vtpu_axis_t inner = {.count = COUNT, .table = table, .run = run};
    inner.even_run = vtpu_axis_runs(table, COUNT, run);
    vtpu_axis_t outer = {.count = ROWS, .stride = PITCH};
    tpt_type_t type = tpt_type_make(TPT_BF16, 1, (int64_t[]){ROWS * PITCH});
    bool along = round & 4;
    vtpu_strip_block_t block = {.element_size = 2,
                                .free = along ? outer : inner,
                                .contract = along ? inner : outer,
                                .contract_inner = along,
                                .source = VTPU_STRIP_FROM_BF16,
                                .is_rhs = round & 8,
                                .free_count = along ? ROWS : COUNT,
                                .k_count = along ? COUNT : ROWS};
    void* data = probe_random(&type);
    block.data = data;
    block.strip_stride = vtpu_strip_stride(unit, block.k_count);
    int64_t size = vtpu_strip_count(block.free_count) * block.strip_stride;
    char *want = aligned(size), *got = aligned(size);
    void* temp = malloc(vtpu_strip_temp_size(unit, &block) + 1);
    block.out = want;
    vtpu_strip_pack(unit, &block, temp);
    int32_t first[COUNT / 16 + 2];
    vtpu_strip_piece_t piece[COUNT];
    vtpu_strip_pieces_make(&inner, vtpu_strip_step(unit, along), first, piece);
    vtpu_strip_pieces_t pieces = {first, piece};
    block.pieces = &pieces, block.out = got;
    CHECK_EQ(vtpu_strip_temp_size(unit, &block), 0);
    vtpu_strip_pack(unit, &block, NULL);
    CHECK(memcmp(want, got, (size_t)size) == 0);
    free(data), free(want), free(got), free(temp);
  }
}

int main(void) {
  for (int level = 1; level < VTPU_STRIP_LEVEL_COUNT; level++)
    printf("%s\n", vtpu_strip_level(level) ? vtpu_strip_level(level)->name : "not on this CPU");
  RUN(test_every_level_and_layout_matches_sums);
  RUN(test_a_product_without_terms_is_zero);
  RUN(test_special_numbers);
  RUN(test_the_choice_follows_type_precision_and_limit);
  RUN(test_pieces_pack_what_a_gather_does);
  return TEST_RESULT;
}
