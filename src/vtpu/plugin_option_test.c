// Tests of client options.
#include "vtpu/plugin_probe.h"

static tpt_status_t parse(const PJRT_NamedValue* values, size_t count,
                          vtpu_client_options_t* options) {
  return vtpu_client_options_parse(values, count, options);
}

static void test_defaults(void) {
  vtpu_client_options_t o;
  CHECK_OK(parse(NULL, 0, &o));
  CHECK_STR(o.chip->name, "v5e");
  CHECK_EQ(o.devices, 1);
  CHECK_EQ(o.hbm, o.chip->hbm_size);
  CHECK_EQ(o.threads, tpt_thread_cores());
  CHECK_EQ(o.inline_limit, 20000);
  CHECK(!o.flush_subnormals && !o.profile);
}

static void test_every_option_is_heard(void) {
  vtpu_client_options_t o;
  PJRT_NamedValue fraction = probe_int("memory_fraction", 0);
  fraction.type = PJRT_NamedValue_kFloat;
  fraction.float_value = 0.5f;
  PJRT_NamedValue flush = probe_int("flush_subnormals", 0);
  flush.type = PJRT_NamedValue_kBool;
  flush.bool_value = true;
  const PJRT_NamedValue values[] = {
      probe_text("chip", "v6e"),
      probe_int("devices", 3),
      probe_int("hbm", 1 << 30),
      probe_int("threads", 5),
      flush,
      probe_int("inline_limit", -1),
      fraction,
      probe_int("profile", 1),
      probe_int("premapped_buffer_size", 7),
      probe_text("ml_framework_name", "x"),
  };
  CHECK_OK(parse(values, 10, &o));
  CHECK_STR(o.chip->name, "v6e");
  CHECK_EQ(o.devices, 3);
  CHECK_EQ(o.hbm, 1 << 29);
  CHECK_EQ(o.threads, 5);
  CHECK_EQ(o.inline_limit, -1);
  CHECK(o.flush_subnormals && o.profile);
  const PJRT_NamedValue alias = probe_int("cpu_device_count", 2);
  CHECK_OK(parse(&alias, 1, &o));
  CHECK_EQ(o.devices, 2);
}

static void refuse(PJRT_NamedValue value, const char* text) {
  vtpu_client_options_t o;
  CHECK_FAILS(parse(&value, 1, &o), TPT_INVALID_ARGUMENT, text);
}

static void test_bad_options_are_named(void) {
  vtpu_client_options_t o;
  PJRT_NamedValue real = probe_int("devices", 0);
  real.type = PJRT_NamedValue_kFloat;
  real.float_value = 1.5f;
  refuse(real, "option devices: want 1 to 1024");
  refuse(probe_int("colour", 1), "unknown client option 'colour'; vtpu knows chip, devices");
  refuse(probe_int("chi", 1), "unknown client option 'chi'");
  refuse(probe_int("chip", 1), "option chip: want v4, v5e");
  refuse(probe_text("chip", "v9"), "unknown chip 'v9'");
  refuse(probe_text("devices", "2"), "option devices: want");
  refuse(probe_int("devices", 0), "option devices: want");
  refuse(probe_int("hbm", -1), "option hbm: want");
  refuse(probe_int("threads", 5000), "option threads: want");
  refuse(probe_int("flush_subnormals", 2), "option flush_subnormals: want 0 or 1");
  refuse(probe_int("inline_limit", -2), "option inline_limit: want");
  refuse(probe_int("memory_fraction", 2), "option memory_fraction: want");
  CHECK_FAILS(parse(NULL, 1, &o), TPT_INVALID_ARGUMENT, "create_options is NULL");
}

int main(void) {
  RUN(test_defaults);
  RUN(test_every_option_is_heard);
  RUN(test_bad_options_are_named);
  return TEST_RESULT;
}
