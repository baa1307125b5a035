// Tests of the reader: every printed op reads back equal, texts of JAX read, errors name their place,
// and no mutation of a text does more than fail.
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "base/allocator.h"
#include "base/check.h"
#include "hlo/print.h"
#include "hlo/read.h"
#include "hlo/sample.h"

static tpt_graph_t* read_text(const char* text) {
  tpt_graph_t* g = NULL;
  CHECK_OK(tpt_graph_read(text, strlen(text), &g));
  return g;
}

static void check_fails(const char* text, tpt_code_t code, const char* part) {
  tpt_graph_t* g;
  CHECK_FAILS(tpt_graph_read(text, strlen(text), &g), code, part);
  CHECK(g == NULL);
}

static void test_every_op_reads_as_printed(void) {
  tpt_graph_t* g;
  if (!CHECK_OK(tpt_graph_create(&g))) return;
  for (int op = 0; op < TPT_HLO_COUNT; op++) {
    tpt_str_t text;
    tpt_str_init(&text);
    tpt_graph_reset(g);
    sample_build(g, (tpt_hlo_t)op);
    if (CHECK_OK(tpt_graph_print(g, &text))) {
      tpt_graph_t* again = read_text(text.data);
      if (again) CHECK(tpt_graph_equal(g, again));
      if (again) CHECK_EQ(tpt_graph_hash(g), tpt_graph_hash(again));
      if (again && !tpt_graph_equal(g, again)) printf("%s\n", text.data);
      tpt_graph_release(again);
    }
    tpt_str_deinit(&text);
  }
  tpt_graph_release(g);
}

static void test_aliases_are_read(void) {
  tpt_graph_t* g = read_text(
      "func.func @main(%a: tensor<2xf32> {jax.buffer_donor = true}, %b: tensor<f32>,\n"
      "  %c: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2xf32>, tensor<2xf32>) {\n"
      "  return %a, %c : tensor<2xf32>, tensor<2xf32>\n}");
  if (!g) return;
  CHECK_EQ(tpt_graph_alias_of(g, 0), 1);
  CHECK_EQ(tpt_graph_alias_of(g, 1), -1);
  CHECK_EQ(tpt_graph_alias_of(g, 2), 0);
  CHECK_EQ(tpt_graph_block(g, 0).first_arg, 0);
  tpt_graph_release(g);
}

static void test_pretty_forms_mean_the_generic(void) {
  static const char pretty[] =
      "module @m attributes {mhlo.num_partitions = 1 : i32} {\n"
      "  // a comment\n"
      "  func.func public @main(%arg0: tensor<4x6xf32> loc(\"x\"), %arg1: tensor<i32>) -> "
      "(tensor<2x3xf32> {jax.result_info = \"r\"}) attributes {a = \"}\"} {\n"
      "    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32> loc(unknown)\n"
      "    %0 = stablehlo.slice %arg0 [0:4, 1:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>\n"
      "    %1:2 = call @f(%0, %arg1) : (tensor<4x3xf32>, tensor<i32>) -> (tensor<2x3xf32>, "
      "tensor<i32>)\n"
      "    %2 = stablehlo.compare  GT, %1#0, %1#0,  TOTALORDER : (tensor<2x3xf32>, "
      "tensor<2x3xf32>) -> "
      "tensor<2x3xi1>\n"
      "    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>\n"
      "    %4 = stablehlo.select %2, %1#0, %3 : tensor<2x3xi1>, tensor<2x3xf32>\n"
      "    return %4 : tensor<2x3xf32>\n"
      "  }\n"
      "  func.func private @f(%arg0: tensor<4x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32>, "
      "tensor<i32>) {\n"
      "    %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [2, 3] : (tensor<4x3xf32>, "
      "tensor<i32>, tensor<i32>) -> tensor<2x3xf32>\n"
      "    return %0, %arg1 : tensor<2x3xf32>, tensor<i32>\n"
      "  }\n"
      "}\n"
      "#loc = loc(\"f.py\":1:2)\n";
  tpt_graph_t* read = read_text(pretty);
  tpt_graph_t* g;
  if (!read || !CHECK_OK(tpt_graph_create(&g))) return;
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(4, 6));
  tpt_value_t i = sample_parameter(g, TPT_S32, 0, NULL);
  tpt_value_t infinity = tpt_hlo_scalar_f64(g, TPT_F32, INFINITY);
  x = tpt_hlo_slice(g, x, SAMPLE_DIMS(0, 1), SAMPLE_DIMS(4, 6), SAMPLE_DIMS(1, 2));
  x = tpt_hlo_dynamic_slice(g, x, (tpt_value_t[]){i, i}, SAMPLE_DIMS(2, 3));
  tpt_attr_t attrs[2] = {{.is_set = true, .i = TPT_GT},
                         {.is_set = true, .i = TPT_COMPARE_TOTALORDER}};
  tpt_value_t greater = tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_COMPARE,
                                                                 .operands = (tpt_value_t[]){x, x},
                                                                 .operand_count = 2,
                                                                 .attrs = attrs});
  tpt_value_t full = tpt_hlo_broadcast_to(g, infinity, 2, SAMPLE_DIMS(2, 3));
  x = tpt_hlo_select(g, greater, x, full);
  tpt_graph_return(g, &x, 1);
  CHECK_OK(tpt_graph_status(g));
  CHECK(tpt_graph_equal(g, read));
  tpt_graph_release(g);
  tpt_graph_release(read);
}

static void test_constants_read_exactly(void) {
  tpt_graph_t* g = read_text(
      "func.func @main() -> tensor<3xf32> {\n"
      "  %a = stablehlo.constant dense<[1.000000e-01, -0.0, 16777217.0]> : tensor<3xf32>\n"
      "  %b = stablehlo.constant dense<\"0x05\"> : tensor<9xi1>\n"
      "  %c = stablehlo.constant dense<\"0x0501\"> : tensor<9xi1>\n"
      "  %d = stablehlo.constant dense<18446744073709551615> : tensor<ui64>\n"
      "  %e = stablehlo.constant dense<[-128, 255]> : tensor<2xi8>\n"
      "  %f = stablehlo.constant dense<(1.5,-2.0)> : tensor<complex<f64>>\n"
      "  %g = stablehlo.constant dense<1.7976931348623157e308> : tensor<f64>\n"
      "  %h = stablehlo.constant dense<\"0x0000803F\"> : tensor<5xf32>\n"
      "  return %a : tensor<3xf32>\n}");
  if (!g) return;
  static const float expected[3] = {0.1f, -0.0f, 16777216.0f};
  CHECK(memcmp(tpt_graph_node(g, 0)->attrs[0].bytes, expected, sizeof(expected)) == 0);
  CHECK_EQ(tpt_graph_node(g, 1)->attrs[0].count, 1);
  CHECK_EQ(*(const char*)tpt_graph_node(g, 1)->attrs[0].bytes, 1);
  CHECK(memcmp(tpt_graph_node(g, 2)->attrs[0].bytes, "\1\0\1\0\0\0\0\0\1", 9) == 0);
  CHECK_EQ(*(const int64_t*)tpt_graph_node(g, 3)->attrs[0].bytes, -1);
  CHECK(memcmp(tpt_graph_node(g, 4)->attrs[0].bytes, "\x80\xff", 2) == 0);
  CHECK_EQ(((const double*)tpt_graph_node(g, 5)->attrs[0].bytes)[1], -2);
  CHECK(*(const double*)tpt_graph_node(g, 6)->attrs[0].bytes == 1.7976931348623157e308);
  tpt_number_t number;
  CHECK(tpt_graph_splat(g, tpt_node_result(tpt_graph_node(g, 7), 0), &number) && number.f == 1);
  tpt_graph_release(g);
}

static void test_errors_name_their_place(void) {
  check_fails("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
              "  %0 = stablehlo.frob %a : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
              TPT_UNIMPLEMENTED, "2:3: operation 'stablehlo.frob' is not supported");
  check_fails("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
              "  %0 = chlo.erf %a : tensor<2xf32> -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
              TPT_UNIMPLEMENTED, "2:3: operation 'chlo.erf'");
  check_fails("func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n"
              "  %0 = stablehlo.add %a, %a : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}",
              TPT_INVALID_ARGUMENT, "2:3: stablehlo.add: the named result type is not the op's");
  check_fails(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %b : tensor<2xf32>\n}",
      TPT_INVALID_ARGUMENT, "2:11: %b is not defined here");
  check_fails(
      "func.func @main(%a: tensor<?xf32>) -> tensor<2xf32> {\n return %a : tensor<2xf32>\n}",
      TPT_UNIMPLEMENTED, "1:21: dynamic dimensions");
  check_fails("func.func @main(%a: tensor<2xf8E4M3FN>) -> () {\n return\n}", TPT_UNIMPLEMENTED,
              "element type 'f8E4M3FN'");
  check_fails("func.func @main(%a: tensor<99999999999x99999999999xf32>) { return }",
              TPT_INVALID_ARGUMENT, "63 bits");
  check_fails("module {}", TPT_INVALID_ARGUMENT, "there is no function @main");
  check_fails("", TPT_INVALID_ARGUMENT, "1:1: there is no function @main");
  check_fails("module {", TPT_INVALID_ARGUMENT, "the text ends where '}'");
  check_fails("func.func @main() {\n  return", TPT_INVALID_ARGUMENT, "not closed");
  check_fails("func.func @main() { return } trailing", TPT_UNIMPLEMENTED, "module level");
  check_fails(
      "func.func @main() {\n %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n return\n}",
      TPT_INVALID_ARGUMENT, "2:");
  check_fails("func.func @main() {\n %0 = stablehlo.constant dense<300> : tensor<i8>\n return\n}",
              TPT_INVALID_ARGUMENT, "does not fit i8");
  check_fails(
      "func.func @main() {\n %0 = \"stablehlo.constant\"() {value = dense<1> : tensor<i8>} : "
      "() -> tensor<i64>\n return\n}",
      TPT_INVALID_ARGUMENT, "one type");
  check_fails("func.func @main(%a: tensor<f32>, %a: tensor<f32>) {\n return\n}",
              TPT_INVALID_ARGUMENT, "%a is defined twice");
  check_fails(
      "func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
      "%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <f> : "
      "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\nreturn %0 : tensor<2x2xf32>\n}",
      TPT_UNIMPLEMENTED, "'algorithm'");
}

static void test_recursion_is_bounded(void) {
  check_fails("func.func @main() {\n call @main() : () -> ()\n return\n}", TPT_UNIMPLEMENTED,
              "recursion");
  tpt_str_t text;
  tpt_str_init(&text);
  tpt_str_append_cstr(&text, "func.func @main() {\n call @f0() : () -> ()\n return\n}\n");
  for (int i = 0; i < 60; i++)
    tpt_str_printf(
        &text, "func.func @f%d() {\n call @f%d() : () -> ()\n call @f%d() : () -> ()\n return\n}\n",
        i, i + 1, i + 1);
  tpt_str_append_cstr(&text, "func.func @f60() {\n return\n}\n");
  check_fails(text.data, TPT_UNIMPLEMENTED, "too large");
  tpt_str_clear(&text);
  tpt_str_append_cstr(&text, "func.func @main(%p: tensor<i1>) {\n");
  for (int i = 0; i < 1000; i++)
    tpt_str_append_cstr(&text, "\"stablehlo.if\"(%p) ({\n");
  check_fails(text.data, TPT_INVALID_ARGUMENT, "not closed");
  for (int i = 0; i < 1000; i++)
    tpt_str_append_cstr(&text, "}) : (tensor<i1>) -> ()\n");
  tpt_str_append_cstr(&text, "return }");
  check_fails(text.data, TPT_UNIMPLEMENTED, "nest deeper");
  tpt_str_clear(&text);
  tpt_str_append_cstr(&text, "func.func @main() { %0 = stablehlo.constant dense<");
  for (int i = 0; i < 100000; i++)
    tpt_str_append_char(&text, '[');
  check_fails(text.data, TPT_INVALID_ARGUMENT, "1:");
  tpt_str_deinit(&text);
}

// --- files of other makers ------------------------------------------------------------------------------

static char* load(const char* name, size_t* out_size) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", TPUTORCH_TEST_DATA, name);
  FILE* file = fopen(path, "rb");
  char* text = file ? malloc(1 << 20) : NULL;
  *out_size = text ? fread(text, 1, (1 << 20) - 1, file) : 0;
  if (text) text[*out_size] = 0;
  if (file) fclose(file);
  return text;
}

typedef void (*file_fn_t)(const char* name, char* text, size_t size);

static int for_each_file(file_fn_t fn) {
  int count = 0;
  DIR* folder = opendir(TPUTORCH_TEST_DATA);
  for (struct dirent* entry; folder && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name), size;
    if (length < 5 || strcmp(entry->d_name + length - 5, ".mlir") != 0) continue;
    char* text = load(entry->d_name, &size);
    if (text) fn(entry->d_name, text, size);
    free(text);
    count++;
  }
  if (folder) closedir(folder);
  return count;
}

static void check_file(const char* name, char* text, size_t size) {
  tpt_graph_t* g;
  tpt_status_t status = tpt_status_note(tpt_graph_read(text, size, &g), "in %s", name);
  if (!CHECK_OK(status)) return;
  tpt_str_t printed;
  tpt_str_init(&printed);
  if (CHECK_OK(tpt_graph_print(g, &printed))) {
    tpt_graph_t* again = read_text(printed.data);
    if (again) CHECK(tpt_graph_equal(g, again));
    tpt_graph_release(again);
  }
  tpt_str_deinit(&printed);
  tpt_graph_release(g);
}

static void test_files_of_jax_read(void) {
  CHECK(for_each_file(check_file) >= 10);
}

static void test_pretty_and_generic_files_agree(void) {
  static const char* const names[] = {"jax_mlp_step", "jax_indexing", "jax_misc"};
  for (int i = 0; i < 3; i++) {
    char name[64];
    size_t size;
    tpt_graph_t *pretty = NULL, *generic = NULL;
    snprintf(name, sizeof(name), "%s.mlir", names[i]);
    char* text = load(name, &size);
    if (text) CHECK_OK(tpt_graph_read(text, size, &pretty));
    free(text);
    snprintf(name, sizeof(name), "%s_generic.mlir", names[i]);
    text = load(name, &size);
    if (text) CHECK_OK(tpt_graph_read(text, size, &generic));
    free(text);
    CHECK(pretty && generic && tpt_graph_equal(pretty, generic));
    tpt_graph_release(pretty);
    tpt_graph_release(generic);
  }
}

// --- mutations ------------------------------------------------------------------------------------------

static uint64_t random_state = 1;
static uint32_t next_random(uint32_t limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % limit;
}

static void mutate(char* text, size_t* inout_size, size_t capacity) {
  static const char spice[] = "%#<>(){}[]:,=\"0123456789-xfi?^@ \n";
  for (uint32_t edits = 1 + next_random(3); edits; edits--) {
    size_t size = *inout_size;
    if (size < 64) return;
    size_t at = next_random((uint32_t)size), length = 1 + next_random(20),
           from = next_random((uint32_t)size);
    switch (next_random(4)) {
    case 0:
      text[at] = spice[next_random(sizeof(spice) - 1)];
      break;
    case 1:
      if (at + length > size) length = size - at;
      memmove(text + at, text + at + length, size - at - length);
      *inout_size -= length;
      break;
    case 2:
      if (at + length <= size && from + length <= size) memmove(text + at, text + from, length);
      break;
    default:
      if (size + length > capacity || from + length > size) break;
      memmove(text + at + length, text + at, size - at);
      memmove(text + at, text + from, length);
      *inout_size += length;
      break;
    }
  }
}

static int read_count, failed_count;

static void mutate_file(const char* name, char* text, size_t size) {
  (void)name;
  for (int round = 0; round < 300; round++) {
    size_t mutant_size = size;
    // The exact size on the heap, so that a sanitizer sees any read behind the end.
    char* work = malloc(size + 100);
    memcpy(work, text, size);
    mutate(work, &mutant_size, size + 100);
    char* mutant = malloc(mutant_size);
    memcpy(mutant, work, mutant_size);
    tpt_graph_t* g;
    tpt_status_t status = tpt_graph_read(mutant, mutant_size, &g);
    read_count++;
    failed_count += status != NULL;
    CHECK((status == NULL) == (g != NULL));
    if (g) (void)tpt_graph_hash(g);
    tpt_status_release(status);
    tpt_graph_release(g);
    free(mutant);
    free(work);
  }
}

static void test_mutations_only_fail(void) {
  for_each_file(mutate_file);
  printf("     %d mutants, %d refused\n", read_count, failed_count);
  CHECK(read_count >= 3000);
  CHECK(failed_count > read_count / 4 && failed_count < read_count);
}

static void test_truncations_only_fail(void) {
  size_t size;
  char* text = load("jax_switch.mlir", &size);
  for (size_t cut = 0; text && cut + 2 < size; cut++) {
    char* part = malloc(cut + 1);
    memcpy(part, text, cut);
    tpt_graph_t* g;
    tpt_status_t status = tpt_graph_read(part, cut, &g);
    CHECK(status != NULL);
    tpt_status_release(status);
    free(part);
  }
  free(text);
}

static void test_every_failed_allocation_is_reported(void) {
  size_t size;
  char* text = load("jax_indexing.mlir", &size);
  for (uint64_t n = 1; text; n++) {
    tpt_graph_t* g;
    tpt_allocator_fail_after(n);
    tpt_status_t status = tpt_graph_read(text, size, &g);
    tpt_allocator_fail_after(0);
    tpt_graph_release(g);
    if (!status) break;
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    CHECK(n < 1000);
  }
  free(text);
}

static void test_reading_is_cheap(void) {
  tpt_graph_t* g;
  tpt_str_t text;
  tpt_str_init(&text);
  if (!CHECK_OK(tpt_graph_create(&g))) return;
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(32, 64));
  for (int i = 0; i < 10; i++)
    x = tpt_hlo_binary(g, TPT_HLO_ADD, x, x);
  tpt_graph_return(g, &x, 1);
  CHECK_OK(tpt_graph_print(g, &text));
  tpt_graph_release(g);
  double best = 1;
  for (int round = 0; round < 50; round++) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    g = read_text(text.data);
    clock_gettime(CLOCK_MONOTONIC, &end);
    tpt_graph_release(g);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (seconds < best) best = seconds;
  }
  printf("     10 ops, %zu bytes in %.1f us\n", text.size, best * 1e6);
  CHECK(best < 200e-6);  // a tenfold margin for sanitizers and busy machines
  tpt_str_deinit(&text);
}

static void test_declared_results_are_what_is_returned(void) {
  check_fails("func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n"
              "  return %a : tensor<2xf32>\n}",
              TPT_INVALID_ARGUMENT, "result 0 is declared as tensor<3xf32>, but tensor<2xf32>");
  check_fails("func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32> {x = 1 : i32}, tensor<f32>) {\n"
              "  return %a : tensor<2xf32>\n}",
              TPT_INVALID_ARGUMENT, "2 results are declared, but 1 are returned");
}

int main(void) {
  RUN(test_every_op_reads_as_printed);
  RUN(test_aliases_are_read);
  RUN(test_pretty_forms_mean_the_generic);
  RUN(test_constants_read_exactly);
  RUN(test_errors_name_their_place);
  RUN(test_recursion_is_bounded);
  RUN(test_files_of_jax_read);
  RUN(test_pretty_and_generic_files_agree);
  RUN(test_mutations_only_fail);
  RUN(test_truncations_only_fail);
  RUN(test_every_failed_allocation_is_reported);
  RUN(test_reading_is_cheap);
  RUN(test_declared_results_are_what_is_returned);
  return TEST_RESULT;
}
