// Writer of CompileOptionsProto: protobuf's wire format for the few fields in use. Field numbers
// are facts of xla's compile_options.proto and xla_data.proto.
#include "pjrt/compile_options.h"

enum {  // wire types
  WIRE_VARINT = 0,
  WIRE_BYTES = 2,
};
enum {  // CompileOptionsProto
  FIELD_BUILD_OPTIONS = 3,
  FIELD_PORTABLE = 4,
  FIELD_OVERRIDES = 7,  // a map of XLA's debug options
};
enum {  // ExecutableBuildOptionsProto
  FIELD_REPLICAS = 4,
  FIELD_PARTITIONS = 5,
  FIELD_SPMD = 6,
  FIELD_ASSIGNMENT = 9,
};
enum {  // a map's entry, and OptionOverrideProto
  FIELD_KEY = 1,
  FIELD_VALUE = 2,
  FIELD_BOOL = 2,
};
enum {  // DeviceAssignmentProto and its ComputationDevice
  FIELD_REPLICA_COUNT = 1,
  FIELD_COMPUTATION_COUNT = 2,
  FIELD_COMPUTATION_DEVICES = 3,
  FIELD_REPLICA_DEVICE_IDS = 1,
};

static void append_varint(tpt_str_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    tpt_str_append_char(out, (char)(value | 0x80));
  tpt_str_append_char(out, (char)value);
}

static void append_int(tpt_str_t* out, int field, int64_t value) {
  append_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
  append_varint(out, (uint64_t)value);
}

// A message or packed list, whose bytes were built apart.
static void append_bytes(tpt_str_t* out, int field, const tpt_str_t* bytes) {
  append_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
  append_varint(out, bytes->size);
  if (bytes->size > 0) tpt_str_append(out, bytes->data, bytes->size);
  out->failed |= bytes->failed;
}

static void append_assignment(tpt_str_t* out, const tpt_compile_options_t* options) {
  tpt_str_t assignment, computation, ids;
  tpt_str_init(&assignment);
  tpt_str_init(&computation);
  tpt_str_init(&ids);
  append_int(&assignment, FIELD_REPLICA_COUNT, options->replicas);
  append_int(&assignment, FIELD_COMPUTATION_COUNT, options->partitions);
  for (int partition = 0; partition < options->partitions; partition++) {
    tpt_str_clear(&computation);
    tpt_str_clear(&ids);
    for (int replica = 0; replica < options->replicas; replica++) {
      int64_t index = (int64_t)replica * options->partitions + partition;
      append_varint(&ids, (uint64_t)options->devices[index]);
    }
    append_bytes(&computation, FIELD_REPLICA_DEVICE_IDS, &ids);
    append_bytes(&assignment, FIELD_COMPUTATION_DEVICES, &computation);
  }
  append_bytes(out, FIELD_ASSIGNMENT, &assignment);
  tpt_str_deinit(&ids);
  tpt_str_deinit(&computation);
  tpt_str_deinit(&assignment);
}

static void append_override(tpt_str_t* out, const char* name, bool is_on) {
  tpt_str_t entry, part;
  tpt_str_init(&entry);
  tpt_str_init(&part);
  tpt_str_append_cstr(&part, name);
  append_bytes(&entry, FIELD_KEY, &part);
  tpt_str_clear(&part);
  append_int(&part, FIELD_BOOL, is_on);
  append_bytes(&entry, FIELD_VALUE, &part);
  append_bytes(out, FIELD_OVERRIDES, &entry);
  tpt_str_deinit(&part);
  tpt_str_deinit(&entry);
}

tpt_status_t tpt_compile_options_print(const tpt_compile_options_t* options, tpt_str_t* out) {
  if (options->replicas < 1 || options->partitions < 1) {
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "compile options ask for %d replicas and %d partitions; both must be at least 1",
             options->replicas, options->partitions);
  }
  if (options->is_portable &&
      (options->replicas != 1 || options->partitions != 1 || options->devices)) {
    TPT_FAIL(
        TPT_INVALID_ARGUMENT,
        "a portable executable has 1 replica, 1 partition and no device list, not %d, %d and %s",
        options->replicas, options->partitions, options->devices ? "one" : "none");
  }
  tpt_str_t build;
  tpt_str_init(&build);
  append_int(&build, FIELD_REPLICAS, options->replicas);
  append_int(&build, FIELD_PARTITIONS, options->partitions);
  if (options->partitions > 1) append_int(&build, FIELD_SPMD, 1);
  if (options->devices) append_assignment(&build, options);
  append_bytes(out, FIELD_BUILD_OPTIONS, &build);
  tpt_str_deinit(&build);
  if (options->is_portable) append_int(out, FIELD_PORTABLE, 1);
  if (options->keeps_nan) append_override(out, "xla_cpu_enable_fast_min_max", false);
  return tpt_str_status(out);
}
