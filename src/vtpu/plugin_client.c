// Clients: devices, memories and pools behind a handle, and the entries PJRT_Plugin_* and
// PJRT_Client_* that do not make buffers or executables. Invariant: a client whose handle is destroyed
// lives on, closed, until its last buffer, executable and transfer manager are gone.
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "vtpu/plugin.h"

// Clients whose handle is destroyed and that still have objects.
static pthread_mutex_t closed_mutex = PTHREAD_MUTEX_INITIALIZER;
static vtpu_client_t* closed_clients;

// --- plugin -----------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Plugin_Initialize(PJRT_Plugin_Initialize_Args* args) {
  (void)args;
  return NULL;
}

tpt_status_t vtpu_slot_Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  static const int64_t current[] = {1, 17, 0}, minimum[] = {0, 9, 0};
  static const PJRT_NamedValue attributes[] = {
      {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
       .name = "xla_version",
       .name_size = 11,
       .type = PJRT_NamedValue_kInt64,
       .int64_value = 2,
       .value_size = 1},
      {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
       .name = "stablehlo_current_version",
       .name_size = 25,
       .type = PJRT_NamedValue_kInt64List,
       .int64_array_value = current,
       .value_size = 3},
      {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
       .name = "stablehlo_minimum_version",
       .name_size = 25,
       .type = PJRT_NamedValue_kInt64List,
       .int64_array_value = minimum,
       .value_size = 3},
  };
  args->attributes = attributes;
  args->num_attributes = sizeof(attributes) / sizeof(*attributes);
  return NULL;
}

// --- life ---------------------------------------------------------------------------------------------

static void release_client(vtpu_client_t* client) {
  if (!client) return;
  for (int i = 0; i < client->device_count && client->devices; i++)
    vtpu_device_stop(client->devices[i].device);
  for (int i = 0; i < client->device_count && client->devices; i++)
    vtpu_device_release(client->devices[i].device);
  if (client->topology) vtpu_topology_release(client->topology);
  tpt_pool_release(client->pool);
  tpt_pool_release(client->serial);
  tpt_free(client->devices);
  tpt_free(client->device_list);
  tpt_free(client->memory_list);
  tpt_free(client);
}

// Queued work may hold the last references to buffers, so it is awaited; it can end, because no
// transfer manager is left to keep it waiting.
static bool has_objects(vtpu_client_t* client) {
  uint64_t count = 0;
  if (atomic_load(&client->object_count) > 0) return true;
  for (int i = 0; i < client->device_count; i++) {
    vtpu_device_t* device = client->devices[i].device;
    vtpu_device_drain(device);
    vtpu_device_lock(device);
    count += device->buffer_count;
    vtpu_device_unlock(device);
  }
  return count > 0;
}

void vtpu_client_reap(vtpu_client_t* client) {
  if (vtpu_device_is_worker_thread()) return;
  pthread_mutex_lock(&closed_mutex);
  vtpu_client_t** link = &closed_clients;
  while (*link && *link != client)
    link = &(*link)->next_closed;
  bool is_over = *link && !has_objects(client);
  if (is_over) *link = client->next_closed;
  pthread_mutex_unlock(&closed_mutex);
  if (is_over) release_client(client);
}

static tpt_status_t create_device(vtpu_client_t* client, int id,
                                  const vtpu_client_options_t* options) {
  PJRT_Device* device = &client->devices[id];
  PJRT_Memory* memory = &device->memory;
  *device = (PJRT_Device){.handle.mark = VTPU_HANDLE_DEVICE,
                          .client = client,
                          .description = client->topology->list[id]};
  *memory = (PJRT_Memory){.handle.mark = VTPU_HANDLE_MEMORY, .id = id, .device = device};
  snprintf(memory->text, sizeof(memory->text), "VtpuMemory(id=%d, kind=device, device=%d)", id, id);
  device->memories[0] = client->memory_list[id] = memory;
  device->devices[0] = client->device_list[id] = device;
  vtpu_device_params_t params = {.id = id,
                                 .hbm_size = (size_t)options->hbm,
                                 .pool = client->pool,
                                 .serial = client->serial,
                                 .inline_limit = options->inline_limit,
                                 .flush_subnormals = options->flush_subnormals,
                                 .profile = options->profile,
                                 .keep = (size_t)options->keep,
                                 .owner = device};
  return vtpu_device_create(&params, &device->device);
}

static tpt_status_t fill_client(vtpu_client_t* client, const vtpu_client_options_t* options) {
  const vtpu_chip_t* chip = options->chip;
  int64_t chips = (options->devices + chip->device_count - 1) / chip->device_count;
  vtpu_slice_t slice = {
      .chip = chip, .sizes = {chips, 1, 1}, .device_count = chips * chip->device_count};
  size_t count = (size_t)options->devices;
  client->devices = tpt_calloc(count, sizeof(*client->devices));
  client->device_list = tpt_calloc(count, sizeof(*client->device_list));
  client->memory_list = tpt_calloc(count, sizeof(*client->memory_list));
  if (!client->devices || !client->device_list || !client->memory_list)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a client of %zu devices", count);
  client->device_count = (int)count;
  TPT_TRY(vtpu_topology_create(&slice, &client->topology));
  client->topology->is_of_client = true;
  TPT_TRY(tpt_pool_create((int)options->threads, &client->pool));
  TPT_TRY(tpt_pool_create(1, &client->serial));
  for (int i = 0; i < client->device_count; i++)
    TPT_TRY(create_device(client, i, options));
  return NULL;
}

tpt_status_t vtpu_slot_Client_Create(PJRT_Client_Create_Args* args) {
  vtpu_client_options_t options;
  args->client = NULL;
  TPT_TRY(vtpu_client_options_parse(args->create_options, args->num_options, &options));
  vtpu_client_t* client = tpt_calloc(1, sizeof(*client));
  PJRT_Client* handle = vtpu_handle_take(VTPU_HANDLE_CLIENT);
  tpt_status_t status = NULL;
  if (!client || !handle)
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory for a client");
  if (!status) status = fill_client(client, &options);
  if (status) {
    release_client(client);
    vtpu_handle_give(handle);
    return status;
  }
  handle->client = client;
  args->client = handle;
  return NULL;
}

tpt_status_t vtpu_slot_Client_Destroy(PJRT_Client_Destroy_Args* args) {
  if (!args->client) return NULL;
  TPT_TRY(vtpu_client_check(args->client));
  vtpu_client_t* client = args->client->client;
  for (int i = 0; i < client->device_count; i++)
    client->devices[i].handle.mark = VTPU_HANDLE_DEAD;
  pthread_mutex_lock(&closed_mutex);
  client->next_closed = closed_clients;
  closed_clients = client;
  pthread_mutex_unlock(&closed_mutex);
  atomic_store_explicit(&client->is_closed, true, memory_order_release);
  vtpu_handle_give(args->client);
  vtpu_client_reap(client);
  return NULL;
}

// --- queries ----------------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->platform_name = VTPU_PLATFORM_NAME;
  args->platform_name_size = strlen(VTPU_PLATFORM_NAME);
  return NULL;
}

tpt_status_t vtpu_slot_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->platform_version = args->client->client->topology->platform_version;
  args->platform_version_size = strlen(args->platform_version);
  return NULL;
}

tpt_status_t vtpu_slot_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->process_index = 0;
  return NULL;
}

tpt_status_t vtpu_slot_Client_Devices(PJRT_Client_Devices_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->devices = args->client->client->device_list;
  args->num_devices = (size_t)args->client->client->device_count;
  return NULL;
}

tpt_status_t vtpu_slot_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->addressable_devices = args->client->client->device_list;
  args->num_addressable_devices = (size_t)args->client->client->device_count;
  return NULL;
}

static tpt_status_t lookup(PJRT_Client* handle, int id, PJRT_Device** out_device) {
  TPT_TRY(vtpu_client_check(handle));
  vtpu_client_t* client = handle->client;
  *out_device = NULL;
  if (id < 0 || id >= client->device_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "no device %d: the client has devices 0 to %d", id,
             client->device_count - 1);
  *out_device = client->device_list[id];
  return NULL;
}

tpt_status_t vtpu_slot_Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  return lookup(args->client, args->id, &args->device);
}

tpt_status_t
vtpu_slot_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  return lookup(args->client, args->local_hardware_id, &args->addressable_device);
}

tpt_status_t vtpu_slot_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->addressable_memories = args->client->client->memory_list;
  args->num_addressable_memories = (size_t)args->client->client->device_count;
  return NULL;
}

tpt_status_t vtpu_slot_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  args->topology = args->client->client->topology;
  return NULL;
}

// Replicas run over the devices in order; partitions of a replica stand together.
tpt_status_t
vtpu_slot_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_need(args->default_assignment, "default_assignment"));
  int64_t replicas = args->num_replicas, partitions = args->num_partitions;
  if (replicas < 1 || partitions < 1 || replicas * partitions > args->client->client->device_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%lld replicas of %lld partitions do not fit on %d devices",
             (long long)replicas, (long long)partitions, args->client->client->device_count);
  if (args->default_assignment_size < (size_t)(replicas * partitions))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "default_assignment has room for %zu devices, %lld are needed",
             args->default_assignment_size, (long long)(replicas * partitions));
  for (int64_t i = 0; i < replicas * partitions; i++)
    args->default_assignment[i] = (int)i;
  return NULL;
}

// Host memory needs no pinning: the virtual chip reads it as it is.
tpt_status_t vtpu_slot_Client_DmaMap(PJRT_Client_DmaMap_Args* args) {
  TPT_TRY(vtpu_client_check(args->client));
  return args->size > 0 ? vtpu_need(args->data, "data") : NULL;
}

tpt_status_t vtpu_slot_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args* args) {
  return vtpu_client_check(args->client);
}

tpt_status_t vtpu_client_place(vtpu_client_t* client, PJRT_Device* device, PJRT_Memory* memory,
                               vtpu_device_t** out_device) {
  if (memory) {
    TPT_TRY(vtpu_handle_check(memory, VTPU_HANDLE_MEMORY));
    device = memory->device;
  }
  if (!device) device = client->device_list[0];
  TPT_TRY(vtpu_handle_check(device, VTPU_HANDLE_DEVICE));
  if (device->client != client)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the device belongs to another client");
  *out_device = device->device;
  return NULL;
}
