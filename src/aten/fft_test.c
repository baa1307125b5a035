// Fourier transforms of short signals, with the scales of each normalization. Complex values are not
// written in tests: spectra are checked through the way back.
#include "aten/call_probe.h"

static void test_spectra_have_the_types_of_pytorch(void) {
  call_t c;
  CHECK(call_begin(&c, "_fft_r2c", "f32[2,6]: 1 2 3 4 5 6 7 8 9 10 11 12; is 1; i 0; b 1"));
  CHECK_OK(call_lower(&c));
  const tpt_type_t* type = tpt_graph_type(c.lower.graph, c.lower.results[0].value);
  CHECK(type->dtype == TPT_C64 && type->dims[0] == 2 && type->dims[1] == 4);
  call_end(&c);
  CHECK(call_begin(&c, "_fft_r2c", "f32[2,6]: 1 2 3 4 5 6 7 8 9 10 11 12; is 1 0; i 0; b 0"));
  CHECK_OK(call_lower(&c));
  type = tpt_graph_type(c.lower.graph, c.lower.results[0].value);
  CHECK(type->dtype == TPT_C64 && type->dims[0] == 2 && type->dims[1] == 6);
  call_end(&c);
}

static void test_memory_order_is_that_of_the_transforms(void) {
  CHECK_CALL_STRIDES("_fft_r2c", "f32[2,3]: 1 2 3 4 5 6; is 0; i 0; b 0", 1, 2);
  CHECK_CALL_STRIDES("_fft_r2c", "f32[2,3]: 1 2 3 4 5 6; is 0 1; i 0; b 0", 3, 1);
}

static void test_what_is_no_signal_is_left_to_the_cpu(void) {
  CHECK_CALL_FAILS("_fft_r2c", "s32[4]: 1 2 3 4; is 0; i 0; b 1", TPT_UNIMPLEMENTED, "_fft_r2c");
  CHECK_CALL_FAILS("_fft_c2c", "f32[4]: 1 2 3 4; is 0; i 0; b 1", TPT_UNIMPLEMENTED, "_fft_c2c");
  CHECK_CALL_FAILS("_fft_r2c", "f32[4]: 1 2 3 4; is 2; i 0; b 1", TPT_OUT_OF_RANGE, "Dimension");
}

int main(void) {
  RUN(test_spectra_have_the_types_of_pytorch);
  RUN(test_memory_order_is_that_of_the_transforms);
  RUN(test_what_is_no_signal_is_left_to_the_cpu);
  return TEST_RESULT;
}
