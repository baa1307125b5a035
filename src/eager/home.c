// Owns the interning of home types and the choice of one for a storage that has none. Must not know
// buffers or graphs. Invariant: a typed home fills its storage exactly.
#include "eager/home.h"

#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "eager/stride_order.h"

typedef struct home_key {
  const tpt_type_t* type;
  size_t size;
} home_key_t;

static bool home_equal(const void* item, const void* key) {
  const tpt_home_t* home = item;
  const home_key_t* wanted = key;
  return home->size == wanted->size && tpt_type_equal(&home->type, wanted->type);
}

static tpt_status_t intern(tpt_homes_t* homes, const tpt_type_t* type, size_t size,
                           const tpt_home_t** out_home) {
  home_key_t key = {type, size};
  uint64_t hash = tpt_hash_bytes(type->dims, (size_t)type->rank * sizeof(*type->dims),
                                 size ^ (uint64_t)type->dtype << 56);
  tpt_home_t* home = tpt_table_find(&homes->table, hash, home_equal, &key);
  if (!home) {
    home = tpt_calloc(1, sizeof(*home));
    if (!home) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a home type");
    home->id = (uint32_t)homes->table.count + 1;
    home->type = *type;
    home->size = size;
    tpt_status_t status = tpt_table_add(&homes->table, hash, home);
    if (status) {
      tpt_free(home);
      return status;
    }
  }
  *out_home = home;
  return NULL;
}

tpt_status_t tpt_home_untyped(tpt_homes_t* homes, size_t size, const tpt_home_t** out_home) {
  tpt_type_t type = tpt_type_make(TPT_DTYPE_INVALID, 0, NULL);
  return intern(homes, &type, size, out_home);
}

tpt_status_t tpt_home_typed(tpt_homes_t* homes, const tpt_type_t* type,
                            const tpt_home_t** out_home) {
  return intern(homes, type, (size_t)tpt_type_size(type), out_home);
}

// Cuts `count` elements at the window's strides as far as they divide one another.
static void cut_grid(const tpt_tensor_t* window, const tpt_order_t* order, int64_t count,
                     tpt_type_t* type) {
  int64_t above = count;  // elements of one step of the dimension above
  int rank = 0;
  for (int i = 0; i < order->core_count && rank < TPT_RANK_MAX - 1; i++) {
    int64_t stride = window->strides[order->core[i]];
    if (stride >= above || above % stride != 0) continue;
    type->dims[rank++] = above / stride;
    above = stride;
  }
  if (above > 1 || rank == 0) type->dims[rank++] = above;
  type->rank = rank;
}

tpt_status_t tpt_home_adopt(tpt_homes_t* homes, size_t size, const tpt_tensor_t* window,
                            const tpt_home_t** out_home) {
  size_t element = tpt_dtype_size(window->dtype);
  tpt_type_t type = tpt_type_make(window->dtype, 0, NULL);
  if (size % element != 0) {
    type.dtype = TPT_U8;
    type.rank = 1;
    type.dims[0] = (int64_t)size;
    return intern(homes, &type, size, out_home);
  }
  int64_t count = (int64_t)(size / element);
  tpt_order_t order;
  tpt_order_init(&order, window->rank, window->sizes, window->strides);
  if (order.is_dense && order.count == count) {
    type.rank = window->rank;
    for (int i = 0; i < window->rank; i++)
      type.dims[i] = window->sizes[order.all[i]];
  } else {
    cut_grid(window, &order, count, &type);
  }
  return intern(homes, &type, size, out_home);
}
