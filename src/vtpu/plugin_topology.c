// Topologies: device descriptions of a slice of chips, with or without a client, and the entries
// PJRT_TopologyDescription_* and PJRT_DeviceDescription_*. A serialized topology is its name.
// Invariant: a topology is constant once made.
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "base/str.h"
#include "vtpu/plugin.h"

static PJRT_NamedValue int_value(const char* name, int64_t value) {
  return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                           .name = name,
                           .name_size = strlen(name),
                           .type = PJRT_NamedValue_kInt64,
                           .int64_value = value,
                           .value_size = 1};
}

static void describe(const vtpu_slice_t* slice, int id, PJRT_DeviceDescription* d) {
  *d = (PJRT_DeviceDescription){.handle.mark = VTPU_HANDLE_DESCRIPTION,
                                .id = id,
                                .kind = slice->chip->kind,
                                .place = vtpu_slice_place(slice, id)};
  const int64_t* c = d->place.coords;
  snprintf(d->text, sizeof(d->text),
           "VtpuDevice(id=%d, process_index=0, coords=(%lld,%lld,%lld), core_on_chip=%lld)", id,
           (long long)c[0], (long long)c[1], (long long)c[2], (long long)d->place.core_on_chip);
  snprintf(d->debug_text, sizeof(d->debug_text), "VTPU_%d (%s, %lld MiB)", id, d->kind,
           (long long)(slice->chip->hbm_size >> 20));
  d->attributes[0] = int_value("core_on_chip", d->place.core_on_chip);
  d->attributes[1] = int_value("num_cores", slice->chip->core_count);
  d->attributes[2] = int_value("device_memory_bytes_limit", slice->chip->hbm_size);
  d->attributes[3] = int_value("coords", 0);
  d->attributes[3].type = PJRT_NamedValue_kInt64List;
  d->attributes[3].int64_array_value = d->place.coords;
  d->attributes[3].value_size = VTPU_GRID_RANK_MAX;
}

tpt_status_t vtpu_topology_create(const vtpu_slice_t* slice,
                                  PJRT_TopologyDescription** out_topology) {
  _Static_assert(sizeof(PJRT_TopologyDescription) <= VTPU_HANDLE_SIZE, "fits a handle");
  PJRT_TopologyDescription* topology = vtpu_handle_take(VTPU_HANDLE_TOPOLOGY);
  *out_topology = NULL;
  if (!topology) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a topology");
  size_t count = (size_t)slice->device_count;
  topology->slice = tpt_malloc(sizeof(*slice));
  topology->descriptions = tpt_calloc(count, sizeof(*topology->descriptions));
  topology->list = tpt_calloc(count, sizeof(*topology->list));
  topology->attributes = tpt_calloc(1, sizeof(*topology->attributes));
  topology->platform_version = tpt_calloc(1, VTPU_TEXT_SIZE);
  if (!topology->slice || !topology->descriptions || !topology->list || !topology->attributes ||
      !topology->platform_version) {
    vtpu_topology_release(topology);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a topology of %zu devices", count);
  }
  *topology->slice = *slice;
  for (size_t i = 0; i < count; i++) {
    topology->list[i] = &topology->descriptions[i];
    describe(topology->slice, (int)i, topology->list[i]);
  }
  topology->attributes[0] = int_value("device_memory_bytes_limit", slice->chip->hbm_size);
  snprintf(topology->platform_version, VTPU_TEXT_SIZE, "vtpu %s, a virtual %s", VTPU_VERSION,
           slice->chip->kind);
  *out_topology = topology;
  return NULL;
}

void vtpu_topology_release(PJRT_TopologyDescription* topology) {
  tpt_free(topology->slice);
  tpt_free(topology->descriptions);
  tpt_free(topology->list);
  tpt_free(topology->attributes);
  tpt_free(topology->platform_version);
  vtpu_handle_give(topology);
}

static tpt_status_t check(const PJRT_TopologyDescription* topology) {
  return vtpu_handle_check(topology, VTPU_HANDLE_TOPOLOGY);
}

static tpt_status_t check_options(const PJRT_NamedValue* options, size_t count) {
  static const char* const known[] = {"chips_per_host_bounds", "chip_config_name"};
  if (count > 0) TPT_TRY(vtpu_need(options, "create_options"));
  for (size_t i = 0; i < count; i++) {
    bool is_known = false;
    for (int k = 0; k < 2; k++)
      is_known |= strlen(known[k]) == options[i].name_size &&
                  memcmp(known[k], options[i].name, options[i].name_size) == 0;
    if (!is_known)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "unknown topology option '%.*s'; vtpu takes chips_per_host_bounds and "
               "chip_config_name, which change nothing here",
               options[i].name_size < 60 ? (int)options[i].name_size : 60, options[i].name);
  }
  return NULL;
}

tpt_status_t vtpu_slot_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  vtpu_slice_t slice;
  const char* name = args->topology_name_size > 0 ? args->topology_name : "v5e";
  size_t size = args->topology_name_size > 0 ? args->topology_name_size : 3;
  args->topology = NULL;
  TPT_TRY(vtpu_need(name, "topology_name"));
  TPT_TRY(check_options(args->create_options, args->num_options));
  TPT_TRY(vtpu_slice_parse(name, size, &slice));
  return vtpu_topology_create(&slice, &args->topology);
}

tpt_status_t vtpu_slot_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  if (!args->topology) return NULL;
  TPT_TRY(check(args->topology));
  if (args->topology->is_of_client)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the topology belongs to a client and dies with it");
  vtpu_topology_release(args->topology);
  return NULL;
}

tpt_status_t
vtpu_slot_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  TPT_TRY(check(args->topology));
  args->platform_name = VTPU_PLATFORM_NAME;
  args->platform_name_size = strlen(VTPU_PLATFORM_NAME);
  return NULL;
}

tpt_status_t
vtpu_slot_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args* args) {
  TPT_TRY(check(args->topology));
  args->platform_version = args->topology->platform_version;
  args->platform_version_size = strlen(args->platform_version);
  return NULL;
}

tpt_status_t vtpu_slot_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  TPT_TRY(check(args->topology));
  args->descriptions = args->topology->list;
  args->num_descriptions = (size_t)args->topology->slice->device_count;
  return NULL;
}

tpt_status_t
vtpu_slot_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  TPT_TRY(check(args->topology));
  args->attributes = args->topology->attributes;
  args->num_attributes = 1;
  return NULL;
}

// "v5e:2x2x1"
static void print_name(const vtpu_slice_t* slice, char* text, size_t text_size) {
  int used = snprintf(text, text_size, "%s:%lld", slice->chip->name, (long long)slice->sizes[0]);
  for (int i = 1; i < slice->chip->grid_rank; i++)
    used += snprintf(text + used, text_size - (size_t)used, "x%lld", (long long)slice->sizes[i]);
}

static void delete_bytes(PJRT_SerializedTopology* holder) {
  vtpu_bytes_release(holder);
}

tpt_status_t
vtpu_slot_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  char name[VTPU_TEXT_SIZE];
  TPT_TRY(check(args->topology));
  print_name(args->topology->slice, name, sizeof(name));
  args->serialized_bytes_size = strlen(name);
  args->serialized_topology =
      vtpu_bytes_create(name, args->serialized_bytes_size, &args->serialized_bytes);
  args->serialized_topology_deleter = delete_bytes;
  if (!args->serialized_topology) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a topology");
  return NULL;
}

tpt_status_t
vtpu_slot_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  vtpu_slice_t slice;
  args->topology = NULL;
  TPT_TRY(vtpu_need(args->serialized_topology, "serialized_topology"));
  TPT_TRY_NOTE(vtpu_slice_parse(args->serialized_topology, args->serialized_topology_size, &slice),
               "reading a serialized topology");
  return vtpu_topology_create(&slice, &args->topology);
}

tpt_status_t
vtpu_slot_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  char name[VTPU_TEXT_SIZE];
  TPT_TRY(check(args->topology));
  print_name(args->topology->slice, name, sizeof(name));
  args->fingerprint = tpt_hash_bytes(name, strlen(name), 0);
  return NULL;
}

tpt_status_t vtpu_slot_TopologyDescription_GetMemorySpaceKindIds(
    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args) {
  static const int kinds[] = {0};
  TPT_TRY(check(args->topology));
  args->memory_space_kind_ids = kinds;
  args->num_memory_space_kind_ids = 1;
  return NULL;
}

// --- device descriptions ------------------------------------------------------------------------------

static tpt_status_t check_device(const PJRT_DeviceDescription* description) {
  return vtpu_handle_check(description, VTPU_HANDLE_DESCRIPTION);
}

tpt_status_t vtpu_slot_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->id = args->device_description->id;
  return NULL;
}

tpt_status_t
vtpu_slot_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->process_index = 0;
  return NULL;
}

tpt_status_t vtpu_slot_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->attributes = args->device_description->attributes;
  args->num_attributes = VTPU_ATTRIBUTE_COUNT;
  return NULL;
}

tpt_status_t vtpu_slot_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->device_kind = args->device_description->kind;
  args->device_kind_size = strlen(args->device_kind);
  return NULL;
}

tpt_status_t
vtpu_slot_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->debug_string = args->device_description->debug_text;
  args->debug_string_size = strlen(args->debug_string);
  return NULL;
}

tpt_status_t vtpu_slot_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args* args) {
  TPT_TRY(check_device(args->device_description));
  args->to_string = args->device_description->text;
  args->to_string_size = strlen(args->to_string);
  return NULL;
}
