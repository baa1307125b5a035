#include <stdlib.h>

#include "pjrt/test_plugin.h"

static char* identity(int devices) {
  tpt_plugin_t* plugin = NULL;
  tpt_client_t* client = NULL;
  tpt_named_value_t option = {test_plugin.count_option, NULL, devices};
  tpt_str_t text;
  tpt_str_init(&text);
  if (CHECK_OK(tpt_plugin_load(test_plugin.path, &plugin)) &&
      CHECK_OK(tpt_client_create(plugin, &option, 1, &client)))
    CHECK_OK(tpt_client_identity(client, &text));
  tpt_client_release(client);
  char* copy = strdup(text.data ? text.data : "");
  tpt_str_deinit(&text);
  return copy;
}

static void test_same_client_same_identity(void) {
  char *a = identity(2), *b = identity(2), *other = identity(1);
  CHECK_STR(a, b);
  CHECK(strcmp(a, other) != 0);
  CHECK(strstr(a, "\nbuild ") || strstr(a, "\nfile "));
  CHECK(strstr(a, "platform "));
  CHECK(!strstr(a, test_plugin.path));  // another copy of the same plugin is the same plugin
  CHECK(strstr(a, "\nflags") || strstr(a, "\nFeatures"));
  free(a), free(b), free(other);
}

static void test_flags_of_the_compiler_count(void) {
  char* without = identity(2);
  setenv("LIBTPU_INIT_ARGS", "--no_such_flag=1", 1);
  char* with = identity(2);
  unsetenv("LIBTPU_INIT_ARGS");
  CHECK(strcmp(without, with) != 0);
  CHECK(strstr(with, "LIBTPU_INIT_ARGS --no_such_flag=1\n"));
  free(without), free(with);
}

static void run_all(test_plugin_t plugin) {
  RUN_ON(plugin, test_same_client_same_identity);
  RUN_ON(plugin, test_flags_of_the_compiler_count);
}

TEST_ON_PLUGINS(run_all)
