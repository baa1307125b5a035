// rng_bit_generator: counter-based bits, Philox 4x32-10 (also DEFAULT) and ThreeFry 2x32-20 as in
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). Block i of the stream depends on
// the state and i only, so any split over threads gives the same bits.
//
// Philox: state = key, counter (128 bits, or 64 with the high half zero). ThreeFry: state = key,
// counter. The new state has the counter advanced by the blocks used. 8- and 16-bit elements take the
// low bits of one word each, 64-bit ones two words, low word first.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"

enum { PHILOX_ROUNDS = 10, THREE_FRY_ROUNDS = 20, BLOCK_WORDS = 4 };

typedef struct rng {
  bool is_three_fry;
  int state_count;
  int64_t count;   // elements
  size_t size;     // bytes of an element
  int64_t words;   // 32-bit words of the stream that are used
  int64_t blocks;  // of four words
} rng_t;

tpt_status_t vtpu_rng_bit_generator_prepare(vtpu_kernel_t* kernel) {
  rng_t* rng = tpt_arena_calloc(kernel->arena, 1, sizeof(*rng));
  if (!rng) return tpt_arena_status(kernel->arena);
  kernel->state = rng;
  const tpt_type_t* bits = &kernel->result_types[1];
  rng->is_three_fry = tpt_node_int(kernel->node, 0) == TPT_RNG_THREE_FRY;
  rng->state_count = (int)kernel->operand_types[0].dims[0];
  rng->count = tpt_type_count(bits);
  rng->size = tpt_dtype_size(bits->dtype);
  rng->words = rng->size == 8 ? 2 * rng->count : rng->count;
  rng->blocks = (rng->words + BLOCK_WORDS - 1) / BLOCK_WORDS;
  kernel->cost = 100 + rng->blocks * 12;
  return NULL;
}

static void philox(const uint64_t* state, uint64_t high, uint64_t block, uint32_t* words) {
  uint64_t low = state[1] + block;
  high += low < block;
  uint32_t key[2] = {(uint32_t)state[0], (uint32_t)(state[0] >> 32)};
  uint32_t c[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b,
                        (uint32_t)(a >> 32) ^ c[3] ^ key[1], (uint32_t)a};
    memcpy(c, next, sizeof(c));
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  memcpy(words, c, sizeof(c));
}

static void three_fry(const uint64_t* state, uint64_t block, uint32_t* words) {
  static const int turns[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint64_t counter = state[1] + block;
  uint32_t key[3] = {(uint32_t)state[0], (uint32_t)(state[0] >> 32)};
  key[2] = key[0] ^ key[1] ^ 0x1BD11BDAu;
  uint32_t x = (uint32_t)counter + key[0], y = (uint32_t)(counter >> 32) + key[1];
  for (uint32_t round = 0; round < THREE_FRY_ROUNDS; round++) {
    int turn = turns[round % 8];
    x += y;
    y = (y << turn | y >> (32 - turn)) ^ x;
    if (round % 4 == 3) {
      uint32_t injection = round / 4 + 1;
      x += key[injection % 3];
      y += key[(injection + 1) % 3] + injection;
    }
  }
  words[0] = x, words[1] = y;
}

typedef struct run {
  const rng_t* rng;
  uint64_t state[3];
  char* out;
} run_t;

static void store(const rng_t* rng, const uint32_t* words, int64_t first_word, char* out) {
  for (int64_t w = 0; w < BLOCK_WORDS && first_word + w < rng->words; w++) {
    int64_t word = first_word + w;
    size_t size = rng->size == 8 ? 4 : rng->size;
    memcpy(out + word * (int64_t)size, &words[w], size);  // little-endian: the low bits
  }
}

static void blocks_run(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const run_t* run = arg;
  for (int64_t block = begin; block < end; block++) {
    uint32_t words[BLOCK_WORDS];
    if (run->rng->is_three_fry) {
      three_fry(run->state, 2 * (uint64_t)block, words);
      three_fry(run->state, 2 * (uint64_t)block + 1, words + 2);
    } else {
      philox(run->state, run->state[2], (uint64_t)block, words);
    }
    store(run->rng, words, block * BLOCK_WORDS, run->out);
  }
}

tpt_status_t vtpu_rng_bit_generator_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                        void* scratch, const void* const* in, void* const* out) {
  (void)scratch;
  const rng_t* rng = kernel->state;
  run_t run = {.rng = rng, .out = out[1]};
  memcpy(run.state, in[0], (size_t)rng->state_count * sizeof(uint64_t));
  vtpu_range_for(exec, rng->blocks, 2048, blocks_run, &run);
  uint64_t used = rng->is_three_fry ? (uint64_t)(rng->words + 1) / 2 : (uint64_t)rng->blocks;
  run.state[1] += used;
  if (rng->state_count == 3) run.state[2] += run.state[1] < used;
  memcpy(out[0], run.state, (size_t)rng->state_count * sizeof(uint64_t));
  return NULL;
}
