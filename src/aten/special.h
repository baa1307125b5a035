// Formulas for use inside other lowerings. Special functions take one operand of f32 or f64.
#ifndef TPUTORCH_ATEN_SPECIAL_H_
#define TPUTORCH_ATEN_SPECIAL_H_

#include "aten/expr.h"

// c[0] + c[1] x + ... + c[count - 1] x^(count - 1).
tpt_v tpt_polynomial(tpt_graph_t* g, tpt_v x, const double* c, int count);
tpt_v formula_erf(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_erfc(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_erfinv(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_lgamma(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_digamma(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_gelu(tpt_graph_t* g, const tpt_v* x);
tpt_v formula_logaddexp(tpt_graph_t* g, const tpt_v* x);

#endif  // TPUTORCH_ATEN_SPECIAL_H_
