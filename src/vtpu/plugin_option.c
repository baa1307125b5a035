// Create options of a client: names and kinds from plugin_option.def. Invariant: either every option
// was known and legal, or an error names the one that was not.
#include <math.h>
#include <string.h>

#include "vtpu/plugin.h"

typedef enum option_id {
#define OPTION(name, kind, legal) OPTION_##name,
#include "vtpu/plugin_option.def"
#undef OPTION
  OPTION_COUNT,
} option_id_t;

typedef enum option_kind { KIND_TEXT, KIND_INT, KIND_REAL, KIND_IGNORED } option_kind_t;

typedef struct option {
  const char* name;
  option_kind_t kind;
  const char* legal;
} option_t;

static const option_t options[] = {
#define OPTION(name, kind, legal) {#name, KIND_##kind, legal},
#include "vtpu/plugin_option.def"
#undef OPTION
};

static const option_t* find_option(const PJRT_NamedValue* value) {
  for (int i = 0; i < OPTION_COUNT; i++)
    if (strlen(options[i].name) == value->name_size &&
        memcmp(options[i].name, value->name, value->name_size) == 0)
      return &options[i];
  return NULL;
}

static tpt_status_t unknown_option(const PJRT_NamedValue* value) {
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "unknown client option '%.*s'; vtpu knows chip, devices (or cpu_device_count), hbm, "
           "threads, flush_subnormals, profile, inline_limit, keep, memory_fraction, and ignores "
           "those of TPU "
           "runtimes such as premapped_buffer_size",
           value->name_size < 60 ? (int)value->name_size : 60, value->name);
}

static tpt_status_t bad_value(const option_t* option) {
  TPT_FAIL(TPT_INVALID_ARGUMENT, "client option %s: want %s", option->name, option->legal);
}

static bool read_number(const PJRT_NamedValue* value, double* out_real, int64_t* out_int) {
  switch (value->type) {
  case PJRT_NamedValue_kInt64:
    *out_int = value->int64_value;
    *out_real = (double)value->int64_value;
    return true;
  case PJRT_NamedValue_kBool:
    *out_int = value->bool_value;
    *out_real = value->bool_value;
    return true;
  case PJRT_NamedValue_kFloat:
    *out_real = (double)value->float_value;
    *out_int = fabs(*out_real) < 9e15 ? (int64_t)*out_real : 0;
    return *out_real == (double)*out_int || fabs(*out_real) < 1;
  default:
    return false;
  }
}

static bool store_int(option_id_t id, int64_t number, vtpu_client_options_t* out) {
  switch (id) {
  case OPTION_devices:
  case OPTION_cpu_device_count:
    out->devices = number;
    return number >= 1 && number <= 1024;
  case OPTION_hbm:
    out->hbm = number;
    return number >= 0;
  case OPTION_threads:
    out->threads = number;
    return number >= 0 && number <= 1024;
  case OPTION_flush_subnormals:
    out->flush_subnormals = number != 0;
    return number == 0 || number == 1;
  case OPTION_profile:
    out->profile = number != 0;
    return number == 0 || number == 1;
  case OPTION_keep:
    out->keep = number;
    return number >= 0;
  case OPTION_inline_limit:
    out->inline_limit = number;
    return number >= -1;
  default:
    return false;
  }
}

static tpt_status_t store(const PJRT_NamedValue* value, vtpu_client_options_t* out) {
  const option_t* option = value->name ? find_option(value) : NULL;
  if (!option) return unknown_option(value);
  double real = 0;
  int64_t number = 0;
  bool is_text = value->type == PJRT_NamedValue_kString && value->string_value;
  bool is_number = read_number(value, &real, &number);
  switch (option->kind) {
  case KIND_IGNORED:
    return NULL;
  case KIND_TEXT:
    if (!is_text) return bad_value(option);
    return vtpu_chip_find(value->string_value, value->value_size, &out->chip);
  case KIND_REAL:
    out->memory_fraction = real;
    return is_number && real > 0 && real <= 1 ? NULL : bad_value(option);
  case KIND_INT:
    if (!is_number || real != (double)number) return bad_value(option);
    return store_int((option_id_t)(option - options), number, out) ? NULL : bad_value(option);
  }
  return NULL;
}

tpt_status_t vtpu_client_options_parse(const PJRT_NamedValue* values, size_t count,
                                       vtpu_client_options_t* out) {
  *out = (vtpu_client_options_t){
      .devices = 1, .inline_limit = 20000, .keep = 512 << 20, .memory_fraction = 1};
  TPT_TRY(vtpu_chip_find("v5e", 3, &out->chip));
  if (count > 0) TPT_TRY(vtpu_need(values, "create_options"));
  for (size_t i = 0; i < count; i++)
    TPT_TRY(store(&values[i], out));
  if (out->hbm == 0) out->hbm = out->chip->hbm_size;
  out->hbm = (int64_t)((double)out->hbm * out->memory_fraction);
  if (out->threads == 0) out->threads = tpt_thread_cores();
  return NULL;
}
