// Random graphs: a whole program against its own ops run one by one. Values stay small whole numbers,
// so that every order of summation gives the same bits and results compare exactly.
#include "vtpu/plan_fuse.h"
#include "vtpu/program_probe.h"

enum { VALUES = 48, NODES = 26, ELEMENTS_MAX = 6000 };

typedef struct twin {
  tpt_value_t value;
  tpt_type_t type;
  void* data;  // what the single op gave
} twin_t;

typedef struct world {
  tpt_graph_t* graph;
  twin_t twins[VALUES];
  int count;
  const void* params[8];
  int param_count;
} world_t;

// One step of a random program: which builder call, on which operands.
typedef struct recipe {
  int kind;
  int operands[3];
  int operand_count;
  tpt_hlo_t op;
  tpt_dtype_t dtype;
  int rank;
  int64_t dims[TPT_RANK_MAX], extra[TPT_RANK_MAX], more[TPT_RANK_MAX];
  int extra_count;
} recipe_t;

enum {
  UNARY,
  BINARY,
  CLAMP,
  SELECT,
  CONVERT,
  BROADCAST,
  TRANSPOSE,
  RESHAPE,
  SLICE,
  REVERSE,
  IOTA,
  SPLAT,
  REDUCE,
  CONCATENATE,
  DOT,
  WHILE,
  IF,
  KINDS
};

static tpt_value_t limited(tpt_graph_t* g, tpt_value_t x) {
  tpt_dtype_t dtype = tpt_graph_type(g, x)->dtype;
  if (dtype == TPT_PRED) return x;
  int64_t low = tpt_dtype_row(dtype)->kind == TPT_CLASS_UINT ? 0 : -9;
  return tpt_hlo_clamp(g, tpt_hlo_scalar_i64(g, dtype, low), x, tpt_hlo_scalar_i64(g, dtype, 9));
}

static tpt_value_t emit_while(tpt_graph_t* g, tpt_value_t x) {
  tpt_type_t types[2] = {tpt_type_scalar(TPT_S32), *tpt_graph_type(g, x)};
  tpt_value_t args[2], inits[2] = {tpt_hlo_scalar_i64(g, TPT_S32, 0), x}, results[2];
  tpt_value_t outer = tpt_hlo_scalar_i64(g, TPT_S32, 3);
  tpt_region_begin(g, types, 2, args);
  results[0] = tpt_hlo_compare(g, TPT_LT, args[0], outer);
  uint32_t condition = tpt_region_end(g, results, 1);
  tpt_region_begin(g, types, 2, args);
  results[0] = tpt_hlo_binary(g, TPT_HLO_ADD, args[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
  results[1] = limited(g, tpt_hlo_binary(g, TPT_HLO_ADD, args[1], x));  // captures x
  uint32_t body = tpt_region_end(g, results, 2);
  tpt_value_t first = tpt_hlo_while(g, inits, 2, condition, body);
  return tpt_value_is_none(first) ? first : (tpt_value_t){first.index + 1};
}

static tpt_value_t emit_if(tpt_graph_t* g, tpt_value_t x, tpt_value_t y) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_value_t flag = tpt_hlo_compare(g, TPT_LT, tpt_hlo_scalar_i64(g, TPT_S32, 1),
                                     tpt_hlo_scalar_i64(g, TPT_S32, (int64_t)(type.rank % 2) * 2));
  tpt_region_begin(g, NULL, 0, NULL);
  tpt_value_t yes = limited(g, tpt_hlo_binary(g, TPT_HLO_ADD, x, y));
  uint32_t then_block = tpt_region_end(g, &yes, 1);
  tpt_region_begin(g, NULL, 0, NULL);
  uint32_t else_block = tpt_region_end(g, &y, 1);
  return tpt_hlo_if(g, flag, then_block, else_block);
}

static tpt_value_t emit(tpt_graph_t* g, const recipe_t* r, const tpt_value_t* in) {
  tpt_type_t type = tpt_type_make(r->dtype, r->rank, r->dims);
  tpt_value_t ones = TPT_VALUE_NONE;
  switch (r->kind) {
  case UNARY:
    return tpt_hlo_unary(g, r->op, in[0]);
  case BINARY:
    return limited(g, tpt_hlo_binary(g, r->op, in[0], in[1]));
  case CLAMP:
    return limited(g, in[0]);
  case SELECT:
    return tpt_hlo_select(g, tpt_hlo_compare(g, TPT_LE, in[0], in[1]), in[1], in[0]);
  case CONVERT:
    return limited(g, tpt_hlo_convert(g, in[0], r->dtype));
  case BROADCAST:
    return tpt_hlo_broadcast_in_dim(g, in[0], r->rank, r->dims, r->extra);
  case TRANSPOSE:
    return tpt_hlo_transpose(g, in[0], r->extra);
  case RESHAPE:
    return tpt_hlo_reshape(g, in[0], r->rank, r->dims);
  case SLICE:
    return tpt_hlo_slice(g, in[0], r->dims, r->extra, r->more);
  case REVERSE:
    return tpt_hlo_reverse(g, in[0], r->extra, r->extra_count);
  case IOTA:
    return limited(g, tpt_hlo_iota(g, &type, (int)r->extra[0]));
  case SPLAT:
    return tpt_hlo_splat_i64(g, &type, r->extra[0]);
  case REDUCE:
    return limited(g, tpt_hlo_reduce(g, in[0], tpt_hlo_scalar_i64(g, r->dtype, r->more[0]), r->op,
                                     r->extra, r->extra_count));
  case CONCATENATE:
    return tpt_hlo_concatenate(g, in, 2, (int)r->extra[0]);
  case DOT: {
    tpt_dot_t dot = {
        .contract_count = 1, .lhs_contract = {r->extra[0]}, .rhs_contract = {r->extra[0]}};
    ones = tpt_hlo_dot_general(g, in[0], in[1], &dot);
    return limited(g, ones);
  }
  case WHILE:
    return emit_while(g, in[0]);
  default:
    return emit_if(g, in[0], in[1]);
  }
}

// --- choosing ------------------------------------------------------------------------------------------

static int pick(const world_t* w) {
  return (int)probe_int(w->count > 12 ? w->count - 12 : 0, w->count - 1);
}

static int pick_like(const world_t* w, const tpt_type_t* type) {
  int found = -1, seen = 0;
  for (int i = 0; i < w->count; i++)
    if (tpt_type_equal(&w->twins[i].type, type) && probe_int(0, seen++) == 0) found = i;
  return found;
}

static void choose_dims(recipe_t* r, const tpt_type_t* x) {
  r->rank = x->rank;
  memcpy(r->dims, x->dims, sizeof(r->dims));
}

static bool choose_broadcast(recipe_t* r, const tpt_type_t* x) {
  int64_t count = tpt_type_count(x);
  r->rank = 0;
  for (int d = 0; d <= x->rank; d++) {
    while (r->rank < 6 && probe_int(0, 2) == 0 && count <= ELEMENTS_MAX / 8) {
      r->dims[r->rank] = probe_int(1, 7);
      count *= r->dims[r->rank++];
    }
    if (d == x->rank) break;
    if (r->rank >= 7) return false;
    r->extra[d] = r->rank;
    r->dims[r->rank] = x->dims[d];
    if (x->dims[d] == 1 && count <= ELEMENTS_MAX / 8) {
      r->dims[r->rank] = probe_int(1, 7);
      count *= r->dims[r->rank];
    }
    r->rank++;
  }
  return true;
}

static void choose_reshape(recipe_t* r, const tpt_type_t* x) {
  int64_t rest = tpt_type_count(x);
  r->rank = 0;
  for (int d = 0; d < 5 && rest > 1; d++) {
    int64_t dim = probe_int(1, 12);
    if (rest % dim != 0) continue;
    r->dims[r->rank++] = dim;
    rest /= dim;
  }
  if (rest != 1 || probe_int(0, 3) == 0) r->dims[r->rank++] = rest;
}

static void choose_slice(recipe_t* r, const tpt_type_t* x) {
  for (int d = 0; d < x->rank; d++) {
    r->dims[d] = probe_int(0, x->dims[d] > 1 ? x->dims[d] / 2 : 0);
    r->extra[d] = probe_int(r->dims[d] < x->dims[d] ? r->dims[d] + 1 : r->dims[d], x->dims[d]);
    r->more[d] = probe_int(1, 3);
  }
}

static tpt_hlo_t choose_unary(tpt_dtype_t dtype) {
  static const tpt_hlo_t floats[] = {TPT_HLO_ABS, TPT_HLO_NEGATE, TPT_HLO_FLOOR, TPT_HLO_SIGN,
                                     TPT_HLO_CEIL};
  static const tpt_hlo_t ints[] = {TPT_HLO_ABS, TPT_HLO_NEGATE, TPT_HLO_SIGN};
  if (dtype == TPT_PRED) return TPT_HLO_NOT;
  if (dtype == TPT_U8) return TPT_HLO_POPCNT;
  return tpt_dtype_is_float(dtype) ? floats[probe_int(0, 4)] : ints[probe_int(0, 2)];
}

static bool choose_operands(const world_t* w, recipe_t* r, int count) {
  r->operands[0] = pick(w);
  r->operand_count = count;
  for (int i = 1; i < count; i++) {
    r->operands[i] = pick_like(w, &w->twins[r->operands[0]].type);
    if (r->operands[i] < 0) return false;
  }
  return true;
}

static bool choose_more(const world_t* w, recipe_t* r, const tpt_type_t* x) {
  static const tpt_hlo_t monoids[] = {TPT_HLO_ADD, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM};
  static const tpt_dtype_t dtypes[] = {TPT_F32, TPT_F32, TPT_S32, TPT_BF16,
                                       TPT_F64, TPT_U8,  TPT_S64, TPT_F16};
  (void)w;
  switch (r->kind) {
  case IOTA:
  case SPLAT:
    choose_dims(r, x);
    r->dtype = dtypes[probe_int(0, 7)];
    r->extra[0] = probe_int(0, r->kind == IOTA && x->rank > 0 ? x->rank - 1 : 7);
    return r->kind == SPLAT || x->rank > 0;
  case REDUCE:
    r->op = monoids[probe_int(0, 2)];
    r->dtype = x->dtype;
    r->more[0] = probe_int(0, 1);
    for (int d = 0; d < x->rank; d++)
      if (probe_int(0, 1)) r->extra[r->extra_count++] = d;
    return x->dtype != TPT_PRED;
  case CONCATENATE:
    r->extra[0] = probe_int(0, x->rank > 0 ? x->rank - 1 : 0);
    return x->rank > 0 && tpt_type_count(x) < ELEMENTS_MAX / 2;
  case DOT:
    r->extra[0] = probe_int(0, 1);
    return x->rank == 2 && x->dtype == TPT_F32 && x->dims[0] * x->dims[1] < 900;
  default:
    return x->dtype != TPT_PRED || r->kind == IF;
  }
}

static bool choose(const world_t* w, recipe_t* r) {
  static const int frequent[] = {UNARY,     BINARY,    BINARY,  BINARY, SELECT, BROADCAST,
                                 BROADCAST, TRANSPOSE, RESHAPE, SLICE,  REDUCE, REDUCE};
  static const tpt_hlo_t binaries[] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM,
                                       TPT_HLO_SUBTRACT};
  static const tpt_dtype_t dtypes[] = {TPT_F32, TPT_F32, TPT_S32, TPT_BF16, TPT_F64,
                                       TPT_U8,  TPT_S64, TPT_F16, TPT_PRED};
  memset(r, 0, sizeof(*r));
  r->kind = probe_int(0, 2) ? frequent[probe_int(0, 11)] : (int)probe_int(0, KINDS - 1);
  bool two = r->kind == BINARY || r->kind == SELECT || r->kind == CONCATENATE || r->kind == DOT ||
             r->kind == IF;
  if (!choose_operands(w, r, r->kind == IOTA || r->kind == SPLAT ? 1 : (two ? 2 : 1))) return false;
  const tpt_type_t* x = &w->twins[r->operands[0]].type;
  switch (r->kind) {
  case UNARY:
    r->op = choose_unary(x->dtype);
    return true;
  case BINARY:
    r->op = binaries[probe_int(0, 3)];
    return x->dtype != TPT_PRED || r->op != TPT_HLO_SUBTRACT;
  case CLAMP:
  case SELECT:
    return true;
  case CONVERT:
    r->dtype = dtypes[probe_int(0, 8)];
    return true;
  case BROADCAST:
    return choose_broadcast(r, x);
  case TRANSPOSE:
    for (int d = 0; d < x->rank; d++)
      r->extra[d] = d;
    for (int d = x->rank - 1; d > 0; d--) {
      int other = (int)probe_int(0, d);
      int64_t spare = r->extra[d];
      r->extra[d] = r->extra[other];
      r->extra[other] = spare;
    }
    return true;
  case RESHAPE:
    choose_reshape(r, x);
    return true;
  case SLICE:
    choose_slice(r, x);
    return true;
  case REVERSE:
    for (int d = 0; d < x->rank; d++)
      if (probe_int(0, 1)) r->extra[r->extra_count++] = d;
    return true;
  default:
    return choose_more(w, r, x);
  }
}

// --- running ---------------------------------------------------------------------------------------------

// Evaluates a recipe alone.
static bool run_alone(const world_t* w, const recipe_t* r, twin_t* out) {
  tpt_graph_t* g = program_graph();
  tpt_value_t in[3];
  const void* data[3];
  for (int i = 0; i < r->operand_count; i++) {
    in[i] = tpt_graph_parameter(g, &w->twins[r->operands[i]].type);
    data[i] = w->twins[r->operands[i]].data;
  }
  tpt_value_t value = emit(g, r, in);
  if (tpt_graph_error(g)) {
    CHECK_OK(tpt_graph_status(g));
    tpt_graph_release(g);
    return false;
  }
  out->type = *tpt_graph_type(g, value);
  tpt_graph_return(g, &value, 1);
  return program_eval(g, data, &out->data, false);
}

static void add_parameter(world_t* w, const tpt_type_t* type) {
  twin_t* twin = &w->twins[w->count++];
  twin->type = *type;
  twin->value = tpt_graph_parameter(w->graph, type);
  twin->data = program_memory((size_t)tpt_type_size(type));
  for (int64_t i = 0; i < tpt_type_count(type); i++)
    probe_set(type->dtype, twin->data, i,
              type->dtype == TPT_PRED ? (double)probe_int(0, 1)
                                      : (double)probe_int(type->dtype == TPT_U8 ? 0 : -8, 8));
  w->params[w->param_count++] = twin->data;
}

static void grow(world_t* w) {
  for (int tries = 0; w->count < NODES && tries < 400; tries++) {
    recipe_t r;
    if (!choose(w, &r)) continue;
    twin_t* twin = &w->twins[w->count];
    if (!run_alone(w, &r, twin)) continue;
    tpt_value_t in[3];
    for (int i = 0; i < r.operand_count; i++)
      in[i] = w->twins[r.operands[i]].value;
    twin->value = emit(w->graph, &r, in);
    w->count++;
  }
}

static void compare(const world_t* w, const int* returned, int count, void** out, int seed) {
  for (int i = 0; i < count; i++) {
    const twin_t* twin = &w->twins[returned[i]];
    size_t size = (size_t)tpt_type_size(&twin->type);
    for (int64_t k = 0; k < tpt_type_count(&twin->type); k++) {
      double a = probe_get(twin->type.dtype, out[i], k),
             b = probe_get(twin->type.dtype, twin->data, k);
      if (a == b) continue;
      char text[120];
      fprintf(stderr, "seed %d: value %d %s element %lld is %g, not %g\n", seed, returned[i],
              tpt_type_print(&twin->type, text, sizeof(text)), (long long)k, a, b);
      tpt_check_failures++;
      break;
    }
    (void)size;
  }
}

static void run_world(int seed, bool donate) {
  world_t w;
  memset(&w, 0, sizeof(w));
  probe_state = 0x9E3779B97F4A7C15u * (uint64_t)(seed + 1);
  w.graph = program_graph();
  int64_t a = probe_int(1, 9), b = probe_int(1, 40), c = probe_int(0, 3) ? probe_int(1, 17) : 1;
  tpt_type_t types[5] = {type_of(TPT_F32, 2, DIMS(a, b)), type_of(TPT_F32, 3, DIMS(c, a, b)),
                         type_of(TPT_F32, 1, DIMS(b)), type_of(TPT_S32, 2, DIMS(b, c)),
                         type_of(seed % 3 ? TPT_BF16 : TPT_F16, 2, DIMS(a, b))};
  for (int i = 0; i < 5; i++)
    add_parameter(&w, &types[i]);
  add_parameter(&w, &types[0]);
  grow(&w);
  int returned[8], count = (int)probe_int(1, 8);
  tpt_value_t values[8];
  for (int i = 0; i < count; i++) {
    returned[i] = (int)probe_int(probe_int(0, 5) ? w.param_count : 0, w.count - 1);
    values[i] = w.twins[returned[i]].value;
  }
  tpt_graph_return(w.graph, values, (uint32_t)count);
  bool taken[8] = {false};
  for (int p = 0; donate && p < w.param_count; p++)
    for (int i = 0; i < count; i++)
      if (!taken[i] && tpt_type_equal(&w.twins[returned[i]].type, &w.twins[p].type) &&
          probe_int(0, 1)) {
        tpt_graph_alias(w.graph, (uint32_t)p, (uint32_t)i);
        taken[i] = true;
        break;
      }
  void* out[8] = {NULL};
  if (program_eval(w.graph, w.params, out, donate)) {
    compare(&w, returned, count, out, seed);
    for (int i = 0; i < count; i++)
      free(out[i]);
  } else {
    fprintf(stderr, "seed %d\n", seed);
  }
  for (int i = 0; i < w.count; i++)
    free(w.twins[i].data);
}

static void test_random_programs_equal_their_ops(void) {
  for (int seed = 0; seed < 150; seed++)
    run_world(seed, false);
}

static void test_random_programs_may_donate(void) {
  for (int seed = 1000; seed < 1100; seed++)
    run_world(seed, true);
}

int main(int argc, char** argv) {
  if (argc == 3) {
    for (int seed = atoi(argv[1]); seed < atoi(argv[2]); seed++)
      run_world(seed, seed & 1);
    return TEST_RESULT;
  }
  RUN(test_random_programs_equal_their_ops);
  RUN(test_random_programs_may_donate);
  return TEST_RESULT;
}
