// Strides of results against strides stored from CPU PyTorch.
#include "aten/stride.h"
#include "base/check.h"

typedef struct shape {
  int rank;
  int64_t sizes[5], strides[5];
} shape_t;
typedef struct stride_case {
  shape_t operands[2];
  int64_t want[5];
} stride_case_t;

// Two operands and the strides of their sum.
static const stride_case_t kCases[] = {
    {{{5, {3, 1, 1, 1, 1}, {32, 16, 8, 4, 2}}, {5, {3, 3, 1, 1, 1}, {3, 1, 1, 1, 1}}},
     {3, 1, 1, 1, 1}},
    {{{4, {2, 2, 1, 1}, {2, 1, 1, 1}}, {4, {2, 2, 1, 1}, {2, 1, 1, 1}}}, {2, 1, 1, 1}},
    {{{4, {1, 3, 1, 2}, {96, 16, 8, 2}}, {4, {1, 3, 1, 2}, {2, 2, 2, 1}}}, {6, 2, 2, 1}},
    {{{2, {3, 0}, {1, 3}}, {2, {3, 0}, {1, 3}}}, {1, 1}},
    {{{4, {3, 2, 3, 2}, {2, 18, 6, 1}}, {4, {3, 2, 3, 2}, {192, 48, 8, 2}}}, {2, 18, 6, 1}},
    {{{4, {3, 2, 1, 1}, {1, 0, 1, 1}}, {4, {3, 1, 1, 2}, {2, 2, 2, 1}}}, {4, 2, 2, 1}},
    {{{3, {2, 1, 2}, {2, 1, 1}}, {3, {2, 1, 2}, {2, 2, 1}}}, {2, 2, 1}},
    {{{4, {1, 3, 3, 1}, {1, 0, 0, 1}}, {4, {1, 3, 3, 1}, {3, 1, 0, 1}}}, {9, 3, 1, 1}},
    {{{4, {1, 3, 3, 2}, {18, 1, 6, 3}}, {4, {3, 3, 3, 2}, {18, 6, 2, 1}}}, {18, 1, 6, 3}},
    {{{4, {2, 1, 3, 3}, {9, 9, 3, 1}}, {4, {2, 1, 1, 3}, {48, 24, 12, 2}}}, {9, 9, 3, 1}},
    {{{4, {1, 1, 2, 3}, {2, 1, 1, 2}}, {4, {3, 1, 2, 1}, {2, 2, 1, 1}}}, {6, 1, 1, 2}},
    {{{5, {1, 1, 1, 3, 1}, {3, 3, 3, 1, 1}}, {5, {1, 1, 1, 3, 1}, {3, 3, 1, 1, 1}}},
     {3, 3, 3, 1, 1}},
    {{{3, {1, 1, 2}, {16, 8, 2}}, {2, {1, 2}, {2, 1}}}, {2, 2, 1}},
    {{{5, {2, 2, 2, 3, 2}, {24, 12, 6, 2, 1}}, {5, {2, 2, 2, 3, 2}, {12, 6, 1, 2, 24}}},
     {24, 12, 6, 2, 1}},
    {{{2, {1, 1}, {4, 2}}, {2, {2, 1}, {4, 2}}}, {1, 1}},
    {{{3, {3, 3, 1}, {3, 1, 1}}, {3, {3, 3, 1}, {1, 3, 1}}}, {3, 1, 1}},
    {{{4, {2, 2, 1, 1}, {2, 1, 1, 1}}, {4, {2, 2, 1, 1}, {2, 1, 1, 1}}}, {2, 1, 1, 1}},
    {{{2, {3, 1}, {1, 1}}, {2, {1, 1}, {4, 2}}}, {1, 1}},
    {{{4, {1, 2, 1, 1}, {1, 1, 2, 2}}, {4, {2, 2, 1, 2}, {1, 4, 2, 2}}}, {1, 4, 2, 2}},
    {{{3, {2, 1, 1}, {1, 1, 1}}, {4, {2, 2, 2, 1}, {4, 1, 2, 2}}}, {4, 1, 2, 2}},
    {{{5, {1, 1, 3, 3, 1}, {288, 144, 24, 4, 2}}, {5, {1, 1, 3, 3, 1}, {9, 9, 3, 1, 1}}},
     {9, 9, 3, 1, 1}},
    {{{4, {1, 2, 1, 1}, {32, 8, 4, 2}}, {4, {1, 2, 2, 1}, {1, 2, 1, 1}}}, {4, 2, 1, 1}},
    {{{4, {1, 1, 1, 1}, {1, 1, 1, 1}}, {4, {2, 1, 1, 1}, {16, 8, 4, 2}}}, {1, 1, 1, 1}},
    {{{5, {2, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, {5, {2, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}},
     {1, 1, 1, 1, 1}},
    {{{5, {1, 1, 3, 2, 3}, {1, 2, 6, 1, 2}}, {5, {3, 1, 3, 1, 3}, {1, 1, 3, 27, 9}}},
     {2, 2, 18, 1, 6}},
    {{{4, {3, 2, 1, 3}, {6, 3, 3, 1}}, {4, {3, 2, 1, 3}, {6, 3, 3, 1}}}, {6, 3, 3, 1}},
    {{{4, {1, 1, 2, 1}, {2, 2, 1, 1}}, {3, {1, 2, 1}, {2, 1, 1}}}, {2, 2, 1, 1}},
    {{{2, {1, 1}, {1, 1}}, {2, {1, 2}, {8, 2}}}, {2, 1}},
    {{{5, {1, 1, 3, 1, 2}, {2, 2, 2, 2, 1}}, {5, {2, 1, 3, 1, 2}, {6, 1, 1, 12, 3}}},
     {6, 2, 2, 12, 1}},
    {{{4, {2, 1, 3, 2}, {6, 6, 2, 1}}, {4, {2, 1, 3, 1}, {1, 1, 2, 2}}}, {6, 6, 2, 1}},
    {{{4, {3, 1, 1, 1}, {1, 1, 1, 1}}, {4, {3, 1, 1, 2}, {2, 2, 2, 1}}}, {2, 2, 2, 1}},
    {{{2, {1, 2}, {1, 1}}, {2, {1, 2}, {8, 2}}}, {1, 1}},
    {{{4, {1, 1, 2, 1}, {2, 2, 1, 1}}, {4, {1, 1, 2, 1}, {1, 2, 1, 1}}}, {2, 2, 1, 1}},
    {{{4, {1, 1, 2, 2}, {2, 4, 1, 2}}, {4, {1, 1, 2, 2}, {2, 1, 2, 1}}}, {2, 4, 1, 2}},
    {{{4, {2, 3, 1, 1}, {48, 8, 4, 2}}, {4, {1, 3, 1, 1}, {3, 1, 1, 1}}}, {3, 1, 1, 1}},
    {{{4, {1, 2, 2, 1}, {64, 16, 4, 2}}, {4, {1, 1, 2, 1}, {2, 2, 1, 1}}}, {4, 2, 1, 1}},
    {{{4, {0, 3, 2, 1}, {6, 2, 1, 1}}, {4, {0, 3, 2, 1}, {3, 1, 3, 1}}}, {6, 2, 1, 1}},
    {{{4, {2, 2, 2, 2}, {8, 4, 2, 1}}, {4, {1, 2, 2, 2}, {2, 1, 4, 2}}}, {8, 4, 2, 1}},
    {{{3, {1, 2, 2}, {2, 1, 2}}, {3, {1, 2, 2}, {1, 2, 1}}}, {2, 1, 2}},
    {{{5, {2, 2, 1, 1, 3}, {6, 3, 3, 3, 1}}, {5, {2, 2, 1, 2, 3}, {2, 1, 1, 0, 0}}},
     {12, 6, 6, 3, 1}},
    {{{5, {1, 2, 1, 3, 1}, {1, 1, 6, 2, 2}}, {5, {1, 2, 1, 1, 2}, {128, 32, 16, 8, 2}}},
     {2, 2, 12, 4, 1}},
    {{{2, {1, 3}, {1, 1}}, {2, {2, 3}, {3, 1}}}, {3, 1}},
    {{{3, {3, 1, 2}, {16, 8, 2}}, {3, {3, 1, 2}, {1, 1, 3}}}, {2, 2, 1}},
    {{{2, {2, 3}, {3, 1}}, {2, {2, 3}, {1, 2}}}, {3, 1}},
    {{{4, {1, 1, 1, 2}, {2, 2, 2, 1}}, {4, {1, 1, 3, 2}, {2, 2, 0, 1}}}, {6, 6, 2, 1}},
    {{{5, {2, 2, 1, 2, 1}, {2, 1, 2, 4, 4}}, {5, {2, 2, 1, 2, 1}, {4, 2, 2, 1, 8}}},
     {2, 1, 2, 4, 8}},
    {{{2, {1, 0}, {1, 1}}, {2, {2, 0}, {2, 2}}}, {1, 1}},
    {{{2, {0, 1}, {1, 1}}, {2, {0, 2}, {2, 1}}}, {2, 1}},
};

static tpt_tensor_t tensor_of(const shape_t* shape) {
  return (tpt_tensor_t){.sizes = shape->sizes, .strides = shape->strides, .rank = shape->rank};
}

static void test_iterator_agrees_with_cpu(void) {
  for (size_t i = 0; i < sizeof(kCases) / sizeof(*kCases); i++) {
    tpt_tensor_t a = tensor_of(&kCases[i].operands[0]), b = tensor_of(&kCases[i].operands[1]);
    const tpt_tensor_t* operands[2] = {&a, &b};
    int rank = a.rank > b.rank ? a.rank : b.rank;
    int64_t sizes[5], strides[5];
    for (int d = 0; d < rank; d++) {
      int64_t x = d < rank - a.rank ? 1 : a.sizes[d - (rank - a.rank)];
      int64_t y = d < rank - b.rank ? 1 : b.sizes[d - (rank - b.rank)];
      sizes[d] = x == 1 ? y : x;
    }
    tpt_strides_iterator(operands, 2, rank, sizes, strides);
    bool agrees = !memcmp(strides, kCases[i].want, (size_t)rank * sizeof(*strides));
    if (!agrees) fprintf(stderr, "case %d\n", (int)i);
    CHECK(agrees);
  }
}

static void test_formats_are_recognised(void) {
  const int64_t sizes[4] = {2, 3, 4, 5};
  int64_t strides[4];
  tpt_strides_channels_last(4, sizes, strides);
  CHECK_EQ(strides[0], 60);
  CHECK_EQ(strides[1], 1);
  CHECK_EQ(strides[3], 3);
  CHECK(tpt_strides_are_channels_last(4, sizes, strides));
  CHECK(tpt_strides_are_dense(4, sizes, strides));
  CHECK(!tpt_strides_are_contiguous(4, sizes, strides));
  tpt_strides_contiguous(4, sizes, strides);
  CHECK_EQ(strides[0], 60);
  CHECK_EQ(strides[2], 5);
  CHECK(tpt_strides_are_contiguous(4, sizes, strides));
  CHECK(!tpt_strides_are_channels_last(4, sizes, strides));
  strides[0] = 120;
  CHECK(!tpt_strides_are_dense(4, sizes, strides));
  const int64_t empty[4] = {2, 0, 4, 5};
  CHECK(tpt_strides_are_contiguous(4, empty, strides));
  tpt_strides_contiguous(4, empty, strides);
  CHECK_EQ(strides[0], 20);
}

static void test_like_keeps_the_order_of_sparse_strides(void) {
  // torch.empty_like of a cropped transpose, of an expanded tensor, and of a dense one.
  static const shape_t kFrom[] = {
      {3, {5, 6, 7}, {140, 1, 20}}, {3, {3, 5, 4}, {1, 0, 3}}, {2, {3, 2}, {1, 3}}};
  static const int64_t kWant[][3] = {{42, 1, 6}, {1, 3, 15}, {1, 3}};
  for (int i = 0; i < 3; i++) {
    tpt_tensor_t t = tensor_of(&kFrom[i]);
    int64_t strides[5];
    tpt_strides_like(&t, strides);
    CHECK(!memcmp(strides, kWant[i], (size_t)t.rank * sizeof(*strides)));
  }
}

int main(void) {
  RUN(test_iterator_agrees_with_cpu);
  RUN(test_formats_are_recognised);
  RUN(test_like_keeps_the_order_of_sparse_strides);
  return TEST_RESULT;
}
