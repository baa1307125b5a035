// The bits behind random draws: a scalar Philox4x32-10, checked against Random123's published answers,
// is what the program must give.
#include "aten/call_probe.h"

typedef struct block {
  uint32_t word[4];
} block_t;

static block_t philox(block_t counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)counter.word[0] * 0xD2511F53u,
             b = (uint64_t)counter.word[2] * 0xCD9E8D57u;
    counter = (block_t){{(uint32_t)(b >> 32) ^ counter.word[1] ^ key0, (uint32_t)b,
                         (uint32_t)(a >> 32) ^ counter.word[3] ^ key1, (uint32_t)a}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

static void test_reference_gives_the_published_answers(void) {
  static const struct {
    block_t counter;
    uint32_t key[2];
    block_t want;
  } kCases[] = {
      {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{~0u, ~0u, ~0u, ~0u}}, {~0u, ~0u}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {0xa4093822, 0x299f31d0},
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (size_t i = 0; i < sizeof(kCases) / sizeof(*kCases); i++) {
    block_t found = philox(kCases[i].counter, kCases[i].key[0], kCases[i].key[1]);
    CHECK(!memcmp(&found, &kCases[i].want, sizeof(found)));
  }
}

// Element i of a draw that starts `first` counters after the offset.
static uint32_t expected(uint64_t seed, uint64_t offset, int64_t i) {
  uint64_t counter = offset + (uint64_t)i / 4;
  block_t block = {{(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}};
  return philox(block, (uint32_t)seed, (uint32_t)(seed >> 32)).word[i % 4];
}

typedef struct draw {
  int rank;
  int64_t dims[3];
} draw_t;

// Takes the draws one after the other in one program and compares every element.
static void check_draws(const draw_t* draws, int count, uint64_t seed, uint64_t offset) {
  call_t c;
  const void* in[4] = {NULL};
  void* out[4] = {NULL};
  CHECK(call_begin(&c, "relu", "f32[]: 0"));
  c.tensor_count = 0;
  CHECK_OK(tpt_graph_create(&c.lower.graph));
  tpt_value_t values[4];
  for (int k = 0; k < count; k++)
    values[k] = tpt_lower_random_bits(&c.lower, draws[k].rank, draws[k].dims);
  tpt_graph_return(c.lower.graph, values, (uint32_t)count);
  CHECK_OK(tpt_graph_status(c.lower.graph));
  call_feed(&c, in, seed, offset);
  tpt_graph_t* graph = c.lower.graph;
  c.lower.graph = NULL;
  if (program_eval(graph, in, out, false)) {
    uint64_t taken = 0;
    for (int k = 0; k < count; k++) {
      tpt_type_t type = tpt_type_make(TPT_U32, draws[k].rank, draws[k].dims);
      const uint32_t* bits = out[k];
      for (int64_t i = 0; i < tpt_type_count(&type); i++)
        CHECK_EQ(bits[i], expected(seed, offset + taken, i));
      taken += (uint64_t)(tpt_type_count(&type) + 3) / 4;
    }
    CHECK_EQ(c.lower.rng_draws, taken * 4);
  }
  for (int k = 0; k < count; k++)
    free(out[k]);
  call_end(&c);
}

static void test_bits_count_through_the_shape(void) {
  check_draws((draw_t[]){{1, {4}}}, 1, 0, 0);
  check_draws((draw_t[]){{2, {3, 7}}}, 1, 42, 5);
  check_draws((draw_t[]){{0, {0}}}, 1, 0xFEDCBA9876543210u, 0xFFFFFFFFu);
  check_draws((draw_t[]){{1, {9}}}, 1, UINT64_MAX, UINT64_MAX - 1);
}

static void test_later_draws_go_on(void) {
  check_draws((draw_t[]){{1, {5}}, {3, {1, 2, 3}}, {1, {1}}}, 3, 7, 100);
}

static void test_no_elements_take_no_draws(void) {
  check_draws((draw_t[]){{2, {0, 3}}, {1, {2}}}, 2, 7, 100);
}

int main(void) {
  RUN(test_reference_gives_the_published_answers);
  RUN(test_bits_count_through_the_shape);
  RUN(test_later_draws_go_on);
  RUN(test_no_elements_take_no_draws);
  return TEST_RESULT;
}
