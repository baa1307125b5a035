// Merge sort with any comparator. A body is quick only on vectors, so many merges advance in step: one
// call compares the heads of all of them. Long merges are first cut into pieces by binary search along
// the output, which needs no more of the comparator than its being called: whatever it answers, the
// pieces are disjoint and the result is a permutation.
#include <string.h>

#include "vtpu/sort.h"

// A piece of a merge: [a, a_end) and [b, b_end) of the source order go to `to` on.
typedef struct piece {
  int64_t row;
  int64_t a, a_end, b, b_end, to;  // positions in the order arrays (all rows)
} piece_t;

typedef struct cell {
  uint64_t half[2];
} cell_t;

typedef struct batch {
  const vtpu_sort_merge_t* merge;
  const vtpu_sort_row_t* rows;
  int count;
  piece_t pieces[VTPU_SORT_STEPS];
  // The comparison at hand: entry i compares order positions left[i] and right[i] of row row[i].
  int compare_count;
  int64_t row[VTPU_SORT_STEPS];
  uint32_t left[VTPU_SORT_STEPS], right[VTPU_SORT_STEPS];
  uint8_t less[VTPU_SORT_STEPS];
  cell_t values[2 * VTPU_SORT_OPERANDS_MAX][VTPU_SORT_STEPS];
} batch_t;

static void load(const batch_t* batch, int operand, const uint32_t* positions, char* out) {
  size_t size = batch->merge->sizes[operand];
  for (int i = 0; i < batch->compare_count; i++) {
    const vtpu_sort_row_t* row =
        &batch->rows[batch->row[i] * batch->merge->operand_count + operand];
    memcpy(out + (size_t)i * size, row->data + (int64_t)positions[i] * row->stride, size);
  }
}

// less[i] = comparator(left[i], right[i]).
static void compare(batch_t* batch) {
  const void* in[2 * VTPU_SORT_OPERANDS_MAX];
  void* out[1] = {batch->less};
  for (int o = 0; o < batch->merge->operand_count; o++) {
    in[2 * o] = batch->values[2 * o];
    in[2 * o + 1] = batch->values[2 * o + 1];
    if (!batch->merge->is_used[o]) continue;
    load(batch, o, batch->left, (char*)batch->values[2 * o]);
    load(batch, o, batch->right, (char*)batch->values[2 * o + 1]);
  }
  vtpu_body_run(batch->merge->less, batch->compare_count, in, out);
}

// Advances all pieces until each is done.
static void pieces_run(batch_t* batch, const uint32_t* from, uint32_t* to) {
  int active[VTPU_SORT_STEPS], active_count = batch->count;
  for (int i = 0; i < batch->count; i++)
    active[i] = i;
  while (active_count > 0) {
    int kept = 0;
    for (int i = 0; i < active_count; i++) {
      piece_t* p = &batch->pieces[active[i]];
      if (p->a < p->a_end && p->b < p->b_end) {
        active[kept] = active[i];
        batch->row[kept] = p->row;
        batch->left[kept] = from[p->b];
        batch->right[kept++] = from[p->a];
        continue;
      }
      int64_t start = p->a < p->a_end ? p->a : p->b, end = p->a < p->a_end ? p->a_end : p->b_end;
      memcpy(to + p->to, from + start, (size_t)(end - start) * sizeof(*to));
    }
    active_count = batch->compare_count = kept;
    if (kept == 0) break;
    compare(batch);
    // The later run goes first only where it is strictly less: that keeps the sort stable.
    for (int i = 0; i < kept; i++) {
      piece_t* p = &batch->pieces[active[i]];
      to[p->to++] = batch->less[i] ? from[p->b++] : from[p->a++];
    }
  }
  batch->count = 0;
}

// Where `cuts` evenly spaced places of the output of one merge split its two runs: a_cut[i] elements of
// the first run lie before place i + 1.
static void cut_find(batch_t* batch, const uint32_t* from, const piece_t* whole, int cuts,
                     int64_t* a_cut) {
  int64_t a_count = whole->a_end - whole->a, b_count = whole->b_end - whole->b;
  int64_t low[VTPU_SORT_STEPS], high[VTPU_SORT_STEPS], diagonal[VTPU_SORT_STEPS];
  int entry[VTPU_SORT_STEPS];
  for (int i = 0; i < cuts; i++) {
    diagonal[i] = (a_count + b_count) * (i + 1) / (cuts + 1);
    low[i] = diagonal[i] > b_count ? diagonal[i] - b_count : 0;
    high[i] = diagonal[i] < a_count ? diagonal[i] : a_count;
  }
  for (;;) {
    int count = 0;
    for (int i = 0; i < cuts; i++) {
      if (low[i] >= high[i]) continue;
      int64_t a = (low[i] + high[i]) / 2;
      entry[count] = i;
      batch->row[count] = whole->row;
      batch->left[count] = from[whole->b + diagonal[i] - a - 1];
      batch->right[count++] = from[whole->a + a];
    }
    if (count == 0) break;
    batch->compare_count = count;
    compare(batch);
    for (int e = 0; e < count; e++) {
      int i = entry[e];
      int64_t a = (low[i] + high[i]) / 2;
      if (batch->less[e]) {
        high[i] = a;
      } else {
        low[i] = a + 1;
      }
    }
  }
  for (int i = 0; i < cuts; i++)
    a_cut[i] = low[i];
}

// Appends a merge to the batch, cut into pieces when it is long and few others go with it.
static void merge_add(batch_t* batch, const piece_t* whole, int piece_count, const uint32_t* from,
                      uint32_t* to) {
  if (batch->count + piece_count > VTPU_SORT_STEPS) pieces_run(batch, from, to);
  int64_t total = whole->a_end - whole->a + whole->b_end - whole->b;
  int64_t a_cut[VTPU_SORT_STEPS];
  if (piece_count > 1) {
    cut_find(batch, from, whole, piece_count - 1, a_cut);
    // An inconsistent comparator may answer so that cuts cross; they must not.
    for (int i = 1; i < piece_count - 1; i++) {
      int64_t step = total * (i + 1) / piece_count - total * i / piece_count;
      if (a_cut[i] < a_cut[i - 1]) a_cut[i] = a_cut[i - 1];
      if (a_cut[i] > a_cut[i - 1] + step) a_cut[i] = a_cut[i - 1] + step;
    }
  }
  int64_t a = 0, place = 0;
  for (int i = 0; i < piece_count; i++) {
    bool is_last = i + 1 == piece_count;
    int64_t place_end = is_last ? total : total * (i + 1) / piece_count;
    int64_t a_end = is_last ? whole->a_end - whole->a : a_cut[i];
    batch->pieces[batch->count++] = (piece_t){.row = whole->row,
                                              .a = whole->a + a,
                                              .a_end = whole->a + a_end,
                                              .b = whole->b + place - a,
                                              .b_end = whole->b + place_end - a_end,
                                              .to = whole->to + place};
    a = a_end;
    place = place_end;
  }
}

uint32_t* vtpu_sort_by_merging(const vtpu_sort_merge_t* merge, const vtpu_sort_row_t* rows,
                               int64_t row_count, uint32_t* order, uint32_t* other) {
  batch_t batch;
  batch.merge = merge;
  batch.rows = rows;
  batch.count = 0;
  int64_t n = rows[0].count;
  for (int64_t r = 0; r < row_count; r++)
    for (int64_t i = 0; i < n; i++)
      order[r * n + i] = (uint32_t)i;
  for (int64_t width = 1; width < n; width *= 2) {
    int64_t merges = row_count * ((n + 2 * width - 1) / (2 * width));
    int64_t pieces = VTPU_SORT_STEPS / merges, longest = 2 * width / 64;
    if (pieces > longest) pieces = longest;
    if (pieces < 1) pieces = 1;
    for (int64_t r = 0; r < row_count; r++) {
      for (int64_t at = 0; at < n; at += 2 * width) {
        int64_t middle = at + width < n ? at + width : n;
        int64_t end = at + 2 * width < n ? at + 2 * width : n;
        piece_t whole = {r, r * n + at, r * n + middle, r * n + middle, r * n + end, r * n + at};
        merge_add(&batch, &whole, middle < end ? (int)pieces : 1, order, other);
      }
    }
    pieces_run(&batch, order, other);
    uint32_t* swap = order;
    order = other, other = swap;
  }
  return order;
}
