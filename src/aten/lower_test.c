// The context of a lowering: requests, arguments, results, broadcasting, the door itself.
#include "aten/call_probe.h"

static void begin(call_t* c, const char* name, const char* args) {
  CHECK(call_begin(c, name, args));
  CHECK_OK(tpt_graph_create(&c->lower.graph));
}

static void test_equal_requests_share_a_parameter(void) {
  call_t c;
  begin(&c, "add.Tensor", "f32[1]: 1; wrap 2.5; s 2");
  tpt_value_t a = tpt_lower_scalar(&c.lower, 2, TPT_F32);
  tpt_value_t b = tpt_lower_scalar(&c.lower, 2, TPT_F32);
  tpt_value_t other_dtype = tpt_lower_scalar(&c.lower, 2, TPT_F64);
  tpt_value_t other_arg = tpt_lower_value_as(&c.lower, 1, TPT_F32);
  CHECK_EQ(a.index, b.index);
  CHECK(a.index != other_dtype.index && a.index != other_arg.index);
  CHECK_EQ(c.lower.request_count, 3);
  CHECK_EQ(c.lower.requests[2].is_tensor, 1);
  CHECK_EQ(c.lower.requests[2].arg, 1);
  CHECK_EQ(c.lower.static_args, 0);
  CHECK_EQ(tpt_lower_number(&c.lower, 2).i, 2);
  CHECK_EQ(c.lower.static_args, 4);
  call_end(&c);
}

static void test_numbers_never_enter_the_program(void) {
  call_t a, b;
  CHECK(call_begin(&a, "add.Tensor", "f32[2]: 1 2; wrap 2.5; s 2"));
  CHECK(call_begin(&b, "add.Tensor", "f32[2]: 1 2; wrap 7.5; s 3"));
  CHECK_OK(call_lower(&a));
  CHECK_OK(call_lower(&b));
  CHECK(tpt_graph_equal(a.lower.graph, b.lower.graph));
  CHECK_EQ(a.lower.static_args, 0);
  call_end(&a);
  call_end(&b);
}

static bool makes_equal_programs(const char* name, const char* first, const char* second) {
  call_t a, b;
  CHECK(call_begin(&a, name, first));
  CHECK(call_begin(&b, name, second));
  CHECK_OK(call_lower(&a));
  CHECK_OK(call_lower(&b));
  bool is_equal = tpt_graph_equal(a.lower.graph, b.lower.graph);
  bool is_same_kind =
      !a.lower.op->params.kind || tpt_lower_kind(&a.lower) == tpt_lower_kind(&b.lower);
  CHECK_EQ(is_equal, is_same_kind);
  call_end(&a);
  call_end(&b);
  return is_equal;
}

static void test_programs_differ_only_by_kind(void) {
  CHECK(makes_equal_programs("pow.Tensor_Scalar", "f32[2]: 1 2; s 2.5", "f32[2]: 1 2; s 7.5"));
  CHECK(!makes_equal_programs("pow.Tensor_Scalar", "f32[2]: 1 2; s 2.0", "f32[2]: 1 2; s 7.5"));
  CHECK(makes_equal_programs("tril", "f32[2,2]: 1 2 3 4; i 1", "f32[2,2]: 1 2 3 4; i -1"));
  CHECK(makes_equal_programs("roll", "f32[3]: 1 2 3; is 1; is 0", "f32[3]: 1 2 3; is 2; is 0"));
}

static void test_a_run_time_input_cannot_be_read(void) {
  call_t c;
  begin(&c, "tril", "f32[2,2]: 1 2 3 4; i 1");
  CHECK_EQ(tpt_lower_int(&c.lower, 1), 1);
  CHECK_FAILS(tpt_graph_status(c.lower.graph), TPT_INTERNAL, "run-time input");
  call_end(&c);
}

static void test_dimensions_wrap(void) {
  int dim = 9;
  CHECK_OK(tpt_wrap_dim(-1, 3, &dim));
  CHECK_EQ(dim, 2);
  CHECK_OK(tpt_wrap_dim(0, 0, &dim));
  CHECK_EQ(dim, 0);
  CHECK_OK(tpt_wrap_dim(-1, 0, &dim));
  CHECK_EQ(dim, 0);
  CHECK_FAILS(tpt_wrap_dim(3, 3, &dim), TPT_OUT_OF_RANGE,
              "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
  CHECK_FAILS(tpt_wrap_dim(INT64_MIN, 1, &dim), TPT_OUT_OF_RANGE, "[-1, 0]");
  CHECK_FAILS(tpt_wrap_dim(1, 0, &dim), TPT_OUT_OF_RANGE, "[-1, 0]");
}

static void test_shapes_meet_or_say_why(void) {
  CHECK_CALL("mul.Tensor", "f32[2,1]: 1 2; f32[3]: 1 2 3", "f32[2,3]: 1 2 3 2 4 6");
  CHECK_CALL("mul.Tensor", "f32[0,1]:; f32[3]: 1 2 3", "f32[0,3]:");
  CHECK_CALL("mul.Tensor", "f32[]: 2; f32[1,1,2]: 1 2", "f32[1,1,2]: 2 4");
  CHECK_CALL_FAILS("mul.Tensor", "f32[2,3]: 1 2 3 4 5 6; f32[4]: 1 2 3 4", TPT_INVALID_ARGUMENT,
                   "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
                   "dimension 1; while lowering aten::mul.Tensor");
}

static void test_the_first_error_is_the_one_told(void) {
  CHECK_CALL_FAILS("add.Tensor", "u16[1]: 1; s32[1]: 1; s 1", TPT_INVALID_ARGUMENT,
                   "Promotion for uint16, uint32, uint64 types is not supported, attempted to "
                   "promote UInt16 and Int");
  CHECK_CALL_FAILS("mul.Tensor", "f32[1]: 1; none", TPT_INVALID_ARGUMENT,
                   "argument 1 (other) must be a tensor, not None");
}

static void test_wrong_argument_counts_are_refused(void) {
  call_t c;
  begin(&c, "mul.Tensor", "f32[1]: 1; f32[1]: 1");
  c.lower.arg_count = 1;
  CHECK_FAILS(tpt_op_lower(&c.lower), TPT_INVALID_ARGUMENT, "1 arguments given, the schema has 2");
  call_end(&c);
}

static void test_undeclared_writes_are_refused(void) {
  call_t c;
  begin(&c, "mul.Tensor", "f32[1]: 1; f32[1]: 1");
  tpt_type_t type = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(c.lower.graph, &type);
  CHECK_OK(tpt_lower_write(&c.lower, 0, 0, x));
  CHECK_EQ(c.lower.write_count, 1);
  CHECK_EQ(c.lower.writes[0].arg, 0);
  CHECK_FAILS(tpt_lower_result(&c.lower, TPT_VALUE_NONE), TPT_INTERNAL, "without a value");
  CHECK_OK(tpt_lower_result_none(&c.lower));
  CHECK(tpt_value_is_none(c.lower.results[0].value));
  call_end(&c);
}

static void test_lack_of_memory_is_a_status(void) {
  for (uint64_t countdown = 1; countdown < 200; countdown++) {
    call_t c;
    CHECK(call_begin(&c, "lerp.Scalar", "f32[2]: 1 2; f32[2]: 3 4; s 0.5"));
    tpt_allocator_fail_after(countdown);
    tpt_status_t status = call_lower(&c);
    tpt_allocator_fail_after(0);
    bool is_done = status == NULL;
    if (status) CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    call_end(&c);
    if (is_done) return;
  }
  CHECK(!"a lowering within 200 allocations");
}

int main(void) {
  RUN(test_equal_requests_share_a_parameter);
  RUN(test_numbers_never_enter_the_program);
  RUN(test_programs_differ_only_by_kind);
  RUN(test_a_run_time_input_cannot_be_read);
  RUN(test_dimensions_wrap);
  RUN(test_shapes_meet_or_say_why);
  RUN(test_the_first_error_is_the_one_told);
  RUN(test_wrong_argument_counts_are_refused);
  RUN(test_undeclared_writes_are_refused);
  RUN(test_lack_of_memory_is_a_status);
  return TEST_RESULT;
}
