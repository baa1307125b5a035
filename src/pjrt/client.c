// Client: a plugin's instance and what is asked of it once, at creation: names and devices.
#include "pjrt/client.h"

#include <limits.h>
#include <string.h>

#include "base/allocator.h"
#include "pjrt/handle.h"

enum { OPTIONS_MAX = 64 };

static tpt_status_t out_of_memory(void) {
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for the PJRT client");
}

static tpt_status_t copy_text(const char* text, size_t size, char** out_text) {
  *out_text = tpt_malloc(size + 1);
  if (!*out_text) return out_of_memory();
  if (size > 0) memcpy(*out_text, text, size);
  (*out_text)[size] = 0;
  return NULL;
}

static tpt_status_t fill_options(const tpt_named_value_t* options, int count,
                                 PJRT_NamedValue* out_values) {
  if (count < 0 || count > OPTIONS_MAX) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%d client options; at most %d are supported", count,
             OPTIONS_MAX);
  }
  for (int i = 0; i < count; i++) {
    PJRT_NamedValue* value = &out_values[i];
    memset(value, 0, sizeof(*value));
    value->struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value->name = options[i].name;
    value->name_size = strlen(options[i].name);
    if (options[i].text) {
      value->type = PJRT_NamedValue_kString;
      value->string_value = options[i].text;
      value->value_size = strlen(options[i].text);
    } else {
      value->type = PJRT_NamedValue_kInt64;
      value->int64_value = options[i].integer;
      value->value_size = 1;
    }
  }
  return NULL;
}

static tpt_status_t read_platform(tpt_client_t* client) {
  PJRT_Client_PlatformName_Args name = {.client = client->client};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Client_PlatformName, &name));
  TPT_TRY(copy_text(name.platform_name, name.platform_name_size, &client->platform_name));
  PJRT_Client_PlatformVersion_Args version = {.client = client->client};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Client_PlatformVersion, &version));
  TPT_TRY(copy_text(version.platform_version, version.platform_version_size,
                    &client->platform_version));
  client->wants_host_layout = strcmp(client->platform_name, "tpu") == 0;
  return NULL;
}

static tpt_status_t read_device(tpt_client_t* client, PJRT_Device* device,
                                tpt_client_device_t* out) {
  out->device = device;
  PJRT_Device_GetDescription_Args description = {.device = device};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Device_GetDescription, &description));
  PJRT_DeviceDescription_Kind_Args kind = {.device_description = description.device_description};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, DeviceDescription_Kind, &kind));
  return copy_text(kind.device_kind, kind.device_kind_size, &out->kind);
}

static tpt_status_t read_devices(tpt_client_t* client) {
  PJRT_Client_AddressableDevices_Args args = {.client = client->client};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Client_AddressableDevices, &args));
  if (args.num_addressable_devices > INT_MAX) {
    TPT_FAIL(TPT_INTERNAL, "%s reports %zu devices", client->plugin->path,
             args.num_addressable_devices);
  }
  if (args.num_addressable_devices == 0) return NULL;
  client->devices = tpt_calloc(args.num_addressable_devices, sizeof(*client->devices));
  if (!client->devices) return out_of_memory();
  for (size_t i = 0; i < args.num_addressable_devices; i++) {
    client->device_count = (int)i + 1;
    TPT_TRY(read_device(client, args.addressable_devices[i], &client->devices[i]));
  }
  return NULL;
}

tpt_status_t tpt_client_create(tpt_plugin_t* plugin, const tpt_named_value_t* options,
                               int option_count, tpt_client_t** out_client) {
  *out_client = NULL;
  PJRT_NamedValue values[OPTIONS_MAX];
  TPT_TRY(fill_options(options, option_count, values));
  tpt_client_t* client = tpt_calloc(1, sizeof(*client));
  if (!client) return out_of_memory();
  atomic_init(&client->references, 1);
  client->plugin = plugin;
  PJRT_Client_Create_Args args = {.create_options = values, .num_options = (size_t)option_count};
  tpt_status_t status = TPT_PJRT_CALL(plugin, Client_Create, &args);
  client->client = args.client;
  if (!status && !client->client) {
    status = tpt_status_make(TPT_INTERNAL, __FILE__, __LINE__, "%s made no client", plugin->path);
  }
  if (!status) status = read_platform(client);
  if (!status) status = read_devices(client);
  if (status) {
    tpt_client_release(client);
    return tpt_status_note(status, "opening %s", plugin->path);
  }
  *out_client = client;
  return NULL;
}

void tpt_client_release(tpt_client_t* take_client) {
  if (!take_client || !tpt__reference_drop(&take_client->references)) return;
  if (take_client->client) {
    PJRT_Client_Destroy_Args args = {.client = take_client->client};
    // Nobody is left to tell.
    tpt_status_release(TPT_PJRT_CALL(take_client->plugin, Client_Destroy, &args));
  }
  for (int i = 0; i < take_client->device_count; i++)
    tpt_free(take_client->devices[i].kind);
  tpt_free(take_client->devices);
  tpt_free(take_client->platform_name);
  tpt_free(take_client->platform_version);
  tpt_free(take_client);
}

const char* tpt_client_platform_name(const tpt_client_t* client) {
  return client->platform_name;
}

const char* tpt_client_platform_version(const tpt_client_t* client) {
  return client->platform_version;
}

int tpt_client_device_count(const tpt_client_t* client) {
  return client->device_count;
}

const char* tpt_client_device_kind(const tpt_client_t* client, int device) {
  return device >= 0 && device < client->device_count ? client->devices[device].kind : "";
}

tpt_status_t tpt__client_check_device(const tpt_client_t* client, int device) {
  if (__builtin_expect(device >= 0 && device < client->device_count, 1)) return NULL;
  TPT_FAIL(TPT_OUT_OF_RANGE, "device %d does not exist: %s has %d device%s", device,
           client->platform_name, client->device_count, client->device_count == 1 ? "" : "s");
}

tpt_status_t tpt_client_memory_stats(tpt_client_t* client, int device, tpt_memory_stats_t* out) {
  *out = (tpt_memory_stats_t){-1, -1, -1, -1, -1};
  TPT_TRY(tpt__client_check_device(client, device));
  PJRT_Device_MemoryStats_Args args = {.device = client->devices[device].device};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Device_MemoryStats, &args));
  out->in_use = args.bytes_in_use;
  if (args.peak_bytes_in_use_is_set) out->peak_in_use = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) out->limit = args.bytes_limit;
  if (args.largest_free_block_bytes_is_set) out->largest_free = args.largest_free_block_bytes;
  if (args.num_allocs_is_set) out->alloc_count = args.num_allocs;
  return NULL;
}
