// Owns the key of a call: everything a program depends on, and nothing it does not. Sizes, strides,
// dtype and home are one window number; offsets, scalars, seeds are operands and stay out. Must not
// know graphs. Invariant: two calls of equal keys run one program rightly.
#include <string.h>

#include "base/hash.h"
#include "eager/entry.h"
#include "eager/internal_op.h"
#include "eager/program.h"

typedef struct key {
  tpt_device_t* device;
  tpt_frame_t* frame;
  uint64_t static_args;
  uint64_t operands;  // the row's: INT and INTS arguments whose values stay out
  int arg;
} key_maker_t;

typedef tpt_status_t (*add_fn_t)(key_maker_t* key, const tpt_arg_t* arg);

enum { GROUP_MAX = 1 << 21 };

static inline void push(tpt_frame_t* frame, uint64_t word) {
  frame->words[frame->word_count++] = word;
}

static tpt_status_t reserve_words(tpt_frame_t* frame, size_t count) {
  return tpt_frame_reserve((void**)&frame->words, &frame->word_capacity, frame->word_count + count,
                           sizeof(*frame->words));
}

static inline uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static void push_number(tpt_frame_t* frame, const tpt_number_t* number) {
  push(frame, (uint64_t)number->i);
  push(frame, bits_of(number->f));
  push(frame, bits_of(number->im));
}

static inline bool is_static(const key_maker_t* key) {
  return key->arg < 64 && key->static_args >> key->arg & 1;
}

static inline bool is_operand(const key_maker_t* key) {
  return key->arg < 64 && key->operands >> key->arg & 1;
}

// The storage's place among those of this call.
static tpt_status_t group_of(key_maker_t* key, tpt_storage_t* storage, uint32_t* out_group) {
  tpt_frame_t* frame = key->frame;
  if (storage->call != key->device->call) {
    if (frame->group_count >= GROUP_MAX)
      TPT_FAIL(TPT_UNIMPLEMENTED, "a call with more than %d storages", GROUP_MAX);
    TPT_TRY(tpt_frame_reserve((void**)&frame->groups, &frame->group_capacity,
                              frame->group_count + 1, sizeof(*frame->groups)));
    storage->call = key->device->call;
    storage->group = (uint32_t)frame->group_count;
    frame->groups[frame->group_count++] = storage;
  }
  *out_group = storage->group;
  return NULL;
}

static tpt_status_t add_device_tensor(key_maker_t* key, const tpt_tensor_t* tensor, int item) {
  tpt_frame_t* frame = key->frame;
  tpt_storage_t* storage = tensor->storage;
  if (__builtin_expect(!storage || storage->device != key->device, 0)) {
    if (!storage)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %d is a tensor without storage", key->arg);
    TPT_FAIL(
        TPT_INVALID_ARGUMENT,
        "Expected all tensors to be on the same device, but found at least two devices, tpu:%d "
        "and tpu:%d!",
        key->device->index, storage->device->index);
  }
  TPT_TRY(tpt_storage_settle(storage, tensor));
  TPT_TRY(tpt_frame_reserve((void**)&frame->uses, &frame->use_capacity, frame->use_count + 1,
                            sizeof(*frame->uses)));
  TPT_TRY(tpt_frame_reserve((void**)&frame->starts, &frame->start_capacity,
                            frame->start_count + TPT_START_MAX, sizeof(*frame->starts)));
  tpt_use_t* use = &frame->uses[frame->use_count];
  use->tensor = tensor;
  use->window = storage->window;
  use->arg = key->arg;
  use->item = item;
  use->first_start = (uint32_t)frame->start_count;
  int start_count;
  TPT_TRY(tpt_window_solve(use->window, tensor->offset, frame->starts + frame->start_count,
                           &start_count, &use->solution));
  TPT_TRY(group_of(key, storage, &use->group));
  frame->start_count += (size_t)start_count;
  frame->use_count++;
  push(frame, (uint64_t)TPT_ARG_TENSOR | (uint64_t)(tensor->flags & 7) << 5 |
                  (uint64_t)(storage->cell != NULL) << 8 | (uint64_t)use->solution << 9 |
                  (uint64_t)use->group << 11 | (uint64_t)use->window->id << 32);
  return NULL;
}

// Room for four words is there.
static tpt_status_t add_tensor_item(key_maker_t* key, const tpt_tensor_t* tensor, int item) {
  if (__builtin_expect(!(tensor->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST)), 1))
    return add_device_tensor(key, tensor, item);
  if (tensor->flags & TPT_TENSOR_NONE) {
    push(key->frame, TPT_ARG_NONE);
    return NULL;
  }
  push(key->frame, (uint64_t)TPT_ARG_TENSOR | (uint64_t)(tensor->flags & 7) << 5 |
                       (uint64_t)tensor->dtype << 32 | (uint64_t)tensor->number.dtype << 40);
  if (is_static(key)) push_number(key->frame, &tensor->number);
  return NULL;
}

static tpt_status_t add_none(key_maker_t* key, const tpt_arg_t* arg) {
  (void)arg;
  push(key->frame, TPT_ARG_NONE);
  return NULL;
}

static tpt_status_t add_tensor(key_maker_t* key, const tpt_arg_t* arg) {
  return add_tensor_item(key, arg->tensors, 0);
}

static tpt_status_t push_list(key_maker_t* key, const tpt_arg_t* arg, size_t words_each) {
  TPT_TRY(reserve_words(key->frame, 8 + arg->count * words_each));
  push(key->frame, (uint64_t)arg->kind | (uint64_t)arg->count << 32);
  return NULL;
}

static tpt_status_t add_tensors(key_maker_t* key, const tpt_arg_t* arg) {
  TPT_TRY(push_list(key, arg, 4));
  for (uint32_t i = 0; i < arg->count; i++)
    TPT_TRY(add_tensor_item(key, &arg->tensors[i], (int)i));
  return NULL;
}

// Scalar and float: the kind only, unless the row reads the value.
static tpt_status_t add_scalar(key_maker_t* key, const tpt_arg_t* arg) {
  push(key->frame, (uint64_t)arg->kind | (uint64_t)arg->number.dtype << 32);
  if (is_static(key)) push_number(key->frame, &arg->number);
  return NULL;
}

static tpt_status_t add_scalars(key_maker_t* key, const tpt_arg_t* arg) {
  TPT_TRY(push_list(key, arg, 4));
  for (uint32_t i = 0; i < arg->count; i++) {
    push(key->frame, arg->numbers[i].dtype);
    if (is_static(key)) push_number(key->frame, &arg->numbers[i]);
  }
  return NULL;
}

static tpt_status_t add_int(key_maker_t* key, const tpt_arg_t* arg) {
  push(key->frame, (uint64_t)arg->kind);
  if (!is_operand(key)) push(key->frame, (uint64_t)arg->number.i);
  return NULL;
}

static tpt_status_t add_ints(key_maker_t* key, const tpt_arg_t* arg) {
  TPT_TRY(push_list(key, arg, 1));
  if (is_operand(key)) return NULL;
  for (uint32_t i = 0; i < arg->count; i++)
    push(key->frame, (uint64_t)arg->ints[i]);
  return NULL;
}

static tpt_status_t add_floats(key_maker_t* key, const tpt_arg_t* arg) {
  TPT_TRY(push_list(key, arg, 1));
  for (uint32_t i = 0; i < arg->count; i++)
    push(key->frame, bits_of(arg->floats[i]));
  return NULL;
}

static tpt_status_t add_string(key_maker_t* key, const tpt_arg_t* arg) {
  TPT_TRY(push_list(key, arg, 1));
  for (uint32_t i = 0; i < arg->count; i += 8) {
    uint64_t word = 0;
    memcpy(&word, arg->string + i, arg->count - i < 8 ? arg->count - i : 8);
    push(key->frame, word);
  }
  return NULL;
}

static const add_fn_t kAdds[] = {
    [TPT_ARG_NONE] = add_none,     [TPT_ARG_TENSOR] = add_tensor,   [TPT_ARG_TENSORS] = add_tensors,
    [TPT_ARG_SCALAR] = add_scalar, [TPT_ARG_SCALARS] = add_scalars, [TPT_ARG_FLOAT] = add_scalar,
    [TPT_ARG_INT] = add_int,       [TPT_ARG_BOOL] = add_int,        [TPT_ARG_DTYPE] = add_int,
    [TPT_ARG_INTS] = add_ints,     [TPT_ARG_FLOATS] = add_floats,   [TPT_ARG_BOOLS] = add_ints,
    [TPT_ARG_STRING] = add_string, [TPT_ARG_DEVICE] = add_int,      [TPT_ARG_GENERATOR] = add_none,
};

uint64_t tpt_frame_hash(const tpt_frame_t* frame) {
  const uint64_t* words = frame->words;
  size_t count = frame->word_count;
  uint64_t hash = count;
  size_t i = 0;
  for (; i + 1 < count; i += 2)
    hash = tpt_hash_mix(hash ^ words[i], words[i + 1]);
  if (i < count) hash = tpt_hash_mix(hash ^ words[i], 0);
  return hash;
}

static void push_head(key_maker_t* key, const tpt_call_t* call) {
  tpt_frame_t* frame = key->frame;
  push(frame, tpt_op_identity(call->op));
  push(frame, (uint64_t)call->variant | (uint64_t)tpt_precision_get() << 8 |
                  (uint64_t)call->default_dtype << 16 | (uint64_t)call->arg_count << 24 |
                  (uint64_t)(uint32_t)call->inplace_count << 40);
  push(frame, key->static_args);
  if (call->op->params.kind) {
    const tpt_lower_t lower = {.op = call->op,
                               .args = call->args,
                               .arg_count = call->arg_count,
                               .default_dtype = call->default_dtype};
    push(frame, (uint64_t)tpt_lower_kind(&lower));
  }
  if (call->variant == TPT_INPLACE) {
    for (int i = 0; i < call->inplace_count; i++)
      push(frame, (uint64_t)call->inplace_args[i]);
  }
}

tpt_status_t tpt_key_build(tpt_device_t* device, const tpt_call_t* call, uint64_t* out_hash) {
  tpt_frame_t* frame = &device->frame;
  key_maker_t key = {device, frame, device->static_args[tpt_op_number(call->op)],
                     call->op->params.operands, 0};
  frame->word_count = frame->use_count = frame->start_count = frame->group_count = 0;
  device->call++;
  TPT_TRY(reserve_words(frame, 8 + (size_t)(call->inplace_count > 0 ? call->inplace_count : 0)));
  push_head(&key, call);
  for (; key.arg < call->arg_count; key.arg++) {
    const tpt_arg_t* arg = &call->args[key.arg];
    TPT_TRY(reserve_words(frame, 8));
    if ((size_t)arg->kind >= sizeof(kAdds) / sizeof(*kAdds))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %d is of unknown kind %d", key.arg, (int)arg->kind);
    TPT_TRY(kAdds[arg->kind](&key, arg));
  }
  *out_hash = tpt_frame_hash(frame);
  return NULL;
}

static bool is_entry_of(const void* item, const void* key) {
  const tpt_entry_t* entry = item;
  const tpt_frame_t* frame = key;
  return entry->word_count == frame->word_count &&
         memcmp(entry->words, frame->words, frame->word_count * sizeof(*frame->words)) == 0;
}

tpt_entry_t* tpt_key_find(tpt_device_t* device, uint64_t hash) {
  return tpt_table_find(&device->entries, hash, is_entry_of, &device->frame);
}
