// Tests of images: program formats, the serialized form and its damage, fingerprints.
#include "base/allocator.h"
#include "vtpu/plugin_probe.h"

static vtpu_image_t* compile(const char* text) {
  vtpu_image_t* image = NULL;
  CHECK_OK(vtpu_image_compile(text, strlen(text), probe_options, sizeof(probe_options), &image));
  return image;
}

static void test_serialized_form_comes_back(void) {
  vtpu_image_t *image = compile(probe_bump), *again = NULL;
  char* data = NULL;
  size_t size = 0;
  const char *a = NULL, *b = NULL;
  CHECK_OK(vtpu_image_serialize(image, &data, &size));
  CHECK_OK(vtpu_image_deserialize(data, size, &again));
  CHECK_EQ(again->code->param_count, 2);
  CHECK_EQ(again->code->alias_count, 1);
  CHECK_EQ(again->options_size, sizeof(probe_options));
  CHECK_OK(vtpu_image_fingerprint(image, &a));
  CHECK_OK(vtpu_image_fingerprint(again, &b));
  CHECK_EQ(strlen(a), 32);
  CHECK_STR(a, b);
  vtpu_image_release(again);
  vtpu_image_release(image);
  tpt_free(data);
}

static void test_any_damage_is_told(void) {
  vtpu_image_t *image = compile(probe_add), *again = NULL;
  char* data = NULL;
  size_t size = 0;
  int accepted = 0;
  CHECK_OK(vtpu_image_serialize(image, &data, &size));
  for (size_t i = 0; i < size; i++) {
    data[i] ^= 0x10;
    tpt_status_t status = vtpu_image_deserialize(data, size, &again);
    accepted += !status;
    tpt_status_release(status);
    data[i] ^= 0x10;
  }
  for (size_t cut = 0; cut < size; cut++) {
    tpt_status_t status = vtpu_image_deserialize(data, cut, &again);
    accepted += !status;
    tpt_status_release(status);
  }
  CHECK_EQ(accepted, 0);
  CHECK_FAILS(vtpu_image_deserialize(data, size - 1, &again), TPT_DATA_LOSS, "damaged");
  CHECK_FAILS(vtpu_image_deserialize("junk", 4, &again), TPT_INVALID_ARGUMENT, "4 bytes");
  data[8] = 2;
  CHECK_FAILS(vtpu_image_deserialize(data, size, &again), TPT_INVALID_ARGUMENT, "format 2");
  tpt_free(data);
  vtpu_image_release(image);
}

static void test_fingerprints_tell_programs_apart(void) {
  vtpu_image_t *a = compile(probe_add), *b = compile(probe_bump);
  const char *first = NULL, *second = NULL;
  CHECK_OK(vtpu_image_fingerprint(a, &first));
  CHECK_OK(vtpu_image_fingerprint(b, &second));
  CHECK(strcmp(first, second) != 0);
  vtpu_image_release(a);
  vtpu_image_release(b);
}

static tpt_status_t compile_as(const char* code, size_t size, const char* format) {
  vtpu_image_t* image = NULL;
  PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                          .code = (char*)code,
                          .code_size = size,
                          .format = format,
                          .format_size = strlen(format)};
  tpt_status_t status =
      vtpu_program_compile_abi(&program, probe_options, sizeof(probe_options), &image);
  vtpu_image_release(image);
  return status;
}

static void test_formats(void) {
  static const char artifact[] = "ML\xefR\x0dStableHLO_v1.17.0";
  CHECK_OK(compile_as(probe_add, strlen(probe_add), "mlir"));
  CHECK_FAILS(compile_as(artifact, sizeof(artifact), "mlir"), TPT_UNIMPLEMENTED, "bytecode");
  CHECK_FAILS(compile_as(probe_add, 5, "hlo"), TPT_UNIMPLEMENTED, "'hlo'");
  CHECK_FAILS(compile_as(probe_add, 5, "spirv"), TPT_INVALID_ARGUMENT, "'spirv'");
  CHECK_FAILS(compile_as(NULL, 0, "mlir"), TPT_INVALID_ARGUMENT, "program.code is NULL");
  CHECK_FAILS(compile_as(probe_add, 40, "mlir"), TPT_INVALID_ARGUMENT, ":");
}

static void test_lack_of_memory_is_an_error(void) {
  vtpu_image_t* image = NULL;
  tpt_allocator_fail_after(0);
  for (uint64_t n = 1; n < 200; n++) {
    tpt_allocator_fail_after(n);
    tpt_status_t status = vtpu_image_compile(probe_add, strlen(probe_add), probe_options,
                                             sizeof(probe_options), &image);
    tpt_allocator_fail_after(0);
    if (!status) break;
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
  }
  CHECK(image != NULL);
  vtpu_image_release(image);
}

int main(void) {
  RUN(test_serialized_form_comes_back);
  RUN(test_any_damage_is_told);
  RUN(test_fingerprints_tell_programs_apart);
  RUN(test_formats);
  RUN(test_lack_of_memory_is_an_error);
  return TEST_RESULT;
}
