// Cooley-Tukey over the prime factors of the length, largest stride first; lengths with a large prime
// factor go through a chirp (Bluestein) and a transform of a power of two. Twiddles come from a table
// made with exact angles, so the error grows with the logarithm of the length.
#include "vtpu/fft_line.h"

#include <complex.h>
#include <math.h>

enum { FACTOR_MAX = 31, FACTORS_MAX = 64 };

struct vtpu_fft_line {
  int64_t length;
  int factor_count;
  int factors[FACTORS_MAX];
  const vtpu_c128_t* roots;  // exp(-2 pi i k / length)
  // --- lengths with a large prime factor
  const vtpu_fft_line_t* power;  // NULL: direct
  const vtpu_c128_t* chirp;      // exp(-pi i k^2 / length)
  const vtpu_c128_t* kernel;     // transform of the conjugate chirp, scaled
};

// exp(-2 pi i k / n), the angle reduced to an eighth of the circle.
static vtpu_c128_t root(int64_t k, int64_t n) {
  double full = 2 * 3.14159265358979323846264338327950288;
  k %= n;
  int64_t eighth = 8 * k / n;
  double x = 0, y = 0;
  // Quarter turns are taken off exactly; what is left is at most an eighth away from an axis.
  int64_t quarter = (eighth + 1) / 2;
  double angle = full * ((double)k - (double)quarter * (double)n / 4) / (double)n;
  double c = cos(angle), s = sin(angle);
  switch (quarter % 4) {
  case 0:
    x = c, y = s;
    break;
  case 1:
    x = -s, y = c;
    break;
  case 2:
    x = -c, y = -s;
    break;
  default:
    x = s, y = -c;
    break;
  }
  return x - y * I;
}

// False when a prime factor is too large for butterflies.
static bool factor(vtpu_fft_line_t* line) {
  int64_t rest = line->length;
  for (; rest % 4 == 0; rest /= 4)
    line->factors[line->factor_count++] = 4;
  for (int f = 2; f <= FACTOR_MAX; f++)
    for (; rest % f == 0; rest /= f)
      line->factors[line->factor_count++] = f;
  return rest == 1;
}

static bool chirp_make(vtpu_fft_line_t* line, tpt_arena_t* arena) {
  int64_t n = line->length, m = 1;
  while (m < 2 * n - 1)
    m *= 2;
  line->power = vtpu_fft_line_make(m, arena);
  vtpu_c128_t* chirp = tpt_arena_alloc(arena, (size_t)n * sizeof(*chirp));
  vtpu_c128_t* wide = tpt_arena_calloc(arena, (size_t)m, sizeof(*wide));
  vtpu_c128_t* kernel = tpt_arena_alloc(arena, (size_t)m * sizeof(*kernel));
  vtpu_c128_t* scratch =
      line->power ? tpt_arena_alloc(
                        arena, (size_t)vtpu_fft_line_scratch(line->power) * sizeof(*scratch) + 1)
                  : NULL;
  if (!chirp || !wide || !kernel || !scratch) return false;
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < n; k++) {
    chirp[k] = root(square, 2 * n);
    vtpu_c128_t value = conj(chirp[k]) / (double)m;
    wide[k] = value;
    if (k > 0) wide[m - k] = value;
    square = (square + 2 * k + 1) % (2 * n);
  }
  vtpu_fft_line_run(line->power, false, wide, kernel, scratch);
  line->chirp = chirp;
  line->kernel = kernel;
  return true;
}

const vtpu_fft_line_t* vtpu_fft_line_make(int64_t length, tpt_arena_t* arena) {
  vtpu_fft_line_t* line = tpt_arena_calloc(arena, 1, sizeof(*line));
  if (!line) return NULL;
  line->length = length;
  if (!factor(line)) return chirp_make(line, arena) ? line : NULL;
  vtpu_c128_t* roots = tpt_arena_alloc(arena, (size_t)length * sizeof(*roots));
  if (!roots) return NULL;
  for (int64_t k = 0; k < length; k++)
    roots[k] = root(k, length);
  line->roots = roots;
  return line;
}

int64_t vtpu_fft_line_scratch(const vtpu_fft_line_t* line) {
  return line->power ? 2 * line->power->length + vtpu_fft_line_scratch(line->power) : 0;
}

static vtpu_c128_t multiply(vtpu_c128_t a, vtpu_c128_t b) {
  double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);
  return (ar * br - ai * bi) + (ar * bi + ai * br) * I;
}

// --- direct -----------------------------------------------------------------------------------------

typedef struct level {
  const vtpu_fft_line_t* line;
  bool inverse;
} level_t;

static vtpu_c128_t twiddle(const level_t* l, int64_t k) {
  vtpu_c128_t w = l->line->roots[k % l->line->length];
  return l->inverse ? conj(w) : w;
}

// i * x for a forward transform's sign, -i * x otherwise, negated: x * exp(-+ pi i / 2).
static vtpu_c128_t quarter_turn(const level_t* l, vtpu_c128_t x) {
  return l->inverse ? -cimag(x) + creal(x) * I : cimag(x) - creal(x) * I;
}

// Combines `p` interleaved transforms of length m, which lie one after the other in out.
static void butterflies(const level_t* l, int p, int64_t m, int64_t stride, vtpu_c128_t* out) {
  vtpu_c128_t t[FACTOR_MAX + 1];
  for (int64_t k = 0; k < m; k++) {
    for (int q = 0; q < p; q++)
      t[q] = multiply(out[q * m + k], twiddle(l, q * k * stride));
    if (p == 2) {
      out[k] = t[0] + t[1];
      out[m + k] = t[0] - t[1];
    } else if (p == 4) {
      vtpu_c128_t a = t[0] + t[2], b = t[0] - t[2], c = t[1] + t[3];
      vtpu_c128_t d = quarter_turn(l, t[1] - t[3]);
      out[k] = a + c;
      out[m + k] = b + d;
      out[2 * m + k] = a - c;
      out[3 * m + k] = b - d;
    } else {
      for (int r = 0; r < p; r++) {
        vtpu_c128_t sum = t[0];
        for (int q = 1; q < p; q++)
          sum += multiply(t[q], twiddle(l, (int64_t)q * r * m * stride));
        out[r * m + k] = sum;
      }
    }
  }
}

// Transform of `in` (elements `stride` apart, n of them) by the factors from `first` on.
static void transform(const level_t* l, int first, int64_t n, int64_t stride, const vtpu_c128_t* in,
                      vtpu_c128_t* out) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int p = l->line->factors[first];
  int64_t m = n / p;
  for (int q = 0; q < p; q++)
    transform(l, first + 1, m, stride * p, in + q * stride, out + q * m);
  butterflies(l, p, m, stride, out);
}

// --- chirp ------------------------------------------------------------------------------------------

// The product j k is (j^2 + k^2 - (k - j)^2) / 2: a convolution with the chirp. The inverse transform is
// the conjugate of the forward one of the conjugate.
static void chirp_run(const vtpu_fft_line_t* line, bool inverse, const vtpu_c128_t* in,
                      vtpu_c128_t* out, vtpu_c128_t* scratch) {
  int64_t n = line->length, m = line->power->length;
  vtpu_c128_t *a = scratch, *b = scratch + m, *rest = scratch + 2 * m;
  for (int64_t k = 0; k < n; k++)
    a[k] = multiply(inverse ? conj(in[k]) : in[k], line->chirp[k]);
  for (int64_t k = n; k < m; k++)
    a[k] = 0;
  vtpu_fft_line_run(line->power, false, a, b, rest);
  for (int64_t k = 0; k < m; k++)
    b[k] = multiply(b[k], line->kernel[k]);
  vtpu_fft_line_run(line->power, true, b, a, rest);
  for (int64_t k = 0; k < n; k++) {
    vtpu_c128_t value = multiply(a[k], line->chirp[k]);
    out[k] = inverse ? conj(value) : value;
  }
}

void vtpu_fft_line_run(const vtpu_fft_line_t* line, bool inverse, const vtpu_c128_t* in,
                       vtpu_c128_t* out, vtpu_c128_t* scratch) {
  if (line->power) {
    chirp_run(line, inverse, in, out, scratch);
    return;
  }
  level_t level = {line, inverse};
  transform(&level, 0, line->length, 1, in, out);
}
