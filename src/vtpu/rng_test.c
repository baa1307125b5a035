// rng_bit_generator: known answers of the two generators, the advance of the state, element widths.
#include "vtpu/kernel_probe.h"

static void run(const uint64_t* state, int count, tpt_rng_t algorithm, const tpt_type_t* type,
                void** out) {
  tpt_graph_t* graph = NULL;
  out[0] = out[1] = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t state_type = tpt_type_make(TPT_U64, 1, (int64_t[]){count});
  tpt_value_t x = tpt_graph_parameter(graph, &state_type);
  const void* in[1] = {state};
  (void)CHECK_OK(probe_run(graph, tpt_hlo_rng_bit_generator(graph, x, algorithm, type), in, out));
  tpt_graph_release(graph);
}

static void run_free(void** out) {
  free(out[0]);
  free(out[1]);
}

// Vectors of the Random123 distribution.
static void test_philox_gives_its_known_answers(void) {
  tpt_type_t type = tpt_type_make(TPT_U32, 1, (int64_t[]){4});
  void* out[2];
  run((uint64_t[]){0, 0, 0}, 3, TPT_RNG_PHILOX, &type, out);
  const uint32_t* words = out[1];
  CHECK(words && words[0] == 0x6627E8D5 && words[1] == 0xE169C58D && words[2] == 0xBC57AC4C &&
        words[3] == 0x9B00DBD8);
  run_free(out);
  run((uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX}, 3, TPT_RNG_DEFAULT, &type, out);
  words = out[1];
  CHECK(words && words[0] == 0x408F276D && words[1] == 0x41C83B0E && words[2] == 0xA20BC7C6 &&
        words[3] == 0x6D5451FD);
  const uint64_t* state = out[0];
  CHECK(state && state[0] == UINT64_MAX && state[1] == 0 && state[2] == 0);  // carried over
  run_free(out);
}

static void test_three_fry_gives_its_known_answers(void) {
  tpt_type_t type = tpt_type_make(TPT_U32, 1, (int64_t[]){2});
  void* out[2];
  run((uint64_t[]){0, 0}, 2, TPT_RNG_THREE_FRY, &type, out);
  const uint32_t* words = out[1];
  CHECK(words && words[0] == 0x6B200159 && words[1] == 0x99BA4EFE);
  run_free(out);
  run((uint64_t[]){UINT64_MAX, UINT64_MAX}, 2, TPT_RNG_THREE_FRY, &type, out);
  words = out[1];
  CHECK(words && words[0] == 0x1CB996FC && words[1] == 0xBB002BE7);
  run_free(out);
}

static void test_stream_continues_where_the_state_says(void) {
  for (int algorithm = TPT_RNG_DEFAULT; algorithm <= TPT_RNG_PHILOX; algorithm++) {
    tpt_type_t whole = tpt_type_make(TPT_U32, 2, (int64_t[]){1000, 40});
    tpt_type_t part = tpt_type_make(TPT_U32, 2, (int64_t[]){500, 40});
    uint64_t state[2] = {0x123456789ABCDEF0u, 77};
    void *all[2], *first[2], *second[2];
    run(state, 2, (tpt_rng_t)algorithm, &whole, all);
    run(state, 2, (tpt_rng_t)algorithm, &part, first);
    run(first[0], 2, (tpt_rng_t)algorithm, &part, second);
    CHECK(memcmp(all[1], first[1], 80000) == 0);
    CHECK(memcmp((char*)all[1] + 80000, second[1], 80000) == 0);
    CHECK(memcmp(all[0], second[0], 16) == 0);
    run_free(all);
    run_free(first);
    run_free(second);
  }
}

static void test_narrow_elements_take_low_bits_and_wide_ones_two_words(void) {
  uint64_t state[2] = {5, 6};
  void *words[2], *bytes[2], *wide[2];
  tpt_type_t type = tpt_type_make(TPT_U32, 1, (int64_t[]){10});
  run(state, 2, TPT_RNG_PHILOX, &type, words);
  type.dtype = TPT_U8;
  run(state, 2, TPT_RNG_PHILOX, &type, bytes);
  type = tpt_type_make(TPT_S64, 1, (int64_t[]){5});
  run(state, 2, TPT_RNG_PHILOX, &type, wide);
  for (int i = 0; i < 10; i++)
    CHECK_EQ(((uint8_t*)bytes[1])[i], ((uint32_t*)words[1])[i] & 255);
  CHECK(memcmp(wide[1], words[1], 40) == 0);
  run_free(words);
  run_free(bytes);
  run_free(wide);
}

int main(void) {
  RUN(test_philox_gives_its_known_answers);
  RUN(test_three_fry_gives_its_known_answers);
  RUN(test_stream_continues_where_the_state_says);
  RUN(test_narrow_elements_take_low_bits_and_wide_ones_two_words);
  return TEST_RESULT;
}
