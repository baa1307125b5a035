// Reasons of windows: the nearest earlier window is the one with the longest common beginning.
#include "eager/fused_reason.h"
#include "eager/test_device.h"

static tpt_entry_t entries[4] = {
    {.refs = 1, .label = "add.Tensor"},
    {.refs = 1, .label = "mul.Tensor"},
    {.refs = 1, .label = "neg"},
    {.refs = 1, .label = "relu"},
};

// The reason of a window of these entries after windows of others; 0 ends a list, 1 is the first entry.
static const char* reason_of(const int* window, const int (*before)[4], int before_count) {
  static char copy[512];
  tpt_record_t records[4] = {0};
  tpt_program_t programs[4] = {0};
  tpt_entry_t* calls[4][4];
  tpt_table_t table = {0};
  tpt_device_t device = {0};
  tpt_trace_t trace = {.device = &device, .records = records};
  tpt_str_t text;
  for (; trace.record_count < 4 && window[trace.record_count]; trace.record_count++)
    records[trace.record_count].entry = &entries[window[trace.record_count] - 1];
  for (int i = 0; i < before_count; i++) {
    programs[i].calls = calls[i];
    programs[i].last_run = (uint64_t)i;
    for (int k = 0; k < 4 && before[i][k]; k++)
      calls[i][programs[i].call_count++] = &entries[before[i][k] - 1];
    CHECK_OK(tpt_table_add(&table, (uint64_t)i, &programs[i]));
  }
  tpt_str_init(&text);
  tpt_fused_append_reason(&text, &trace, &table);
  snprintf(copy, sizeof(copy), "%s", text.data);
  tpt_str_deinit(&text);
  tpt_table_deinit(&table);
  return copy;
}

static void test_the_longest_common_beginning_is_compared_with(void) {
  const int window[4] = {1, 2, 3, 0};
  const int before[3][4] = {{1, 2, 4, 0}, {1, 3, 3, 0}, {2, 0}};
  CHECK_STR(reason_of(window, before, 0), "first window of calls, up to call 3 of 3, aten::neg");
  CHECK_STR(reason_of(window, before, 3), "new call 3 of 3, aten::neg, was aten::relu");
  CHECK_STR(reason_of(window, before + 1, 2), "new call 2 of 3, aten::mul.Tensor, was aten::neg");
  CHECK_STR(reason_of(window, before + 2, 1),
            "new call 1 of 3, aten::add.Tensor, was aten::mul.Tensor");
}

static void test_lengths_and_kept_values(void) {
  const int window[4] = {1, 2, 0};
  const int longer[1][4] = {{1, 2, 3, 0}}, same[1][4] = {{1, 2, 0}};
  CHECK_STR(reason_of(window, longer, 1),
            "new length 2, was 3: the window ends with call 2 of 2, aten::mul.Tensor");
  CHECK_STR(
      reason_of(window, same, 1),
      "the same 2 calls with other values that are still needed, or shared, up to call 2 of 2, "
      "aten::mul.Tensor");
}

int main(void) {
  RUN(test_the_longest_common_beginning_is_compared_with);
  RUN(test_lengths_and_kept_values);
  return TEST_RESULT;
}
