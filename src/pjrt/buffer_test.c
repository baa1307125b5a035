#include "pjrt/client.h"
#include "pjrt/handle.h"
#include "pjrt/test_plugin.h"

static void round_trip(tpt_client_t* client, tpt_dtype_t dtype, int rank, const int64_t* dims) {
  unsigned char data[512], back[512];
  tpt_type_t type = tpt_type_make(dtype, rank, dims), seen;
  size_t size = (size_t)tpt_type_size(&type), device_size = 0;
  for (size_t i = 0; i < sizeof(data); i++) {
    data[i] = dtype == TPT_PRED ? i % 3 == 0 : (unsigned char)(i * 37 + 11);
  }
  memset(back, 0xEE, sizeof(back));
  tpt_buffer_t* buffer = NULL;
  if (!CHECK_OK(tpt_buffer_from_host(client, 1, &type, size ? data : NULL, &buffer))) return;
  CHECK_OK(tpt_buffer_type(buffer, &seen));
  CHECK(tpt_type_equal(&type, &seen));
  CHECK_OK(tpt_buffer_await(buffer));
  CHECK(tpt_buffer_is_ready(buffer));
  CHECK_OK(tpt_buffer_to_host(buffer, back, size));
  CHECK(memcmp(data, back, size) == 0);
  CHECK_EQ(back[size], 0xEE);
  CHECK_OK(tpt_buffer_size(buffer, &device_size));
  CHECK(device_size >= size);
  CHECK_FAILS(tpt_buffer_to_host(buffer, back, size + 1), TPT_INVALID_ARGUMENT, "download");
  tpt_buffer_release(buffer);
}

static void test_every_dtype_and_rank_comes_back(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  const int64_t dims[4] = {2, 3, 1, 5};
  for (int dtype = TPT_PRED; dtype < TPT_DTYPE_COUNT; dtype++) {
    for (int rank = 0; rank <= 4; rank++) {
      if (rank == 4 && tpt_dtype_size((tpt_dtype_t)dtype) == 16) continue;
      round_trip(client, (tpt_dtype_t)dtype, rank, dims);
    }
  }
  const int64_t empty[3] = {4, 0, 2};
  round_trip(client, TPT_F32, 3, empty);
  round_trip(client, TPT_S64, 2, empty);
  tpt_client_release(client);
}

static void test_upload_copies_before_it_returns(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  float data[64], back[64];
  for (int i = 0; i < 64; i++)
    data[i] = (float)i;
  tpt_buffer_t* buffer = test_buffer(client, 0, data, 64);
  memset(data, 0, sizeof(data));
  CHECK_OK(tpt_buffer_to_host(buffer, back, sizeof(back)));
  for (int i = 0; i < 64; i++)
    CHECK(back[i] == (float)i);
  tpt_buffer_release(buffer);
  tpt_client_release(client);
}

static void test_upload_refuses_bad_requests(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  float data[2] = {0};
  int64_t two = 2;
  tpt_type_t type = tpt_type_make(TPT_F32, 1, &two);
  tpt_buffer_t* buffer = NULL;
  CHECK_FAILS(tpt_buffer_from_host(client, 2, &type, data, &buffer), TPT_OUT_OF_RANGE, "device 2");
  CHECK_FAILS(tpt_buffer_from_host(client, -1, &type, data, &buffer), TPT_OUT_OF_RANGE,
              "device -1");
  CHECK_FAILS(tpt_buffer_from_host(client, 0, &type, NULL, &buffer), TPT_INVALID_ARGUMENT,
              "no data");
  CHECK(buffer == NULL);
  tpt_client_release(client);
}

static void test_copy_to_device_makes_an_independent_buffer(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  const float data[3] = {1, -2, 3.5f};
  float back[3] = {0};
  tpt_buffer_t* source = test_buffer(client, 0, data, 3);
  tpt_buffer_t* copy = NULL;
  if (CHECK_OK(tpt_buffer_copy_to_device(source, 1, &copy))) {
    tpt_buffer_release(source);
    CHECK_OK(tpt_buffer_to_host(copy, back, sizeof(back)));
    CHECK(memcmp(data, back, sizeof(data)) == 0);
    tpt_buffer_t* none = NULL;
    CHECK_FAILS(tpt_buffer_copy_to_device(copy, 1, &none), TPT_INVALID_ARGUMENT, "already");
    CHECK_FAILS(tpt_buffer_copy_to_device(copy, 5, &none), TPT_OUT_OF_RANGE, "device 5");
    tpt_buffer_release(copy);
  }
  tpt_client_release(client);
}

static void test_retain_keeps_the_buffer(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  const float data[1] = {7};
  float back[1] = {0};
  tpt_buffer_t* buffer = test_buffer(client, 0, data, 1);
  CHECK(tpt_buffer_retain(buffer) == buffer);
  tpt_buffer_release(buffer);
  CHECK_OK(tpt_buffer_to_host(buffer, back, sizeof(back)));
  CHECK(back[0] == 7);
  tpt_buffer_release(buffer);
  tpt_buffer_release(NULL);
  tpt_client_release(client);
}

// A result that the program asks for in column-major layout still reads as row-major.
static void test_download_is_row_major_whatever_the_layout(void) {
  static const char text[] =
      "func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {\n"
      "  %b = stablehlo.negate %a : tensor<2x3xf32>\n"
      "  return %b : tensor<2x3xf32>\n"
      "}\n";
  const float data[6] = {1, 2, 3, 4, 5, 6};
  float back[6] = {0};
  const int64_t dims[2] = {2, 3};
  tpt_type_t type = tpt_type_make(TPT_F32, 2, dims);
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = NULL;
  if (client && CHECK_OK(tpt_client_compile(client, text, strlen(text), &executable))) {
    tpt_buffer_t *arg = NULL, *result = NULL;
    CHECK_OK(tpt_buffer_from_host(client, 0, &type, data, &arg));
    tpt_run_params_t params = {.device = 0, .args = &arg, .arg_count = 1};
    CHECK_OK(tpt_executable_run(executable, &params, &result));
    CHECK_OK(tpt_buffer_to_host(result, back, sizeof(back)));
    for (int i = 0; i < 6; i++)
      CHECK(back[i] == -data[i]);
    tpt_buffer_release(result);
    tpt_buffer_release(arg);
  }
  tpt_executable_release(executable);
  tpt_client_release(client);
}

// A buffer that stands for a failure hands it to whoever waits or reads.
static void test_failed_buffer_reports_its_error(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  static const char message[] = "the launch that makes this failed";
  const int64_t dims[1] = {4};
  PJRT_Device_DefaultMemory_Args memory = {.device = client->devices[0].device};
  CHECK_OK(TPT_PJRT_CALL(client->plugin, Device_DefaultMemory, &memory));
  PJRT_Client_CreateErrorBuffer_Args args = {.client = client->client,
                                             .error_code = PJRT_Error_Code_OUT_OF_RANGE,
                                             .error_message = message,
                                             .error_message_size = strlen(message),
                                             .shape_dims = dims,
                                             .shape_num_dims = 1,
                                             .shape_element_type = PJRT_Buffer_Type_F32,
                                             .memory = memory.memory};
  tpt_status_t status = TPT_PJRT_CALL(client->plugin, Client_CreateErrorBuffer, &args);
  tpt_buffer_t* buffer = NULL;
  float back[4];
  if (tpt_status_code(status) == TPT_UNIMPLEMENTED) {
    printf("skip failed buffers: %s\n", tpt_status_message(status));
    tpt_status_release(status);
  } else if (CHECK_OK(status) && CHECK_OK(tpt__buffer_wrap(client, args.buffer, &buffer))) {
    CHECK(tpt_buffer_is_ready(buffer));
    CHECK_FAILS(tpt_buffer_await(buffer), TPT_OUT_OF_RANGE, message);
    CHECK_FAILS(tpt_buffer_to_host(buffer, back, sizeof(back)), TPT_OUT_OF_RANGE, message);
    tpt_buffer_release(buffer);
  }
  tpt_client_release(client);
}

static void run_all(test_plugin_t plugin) {
  RUN_ON(plugin, test_every_dtype_and_rank_comes_back);
  RUN_ON(plugin, test_upload_copies_before_it_returns);
  RUN_ON(plugin, test_upload_refuses_bad_requests);
  RUN_ON(plugin, test_copy_to_device_makes_an_independent_buffer);
  RUN_ON(plugin, test_retain_keeps_the_buffer);
  RUN_ON(plugin, test_download_is_row_major_whatever_the_layout);
  RUN_ON(plugin, test_failed_buffer_reports_its_error);
}

TEST_ON_PLUGINS(run_all)
