#include "eager/program.h"
#include "eager/test_device.h"
#include "eager/trace.h"

static tpt_device_t* device_0(void) {
  tpt_device_t* device = NULL;
  CHECK_OK(tpt_device_get(0, &device));
  return device;
}

static void test_inputs_are_numbered_once(void) {
  tpt_device_t* device = device_0();
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(2, (float[]){3, 4});
  tpt_trace_t trace;
  uint32_t first, second, again, zeros;
  tpt_trace_init(&trace, device, true);
  CHECK_OK(tpt_trace_value_of(&trace, a.t.storage->cell, a.t.storage->home, &first));
  CHECK_OK(tpt_trace_value_of(&trace, b.t.storage->cell, b.t.storage->home, &second));
  CHECK_OK(tpt_trace_value_of(&trace, a.t.storage->cell, a.t.storage->home, &again));
  CHECK_OK(tpt_trace_value_of(&trace, NULL, a.t.storage->home, &zeros));
  CHECK_EQ(first, again);
  CHECK(first != second);
  CHECK_EQ(zeros, TPT_TRACE_ZEROS);
  CHECK_EQ(a.t.storage->cell->refs, 2);
  tpt_trace_reset(&trace);
  CHECK_EQ(a.t.storage->cell->refs, 1);
  CHECK_OK(tpt_trace_value_of(&trace, b.t.storage->cell, b.t.storage->home, &first));
  CHECK_EQ(first, 0);  // a new content numbers anew
  tpt_trace_deinit(&trace);
  test_release(&a);
  test_release(&b);
}

// Same calls on same values: same words; another wiring: others.
static void test_words_tell_wiring_apart(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(2, (float[]){3, 4}), c, d;
  uint64_t words[3][16];
  size_t counts[3];
  tpt_device_t* device = device_0();
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_FUSED));
  for (int i = 0; i < 3; i++) {
    tpt_trace_t* trace;
    CHECK_OK(test_add(&a, &b, i, false, &c));
    CHECK_OK(test_add(&c, i < 2 ? &a : &b, 1, false, &d));
    CHECK_OK(tpt_fused_trace(device, &trace));
    CHECK_EQ(trace->record_count, 2);
    counts[i] = trace->word_count;
    CHECK(counts[i] <= 16);
    memcpy(words[i], trace->words, counts[i] * sizeof(uint64_t));
    test_release(&c);
    test_release(&d);
    CHECK_OK(tpt_device_synchronize(0));
  }
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_STRICT));
  CHECK_EQ(counts[0], counts[1]);
  CHECK(memcmp(words[0], words[1], counts[0] * sizeof(uint64_t)) == 0);
  CHECK(memcmp(words[0], words[2], counts[0] * sizeof(uint64_t)) != 0);
  test_release(&a);
  test_release(&b);
}

// A tensor that goes takes its wish for the value with it.
static void test_a_dead_result_is_forgotten(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = {0};
  tpt_trace_t* trace;
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_FUSED));
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  CHECK_OK(tpt_fused_trace(device_0(), &trace));
  uint32_t value = trace->records[0].first_result;
  CHECK(trace->values[value].cell == b.t.storage->cell);
  test_release(&b);
  CHECK(trace->values[value].cell == NULL);
  CHECK_OK(tpt_eager_mode_set(TPT_EAGER_STRICT));
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_inputs_are_numbered_once);
  RUN(test_words_tell_wiring_apart);
  RUN(test_a_dead_result_is_forgotten);
  return TEST_RESULT;
}
