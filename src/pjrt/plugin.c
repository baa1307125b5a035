// Plugins of this process: each shared library is loaded, checked and initialised once and stays.
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "pjrt/call.h"
#include "pjrt/library.h"

static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static tpt_plugin_t* plugins;  // guarded by plugins_lock; entries never leave

static char* copy_text(const char* text) {
  size_t size = strlen(text) + 1;
  char* copy = tpt_malloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

static tpt_status_t plugin_initialize(tpt_plugin_t* plugin) {
  PJRT_GetPjrtApi get_api;
  // POSIX's own way to turn dlsym's object pointer into a function pointer.
  *(void**)&get_api = dlsym(plugin->library, "GetPjrtApi");
  if (!get_api) {
    TPT_FAIL(TPT_FAILED_PRECONDITION, "%s is not a PJRT plugin: it exports no GetPjrtApi",
             plugin->path);
  }
  TPT_TRY(tpt__plugin_bind(plugin, get_api()));
  PJRT_Plugin_Initialize_Args args = {0};
  return tpt_status_note(TPT_PJRT_CALL(plugin, Plugin_Initialize, &args), "loading %s",
                         plugin->path);
}

static tpt_status_t plugin_create(const char* path, tpt_plugin_t** out_plugin) {
  void* library = NULL;
  TPT_TRY(tpt__library_open(path, &library));
  // The same file under another name has the same handle.
  for (tpt_plugin_t* known = plugins; known; known = known->next) {
    if (known->library == library) {
      dlclose(library);
      *out_plugin = known;
      return NULL;
    }
  }
  tpt_plugin_t* plugin = tpt_calloc(1, sizeof(*plugin));
  char* copy = copy_text(path);
  tpt_status_t status = NULL;
  if (!plugin || !copy) {
    status =
        tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory to load %s", path);
  } else {
    plugin->path = copy;
    plugin->library = library;
    status = plugin_initialize(plugin);
  }
  if (status) {
    // The library stays mapped: code of a half-started plugin may still run on its own threads.
    tpt_free(copy);
    tpt_free(plugin);
    return status;
  }
  plugin->next = plugins;
  plugins = plugin;
  *out_plugin = plugin;
  return NULL;
}

tpt_status_t tpt_plugin_load(const char* path, tpt_plugin_t** out_plugin) {
  *out_plugin = NULL;
  if (!path || !*path) TPT_FAIL(TPT_INVALID_ARGUMENT, "the path of the PJRT plugin is empty");
  pthread_mutex_lock(&plugins_lock);
  tpt_status_t status = plugin_create(path, out_plugin);
  pthread_mutex_unlock(&plugins_lock);
  return status;
}

const char* tpt_plugin_path(const tpt_plugin_t* plugin) {
  return plugin->path;
}

void tpt_plugin_version(const tpt_plugin_t* plugin, int* out_major, int* out_minor) {
  *out_major = plugin->api.pjrt_api_version.major_version;
  *out_minor = plugin->api.pjrt_api_version.minor_version;
}
