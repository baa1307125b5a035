// Special functions as StableHLO formulas: erf and kin, log-gamma, digamma. Polynomials are minimax
// fits of our own (relative error stated at each); f64 has its own, longer ones. Invariant: NaN in,
// NaN out; infinities and signed zeros as C's math library gives them.
#include "aten/special.h"

#include <math.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

// c[0] + c[1] x + c[2] x^2 + ...
tpt_v tpt_polynomial(tpt_graph_t* g, tpt_v x, const double* c, int count) {
  tpt_v y = tpt_like(g, x, c[count - 1]);
  for (int i = count - 2; i >= 0; i--)
    y = tpt_add_f64(g, tpt_mul(g, y, x), c[i]);
  return y;
}

static bool is_double(tpt_graph_t* g, tpt_v x) {
  return tpt_dtype_of(g, x) == TPT_F64;
}

// --- erf ----------------------------------------------------------------------------------------

// erf(x) / x - 1 over y = x^2, |x| <= 1: 4e-8; log(erfc(x)) over x in [1, 4], 1.5e-8 of erf.
static const double kErfNear[] = {0.12837912249706068,  -0.37612326191629775,
                                  0.11280180133073786,  -0.026711311647101305,
                                  0.004917551618776135, -0.0005631422405593261};
static const double kErfFar[] = {-0.0026717091705850847, -1.1174384550032754,
                                 -0.6544889906127804,    -0.08863414096190539,
                                 0.014778107713008488,   -0.0011504203547314685};
// erf(x) / x over y = x^2, |x| <= 1: 1.3e-19.
static const double kErfSmall[] = {
    1.12837916709551257,    -0.376126389031837476,     0.112837916709548575,
    -0.0268661706450728895, 0.00522397762478082271,    -0.000854832697873985797,
    0.00012055331036817233, -0.0000149255935049578486, 1.6460972786619063e-6,
    -1.6350024906025945e-7, 1.46578777502432314e-8,    -1.13656580220467869e-9,
    5.94524856791463368e-11};
// exp(x^2) erfc(x) / t over t = 1 / (1 + x / 2), x >= 0.47: 5.4e-9 and 1.8e-16.
static const double kErfcx[] = {0.2820947933,  0.2820942866,   0.2468603906,  0.1757344694,
                                0.08983680427, -0.04138135261, 0.07931915833, -0.3587865171,
                                0.3886511076,  -0.1715939333,  0.02714577253};
static const double kErfcxP[] = {0.282094791773878095, 0.0015502101944102229, 1.07851311703662202,
                                 0.388524060051784461, 1.41749158891893281,   0.876437368362476464,
                                 0.941983989041603293, 0.586562234558743043,  0.30570526036055678,
                                 0.0991057197659210284};
static const double kErfcxQ[] = {1.0,
                                 -0.994504647942577189,
                                 3.94273410305693694,
                                 -2.32026060500613368,
                                 4.21993557769351958,
                                 -1.23615936341304454,
                                 1.34827347031120096,
                                 -0.0851001730966682134,
                                 0.0916432585268763967,
                                 0.0114067187881029936};

// exp(-x^2) for x >= 0: x is cut to half its bits, so that the square of the head is exact.
static tpt_v exp_minus_square(tpt_graph_t* g, tpt_v x) {
  tpt_v head = is_double(g, x) ? tpt_hlo_reduce_precision(g, x, 11, 25)
                               : tpt_hlo_reduce_precision(g, x, 8, 11);
  tpt_v tail = tpt_mul(g, tpt_sub(g, head, x), tpt_add(g, head, x));
  return tpt_mul(g, tpt_exp(g, tpt_neg(g, tpt_mul(g, head, head))), tpt_exp(g, tail));
}

// erfc(x) for 0.47 <= x <= 28 (beyond that it is 0).
static tpt_v erfc_tail(tpt_graph_t* g, tpt_v x) {
  tpt_v one = tpt_like(g, x, 1.0);
  tpt_v t = tpt_div(g, one, tpt_add(g, one, tpt_mul_f64(g, x, 0.5)));
  tpt_v ratio = is_double(g, x) ? tpt_div(g, tpt_polynomial(g, t, kErfcxP, COUNT(kErfcxP)),
                                          tpt_polynomial(g, t, kErfcxQ, COUNT(kErfcxQ)))
                                : tpt_polynomial(g, t, kErfcx, COUNT(kErfcx));
  return tpt_mul(g, exp_minus_square(g, x), tpt_mul(g, t, ratio));
}

static tpt_v erf_small(tpt_graph_t* g, tpt_v x) {
  return tpt_mul(g, x, tpt_polynomial(g, tpt_mul(g, x, x), kErfSmall, COUNT(kErfSmall)));
}

static tpt_v copy_sign(tpt_graph_t* g, tpt_v magnitude, tpt_v sign) {
  tpt_v is_negative = tpt_lt(g, sign, tpt_like(g, sign, 0.0));
  return tpt_select(g, is_negative, tpt_neg(g, magnitude), magnitude);
}

tpt_v formula_erf(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0];
  if (is_double(g, a)) {
    tpt_v m = tpt_min(g, tpt_abs(g, a), tpt_like(g, a, 28.0));
    tpt_v large = tpt_sub(g, tpt_like(g, a, 1.0), erfc_tail(g, m));
    tpt_v is_small = tpt_lt(g, m, tpt_like(g, a, 1.0));
    return tpt_select(g, is_small, erf_small(g, a), copy_sign(g, large, a));
  }
  // Each part is a small correction of x or of 1, so that little but the last rounding shows.
  tpt_v y = tpt_mul(g, a, a);
  tpt_v near = tpt_polynomial(g, y, kErfNear, COUNT(kErfNear));
  near = tpt_add(g, a, tpt_mul(g, a, near));
  tpt_v m = tpt_min(g, tpt_abs(g, a), tpt_like(g, a, 4.0));
  tpt_v far = tpt_exp(g, tpt_polynomial(g, m, kErfFar, COUNT(kErfFar)));
  tpt_v sign = tpt_sign(g, a);
  far = tpt_sub(g, sign, tpt_mul(g, sign, far));
  return tpt_select(g, tpt_lt(g, m, tpt_like(g, a, 1.0)), near, far);
}

tpt_v formula_erfc(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0];
  tpt_v m = tpt_min(g, tpt_abs(g, a), tpt_like(g, a, 28.0));
  tpt_v tail = erfc_tail(g, m);
  tpt_v is_negative = tpt_lt(g, a, tpt_like(g, a, 0.0));
  tpt_v large = tpt_select(g, is_negative, tpt_sub(g, tpt_like(g, a, 2.0), tail), tail);
  tpt_v is_small = tpt_lt(g, m, tpt_like(g, a, 0.5));
  tpt_v small = tpt_sub(g, tpt_like(g, a, 1.0), erf_small(g, a));
  return tpt_select(g, is_small, small, large);
}

// erfinv(x) / x over w - 2.5, w = -log(1 - x^2) <= 5: 9.4e-8; beyond over sqrt(w) - 3 (w <=
// 17): 2.7e-7 and, as a start for f64, over sqrt(w) - 4 (w <= 38): 1.3e-6.
static const double kInvCentral[] = {1.501409422,     0.2466407262,    -0.004177707606,
                                     -0.001253707639, 0.0002186020718, -4.396741284e-6,
                                     -3.528826361e-6, 3.437233875e-7,  2.853202554e-8};
static const double kInvTail[] = {2.832977454,    1.001679013,     0.009420394032, -0.007689268727,
                                  0.005852537402, -0.003459136153, 0.001094343406, -9.24471209e-5};
static const double kInvTail64[] = {3.83978081019,      1.00951205563,     0.00130011034088,
                                    -0.000943802565806, 0.000245108730748, -2.73510144788e-5,
                                    9.58222069874e-5,   -7.88566510106e-5, 1.70533252808e-5};

// One Halley step on erf(z) = x for z, x >= 0, measured where it is accurate: on erfc for large x.
static tpt_v refine_erfinv(tpt_graph_t* g, tpt_v z, tpt_v x) {
  tpt_v one = tpt_like(g, x, 1.0);
  tpt_v near = tpt_sub(g, formula_erf(g, &z), x);
  tpt_v far = tpt_sub(g, tpt_sub(g, one, x), formula_erfc(g, &z));
  tpt_v error = tpt_select(g, tpt_lt(g, x, tpt_like(g, x, 0.5)), near, far);
  tpt_v slope = tpt_mul_f64(g, exp_minus_square(g, z), 2.0 / sqrt(M_PI));
  tpt_v step = tpt_div(g, error, slope);
  return tpt_sub(g, z, tpt_div(g, step, tpt_add(g, one, tpt_mul(g, z, step))));
}

tpt_v formula_erfinv(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0];
  tpt_v one = tpt_like(g, a, 1.0);
  tpt_v w = tpt_neg(g, tpt_log(g, tpt_mul(g, tpt_sub(g, one, a), tpt_add(g, one, a))));
  tpt_v small = tpt_polynomial(g, tpt_add_f64(g, w, -2.5), kInvCentral, COUNT(kInvCentral));
  tpt_v s = tpt_sqrt(g, tpt_max(g, w, tpt_like(g, w, 1.0)));
  tpt_v large = is_double(g, a)
                    ? tpt_polynomial(g, tpt_add_f64(g, s, -4.0), kInvTail64, COUNT(kInvTail64))
                    : tpt_polynomial(g, tpt_add_f64(g, s, -3.0), kInvTail, COUNT(kInvTail));
  tpt_v z = tpt_mul(g, a, tpt_select(g, tpt_lt(g, w, tpt_like(g, w, 5.0)), small, large));
  if (is_double(g, a)) {
    tpt_v refined = refine_erfinv(g, tpt_abs(g, z), tpt_abs(g, a));
    z = tpt_select(g, tpt_eq(g, a, tpt_like(g, a, 0.0)), a, copy_sign(g, refined, a));
  }
  tpt_v edge = tpt_mul(g, a, tpt_like(g, a, INFINITY));
  return tpt_select(g, tpt_eq(g, tpt_abs(g, a), one), edge, z);
}

// --- gamma --------------------------------------------------------------------------------------

// lgamma(x) / ((x - 1) (x - 2)) over x - 1.75, 0.49 <= x <= 3.01: 9.3e-9 and 2.8e-18.
static const double kGammaP[] = {0.4501393098, 0.4992548338, 0.1719120109, 0.01821541723,
                                 0.0001802385436};
static const double kGammaQ[] = {1.0, 1.374544341, 0.6478533874, 0.1188086147, 0.006547164246};
static const double kGammaP64[] = {
    0.450139312109256297,   1.20161066751283487,   1.34303991320874767,    0.813836517743116669,
    0.28903549371731932,    0.060612643427387564,  0.00715904671132964265, 0.000420506485470021474,
    9.01888594471975501e-6, 1.56699363701002384e-8};
static const double kGammaQ64[] = {1.0,
                                   2.93485198603899441,
                                   3.66371075231069403,
                                   2.53249493134433486,
                                   1.05668651436329616,
                                   0.271907942041294902,
                                   0.0422326414075081021,
                                   0.00369452322737827935,
                                   0.000156336390293713909,
                                   2.19195923682455718e-6};
// Stirling's series: B(2k) / (2k (2k - 1)) over 1 / x^2.
static const double kStirling[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                   1.0 / 1188, -691.0 / 360360, 1.0 / 156};
// B(2k) / (2k) over 1 / x^2.
static const double kDigamma[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                  1.0 / 132, -691.0 / 32760, 1.0 / 12};

// lgamma(x) for x >= 3: shifted to x >= 8, then Stirling.
static tpt_v lgamma_large(tpt_graph_t* g, tpt_v x) {
  tpt_v one = tpt_like(g, x, 1.0);
  tpt_v is_low = tpt_lt(g, x, tpt_like(g, x, 8.0));
  tpt_v product = x;
  for (int k = 1; k < 5; k++)
    product = tpt_mul(g, product, tpt_add_f64(g, x, k));
  tpt_v y = tpt_select(g, is_low, tpt_add_f64(g, x, 5.0), x);
  tpt_v inverse = tpt_div(g, one, y);
  tpt_v series = tpt_polynomial(g, tpt_mul(g, inverse, inverse), kStirling, COUNT(kStirling));
  // (y - 1/2) (log y - 1) overflows last and loses least.
  tpt_v head = tpt_mul(g, tpt_add_f64(g, y, -0.5), tpt_add_f64(g, tpt_log(g, y), -1.0));
  double half_log_two_pi = 0.91893853320467274178;
  tpt_v rest = tpt_add_f64(g, tpt_mul(g, series, inverse), half_log_two_pi - 0.5);
  tpt_v value = tpt_add(g, head, rest);
  return tpt_select(g, is_low, tpt_sub(g, value, tpt_log(g, product)), value);
}

static tpt_v lgamma_middle(tpt_graph_t* g, tpt_v x) {
  tpt_v v = tpt_add_f64(g, x, -1.75);
  tpt_v ratio = is_double(g, x) ? tpt_div(g, tpt_polynomial(g, v, kGammaP64, COUNT(kGammaP64)),
                                          tpt_polynomial(g, v, kGammaQ64, COUNT(kGammaQ64)))
                                : tpt_div(g, tpt_polynomial(g, v, kGammaP, COUNT(kGammaP)),
                                          tpt_polynomial(g, v, kGammaQ, COUNT(kGammaQ)));
  return tpt_mul(g, tpt_mul(g, tpt_add_f64(g, x, -1.0), tpt_add_f64(g, x, -2.0)), ratio);
}

// x - round(x): sin(pi x) and tan(pi x) lose nothing by it.
static tpt_v fraction(tpt_graph_t* g, tpt_v x) {
  return tpt_sub(g, x, tpt_hlo_unary(g, TPT_HLO_ROUND_EVEN, x));
}

tpt_v formula_lgamma(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0];
  tpt_v is_reflected = tpt_lt(g, a, tpt_like(g, a, 0.5));
  tpt_v y = tpt_select(g, is_reflected, tpt_sub(g, tpt_like(g, a, 1.0), a), a);
  tpt_v is_large = tpt_gt(g, y, tpt_like(g, y, 3.0));
  tpt_v value = tpt_select(g, is_large, lgamma_large(g, y), lgamma_middle(g, y));
  tpt_v sine = tpt_abs(g, tpt_sin(g, tpt_mul_f64(g, fraction(g, a), M_PI)));
  tpt_v reflected = tpt_sub(g, tpt_sub(g, tpt_like(g, a, log(M_PI)), tpt_log(g, sine)), value);
  tpt_v infinity = tpt_like(g, a, INFINITY);
  tpt_v is_pole = tpt_eq(g, sine, tpt_like(g, sine, 0.0));
  reflected = tpt_select(g, is_pole, infinity, reflected);
  value = tpt_select(g, is_reflected, reflected, value);
  return tpt_select(g, tpt_eq(g, tpt_abs(g, a), infinity), infinity, value);
}

tpt_v formula_digamma(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0];
  tpt_v one = tpt_like(g, a, 1.0), zero = tpt_like(g, a, 0.0), ten = tpt_like(g, a, 10.0);
  tpt_v is_negative = tpt_lt(g, a, zero);
  tpt_v y = tpt_select(g, is_negative, tpt_sub(g, one, a), a);
  tpt_v sum = zero;
  for (int k = 0; k < 10; k++) {
    tpt_v is_low = tpt_lt(g, y, ten);
    sum = tpt_select(g, is_low, tpt_sub(g, sum, tpt_div(g, one, y)), sum);
    y = tpt_select(g, is_low, tpt_add(g, y, one), y);
  }
  tpt_v inverse = tpt_div(g, one, y);
  tpt_v square = tpt_mul(g, inverse, inverse);
  tpt_v series = tpt_mul(g, square, tpt_polynomial(g, square, kDigamma, COUNT(kDigamma)));
  tpt_v tail = tpt_sub(g, tpt_log(g, y), tpt_add(g, tpt_mul_f64(g, inverse, 0.5), series));
  tpt_v value = tpt_add(g, sum, tail);
  tpt_v part = fraction(g, a);
  tpt_v cotangent =
      tpt_div(g, tpt_like(g, a, M_PI), tpt_hlo_unary(g, TPT_HLO_TAN, tpt_mul_f64(g, part, M_PI)));
  tpt_v reflected = tpt_sub(g, value, cotangent);
  reflected = tpt_select(g, tpt_eq(g, part, zero), tpt_like(g, a, NAN), reflected);
  value = tpt_select(g, is_negative, reflected, value);
  tpt_v pole = tpt_neg(g, tpt_div(g, one, a));  // keeps the sign of a zero
  return tpt_select(g, tpt_eq(g, a, zero), pole, value);
}
