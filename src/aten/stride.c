// Strides of results, as CPU PyTorch gives them: TensorIterator's rule (fast setups, else
// dimensions ordered by the operands' strides), contiguous, or like the first tensor. Sizes and
// strides only; no graph is changed.
#include "aten/stride.h"

#include <string.h>

void tpt_strides_contiguous(int rank, const int64_t* sizes, int64_t* out_strides) {
  int64_t next = 1;
  for (int d = rank - 1; d >= 0; d--) {
    out_strides[d] = next;
    next *= sizes[d] > 1 ? sizes[d] : 1;
  }
}

// Channels last for rank 4 (NCHW) and 5 (NCDHW).
void tpt_strides_channels_last(int rank, const int64_t* sizes, int64_t* out_strides) {
  int64_t next = 1;
  out_strides[1] = next;
  next *= sizes[1] > 1 ? sizes[1] : 1;
  for (int d = rank - 1; d >= 2; d--) {
    out_strides[d] = next;
    next *= sizes[d] > 1 ? sizes[d] : 1;
  }
  out_strides[0] = next;
}

static bool has_no_elements(int rank, const int64_t* sizes) {
  for (int d = 0; d < rank; d++)
    if (sizes[d] == 0) return true;
  return false;
}

bool tpt_strides_are_contiguous(int rank, const int64_t* sizes, const int64_t* strides) {
  if (has_no_elements(rank, sizes)) return true;
  int64_t next = 1;
  for (int d = rank - 1; d >= 0; d--) {
    if (sizes[d] == 1) continue;
    if (strides[d] != next) return false;
    next *= sizes[d];
  }
  return true;
}

bool tpt_strides_are_channels_last(int rank, const int64_t* sizes, const int64_t* strides) {
  if (rank != 4 && rank != 5) return false;
  int64_t next = 1;
  for (int k = 0; k < rank; k++) {
    int d = k == 0 ? 1 : k == rank - 1 ? 0 : rank - k;
    if (sizes[d] == 1) continue;
    if (strides[d] != next) return false;
    next *= sizes[d];
  }
  return true;
}

bool tpt_strides_are_dense(int rank, const int64_t* sizes, const int64_t* strides) {
  if (has_no_elements(rank, sizes)) return true;
  if (rank == 1) return sizes[0] < 2 || strides[0] == 1;
  int order[TPT_RANK_MAX];
  int count = 0;
  for (int d = 0; d < rank; d++) {
    if (sizes[d] < 2) continue;
    int at = count++;
    for (; at > 0 && strides[order[at - 1]] > strides[d]; at--)
      order[at] = order[at - 1];
    order[at] = d;
  }
  int64_t next = 1;
  for (int i = 0; i < count; i++) {
    if (strides[order[i]] != next) return false;
    next *= sizes[order[i]];
  }
  return true;
}

// --- TensorIterator -----------------------------------------------------------------------------

static bool all_same_shape(const tpt_tensor_t* const* operands, int count, int rank,
                           const int64_t* sizes) {
  for (int i = 0; i < count; i++) {
    if (operands[i]->rank != rank) return false;
    if (memcmp(operands[i]->sizes, sizes, (size_t)rank * sizeof(*sizes)) != 0) return false;
  }
  return true;
}

// The setups that skip the ordering of dimensions; false when none applies.
static bool fast_setup(const tpt_tensor_t* const* operands, int count, int rank,
                       const int64_t* sizes, int64_t* out_strides) {
  bool contiguous = true, channels_last = rank == 4, dense = true, same = true;
  for (int i = 0; i < count; i++) {
    const int64_t* strides = operands[i]->strides;
    contiguous &= tpt_strides_are_contiguous(rank, sizes, strides);
    channels_last = channels_last && tpt_strides_are_channels_last(rank, sizes, strides);
    dense = dense && tpt_strides_are_dense(rank, sizes, strides);
    same &= !memcmp(strides, operands[0]->strides, (size_t)rank * sizeof(*strides));
  }
  if (contiguous)
    tpt_strides_contiguous(rank, sizes, out_strides);
  else if (channels_last)
    tpt_strides_channels_last(rank, sizes, out_strides);
  else if (dense && same)
    memcpy(out_strides, operands[0]->strides, (size_t)rank * sizeof(*out_strides));
  else
    return false;
  return true;
}

// The stride with which an operand walks dimension d of the result: 0 where it is broadcast.
static int64_t walk_stride(const tpt_tensor_t* t, int d, int rank, const int64_t* sizes) {
  int own = d - (rank - t->rank);
  if (own < 0 || (t->sizes[own] == 1 && sizes[d] != 1)) return 0;
  return t->strides[own];
}

// Positive: dimension a must come after b (it is the outer one); negative: it is inner; 0: no
// operand tells.
static int compare_dims(const tpt_tensor_t* const* operands, int count, int rank,
                        const int64_t* sizes, const int dims[2]) {
  for (int i = 0; i < count; i++) {
    int64_t a = walk_stride(operands[i], dims[0], rank, sizes);
    int64_t b = walk_stride(operands[i], dims[1], rank, sizes);
    if (a == 0 || b == 0) continue;
    if (a < b) return -1;
    if (a > b) return 1;
    if (sizes[dims[0]] > sizes[dims[1]]) return 1;
  }
  return 0;
}

void tpt_strides_iterator(const tpt_tensor_t* const* operands, int count, int rank,
                          const int64_t* sizes, int64_t* out_strides) {
  tpt_strides_contiguous(rank, sizes, out_strides);
  if (count == 0 || rank == 0) return;
  if (all_same_shape(operands, count, rank, sizes) &&
      fast_setup(operands, count, rank, sizes, out_strides))
    return;
  int order[TPT_RANK_MAX];  // innermost first
  for (int i = 0; i < rank; i++)
    order[i] = rank - 1 - i;
  for (int i = 1; i < rank; i++) {
    int at = i;
    for (int before = i - 1; before >= 0; before--) {
      int pair[2] = {order[before], order[at]};
      int comparison = compare_dims(operands, count, rank, sizes, pair);
      if (comparison < 0) break;
      if (comparison == 0) continue;  // ambiguous: look further in
      order[before] = pair[1];
      order[at] = pair[0];
      at = before;
    }
  }
  bool is_inverted = true;
  for (int i = 0; i < rank; i++)
    is_inverted &= order[i] == rank - 1 - i;
  if (is_inverted) return;
  int64_t next = 1;
  for (int i = 0; i < rank; i++) {
    out_strides[order[i]] = next;
    next *= sizes[order[i]];
  }
}

void tpt_strides_like(const tpt_tensor_t* t, int64_t* out_strides) {
  if (tpt_strides_are_dense(t->rank, t->sizes, t->strides))
    memcpy(out_strides, t->strides, (size_t)t->rank * sizeof(*out_strides));
  else
    tpt_strides_iterator(&t, 1, t->rank, t->sizes, out_strides);
}

// --- results of a call --------------------------------------------------------------------------

static int collect_operands(const tpt_lower_t* l, const tpt_tensor_t** out, int capacity) {
  int count = 0;
  for (int i = 0; i < l->arg_count; i++) {
    const tpt_arg_t* arg = &l->args[i];
    bool is_tensor = arg->kind == TPT_ARG_TENSOR, is_list = arg->kind == TPT_ARG_TENSORS;
    uint32_t items = is_tensor ? 1 : is_list ? arg->count : 0;
    for (uint32_t k = 0; k < items && count < capacity; k++) {
      if (!(arg->tensors[k].flags & TPT_TENSOR_NONE)) out[count++] = &arg->tensors[k];
    }
  }
  return count;
}

void tpt_lower_strides(const tpt_lower_t* l, uint32_t number, int64_t* out_strides) {
  const tpt_lowered_t* result = &l->results[number];
  if (tpt_value_is_none(result->value)) return;
  const tpt_type_t* type = tpt_graph_type(l->graph, result->value);
  if (result->has_strides) {
    memcpy(out_strides, result->strides, (size_t)type->rank * sizeof(*out_strides));
    return;
  }
  enum { OPERAND_MAX = 64 };
  const tpt_tensor_t* operands[OPERAND_MAX];
  int count = collect_operands(l, operands, OPERAND_MAX - 1);
  tpt_stride_rule_t rule = l->op->strides;
  static const tpt_tensor_t kNumber = {.rank = 0};
  if (rule == TPT_STRIDES_WRAPPED) operands[count++] = &kNumber;
  if (rule == TPT_STRIDES_ITERATOR || rule == TPT_STRIDES_WRAPPED)
    tpt_strides_iterator(operands, count, type->rank, type->dims, out_strides);
  else if (rule == TPT_STRIDES_LIKE_INPUT && count && operands[0]->rank == type->rank &&
           !memcmp(operands[0]->sizes, type->dims, (size_t)type->rank * sizeof(int64_t)))
    tpt_strides_like(operands[0], out_strides);
  else
    tpt_strides_contiguous(type->rank, type->dims, out_strides);
}
