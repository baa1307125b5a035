#include <stdlib.h>

#include "pjrt/test_plugin.h"

static void test_load_gives_the_same_plugin_again(void) {
  tpt_plugin_t *first = NULL, *second = NULL, *third = NULL;
  char link[] = "/tmp/tpt_plugin_XXXXXX";
  if (!CHECK_OK(tpt_plugin_load(test_plugin.path, &first))) return;
  CHECK_OK(tpt_plugin_load(test_plugin.path, &second));
  CHECK(first == second);
  // The same file under another name.
  int file = mkstemp(link);
  close(file);
  unlink(link);
  CHECK(symlink(test_plugin.path, link) == 0);
  CHECK_OK(tpt_plugin_load(link, &third));
  CHECK(first == third);
  unlink(link);
  CHECK_STR(tpt_plugin_path(first), test_plugin.path);
}

static void test_version_is_one_we_speak(void) {
  tpt_plugin_t* plugin = NULL;
  int major = -1, minor = -1;
  if (!CHECK_OK(tpt_plugin_load(test_plugin.path, &plugin))) return;
  tpt_plugin_version(plugin, &major, &minor);
  CHECK_EQ(major, 0);
  CHECK(minor >= 57);
}

static void run_all(test_plugin_t plugin) {
  RUN_ON(plugin, test_load_gives_the_same_plugin_again);
  RUN_ON(plugin, test_version_is_one_we_speak);
}

TEST_ON_PLUGINS(run_all)
