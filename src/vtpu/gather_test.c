// gather against the specification's index walk, over random dimension numbers; index checks.
#include "vtpu/starts_probe.h"

static void gather_case(const starts_case_t* c) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &c->operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c->indices);
  tpt_value_t result = tpt_hlo_gather(graph, x, indices, &c->form);
  char* data = probe_random(&c->operand);
  char* index_data = probe_indices(c, false);
  const void* in[2] = {data, index_data};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out)) &&
      tpt_type_equal(tpt_graph_type(graph, result), &c->result)) {
    int64_t at[TPT_RANK_MAX] = {0}, element = 0;
    size_t size = tpt_dtype_size(c->operand.dtype);
    int wrong = 0;
    if (tpt_type_count(&c->result) > 0) {
      do {
        int64_t from = probe_locate(c, index_data, at, false);
        wrong +=
            memcmp((char*)out + (size_t)element++ * size, data + (size_t)from * size, size) != 0;
      } while (probe_advance(c->result.rank, c->result.dims, at));
    }
    CHECK_EQ(wrong, 0);
  } else {
    CHECK(!"the gather ran");
  }
  free(data);
  free(index_data);
  free(out);
  tpt_graph_release(graph);
}

static void test_gather_matches_the_specification(void) {
  static const tpt_dtype_t dtypes[5] = {TPT_F32, TPT_S8, TPT_BF16, TPT_F64, TPT_C128};
  static const tpt_dtype_t index_dtypes[8] = {TPT_S32, TPT_S64, TPT_S8,  TPT_U8,
                                              TPT_S16, TPT_U16, TPT_U32, TPT_U64};
  for (int round = 0; round < 600; round++) {
    starts_case_t c = probe_starts_case(dtypes[round % 5], index_dtypes[round % 8]);
    gather_case(&c);
  }
}

// Rows of a table by a vector of indices.
static starts_case_t rows_case(int64_t rows, int64_t width, int64_t count) {
  starts_case_t c = {.operand = tpt_type_make(TPT_F32, 2, (int64_t[]){rows, width}),
                     .indices = tpt_type_make(TPT_S64, 1, (int64_t[]){count}),
                     .result = tpt_type_make(TPT_F32, 2, (int64_t[]){count, width})};
  c.form = (tpt_gather_t){.offset_count = 1,
                          .offset_dims = {1},
                          .collapsed_count = 1,
                          .map_count = 1,
                          .index_vector_dim = 1,
                          .slice_sizes = {1, width}};
  return c;
}

static void test_gather_of_many_rows_uses_the_pool(void) {
  starts_case_t c = rows_case(1000, 33, 20000);
  gather_case(&c);
  c = rows_case(70000, 1, 70000);
  gather_case(&c);
}

static tpt_status_t run_checked(int64_t index, float* out_value) {
  starts_case_t c = rows_case(4, 1, 2);
  c.form.check = "embedding";
  tpt_graph_t* graph = NULL;
  TPT_TRY(tpt_graph_create(&graph));
  tpt_value_t x = tpt_graph_parameter(graph, &c.operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c.indices);
  float data[4] = {10, 11, 12, 13};
  int64_t index_data[2] = {3, index};
  const void* in[2] = {data, index_data};
  void* out = NULL;
  tpt_status_t status = probe_run(graph, tpt_hlo_gather(graph, x, indices, &c.form), in, &out);
  if (out) *out_value = ((float*)out)[1];
  free(out);
  tpt_graph_release(graph);
  return status;
}

static void test_gather_check_names_index_and_bound(void) {
  float value = 0;
  CHECK_OK(run_checked(2, &value));
  CHECK(value == 12);
  CHECK_FAILS(run_checked(7, &value), TPT_OUT_OF_RANGE,
              "embedding: index 7 is out of bounds for dimension 0 with size 4");
  CHECK_FAILS(run_checked(-1, &value), TPT_OUT_OF_RANGE,
              "embedding: index -1 is out of bounds for dimension 0 with size 4");
  CHECK_FAILS(run_checked(INT64_MIN, &value), TPT_OUT_OF_RANGE, "size 4");
}

static void test_gather_clamps_wild_indices(void) {
  starts_case_t c = rows_case(4, 1, 3);
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &c.operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c.indices);
  float data[4] = {10, 11, 12, 13};
  int64_t index_data[3] = {INT64_MAX, INT64_MIN, 1};
  const void* in[2] = {data, index_data};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, tpt_hlo_gather(graph, x, indices, &c.form), in, &out))) {
    const float* values = out;
    CHECK(values[0] == 13 && values[1] == 10 && values[2] == 11);
  }
  free(out);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_gather_matches_the_specification);
  RUN(test_gather_of_many_rows_uses_the_pool);
  RUN(test_gather_check_names_index_and_bound);
  RUN(test_gather_clamps_wild_indices);
  return TEST_RESULT;
}
