// Tells a program's plan as lines of tab-separated columns (program.h), nested blocks by depth.
#include <inttypes.h>

#include "vtpu/epilogue.h"
#include "vtpu/plan.h"

static void types_print(const vtpu_program_t* program, const tpt_node_t* node, tpt_str_t* out) {
  char text[200];
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const tpt_type_t* type = tpt_graph_type(program->graph, node->operands[i]);
    tpt_str_printf(out, "%s%s", i ? ", " : "", tpt_type_print(type, text, sizeof(text)));
  }
  for (uint32_t r = 0; r < node->result_count; r++) {
    const tpt_type_t* type = tpt_graph_type(program->graph, tpt_node_result(node, r));
    tpt_str_printf(out, "%s%s", r ? ", " : " -> ", tpt_type_print(type, text, sizeof(text)));
  }
}

static void loop_print(const vtpu_loop_t* loop, tpt_str_t* out) {
  for (int d = 0; d < loop->rank; d++)
    tpt_str_printf(out, "%s%" PRId64, d ? "x" : "", loop->dims[d]);
  tpt_str_printf(out, "%s:", loop->rank ? "" : "1");
  for (int i = 0; i < loop->op_count; i++)
    tpt_str_printf(out, " %s", tpt_hlo_row((tpt_hlo_t)loop->ops[i])->mnemonic);
  tpt_str_printf(out, " (%d arrays, %d instructions, tiles of %" PRId64, loop->stream_count,
                 loop->instr_count, loop->lanes_max);
  if (loop->chunks > 1) tpt_str_printf(out, ", %" PRId64 " chunks", loop->chunks);
  tpt_str_append_char(out, ')');
}

static void node_print(const vtpu_program_t* program, const tpt_node_t* node, tpt_str_t* out) {
  tpt_str_printf(out, "%s ", tpt_hlo_row(node->op)->mnemonic);
  types_print(program, node, out);
}

static void block_print(const vtpu_program_t* program, const vtpu_block_plan_t* block, int depth,
                        tpt_str_t* out);

static void step_print(const vtpu_program_t* program, const vtpu_step_t* step, int depth,
                       tpt_str_t* out) {
  tpt_str_printf(out, "%d\t", depth);
  if (step->loop) {
    tpt_str_append_cstr(out, step->loop->reduction_count ? "reduction\t" : "loop\t");
    loop_print(step->loop, out);
  } else if (step->rows) {
    tpt_str_printf(out, "rows\t%" PRId64 " blocks, %d threads", step->rows->blocks,
                   step->rows->lane_count);
    for (int i = 0; i < step->rows->part_count; i++) {
      const vtpu_rows_part_t* part = &step->rows->parts[i];
      tpt_str_append_cstr(out, i ? "; " : ": ");
      if (part->loop)
        loop_print(part->loop, out);
      else
        node_print(program, part->node, out);
    }
  } else if (step->node) {
    tpt_str_printf(out, "%s\t", tpt_hlo_row(step->node->op)->mnemonic);
    types_print(program, step->node, out);
    if (step->epilogue) {
      tpt_str_append_cstr(out, "; ");
      loop_print(step->epilogue->loop, out);
    }
  } else {
    tpt_str_append_cstr(out, "copy\t");
  }
  int64_t runs = 0, best = 0, total = 0;
  if (step->timing) {
    runs = atomic_load(&step->timing->runs);
    best = atomic_load(&step->timing->best);
    total = atomic_load(&step->timing->total);
  }
  tpt_str_printf(out, "\t%.0f\t%.0f\t%" PRId64 "\t%9" PRId64 "\t%13" PRId64 "\t%16" PRId64 "\n",
                 step->bytes, step->flops, step->cost, runs, best, total);
  for (uint32_t b = 0; b < step->block_count; b++)
    block_print(program, step->blocks[b], depth + 1, out);
}

static void block_print(const vtpu_program_t* program, const vtpu_block_plan_t* block, int depth,
                        tpt_str_t* out) {
  for (uint32_t i = 0; i < block->step_count; i++)
    step_print(program, &block->steps[i], depth, out);
  for (uint32_t i = 0; i < block->move_count; i++)
    step_print(program, &block->moves[i], depth, out);
}

tpt_status_t vtpu_program_explain(const vtpu_program_t* program, tpt_str_t* out) {
  tpt_str_printf(out, "vtpu-plan\t%u\t%u\t%zu\t%" PRId64 "\n", program->parameter_count,
                 program->result_count, program->temp_size, program->cost);
  block_print(program, program->main, 0, out);
  return tpt_str_status(out);
}
