// Owns host-side copies of windows. Must not know devices. Invariant: elements are visited in the
// dense side's row-major order; runs of neighbours are one memcpy.
#include "eager/strided_copy.h"

typedef struct walk {
  int rank;  // outer dimensions
  int64_t sizes[TPT_RANK_MAX];
  int64_t strides[TPT_RANK_MAX];  // bytes of the flat side
  size_t run_size;                // bytes that are neighbours on both sides
  bool is_empty;
} walk_t;

static walk_t plan(const tpt_tensor_t* window) {
  walk_t walk = {.rank = window->rank, .run_size = tpt_dtype_size(window->dtype)};
  int64_t element = (int64_t)walk.run_size;
  for (int i = 0; i < window->rank; i++) {
    walk.sizes[i] = window->sizes[i];
    walk.strides[i] = window->strides[i] * element;
    walk.is_empty |= window->sizes[i] == 0;
  }
  while (walk.rank > 0) {
    int last = walk.rank - 1;
    if (walk.sizes[last] != 1 && walk.strides[last] != (int64_t)walk.run_size) break;
    walk.run_size *= (size_t)walk.sizes[last];
    walk.rank--;
  }
  return walk;
}

static inline void copy_run(void* to, const void* from, size_t size) {
  switch (size) {
  case 1:
    memcpy(to, from, 1);
    return;
  case 2:
    memcpy(to, from, 2);
    return;
  case 4:
    memcpy(to, from, 4);
    return;
  case 8:
    memcpy(to, from, 8);
    return;
  default:
    memcpy(to, from, size);
  }
}

// Copies one dimension and all inside it; the dense side advances by what was copied.
static char* walk_dim(const walk_t* walk, int dim, char* flat, char* dense, bool is_pack) {
  if (dim == walk->rank) {
    copy_run(is_pack ? dense : flat, is_pack ? flat : dense, walk->run_size);
    return dense + walk->run_size;
  }
  for (int64_t i = 0; i < walk->sizes[dim]; i++, flat += walk->strides[dim]) {
    if (dim + 1 == walk->rank) {
      copy_run(is_pack ? dense : flat, is_pack ? flat : dense, walk->run_size);
      dense += walk->run_size;
    } else {
      dense = walk_dim(walk, dim + 1, flat, dense, is_pack);
    }
  }
  return dense;
}

static void copy(const tpt_tensor_t* window, char* flat, char* dense, bool is_pack) {
  walk_t walk = plan(window);
  if (walk.is_empty) return;
  walk_dim(&walk, 0, flat + window->offset * (int64_t)tpt_dtype_size(window->dtype), dense,
           is_pack);
}

void tpt_strided_pack(const tpt_tensor_t* window, const void* flat, void* out_dense) {
  copy(window, (char*)(uintptr_t)flat, out_dense, true);
}

void tpt_strided_unpack(const tpt_tensor_t* window, const void* dense, void* out_flat) {
  copy(window, out_flat, (char*)(uintptr_t)dense, false);
}
