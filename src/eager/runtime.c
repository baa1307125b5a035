// Owns the one runtime of a process: options, plugin, client, devices. Must not know tensors.
// Invariant: opened at most once; a failed opening is remembered and told again; a forked child never
// touches what its parent opened.
#include "tputorch/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/options.h"
#include "eager/compile.h"
#include "eager/device.h"
#include "eager/plugin_choice.h"
#include "eager/program.h"

enum { GENERATOR_COUNT = 64 };

static struct {
  pthread_mutex_t lock;
  bool has_options;
  tpt_options_t options;
  tpt_status_t options_error;  // of the environment; told at opening
  char* folder;                // of libvtpu.so
  tpt_status_t open_error;
  tpt_client_t* client;
  char plugin_path[1024];
  tpt_device_t* devices;
  int closed_count;  // devices counted without opening; -1: not counted yet
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER, .closed_count = -1};

static atomic_int open_count;  // devices, once open
static atomic_bool is_bad_fork;
static atomic_int precision;
static atomic_int eager_mode;
static tpt_generator_t generators[GENERATOR_COUNT];
static pthread_once_t generators_once = PTHREAD_ONCE_INIT;

// --- options -------------------------------------------------------------------------------------------

static void apply_live_options(void) {
  const char* text = runtime.options.precision;
  atomic_store(&precision, !strcmp(text, "highest") ? 2 : !strcmp(text, "high") ? 1 : 0);
  text = runtime.options.eager_mode;
  atomic_store(&eager_mode, runtime.options.blocking || !strcmp(text, "debug") ? TPT_EAGER_DEBUG
                            : !strcmp(text, "fused")                           ? TPT_EAGER_FUSED
                                                                               : TPT_EAGER_STRICT);
}

// Reads the environment once. Lock held.
static tpt_status_t need_options(void) {
  if (!runtime.has_options) {
    runtime.options_error = tpt_options_from_environment(&runtime.options);
    if (runtime.options_error) TPT_TRY(tpt_options_init(&runtime.options));
    runtime.has_options = true;
    apply_live_options();
  }
  return tpt_status_clone(runtime.options_error);
}

// Options that still mean something once the plugin is open.
static bool is_live_option(const char* name) {
  static const char* const kLive[] = {"precision", "fallback", "blocking", "eager_mode", "quiet"};
  for (size_t i = 0; i < sizeof(kLive) / sizeof(*kLive); i++) {
    if (strcmp(name, kLive[i]) == 0) return true;
  }
  return false;
}

static tpt_status_t set_option_locked(const char* name, const char* value) {
  TPT_TRY(need_options());
  if (runtime.client && !is_live_option(name))
    TPT_FAIL(TPT_FAILED_PRECONDITION,
             "option %s can only be set before the first use of device tpu (or in "
             "TPUTORCH_OPTIONS)",
             name);
  TPT_TRY(tpt_options_set(&runtime.options, name, value));
  if (is_live_option(name)) apply_live_options();
  if (runtime.client) return NULL;
  runtime.closed_count = -1;
  tpt_status_release(runtime.open_error);  // another plugin may open
  runtime.open_error = NULL;
  return NULL;
}

tpt_status_t tpt_runtime_set_option(const char* name, const char* value) {
  pthread_mutex_lock(&runtime.lock);
  tpt_status_t status = set_option_locked(name, value);
  pthread_mutex_unlock(&runtime.lock);
  return status;
}

tpt_status_t tpt_runtime_get_option(const char* name, char* text, int text_size) {
  pthread_mutex_lock(&runtime.lock);
  tpt_status_t status = need_options();
  if (!status) status = tpt_options_print(&runtime.options, name, text, text_size);
  pthread_mutex_unlock(&runtime.lock);
  return status;
}

tpt_status_t tpt_runtime_set_library_folder(const char* path) {
  size_t size = strlen(path) + 1;
  char* copy = tpt_malloc(size);
  if (!copy) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a path");
  memcpy(copy, path, size);
  pthread_mutex_lock(&runtime.lock);
  tpt_free(runtime.folder);
  runtime.folder = copy;
  runtime.closed_count = -1;
  pthread_mutex_unlock(&runtime.lock);
  return NULL;
}

// --- process-wide switches ---------------------------------------------------------------------------------

static void need_switches(void) {
  pthread_mutex_lock(&runtime.lock);
  tpt_status_release(need_options());
  pthread_mutex_unlock(&runtime.lock);
}

void tpt_precision_set(int value) {
  need_switches();
  atomic_store(&precision, value < 0 ? 0 : value > 2 ? 2 : value);
}

int tpt_precision_get(void) {
  if (!atomic_load(&open_count)) need_switches();
  return atomic_load_explicit(&precision, memory_order_relaxed);
}

tpt_status_t tpt_eager_mode_set(tpt_eager_mode_t mode) {
  need_switches();
  atomic_store(&eager_mode, (int)mode);
  tpt_status_t first = NULL;
  for (int i = 0; mode != TPT_EAGER_FUSED && i < tpt_device_count_open(); i++) {
    tpt_device_t* device = &runtime.devices[i];
    tpt_device_lock(device);
    first = tpt_status_first(first, tpt_fused_flush(device));
    tpt_device_unlock(device);
  }
  return first;
}

tpt_eager_mode_t tpt_eager_mode_get(void) {
  if (__builtin_expect(!atomic_load_explicit(&open_count, memory_order_relaxed), 0))
    need_switches();
  return (tpt_eager_mode_t)atomic_load_explicit(&eager_mode, memory_order_relaxed);
}

void tpt_blocking_set(bool blocking) {
  tpt_status_release(tpt_eager_mode_set(blocking ? TPT_EAGER_DEBUG : TPT_EAGER_STRICT));
}

bool tpt_blocking_get(void) {
  return tpt_eager_mode_get() == TPT_EAGER_DEBUG;
}

static void init_generators(void) {
  for (int i = 0; i < GENERATOR_COUNT; i++)
    tpt_generator_init(&generators[i], i);
}

tpt_generator_t* tpt_generator_default(int device) {
  pthread_once(&generators_once, init_generators);
  return device >= 0 && device < GENERATOR_COUNT ? &generators[device] : NULL;
}

// --- opening -----------------------------------------------------------------------------------------------

static void note_fork(void) {
  if (atomic_load(&open_count)) atomic_store(&is_bad_fork, true);
}

static tpt_status_t make_devices(tpt_client_t* client, tpt_device_t** out_devices, int* out_count) {
  int count = tpt_client_device_count(client);
  if (count > GENERATOR_COUNT) count = GENERATOR_COUNT;
  if (count == 0)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "the plugin %s shows no device", runtime.plugin_path);
  tpt_device_t* devices = tpt_calloc((size_t)count, sizeof(*devices));
  if (!devices) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %d devices", count);
  for (int i = 0; i < count; i++) {
    tpt_status_t status = tpt_device_init(&devices[i], client, i);
    if (status) {
      for (int j = 0; j <= i; j++)
        tpt_device_deinit(&devices[j]);
      tpt_free(devices);
      return status;
    }
    devices[i].generator = tpt_generator_default(i);
    devices[i].dump = *runtime.options.dump ? runtime.options.dump : NULL;
  }
  tpt_device_use_disk(devices, count, &runtime.options);
  *out_devices = devices;
  *out_count = count;
  return NULL;
}

static tpt_status_t create_client(tpt_client_t** out_client) {
  tpt_plugin_choice_t choice;
  tpt_plugin_t* plugin;
  tpt_named_value_t values[TPT_CREATE_OPTION_MAX];
  TPT_TRY(tpt_plugin_choose(&runtime.options, runtime.folder, &choice));
  snprintf(runtime.plugin_path, sizeof(runtime.plugin_path), "%s", choice.path);
  TPT_TRY(tpt_plugin_load(choice.path, &plugin));
  int count = tpt_plugin_create_options(&choice, &runtime.options, values);
  tpt_status_t status = tpt_client_create(plugin, values, count, out_client);
  bool is_refused =
      choice.kind == TPT_PLUGIN_XLA_CPU && tpt_status_code(status) == TPT_INVALID_ARGUMENT;
  if (!is_refused) return status;
  tpt_status_release(status);  // the name said "cpu", but the plugin knows no such option
  return tpt_client_create(plugin, NULL, 0, out_client);
}

static tpt_status_t open_locked(void) {
  if (runtime.client) return NULL;
  if (runtime.open_error) return tpt_status_clone(runtime.open_error);
  int count = 0;
  tpt_client_t* client = NULL;
  tpt_status_t status = need_options();
  if (!status) status = create_client(&client);
  if (!status) status = make_devices(client, &runtime.devices, &count);
  if (status) {
    tpt_client_release(client);
    runtime.open_error = tpt_status_note(status, "while opening device tpu");
    return tpt_status_clone(runtime.open_error);
  }
  static bool has_fork_handler;
  if (!has_fork_handler) has_fork_handler = pthread_atfork(NULL, NULL, note_fork) == 0;
  runtime.client = client;
  atomic_store(&open_count, count);
  return NULL;
}

tpt_status_t tpt_runtime_open(void) {
  if (atomic_load(&is_bad_fork))
    TPT_FAIL(TPT_FAILED_PRECONDITION,
             "Cannot re-initialize TPU in forked subprocess. To use TPU with multiprocessing, you "
             "must use the 'spawn' start method");
  if (atomic_load_explicit(&open_count, memory_order_acquire)) return NULL;
  pthread_mutex_lock(&runtime.lock);
  tpt_status_t status = open_locked();
  pthread_mutex_unlock(&runtime.lock);
  return status;
}

bool tpt_runtime_is_open(void) {
  return atomic_load(&open_count) > 0;
}
bool tpt_runtime_is_bad_fork(void) {
  return atomic_load(&is_bad_fork);
}

// Devices of a plugin that is not open. Lock held.
static int count_closed(void) {
  tpt_plugin_choice_t choice;
  tpt_status_t status = need_options();
  if (!status) status = tpt_plugin_choose(&runtime.options, runtime.folder, &choice);
  bool is_found = !status;
  tpt_status_release(status);
  if (!is_found) return 0;
  if (choice.kind == TPT_PLUGIN_VTPU || choice.kind == TPT_PLUGIN_XLA_CPU) {
    int64_t count = runtime.options.devices;
    return count < GENERATOR_COUNT ? (int)count : GENERATOR_COUNT;
  }
  if (choice.kind == TPT_PLUGIN_LIBTPU) return tpt_plugin_chip_count();
  tpt_status_release(open_locked());
  return atomic_load(&open_count);
}

int tpt_runtime_device_count(void) {
  int count = atomic_load(&open_count);
  if (count) return count;
  pthread_mutex_lock(&runtime.lock);
  if (runtime.closed_count < 0) runtime.closed_count = count_closed();
  count = runtime.closed_count;
  pthread_mutex_unlock(&runtime.lock);
  return count;
}

// --- devices -------------------------------------------------------------------------------------------------

tpt_status_t tpt_device_get(int index, tpt_device_t** out_device) {
  TPT_TRY(tpt_runtime_open());
  int count = atomic_load_explicit(&open_count, memory_order_relaxed);
  if (__builtin_expect(index < 0 || index >= count, 0))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "device tpu:%d does not exist; this process has %d (option devices)", index, count);
  *out_device = &runtime.devices[index];
  return NULL;
}

tpt_device_t* tpt_device_peek(int index) {
  int count = atomic_load_explicit(&open_count, memory_order_acquire);
  return index >= 0 && index < count && !atomic_load(&is_bad_fork) ? &runtime.devices[index] : NULL;
}

int tpt_device_count_open(void) {
  return atomic_load(&is_bad_fork) ? 0 : atomic_load(&open_count);
}

tpt_status_t tpt_device_info(int index, tpt_device_info_t* out_info) {
  tpt_device_t* device;
  memset(out_info, 0, sizeof(*out_info));
  TPT_TRY(tpt_device_get(index, &device));
  tpt_client_t* client = device->client;
  tpt_memory_stats_t stats = {.limit = -1};
  tpt_status_release(tpt_client_memory_stats(client, index, &stats));
  snprintf(out_info->kind, sizeof(out_info->kind), "%s", tpt_client_device_kind(client, index));
  snprintf(out_info->platform, sizeof(out_info->platform), "%s", tpt_client_platform_name(client));
  snprintf(out_info->platform_version, sizeof(out_info->platform_version), "%s",
           tpt_client_platform_version(client));
  snprintf(out_info->plugin, sizeof(out_info->plugin), "%s", runtime.plugin_path);
  out_info->memory_size = stats.limit > 0 ? stats.limit : 0;
  return NULL;
}
