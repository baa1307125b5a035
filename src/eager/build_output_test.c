// Tests of what becomes of results: new tensors, in-place writes and their rules, lowered writes.
#include "eager/test_device.h"

static void test_inplace_rules_speak_as_pytorch_does(void) {
  test_tensor_t f = test_f32(2, (float[]){1, 2}), wide = test_f32(6, (float[6]){0});
  test_tensor_t ints = test_upload(TPT_S64, 1, (int64_t[]){2}, (int64_t[]){1, 2});
  CHECK_FAILS(test_add(&ints, &f, 1, true, NULL), TPT_INVALID_ARGUMENT,
              "result type Float can't be cast to the desired output type Long");
  wide.t.rank = 2;
  wide.sizes[0] = 3;
  wide.sizes[1] = 2;
  test_set_contiguous(&wide);
  CHECK_FAILS(test_add(&f, &wide, 1, true, NULL), TPT_INVALID_ARGUMENT,
              "output with shape [2] doesn't match the broadcast shape [3, 2]");
  test_tensor_t expanded = wide;
  expanded.strides[0] = 0;
  CHECK_FAILS(test_add(&expanded, &f, 1, true, NULL), TPT_INVALID_ARGUMENT,
              "more than one element of the written-to tensor refers to a single memory location");
  TEST_F32(f, 1, 2);
  test_release(&f);
  test_release(&wide);
  test_release(&ints);
}

static void test_running_statistics_are_written(void) {
  int64_t sizes[] = {2, 1, 2};
  test_tensor_t x = test_upload(TPT_F32, 3, sizes, (float[]){1, 2, 3, 6});
  test_tensor_t mean = test_f32(1, (float[]){10}), var = test_f32(1, (float[]){20});
  tpt_arg_t args[8] = {test_arg(test_ref(&x)),
                       {.kind = TPT_ARG_NONE},
                       {.kind = TPT_ARG_NONE},
                       test_arg(test_ref(&mean)),
                       test_arg(test_ref(&var)),
                       {.kind = TPT_ARG_BOOL, .number = {.dtype = TPT_PRED, .i = 1}},
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 0.5}},
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 0}}};
  tpt_call_t call = {.op = tpt_op_find("native_batch_norm"),
                     .args = args,
                     .arg_count = 8,
                     .default_dtype = TPT_F32};
  tpt_result_t* results;
  int count = 0;
  if (CHECK_OK(tpt_call_run(&call, &results, &count))) {
    CHECK_EQ(count, 3);
    for (int i = 0; i < count; i++)
      tpt_storage_release(results[i].storage);
    TEST_F32(mean, 6.5f);  // (10 + 3) / 2
    float got = 0;
    CHECK_OK(tpt_tensor_download(test_ref(&var), &got));
    CHECK_NEAR(got, 0.5 * 20 + 0.5 * 14 / 3.0, 1e-5);  // unbiased
  }
  test_release(&x);
  test_release(&mean);
  test_release(&var);
}

static void test_result_takes_the_written_dtype(void) {
  test_tensor_t half = test_upload(TPT_BF16, 1, (int64_t[]){2}, (uint16_t[]){0x3f80, 0x4000});
  test_tensor_t f = test_f32(2, (float[]){0.5f, 0.5f});
  uint16_t back[2];
  CHECK_OK(test_add(&half, &f, 1, true, NULL));  // computed in f32, stored as bf16
  CHECK_OK(tpt_tensor_download(test_ref(&half), back));
  CHECK_EQ(back[0], 0x3fc0);
  CHECK_EQ(back[1], 0x4020);
  test_release(&half);
  test_release(&f);
}

static void test_bool_storage_becomes_bytes_when_written_as_bytes(void) {
  test_tensor_t flags = test_upload(TPT_PRED, 1, (int64_t[]){4}, (unsigned char[]){1, 0, 1, 1});
  test_tensor_t bytes = flags,
                source = test_upload(TPT_U8, 1, (int64_t[]){2}, (unsigned char[]){7, 9});
  unsigned char back[4];
  bytes.t.dtype = TPT_U8;
  bytes.sizes[0] = 2;
  bytes.t.offset = 1;
  CHECK_OK(tpt_tensor_copy(test_ref(&bytes), test_ref(&source)));
  bytes.sizes[0] = 4;
  bytes.t.offset = 0;
  CHECK_OK(tpt_tensor_download(test_ref(&bytes), back));
  CHECK(memcmp(back, (unsigned char[]){1, 7, 9, 1}, 4) == 0);
  test_release(&flags);
  test_release(&source);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_inplace_rules_speak_as_pytorch_does);
  RUN(test_running_statistics_are_written);
  RUN(test_result_takes_the_written_dtype);
  RUN(test_bool_storage_becomes_bytes_when_written_as_bytes);
  return TEST_RESULT;
}
