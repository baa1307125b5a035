#include "base/allocator.h"
#include "pjrt/client.h"
#include "pjrt/test_plugin.h"

static int is_vtpu(void) {
  return strcmp(test_plugin.name, "vtpu") == 0;
}

static void test_create_reads_names_and_devices(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  CHECK_EQ(tpt_client_device_count(client), 2);
  CHECK(strlen(tpt_client_platform_name(client)) > 0);
  CHECK(strlen(tpt_client_platform_version(client)) > 0);
  CHECK(strlen(tpt_client_device_kind(client, 0)) > 0);
  CHECK_STR(tpt_client_device_kind(client, 0), tpt_client_device_kind(client, 1));
  CHECK_STR(tpt_client_device_kind(client, 2), "");
  CHECK_STR(tpt_client_device_kind(client, -1), "");
  tpt_client_release(client);
}

static void test_create_refuses_unknown_options(void) {
  tpt_plugin_t* plugin = NULL;
  tpt_client_t* client = NULL;
  if (!CHECK_OK(tpt_plugin_load(test_plugin.path, &plugin))) return;
  tpt_named_value_t option = {"no_such_option", "x", 0};
  tpt_status_t status = tpt_client_create(plugin, &option, 1, &client);
  CHECK(status != NULL && client == NULL);
  CHECK(strstr(tpt_status_message(status), "no_such_option"));
  CHECK(strstr(tpt_status_message(status), test_plugin.path));
  tpt_status_release(status);
  CHECK_FAILS(tpt_client_create(plugin, &option, 1000, &client), TPT_INVALID_ARGUMENT, "1000");
}

static void test_memory_stats_tell_or_say_that_they_cannot(void) {
  tpt_client_t* client = test_client();
  if (!client) return;
  tpt_memory_stats_t stats;
  CHECK_FAILS(tpt_client_memory_stats(client, 7, &stats), TPT_OUT_OF_RANGE, "device 7");
  if (is_vtpu()) {
    float data[1024] = {0};
    CHECK_OK(tpt_client_memory_stats(client, 0, &stats));
    int64_t before = stats.in_use;
    CHECK(stats.limit > 0);
    tpt_buffer_t* buffer = test_buffer(client, 0, data, 1024);
    CHECK_OK(tpt_client_memory_stats(client, 0, &stats));
    CHECK(stats.in_use >= before + 4096);
    CHECK(stats.peak_in_use >= stats.in_use);
    tpt_buffer_release(buffer);
    CHECK_OK(tpt_client_memory_stats(client, 0, &stats));
    CHECK_EQ(stats.in_use, before);
  } else {
    CHECK_FAILS(tpt_client_memory_stats(client, 0, &stats), TPT_UNIMPLEMENTED,
                "PJRT_Device_MemoryStats");
    CHECK_EQ(stats.in_use, -1);
  }
  tpt_client_release(client);
}

static void test_release_waits_for_the_last_buffer(void) {
  float data[2] = {1, 2}, back[2] = {0};
  tpt_client_t* client = test_client();
  if (!client) return;
  tpt_buffer_t* buffer = test_buffer(client, 0, data, 2);
  tpt_client_release(client);  // the buffer still holds it
  CHECK_OK(tpt_buffer_to_host(buffer, back, sizeof(back)));
  CHECK(back[0] == 1 && back[1] == 2);
  tpt_buffer_release(buffer);
  tpt_client_release(NULL);
}

// Each allocation of ours fails in turn; nothing leaks, nothing crashes, the last try succeeds.
static void test_create_survives_every_failed_allocation(void) {
  tpt_plugin_t* plugin = NULL;
  if (!CHECK_OK(tpt_plugin_load(test_plugin.path, &plugin))) return;
  tpt_named_value_t option = {test_plugin.count_option, NULL, 1};
  for (uint64_t n = 1; n < 50; n++) {
    tpt_client_t* client = NULL;
    (void)tpt_allocator_fail_after(n);
    tpt_status_t status = tpt_client_create(plugin, &option, 1, &client);
    (void)tpt_allocator_fail_after(0);
    if (!status) {
      CHECK(n > 3);
      tpt_client_release(client);
      return;
    }
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
  }
  CHECK(!"a try without a failing allocation");
}

static void run_all(test_plugin_t plugin) {
  RUN_ON(plugin, test_create_reads_names_and_devices);
  RUN_ON(plugin, test_create_refuses_unknown_options);
  RUN_ON(plugin, test_memory_stats_tell_or_say_that_they_cannot);
  RUN_ON(plugin, test_release_waits_for_the_last_buffer);
  RUN_ON(plugin, test_create_survives_every_failed_allocation);
}

TEST_ON_PLUGINS(run_all)
