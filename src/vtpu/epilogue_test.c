// Epilogues alone: blocks in any order give what the whole loop gives; loops whose tiles fit no block are
// refused.
#include "vtpu/epilogue.h"
#include "vtpu/kernel_probe.h"

enum { ROWS = 48, COLS = 130 };

// y[r][c] = x[r][c] + bias[c], with rows as (outer, inner).
typedef struct fixture {
  tpt_arena_t arena;
  vtpu_map_t maps[3];
  vtpu_member_t members[3];
  vtpu_loop_spec_t spec;
  vtpu_epilogue_t epilogue;
} fixture_t;

static void fixture_make(fixture_t* f, int64_t ld, int64_t column_stride) {
  memset(f, 0, sizeof(*f));
  tpt_arena_init(&f->arena);
  f->maps[0] = (vtpu_map_t){0, {ld, column_stride}};
  f->maps[1] = (vtpu_map_t){0, {0, 1}};
  f->maps[2] = (vtpu_map_t){0, {COLS, 1}};
  f->members[0] = (vtpu_member_t){.kind = VTPU_MEMBER_OP,
                                  .dtype = TPT_F32,
                                  .op = TPT_HLO_ADD,
                                  .operands = {1, 2, -1},
                                  .map = 2};
  f->members[1] = (vtpu_member_t){
      .kind = VTPU_MEMBER_LOAD, .dtype = TPT_F32, .operands = {-1, -1, -1}, .map = 0, .buffer = 0};
  f->members[2] = (vtpu_member_t){
      .kind = VTPU_MEMBER_LOAD, .dtype = TPT_F32, .operands = {-1, -1, -1}, .map = 1, .buffer = 1};
  f->spec = (vtpu_loop_spec_t){.rank = 2,
                               .dims = {ROWS, COLS},
                               .maps = f->maps,
                               .map_count = 3,
                               .members = f->members,
                               .member_count = 3,
                               .output_count = 1,
                               .row_rank = 1};
  f->spec.outputs[0] = (vtpu_output_t){.member = 0, .map = 2, .buffer = 2, .monoid = TPT_HLO_COUNT};
  f->epilogue = (vtpu_epilogue_t){.is_taken = true,
                                  .rows = ROWS,
                                  .cols = COLS,
                                  .row_align = 12,
                                  .col_align = 50,
                                  .ld = ld,
                                  .element_size = 4,
                                  .lane_count = 1,
                                  .read_count = 1,
                                  .write_count = 1};
}

static void test_blocks_in_any_order(void) {
  static float tile[12 * 50], bias[COLS], out[ROWS * COLS];
  fixture_t f;
  bool ok;
  fixture_make(&f, 50, 1);
  if (!CHECK_OK(vtpu_epilogue_compile(&f.epilogue, &f.spec, &f.arena, &ok))) return;
  CHECK(ok);
  if (!ok) return;
  CHECK_EQ(f.epilogue.row_align % f.epilogue.row_box, 0);
  CHECK_EQ(f.epilogue.col_align % f.epilogue.col_box, 0);
  void* scratch = NULL;
  if (posix_memalign(&scratch, 64, f.epilogue.lane_size)) return;
  const void* in[3] = {NULL, NULL, bias};
  void* results[1] = {out};
  vtpu_epilogue_call_t call = {.in = in, .out = results, .scratch = scratch};
  for (int c = 0; c < COLS; c++)
    bias[c] = (float)c;
  for (int number = 11; number >= 0; number--) {
    int64_t row = number / 3 * 12, col = number % 3 * 50;
    vtpu_epilogue_block_t block = {row, col, 12, COLS - col < 50 ? COLS - col : 50, tile};
    for (int64_t i = 0; i < block.rows * 50; i++)
      tile[i] = (float)(1000 * (row + i / 50));
    vtpu_epilogue_run(&f.epilogue, &call, &block, 0);
  }
  int wrong = 0;
  for (int i = 0; i < ROWS * COLS; i++)
    wrong += out[i] != (float)(1000 * (i / COLS) + i % COLS);
  CHECK_EQ(wrong, 0);
  free(scratch);
  tpt_arena_deinit(&f.arena);
}

static void test_loops_that_fit_no_block_are_refused(void) {
  fixture_t f;
  bool ok = true;
  fixture_make(&f, 1, ROWS);  // walked across
  (void)!CHECK_OK(vtpu_epilogue_compile(&f.epilogue, &f.spec, &f.arena, &ok));
  CHECK(!ok && !f.epilogue.is_taken);
  tpt_arena_deinit(&f.arena);
  fixture_make(&f, COLS, 1);
  f.epilogue.row_align = 1, f.epilogue.col_align = 1;
  (void)!CHECK_OK(vtpu_epilogue_compile(&f.epilogue, &f.spec, &f.arena, &ok));
  CHECK(!ok && !f.epilogue.is_taken);
  tpt_arena_deinit(&f.arena);
}

int main(void) {
  RUN(test_blocks_in_any_order);
  RUN(test_loops_that_fit_no_block_are_refused);
  return TEST_RESULT;
}
