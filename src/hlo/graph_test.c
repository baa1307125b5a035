// Tests of the graph itself: values, blocks, sticky errors, parameters, aliases, reset, memory.
#include <time.h>

#include "base/allocator.h"
#include "base/check.h"
#include "hlo/builder.h"
#include "hlo/graph.h"
#include "hlo/read.h"

static tpt_graph_t* make_graph(void) {
  tpt_graph_t* g = NULL;
  CHECK_OK(tpt_graph_create(&g));
  return g;
}

static tpt_value_t parameter(tpt_graph_t* g, tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  return tpt_graph_parameter(g, &type);
}

static void test_nodes_are_typed_and_found(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t x = parameter(g, TPT_F32, 2, (int64_t[]){2, 3});
  tpt_value_t y = tpt_hlo_unary(g, TPT_HLO_EXP, x);
  tpt_value_t z = tpt_hlo_binary(g, TPT_HLO_ADD, y, x);
  tpt_graph_return(g, &z, 1);
  CHECK_OK(tpt_graph_status(g));
  const tpt_node_t* node = tpt_graph_producer(g, z);
  CHECK_EQ(node->op, TPT_HLO_ADD);
  CHECK_EQ(node->operands[0].index, y.index);
  CHECK_EQ(tpt_graph_type(g, z)->dims[1], 3);
  CHECK(tpt_graph_producer(g, x) == NULL);
  CHECK_EQ(tpt_graph_origin(g, x).block, 0);
  CHECK_EQ(tpt_graph_origin(g, y).node, 0);
  tpt_block_t main_block = tpt_graph_block(g, 0);
  CHECK_EQ(main_block.node_count, 2);
  CHECK_EQ(main_block.arg_count, 1);
  CHECK_EQ(main_block.args[0].index, x.index);
  CHECK_EQ(main_block.results[0].index, z.index);
  CHECK_EQ(tpt_graph_value_count(g), 3);
  CHECK(tpt_graph_node(g, 2) == NULL);
  CHECK(tpt_hlo_row(TPT_HLO_COUNT) == NULL);
  tpt_graph_release(g);
}

static void test_first_error_sticks(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t x = parameter(g, TPT_F32, 1, (int64_t[]){4});
  tpt_value_t y = parameter(g, TPT_F32, 1, (int64_t[]){5});
  tpt_value_t bad = tpt_hlo_binary(g, TPT_HLO_ADD, x, y);
  CHECK(tpt_value_is_none(bad));
  CHECK_EQ(tpt_graph_type(g, bad)->rank, 0);
  tpt_value_t worse = tpt_hlo_unary(g, TPT_HLO_NOT, bad);
  worse = tpt_hlo_reduce(g, worse, x, TPT_HLO_ADD, (int64_t[]){0}, 1);
  worse = tpt_hlo_slice_dim(g, worse, 3, 0, 1, 1);
  CHECK(tpt_value_is_none(worse));
  tpt_graph_return(g, &worse, 1);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT,
              "stablehlo.add: operands must have one type: tensor<4xf32> against tensor<5xf32>");
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "stablehlo.add");
  tpt_graph_reset(g);
  CHECK_OK(tpt_graph_status(g));
  CHECK_EQ(tpt_graph_value_count(g), 0);
  x = parameter(g, TPT_F32, 1, (int64_t[]){4});
  tpt_graph_return(g, &x, 1);
  CHECK_OK(tpt_graph_status(g));
  tpt_graph_release(g);
}

static void test_missing_operand_is_an_error(void) {
  tpt_graph_t* g = make_graph();
  tpt_hlo_unary(g, TPT_HLO_EXP, TPT_VALUE_NONE);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "operand 0 is not a value");
  tpt_graph_release(g);
}

static void test_parameters_may_come_late(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t a = parameter(g, TPT_F32, 0, NULL);
  CHECK_EQ(tpt_graph_block(g, 0).first_arg, a.index);
  tpt_value_t b = tpt_hlo_unary(g, TPT_HLO_EXP, a);
  tpt_value_t c = parameter(g, TPT_F32, 0, NULL);
  tpt_value_t d = tpt_hlo_binary(g, TPT_HLO_ADD, b, c);
  tpt_graph_return(g, &d, 1);
  CHECK_OK(tpt_graph_status(g));
  tpt_block_t block = tpt_graph_block(g, 0);
  CHECK_EQ(block.arg_count, 2);
  CHECK_EQ(block.args[1].index, c.index);
  CHECK_EQ(block.first_arg, UINT32_MAX);
  CHECK_EQ(tpt_graph_origin(g, c).number, 1);
  tpt_graph_release(g);
}

static void test_region_values_stay_inside(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t p = parameter(g, TPT_PRED, 0, NULL);
  tpt_value_t x = parameter(g, TPT_F32, 0, NULL);
  tpt_region_begin(g, NULL, 0, NULL);
  tpt_value_t inside = tpt_hlo_unary(g, TPT_HLO_EXP, x);
  uint32_t first = tpt_region_end(g, &inside, 1);
  tpt_region_begin(g, NULL, 0, NULL);
  uint32_t second = tpt_region_end(g, &x, 1);
  tpt_value_t y = tpt_hlo_if(g, p, first, second);
  CHECK_OK(tpt_graph_status(g));
  CHECK_EQ(tpt_graph_block(g, 0).node_count, 1);
  CHECK_EQ(tpt_graph_block(g, first).node_count, 1);
  CHECK_EQ(tpt_graph_producer(g, y)->regions[1], second);
  tpt_hlo_binary(g, TPT_HLO_ADD, y, inside);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "operand 1 is not a value of this block");
  tpt_graph_release(g);
}

static void test_a_block_has_one_owner(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t p = parameter(g, TPT_PRED, 0, NULL);
  tpt_region_begin(g, NULL, 0, NULL);
  uint32_t block = tpt_region_end(g, &p, 1);
  tpt_hlo_if(g, p, block, block);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "used twice");
  tpt_graph_reset(g);
  p = parameter(g, TPT_S32, 0, NULL);
  tpt_region_begin(g, NULL, 0, NULL);
  block = tpt_region_end(g, &p, 1);
  tpt_hlo_case(g, p, &block, 1);
  tpt_hlo_case(g, p, &block, 1);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "closed, unused block");
  tpt_graph_reset(g);
  tpt_region_end(g, NULL, 0);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "no region is open");
  tpt_graph_release(g);
}

static void test_aliases_want_equal_types(void) {
  tpt_graph_t* g = make_graph();
  tpt_value_t x = parameter(g, TPT_F32, 1, (int64_t[]){4});
  tpt_value_t y = parameter(g, TPT_F32, 1, (int64_t[]){5});
  tpt_graph_alias(g, 1, 1);
  tpt_graph_return(g, (tpt_value_t[]){x, y}, 2);
  CHECK_OK(tpt_graph_status(g));
  CHECK_EQ(tpt_graph_alias_of(g, 1), 1);
  CHECK_EQ(tpt_graph_alias_of(g, 0), -1);
  CHECK_EQ(tpt_graph_alias_of(g, 9), -1);
  tpt_graph_alias(g, 0, 1);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "aliased to parameters 1 and 0");
  tpt_graph_reset(g);
  x = parameter(g, TPT_F32, 1, (int64_t[]){4});
  y = parameter(g, TPT_F32, 1, (int64_t[]){5});
  tpt_graph_alias(g, 0, 0);
  tpt_graph_return(g, &y, 1);
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "cannot be aliased");
  tpt_graph_release(g);
}

static void test_types_have_limits(void) {
  tpt_graph_t* g = make_graph();
  parameter(g, TPT_F32, 2, (int64_t[]){1LL << 40, 1LL << 40});
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "63 bits");
  tpt_graph_reset(g);
  parameter(g, TPT_F32, 1, (int64_t[]){-1});
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "not negative");
  tpt_graph_reset(g);
  tpt_value_t x = parameter(g, TPT_F32, 0, NULL);
  int64_t dims[17];
  for (int i = 0; i < 17; i++)
    dims[i] = 1;
  tpt_hlo_reshape(g, x, 17, dims);
  CHECK_FAILS(tpt_graph_status(g), TPT_UNIMPLEMENTED, "rank 17");
  tpt_graph_release(g);
}

static tpt_status_t build(tpt_graph_t** out_graph) {
  TPT_TRY(tpt_graph_create(out_graph));
  tpt_graph_t* g = *out_graph;
  tpt_value_t x = parameter(g, TPT_F32, 2, (int64_t[]){8, 8});
  tpt_value_t zero = tpt_hlo_scalar_f64(g, TPT_F32, 0);
  for (int i = 0; i < 40; i++)
    x = tpt_hlo_binary(g, TPT_HLO_ADD, x, x);
  x = tpt_hlo_reduce(g, x, zero, TPT_HLO_ADD, (int64_t[]){0}, 1);
  tpt_graph_return(g, &x, 1);
  return tpt_graph_status(g);
}

static void test_every_failed_allocation_is_reported(void) {
  for (uint64_t n = 1;; n++) {
    tpt_graph_t* g = NULL;
    tpt_allocator_fail_after(n);
    tpt_status_t status = build(&g);
    tpt_allocator_fail_after(0);
    tpt_graph_release(g);
    if (!status) break;
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    CHECK(n < 1000);
  }
}

static void test_appending_is_cheap(void) {
  enum { COUNT = 5000 };
  tpt_graph_t* g = make_graph();
  double best = 1;
  for (int round = 0; round < 5; round++) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    tpt_graph_reset(g);
    tpt_value_t x = parameter(g, TPT_F32, 2, (int64_t[]){32, 64});
    for (int i = 0; i < COUNT; i++)
      x = tpt_hlo_binary(g, TPT_HLO_ADD, x, x);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (seconds < best) best = seconds;
  }
  CHECK_OK(tpt_graph_status(g));
  printf("     %d nodes in %.0f us\n", COUNT, best * 1e6);
  // A tenfold margin for sanitizers and busy machines.
  CHECK(best < 15e-3);
  tpt_graph_release(g);
}

// Any number that means true is the same true: equal graphs, equal texts.
static void test_flags_in_lists_are_zero_or_one(void) {
  static const char format[] =
      "func.func @main(%%a: tensor<1x4x4x1xf32>, %%b: tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32> "
      "{\n"
      "  %%0 = stablehlo.convolution(%%a, %%b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
      "f], "
      "window = {reverse = [false, %s]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
      "i64} "
      ": (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>\n"
      "  return %%0 : tensor<1x4x4x1xf32>\n}\n";
  tpt_graph_t *one = NULL, *seven = NULL;
  char text[1024];
  snprintf(text, sizeof(text), format, "true");
  CHECK_OK(tpt_graph_read(text, strlen(text), &one));
  snprintf(text, sizeof(text), format, "7");
  CHECK_OK(tpt_graph_read(text, strlen(text), &seven));
  CHECK(one && seven && tpt_graph_equal(one, seven));
  tpt_graph_release(one);
  tpt_graph_release(seven);
}

int main(void) {
  RUN(test_nodes_are_typed_and_found);
  RUN(test_first_error_sticks);
  RUN(test_missing_operand_is_an_error);
  RUN(test_parameters_may_come_late);
  RUN(test_region_values_stay_inside);
  RUN(test_a_block_has_one_owner);
  RUN(test_aliases_want_equal_types);
  RUN(test_types_have_limits);
  RUN(test_every_failed_allocation_is_reported);
  RUN(test_appending_is_cheap);
  RUN(test_flags_in_lists_are_zero_or_one);
  return TEST_RESULT;
}
