// Images: what an executable is made of, and its serialized form. The form is a fixed head (mark,
// version, sizes, checksum), the compile options and the canonical StableHLO text; loading compiles
// again. Invariant: bytes that are not exactly what serialize wrote are refused.
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "vtpu/plugin.h"

enum { FORMAT_VERSION = 1 };

typedef struct head {
  char mark[8];
  uint32_t version;
  uint32_t options_size;
  uint64_t text_size;
  uint64_t checksum;  // of everything after the head, seeded with version and sizes
} head_t;

static const char head_mark[8] = {'V', 'T', 'P', 'U', 'E', 'X', 'E', '\n'};

// --- life -------------------------------------------------------------------------------------------

vtpu_image_t* vtpu_image_retain(vtpu_image_t* image) {
  atomic_fetch_add_explicit(&image->ref_count, 1, memory_order_relaxed);
  return image;
}

void vtpu_image_release(vtpu_image_t* image) {
  if (!image || atomic_fetch_sub_explicit(&image->ref_count, 1, memory_order_acq_rel) != 1) return;
  vtpu_code_release(image->code);
  tpt_free(image->options_data);
  tpt_free(image->result_dtypes);
  tpt_free(image->result_dims);
  tpt_free(image->result_ranks);
  tpt_free(image->kinds);
  tpt_free(image->kind_sizes);
  tpt_free(image);
}

static PJRT_NamedValue cost(const char* name, double value) {
  return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                           .name = name,
                           .name_size = strlen(name),
                           .type = PJRT_NamedValue_kFloat,
                           .float_value = (float)value,
                           .value_size = 1};
}

static tpt_status_t fill_tables(vtpu_image_t* image) {
  const vtpu_code_t* code = image->code;
  size_t results = (size_t)code->result_count, params = (size_t)code->param_count, dims = 0;
  size_t kinds = results > params ? results : params;
  for (size_t i = 0; i < results; i++)
    dims += (size_t)code->results[i]->rank;
  image->result_dtypes = tpt_calloc(results + 1, sizeof(*image->result_dtypes));
  image->result_dims = tpt_calloc(dims + 1, sizeof(*image->result_dims));
  image->result_ranks = tpt_calloc(results + 1, sizeof(*image->result_ranks));
  image->kinds = tpt_calloc(kinds + 1, sizeof(*image->kinds));
  image->kind_sizes = tpt_calloc(kinds + 1, sizeof(*image->kind_sizes));
  if (!image->result_dtypes || !image->result_dims || !image->result_ranks || !image->kinds ||
      !image->kind_sizes)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an executable's tables");
  int64_t* next = image->result_dims;
  for (size_t i = 0; i < results; i++) {
    const tpt_type_t* type = code->results[i];
    image->result_dtypes[i] = (PJRT_Buffer_Type)type->dtype;
    image->result_ranks[i] = (size_t)type->rank;
    for (int d = 0; d < type->rank; d++)
      *next++ = type->dims[d];
  }
  for (size_t i = 0; i < kinds; i++) {
    image->kinds[i] = "device";
    image->kind_sizes[i] = strlen("device");
  }
  image->costs[0] = cost("flops", vtpu_program_flops(code->program));
  image->costs[1] = cost("bytes accessed", vtpu_program_bytes(code->program));
  image->costs[2] = cost("optimal_seconds", (double)code->cost * 1e-9);
  return NULL;
}

tpt_status_t vtpu_image_compile(const char* text, size_t text_size, const char* options,
                                size_t options_size, vtpu_image_t** out_image) {
  *out_image = NULL;
  vtpu_compile_options_t parsed;
  TPT_TRY(vtpu_compile_options_parse(options, options_size, &parsed));
  vtpu_image_t* image = tpt_calloc(1, sizeof(*image));
  if (!image) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an executable");
  atomic_init(&image->ref_count, 1);
  image->options = parsed;
  image->options_size = options_size;
  image->options_data = tpt_malloc(options_size);
  tpt_status_t status = NULL;
  if (!image->options_data)
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                             "no memory for compile options");
  else
    memcpy(image->options_data, options, options_size);
  if (!status) status = vtpu_code_create(text, text_size, &image->code);
  if (!status) status = fill_tables(image);
  if (status) {
    vtpu_image_release(image);
    return status;
  }
  *out_image = image;
  return NULL;
}

tpt_status_t vtpu_program_compile_abi(const PJRT_Program* program, const char* options,
                                      size_t options_size, vtpu_image_t** out_image) {
  static const char bytecode[4] = {'M', 'L', (char)0xef, 'R'};
  *out_image = NULL;
  TPT_TRY(vtpu_need(program, "program"));
  if (program->struct_size < PJRT_ABI_END(PJRT_Program, format_size))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Unexpected PJRT_Program size: expected %d, got %zu",
             PJRT_Program_STRUCT_SIZE, program->struct_size);
  TPT_TRY(vtpu_need(program->code, "program.code"));
  TPT_TRY(vtpu_need(program->format, "program.format"));
  bool is_hlo = program->format_size == 3 && memcmp(program->format, "hlo", 3) == 0;
  bool is_mlir = program->format_size == 4 && memcmp(program->format, "mlir", 4) == 0;
  if (!is_mlir)
    TPT_FAIL(is_hlo ? TPT_UNIMPLEMENTED : TPT_INVALID_ARGUMENT,
             "program format '%.*s': vtpu takes StableHLO text in format 'mlir'",
             program->format_size < 40 ? (int)program->format_size : 40, program->format);
  if (program->code_size >= 4 && memcmp(program->code, bytecode, 4) == 0)
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "the program is MLIR bytecode (a StableHLO portable artifact); vtpu reads StableHLO "
             "text only");
  return vtpu_image_compile(program->code, program->code_size, options, options_size, out_image);
}

// --- serialized form ----------------------------------------------------------------------------------

static uint64_t checksum(const head_t* head, const char* data) {
  uint64_t seed = tpt_hash_mix(tpt_hash_mix(head->version, head->options_size), head->text_size);
  return tpt_hash_bytes(data, head->options_size + head->text_size, seed);
}

tpt_status_t vtpu_image_serialize(vtpu_image_t* image, char** out_data, size_t* out_size) {
  const tpt_str_t* text = NULL;
  *out_data = NULL;
  TPT_TRY_NOTE(vtpu_code_canonical(image->code, &text), "serializing an executable");
  head_t head = {.version = FORMAT_VERSION,
                 .options_size = (uint32_t)image->options_size,
                 .text_size = text->size};
  size_t size = sizeof(head) + image->options_size + text->size;
  char* data = tpt_malloc(size);
  if (!data) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a serialized executable");
  memcpy(head.mark, head_mark, sizeof(head_mark));
  memcpy(data + sizeof(head), image->options_data, image->options_size);
  memcpy(data + sizeof(head) + image->options_size, text->data, text->size);
  head.checksum = checksum(&head, data + sizeof(head));
  memcpy(data, &head, sizeof(head));
  *out_data = data;
  *out_size = size;
  return NULL;
}

tpt_status_t vtpu_image_deserialize(const char* data, size_t size, vtpu_image_t** out_image) {
  head_t head;
  *out_image = NULL;
  TPT_TRY(vtpu_need(data, "serialized_executable"));
  if (size < sizeof(head) || memcmp(data, head_mark, sizeof(head_mark)) != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "these %zu bytes are no executable that vtpu serialized", size);
  memcpy(&head, data, sizeof(head));
  if (head.version != FORMAT_VERSION)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "the executable was serialized in format %u, this vtpu reads format %d; compile again",
             head.version, FORMAT_VERSION);
  size_t rest = size - sizeof(head);
  if (head.options_size > rest || head.text_size != rest - head.options_size ||
      head.checksum != checksum(&head, data + sizeof(head)))
    TPT_FAIL(TPT_DATA_LOSS, "the serialized executable is damaged; compile again");
  const char* options = data + sizeof(head);
  return vtpu_image_compile(options + head.options_size, head.text_size, options, head.options_size,
                            out_image);
}

tpt_status_t vtpu_image_fingerprint(vtpu_image_t* image, const char** out_text) {
  const tpt_str_t* text = NULL;
  TPT_TRY(vtpu_code_canonical(image->code, &text));
  pthread_mutex_lock(&image->code->mutex);
  if (!image->has_fingerprint) {
    uint64_t seed = tpt_hash_bytes(image->options_data, image->options_size, 1);
    seed = tpt_hash_bytes(VTPU_VERSION, strlen(VTPU_VERSION), seed);
    uint64_t a = tpt_hash_bytes(text->data, text->size, seed);
    uint64_t b = tpt_hash_bytes(text->data, text->size, tpt_hash_mix(seed, 2));
    snprintf(image->fingerprint, sizeof(image->fingerprint), "%016llx%016llx",
             (unsigned long long)a, (unsigned long long)b);
    image->has_fingerprint = true;
  }
  pthread_mutex_unlock(&image->code->mutex);
  *out_text = image->fingerprint;
  return NULL;
}

// --- lent bytes -----------------------------------------------------------------------------------------

void* vtpu_bytes_create(const void* data, size_t size, const char** out_bytes) {
  char* bytes = tpt_malloc(size + 1);
  *out_bytes = bytes;
  if (!bytes) return NULL;
  if (size > 0) memcpy(bytes, data, size);
  bytes[size] = 0;
  return bytes;
}

void vtpu_bytes_release(void* holder) {
  tpt_free(holder);
}
