// tputorch-run: runs one StableHLO program on a PJRT plugin, our virtual TPU unless told otherwise.
// Owns the command line, the inputs (files or random numbers) and what is printed; must not know
// how anything is computed. Exit status: 0 done, 1 failed, 2 bad command line.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/npy.h"
#include "base/str.h"
#include "hlo/graph.h"
#include "hlo/read.h"
#include "pjrt/client.h"

static const char usage[] =
    "usage: tputorch-run FILE.mlir [options]\n"
    "Runs the function main of a StableHLO file and shows its results.\n"
    "\n"
    "  --input A.npy [B.npy ...]  parameters, in order; those without a file get random numbers\n"
    "  --seed N                   seed of the random numbers (default 0)\n"
    "  --save PREFIX              writes result i to PREFIX<i>.npy (bf16 as f32) instead of "
    "printing it\n"
    "  --repeat N                 runs N times and prints the times\n"
    "  --donate                   gives parameters away whose memory a result may take "
    "(tf.aliasing_output); the next\n"
    "                             run gets that result\n"
    "  --explain                  shows the plan and the time of each step, instead of the results "
    "(vtpu only)\n"
    "  --json                     the same as JSON, and nothing else\n"
    "  --plugin PATH              a PJRT plugin (default: libvtpu.so near this program)\n"
    "  --option NAME=VALUE        an option of the plugin's client, such as chip=v5p; may be "
    "repeated\n"
    "  --device N                 device to run on (default 0)\n"
    "  --help                     this text\n";

enum { SHOWN_ELEMENTS = 8, OPTIONS_MAX = 16, EXPLAIN_RUNS = 20 };

typedef struct arguments {
  const char* file;
  const char* plugin;
  const char* save;
  char** inputs;  // borrowed from argv
  int input_count;
  tpt_named_value_t options[OPTIONS_MAX];  // names owned
  int option_count;
  int64_t seed;
  int64_t repeat;
  int64_t device;
  bool donate, explain, json;
  bool help;
} arguments_t;

// --- command line --------------------------------------------------------------------------------
static tpt_status_t parse_integer(const char* name, const char* text, int64_t minimum,
                                  int64_t* out) {
  char* end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno || end == text || *end || value < minimum) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s wants a whole number of at least %" PRId64 ", not \"%s\"",
             name, minimum, text);
  }
  *out = value;
  return NULL;
}

static tpt_status_t parse_option(arguments_t* args, const char* text) {
  const char* equals = strchr(text, '=');
  if (!equals || equals == text) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "--option wants NAME=VALUE, not \"%s\"", text);
  }
  if (args->option_count == OPTIONS_MAX) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "more than %d --option", OPTIONS_MAX);
  }
  size_t size = (size_t)(equals - text);
  char* name = tpt_malloc(size + 1);
  if (!name) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory");
  memcpy(name, text, size);
  name[size] = 0;
  tpt_named_value_t* option = &args->options[args->option_count++];
  *option = (tpt_named_value_t){name, equals + 1, 0};
  tpt_status_t status = parse_integer(name, equals + 1, INT64_MIN, &option->integer);
  if (!status) option->text = NULL;  // a number is passed as one
  tpt_status_release(status);
  return NULL;
}

// Takes the value that follows option `at`; moves `inout_at` onto it.
static tpt_status_t take_value(int argc, char** argv, int* inout_at, const char** out) {
  if (*inout_at + 1 >= argc) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s wants a value", argv[*inout_at]);
  }
  *out = argv[++*inout_at];
  return NULL;
}

static tpt_status_t parse_inputs(int argc, char** argv, int* inout_at, arguments_t* args) {
  if (args->inputs)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "--input is given twice; list all files after one");
  args->inputs = argv + *inout_at + 1;
  while (*inout_at + 1 < argc && strncmp(argv[*inout_at + 1], "--", 2) != 0) {
    ++*inout_at;
    args->input_count++;
  }
  if (args->input_count == 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "--input wants at least one file");
  return NULL;
}

static tpt_status_t parse_valued(const char* name, const char* value, arguments_t* args) {
  if (strcmp(name, "--plugin") == 0) {
    args->plugin = value;
  } else if (strcmp(name, "--save") == 0) {
    args->save = value;
  } else if (strcmp(name, "--option") == 0) {
    return parse_option(args, value);
  } else if (strcmp(name, "--seed") == 0) {
    return parse_integer(name, value, INT64_MIN, &args->seed);
  } else if (strcmp(name, "--repeat") == 0) {
    return parse_integer(name, value, 1, &args->repeat);
  } else if (strcmp(name, "--device") == 0) {
    return parse_integer(name, value, 0, &args->device);
  } else {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "unknown option %s; --help lists them", name);
  }
  return NULL;
}

static tpt_status_t parse_arguments(int argc, char** argv, arguments_t* args) {
  for (int at = 1; at < argc; at++) {
    const char* name = argv[at];
    const char* value = NULL;
    if (strcmp(name, "--help") == 0) {
      args->help = true;
      return NULL;
    }
    if (strcmp(name, "--explain") == 0) {
      args->explain = true;
    } else if (strcmp(name, "--donate") == 0) {
      args->donate = true;
    } else if (strcmp(name, "--json") == 0) {
      args->explain = args->json = true;
    } else if (strcmp(name, "--input") == 0) {
      TPT_TRY(parse_inputs(argc, argv, &at, args));
    } else if (strncmp(name, "--", 2) == 0) {
      TPT_TRY(take_value(argc, argv, &at, &value));
      TPT_TRY(parse_valued(name, value, args));
    } else if (args->file) {
      TPT_FAIL(TPT_INVALID_ARGUMENT, "more than one program: %s and %s", args->file, name);
    } else {
      args->file = name;
    }
  }
  if (!args->file) TPT_FAIL(TPT_INVALID_ARGUMENT, "no program; --help tells how to name one");
  if (args->device > INT_MAX) TPT_FAIL(TPT_INVALID_ARGUMENT, "--device is too large");
  if (args->repeat == 0) args->repeat = args->explain ? EXPLAIN_RUNS : 1;
  return NULL;
}

// --- files ---------------------------------------------------------------------------------------
static tpt_status_t read_text(const char* path, tpt_str_t* out) {
  FILE* file = fopen(path, "rb");
  if (!file) TPT_FAIL(TPT_NOT_FOUND, "cannot open %s: %s", path, strerror(errno));
  char block[16384];
  size_t size;
  while ((size = fread(block, 1, sizeof(block), file)) > 0)
    tpt_str_append(out, block, size);
  bool is_bad = ferror(file) != 0;
  fclose(file);
  if (is_bad) TPT_FAIL(TPT_DATA_LOSS, "cannot read %s", path);
  return tpt_str_status(out);
}

// libvtpu.so beside this program or in the folder above.
static tpt_status_t find_vtpu(tpt_str_t* out) {
  static const char* const places[] = {"libvtpu.so", "../libvtpu.so"};
  char folder[4096];
  ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
  folder[size > 0 ? size : 0] = 0;
  char* slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
    tpt_str_clear(out);
    tpt_str_printf(out, "%s/%s", folder, places[i]);
    TPT_TRY(tpt_str_status(out));
    if (access(out->data, R_OK) == 0) return NULL;
  }
  TPT_FAIL(TPT_NOT_FOUND, "no libvtpu.so in %s or the folder above; name a plugin with --plugin",
           folder);
}

// --- inputs --------------------------------------------------------------------------------------
static uint64_t next_random(uint64_t* state) {  // splitmix64
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static double random_unit(uint64_t* state) {  // -1 <= x < 1
  return (double)(next_random(state) >> 11) * 0x1p-52 - 1.0;
}

// Floats in [-1, 1), integers 0 to 7 (fit to index with), random truth values.
static void fill_random(const tpt_type_t* type, uint64_t* state, char* data) {
  size_t size = tpt_dtype_size(type->dtype);
  int64_t count = tpt_type_count(type);
  bool is_real = tpt_dtype_is_float(type->dtype) || tpt_dtype_is_complex(type->dtype);
  for (int64_t i = 0; i < count; i++) {
    tpt_number_t number = {.dtype = TPT_S64};
    if (is_real) {
      number.dtype = tpt_dtype_is_complex(type->dtype) ? TPT_C128 : TPT_F64;
      number.f = random_unit(state);
      if (tpt_dtype_is_complex(type->dtype)) number.im = random_unit(state);
    } else {
      number.i = (int64_t)(next_random(state) >> 61);
      if (type->dtype == TPT_PRED) number.i &= 1;
    }
    tpt_number_store(&number, type->dtype, data + (size_t)i * size);
  }
}

// Data of a parameter from a file; floats of another width are rounded to the parameter's.
static tpt_status_t load_input(const char* path, const tpt_type_t* type, char* data) {
  tpt_npy_t npy;
  char have[256], want[256];
  TPT_TRY(tpt_npy_read(path, &npy));
  tpt_status_t status = NULL;
  bool converts = tpt_dtype_is_float(npy.type.dtype) && tpt_dtype_is_float(type->dtype);
  if (!tpt_dims_equal(&npy.type, type) || (npy.type.dtype != type->dtype && !converts)) {
    status = tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__, "%s holds %s, not %s", path,
                             tpt_type_print(&npy.type, have, sizeof(have)),
                             tpt_type_print(type, want, sizeof(want)));
  } else if (npy.type.dtype == type->dtype) {
    memcpy(data, npy.data, npy.size);
  } else {
    size_t from = tpt_dtype_size(npy.type.dtype), to = tpt_dtype_size(type->dtype);
    for (int64_t i = 0; i < tpt_type_count(type); i++) {
      tpt_number_t number = tpt_number_load(npy.type.dtype, (char*)npy.data + (size_t)i * from);
      tpt_number_store(&number, type->dtype, data + (size_t)i * to);
    }
    printf("note: %s is converted from %s to %s\n", path, tpt_dtype_row(npy.type.dtype)->name,
           tpt_dtype_row(type->dtype)->name);
  }
  tpt_npy_deinit(&npy);
  return status;
}

// --- the run -------------------------------------------------------------------------------------
typedef struct run {
  tpt_graph_t* graph;
  tpt_client_t* client;
  tpt_executable_t* executable;
  int parameter_count;
  tpt_buffer_t** parameters;
  int64_t* keep;  // parameters that outlive a run
  int keep_count;
  int result_count;
  tpt_buffer_t** results;
} run_t;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static tpt_status_t upload_parameter(run_t* run, const arguments_t* args, int number,
                                     uint64_t* random_state) {
  tpt_block_t main_block = tpt_graph_block(run->graph, 0);
  tpt_value_t value = {main_block.first_arg + (uint32_t)number};
  tpt_type_t type = *tpt_graph_type(run->graph, value);
  size_t size = (size_t)tpt_type_size(&type);
  char* data = tpt_malloc(size > 0 ? size : 1);
  if (!data) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for %zu bytes", size);
  tpt_status_t status = NULL;
  if (number < args->input_count) {
    status = load_input(args->inputs[number], &type, data);
  } else {
    fill_random(&type, random_state, data);
  }
  if (!status) {
    status =
        tpt_buffer_from_host(run->client, (int)args->device, &type, data, &run->parameters[number]);
  }
  tpt_free(data);
  return tpt_status_note(status, "preparing parameter %d", number);
}

static tpt_status_t upload_parameters(run_t* run, const arguments_t* args) {
  uint64_t random_state = (uint64_t)args->seed;
  run->parameter_count = (int)tpt_graph_block(run->graph, 0).arg_count;
  if (args->input_count > run->parameter_count) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%d input files, but %s has %d parameter%s", args->input_count,
             args->file, run->parameter_count, run->parameter_count == 1 ? "" : "s");
  }
  size_t count = (size_t)run->parameter_count + 1;
  run->parameters = tpt_calloc(count, sizeof(*run->parameters));
  run->keep = tpt_calloc(count, sizeof(*run->keep));
  if (!run->parameters || !run->keep) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory");
  for (int i = 0; i < run->parameter_count; i++) {
    bool is_given = args->donate && tpt_graph_alias_of(run->graph, (uint32_t)i) >= 0;
    if (!is_given) run->keep[run->keep_count++] = i;
    TPT_TRY(upload_parameter(run, args, i, &random_state));
  }
  return NULL;
}

static tpt_status_t open_client(run_t* run, const arguments_t* args) {
  tpt_str_t path;
  tpt_plugin_t* plugin = NULL;
  tpt_str_init(&path);
  tpt_status_t status = NULL;
  if (args->plugin) {
    tpt_str_append_cstr(&path, args->plugin);
    status = tpt_str_status(&path);
  } else {
    status = find_vtpu(&path);
  }
  if (!status) status = tpt_plugin_load(path.data, &plugin);
  tpt_str_deinit(&path);
  TPT_TRY(status);
  tpt_named_value_t options[OPTIONS_MAX + 1];
  memcpy(options, args->options, sizeof(args->options));
  int count = args->option_count;
  if (args->explain) options[count++] = (tpt_named_value_t){.name = "profile", .integer = 1};
  return tpt_client_create(plugin, options, count, &run->client);
}

static void release_results(run_t* run) {
  for (int i = 0; run->results && i < run->result_count; i++) {
    tpt_buffer_release(run->results[i]);
    run->results[i] = NULL;
  }
}

// Results that took a parameter's memory are the parameter from now on.
static void take_back_results(run_t* run) {
  int kept = 0;
  for (int i = 0; i < run->parameter_count; i++) {
    if (kept < run->keep_count && run->keep[kept] == i) {
      kept++;
      continue;
    }
    tpt_buffer_t** result = &run->results[tpt_graph_alias_of(run->graph, (uint32_t)i)];
    if (!*result) continue;
    tpt_buffer_release(run->parameters[i]);
    run->parameters[i] = *result;
    *result = NULL;
  }
}

static tpt_status_t execute_once(run_t* run, const arguments_t* args, double* out_seconds) {
  tpt_run_params_t params = {.device = (int)args->device,
                             .args = run->parameters,
                             .arg_count = run->parameter_count,
                             .keep = run->keep,
                             .keep_count = run->keep_count};
  take_back_results(run);
  release_results(run);
  double start = now();
  TPT_TRY(tpt_executable_run(run->executable, &params, run->results));
  for (int i = 0; i < run->result_count; i++)
    TPT_TRY(tpt_buffer_await(run->results[i]));
  *out_seconds = now() - start;
  return NULL;
}

static tpt_status_t execute(run_t* run, const arguments_t* args) {
  run->result_count = tpt_executable_result_count(run->executable);
  run->results = tpt_calloc((size_t)run->result_count + 1, sizeof(*run->results));
  if (!run->results) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory");
  double seconds = 0, sum = 0, best = INFINITY, first = 0;
  for (int64_t i = 0; i < args->repeat; i++) {
    TPT_TRY(execute_once(run, args, &seconds));
    if (i == 0) first = seconds;
    if (seconds < best) best = seconds;
    sum += seconds;
  }
  if (args->repeat > 1 && !args->json) {
    printf("%" PRId64 " runs: first %.1f us, best %.1f us, mean %.1f us\n", args->repeat,
           first * 1e6, best * 1e6, sum / (double)args->repeat * 1e6);
  }
  return NULL;
}

// --- results -------------------------------------------------------------------------------------
static void print_number(const tpt_number_t* number) {
  if (tpt_dtype_is_complex(number->dtype)) {
    printf("%.7g%+.7gi", number->f, number->im);
  } else if (tpt_dtype_is_float(number->dtype)) {
    printf("%.7g", number->f);
  } else if (tpt_dtype_row(number->dtype)->kind == TPT_CLASS_UINT) {
    printf("%" PRIu64, (uint64_t)number->i);
  } else if (number->dtype == TPT_PRED) {
    printf(number->i ? "true" : "false");
  } else {
    printf("%" PRId64, number->i);
  }
}

static bool is_less(const tpt_number_t* a, const tpt_number_t* b) {
  if (tpt_dtype_is_float(a->dtype)) return a->f < b->f;
  if (tpt_dtype_row(a->dtype)->kind == TPT_CLASS_UINT) return (uint64_t)a->i < (uint64_t)b->i;
  return a->i < b->i;
}

static void print_range(const tpt_type_t* type, const char* data) {
  size_t size = tpt_dtype_size(type->dtype);
  int64_t count = tpt_type_count(type), seen = 0;
  tpt_number_t low = {0}, high = {0};
  for (int64_t i = 0; i < count; i++) {
    tpt_number_t number = tpt_number_load(type->dtype, data + (size_t)i * size);
    if (tpt_dtype_is_float(type->dtype) && isnan(number.f)) continue;
    if (seen == 0 || is_less(&number, &low)) low = number;
    if (seen == 0 || is_less(&high, &number)) high = number;
    seen++;
  }
  if (seen > 0) {
    printf("  min ");
    print_number(&low);
    printf("  max ");
    print_number(&high);
  }
  if (seen < count) printf("  nan %" PRId64 " of %" PRId64, count - seen, count);
}

static void print_result(int number, const tpt_type_t* type, const char* data) {
  char text[256];
  size_t size = tpt_dtype_size(type->dtype);
  int64_t count = tpt_type_count(type);
  printf("result %d: %s", number, tpt_type_print(type, text, sizeof(text)));
  if (!tpt_dtype_is_complex(type->dtype)) print_range(type, data);
  printf("\n  [");
  for (int64_t i = 0; i < count && i < SHOWN_ELEMENTS; i++) {
    tpt_number_t element = tpt_number_load(type->dtype, data + (size_t)i * size);
    if (i > 0) printf(", ");
    print_number(&element);
  }
  printf(count > SHOWN_ELEMENTS ? ", ...]\n" : "]\n");
}

static tpt_status_t save_result(const char* prefix, int number, const tpt_type_t* type,
                                const char* data) {
  tpt_str_t path;
  char text[256];
  tpt_str_init(&path);
  tpt_str_printf(&path, "%s%d.npy", prefix, number);
  tpt_status_t status = tpt_str_status(&path);
  if (!status) status = tpt_npy_write(path.data, type, data);
  if (!status) {
    printf("%s: %s%s\n", path.data, tpt_type_print(type, text, sizeof(text)),
           type->dtype == TPT_BF16 ? " (saved as f32: NumPy has no bf16)" : "");
  }
  tpt_str_deinit(&path);
  return status;
}

static tpt_status_t show_result(run_t* run, const arguments_t* args, int number) {
  tpt_type_t type;
  TPT_TRY(tpt_buffer_type(run->results[number], &type));
  size_t size = (size_t)tpt_type_size(&type);
  char* data = tpt_malloc(size > 0 ? size : 1);
  if (!data) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for %zu bytes", size);
  tpt_status_t status = tpt_buffer_to_host(run->results[number], data, size);
  if (!status && args->save) {
    status = save_result(args->save, number, &type, data);
  } else if (!status) {
    print_result(number, &type, data);
  }
  tpt_free(data);
  return tpt_status_note(status, "reading result %d", number);
}

static tpt_status_t compile(run_t* run, const arguments_t* args) {
  tpt_str_t text;
  tpt_str_init(&text);
  tpt_status_t status = read_text(args->file, &text);
  if (!status) {
    status = tpt_status_note(tpt_graph_read(text.data ? text.data : "", text.size, &run->graph),
                             "reading %s", args->file);
  }
  if (!status) status = open_client(run, args);
  double start = now();
  if (!status) {
    status =
        tpt_status_note(tpt_client_compile(run->client, text.data, text.size, &run->executable),
                        "compiling %s", args->file);
  }
  if (!status && !args->json) {
    printf("%s on %s (%s), compiled in %.2f ms\n", args->file,
           tpt_client_device_kind(run->client, (int)args->device),
           tpt_client_platform_name(run->client), (now() - start) * 1e3);
  }
  tpt_str_deinit(&text);
  return status;
}

// --- plans ---------------------------------------------------------------------------------------
enum { PLAN_COLUMNS = 9 };
typedef struct plan_row {
  const char* text[PLAN_COLUMNS];  // depth, kernel, details, then numbers
  double number[PLAN_COLUMNS];
} plan_row_t;
enum { DEPTH, KERNEL, DETAILS, BYTES, FLOPS, ESTIMATE, RUNS, BEST, TOTAL };

// Cuts the next line of a plan into its columns, in place; false at the end.
static bool next_row(char** inout_text, plan_row_t* row) {
  char* line = *inout_text;
  if (!line || !*line) return false;
  char* end = strchr(line, '\n');
  *inout_text = end ? end + 1 : line + strlen(line);
  if (end) *end = 0;
  for (int i = 0; i < PLAN_COLUMNS; i++) {
    row->text[i] = line;
    char* tab = strchr(line, '\t');
    if (tab) *tab = 0;
    row->number[i] = strtod(line, NULL);
    line = tab ? tab + 1 : line + strlen(line);
  }
  return true;
}

static void print_json_rows(char* text, const plan_row_t* head) {
  plan_row_t row;
  printf("{\"parameters\": %.0f, \"results\": %.0f, \"temporary_bytes\": %.0f, \"steps\": [",
         head->number[1], head->number[2], head->number[3]);
  for (const char* comma = ""; next_row(&text, &row); comma = ",")
    printf("%s\n  {\"depth\": %.0f, \"kernel\": \"%s\", \"details\": \"%s\", \"bytes\": %.0f, "
           "\"flops\": %.0f, \"estimated_ns\": %.0f, \"runs\": %.0f, \"best_ns\": %.0f, "
           "\"total_ns\": %.0f}",
           comma, row.number[DEPTH], row.text[KERNEL], row.text[DETAILS], row.number[BYTES],
           row.number[FLOPS], row.number[ESTIMATE], row.number[RUNS], row.number[BEST],
           row.number[TOTAL]);
  printf("\n]}\n");
}

// Steps of nested blocks are part of the time of the step that owns them.
static void print_table_rows(char* text, const plan_row_t* head) {
  plan_row_t row;
  double sum = 0, bytes = 0, flops = 0;
  int64_t steps = 0;
  printf("%.0f parameters, %.0f results, %.0f bytes of temporaries\n", head->number[1],
         head->number[2], head->number[3]);
  printf("%10s %10s %8s %8s  %12s %12s  %s\n", "best us", "estimate", "GB/s", "GFLOP/s", "bytes",
         "flops", "step");
  for (; next_row(&text, &row); steps++) {
    double best = row.number[BEST] > 0 ? row.number[BEST] : NAN;
    printf("%10.2f %10.2f %8.2f %8.2f  %12.0f %12.0f  %*s%s %s\n", best * 1e-3,
           row.number[ESTIMATE] * 1e-3, row.number[BYTES] / best, row.number[FLOPS] / best,
           row.number[BYTES], row.number[FLOPS], (int)row.number[DEPTH] * 2, "", row.text[KERNEL],
           row.text[DETAILS]);
    if (row.number[DEPTH] > 0) continue;
    sum += row.number[BEST];
    bytes += row.number[BYTES];
    flops += row.number[FLOPS];
  }
  printf("%10.2f %10s %8s %8s  %12.0f %12.0f  %" PRId64 " steps\n", sum * 1e-3, "", "", "", bytes,
         flops, steps);
}

static tpt_status_t explain(run_t* run, const arguments_t* args) {
  tpt_str_t text;
  plan_row_t head;
  tpt_str_init(&text);
  tpt_status_t status = tpt_executable_plan(run->executable, &text);
  char* rest = text.data;
  if (!status && next_row(&rest, &head))
    (args->json ? print_json_rows : print_table_rows)(rest, &head);
  tpt_str_deinit(&text);
  return status;
}

static tpt_status_t run_program(run_t* run, const arguments_t* args) {
  TPT_TRY(compile(run, args));
  TPT_TRY(upload_parameters(run, args));
  TPT_TRY_NOTE(execute(run, args), "running %s", args->file);
  if (args->explain) return explain(run, args);
  for (int i = 0; i < run->result_count; i++)
    TPT_TRY(show_result(run, args, i));
  return NULL;
}

static void release_run(run_t* run) {
  release_results(run);
  for (int i = 0; run->parameters && i < run->parameter_count; i++) {
    tpt_buffer_release(run->parameters[i]);
  }
  tpt_free(run->results);
  tpt_free(run->parameters);
  tpt_free(run->keep);
  tpt_executable_release(run->executable);
  tpt_client_release(run->client);
  tpt_graph_release(run->graph);
}

static int report(tpt_status_t take_status, int exit_code) {
  if (!take_status) return 0;
  fflush(stdout);
  fprintf(stderr, "tputorch-run: %s\n", tpt_status_message(take_status));
  tpt_status_release(take_status);
  return exit_code;
}

int main(int argc, char** argv) {
  arguments_t args = {0};
  run_t run = {0};
  int exit_code = report(parse_arguments(argc, argv, &args), 2);
  if (exit_code == 0 && args.help) {
    fputs(usage, stdout);
  } else if (exit_code == 0) {
    exit_code = report(run_program(&run, &args), 1);
  }
  release_run(&run);
  for (int i = 0; i < args.option_count; i++)
    tpt_free((char*)(uintptr_t)args.options[i].name);
  return exit_code;
}
