// A table made here stands for a plugin, so that gating and errors are tested without one.
#include "base/check.h"
#include "pjrt/call.h"

struct PJRT_Error {
  int code;
  const char* message;
};

static int errors_alive;
static struct PJRT_Error one_error;

static PJRT_Error* fail(int code, const char* message) {
  one_error = (struct PJRT_Error){code, message};
  errors_alive++;
  return &one_error;
}
static void error_destroy(PJRT_Error_Destroy_Args* args) {
  if (args->error) errors_alive--;
}
static void error_message(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  args->message_size = args->error->message ? strlen(args->error->message) : 0;
}
static PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  args->code = (PJRT_Error_Code)args->error->code;
  return NULL;
}

static size_t seen_size;
static int next_code;
static const char* next_message;
static PJRT_Error* client_destroy(PJRT_Client_Destroy_Args* args) {
  seen_size = args->struct_size;
  return next_code ? fail(next_code, next_message) : NULL;
}

static PJRT_Api make_api(void) {
  return (PJRT_Api){
      .struct_size = PJRT_Api_STRUCT_SIZE,
      .pjrt_api_version = {.major_version = 0, .minor_version = 90},
      .PJRT_Error_Destroy = error_destroy,
      .PJRT_Error_Message = error_message,
      .PJRT_Error_GetCode = error_code,
      .PJRT_Client_Destroy = client_destroy,
  };
}

static tpt_status_t call_destroy(const tpt_plugin_t* plugin) {
  PJRT_Client_Destroy_Args args = {0};
  return TPT_PJRT_CALL(plugin, Client_Destroy, &args);
}

static void test_call_sets_the_struct_size(void) {
  PJRT_Api api = make_api();
  tpt_plugin_t plugin = {.path = "fake.so"};
  CHECK_OK(tpt__plugin_bind(&plugin, &api));
  next_code = 0;
  seen_size = 0;
  CHECK_OK(call_destroy(&plugin));
  CHECK_EQ(seen_size, PJRT_Client_Destroy_Args_STRUCT_SIZE);
}

static void test_call_maps_every_error_code(void) {
  PJRT_Api api = make_api();
  tpt_plugin_t plugin = {.path = "fake.so"};
  CHECK_OK(tpt__plugin_bind(&plugin, &api));
  next_message = "no such thing\n";
  for (next_code = 1; next_code <= 16; next_code++) {
    CHECK_FAILS(call_destroy(&plugin), (tpt_code_t)next_code, "no such thing");
    CHECK_EQ(errors_alive, 0);
  }
  next_code = 3;
  tpt_status_t status = call_destroy(&plugin);
  const char* first = strstr(tpt_status_message(status), "PJRT_Client_Destroy");
  CHECK(first && !strstr(first + 1, "PJRT_Client_Destroy"));  // named, and once
  CHECK(!strchr(tpt_status_message(status), '\n'));
  tpt_status_release(status);
}

static void test_call_survives_odd_errors(void) {
  PJRT_Api api = make_api();
  tpt_plugin_t plugin = {.path = "fake.so"};
  CHECK_OK(tpt__plugin_bind(&plugin, &api));
  next_code = 99;
  next_message = NULL;
  CHECK_FAILS(call_destroy(&plugin), TPT_UNKNOWN, "no message");
  next_code = -5;
  next_message = "negative";
  CHECK_FAILS(call_destroy(&plugin), TPT_UNKNOWN, "negative");
  api.PJRT_Error_GetCode = NULL;
  CHECK_OK(tpt__plugin_bind(&plugin, &api));
  next_code = 3;
  CHECK_FAILS(call_destroy(&plugin), TPT_UNKNOWN, "negative");
  CHECK_EQ(errors_alive, 0);
}

static void test_call_names_an_absent_entry(void) {
  PJRT_Api api = make_api();
  tpt_plugin_t plugin = {.path = "fake.so"};
  CHECK_OK(tpt__plugin_bind(&plugin, &api));
  PJRT_Client_Create_Args args = {0};
  CHECK_FAILS(TPT_PJRT_CALL(&plugin, Client_Create, &args), TPT_UNIMPLEMENTED,
              "fake.so (PJRT C API 0.90) has no PJRT_Client_Create");
  // The table ends before the entry, or inside it; what lies behind is not the plugin's.
  size_t sizes[2] = {offsetof(PJRT_Api, PJRT_Client_Destroy),
                     offsetof(PJRT_Api, PJRT_Client_Destroy) + 4};
  for (int i = 0; i < 2; i++) {
    api.struct_size = sizes[i];
    CHECK_OK(tpt__plugin_bind(&plugin, &api));
    CHECK_FAILS(call_destroy(&plugin), TPT_UNIMPLEMENTED, "PJRT_Client_Destroy");
  }
}

static void test_bind_refuses_other_versions(void) {
  PJRT_Api api = make_api();
  tpt_plugin_t plugin = {.path = "fake.so"};
  api.pjrt_api_version.major_version = 1;
  CHECK_FAILS(tpt__plugin_bind(&plugin, &api), TPT_FAILED_PRECONDITION, "1.90");
  api.pjrt_api_version.major_version = 0;
  api.pjrt_api_version.minor_version = 56;
  CHECK_FAILS(tpt__plugin_bind(&plugin, &api), TPT_FAILED_PRECONDITION, "0.114");
  CHECK_FAILS(tpt__plugin_bind(&plugin, NULL), TPT_FAILED_PRECONDITION, "fake.so");
  api.struct_size = 16;
  CHECK_FAILS(tpt__plugin_bind(&plugin, &api), TPT_FAILED_PRECONDITION, "fake.so");
}

int main(void) {
  RUN(test_call_sets_the_struct_size);
  RUN(test_call_maps_every_error_code);
  RUN(test_call_survives_odd_errors);
  RUN(test_call_names_an_absent_entry);
  RUN(test_bind_refuses_other_versions);
  return TEST_RESULT;
}
