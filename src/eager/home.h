// Home types: dtype and dimensions, in physical order, of the one device buffer behind a storage.
// Interned per device: equal homes are one pointer and one number. Owner: the device, for ever.
#ifndef TPUTORCH_EAGER_HOME_H_
#define TPUTORCH_EAGER_HOME_H_

#include "tputorch/tensor.h"

#include "eager/table.h"

typedef struct tpt_home {
  uint32_t id;
  tpt_type_t type;  // dtype INVALID: no type yet
  size_t size;      // bytes of the storage it fills
} tpt_home_t;

typedef struct tpt_homes {
  tpt_table_t table;
} tpt_homes_t;

// The home of a storage of `size` bytes whose type nothing has fixed yet.
TPT_MUST_USE tpt_status_t tpt_home_untyped(tpt_homes_t* homes, size_t size,
                                           const tpt_home_t** out_home);
TPT_MUST_USE tpt_status_t tpt_home_typed(tpt_homes_t* homes, const tpt_type_t* type,
                                         const tpt_home_t** out_home);
// The home that a window of this dtype, sizes and strides gives to a storage of `size` bytes: the
// window's physical order when it covers the storage, else a grid in which it is a box.
TPT_MUST_USE tpt_status_t tpt_home_adopt(tpt_homes_t* homes, size_t size,
                                         const tpt_tensor_t* window, const tpt_home_t** out_home);
static inline bool tpt_home_is_typed(const tpt_home_t* home) {
  return home->type.dtype != TPT_DTYPE_INVALID;
}

#endif  // TPUTORCH_EAGER_HOME_H_
