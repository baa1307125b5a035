// Reading of ATen schemas: every form that rows use, and text that is not one.
#include "aten/schema.h"
#include "base/check.h"

typedef struct room {
  char text[512];
  tpt_schema_arg_t args[16];
  tpt_arg_kind_t returns[8];
} room_t;

static tpt_schema_pool_t pool_of(room_t* room) {
  return (tpt_schema_pool_t){room->text, 0, sizeof(room->text), room->args, 0, 16, room->returns,
                             0,          8};
}

static void test_schema_names_are_split(void) {
  room_t room;
  tpt_schema_pool_t pool = pool_of(&room);
  tpt_schema_t s;
  CHECK_OK(tpt_schema_parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                            &pool, &s));
  CHECK_STR(s.name, "add.Tensor");
  CHECK_STR(s.base, "add");
  CHECK_STR(s.overload, "Tensor");
  CHECK_EQ(s.arg_count, 3);
  CHECK_STR(s.args[2].name, "alpha");
  CHECK_EQ(s.args[2].kind, TPT_ARG_SCALAR);
  CHECK(s.args[2].is_keyword_only && !s.args[1].is_keyword_only);
  CHECK_EQ(s.return_count, 1);
  CHECK_EQ(s.returns[0], TPT_ARG_TENSOR);
  CHECK_OK(tpt_schema_parse("relu(Tensor self) -> Tensor", &pool, &s));
  CHECK_STR(s.name, "relu");
  CHECK_STR(s.overload, "");
}

static void test_schema_kinds_are_read(void) {
  room_t room;
  tpt_schema_pool_t pool = pool_of(&room);
  tpt_schema_t s;
  CHECK_OK(
      tpt_schema_parse("f(Tensor(a!)? x, Tensor?[] y, Scalar[] z, SymInt[2]? pad=None, bool[3] "
                       "m=[True, False, True], str t=\"a, (b\", ScalarType? d=None, float e=1e-05, "
                       "Layout? l=None, Device? v=None, Generator? g=None, MemoryFormat? "
                       "o=None) -> (Tensor out, Tensor(a!), Tensor[])",
                       &pool, &s));
  const tpt_arg_kind_t want[] = {TPT_ARG_TENSOR, TPT_ARG_TENSORS, TPT_ARG_SCALARS,   TPT_ARG_INTS,
                                 TPT_ARG_BOOLS,  TPT_ARG_STRING,  TPT_ARG_DTYPE,     TPT_ARG_FLOAT,
                                 TPT_ARG_INT,    TPT_ARG_DEVICE,  TPT_ARG_GENERATOR, TPT_ARG_INT};
  CHECK_EQ(s.arg_count, 12);
  for (int i = 0; i < 12; i++)
    CHECK_EQ(s.args[i].kind, want[i]);
  CHECK(s.args[0].is_written && s.args[0].is_optional);
  CHECK(!s.args[1].is_optional && !s.args[1].is_written);
  CHECK(s.args[3].is_optional && !s.args[4].is_optional);
  CHECK_EQ(s.return_count, 3);
  CHECK_EQ(s.returns[2], TPT_ARG_TENSORS);
  CHECK_OK(tpt_schema_parse("g() -> ()", &pool, &s));
  CHECK_EQ(s.arg_count, 0);
  CHECK_EQ(s.return_count, 0);
}

static void test_schema_errors_say_where(void) {
  room_t room;
  tpt_schema_pool_t pool = pool_of(&room);
  tpt_schema_t s;
  static const char* const kBad[][2] = {
      {"", "wanted an operator name"},
      {"f.(Tensor x) -> Tensor", "wanted an overload name"},
      {"f(Tensr x) -> Tensor", ":3: unknown type"},
      {"f(Tensor) -> Tensor", "wanted an argument name"},
      {"f(Tensor x Tensor y) -> Tensor", "wanted \")\""},
      {"f(Tensor x)", "wanted \"->\""},
      {"f(Tensor x) -> Scalar", "a result must be Tensor"},
      {"f(Tensor x) -> Tensor, Tensor", "text after the results"},
      {"f(str[] x) -> Tensor", "no such list"},
      {"f(int x=[1) -> Tensor", "unterminated default value"},
      {"f(Tensor(a! x) -> Tensor", "wanted"},
  };
  for (size_t i = 0; i < sizeof(kBad) / sizeof(*kBad); i++)
    CHECK_FAILS(tpt_schema_parse(kBad[i][0], &pool, &s), TPT_INVALID_ARGUMENT, kBad[i][1]);
}

static void test_schema_full_pools_are_refused(void) {
  const char* text = "add.Tensor(Tensor self, Tensor other) -> (Tensor, Tensor)";
  room_t room;
  tpt_schema_t s;
  tpt_schema_pool_t pool = pool_of(&room);
  pool.arg_capacity = 1;
  CHECK_FAILS(tpt_schema_parse(text, &pool, &s), TPT_INVALID_ARGUMENT, "argument pool is full");
  pool = pool_of(&room);
  pool.return_capacity = 1;
  CHECK_FAILS(tpt_schema_parse(text, &pool, &s), TPT_INVALID_ARGUMENT, "result pool is full");
  pool = pool_of(&room);
  pool.text_capacity = 8;
  CHECK_FAILS(tpt_schema_parse(text, &pool, &s), TPT_INVALID_ARGUMENT, "text pool is full");
}

static void test_schema_every_cut_is_refused(void) {
  const char* text =
      "f.x(Tensor(a!) self, int[2] dims=[0, 1], *, str? s=\"q\") -> (Tensor, Tensor)";
  char cut[128];
  for (size_t size = 0; size < strlen(text); size++) {
    room_t room;
    tpt_schema_pool_t pool = pool_of(&room);
    tpt_schema_t s;
    memcpy(cut, text, size);
    cut[size] = 0;
    CHECK_FAILS(tpt_schema_parse(cut, &pool, &s), TPT_INVALID_ARGUMENT, "schema");
  }
}

int main(void) {
  RUN(test_schema_names_are_split);
  RUN(test_schema_kinds_are_read);
  RUN(test_schema_errors_say_where);
  RUN(test_schema_full_pools_are_refused);
  RUN(test_schema_every_cut_is_refused);
  return TEST_RESULT;
}
