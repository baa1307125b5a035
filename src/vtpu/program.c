// A program: compiles a graph by the planner's passes and runs its steps. Immutable after compilation,
// so that several devices may run it at the same time.
#include "vtpu/program.h"

#include <string.h>
#include <time.h>

#include "base/allocator.h"
#include "vtpu/plan.h"

// --- compiling -------------------------------------------------------------------------------------------

static tpt_status_t types_set(plan_t* plan) {
  vtpu_program_t* program = plan->program;
  tpt_block_t block = tpt_graph_block(plan->graph, 0);
  program->parameter_count = block.arg_count;
  program->result_count = block.result_count;
  program->parameter_types = tpt_arena_alloc(plan->arena, sizeof(*program->parameter_types) *
                                                              (size_t)(block.arg_count + 1));
  program->result_types = tpt_arena_alloc(plan->arena, sizeof(*program->result_types) *
                                                           (size_t)(block.result_count + 1));
  TPT_TRY(tpt_arena_status(plan->arena));
  for (uint32_t i = 0; i < block.arg_count; i++)
    program->parameter_types[i] = tpt_graph_type(plan->graph, block.args[i]);
  for (uint32_t r = 0; r < block.result_count; r++)
    program->result_types[r] = tpt_graph_type(plan->graph, block.results[r]);
  return NULL;
}

static void costs_add(const vtpu_block_plan_t* block, vtpu_program_t* program) {
  for (uint32_t i = 0; i < block->step_count; i++) {
    const vtpu_step_t* step = &block->steps[i];
    program->cost += step->cost;
    program->flops += step->flops;
    program->bytes += step->bytes;
    for (uint32_t b = 0; b < step->block_count; b++)
      costs_add(step->blocks[b], program);
  }
}

// Steps move from the planner's arena into the program's.
static tpt_status_t steps_keep(plan_t* plan, vtpu_block_plan_t* block) {
  vtpu_step_t* steps =
      tpt_arena_alloc(plan->arena, sizeof(*steps) * (size_t)(block->step_count + 1));
  if (!steps) return tpt_arena_status(plan->arena);
  if (block->step_count) memcpy(steps, block->steps, sizeof(*steps) * block->step_count);
  block->steps = steps;
  block->captures = NULL;
  vtpu_timing_t* timings =
      tpt_arena_calloc(plan->arena, block->step_count + block->move_count + 1, sizeof(*timings));
  if (!timings) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < block->move_count; i++)
    block->moves[i].timing = &timings[block->step_count + i];
  for (uint32_t i = 0; i < block->step_count; i++) {
    steps[i].timing = &timings[i];
    steps[i].spec = NULL;
    for (uint32_t b = 0; b < steps[i].block_count; b++)
      TPT_TRY(steps_keep(plan, steps[i].blocks[b]));
  }
  return NULL;
}

// Which operands of kernels are arguments that may be kept.
static void keeps_set(vtpu_program_t* program, vtpu_block_plan_t* block) {
  for (uint32_t i = 0; i < block->step_count; i++) {
    vtpu_step_t* step = &block->steps[i];
    for (uint32_t b = 0; b < step->block_count; b++)
      keeps_set(program, step->blocks[b]);
    for (uint32_t s = 0; s < 2; s++) {
      step->keep_params[s] = -1;
      if (!step->kernel || !step->kernel->keep_operands[s] || s >= step->read_count) continue;
      const vtpu_plan_buffer_t* buffer = &program->buffers[step->reads[s]];
      if (buffer->space != VTPU_SPACE_PARAM) continue;
      step->keep_params[s] = (int32_t)buffer->number;
      program->keeps[buffer->number] = true;
    }
  }
}

static tpt_status_t plan_make(plan_t* plan) {
  vtpu_program_t* program = plan->program;
  uint32_t node_count = tpt_graph_node_count(plan->graph);
  plan->values =
      tpt_arena_calloc(plan->temp, tpt_graph_value_count(plan->graph) + 1, sizeof(*plan->values));
  plan->nodes = tpt_arena_alloc(plan->temp, sizeof(*plan->nodes) * (size_t)(node_count + 1));
  plan->buffer_capacity = 16;
  plan->buffers = tpt_arena_calloc(plan->temp, plan->buffer_capacity, sizeof(*plan->buffers));
  TPT_TRY(tpt_arena_status(plan->temp));
  for (uint32_t i = 0; i < node_count; i++)
    plan->nodes[i] = tpt_graph_node(plan->graph, i);
  TPT_TRY(types_set(plan));
  TPT_TRY(plan_simplify(plan));
  TPT_TRY(plan_block(plan, 0, &program->main));
  TPT_TRY(plan_layout(plan));
  TPT_TRY(steps_keep(plan, program->main));
  program->buffers = tpt_arena_calloc(plan->arena, plan->buffer_count + 1, sizeof(*plan->buffers));
  if (program->buffers && plan->buffer_count > 0)
    memcpy(program->buffers, plan->buffers, sizeof(*plan->buffers) * plan->buffer_count);
  program->buffer_count = (uint32_t)plan->buffer_count;
  program->keeps = tpt_arena_calloc(plan->arena, program->parameter_count + 1, sizeof(bool));
  TPT_TRY(tpt_arena_status(plan->arena));
  keeps_set(program, program->main);
  program->table_size = (plan->buffer_count * sizeof(void*) + 63) & ~(size_t)63;
  program->temp_size += program->table_size;
  costs_add(program->main, program);
  program->cost += 50;
  TPT_TRY(tpt_arena_status(plan->temp));
  return tpt_arena_status(plan->arena);
}

tpt_status_t vtpu_program_compile(tpt_graph_t* take_graph, vtpu_program_t** out_program) {
  *out_program = NULL;
  tpt_status_t status = tpt_graph_status(take_graph);
  vtpu_program_t* program = tpt_calloc(1, sizeof(*program));
  if (status || !program) {
    tpt_graph_release(take_graph);
    tpt_free(program);
    if (status) return status;
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a program");
  }
  tpt_arena_t temp;
  tpt_arena_init(&temp);
  tpt_arena_init(&program->arena);
  program->graph = take_graph;
  plan_t plan = {.graph = take_graph, .program = program, .arena = &program->arena, .temp = &temp};
  status = plan_make(&plan);
  tpt_arena_deinit(&temp);
  if (status) {
    vtpu_program_release(program);
    return status;
  }
  *out_program = program;
  return NULL;
}

void vtpu_program_release(vtpu_program_t* program) {
  if (!program) return;
  tpt_arena_deinit(&program->arena);
  tpt_graph_release(program->graph);
  tpt_free(program);
}

// --- reading ---------------------------------------------------------------------------------------------

int vtpu_program_parameter_count(const vtpu_program_t* program) {
  return (int)program->parameter_count;
}
int vtpu_program_result_count(const vtpu_program_t* program) {
  return (int)program->result_count;
}
const tpt_type_t* vtpu_program_parameter_type(const vtpu_program_t* program, int parameter) {
  return program->parameter_types[parameter];
}
const tpt_type_t* vtpu_program_result_type(const vtpu_program_t* program, int result) {
  return program->result_types[result];
}
int vtpu_program_alias(const vtpu_program_t* program, int result) {
  return program->aliases[result];
}
bool vtpu_program_keeps(const vtpu_program_t* program, int parameter) {
  return program->keeps[parameter];
}
size_t vtpu_program_temp_size(const vtpu_program_t* program) {
  return program->temp_size;
}
int64_t vtpu_program_cost(const vtpu_program_t* program) {
  return program->cost;
}
double vtpu_program_flops(const vtpu_program_t* program) {
  return program->flops;
}
double vtpu_program_bytes(const vtpu_program_t* program) {
  return program->bytes;
}

// --- running ---------------------------------------------------------------------------------------------

tpt_status_t vtpu_step_loop(const vtpu_step_t* step, const vtpu_run_t* run) {
  vtpu_loop_run(step->loop, run->exec, run->pointers, run->temp + step->scratch_offset);
  return NULL;
}

tpt_status_t vtpu_step_rows(const vtpu_step_t* step, const vtpu_run_t* run) {
  return vtpu_rows_run(step->rows, run->exec, run->pointers, run->temp + step->scratch_offset);
}

enum { FEW = 16 };

tpt_status_t vtpu_step_kernel(const vtpu_step_t* step, const vtpu_run_t* run) {
  void* few[2 * FEW];
  void** pointers = few;
  uint32_t count = step->read_count + step->write_count;
  if (count > 2 * FEW) {
    pointers = tpt_malloc(count * sizeof(*pointers));
    if (!pointers) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a kernel's operands");
  }
  for (uint32_t i = 0; i < step->read_count; i++)
    pointers[i] = run->pointers[step->reads[i]];
  for (uint32_t r = 0; r < step->write_count; r++)
    pointers[step->read_count + r] = run->pointers[step->writes[r]];
  vtpu_exec_t exec = *run->exec;
  for (int s = 0; s < 2 && exec.keeps; s++)
    if (step->keep_params[s] >= 0) exec.operand_keeps[s] = exec.keeps[step->keep_params[s]];
  tpt_status_t status = step->row->run(step->kernel, &exec, run->temp + step->scratch_offset,
                                       (const void* const*)pointers, pointers + step->read_count);
  if (pointers != few) tpt_free(pointers);
  return status;
}

tpt_status_t vtpu_step_copy(const vtpu_step_t* step, const vtpu_run_t* run) {
  void* to = run->pointers[step->writes[0]];
  const void* from = run->pointers[step->reads[0]];
  if (to != from && step->size) memcpy(to, from, step->size);
  return NULL;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static tpt_status_t step_run_timed(const vtpu_step_t* step, const vtpu_run_t* run) {
  vtpu_timing_t* timing = step->timing;
  int64_t start = now_ns();
  TPT_TRY(step->run(step, run));
  int64_t took = now_ns() - start, best = atomic_load(&timing->best);
  atomic_fetch_add(&timing->runs, 1);
  atomic_fetch_add(&timing->total, took);
  while ((best == 0 || took < best) && !atomic_compare_exchange_weak(&timing->best, &best, took)) {
  }
  return NULL;
}

static tpt_status_t steps_run_timed(const vtpu_block_plan_t* plan, const vtpu_run_t* run) {
  for (uint32_t i = 0; i < plan->step_count; i++)
    TPT_TRY(step_run_timed(&plan->steps[i], run));
  for (uint32_t i = 0; i < plan->move_count; i++)
    TPT_TRY(step_run_timed(&plan->moves[i], run));
  return NULL;
}

tpt_status_t vtpu_steps_run(const vtpu_block_plan_t* plan, const vtpu_run_t* run) {
  if (run->exec->profile) return steps_run_timed(plan, run);
  for (uint32_t i = 0; i < plan->step_count; i++)
    TPT_TRY(plan->steps[i].run(&plan->steps[i], run));
  for (uint32_t i = 0; i < plan->move_count; i++)
    TPT_TRY(plan->moves[i].run(&plan->moves[i], run));
  return NULL;
}

tpt_status_t vtpu_program_run(const vtpu_program_t* program, const vtpu_exec_t* exec,
                              void* const* args, void* const* results) {
  void** pointers = exec->temp;
  char* temp = (char*)exec->temp + program->table_size;
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const vtpu_plan_buffer_t* buffer = &program->buffers[i];
    switch (buffer->space) {
    case VTPU_SPACE_PARAM:
      pointers[i] = args[buffer->number];
      break;
    case VTPU_SPACE_RESULT:
      pointers[i] = results[buffer->number];
      break;
    case VTPU_SPACE_CONST:
      pointers[i] = (void*)(uintptr_t)buffer->data;
      break;
    case VTPU_SPACE_TEMP:
      pointers[i] = temp + buffer->offset;
      break;
    }
  }
  vtpu_run_t run = {exec, temp, pointers};
  return vtpu_steps_run(program->main, &run);
}
