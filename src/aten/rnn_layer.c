// One direction of one layer of an LSTM over a whole sequence, forward and backward. The products with
// the input are one for all steps; only what depends on the step before stands in a loop. Nothing but
// input, states and output is kept for the way back: it makes the gates again, of all steps at once.
// Gates stand as PyTorch lays them out: input, forget, cell, output. Arrays are [time, batch, width].
#include "aten/array.h"
#include "aten/rows.h"
#include "base/str.h"

enum { ARG_INPUT, ARG_WEIGHT_IH, ARG_WEIGHT_HH, ARG_BIAS_IH, ARG_BIAS_HH, ARG_HX, ARG_CX };
enum { MODE_LSTM = 2 };  // as cuDNN numbers them

typedef struct layer {
  tpt_lower_t* l;
  tpt_graph_t* g;
  tpt_dtype_t dtype, compute;
  int64_t steps, batch, width, hidden;
  bool is_reversed;
} layer_t;

// --- arguments -------------------------------------------------------------------------------------------

static tpt_status_t check_sizes(const layer_t* c, int arg, int rank, const int64_t* dims) {
  const tpt_type_t* type = tpt_graph_type(c->g, tpt_lower_value(c->l, arg));
  tpt_type_t want = tpt_type_make(c->dtype, rank, dims);
  if (tpt_type_equal(type, &want)) return NULL;
  tpt_str_t text;
  tpt_str_init(&text);
  for (int d = 0; d < rank; d++)
    tpt_str_printf(&text, d ? ", %lld" : "%lld", (long long)dims[d]);
  tpt_status_t status = tpt_status_make(
      TPT_INVALID_ARGUMENT, __FILE__, __LINE__, "%s must have sizes [%s] and the input's dtype",
      tpt_op_schema(c->l->op)->args[arg].name, text.data ? text.data : "");
  tpt_str_deinit(&text);
  return status;
}

static tpt_status_t read_layer(tpt_lower_t* l, bool is_reversed, int64_t mode, layer_t* out) {
  const tpt_type_t* input = tpt_graph_type(l->graph, tpt_lower_value(l, ARG_INPUT));
  const tpt_type_t* state = tpt_graph_type(l->graph, tpt_lower_value(l, ARG_HX));
  if (input->rank != 3 || !tpt_dtype_is_float(input->dtype) || input->dims[0] < 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "input must be floating point of sizes [time, batch, width] with at least one step");
  if (mode != MODE_LSTM)
    TPT_FAIL(TPT_UNIMPLEMENTED, "mode %lld: only 2, an LSTM, is a layer on this device",
             (long long)mode);
  *out = (layer_t){.l = l,
                   .g = l->graph,
                   .dtype = input->dtype,
                   .compute = tpt_dtype_compute(input->dtype),
                   .steps = input->dims[0],
                   .batch = input->dims[1],
                   .width = input->dims[2],
                   .hidden = state->rank ? state->dims[state->rank - 1] : 0,
                   .is_reversed = is_reversed};
  const int64_t gates = 4 * out->hidden, states[] = {out->batch, out->hidden};
  TPT_TRY(check_sizes(out, ARG_WEIGHT_IH, 2, (int64_t[]){gates, out->width}));
  TPT_TRY(check_sizes(out, ARG_WEIGHT_HH, 2, (int64_t[]){gates, out->hidden}));
  TPT_TRY(check_sizes(out, ARG_BIAS_IH, 1, &gates));
  TPT_TRY(check_sizes(out, ARG_BIAS_HH, 1, &gates));
  TPT_TRY(check_sizes(out, ARG_HX, 2, states));
  return check_sizes(out, ARG_CX, 2, states);
}

// --- pieces ----------------------------------------------------------------------------------------------

// In the compute type.
static tpt_v product(const layer_t* c, tpt_v x, tpt_v y, tpt_dot_t dot) {
  dot.precision = c->dtype == TPT_F32 ? c->l->precision : TPT_PRECISION_DEFAULT;
  dot.result = c->compute;
  return tpt_hlo_dot_general(c->g, x, y, &dot);
}

// Contracts the last dimension of x with dimension `dim` of a matrix.
static tpt_v apply(const layer_t* c, tpt_v x, tpt_v matrix, int dim) {
  int last = tpt_graph_type(c->g, x)->rank - 1;
  return product(c, x, matrix,
                 (tpt_dot_t){.contract_count = 1, .lhs_contract = {last}, .rhs_contract = {dim}});
}

// [a, b] of x [time, batch, a] and y [time, batch, b], summed over time and batch.
static tpt_v outer(const layer_t* c, tpt_v x, tpt_v y) {
  return product(c, x, y,
                 (tpt_dot_t){.contract_count = 2, .lhs_contract = {0, 1}, .rhs_contract = {0, 1}});
}

static tpt_v with_bias(const layer_t* c, tpt_v gates, int arg) {
  tpt_type_t type = *tpt_graph_type(c->g, gates);
  tpt_v bias = tpt_lower_value_as(c->l, arg, c->compute);
  return tpt_add(c->g, gates, tpt_along(c->g, bias, type.rank, type.dims, type.rank - 1));
}

// The input's part of all gates.
static tpt_v input_gates(const layer_t* c, bool has_biases) {
  tpt_v input = tpt_lower_value(c->l, ARG_INPUT);
  tpt_v gates = apply(c, input, tpt_lower_value(c->l, ARG_WEIGHT_IH), 1);
  return has_biases ? with_bias(c, with_bias(c, gates, ARG_BIAS_IH), ARG_BIAS_HH) : gates;
}

// Part `number` of the last dimension: a gate.
static tpt_v gate(const layer_t* c, tpt_v gates, int number) {
  int last = tpt_graph_type(c->g, gates)->rank - 1;
  return tpt_hlo_slice_dim(c->g, gates, last, number * c->hidden, (number + 1) * c->hidden, 1);
}

static void activate(const layer_t* c, tpt_v gates, tpt_v* out) {
  for (int k = 0; k < 4; k++) {
    tpt_v x = gate(c, gates, k);
    out[k] = k == 2 ? tpt_tanh(c->g, x) : tpt_logistic(c->g, x);
  }
}

static tpt_v zeros(const layer_t* c, tpt_dtype_t dtype, int64_t width) {
  return tpt_fill(c->g, dtype, 3, (int64_t[]){c->steps, c->batch, width}, 0);
}

static void place(const layer_t* c, tpt_v step, tpt_v* out) {
  out[0] = step;
  out[1] = out[2] = tpt_hlo_scalar_i64(c->g, TPT_S32, 0);
}

// Step `step` of x [time, batch, n], as [batch, n].
static tpt_v at(const layer_t* c, tpt_v x, tpt_v step) {
  int64_t width = tpt_graph_type(c->g, x)->dims[2];
  tpt_v starts[3];
  place(c, step, starts);
  x = tpt_hlo_dynamic_slice(c->g, x, starts, (int64_t[]){1, c->batch, width});
  return tpt_hlo_reshape(c->g, x, 2, (int64_t[]){c->batch, width});
}

static tpt_v put(const layer_t* c, tpt_v x, tpt_v row, tpt_v step) {
  tpt_v starts[3];
  place(c, step, starts);
  return tpt_hlo_dynamic_update_slice(c->g, x, tpt_unsqueeze(c->g, row, 0), starts);
}

// x of the step before, which is `first` ([batch, n]) for the first one.
static tpt_v before(const layer_t* c, tpt_v x, tpt_v first) {
  first = tpt_unsqueeze(c->g, first, 0);
  if (c->steps == 1) return first;
  int64_t start = c->is_reversed ? 1 : 0;
  tpt_v rest = tpt_hlo_slice_dim(c->g, x, 0, start, start + c->steps - 1, 1);
  tpt_v parts[2] = {c->is_reversed ? rest : first, c->is_reversed ? first : rest};
  return tpt_hlo_concatenate(c->g, parts, 2, 0);
}

// --- loops -----------------------------------------------------------------------------------------------

enum { STATE_MAX = 4 };
// One step: state[0] .. are replaced by the next ones; `step` is the place in time.
typedef void (*step_fn_t)(const layer_t* c, const void* context, tpt_v step, tpt_v* inout_state);

// Runs `fn` over the sequence, forward or from its end, and leaves the last state in inout_state.
static void loop(const layer_t* c, bool from_end, step_fn_t fn, const void* context,
                 tpt_v* inout_state, int count) {
  tpt_graph_t* g = c->g;
  tpt_v all[STATE_MAX + 1], args[STATE_MAX + 1];
  tpt_type_t types[STATE_MAX + 1];
  all[0] = tpt_hlo_scalar_i64(g, TPT_S32, 0);
  memcpy(all + 1, inout_state, (size_t)count * sizeof(*all));
  for (int i = 0; i <= count; i++)
    types[i] = *tpt_graph_type(g, all[i]);
  tpt_region_begin(g, types, (uint32_t)count + 1, args);
  tpt_v more = tpt_lt(g, args[0], tpt_like_i64(g, args[0], c->steps));
  uint32_t condition = tpt_region_end(g, &more, 1);
  tpt_region_begin(g, types, (uint32_t)count + 1, args);
  tpt_v step = args[0];
  if (from_end) step = tpt_sub(g, tpt_like_i64(g, step, c->steps - 1), step);
  fn(c, context, step, args + 1);
  args[0] = tpt_add(g, args[0], tpt_like_i64(g, args[0], 1));
  uint32_t body = tpt_region_end(g, args, (uint32_t)count + 1);
  tpt_v first = tpt_hlo_while(g, all, count + 1, condition, body);
  for (int i = 0; i < count; i++)
    inout_state[i] = tpt_value_is_none(first) ? first : (tpt_v){first.index + 1 + (uint32_t)i};
}

// context: the input's part of all gates. state: h, c, output.
static void step_forward(const layer_t* c, const void* context, tpt_v step, tpt_v* state) {
  tpt_graph_t* g = c->g;
  tpt_v hidden = apply(c, state[0], tpt_lower_value(c->l, ARG_WEIGHT_HH), 1), act[4];
  activate(c, tpt_add(g, at(c, *(const tpt_v*)context, step), hidden), act);
  state[1] = tpt_add(g, tpt_mul(g, act[1], state[1]), tpt_mul(g, act[0], act[2]));
  state[0] = tpt_hlo_convert(g, tpt_mul(g, act[3], tpt_tanh(g, state[1])), c->dtype);
  state[2] = put(c, state[2], state[0], step);
}

// context: forget gates, and what the other gates add. state: c, all of them.
static void step_cells(const layer_t* c, const void* context, tpt_v step, tpt_v* state) {
  const tpt_v* given = context;
  tpt_v kept = tpt_mul(c->g, at(c, given[0], step), state[0]);
  state[0] = tpt_add(c->g, kept, at(c, given[1], step));
  state[1] = put(c, state[1], state[0], step);
}

// context: gradient of the output; slopes of the gates by the cell and, the last, by the output; slope
// of the output by the cell; forget gates. state: gradients of h, c, all gates.
typedef struct slopes {
  tpt_v output, gates[4], cell, forget;
} slopes_t;

static void step_backward(const layer_t* c, const void* context, tpt_v step, tpt_v* state) {
  const slopes_t* s = context;
  tpt_graph_t* g = c->g;
  tpt_v h = state[0], parts[4];
  if (!tpt_value_is_none(s->output)) h = tpt_add(g, h, at(c, s->output, step));
  tpt_v cell = tpt_add(g, state[1], tpt_mul(g, h, at(c, s->cell, step)));
  for (int k = 0; k < 4; k++)
    parts[k] = tpt_mul(g, k == 3 ? h : cell, at(c, s->gates[k], step));
  tpt_v gates = tpt_hlo_concatenate(g, parts, 4, 1);
  state[1] = tpt_mul(g, cell, at(c, s->forget, step));
  state[2] = put(c, state[2], gates, step);
  tpt_v rounded = tpt_hlo_convert(g, gates, c->dtype);
  state[0] = apply(c, rounded, tpt_lower_value(c->l, ARG_WEIGHT_HH), 0);
}

// --- rows ------------------------------------------------------------------------------------------------

// input, weight_ih, weight_hh, bias_ih, bias_hh, hx, cx -> output, hy, cy, and a workspace that is
// empty, as PyTorch's shape rule of this op says.
tpt_status_t lower_lstm_layer(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  layer_t c;
  TPT_TRY(read_layer(l, tpt_lower_bool(l, 7), tpt_lower_int(l, 9), &c));
  tpt_v gates = input_gates(&c, tpt_lower_bool(l, 12));
  tpt_v state[3] = {tpt_lower_value(l, ARG_HX), tpt_lower_value_as(l, ARG_CX, c.compute),
                    zeros(&c, c.dtype, c.hidden)};
  loop(&c, c.is_reversed, step_forward, &gates, state, 3);
  TPT_TRY(tpt_lower_result(l, state[2]));
  TPT_TRY(tpt_lower_result(l, state[0]));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, state[1], c.dtype)));
  return tpt_lower_result(l, tpt_fill(g, TPT_U8, 1, (int64_t[]){0}, 0));
}

static tpt_v grad_or_zero(const layer_t* c, int arg) {
  if (tpt_lower_has(c->l, arg)) return tpt_lower_value_as(c->l, arg, c->compute);
  return tpt_fill(c->g, c->compute, 2, (int64_t[]){c->batch, c->hidden}, 0);
}

// Of all steps: the gates again, then the cells, then how everything changes with them.
static void find_slopes(const layer_t* c, tpt_v hidden, bool has_biases, slopes_t* out) {
  tpt_graph_t* g = c->g;
  tpt_v recurrent = apply(c, hidden, tpt_lower_value(c->l, ARG_WEIGHT_HH), 1), act[4];
  activate(c, tpt_add(g, input_gates(c, has_biases), recurrent), act);
  tpt_v given[2] = {act[1], tpt_mul(g, act[0], act[2])};
  tpt_v cx = tpt_lower_value_as(c->l, ARG_CX, c->compute);
  tpt_v state[2] = {cx, zeros(c, c->compute, c->hidden)};
  loop(c, c->is_reversed, step_cells, given, state, 2);
  tpt_v shown = tpt_tanh(g, state[1]), slope[4];
  for (int k = 0; k < 4; k++)
    slope[k] = k == 2 ? tpt_tanh_slope(g, act[k]) : tpt_logistic_slope(g, act[k]);
  out->gates[0] = tpt_mul(g, act[2], slope[0]);
  out->gates[1] = tpt_mul(g, before(c, state[1], cx), slope[1]);
  out->gates[2] = tpt_mul(g, act[0], slope[2]);
  out->gates[3] = tpt_mul(g, shown, slope[3]);
  out->cell = tpt_mul(g, act[3], tpt_tanh_slope(g, shown));
  out->forget = act[1];
}

// input, weight_ih, weight_hh, bias_ih, bias_hh, hx, cx, output, hy, cy, grad_output, grad_hy, grad_cy ->
// gradients of input, weight_ih, weight_hh, both biases (the same), hx, cx, in the compute type.
tpt_status_t lower_lstm_layer_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  layer_t c;
  TPT_TRY(read_layer(l, tpt_lower_bool(l, 13), tpt_lower_int(l, 14), &c));
  TPT_TRY(check_sizes(&c, 7, 3, (int64_t[]){c.steps, c.batch, c.hidden}));
  tpt_v hidden = before(&c, tpt_lower_value(l, 7), tpt_lower_value(l, ARG_HX));
  slopes_t slopes = {.output = TPT_VALUE_NONE};
  find_slopes(&c, hidden, tpt_lower_bool(l, 17), &slopes);
  if (tpt_lower_has(l, 10)) slopes.output = tpt_lower_value_as(l, 10, c.compute);
  tpt_v state[3] = {grad_or_zero(&c, 11), grad_or_zero(&c, 12), zeros(&c, c.compute, 4 * c.hidden)};
  loop(&c, !c.is_reversed, step_backward, &slopes, state, 3);
  tpt_v gates = tpt_hlo_convert(g, state[2], c.dtype);
  tpt_v bias = tpt_reduce_sum(g, state[2], (int64_t[]){0, 1}, 2);
  TPT_TRY(tpt_lower_result(l, apply(&c, gates, tpt_lower_value(l, ARG_WEIGHT_IH), 0)));
  TPT_TRY(tpt_lower_result(l, outer(&c, gates, tpt_lower_value(l, ARG_INPUT))));
  TPT_TRY(tpt_lower_result(l, outer(&c, gates, hidden)));
  TPT_TRY(tpt_lower_result(l, bias));
  TPT_TRY(tpt_lower_result(l, bias));
  TPT_TRY(tpt_lower_result(l, state[0]));
  return tpt_lower_result(l, state[1]);
}
