// Tests of topologies and device descriptions.
#include "vtpu/plugin_probe.h"

static PJRT_TopologyDescription* create(const char* name) {
  ARGS(TopologyDescription_Create, create, .topology_name = name,
       .topology_name_size = strlen(name));
  PASSES(TopologyDescription_Create, create);
  return create.topology;
}

static void destroy(PJRT_TopologyDescription* topology) {
  ARGS(TopologyDescription_Destroy, args, .topology = topology);
  PASSES(TopologyDescription_Destroy, args);
}

static void test_descriptions(void) {
  PJRT_TopologyDescription* topology = create("v5e:2x2");
  ARGS(TopologyDescription_GetDeviceDescriptions, query, .topology = topology);
  PASSES(TopologyDescription_GetDeviceDescriptions, query);
  CHECK_EQ(query.num_descriptions, 4);
  PJRT_DeviceDescription* last = query.descriptions[3];
  ARGS(DeviceDescription_Id, id, .device_description = last);
  PASSES(DeviceDescription_Id, id);
  CHECK_EQ(id.id, 3);
  ARGS(DeviceDescription_Kind, kind, .device_description = last);
  PASSES(DeviceDescription_Kind, kind);
  CHECK_STR(kind.device_kind, "TPU v5 lite");
  CHECK_EQ(kind.device_kind_size, 11);
  ARGS(DeviceDescription_ToString, text, .device_description = last);
  PASSES(DeviceDescription_ToString, text);
  CHECK_STR(text.to_string, "VtpuDevice(id=3, process_index=0, coords=(1,1,0), core_on_chip=0)");
  ARGS(DeviceDescription_DebugString, debug, .device_description = last);
  PASSES(DeviceDescription_DebugString, debug);
  CHECK_EQ(strlen(debug.debug_string), debug.debug_string_size);
  ARGS(DeviceDescription_ProcessIndex, process, .device_description = last);
  PASSES(DeviceDescription_ProcessIndex, process);
  CHECK_EQ(process.process_index, 0);
  ARGS(DeviceDescription_Attributes, attributes, .device_description = last);
  PASSES(DeviceDescription_Attributes, attributes);
  CHECK_EQ(attributes.num_attributes, 4);
  CHECK_STR(attributes.attributes[3].name, "coords");
  CHECK_EQ(attributes.attributes[3].int64_array_value[1], 1);
  CHECK_EQ(attributes.attributes[2].int64_value, 16909336576);
  destroy(topology);
}

static void test_serialized_form_makes_the_same_topology(void) {
  PJRT_TopologyDescription* topology = create("tpu7x:2x2x1");
  ARGS(TopologyDescription_Serialize, serialize, .topology = topology);
  PASSES(TopologyDescription_Serialize, serialize);
  ARGS(TopologyDescription_Deserialize, deserialize,
       .serialized_topology = serialize.serialized_bytes,
       .serialized_topology_size = serialize.serialized_bytes_size);
  PASSES(TopologyDescription_Deserialize, deserialize);
  serialize.serialized_topology_deleter(serialize.serialized_topology);
  ARGS(TopologyDescription_Fingerprint, a, .topology = topology);
  ARGS(TopologyDescription_Fingerprint, b, .topology = deserialize.topology);
  PASSES(TopologyDescription_Fingerprint, a);
  PASSES(TopologyDescription_Fingerprint, b);
  CHECK(a.fingerprint == b.fingerprint);
  ARGS(TopologyDescription_GetDeviceDescriptions, query, .topology = deserialize.topology);
  PASSES(TopologyDescription_GetDeviceDescriptions, query);
  CHECK_EQ(query.num_descriptions, 8);
  destroy(topology);
  destroy(deserialize.topology);
}

static void test_names_attributes_and_memory_kinds(void) {
  PJRT_TopologyDescription* topology = create("v4:2x2x1");
  ARGS(TopologyDescription_PlatformName, name, .topology = topology);
  PASSES(TopologyDescription_PlatformName, name);
  CHECK_STR(name.platform_name, "vtpu");
  ARGS(TopologyDescription_PlatformVersion, version, .topology = topology);
  PASSES(TopologyDescription_PlatformVersion, version);
  CHECK(strstr(version.platform_version, "TPU v4") != NULL);
  ARGS(TopologyDescription_Attributes, attributes, .topology = topology);
  PASSES(TopologyDescription_Attributes, attributes);
  CHECK_EQ(attributes.num_attributes, 1);
  ARGS(TopologyDescription_GetMemorySpaceKindIds, kinds, .topology = topology);
  PASSES(TopologyDescription_GetMemorySpaceKindIds, kinds);
  CHECK_EQ(kinds.num_memory_space_kind_ids, 1);
  destroy(topology);
}

static void test_bad_topologies_are_refused(void) {
  ARGS(TopologyDescription_Create, create, .topology_name = "v9:2x2", .topology_name_size = 6);
  REFUSES(TopologyDescription_Create, create, TPT_INVALID_ARGUMENT, "unknown chip 'v9'");
  const PJRT_NamedValue option = probe_int("colour", 1), known = probe_int("chip_config_name", 1);
  create.topology_name = "v5e";
  create.topology_name_size = 3;
  create.create_options = &option;
  create.num_options = 1;
  REFUSES(TopologyDescription_Create, create, TPT_INVALID_ARGUMENT, "'colour'");
  create.create_options = &known;
  PASSES(TopologyDescription_Create, create);
  destroy(create.topology);
  ARGS(TopologyDescription_Destroy, again, .topology = create.topology);
  REFUSES(TopologyDescription_Destroy, again, TPT_INVALID_ARGUMENT, "not a live topology");
  ARGS(TopologyDescription_Deserialize, broken, .serialized_topology = "\x01\x02",
       .serialized_topology_size = 2);
  REFUSES(TopologyDescription_Deserialize, broken, TPT_INVALID_ARGUMENT, "serialized topology");
}

static void test_the_clients_topology_is_the_clients(void) {
  PJRT_Client* client = probe_client(3, 0);
  ARGS(Client_TopologyDescription, query, .client = client);
  PASSES(Client_TopologyDescription, query);
  ARGS(TopologyDescription_GetDeviceDescriptions, list, .topology = query.topology);
  PASSES(TopologyDescription_GetDeviceDescriptions, list);
  CHECK_EQ(list.num_descriptions, 3);
  ARGS(TopologyDescription_Destroy, wrong, .topology = query.topology);
  REFUSES(TopologyDescription_Destroy, wrong, TPT_INVALID_ARGUMENT, "belongs to a client");
  probe_close(client);
}

int main(void) {
  RUN(test_descriptions);
  RUN(test_serialized_form_makes_the_same_topology);
  RUN(test_names_attributes_and_memory_kinds);
  RUN(test_bad_topologies_are_refused);
  RUN(test_the_clients_topology_is_the_clients);
  return TEST_RESULT;
}
