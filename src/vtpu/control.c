// Control flow at run time: while, case and if over nested plans, and map. Carried values of a while
// live in the memory of its results; a body leaves its new values there.
#include <string.h>

#include "vtpu/lane.h"
#include "vtpu/plan.h"

tpt_status_t vtpu_step_while(const vtpu_step_t* step, const vtpu_run_t* run) {
  const vtpu_block_plan_t* condition = step->blocks[0];
  const vtpu_block_plan_t* body = step->blocks[1];
  for (uint32_t i = 0; i < step->write_count; i++) {
    void* to = run->pointers[step->writes[i]];
    const void* from = run->pointers[step->reads[i]];
    size_t size = step->sizes[i];
    if (to != from && size) memcpy(to, from, size);
  }
  for (;;) {
    TPT_TRY(vtpu_steps_run(condition, run));
    if (!*(const uint8_t*)run->pointers[condition->results[0]]) return NULL;
    TPT_TRY(vtpu_steps_run(body, run));
  }
}

tpt_status_t vtpu_step_case(const vtpu_step_t* step, const vtpu_run_t* run) {
  const void* selector = run->pointers[step->reads[0]];
  uint32_t branch;
  if (step->node->op == TPT_HLO_IF) {
    branch = *(const uint8_t*)selector ? 0 : 1;
  } else {
    int32_t index;
    memcpy(&index, selector, sizeof(index));
    bool inside = index >= 0 && (uint32_t)index < step->block_count;
    branch = inside ? (uint32_t)index : step->block_count - 1;
  }
  return vtpu_steps_run(step->blocks[branch], run);
}

typedef struct mapping {
  const vtpu_step_t* step;
  const vtpu_run_t* run;
} mapping_t;

static void map_range(void* arg, int64_t begin, int64_t end, int thread) {
  const mapping_t* mapping = arg;
  const vtpu_step_t* step = mapping->step;
  const void* in[VTPU_MAP_OPERANDS_MAX];
  (void)thread;
  for (uint32_t i = 0; i < step->read_count; i++)
    in[i] = (const char*)mapping->run->pointers[step->reads[i]] + (size_t)begin * step->sizes[i];
  void* out = (char*)mapping->run->pointers[step->writes[0]] +
              (size_t)begin * step->sizes[step->read_count];
  vtpu_body_run(step->kernel->state, end - begin, in, &out);
}

tpt_status_t vtpu_step_map(const vtpu_step_t* step, const vtpu_run_t* run) {
  mapping_t mapping = {step, run};
  vtpu_range_for(run->exec, (int64_t)step->size, 8192, map_range, &mapping);
  return NULL;
}
