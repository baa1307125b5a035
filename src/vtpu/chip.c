// The chip table and the grids of chips that a topology name spells. Knows nothing of devices at
// work. Invariant: device ids run over the cores of a chip first, then over x, y, z.
#include "vtpu/chip.h"

#include <stdbool.h>
#include <string.h>

enum { DEVICE_COUNT_MAX = 65536 };

static const vtpu_chip_t chips[] = {
#define CHIP(name, kind, mib, cores, devices, rank, source)                                        \
  {#name, kind, (int64_t)(mib) << 20, cores, devices, rank, source},
#include "vtpu/chip.def"
#undef CHIP
};

const vtpu_chip_t* vtpu_chip_row(int index) {
  return index >= 0 && index < (int)(sizeof(chips) / sizeof(*chips)) ? &chips[index] : NULL;
}

tpt_status_t vtpu_chip_find(const char* name, size_t name_size, const vtpu_chip_t** out_chip) {
  for (int i = 0; vtpu_chip_row(i); i++) {
    if (strlen(chips[i].name) == name_size && memcmp(chips[i].name, name, name_size) == 0) {
      *out_chip = &chips[i];
      return NULL;
    }
  }
  *out_chip = NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "unknown chip '%.*s'; vtpu models v4, v5e, v5p, v6e, tpu7x",
           name_size < 40 ? (int)name_size : 40, name);
}

tpt_status_t vtpu_slice_parse(const char* name, size_t name_size, vtpu_slice_t* slice) {
  memset(slice, 0, sizeof(*slice));
  for (int i = 0; i < VTPU_GRID_RANK_MAX; i++)
    slice->sizes[i] = 1;
  const char* colon = name_size > 0 ? memchr(name, ':', name_size) : NULL;
  size_t chip_size = colon ? (size_t)(colon - name) : name_size;
  TPT_TRY(vtpu_chip_find(name, chip_size, &slice->chip));
  int64_t count = slice->chip->device_count;
  int rank = 0;
  size_t i = colon ? chip_size + 1 : name_size;
  while (i < name_size && rank < VTPU_GRID_RANK_MAX) {
    int64_t size = 0;
    size_t first = i;
    while (i < name_size && name[i] >= '0' && name[i] <= '9' && size <= DEVICE_COUNT_MAX)
      size = size * 10 + (name[i++] - '0');
    if (i == first || size < 1 || (count *= size) > DEVICE_COUNT_MAX) break;
    slice->sizes[rank++] = size;
    if (i == name_size) break;
    if (name[i] != 'x') break;
    i++;
    if (i == name_size) rank = VTPU_GRID_RANK_MAX + 1;  // ends in "x"
  }
  bool bad = i != name_size || count > DEVICE_COUNT_MAX || rank > slice->chip->grid_rank ||
             (colon && rank == 0);
  if (bad)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "topology '%.*s': want chip:AxB%s with sizes of at least 1 and at most %d devices",
             name_size < 60 ? (int)name_size : 60, name, slice->chip->grid_rank == 3 ? "xC" : "",
             DEVICE_COUNT_MAX);
  slice->device_count = count;
  return NULL;
}

vtpu_place_t vtpu_slice_place(const vtpu_slice_t* slice, int64_t id) {
  vtpu_place_t place;
  place.core_on_chip = id % slice->chip->device_count;
  id /= slice->chip->device_count;
  for (int i = 0; i < VTPU_GRID_RANK_MAX; i++) {
    place.coords[i] = id % slice->sizes[i];
    id /= slice->sizes[i];
  }
  return place;
}
