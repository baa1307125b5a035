// Folding along one axis. Where every output sees all inputs up to it (or from it on), the fold is a
// running one, linear in the length whatever the window; this is how cumulative sums arrive. Else each
// tap of the window is one vector operation on all outputs that have it.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/window.h"

enum { INNER_VECTOR = 8 };  // inner elements from which rows are the vectors

static char* at(const void* data, int64_t index, size_t size) {
  return (char*)data + index * (int64_t)size;
}

static void fill(void* out, const void* element, size_t size, int64_t count) {
  const vtpu_exec_t inline_exec = {0};
  vtpu_fill(&inline_exec, element, size, out, count);
}

// --- running folds ----------------------------------------------------------------------------------

typedef enum direction { NEITHER, FORWARD, BACKWARD } direction_t;

static direction_t running_direction(const vtpu_window_axis_t* a) {
  bool is_plain = a->stride == 1 && a->dilation == 1 && a->base == 1 && a->out == a->in;
  if (!is_plain || a->in < 2 || a->taps < a->in) return NEITHER;
  if (a->low == a->taps - 1) return FORWARD;
  return a->low == 0 ? BACKWARD : NEITHER;
}

static void run_row(const vtpu_window_pass_t* p, const char* in, char* out, direction_t direction) {
  int64_t n = p->axis.in, inner = p->inner;
  int64_t first = direction == FORWARD ? 0 : (n - 1) * inner;
  int64_t step = direction == FORWARD ? inner : -inner;
  if (inner < INNER_VECTOR) {
    for (int64_t i = 0; i < inner; i++)
      p->monoid->scan(p->start, at(in, first + i, p->size), step, at(out, first + i, p->size), step,
                      n);
    return;
  }
  // Row by row: every row is the one before it combined with its own elements.
  fill(at(out, first, p->size), p->start, p->size, inner);
  p->monoid->combine(at(out, first, p->size), at(in, first, p->size), inner);
  for (int64_t j = 1; j < n; j++) {
    char* row = at(out, first + j * step, p->size);
    memcpy(row, at(out, first + (j - 1) * step, p->size), (size_t)inner * p->size);
    p->monoid->combine(row, at(in, first + j * step, p->size), inner);
  }
}

// --- windows ----------------------------------------------------------------------------------------

static int64_t ceil_div(int64_t a, int64_t b) {
  return a > 0 ? (a + b - 1) / b : -(-a / b);
}

// The outputs [begin, end) with this step have tap t; *out_place is the input place of the first, and
// *out_place_step how far the next one is.
typedef struct reach {
  int64_t begin, end, step, place, place_step;
} reach_t;

static reach_t tap_reach(const vtpu_window_axis_t* a, int64_t t) {
  int64_t shift = t * a->dilation - a->low;  // place of output 0, in dilated input
  reach_t r = {.step = 1};
  // 0 <= j * stride + shift <= (in - 1) * base
  r.begin = shift < 0 ? ceil_div(-shift, a->stride) : 0;
  int64_t room = (a->in - 1) * a->base - shift;
  r.end = room < 0 ? 0 : room / a->stride + 1;
  if (r.end > a->out) r.end = a->out;
  if (a->base > 1) {
    // Of `base` consecutive outputs at most one residue meets an element.
    int64_t first = r.begin;
    while (first < r.end && first < r.begin + a->base && (first * a->stride + shift) % a->base != 0)
      first++;
    if (first >= r.begin + a->base) first = r.end;
    r.begin = first;
    r.step = 1;
    while (r.step < a->base && r.step * a->stride % a->base != 0)
      r.step++;
  }
  r.place = r.begin < r.end ? (r.begin * a->stride + shift) / a->base : 0;
  r.place_step = r.step * a->stride / a->base;
  return r;
}

static void window_rows(const vtpu_window_pass_t* p, const char* in, char* out) {
  const vtpu_window_axis_t* a = &p->axis;
  fill(out, p->start, p->size, a->out * p->inner);
  for (int64_t t = 0; t < a->taps; t++) {
    reach_t r = tap_reach(a, t);
    int64_t place = r.place;
    if (r.step == 1 && r.place_step == 1 && r.begin < r.end) {
      p->monoid->combine(at(out, r.begin * p->inner, p->size), at(in, place * p->inner, p->size),
                         (r.end - r.begin) * p->inner);
      continue;
    }
    for (int64_t j = r.begin; j < r.end; j += r.step, place += r.place_step)
      p->monoid->combine(at(out, j * p->inner, p->size), at(in, place * p->inner, p->size),
                         p->inner);
  }
}

// Inner axes too short to be vectors: the elements of a tap are collected first.
static void window_elements(const vtpu_window_pass_t* p, const char* in, char* out, char* temp) {
  const vtpu_window_axis_t* a = &p->axis;
  const vtpu_exec_t inline_exec = {0};
  int64_t size = (int64_t)p->size, inner = p->inner;
  char* acc = temp + a->out * inner * size;
  fill(out, p->start, p->size, a->out * inner);
  for (int64_t t = 0; t < a->taps; t++) {
    reach_t r = tap_reach(a, t);
    if (r.begin >= r.end) continue;
    int64_t count = (r.end - r.begin + r.step - 1) / r.step;
    vtpu_box_t box = {.rank = 2,
                      .size = {count, inner},
                      .in_stride = {r.place_step * inner * size, size},
                      .out_stride = {inner * size, size}};
    vtpu_box_simplify(&box);
    vtpu_box_copy(&box, p->size, &inline_exec, at(in, r.place * inner, p->size), temp);
    char* target = at(out, r.begin * inner, p->size);
    if (r.step == 1) {
      p->monoid->combine(target, temp, count * inner);
      continue;
    }
    vtpu_box_t to = {.rank = 2,
                     .size = {count, inner},
                     .in_stride = {r.step * inner * size, size},
                     .out_stride = {inner * size, size}};
    vtpu_box_t back = {.rank = 2,
                       .size = {count, inner},
                       .in_stride = {inner * size, size},
                       .out_stride = {r.step * inner * size, size}};
    vtpu_box_simplify(&to);
    vtpu_box_simplify(&back);
    vtpu_box_copy(&to, p->size, &inline_exec, target, acc);
    p->monoid->combine(acc, temp, count * inner);
    vtpu_box_copy(&back, p->size, &inline_exec, acc, target);
  }
}

void vtpu_window_pass_run(const vtpu_window_pass_t* pass, const void* in, void* out, void* temp) {
  vtpu_window_pass_t p = *pass;
  const vtpu_window_axis_t* a = &p.axis;
  direction_t direction = running_direction(a);
  // Windows that tile their rows exactly do so across rows: one long row.
  if (direction == NEITHER && a->low == 0 && a->base == 1 && a->in == a->out * a->stride &&
      (a->taps - 1) * a->dilation < a->stride) {
    p.axis.in *= p.rows;
    p.axis.out *= p.rows;
    p.rows = 1;
  }
  for (int64_t row = 0; row < p.rows; row++) {
    const char* from = at(in, row * p.axis.in * p.inner, p.size);
    char* to = at(out, row * p.axis.out * p.inner, p.size);
    if (direction != NEITHER) {
      run_row(&p, from, to, direction);
    } else if (p.inner >= INNER_VECTOR || (a->stride == 1 && a->base == 1)) {
      window_rows(&p, from, to);
    } else {
      window_elements(&p, from, to, temp);
    }
  }
}
