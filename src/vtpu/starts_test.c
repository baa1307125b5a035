// Chunks of resolved positions agree with the one-by-one walk, whatever the chunk's borders.
#include "vtpu/starts.h"
#include "vtpu/starts_probe.h"

static void test_resolve_is_independent_of_the_chunk(void) {
  for (int round = 0; round < 300; round++) {
    starts_case_t c = probe_starts_case(TPT_F32, round & 1 ? TPT_S32 : TPT_S64);
    vtpu_starts_t starts;
    vtpu_starts_from_gather(&c.form, &c.operand, &c.indices, &c.result, &starts);
    char* indices = probe_indices(&c, false);
    vtpu_starts_chunk_t all, some;
    int64_t total =
        starts.position_count < VTPU_STARTS_CHUNK ? starts.position_count : VTPU_STARTS_CHUNK;
    vtpu_starts_resolve(&starts, indices, 0, (int)total, true, &all);
    for (int64_t first = 0; first < total;) {
      int count = (int)probe_int(1, total - first);
      vtpu_starts_resolve(&starts, indices, first, count, true, &some);
      CHECK(memcmp(some.at, all.at + first, (size_t)count * sizeof(int64_t)) == 0);
      CHECK(memcmp(some.other, all.other + first, (size_t)count * sizeof(int64_t)) == 0);
      first += count;
    }
    free(indices);
  }
}

static void test_unsigned_indices_beyond_int64_do_not_fit(void) {
  tpt_type_t operand = tpt_type_make(TPT_F32, 1, (int64_t[]){5});
  tpt_type_t indices = tpt_type_make(TPT_U64, 1, (int64_t[]){2}), result = indices;
  result.dtype = TPT_F32;
  tpt_gather_t form = {
      .collapsed_count = 1, .map_count = 1, .index_vector_dim = 1, .slice_sizes = {1}};
  vtpu_starts_t starts;
  vtpu_starts_from_gather(&form, &operand, &indices, &result, &starts);
  uint64_t data[2] = {UINT64_MAX, 2};
  vtpu_starts_chunk_t chunk;
  vtpu_starts_resolve(&starts, data, 0, 2, true, &chunk);
  CHECK(chunk.at[0] == -1 && chunk.at[1] == 2);
  vtpu_starts_resolve(&starts, data, 0, 2, false, &chunk);
  CHECK(chunk.at[0] == 4 && chunk.at[1] == 2);
}

int main(void) {
  RUN(test_resolve_is_independent_of_the_chunk);
  RUN(test_unsigned_indices_beyond_int64_do_not_fit);
  return TEST_RESULT;
}
