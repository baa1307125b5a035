// Owns the physical order of dimensions: the one place that sorts strides. Must not know storages.
// Invariant: `all` is a permutation; a contiguous tensor's is the identity.
#include "eager/stride_order.h"

// Dimension a stands before b in memory. Dimensions of one element never move.
static bool is_before(const int64_t* sizes, const int64_t* strides, int a, int b) {
  if (sizes[a] == 1 || sizes[b] == 1) return false;
  return strides[a] > strides[b];
}

// Sorts the dimensions of more than one element among the places they have.
static void sort_dims(tpt_order_t* order, int rank, const int64_t* sizes, const int64_t* strides) {
  for (int i = 0; i < rank; i++)
    order->all[i] = i;
  for (int i = 1; i < rank; i++) {
    if (sizes[order->all[i]] == 1) continue;
    int place = i;
    for (int j = i - 1; j >= 0; j--) {
      if (sizes[order->all[j]] == 1) continue;
      if (!is_before(sizes, strides, order->all[place], order->all[j])) break;
      int swap = order->all[place];
      order->all[place] = order->all[j];
      order->all[j] = swap;
      place = j;
    }
  }
}

void tpt_order_init(tpt_order_t* order, int rank, const int64_t* sizes, const int64_t* strides) {
  order->core_count = 0;
  order->is_expanded = false;
  order->count = 1;
  sort_dims(order, rank, sizes, strides);
  for (int i = 0; i < rank; i++) {
    int dim = order->all[i];
    order->count *= sizes[dim];
    if (sizes[dim] > 1 && strides[dim] == 0) order->is_expanded = true;
    if (sizes[dim] > 1 && strides[dim] > 0) order->core[order->core_count++] = dim;
  }
  int64_t expected = 1;
  order->is_dense = !order->is_expanded;
  for (int i = order->core_count - 1; i >= 0; i--) {
    if (strides[order->core[i]] != expected) order->is_dense = false;
    expected *= sizes[order->core[i]];
  }
  if (order->count == 0) order->is_dense = true;
}

void tpt_strides_normalise(int rank, const int64_t* sizes, const int64_t* strides,
                           bool channels_last, int64_t* out_strides) {
  bool is_empty = false;
  for (int i = 0; i < rank; i++)
    is_empty |= sizes[i] == 0;
  int64_t next = 1;
  for (int k = 0; k < rank; k++) {
    int i = rank - 1 - k;
    if (channels_last && i < rank - 1) i = k == rank - 1 ? 0 : i + 1;
    if (channels_last && k == 0) i = 1;
    out_strides[i] = is_empty || sizes[i] == 1 ? next : strides[i];
    // Nonsense sizes may overflow here; whoever checks the span refuses them later.
    if (__builtin_mul_overflow(out_strides[i], sizes[i] > 1 ? sizes[i] : 1, &next)) next = 0;
  }
}

void tpt_strides_contiguous_of(const tpt_type_t* type, int64_t* out_strides) {
  int64_t stride = 1;
  for (int i = type->rank - 1; i >= 0; i--) {
    out_strides[i] = stride;
    stride *= type->dims[i] > 1 ? type->dims[i] : 1;
  }
}
