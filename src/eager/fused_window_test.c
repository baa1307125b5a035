#include "eager/fused_window.h"
#include "eager/program.h"
#include "eager/test_device.h"

static tpt_trace_t* waiting_trace(void) {
  tpt_device_t* device = NULL;
  tpt_trace_t* trace = NULL;
  CHECK_OK(tpt_device_get(0, &device));
  CHECK_OK(tpt_fused_trace(device, &trace));
  return trace;
}

// Of a = a + b; c = a + a: a's old value is dead and gives its memory, c has memory of its own.
static void test_dead_inputs_give_their_memory(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(2, (float[]){3, 4}), c;
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_FUSED));
  CHECK_OK(test_add(&a, &b, 1, true, NULL));
  CHECK_OK(test_add(&a, &a, 1, false, &c));
  tpt_fused_plan_t plan;
  CHECK_OK(tpt_fused_plan_init(&plan, waiting_trace()));
  CHECK_EQ(plan.input_count, 2);
  CHECK_EQ(plan.output_count, 2);
  CHECK_EQ(plan.outputs[0].input, 0);
  CHECK_EQ(plan.outputs[1].input, -1);
  tpt_fused_plan_deinit(&plan);
  TEST_F32(c, 8, 12);
  TEST_F32(a, 4, 6);
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_STRICT));
  test_release(&a);
  test_release(&b);
  test_release(&c);
}

static void test_running_singly_gives_every_value(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b, c;
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_FUSED));
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  CHECK_OK(test_add(&a, &b, 1, true, NULL));
  CHECK_OK(test_add(&a, &b, 2, false, &c));
  tpt_trace_t* trace = waiting_trace();
  CHECK_OK(tpt_fused_run_singly(
      trace, tpt_status_make(TPT_INTERNAL, __FILE__, __LINE__, "all together failed")));
  tpt_trace_reset(trace);
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_STRICT));
  TEST_F32(a, 3, 6);
  TEST_F32(b, 2, 4);
  TEST_F32(c, 7, 14);
  test_release(&a);
  test_release(&b);
  test_release(&c);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_dead_inputs_give_their_memory);
  RUN(test_running_singly_gives_every_value);
  return TEST_RESULT;
}
