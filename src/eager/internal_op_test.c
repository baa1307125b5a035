#include "base/check.h"
#include "eager/internal_op.h"

static void test_internal_ops_number_after_the_rows(void) {
  const tpt_op_t* copy = tpt_internal_op(TPT_INTERNAL_COPY);
  const tpt_op_t* add = tpt_op_find("add.Tensor");
  CHECK(tpt_op_is_internal(copy) && !tpt_op_is_internal(add));
  CHECK(tpt_op_number(copy) >= tpt_op_count());
  CHECK_EQ(tpt_op_number(add), tpt_op_index(add));
  CHECK_STR(tpt_op_label(copy), "copy_");
  CHECK_STR(tpt_op_label(add), "add.Tensor");
}

// Lowers a copy of src sizes into dst sizes; the status.
static tpt_status_t lower_copy(int dst_rank, const int64_t* dst, int src_rank, const int64_t* src) {
  tpt_graph_t* graph = NULL;
  TPT_TRY(tpt_graph_create(&graph));
  tpt_type_t to = tpt_type_make(TPT_S32, dst_rank, dst);
  tpt_type_t from = tpt_type_make(TPT_F32, src_rank, src);
  tpt_tensor_t tensors[2] = {{.sizes = dst, .rank = dst_rank, .dtype = TPT_S32},
                             {.sizes = src, .rank = src_rank, .dtype = TPT_F32}};
  tensors[0].value = tpt_graph_parameter(graph, &to).index;
  tensors[1].value = tpt_graph_parameter(graph, &from).index;
  tpt_arg_t args[2] = {{.kind = TPT_ARG_TENSOR, .count = 1, .tensors = &tensors[0]},
                       {.kind = TPT_ARG_TENSOR, .count = 1, .tensors = &tensors[1]}};
  tpt_lower_t lower = {.graph = graph,
                       .op = tpt_internal_op(TPT_INTERNAL_COPY),
                       .args = args,
                       .arg_count = 2,
                       .default_dtype = TPT_F32};
  tpt_status_t status = tpt_any_op_lower(&lower);
  if (!status) {
    CHECK_EQ(lower.result_count, 1);
    CHECK(tpt_type_equal(tpt_graph_type(graph, lower.results[0].value), &to));
  }
  tpt_graph_release(graph);
  return status;
}

static void test_copy_converts_and_broadcasts(void) {
  CHECK_OK(lower_copy(2, (int64_t[]){2, 3}, 1, (int64_t[]){3}));
  CHECK_OK(lower_copy(2, (int64_t[]){2, 3}, 0, NULL));
  CHECK_OK(lower_copy(2, (int64_t[]){0, 3}, 2, (int64_t[]){1, 3}));
  CHECK_FAILS(lower_copy(1, (int64_t[]){3}, 1, (int64_t[]){2}), TPT_INVALID_ARGUMENT,
              "The size of tensor a (3) must match the size of tensor b (2)");
  CHECK_FAILS(lower_copy(1, (int64_t[]){3}, 2, (int64_t[]){2, 3}), TPT_INVALID_ARGUMENT, "size");
}

static void test_only_aten_ops_are_called_so(void) {
  CHECK(strcmp(tpt_label_prefix("add.Tensor"), "aten::") == 0);
  CHECK(strcmp(tpt_label_prefix("copy_"), "aten::") == 0);
  CHECK(strcmp(tpt_label_prefix("_to_copy"), "aten::") == 0);
  CHECK(strcmp(tpt_label_prefix("train_step#0 forward"), "") == 0);
  CHECK(strcmp(tpt_label_prefix("cond"), "") == 0);
}

int main(void) {
  RUN(test_internal_ops_number_after_the_rows);
  RUN(test_copy_converts_and_broadcasts);
  RUN(test_only_aten_ops_are_called_so);
  return TEST_RESULT;
}
