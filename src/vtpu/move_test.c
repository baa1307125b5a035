// Data movement against an index walk over random shapes, with empty, negative and interior padding
// and wild starts.
#include "vtpu/kernel_probe.h"

static int64_t linear(const tpt_type_t* type, const int64_t* at) {
  int64_t index = 0;
  for (int d = 0; d < type->rank; d++)
    index = index * type->dims[d] + at[d];
  return index;
}

static bool advance(int count, const int64_t* dims, int64_t* at) {
  for (int d = count - 1; d >= 0; d--) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

static tpt_dtype_t random_dtype(void) {
  static const tpt_dtype_t dtypes[5] = {TPT_F32, TPT_PRED, TPT_BF16, TPT_S64, TPT_C128};
  return dtypes[probe_int(0, 4)];
}

static tpt_type_t random_type(int rank_min) {
  tpt_type_t type = {.dtype = random_dtype(), .rank = (int)probe_int(rank_min, 4)};
  for (int d = 0; d < type.rank; d++)
    type.dims[d] = probe_int(0, 11) == 0 ? 0 : probe_int(1, 6);
  return type;
}

static bool same(const tpt_type_t* type, const void* a, int64_t i, const void* b, int64_t j) {
  size_t size = tpt_dtype_size(type->dtype);
  return memcmp((const char*)a + (size_t)i * size, (const char*)b + (size_t)j * size, size) == 0;
}

static void test_pad_places_every_element(void) {
  for (int round = 0; round < 500; round++) {
    tpt_graph_t* graph = NULL;
    if (!CHECK_OK(tpt_graph_create(&graph))) return;
    tpt_type_t type = random_type(0), scalar = tpt_type_scalar(type.dtype), result = type;
    int64_t low[TPT_RANK_MAX], high[TPT_RANK_MAX], interior[TPT_RANK_MAX];
    bool is_legal = true, is_padded = false;
    for (int d = 0; d < type.rank; d++) {
      low[d] = probe_int(-3, 3), high[d] = probe_int(-3, 3), interior[d] = probe_int(0, 2);
      int64_t gaps = type.dims[d] > 0 ? (type.dims[d] - 1) * interior[d] : 0;
      result.dims[d] = low[d] + high[d] + type.dims[d] + gaps;
      is_legal &= result.dims[d] >= 0;
      is_padded |= low[d] || high[d] || interior[d];
    }
    if (is_legal && is_padded) {  // the builder returns the operand when nothing is padded
      tpt_value_t x = tpt_graph_parameter(graph, &type), v = tpt_graph_parameter(graph, &scalar);
      char *data = probe_random(&type), *value = probe_random(&scalar);
      const void* in[2] = {data, value};
      void* out = NULL;
      int wrong = 0;
      int64_t at[TPT_RANK_MAX] = {0};
      if (CHECK_OK(probe_run(graph, tpt_hlo_pad(graph, x, v, low, high, interior), in, &out)) &&
          tpt_type_count(&result) > 0) {
        do {
          int64_t from[TPT_RANK_MAX];
          bool is_inside = true;
          for (int d = 0; d < type.rank; d++) {
            int64_t place = at[d] - low[d], step = interior[d] + 1;
            is_inside &= place >= 0 && place % step == 0 && place / step < type.dims[d];
            from[d] = place / step;
          }
          int64_t to = linear(&result, at);
          wrong += is_inside ? !same(&type, out, to, data, linear(&type, from))
                             : !same(&type, out, to, value, 0);
        } while (advance(result.rank, result.dims, at));
      }
      CHECK_EQ(wrong, 0);
      free(data);
      free(value);
      free(out);
    }
    tpt_graph_release(graph);
  }
}

static void test_concatenate_joins_in_order(void) {
  for (int round = 0; round < 200; round++) {
    tpt_graph_t* graph = NULL;
    if (!CHECK_OK(tpt_graph_create(&graph))) return;
    tpt_type_t type = random_type(1), types[5], result = type;
    int count = (int)probe_int(2, 5), dim = (int)probe_int(0, type.rank - 1);
    tpt_value_t xs[5];
    void* data[5];
    result.dims[dim] = 0;
    for (int i = 0; i < count; i++) {
      types[i] = type;
      types[i].dims[dim] = probe_int(0, 4);
      result.dims[dim] += types[i].dims[dim];
      xs[i] = tpt_graph_parameter(graph, &types[i]);
      data[i] = probe_random(&types[i]);
    }
    void* out = NULL;
    int wrong = 0;
    int64_t at[TPT_RANK_MAX] = {0};
    if (CHECK_OK(probe_run(graph, tpt_hlo_concatenate(graph, xs, count, dim),
                           (const void* const*)data, &out)) &&
        tpt_type_count(&result) > 0) {
      do {
        int64_t from[TPT_RANK_MAX], to = linear(&result, at);
        memcpy(from, at, sizeof(from));
        int i = 0;
        while (from[dim] >= types[i].dims[dim])
          from[dim] -= types[i++].dims[dim];
        wrong += !same(&type, out, to, data[i], linear(&types[i], from));
      } while (advance(result.rank, result.dims, at));
    }
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < count; i++)
      free(data[i]);
    free(out);
    tpt_graph_release(graph);
  }
}

// One case of a slice (or an update) at run-time starts; starts may be far outside.
static void dynamic_case(bool is_update) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t whole = random_type(0), part = whole, index = tpt_type_scalar(TPT_S32);
  int64_t starts_clamped[TPT_RANK_MAX];
  int32_t starts[TPT_RANK_MAX];
  tpt_value_t start_values[TPT_RANK_MAX];
  char *data = probe_random(&whole), *part_data;
  const void* in[TPT_RANK_MAX + 2] = {data};
  tpt_value_t x = tpt_graph_parameter(graph, &whole);
  for (int d = 0; d < whole.rank; d++) {
    part.dims[d] = probe_int(0, whole.dims[d]);
    starts[d] = (int32_t)probe_int(-3, whole.dims[d] + 3);
    if (probe_int(0, 9) == 0) starts[d] = probe_int(0, 1) ? INT32_MAX : INT32_MIN;
    int64_t room = whole.dims[d] - part.dims[d];
    starts_clamped[d] = starts[d] < 0 ? 0 : starts[d] > room ? room : starts[d];
    start_values[d] = tpt_graph_parameter(graph, &index);
    in[d + (is_update ? 2 : 1)] = &starts[d];
  }
  part_data = probe_random(&part);
  tpt_value_t result;
  if (is_update) {
    in[1] = part_data;
    tpt_value_t update = tpt_graph_parameter(graph, &part);
    result = tpt_hlo_dynamic_update_slice(graph, x, update, start_values);
  } else {
    result = tpt_hlo_dynamic_slice(graph, x, start_values, part.dims);
  }
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out))) {
    int64_t at[TPT_RANK_MAX] = {0}, to[TPT_RANK_MAX];
    int wrong = 0;
    if (tpt_type_count(&part) > 0) {
      do {
        for (int d = 0; d < whole.rank; d++)
          to[d] = at[d] + starts_clamped[d];
        int64_t big = linear(&whole, to), small = linear(&part, at);
        wrong += is_update ? !same(&whole, out, big, part_data, small)
                           : !same(&whole, out, small, data, big);
        memcpy(data + (size_t)big * tpt_dtype_size(whole.dtype),
               part_data + (size_t)small * tpt_dtype_size(whole.dtype),
               tpt_dtype_size(whole.dtype));
      } while (advance(part.rank, part.dims, at));
    }
    if (is_update) wrong += memcmp(data, out, (size_t)tpt_type_size(&whole)) != 0;
    CHECK_EQ(wrong, 0);
  }
  free(data);
  free(part_data);
  free(out);
  tpt_graph_release(graph);
}

static void test_dynamic_slices_clamp_their_starts(void) {
  for (int round = 0; round < 300; round++)
    dynamic_case(round & 1);
}

static void test_reverse_turns_dimensions_round(void) {
  for (int round = 0; round < 200; round++) {
    tpt_graph_t* graph = NULL;
    if (!CHECK_OK(tpt_graph_create(&graph))) return;
    tpt_type_t type = random_type(1);
    int64_t dims[TPT_RANK_MAX], at[TPT_RANK_MAX] = {0}, from[TPT_RANK_MAX];
    bool is_turned[TPT_RANK_MAX] = {false};
    int count = 0, wrong = 0;
    for (int d = 0; d < type.rank; d++)
      if (probe_int(0, 1) || d == type.rank - 1) dims[count++] = d, is_turned[d] = true;
    tpt_value_t x = tpt_graph_parameter(graph, &type);
    char* data = probe_random(&type);
    const void* in[1] = {data};
    void* out = NULL;
    tpt_value_t result = tpt_hlo_reverse(graph, x, dims, count);
    if (CHECK_OK(probe_run(graph, result, in, &out)) && tpt_type_count(&type) > 0) {
      do {
        for (int d = 0; d < type.rank; d++)
          from[d] = is_turned[d] ? type.dims[d] - 1 - at[d] : at[d];
        wrong += !same(&type, out, linear(&type, at), data, linear(&type, from));
      } while (advance(type.rank, type.dims, at));
    }
    CHECK_EQ(wrong, 0);
    free(data);
    free(out);
    tpt_graph_release(graph);
  }
}

int main(void) {
  RUN(test_pad_places_every_element);
  RUN(test_concatenate_joins_in_order);
  RUN(test_dynamic_slices_clamp_their_starts);
  RUN(test_reverse_turns_dimensions_round);
  return TEST_RESULT;
}
