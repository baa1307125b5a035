// The TPU chips that vtpu models: one row of chip.def each. Static data, thread-safe.
#ifndef TPUTORCH_VTPU_CHIP_H_
#define TPUTORCH_VTPU_CHIP_H_

#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

enum { VTPU_GRID_RANK_MAX = 3 };

typedef struct vtpu_chip {
  const char* name;    // "v5e"
  const char* kind;    // device kind as libtpu spells it: "TPU v5 lite"
  int64_t hbm_size;    // bytes of one device
  int core_count;      // TensorCores of one device
  int device_count;    // devices of one chip
  int grid_rank;       // dimensions of the chips' torus
  const char* source;  // where the figures come from
} vtpu_chip_t;

// Row `index`, NULL past the end.
const vtpu_chip_t* vtpu_chip_row(int index);
// INVALID_ARGUMENT lists the known chips. `name` need not be NUL-terminated.
TPT_MUST_USE tpt_status_t vtpu_chip_find(const char* name, size_t name_size,
                                         const vtpu_chip_t** out_chip);

// A block of chips: "v5e:2x2". sizes[rank ..] are 1.
typedef struct vtpu_slice {
  const vtpu_chip_t* chip;
  int64_t sizes[VTPU_GRID_RANK_MAX];
  int64_t device_count;  // chips times devices of a chip
} vtpu_slice_t;
// Reads "chip:AxB" or "chip:AxBxC"; a name without sizes is one chip. At most 65,536 devices.
TPT_MUST_USE tpt_status_t vtpu_slice_parse(const char* name, size_t name_size,
                                           vtpu_slice_t* out_slice);

// Where device number `id` of a slice sits.
typedef struct vtpu_place {
  int64_t coords[VTPU_GRID_RANK_MAX];
  int64_t core_on_chip;
} vtpu_place_t;
vtpu_place_t vtpu_slice_place(const vtpu_slice_t* slice, int64_t id);

#endif  // TPUTORCH_VTPU_CHIP_H_
