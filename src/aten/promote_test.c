// Type promotion against answers stored from PyTorch.
#include "aten/promote.h"
#include "base/check.h"

// torch.promote_types of every pair, rows and columns in the order of dtype.def; '.' where it raises.
static const char* const kPairs[] = {
    "pbhilB...efdwFD", "bbhilh...efdwFD", "hhhilh...efdwFD", "iiiili...efdwFD", "llllll...efdwFD",
    "BhhilB...efdwFD", "......H..efdw..", ".......I.efdw..", "........Lefdw..", "eeeeeeeeeefdfFD",
    "fffffffffffdfFD", "dddddddddddddDD", "wwwwwwwwwffdwFD", "FFFFFF...FFDFFD", "DDDDDD...DDDDDD",
};
static const char kLetters[] = "xpbhilBHILefdwFD";

static void test_promote_types_agrees_on_every_pair(void) {
  for (int a = 1; a < TPT_DTYPE_COUNT; a++) {
    for (int b = 1; b < TPT_DTYPE_COUNT; b++) {
      char want = kPairs[a - 1][b - 1];
      tpt_dtype_t found = tpt_dtype_promote((tpt_dtype_t)a, (tpt_dtype_t)b);
      CHECK_EQ(found == TPT_DTYPE_INVALID ? '.' : kLetters[found], want);
    }
  }
}

typedef enum category { DIMENSION, ZERO, WRAPPED } category_t;
typedef struct operand {
  category_t category;
  tpt_dtype_t dtype;
} operand_t;
typedef struct result_case {
  operand_t a, b;
  tpt_dtype_t want;
} result_case_t;

// torch.result_type with the default dtype float32.
static const result_case_t kResults[] = {
    {{DIMENSION, TPT_S32}, {WRAPPED, TPT_S64}, TPT_S32},
    {{DIMENSION, TPT_S32}, {WRAPPED, TPT_F64}, TPT_F32},
    {{DIMENSION, TPT_BF16}, {WRAPPED, TPT_F64}, TPT_BF16},
    {{DIMENSION, TPT_BF16}, {WRAPPED, TPT_C128}, TPT_C64},
    {{DIMENSION, TPT_F32}, {ZERO, TPT_F64}, TPT_F32},
    {{DIMENSION, TPT_S8}, {ZERO, TPT_F64}, TPT_F64},
    {{DIMENSION, TPT_U8}, {ZERO, TPT_S64}, TPT_U8},
    {{DIMENSION, TPT_PRED}, {WRAPPED, TPT_S64}, TPT_S64},
    {{DIMENSION, TPT_PRED}, {ZERO, TPT_S8}, TPT_S8},
    {{DIMENSION, TPT_F16}, {DIMENSION, TPT_BF16}, TPT_F32},
    {{ZERO, TPT_S64}, {ZERO, TPT_F16}, TPT_F16},
    {{ZERO, TPT_S64}, {WRAPPED, TPT_F64}, TPT_F32},
    {{ZERO, TPT_F64}, {WRAPPED, TPT_C128}, TPT_C128},
    {{ZERO, TPT_F32}, {DIMENSION, TPT_C64}, TPT_C64},
    {{WRAPPED, TPT_S64}, {WRAPPED, TPT_F64}, TPT_F32},
    {{WRAPPED, TPT_PRED}, {WRAPPED, TPT_S64}, TPT_S64},
    {{DIMENSION, TPT_U16}, {WRAPPED, TPT_F64}, TPT_F32},
    {{DIMENSION, TPT_U16}, {DIMENSION, TPT_S32}, TPT_DTYPE_INVALID},
    {{DIMENSION, TPT_F16}, {WRAPPED, TPT_C128}, TPT_DTYPE_INVALID},
};

static void add_operand(tpt_promotion_t* p, operand_t o) {
  tpt_tensor_t t = {.dtype = o.dtype,
                    .rank = o.category == DIMENSION,
                    .flags = o.category == WRAPPED ? TPT_TENSOR_WRAPPED | TPT_TENSOR_HOST : 0};
  tpt_promotion_add_tensor(p, &t);
}

static void test_result_type_knows_the_categories(void) {
  for (size_t i = 0; i < sizeof(kResults) / sizeof(*kResults); i++) {
    tpt_promotion_t p = {.default_dtype = TPT_F32}, swapped = p;
    add_operand(&p, kResults[i].a);
    add_operand(&p, kResults[i].b);
    add_operand(&swapped, kResults[i].b);
    add_operand(&swapped, kResults[i].a);
    CHECK_EQ(tpt_promotion_result(&p), kResults[i].want);
    CHECK_EQ(tpt_promotion_result(&swapped), kResults[i].want);
  }
}

static void test_the_default_dtype_decides_for_numbers(void) {
  tpt_promotion_t p = {.default_dtype = TPT_F64};
  tpt_promotion_add_number(&p, TPT_F64);
  add_operand(&p, (operand_t){DIMENSION, TPT_S32});
  CHECK_EQ(tpt_promotion_result(&p), TPT_F64);
  p = (tpt_promotion_t){.default_dtype = TPT_BF16};
  tpt_promotion_add_number(&p, TPT_F64);
  CHECK_EQ(tpt_promotion_result(&p), TPT_BF16);
}

static void test_numbers_that_do_not_fit_are_refused(void) {
  tpt_number_t n = {.dtype = TPT_S64, .i = 128};
  CHECK_FAILS(tpt_check_number_fits(&n, TPT_S8), TPT_INVALID_ARGUMENT,
              "value cannot be converted to type int8_t without overflow");
  CHECK_OK(tpt_check_number_fits(&n, TPT_S16));
  CHECK_OK(tpt_check_number_fits(&n, TPT_F16));
  n.i = -255;
  CHECK_OK(tpt_check_number_fits(&n, TPT_U8));
  n.i = -256;
  CHECK_FAILS(tpt_check_number_fits(&n, TPT_U8), TPT_INVALID_ARGUMENT, "uint8_t");
  n = (tpt_number_t){.dtype = TPT_F64, .f = 0x1p63};
  CHECK_FAILS(tpt_check_number_fits(&n, TPT_S64), TPT_INVALID_ARGUMENT, "int64_t");
  n.f = NAN;
  CHECK_FAILS(tpt_check_number_fits(&n, TPT_S32), TPT_INVALID_ARGUMENT, "type int without");
}

int main(void) {
  RUN(test_promote_types_agrees_on_every_pair);
  RUN(test_result_type_knows_the_categories);
  RUN(test_the_default_dtype_decides_for_numbers);
  RUN(test_numbers_that_do_not_fit_are_refused);
  return TEST_RESULT;
}
