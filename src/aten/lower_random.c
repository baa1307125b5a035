// Random bits of a lowering: Philox4x32-10 written as StableHLO integer ops, so that every plugin
// gives the same bits. Knows no distribution.
//
// Mapping: key = (low, high word of the seed). The generator's offset counts Philox counters.
// Element i (row-major) of a draw is word i % 4 of the block whose 128-bit counter is offset + i /
// 4, its third word the lane (0, but for what draws an unknown number of times), the fourth 0. A draw of n elements takes ceil(n / 4) counters; later draws
// of the same call follow.
#include "aten/lower.h"

enum { ROUNDS = 10 };
static const int64_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
static const int64_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};

typedef struct philox {
  tpt_graph_t* g;
  tpt_type_t wide;      // u64[counters]
  tpt_type_t narrow;    // u32[counters]
  tpt_value_t word[4];  // u32[counters]
  tpt_value_t key[2];   // u32[counters]
} philox_t;

static tpt_value_t high_word(tpt_graph_t* g, tpt_value_t x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_value_t shift = tpt_hlo_splat_i64(g, &type, 32);
  return tpt_hlo_convert(g, tpt_hlo_binary(g, TPT_HLO_SHRL, x, shift), TPT_U32);
}

// u64 -> its low u32; masked, because conversions of out-of-range integers are not StableHLO's to
// define.
static tpt_value_t low_word(tpt_graph_t* g, tpt_value_t x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_value_t mask = tpt_hlo_splat_i64(g, &type, 0xFFFFFFFF);
  return tpt_hlo_convert(g, tpt_hlo_binary(g, TPT_HLO_AND, x, mask), TPT_U32);
}

static void run_round(philox_t* p) {
  tpt_graph_t* g = p->g;
  tpt_value_t product[2];
  for (int k = 0; k < 2; k++) {
    tpt_value_t factor = tpt_hlo_splat_i64(g, &p->wide, kMultiplier[k]);
    tpt_value_t word = tpt_hlo_convert(g, p->word[2 * k], TPT_U64);
    product[k] = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, word, factor);
  }
  tpt_value_t next[4];
  for (int k = 0; k < 2; k++) {
    tpt_value_t mixed =
        tpt_hlo_binary(g, TPT_HLO_XOR, high_word(g, product[1 - k]), p->word[2 * k + 1]);
    next[2 * k] = tpt_hlo_binary(g, TPT_HLO_XOR, mixed, p->key[k]);
    next[2 * k + 1] = low_word(g, product[1 - k]);
  }
  for (int k = 0; k < 4; k++)
    p->word[k] = next[k];
}

static void bump_key(philox_t* p) {
  for (int k = 0; k < 2; k++) {
    tpt_value_t step = tpt_hlo_splat_i64(p->g, &p->narrow, kWeyl[k]);
    p->key[k] = tpt_hlo_binary(p->g, TPT_HLO_ADD, p->key[k], step);
  }
}

// The words of blocks seed, offset ... offset + counters - 1 of a lane (0-d u32) as u32[counters, 4].
static tpt_value_t philox_blocks(tpt_graph_t* g, tpt_value_t seed, tpt_value_t offset,
                                 tpt_value_t lane, int64_t counters) {
  philox_t p = {.g = g,
                .wide = tpt_type_make(TPT_U64, 1, &counters),
                .narrow = tpt_type_make(TPT_U32, 1, &counters)};
  tpt_value_t counter = tpt_hlo_binary(g, TPT_HLO_ADD, tpt_hlo_iota(g, &p.wide, 0),
                                       tpt_hlo_broadcast_to(g, offset, 1, &counters));
  p.word[0] = low_word(g, counter);
  p.word[1] = high_word(g, counter);
  p.word[2] = tpt_hlo_broadcast_to(g, lane, 1, &counters);
  p.word[3] = tpt_hlo_splat_i64(g, &p.narrow, 0);
  p.key[0] = tpt_hlo_broadcast_to(g, low_word(g, seed), 1, &counters);
  p.key[1] = tpt_hlo_broadcast_to(g, high_word(g, seed), 1, &counters);
  for (int round = 0; round < ROUNDS; round++) {
    if (round) bump_key(&p);
    run_round(&p);
  }
  tpt_value_t columns[4];
  for (int k = 0; k < 4; k++)
    columns[k] = tpt_hlo_reshape(g, p.word[k], 2, (int64_t[]){counters, 1});
  return tpt_hlo_concatenate(g, columns, 4, 1);
}

tpt_value_t tpt_random_bits_at(tpt_graph_t* g, tpt_value_t seed, tpt_value_t offset, int rank,
                               const int64_t* dims) {
  tpt_value_t lane = tpt_hlo_scalar_i64(g, TPT_U32, 0);
  return tpt_random_bits_lane(g, seed, offset, lane, rank, dims);
}

tpt_value_t tpt_random_bits_lane(tpt_graph_t* g, tpt_value_t seed, tpt_value_t offset,
                                 tpt_value_t lane, int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(TPT_U32, rank, dims);
  int64_t count = tpt_type_count(&type);
  if (count == 0) return tpt_hlo_splat_i64(g, &type, 0);
  int64_t counters = (count + 3) / 4;
  tpt_value_t blocks = philox_blocks(g, seed, offset, lane, counters);
  tpt_value_t flat = tpt_hlo_reshape(g, blocks, 1, (int64_t[]){counters * 4});
  if (counters * 4 != count) flat = tpt_hlo_slice_dim(g, flat, 0, 0, count, 1);
  return tpt_hlo_reshape(g, flat, rank, dims);
}

tpt_value_t tpt_lower_random_taken(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  bool is_known = tpt_value_is_none(l->rng_taken);
  if (!is_known && !l->rng_draws) return l->rng_taken;
  tpt_value_t taken = tpt_hlo_scalar_i64(g, TPT_U64, (int64_t)(l->rng_draws / 4));
  return is_known ? taken : tpt_hlo_binary(g, TPT_HLO_ADD, taken, l->rng_taken);
}

tpt_value_t tpt_random_state_pack(tpt_graph_t* g, tpt_stream_t stream) {
  tpt_value_t words[TPT_RANDOM_STATE_SIZE] = {low_word(g, stream.seed), high_word(g, stream.seed),
                                              low_word(g, stream.offset),
                                              high_word(g, stream.offset)};
  for (int i = 0; i < TPT_RANDOM_STATE_SIZE; i++)
    words[i] = tpt_hlo_reshape(g, tpt_hlo_convert(g, words[i], TPT_S64), 1, (int64_t[]){1});
  return tpt_hlo_concatenate(g, words, TPT_RANDOM_STATE_SIZE, 0);
}

// Words i and i + 1 of a state.
static tpt_value_t joined_words(tpt_graph_t* g, tpt_value_t state, int i) {
  tpt_value_t words[2];
  for (int k = 0; k < 2; k++) {
    tpt_value_t word = tpt_hlo_slice_dim(g, state, 0, i + k, i + k + 1, 1);
    words[k] = tpt_hlo_convert(g, tpt_hlo_reshape(g, word, 0, NULL), TPT_U64);
  }
  words[1] = tpt_hlo_binary(g, TPT_HLO_SHL, words[1], tpt_hlo_scalar_i64(g, TPT_U64, 32));
  return tpt_hlo_binary(g, TPT_HLO_OR, words[0], words[1]);
}

tpt_stream_t tpt_random_state_unpack(tpt_graph_t* g, tpt_value_t state) {
  return (tpt_stream_t){joined_words(g, state, 0), joined_words(g, state, 2)};
}

void tpt_lower_random_reserve(tpt_lower_t* l, int64_t count, tpt_value_t* out_seed,
                              tpt_value_t* out_offset) {
  tpt_graph_t* g = l->graph;
  *out_seed = tpt_lower_request(l, TPT_REQUEST_SEED);
  *out_offset = tpt_lower_request(l, TPT_REQUEST_OFFSET);
  if (l->rng_draws || !tpt_value_is_none(l->rng_taken))
    *out_offset = tpt_hlo_binary(g, TPT_HLO_ADD, *out_offset, tpt_lower_random_taken(l));
  l->rng_draws += (uint64_t)((count + 3) / 4) * 4;
}

tpt_value_t tpt_lower_random_bits(tpt_lower_t* l, int rank, const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = tpt_type_make(TPT_U32, rank, dims);
  int64_t count = 1;
  for (int i = 0; i < rank; i++) {
    bool fits = !__builtin_mul_overflow(count, dims[i], &count) && count <= INT64_MAX / 64;
    if (fits && dims[i] >= 0) continue;
    tpt_graph_fail(g, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                      "%lld random numbers in dimension %d are more than can be",
                                      (long long)dims[i], i));
    return TPT_VALUE_NONE;
  }
  if (count == 0) return tpt_hlo_splat_i64(g, &type, 0);
  tpt_value_t seed, offset;
  tpt_lower_random_reserve(l, count, &seed, &offset);
  return tpt_random_bits_at(g, seed, offset, rank, dims);
}
