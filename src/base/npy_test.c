#include <stdlib.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/check.h"
#include "base/npy.h"
#include "base/str.h"

static char path[] = "/tmp/tpt_npy_XXXXXX";

// A file in memory: version, dictionary, data.
static void make(tpt_str_t* out, int version, const char* header, const void* data, size_t size) {
  size_t header_size = strlen(header);
  tpt_str_clear(out);
  tpt_str_append(out, "\x93NUMPY", 6);
  tpt_str_append_char(out, (char)version);
  tpt_str_append_char(out, 0);
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) {
    tpt_str_append_char(out, (char)(header_size >> 8 * i));
  }
  tpt_str_append_cstr(out, header);
  tpt_str_append(out, data, size);
}

static void check_refused(const char* header, size_t data_size, tpt_code_t code, const char* text) {
  char data[64] = {0};
  tpt_str_t file;
  tpt_npy_t npy;
  tpt_str_init(&file);
  make(&file, 1, header, data, data_size);
  CHECK_FAILS(tpt_npy_parse(file.data, file.size, "x.npy", &npy), code, text);
  CHECK(npy.data == NULL);
  tpt_npy_deinit(&npy);
  tpt_str_deinit(&file);
}

static void test_written_arrays_read_back(void) {
  static const int64_t dims[3] = {2, 1, 3};
  for (int dtype = TPT_PRED; dtype < TPT_DTYPE_COUNT; dtype++) {
    if (dtype == TPT_BF16) continue;
    for (int rank = 0; rank <= 3; rank++) {
      unsigned char data[96];
      for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = dtype == TPT_PRED ? i % 2 : (unsigned char)(i * 31 + 7);
      }
      tpt_type_t type = tpt_type_make((tpt_dtype_t)dtype, rank, dims);
      tpt_npy_t npy;
      if (!CHECK_OK(tpt_npy_write(path, &type, data))) continue;
      if (!CHECK_OK(tpt_npy_read(path, &npy))) continue;
      CHECK_EQ(npy.type.dtype, dtype);
      CHECK_EQ(npy.type.rank, rank);
      for (int i = 0; i < rank; i++)
        CHECK_EQ(npy.type.dims[i], dims[i]);
      CHECK(memcmp(npy.data, data, npy.size) == 0);
      tpt_npy_deinit(&npy);
    }
  }
}

static void test_bf16_is_written_as_f32(void) {
  const uint16_t data[3] = {0x3F80, 0xC040, 0x7FC1};  // 1, -3, a NaN
  int64_t three = 3;
  tpt_type_t type = tpt_type_make(TPT_BF16, 1, &three);
  tpt_npy_t npy;
  CHECK_OK(tpt_npy_write(path, &type, data));
  if (!CHECK_OK(tpt_npy_read(path, &npy))) return;
  CHECK_EQ(npy.type.dtype, TPT_F32);
  CHECK_EQ(npy.size, 12);
  CHECK(((float*)npy.data)[0] == 1 && ((float*)npy.data)[1] == -3);
  CHECK_EQ(((uint32_t*)npy.data)[2], 0x7FC10000u);
  tpt_npy_deinit(&npy);
}

static void test_empty_arrays_keep_their_shape(void) {
  const int64_t dims[2] = {0, 5};
  tpt_type_t type = tpt_type_make(TPT_S32, 2, dims);
  tpt_npy_t npy;
  CHECK_OK(tpt_npy_write(path, &type, NULL));
  if (!CHECK_OK(tpt_npy_read(path, &npy))) return;
  CHECK(npy.data != NULL);
  CHECK_EQ(npy.size, 0);
  CHECK_EQ(npy.type.dims[1], 5);
  tpt_npy_deinit(&npy);
}

static void test_fortran_order_becomes_row_major(void) {
  // a[i][j][k] = 100 i + 10 j + k with dimensions 2, 3, 2, first index fastest.
  int16_t data[12];
  for (int i = 0; i < 12; i++)
    data[i] = (int16_t)(100 * (i % 2) + 10 * (i / 2 % 3) + i / 6);
  tpt_str_t file;
  tpt_npy_t npy;
  tpt_str_init(&file);
  make(&file, 2, "{'shape': (2, 3, 2), 'fortran_order': True, \"descr\": '<i2'}", data,
       sizeof(data));
  if (CHECK_OK(tpt_npy_parse(file.data, file.size, "x.npy", &npy))) {
    const int16_t* values = npy.data;
    for (int i = 0; i < 12; i++)
      CHECK_EQ(values[i], 100 * (i / 6) + 10 * (i / 2 % 3) + i % 2);
    tpt_npy_deinit(&npy);
  }
  tpt_str_deinit(&file);
}

static void test_other_byte_order_is_swapped(void) {
  const unsigned char data[16] = {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0, 0x40, 0x40, 0, 0, 0, 0, 0, 0};
  tpt_str_t file;
  tpt_npy_t npy;
  tpt_str_init(&file);
  make(&file, 1, "{'descr': '>c8', 'fortran_order': False, 'shape': (2,), }  \n", data, 16);
  if (CHECK_OK(tpt_npy_parse(file.data, file.size, "x.npy", &npy))) {
    const float* values = npy.data;
    CHECK(values[0] == 1 && values[1] == -2 && values[2] == 3 && values[3] == 0);
    tpt_npy_deinit(&npy);
  }
  make(&file, 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (3L,)}", "\0\2\1", 3);
  if (CHECK_OK(tpt_npy_parse(file.data, file.size, "x.npy", &npy))) {
    CHECK(memcmp(npy.data, "\0\1\1", 3) == 0);  // a bool is 0 or 1
    tpt_npy_deinit(&npy);
  }
  make(&file, 1, "{'descr': '<V2', 'fortran_order': False, 'shape': ()}", "\x80\x3F", 2);
  if (CHECK_OK(tpt_npy_parse(file.data, file.size, "x.npy", &npy))) {
    CHECK_EQ(npy.type.dtype, TPT_BF16);
    CHECK_EQ(npy.type.rank, 0);
    tpt_npy_deinit(&npy);
  }
  tpt_str_deinit(&file);
}

static void test_damaged_files_are_refused(void) {
  const char* good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  check_refused(good, 15, TPT_DATA_LOSS, "15 bytes");
  check_refused(good, 17, TPT_DATA_LOSS, "17 bytes");
  const char* bad[] = {
      "",
      "{}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} more",
      "{'descr': '<f4', 'descr': '<f4', 'shape': (2, 2)}",
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    check_refused(bad[i], 16, TPT_DATA_LOSS, "header");
  }
  check_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 1)}", 0,
                TPT_DATA_LOSS, "shape");
  check_refused("{'descr': '<U3', 'fortran_order': False, 'shape': (2, 2)}", 16, TPT_UNIMPLEMENTED,
                "<U3");
  check_refused("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}", 16, TPT_UNIMPLEMENTED,
                "|O");
  check_refused(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4)}", 16,
      TPT_UNIMPLEMENTED, "rank 17");
  tpt_npy_t npy;
  CHECK_FAILS(tpt_npy_read("/nowhere/x.npy", &npy), TPT_NOT_FOUND, "/nowhere/x.npy");
  tpt_type_t type = tpt_type_scalar(TPT_F32);
  CHECK_FAILS(tpt_npy_write("/nowhere/x.npy", &type, "abcd"), TPT_NOT_FOUND, "/nowhere/x.npy");
}

// Every prefix of a good file is refused, and no byte of its head can be changed into a crash.
static void test_every_cut_and_changed_byte_is_safe(void) {
  float data[4] = {1, 2, 3, 4};
  tpt_str_t file;
  tpt_str_init(&file);
  make(&file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", data, 16);
  for (size_t size = 0; size < file.size; size++) {
    tpt_npy_t npy;
    unsigned char* copy =
        tpt_malloc(size ? size : 1);  // exact, so that a sanitizer sees an overrun
    memcpy(copy, file.data, size);
    tpt_status_t status = tpt_npy_parse(copy, size, "x.npy", &npy);
    CHECK(status != NULL);
    tpt_status_release(status);
    tpt_free(copy);
  }
  for (size_t at = 0; at < file.size - 16; at++) {
    for (int value = 0; value < 256; value++) {
      tpt_npy_t npy;
      char old = file.data[at];
      file.data[at] = (char)value;
      tpt_status_release(tpt_npy_parse(file.data, file.size, "x.npy", &npy));
      tpt_npy_deinit(&npy);
      file.data[at] = old;
    }
  }
  tpt_str_deinit(&file);
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  RUN(test_written_arrays_read_back);
  RUN(test_bf16_is_written_as_f32);
  RUN(test_empty_arrays_keep_their_shape);
  RUN(test_fortran_order_becomes_row_major);
  RUN(test_other_byte_order_is_swapped);
  RUN(test_damaged_files_are_refused);
  RUN(test_every_cut_and_changed_byte_is_safe);
  unlink(path);
  return TEST_RESULT;
}
