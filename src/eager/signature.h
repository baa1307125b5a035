// Signature: a call as a list of traits that its program depends on, in words that can be told: what
// changed when a call needs a new program. Not the key (key.c): for reports only.
#ifndef TPUTORCH_EAGER_SIGNATURE_H_
#define TPUTORCH_EAGER_SIGNATURE_H_

#include "base/str.h"
#include "eager/device.h"

typedef enum tpt_trait_kind {
  TPT_TRAIT_FORM,           // functional or in-place
  TPT_TRAIT_PRECISION,      // of products
  TPT_TRAIT_DEFAULT_DTYPE,  // torch.set_default_dtype
  TPT_TRAIT_KIND,           // of an argument: none, a tensor, a number ...
  TPT_TRAIT_COUNT,          // items of a list
  TPT_TRAIT_DTYPE,
  TPT_TRAIT_SIZES,
  TPT_TRAIT_STRIDES,
  TPT_TRAIT_HOME_DTYPE,
  TPT_TRAIT_HOME,     // dimensions of the storage's buffer
  TPT_TRAIT_PLACE,    // how the tensor lies in it, and whether there is a value
  TPT_TRAIT_SHARING,  // which tensors share a storage
  TPT_TRAIT_NUMBER,   // a value that is part of the program
  TPT_TRAIT_INTS,
  TPT_TRAIT_TEXT,
} tpt_trait_kind_t;

typedef struct tpt_trait {
  tpt_trait_kind_t kind;
  bool is_static;  // NUMBER: matters only where the row reads the value
  int32_t arg;     // -1: of the call
  int32_t item;
  uint32_t first, count;  // in words
} tpt_trait_t;

typedef struct tpt_signature {
  const void* op;  // compared only: a program's op may be gone
  tpt_trait_t* traits;
  int64_t* words;
  size_t trait_count, trait_capacity, word_count, word_capacity;
} tpt_signature_t;

// Reads the call in the device's frame (device locked). False: no host memory; the signature is then empty.
bool tpt_signature_read(const tpt_device_t* device, const tpt_call_t* call,
                        tpt_signature_t* out_signature);
void tpt_signature_deinit(tpt_signature_t* signature);
// Traits that differ; *out_first the first of a's (a's trait_count if none). static_args: arguments
// whose values the row reads.
size_t tpt_signature_distance(const tpt_signature_t* a, const tpt_signature_t* b,
                              uint64_t static_args, size_t* out_first);
// "new sizes (3, 5), was (3, 4), of argument self" for the trait of this number.
void tpt_signature_append_change(tpt_str_t* text, const tpt_op_t* op, const tpt_signature_t* now,
                                 const tpt_signature_t* before, size_t trait);

#endif  // TPUTORCH_EAGER_SIGNATURE_H_
