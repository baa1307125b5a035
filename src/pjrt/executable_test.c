#include <pthread.h>

#include "base/allocator.h"
#include "pjrt/client.h"
#include "pjrt/test_plugin.h"

static int is_vtpu(void) {
  return strcmp(test_plugin.name, "vtpu") == 0;
}

// x + y; the first argument may be reused for the result when `alias` says so.
static tpt_executable_t* compile_add(tpt_client_t* client, int alias) {
  char text[1024];
  snprintf(
      text, sizeof(text),
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() ({\n"
      "  ^bb0(%%0: tensor<4xf32>, %%1: tensor<4xf32>):\n"
      "    %%2 = \"stablehlo.add\"(%%0, %%1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
      "    \"func.return\"(%%2) : (tensor<4xf32>) -> ()\n"
      "  }) {%sfunction_type = (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "
      "\"main\"} "
      ": () -> ()\n"
      "}) {sym_name = \"m\"} : () -> ()\n",
      alias ? "arg_attrs = [{tf.aliasing_output = 0 : i32}, {}], " : "");
  tpt_executable_t* executable = NULL;
  CHECK_OK(tpt_client_compile(client, text, strlen(text), &executable));
  return executable;
}

static const float x_data[4] = {1, 2, 3, 4};
static const float y_data[4] = {10, 20, 30, 40};

static void check_sum(tpt_buffer_t* buffer) {
  float back[4] = {0};
  CHECK_OK(tpt_buffer_to_host(buffer, back, sizeof(back)));
  for (int i = 0; i < 4; i++)
    CHECK(back[i] == x_data[i] + y_data[i]);
}

static void test_run_adds_on_each_device(void) {
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 0) : NULL;
  if (executable) {
    CHECK_EQ(tpt_executable_result_count(executable), 1);
    for (int device = 0; device < 2; device++) {
      tpt_buffer_t* args[2] = {test_buffer(client, device, x_data, 4),
                               test_buffer(client, device, y_data, 4)};
      tpt_buffer_t* result = NULL;
      tpt_run_params_t params = {.device = device, .args = args, .arg_count = 2};
      if (CHECK_OK(tpt_executable_run(executable, &params, &result))) {
        CHECK_OK(tpt_buffer_await(result));
        check_sum(result);
        check_sum(result);  // reading does not consume
      }
      tpt_buffer_release(result);
      tpt_buffer_release(args[0]);
      tpt_buffer_release(args[1]);
    }
  }
  tpt_executable_release(executable);
  tpt_client_release(client);
}

static void test_donated_argument_dies_unless_kept(void) {
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 1) : NULL;
  if (executable) {
    const int64_t keep[1] = {0};
    tpt_buffer_t* args[2] = {test_buffer(client, 0, x_data, 4), test_buffer(client, 0, y_data, 4)};
    tpt_buffer_t* result = NULL;
    tpt_run_params_t params = {
        .device = 0, .args = args, .arg_count = 2, .keep = keep, .keep_count = 1};
    float back[4];
    if (CHECK_OK(tpt_executable_run(executable, &params, &result))) {
      check_sum(result);
      tpt_buffer_release(result);
      CHECK_OK(tpt_buffer_to_host(args[0], back, sizeof(back)));
      CHECK(memcmp(back, x_data, sizeof(back)) == 0);
    }
    params.keep_count = 0;
    if (CHECK_OK(tpt_executable_run(executable, &params, &result))) {
      check_sum(result);
      tpt_buffer_release(result);
      tpt_status_t status = tpt_buffer_to_host(args[0], back, sizeof(back));
      CHECK(status != NULL);
      tpt_status_release(status);
      CHECK_FAILS(tpt_executable_run(executable, &params, &result), TPT_INVALID_ARGUMENT,
                  "donated");
      CHECK(result == NULL);
    }
    tpt_buffer_release(args[0]);
    tpt_buffer_release(args[1]);
  }
  tpt_executable_release(executable);
  tpt_client_release(client);
}

static void test_run_refuses_bad_requests(void) {
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 0) : NULL;
  if (executable) {
    tpt_buffer_t* args[3] = {test_buffer(client, 0, x_data, 4), test_buffer(client, 0, y_data, 4),
                             NULL};
    tpt_buffer_t* result = args[0];
    tpt_run_params_t params = {.device = 0, .args = args, .arg_count = 1};
    CHECK_FAILS(tpt_executable_run(executable, &params, &result), TPT_INVALID_ARGUMENT,
                "PJRT_LoadedExecutable_Execute");
    CHECK(result == NULL);
    params.arg_count = 3;
    CHECK_FAILS(tpt_executable_run(executable, &params, &result), TPT_INVALID_ARGUMENT,
                "argument 2 of the run is no buffer");
    params.arg_count = 2;
    params.device = 2;
    CHECK_FAILS(tpt_executable_run(executable, &params, &result), TPT_OUT_OF_RANGE, "device 2");
    tpt_buffer_release(args[0]);
    args[0] = test_buffer(client, 1, x_data, 4);  // on the wrong device
    params.device = 0;
    CHECK_FAILS(tpt_executable_run(executable, &params, &result), TPT_INVALID_ARGUMENT, "");
    tpt_buffer_release(args[0]);
    tpt_buffer_release(args[1]);
  }
  tpt_executable_release(executable);
  tpt_client_release(client);
}

static void test_compile_refuses_garbage(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  static const char unknown_op[] = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                                   "  %b = stablehlo.no_such_op %a : tensor<2xf32>\n"
                                   "  return %b : tensor<2xf32>\n"
                                   "}";
  static const char wrong_type[] =
      "func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> { return %a : tensor<3xf32> }";
  const char* programs[] = {"this is not a program", "", "module @m { }", unknown_op, wrong_type};
  for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
    tpt_executable_t* executable = NULL;
    tpt_status_t status = tpt_client_compile(client, programs[i], strlen(programs[i]), &executable);
    CHECK(status != NULL && executable == NULL);
    CHECK(strstr(tpt_status_message(status), "PJRT_Client_Compile"));
    tpt_status_release(status);
  }
  tpt_client_release(client);
}

static void test_serialized_executable_runs_again(void) {
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 0) : NULL;
  void* bytes = NULL;
  size_t size = 0;
  if (executable && CHECK_OK(tpt_executable_serialize(executable, &bytes, &size))) {
    tpt_executable_t* copy = NULL;
    CHECK(size > 0);
    if (CHECK_OK(tpt_client_deserialize(client, bytes, size, &copy))) {
      for (int device = 0; device < 2; device++) {
        tpt_buffer_t* args[2] = {test_buffer(client, device, x_data, 4),
                                 test_buffer(client, device, y_data, 4)};
        tpt_buffer_t* result = NULL;
        tpt_run_params_t params = {.device = device, .args = args, .arg_count = 2};
        if (CHECK_OK(tpt_executable_run(copy, &params, &result))) check_sum(result);
        tpt_buffer_release(result);
        tpt_buffer_release(args[0]);
        tpt_buffer_release(args[1]);
      }
    }
    tpt_executable_release(copy);
    copy = NULL;
    tpt_status_t status = tpt_client_deserialize(client, "nonsense", 8, &copy);
    CHECK(status != NULL && copy == NULL);
    tpt_status_release(status);
  }
  tpt_free(bytes);
  tpt_executable_release(executable);
  tpt_client_release(client);
}

// 100 parameters and results: past the arrays on the stack.
static void test_run_takes_many_arguments(void) {
  enum { COUNT = 100 };
  tpt_client_t* client = test_client();
  if (!client) return;
  tpt_str_t text, types, names;
  tpt_str_init(&text);
  tpt_str_init(&types);
  tpt_str_init(&names);
  tpt_str_append_cstr(&text, "func.func @main(");
  for (int i = 0; i < COUNT; i++) {
    tpt_str_printf(&text, "%s%%a%d: tensor<1xf32>", i ? ", " : "", i);
    tpt_str_printf(&types, "%stensor<1xf32>", i ? ", " : "");
    tpt_str_printf(&names, "%s%%r%d", i ? ", " : "", i);
  }
  tpt_str_printf(&text, ") -> (%s) {\n", types.data);
  for (int i = 0; i < COUNT; i++) {
    tpt_str_printf(&text, "  %%r%d = stablehlo.negate %%a%d : tensor<1xf32>\n", i, i);
  }
  tpt_str_printf(&text, "  return %s : %s\n}\n", names.data, types.data);
  tpt_executable_t* executable = NULL;
  if (CHECK_OK(tpt_client_compile(client, text.data, text.size, &executable))) {
    tpt_buffer_t *args[COUNT], *results[COUNT];
    for (int i = 0; i < COUNT; i++)
      args[i] = test_buffer(client, 0, &(float){(float)i}, 1);
    tpt_run_params_t params = {.device = 0, .args = args, .arg_count = COUNT};
    CHECK_EQ(tpt_executable_result_count(executable), COUNT);
    if (CHECK_OK(tpt_executable_run(executable, &params, results))) {
      for (int i = 0; i < COUNT; i++) {
        float back = 1;
        CHECK_OK(tpt_buffer_to_host(results[i], &back, sizeof(back)));
        CHECK(back == -(float)i);
        tpt_buffer_release(results[i]);
      }
    }
    for (int i = 0; i < COUNT; i++)
      tpt_buffer_release(args[i]);
  }
  tpt_executable_release(executable);
  tpt_str_deinit(&names);
  tpt_str_deinit(&types);
  tpt_str_deinit(&text);
  tpt_client_release(client);
}

typedef struct worker {
  tpt_executable_t* executable;
  tpt_buffer_t* args[2];
  int failures;
} worker_t;

static void* run_often(void* argument) {
  worker_t* worker = argument;
  tpt_run_params_t params = {.device = 0, .args = worker->args, .arg_count = 2};
  for (int i = 0; i < 200; i++) {
    tpt_buffer_t* result = NULL;
    float back[4] = {0};
    tpt_status_t status = tpt_executable_run(worker->executable, &params, &result);
    if (!status) status = tpt_buffer_to_host(result, back, sizeof(back));
    worker->failures += status != NULL || back[3] != 44;
    tpt_status_release(status);
    tpt_buffer_release(result);
  }
  return NULL;
}

static void test_threads_share_executable_and_arguments(void) {
  enum { THREADS = 4 };
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 0) : NULL;
  if (executable) {
    worker_t workers[THREADS] = {
        {executable, {test_buffer(client, 0, x_data, 4), test_buffer(client, 0, y_data, 4)}, 0}};
    pthread_t threads[THREADS];
    for (int i = 1; i < THREADS; i++)
      workers[i] = workers[0];
    for (int i = 0; i < THREADS; i++) {
      CHECK(pthread_create(&threads[i], NULL, run_often, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      CHECK_EQ(workers[i].failures, 0);
    }
    tpt_buffer_release(workers[0].args[0]);
    tpt_buffer_release(workers[0].args[1]);
  }
  tpt_executable_release(executable);
  tpt_client_release(client);
}

static void test_plan_is_text_on_vtpu_only(void) {
  tpt_client_t* client = test_client();
  tpt_executable_t* executable = client ? compile_add(client, 0) : NULL;
  tpt_str_t text;
  tpt_str_init(&text);
  if (executable && is_vtpu()) {
    CHECK_OK(tpt_executable_plan(executable, &text));
    CHECK(text.size > 0);
  } else if (executable) {
    CHECK_FAILS(tpt_executable_plan(executable, &text), TPT_UNIMPLEMENTED, "");
  }
  tpt_str_deinit(&text);
  tpt_executable_release(executable);
  tpt_client_release(client);
}

static void run_all(test_plugin_t plugin) {
  RUN_ON(plugin, test_run_adds_on_each_device);
  RUN_ON(plugin, test_donated_argument_dies_unless_kept);
  RUN_ON(plugin, test_run_refuses_bad_requests);
  RUN_ON(plugin, test_compile_refuses_garbage);
  RUN_ON(plugin, test_serialized_executable_runs_again);
  RUN_ON(plugin, test_run_takes_many_arguments);
  RUN_ON(plugin, test_threads_share_executable_and_arguments);
  RUN_ON(plugin, test_plan_is_text_on_vtpu_only);
}

TEST_ON_PLUGINS(run_all)
