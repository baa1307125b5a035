// Owns the question whether what a call writes shares memory with what it reads, answered as PyTorch's
// CPU kernels answer it. Must not know storages' values: addresses and windows only. Writes here are safe
// in any case (a new value replaces the old one); the answers exist so that programs fail alike.
#include <string.h>

#include "tputorch/runtime.h"

#include "aten/lower.h"
#include "base/allocator.h"

typedef enum overlap {
  OVERLAP_NONE,
  OVERLAP_PARTIAL,
  OVERLAP_FULL,
  OVERLAP_UNKNOWN,  // strides too odd to tell: PyTorch lets them pass
} overlap_t;

tpt_overlap_rule_t tpt_op_overlap_rule(const tpt_op_t* op) {
  if (strcmp(op->family, "index") == 0) return TPT_OVERLAP_NONE;
  if (strcmp(op->family, "foreach") == 0 || strcmp(op->family, "optim") == 0)
    return TPT_OVERLAP_LISTS;
  bool is_iterator = op->strides == TPT_STRIDES_ITERATOR || op->strides == TPT_STRIDES_WRAPPED ||
                     strcmp(op->family, "elementwise") == 0;
  return is_iterator ? TPT_OVERLAP_NOT_PARTIAL : TPT_OVERLAP_ANY;
}

// --- two windows ---------------------------------------------------------------------------------------

static bool is_device(const tpt_tensor_t* t) {
  return !(t->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST));
}

static bool is_empty(const tpt_tensor_t* t) {
  for (int i = 0; i < t->rank; i++)
    if (t->sizes[i] == 0) return true;
  return false;
}

// Every element of a range of memory once.
static bool is_dense(const tpt_tensor_t* t) {
  int64_t wanted = 1;
  uint32_t seen = 0;
  for (int step = 0; step < t->rank; step++) {
    int next = -1;
    for (int i = t->rank - 1; i >= 0 && next < 0; i--) {
      if (!(seen >> i & 1) && (t->sizes[i] == 1 || t->strides[i] == wanted)) next = i;
    }
    if (next < 0) return false;
    seen |= 1u << next;
    if (t->sizes[next] != 1) wanted *= t->sizes[next];
  }
  return true;
}

// Bytes from the first element to behind the last.
static void get_range(const tpt_tensor_t* t, int64_t* out_begin, int64_t* out_end) {
  int64_t last = t->offset, item = (int64_t)tpt_dtype_size(t->dtype);
  for (int i = 0; i < t->rank; i++)
    last += (t->sizes[i] - 1) * t->strides[i];
  *out_begin = t->offset * item;
  *out_end = (last + 1) * item;
}

static bool has_equal_strides(const tpt_tensor_t* a, const tpt_tensor_t* b) {
  return a->rank == b->rank &&
         memcmp(a->strides, b->strides, (size_t)a->rank * sizeof(*a->strides)) == 0;
}

static overlap_t compare(const tpt_tensor_t* a, const tpt_tensor_t* b) {
  int64_t begin, end, other_begin, other_end;
  if (!is_device(a) || !is_device(b) || a->storage != b->storage) return OVERLAP_NONE;
  if (is_empty(a) || is_empty(b)) return OVERLAP_NONE;
  get_range(a, &begin, &end);
  get_range(b, &other_begin, &other_end);
  if (!is_dense(a) || !is_dense(b)) return OVERLAP_UNKNOWN;
  if (begin == other_begin && end == other_end)
    return has_equal_strides(a, b) ? OVERLAP_FULL : OVERLAP_PARTIAL;
  return begin < other_end && other_begin < end ? OVERLAP_PARTIAL : OVERLAP_NONE;
}

static tpt_status_t refuse(void) {
  TPT_FAIL(
      TPT_INVALID_ARGUMENT,
      "unsupported operation: some elements of the input tensor and the written-to tensor refer "
      "to a single memory location. Please clone() the tensor before performing the operation.");
}

static tpt_status_t check_pair(tpt_overlap_rule_t rule, const tpt_tensor_t* written,
                               const tpt_tensor_t* read) {
  if (__builtin_expect(written->storage != read->storage, 1)) return NULL;
  overlap_t overlap = compare(written, read);
  if (overlap == OVERLAP_PARTIAL) return refuse();
  return overlap == OVERLAP_FULL && rule == TPT_OVERLAP_NONE ? refuse() : NULL;
}

tpt_status_t tpt_overlap_check(tpt_overlap_rule_t rule, const tpt_tensor_t* written,
                               const tpt_arg_t* args, int arg_count, int skipped_arg) {
  if (rule == TPT_OVERLAP_ANY || !is_device(written)) return NULL;
  for (int i = 0; i < arg_count; i++) {
    bool is_tensors = args[i].kind == TPT_ARG_TENSOR || args[i].kind == TPT_ARG_TENSORS;
    if (i == skipped_arg || !is_tensors) continue;
    for (uint32_t k = 0; k < args[i].count; k++)
      if (is_device(&args[i].tensors[k])) TPT_TRY(check_pair(rule, written, &args[i].tensors[k]));
  }
  return NULL;
}

// --- lists ---------------------------------------------------------------------------------------------

// Items of all lists by storage: a table with chains.
typedef struct item {
  const tpt_tensor_t* tensor;
  uint32_t number;  // in its list
  uint32_t next;    // 0: none, else place + 1
  bool is_written;
} item_t;

typedef struct items {
  item_t* all;
  uint32_t* heads;
  uint32_t count, mask;
} items_t;

static uint32_t slot_of(const items_t* items, const tpt_tensor_t* tensor) {
  uint64_t mixed = (uint64_t)(uintptr_t)tensor->storage * 0x9E3779B97F4A7C15u;
  return (uint32_t)(mixed >> 40) & items->mask;
}

static bool ranges_meet(const tpt_tensor_t* a, const tpt_tensor_t* b) {
  int64_t begin, end, other_begin, other_end;
  if (is_empty(a) || is_empty(b)) return false;
  get_range(a, &begin, &end);
  get_range(b, &other_begin, &other_end);
  return begin < other_end && other_begin < end;
}

// Item i of a list goes with item i of the others; what meets across numbers has an order.
static tpt_status_t add_item(items_t* items, const tpt_tensor_t* tensor, uint32_t number,
                             bool is_written) {
  if (!is_device(tensor)) return NULL;
  uint32_t* head = &items->heads[slot_of(items, tensor)];
  for (uint32_t place = *head; place; place = items->all[place - 1].next) {
    const item_t* other = &items->all[place - 1];
    if (other->tensor->storage != tensor->storage || (!is_written && !other->is_written)) continue;
    if (other->number == number && is_written != other->is_written) {
      TPT_TRY(check_pair(TPT_OVERLAP_NOT_PARTIAL, tensor, other->tensor));
    } else if (ranges_meet(tensor, other->tensor)) {
      TPT_FAIL(TPT_UNIMPLEMENTED,
               "items %u and %u of the lists share memory, so their order matters", other->number,
               number);
    }
  }
  items->all[items->count++] = (item_t){tensor, number, *head, is_written};
  *head = items->count;
  return NULL;
}

static bool is_in(const int* numbers, int count, int number) {
  for (int i = 0; i < count; i++)
    if (numbers[i] == number) return true;
  return false;
}

static tpt_status_t add_items(items_t* items, const tpt_call_t* call) {
  for (int i = 0; i < call->arg_count; i++) {
    const tpt_arg_t* arg = &call->args[i];
    bool is_written = is_in(call->inplace_args, call->inplace_count, i);
    if (arg->kind != TPT_ARG_TENSORS) continue;
    for (uint32_t k = 0; k < arg->count; k++)
      TPT_TRY(add_item(items, &arg->tensors[k], k, is_written));
  }
  return NULL;
}

tpt_status_t tpt_overlap_check_lists(const tpt_call_t* call) {
  uint32_t total = 0, size = 16;
  for (int i = 0; i < call->arg_count; i++)
    if (call->args[i].kind == TPT_ARG_TENSORS) total += call->args[i].count;
  if (total == 0) return NULL;
  while (size < 2 * total)
    size *= 2;
  items_t items = {.mask = size - 1};
  items.all = tpt_malloc(total * sizeof(*items.all));
  items.heads = tpt_calloc(size, sizeof(*items.heads));
  tpt_status_t status = items.all && items.heads
                            ? add_items(&items, call)
                            : tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                                              "no host memory for the lists of a call");
  tpt_free(items.all);
  tpt_free(items.heads);
  return status;
}
