// Checks on graphs for tests: a value's type as text, a builder call that must fail. Included by
// tests only.
#ifndef TPUTORCH_HLO_GRAPH_CHECK_H_
#define TPUTORCH_HLO_GRAPH_CHECK_H_

#include "base/check.h"
#include "hlo/sample.h"

static inline tpt_graph_t* check_graph(void) {
  tpt_graph_t* g = NULL;
  CHECK_OK(tpt_graph_create(&g));
  return g;
}

// A fresh parameter of an empty graph: `p(g, F32, 2, 3)`.
#define P(g, dtype, ...)                                                                           \
  sample_parameter((g), TPT_##dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),    \
                   (int64_t[]){__VA_ARGS__})
#define P0(g, dtype) sample_parameter((g), TPT_##dtype, 0, NULL)
#define I64S(...)    ((int64_t[]){__VA_ARGS__})

// The value has this type and the graph has not failed.
#define CHECK_TYPE(g, value, text)                                                                 \
  do {                                                                                             \
    char type_text[200];                                                                           \
    tpt_value_t type_value = (value);                                                              \
    CHECK_OK(tpt_graph_status(g));                                                                 \
    CHECK_STR(tpt_type_print(tpt_graph_type((g), type_value), type_text, sizeof(type_text)),       \
              (text));                                                                             \
  } while (0)

// The builder call gives nothing and leaves this error; the graph is emptied.
#define CHECK_REFUSED(g, call, text)                                                               \
  do {                                                                                             \
    tpt_value_t refused_value = (call);                                                            \
    CHECK(tpt_value_is_none(refused_value));                                                       \
    CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, (text));                                \
    tpt_graph_reset(g);                                                                            \
  } while (0)

// Appends an op from its parts. attrs may be NULL.
static inline tpt_value_t append_op(tpt_graph_t* g, tpt_hlo_t op, const tpt_value_t* operands,
                                    uint32_t count, const tpt_attr_t* attrs) {
  return tpt_graph_append(
      g,
      &(tpt_node_params_t){.op = op, .operands = operands, .operand_count = count, .attrs = attrs});
}
#define VALUES(...)                                                                                \
  (tpt_value_t[]){__VA_ARGS__},                                                                    \
      (uint32_t)(sizeof((tpt_value_t[]){__VA_ARGS__}) / sizeof(tpt_value_t))

static inline tpt_attr_t attr_int(int64_t value) {
  return (tpt_attr_t){.is_set = true, .i = value};
}
static inline tpt_attr_t attr_ints(const int64_t* data, size_t count) {
  return (tpt_attr_t){.is_set = true, .ints = data, .count = count};
}

#endif  // TPUTORCH_HLO_GRAPH_CHECK_H_
