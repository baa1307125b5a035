// A reader of the compile options' wire format. Unknown fields are skipped, as protocol buffers want
// it; fields that would change results are refused. Knows nothing of programs or devices.
#include "vtpu/compile_options.h"

#include <string.h>

// Field numbers of CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto.
enum {
  OPTIONS_BUILD = 3,
  OPTIONS_PORTABLE = 4,
  OPTIONS_OVERRIDES = 7,
  OPTIONS_PRECISION = 10,
  BUILD_REPLICAS = 4,
  BUILD_PARTITIONS = 5,
  BUILD_ASSIGNMENT = 9,
  ASSIGNMENT_COMPUTATION = 3,
  COMPUTATION_DEVICES = 1,
  OVERRIDE_KEY = 1,
};

typedef struct reader {
  const uint8_t* next;
  const uint8_t* end;
} reader_t;

typedef struct field {
  uint32_t number;
  uint64_t value;  // of a varint
  reader_t bytes;  // of a length-delimited field
  bool is_bytes;
} field_t;

static bool read_varint(reader_t* reader, uint64_t* out_value) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && reader->next < reader->end; shift += 7) {
    uint8_t byte = *reader->next++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      *out_value = value;
      return true;
    }
  }
  return false;
}

// The next field; false at damage.
static bool read_field(reader_t* reader, field_t* field) {
  uint64_t key = 0, size = 0;
  memset(field, 0, sizeof(*field));
  if (!read_varint(reader, &key)) return false;
  field->number = (uint32_t)(key >> 3);
  size_t rest = (size_t)(reader->end - reader->next);
  switch (key & 7) {
  case 0:
    return read_varint(reader, &field->value);
  case 1:
    size = 8;
    break;
  case 5:
    size = 4;
    break;
  case 2:
    if (!read_varint(reader, &size)) return false;
    rest = (size_t)(reader->end - reader->next);
    field->is_bytes = true;
    break;
  default:
    return false;
  }
  if (size > rest) return false;
  field->bytes = (reader_t){reader->next, reader->next + size};
  reader->next += size;
  return field->number != 0;
}

static tpt_status_t damaged(const char* message) {
  TPT_FAIL(TPT_INVALID_ARGUMENT, "compile options: %s is damaged", message);
}

static tpt_status_t read_assignment(reader_t reader, vtpu_compile_options_t* options) {
  field_t field, device;
  while (reader.next < reader.end) {
    if (!read_field(&reader, &field)) return damaged("DeviceAssignmentProto");
    if (field.number != ASSIGNMENT_COMPUTATION || !field.is_bytes) continue;
    while (field.bytes.next < field.bytes.end) {
      if (!read_field(&field.bytes, &device)) return damaged("DeviceAssignmentProto");
      if (device.number != COMPUTATION_DEVICES) continue;
      uint64_t id = device.value;
      if (device.is_bytes && !read_varint(&device.bytes, &id))
        return damaged("DeviceAssignmentProto");
      options->device_id = (int64_t)id;
    }
  }
  return NULL;
}

static tpt_status_t read_build(reader_t reader, vtpu_compile_options_t* options) {
  field_t field;
  while (reader.next < reader.end) {
    if (!read_field(&reader, &field)) return damaged("ExecutableBuildOptionsProto");
    if (field.number == BUILD_REPLICAS) options->replica_count = (int64_t)field.value;
    if (field.number == BUILD_PARTITIONS) options->partition_count = (int64_t)field.value;
    if (field.number == BUILD_ASSIGNMENT) TPT_TRY(read_assignment(field.bytes, options));
  }
  return NULL;
}

static tpt_status_t check_override(reader_t reader) {
  field_t field;
  while (reader.next < reader.end) {
    if (!read_field(&reader, &field)) return damaged("env_option_overrides");
    if (field.number != OVERRIDE_KEY || !field.is_bytes) continue;
    const char* key = (const char*)field.bytes.next;
    size_t size = (size_t)(field.bytes.end - field.bytes.next);
    if (size < 4 || memcmp(key, "xla_", 4) != 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "No such compile option: '%.*s'", size < 80 ? (int)size : 80,
               key);
  }
  return NULL;
}

static tpt_status_t read_options(reader_t reader, vtpu_compile_options_t* options) {
  field_t field;
  while (reader.next < reader.end) {
    if (!read_field(&reader, &field)) return damaged("CompileOptionsProto");
    if (field.number == OPTIONS_BUILD) TPT_TRY(read_build(field.bytes, options));
    if (field.number == OPTIONS_PORTABLE) options->is_portable = field.value != 0;
    if (field.number == OPTIONS_OVERRIDES) TPT_TRY(check_override(field.bytes));
    if (field.number == OPTIONS_PRECISION && field.value != 0)
      TPT_FAIL(TPT_UNIMPLEMENTED,
               "compile options: matrix_unit_operand_precision %llu for the whole program; vtpu "
               "takes precision_config of each dot_general and convolution",
               (unsigned long long)field.value);
  }
  return NULL;
}

tpt_status_t vtpu_compile_options_parse(const char* data, size_t size,
                                        vtpu_compile_options_t* options) {
  *options = (vtpu_compile_options_t){.device_id = -1};
  if (!data || size == 0)
    TPT_FAIL(
        TPT_INVALID_ARGUMENT,
        "compile options are empty; the least is 1 replica and 1 partition (1a 04 20 01 28 01)");
  TPT_TRY(read_options((reader_t){(const uint8_t*)data, (const uint8_t*)data + size}, options));
  if (options->replica_count < 1 || options->partition_count < 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "compile options: %lld replicas and %lld partitions; both are at "
             "least 1",
             (long long)options->replica_count, (long long)options->partition_count);
  if (options->replica_count > 1 || options->partition_count > 1)
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "compile options: %lld replicas and %lld partitions; vtpu runs a "
             "program on one device",
             (long long)options->replica_count, (long long)options->partition_count);
  return NULL;
}
