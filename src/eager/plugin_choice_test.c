#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "eager/plugin_choice.h"

static tpt_options_t options;
static char folder[256];

static void make_file(const char* name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL);
  if (file) fclose(file);
}

static void remove_file(const char* name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  unlink(path);
}

static void test_vtpu_stands_in_the_library_folder(void) {
  tpt_plugin_choice_t choice;
  CHECK_OK(tpt_options_set(&options, "plugin", "vtpu"));
  CHECK_FAILS(tpt_plugin_choose(&options, NULL, &choice), TPT_NOT_FOUND, "folder");
  CHECK_FAILS(tpt_plugin_choose(&options, folder, &choice), TPT_NOT_FOUND, "libvtpu.so");
  make_file("libvtpu.so");
  CHECK_OK(tpt_plugin_choose(&options, folder, &choice));
  CHECK_EQ(choice.kind, TPT_PLUGIN_VTPU);
  if (tpt_plugin_chip_count() == 0) {
    CHECK_OK(tpt_options_set(&options, "plugin", "auto"));
    CHECK_OK(tpt_plugin_choose(&options, folder, &choice));
    CHECK_EQ(choice.kind, TPT_PLUGIN_VTPU);
  }
  remove_file("libvtpu.so");
}

static void test_a_path_says_what_it_is(void) {
  tpt_plugin_choice_t choice;
  const struct {
    const char* name;
    tpt_plugin_kind_t kind;
  } cases[] = {{"pjrt_c_api_cpu_plugin.so", TPT_PLUGIN_XLA_CPU},
               {"my_libvtpu.so", TPT_PLUGIN_VTPU},
               {"libtpu.so", TPT_PLUGIN_LIBTPU},
               {"other.so", TPT_PLUGIN_OTHER}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, cases[i].name);
    CHECK_OK(tpt_options_set(&options, "plugin", path));
    CHECK_FAILS(tpt_plugin_choose(&options, NULL, &choice), TPT_NOT_FOUND, path);
    make_file(cases[i].name);
    CHECK_OK(tpt_plugin_choose(&options, NULL, &choice));
    CHECK_EQ(choice.kind, cases[i].kind);
    CHECK_STR(choice.path, path);
    remove_file(cases[i].name);
  }
}

static void test_each_kind_gets_its_create_options(void) {
  tpt_named_value_t values[TPT_CREATE_OPTION_MAX];
  tpt_plugin_choice_t choice = {.kind = TPT_PLUGIN_XLA_CPU};
  CHECK_OK(tpt_options_set(&options, "devices", "3"));
  CHECK_EQ(tpt_plugin_create_options(&choice, &options, values), 1);
  CHECK_STR(values[0].name, "cpu_device_count");
  CHECK_EQ(values[0].integer, 3);
  choice.kind = TPT_PLUGIN_VTPU;
  int count = tpt_plugin_create_options(&choice, &options, values);
  CHECK(count > 1 && count <= TPT_CREATE_OPTION_MAX);
  CHECK_STR(values[0].name, "chip");
  CHECK_STR(values[0].text, "v5e");
  choice.kind = TPT_PLUGIN_LIBTPU;
  CHECK_EQ(tpt_plugin_create_options(&choice, &options, values), 0);
}

int main(void) {
  snprintf(folder, sizeof(folder), "%s/plugin_choice_test-XXXXXX", P_tmpdir);
  if (!CHECK_OK(tpt_options_init(&options)) || !mkdtemp(folder)) return 1;
  RUN(test_vtpu_stands_in_the_library_folder);
  RUN(test_a_path_says_what_it_is);
  RUN(test_each_kind_gets_its_create_options);
  rmdir(folder);
  tpt_options_deinit(&options);
  return TEST_RESULT;
}
