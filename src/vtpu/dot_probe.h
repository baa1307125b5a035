// For tests of dot*.c: one product of matrices (with batch dimensions in front), run at a level of the
// units.
#ifndef TPUTORCH_VTPU_DOT_PROBE_H_
#define TPUTORCH_VTPU_DOT_PROBE_H_

#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

typedef struct dot_probe {
  tpt_dtype_t lhs, rhs, result;
  tpt_precision_t precision;
  int64_t batch, m, n, k;
  bool lhs_k_inner, rhs_k_inner;
} dot_probe_t;

static inline tpt_type_t dot_probe_type(const dot_probe_t* p, int side) {
  int64_t free = side == 0 ? p->m : p->n;
  bool k_inner = side == 0 ? p->lhs_k_inner : p->rhs_k_inner;
  return tpt_type_make(side == 0 ? p->lhs : p->rhs, 3,
                       (int64_t[]){p->batch, k_inner ? free : p->k, k_inner ? p->k : free});
}

// The result (free) of the product at a level; NULL if it failed.
static inline void* dot_probe_run(const dot_probe_t* p, const void* a, const void* b, int level) {
  tpt_graph_t* graph = NULL;
  void* out = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return NULL;
  tpt_type_t lhs = dot_probe_type(p, 0), rhs = dot_probe_type(p, 1);
  tpt_value_t x = tpt_graph_parameter(graph, &lhs), y = tpt_graph_parameter(graph, &rhs);
  tpt_dot_t dot = {.batch_count = 1,
                   .contract_count = 1,
                   .lhs_contract = {p->lhs_k_inner ? 2 : 1},
                   .rhs_contract = {p->rhs_k_inner ? 2 : 1},
                   .precision = p->precision,
                   .result = p->result};
  const void* in[2] = {a, b};
  vtpu_strip_limit(level);
  if (!CHECK_OK(probe_run(graph, tpt_hlo_dot_general(graph, x, y, &dot), in, &out))) out = NULL;
  vtpu_strip_limit(VTPU_STRIP_LEVEL_COUNT - 1);
  tpt_graph_release(graph);
  return out;
}

// The largest difference of two results, relative to the largest magnitude.
static inline double dot_probe_distance(const dot_probe_t* p, const void* x, const void* y) {
  double worst = 0, most = 1e-30;
  for (int64_t i = 0; i < p->batch * p->m * p->n; i++) {
    double u = probe_get(p->result, x, i), v = probe_get(p->result, y, i);
    if (!(fabs(u - v) <= worst)) worst = fabs(u - v);
    if (fabs(v) > most) most = fabs(v);
  }
  return worst / most;
}

#endif  // TPUTORCH_VTPU_DOT_PROBE_H_
