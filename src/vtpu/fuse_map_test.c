// Tests of index maps: views are followed to the right element, loop dimensions split where a reshape
// asks for it, and what is not affine is refused.
#include "hlo/builder.h"
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

typedef struct scene {
  plan_t plan;
  tpt_arena_t arena;
  tpt_graph_t* graph;
} scene_t;

static void scene_init(scene_t* s) {
  memset(s, 0, sizeof(*s));
  tpt_arena_init(&s->arena);
  s->graph = program_graph();
  s->plan.graph = s->graph;
  s->plan.temp = s->plan.arena = &s->arena;
}

static void scene_deinit(scene_t* s) {
  tpt_arena_deinit(&s->arena);
  tpt_graph_release(s->graph);
}

// Address of a map at a row-major position of the loop's space.
static int64_t address(const fuse_loop_t* loop, const vtpu_map_t* map, int64_t position) {
  int64_t result = map->offset;
  for (int d = loop->rank - 1; d >= 0; d--) {
    result += position % loop->dims[d] * map->stride[d];
    position /= loop->dims[d];
  }
  return result;
}

// Follows a view from a loop over `space` (as many elements as the view) to its operand.
static bool follow(scene_t* s, tpt_value_t view, const tpt_type_t* space, fuse_loop_t** loop,
                   vtpu_map_t* out) {
  *loop = fuse_loop_create(&s->plan, 0, space);
  vtpu_map_t identity = fuse_map_identity(*loop);
  int number = fuse_map_add(&s->plan, *loop, &identity);
  return fuse_map_compose(&s->plan, *loop, tpt_graph_producer(s->graph, view), number, out);
}

static void test_transpose_of_a_flat_loop_splits_it(void) {
  scene_t s;
  scene_init(&s);
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(3, 5)), flat = type_of(TPT_F32, 1, DIMS(15));
  tpt_value_t x = tpt_graph_parameter(s.graph, &type);
  tpt_value_t t = tpt_hlo_transpose(s.graph, x, DIMS(1, 0));
  fuse_loop_t* loop;
  vtpu_map_t map;
  CHECK(follow(&s, t, &flat, &loop, &map));
  CHECK_EQ(loop->rank, 2);
  for (int64_t i = 0; i < 15; i++)
    CHECK_EQ(address(loop, &map, i), i % 3 * 5 + i / 3);
  CHECK(fuse_map_is_bijection(loop, &map, 15));
  scene_deinit(&s);
}

static void test_slice_and_reverse_move_the_start(void) {
  scene_t s;
  scene_init(&s);
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(6, 10));
  tpt_value_t x = tpt_graph_parameter(s.graph, &type);
  tpt_value_t slice = tpt_hlo_slice(s.graph, x, DIMS(1, 2), DIMS(6, 9), DIMS(2, 3));
  tpt_value_t back = tpt_hlo_reverse(s.graph, x, DIMS(1), 1);
  fuse_loop_t* loop;
  vtpu_map_t map;
  CHECK(follow(&s, slice, tpt_graph_type(s.graph, slice), &loop, &map));
  for (int64_t i = 0; i < 9; i++)
    CHECK_EQ(address(loop, &map, i), (1 + i / 3 * 2) * 10 + 2 + i % 3 * 3);
  CHECK(!fuse_map_is_bijection(loop, &map, 60));
  CHECK(follow(&s, back, &type, &loop, &map));
  for (int64_t i = 0; i < 60; i++)
    CHECK_EQ(address(loop, &map, i), i / 10 * 10 + 9 - i % 10);
  scene_deinit(&s);
}

static void test_broadcast_stands_still(void) {
  scene_t s;
  scene_init(&s);
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(4, 1));
  tpt_value_t x = tpt_graph_parameter(s.graph, &type);
  tpt_value_t b = tpt_hlo_broadcast_in_dim(s.graph, x, 3, DIMS(2, 4, 7), DIMS(1, 2));
  fuse_loop_t* loop;
  vtpu_map_t map;
  CHECK(follow(&s, b, tpt_graph_type(s.graph, b), &loop, &map));
  for (int64_t i = 0; i < 56; i++)
    CHECK_EQ(address(loop, &map, i), i / 7 % 4);
  scene_deinit(&s);
}

static void test_iota_counts_its_dimension(void) {
  scene_t s;
  scene_init(&s);
  tpt_type_t type = type_of(TPT_S32, 3, DIMS(2, 3, 4)), flat = type_of(TPT_S32, 1, DIMS(24));
  tpt_value_t iota = tpt_hlo_iota(s.graph, &type, 1);
  fuse_loop_t* loop;
  vtpu_map_t map;
  CHECK(follow(&s, iota, &flat, &loop, &map));
  for (int64_t i = 0; i < 24; i++)
    CHECK_EQ(address(loop, &map, i), i / 4 % 3);
  scene_deinit(&s);
}

// Rows of two over rows of three: a loop over (4, 3) cannot walk the transpose of (6, 2) affinely.
static void test_what_is_not_affine_is_refused(void) {
  scene_t s;
  scene_init(&s);
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(2, 6)), space = type_of(TPT_F32, 2, DIMS(4, 3));
  tpt_value_t x = tpt_graph_parameter(s.graph, &type);
  tpt_value_t t = tpt_hlo_transpose(s.graph, x, DIMS(1, 0));
  fuse_loop_t* loop;
  vtpu_map_t map;
  CHECK(!follow(&s, t, &space, &loop, &map));
  scene_deinit(&s);
}

int main(void) {
  RUN(test_transpose_of_a_flat_loop_splits_it);
  RUN(test_slice_and_reverse_move_the_start);
  RUN(test_broadcast_stands_still);
  RUN(test_iota_counts_its_dimension);
  RUN(test_what_is_not_affine_is_refused);
  return TEST_RESULT;
}
