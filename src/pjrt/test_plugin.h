// Plugins that the tests of this folder run on: XLA:CPU, which nobody here wrote, and our own vtpu.
// Tests only.
#ifndef TPUTORCH_PJRT_TEST_PLUGIN_H_
#define TPUTORCH_PJRT_TEST_PLUGIN_H_

#include <unistd.h>

#include "base/check.h"
#include "base/options.h"
#include "pjrt/client.h"

#ifndef TPUTORCH_TEST_PLUGIN
#define TPUTORCH_TEST_PLUGIN ""
#endif
#ifndef TPUTORCH_TEST_XLA_CPU
#define TPUTORCH_TEST_XLA_CPU ""
#endif

typedef struct test_plugin {
  const char* name;
  const char* path;
  const char* count_option;  // create option that sets the number of devices
} test_plugin_t;

// What the running test uses; set by RUN_ON.
static test_plugin_t test_plugin;

static inline test_plugin_t test_plugin_xla(void) {
  const char* path = tpt_environment("TPUTORCH_TEST_XLA_CPU");
  return (test_plugin_t){"XLA:CPU", path ? path : TPUTORCH_TEST_XLA_CPU, "cpu_device_count"};
}

static inline test_plugin_t test_plugin_vtpu(void) {
  const char* path = tpt_environment("TPUTORCH_TEST_PLUGIN");
  return (test_plugin_t){"vtpu", path ? path : TPUTORCH_TEST_PLUGIN, "devices"};
}

static inline int test_plugin_exists(test_plugin_t plugin) {
  if (*plugin.path && access(plugin.path, R_OK) == 0) return 1;
  printf("skip %s: no file \"%s\"\n", plugin.name, plugin.path);
  return 0;
}

// A client with two devices; NULL after a failed check.
static inline tpt_client_t* test_client(void) {
  tpt_plugin_t* plugin = NULL;
  tpt_client_t* client = NULL;
  tpt_named_value_t option = {test_plugin.count_option, NULL, 2};
  if (CHECK_OK(tpt_plugin_load(test_plugin.path, &plugin))) {
    CHECK_OK(tpt_client_create(plugin, &option, 1, &client));
  }
  return client;
}

static inline tpt_buffer_t* test_buffer(tpt_client_t* client, int device, const float* data,
                                        int64_t count) {
  tpt_type_t type = tpt_type_make(TPT_F32, 1, &count);
  tpt_buffer_t* buffer = NULL;
  CHECK_OK(tpt_buffer_from_host(client, device, &type, data, &buffer));
  return buffer;
}

// Runs a test under the plugin's name.
#define RUN_ON(plugin, test)                                                                       \
  do {                                                                                             \
    test_plugin = (plugin);                                                                        \
    int tpt_check_before = tpt_check_failures;                                                     \
    test();                                                                                        \
    printf("%s %s on %s\n", tpt_check_failures == tpt_check_before ? "ok  " : "FAIL", #test,       \
           test_plugin.name);                                                                      \
  } while (0)

// Main of a test file whose tests run on each plugin.
#define TEST_ON_PLUGINS(run_all)                                                                   \
  int main(void) {                                                                                 \
    if (test_plugin_exists(test_plugin_xla())) run_all(test_plugin_xla());                         \
    if (test_plugin_exists(test_plugin_vtpu())) run_all(test_plugin_vtpu());                       \
    return TEST_RESULT;                                                                            \
  }

#endif  // TPUTORCH_PJRT_TEST_PLUGIN_H_
