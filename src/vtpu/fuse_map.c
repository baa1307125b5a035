// Index maps of fused loops: how the element of a view's operand follows from the loop's indexes. A map
// addresses the dense row-major memory that a value would have, so reshapes need no work at all.
#include <stdlib.h>
#include <string.h>

#include "hlo/builder.h"
#include "vtpu/plan.h"

int fuse_map_add(plan_t* plan, fuse_loop_t* loop, const vtpu_map_t* map) {
  size_t used = sizeof(int64_t) * (size_t)loop->rank;
  for (int i = 0; i < loop->map_count; i++)
    if (loop->maps[i].offset == map->offset && memcmp(loop->maps[i].stride, map->stride, used) == 0)
      return i;
  if (loop->map_count == loop->map_capacity) {
    int capacity = loop->map_capacity ? loop->map_capacity * 2 : 4;
    vtpu_map_t* maps = tpt_arena_alloc(plan->temp, sizeof(*maps) * (size_t)capacity);
    if (!maps) return -1;
    if (loop->map_count) memcpy(maps, loop->maps, sizeof(*maps) * (size_t)loop->map_count);
    loop->maps = maps;
    loop->map_capacity = capacity;
  }
  loop->maps[loop->map_count] = *map;
  return loop->map_count++;
}

vtpu_map_t fuse_map_identity(const fuse_loop_t* loop) {
  vtpu_map_t map;
  memset(&map, 0, sizeof(map));
  int64_t stride = 1;
  for (int d = loop->rank - 1; d >= 0; d--) {
    map.stride[d] = stride;
    stride *= loop->dims[d];
  }
  return map;
}

bool fuse_map_is_bijection(const fuse_loop_t* loop, const vtpu_map_t* map, int64_t count) {
  if (map->offset != 0 || loop->count != count) return false;
  bool used[VTPU_LOOP_RANK_MAX] = {false};
  int64_t stride = 1;
  for (int round = 0; round < loop->rank; round++) {
    int found = -1;
    for (int d = 0; d < loop->rank && found < 0; d++)
      if (!used[d] && (loop->dims[d] == 1 || map->stride[d] == stride)) found = d;
    if (found < 0) return false;
    used[found] = true;
    stride *= loop->dims[found];
  }
  return true;
}

bool fuse_dim_split(fuse_loop_t* loop, int k, int64_t inner) {
  if (loop->rank == VTPU_LOOP_RANK_MAX) return false;
  for (int d = loop->rank; d > k + 1; d--) {
    loop->dims[d] = loop->dims[d - 1];
    loop->reduced[d] = loop->reduced[d - 1];
  }
  loop->reduced[k + 1] = loop->reduced[k];
  loop->dims[k] /= inner;
  loop->dims[k + 1] = inner;
  for (int i = 0; i < loop->map_count; i++) {
    int64_t* stride = loop->maps[i].stride;
    for (int d = loop->rank; d > k + 1; d--)
      stride[d] = stride[d - 1];
    stride[k + 1] = stride[k];
    stride[k] *= inner;
  }
  loop->rank++;
  return true;
}

// A map taken apart: the index in each dimension of an array is start + sum of factor * loop index.
typedef struct apart {
  int64_t start[TPT_RANK_MAX];
  int dim[VTPU_LOOP_RANK_MAX];  // the array dimension that a loop dimension moves; -1: none
  int64_t factor[VTPU_LOOP_RANK_MAX];
} apart_t;

typedef enum outcome { APART_OK, APART_SPLIT, APART_FAILED } outcome_t;

// Finds the dimension of one loop dimension. APART_SPLIT: it was split, start again.
static outcome_t stride_assign(fuse_loop_t* loop, const tpt_type_t* type, const int64_t* strides,
                               int64_t stride, int k, apart_t* out) {
  out->dim[k] = -1;
  out->factor[k] = 0;
  if (stride == 0 || loop->dims[k] <= 1) return APART_OK;
  int64_t size = llabs(stride);
  int found = -1;
  for (int d = 0; d < type->rank && found < 0; d++)
    if (type->dims[d] > 1 && strides[d] <= size) found = d;
  if (found < 0 || size % strides[found] != 0) return APART_FAILED;
  int64_t factor = size / strides[found];
  if (factor * (loop->dims[k] - 1) >= type->dims[found]) {
    if (type->dims[found] % factor != 0) return APART_FAILED;
    int64_t inner = type->dims[found] / factor;
    if (inner <= 1 || loop->dims[k] % inner != 0 || inner == loop->dims[k]) return APART_FAILED;
    return fuse_dim_split(loop, k, inner) ? APART_SPLIT : APART_FAILED;
  }
  out->dim[k] = found;
  out->factor[k] = stride < 0 ? -factor : factor;
  return APART_OK;
}

static bool ranges_fit(const fuse_loop_t* loop, const tpt_type_t* type, const apart_t* apart) {
  for (int d = 0; d < type->rank; d++) {
    int64_t low = apart->start[d], high = apart->start[d];
    for (int k = 0; k < loop->rank; k++) {
      if (apart->dim[k] != d) continue;
      int64_t reach = apart->factor[k] * (loop->dims[k] - 1);
      if (reach < 0)
        low += reach;
      else
        high += reach;
    }
    if (low < 0 || high >= type->dims[d]) return false;
  }
  return true;
}

static void strides_of(const tpt_type_t* type, int64_t* out) {
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    out[d] = stride;
    stride *= type->dims[d];
  }
}

static bool map_take_apart(fuse_loop_t* loop, const tpt_type_t* type, int map_number,
                           apart_t* out) {
  int64_t strides[TPT_RANK_MAX];
  strides_of(type, strides);
  for (int k = 0; k < loop->rank;) {
    outcome_t outcome =
        stride_assign(loop, type, strides, loop->maps[map_number].stride[k], k, out);
    if (outcome == APART_FAILED) return false;
    k = outcome == APART_SPLIT ? 0 : k + 1;
  }
  int64_t rest = loop->maps[map_number].offset;
  for (int d = 0; d < type->rank; d++) {
    out->start[d] = strides[d] ? rest / strides[d] : 0;
    rest -= out->start[d] * strides[d];
  }
  return ranges_fit(loop, type, out);
}

// Builds the operand's map from what each operand dimension takes of one result dimension:
// index[operand dim] = begin + step * index[result dim].
typedef struct axis {
  int from;  // result dimension; -1: none
  int64_t begin, step;
} axis_t;

static void map_build(const fuse_loop_t* loop, const apart_t* apart, const tpt_type_t* operand,
                      const axis_t* axes, vtpu_map_t* out) {
  int64_t strides[TPT_RANK_MAX];
  strides_of(operand, strides);
  memset(out, 0, sizeof(*out));
  for (int d = 0; d < operand->rank; d++) {
    const axis_t* axis = &axes[d];
    int64_t start = axis->from < 0 ? 0 : apart->start[axis->from];
    out->offset += (axis->begin + axis->step * start) * strides[d];
    for (int k = 0; axis->from >= 0 && k < loop->rank; k++)
      if (apart->dim[k] == axis->from) out->stride[k] += apart->factor[k] * axis->step * strides[d];
  }
}

static void axes_of(const tpt_node_t* node, const tpt_type_t* operand, axis_t* axes) {
  int count;
  const int64_t* ints = tpt_node_ints(node, 0, &count);
  for (int d = 0; d < operand->rank; d++)
    axes[d] = (axis_t){d, 0, 1};
  if (node->op == TPT_HLO_BROADCAST_IN_DIM) {
    for (int d = 0; d < operand->rank; d++)
      axes[d].from = operand->dims[d] == 1 ? -1 : (int)ints[d];
  } else if (node->op == TPT_HLO_TRANSPOSE) {
    for (int i = 0; i < count; i++)
      axes[ints[i]].from = i;
  } else if (node->op == TPT_HLO_SLICE) {
    const int64_t* steps = tpt_node_ints(node, 2, NULL);
    for (int d = 0; d < operand->rank; d++)
      axes[d] = (axis_t){d, ints[d], steps[d]};
  } else if (node->op == TPT_HLO_REVERSE) {
    for (int i = 0; i < count; i++)
      axes[ints[i]] = (axis_t){(int)ints[i], operand->dims[ints[i]] - 1, -1};
  }
}

bool fuse_map_compose(plan_t* plan, fuse_loop_t* loop, const tpt_node_t* node, int result_map,
                      vtpu_map_t* out) {
  const tpt_type_t* result = plan_type(plan, node->first_result);
  apart_t apart;
  if (loop->count == 0) {  // never visited
    memset(out, 0, sizeof(*out));
    return true;
  }
  if (!map_take_apart(loop, result, result_map, &apart)) return false;
  if (node->op == TPT_HLO_IOTA) {
    int dim = (int)tpt_node_int(node, 0);
    memset(out, 0, sizeof(*out));
    out->offset = apart.start[dim];
    for (int k = 0; k < loop->rank; k++)
      if (apart.dim[k] == dim) out->stride[k] = apart.factor[k];
    return true;
  }
  const tpt_type_t* operand = tpt_graph_type(plan->graph, node->operands[0]);
  axis_t axes[TPT_RANK_MAX];
  axes_of(node, operand, axes);
  map_build(loop, &apart, operand, axes, out);
  return true;
}
