// Host cost of the ABI's hot path: Execute of a one-op program with two inputs and one output, with
// and without an event, donated, queued; uploads, downloads, events. Prints nanoseconds a call; the
// cost of the program itself (vtpu_program_run) is measured apart, so that the rest is ours.
#include <stdlib.h>
#include <time.h>

#include "vtpu/launch.h"
#include "vtpu/plugin_probe.h"

enum { ROUNDS = 7, CALLS = 20000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef struct bench {
  PJRT_Client* client;
  PJRT_LoadedExecutable *add, *bump;
  PJRT_Buffer *x, *y;
  void *memory[2], *out;
} bench_t;

typedef void (*step_t)(bench_t* b);

// The best of several rounds.
static double measure(bench_t* b, step_t step) {
  double best = 1e30;
  for (int r = 0; r < ROUNDS; r++) {
    double start = now();
    for (int i = 0; i < CALLS; i++)
      step(b);
    double each = (now() - start) / CALLS;
    if (each < best) best = each;
  }
  return best;
}

static void execute(bench_t* b, PJRT_LoadedExecutable* executable, PJRT_Buffer** result,
                    PJRT_Event** event) {
  PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
  PJRT_Buffer* const args[] = {b->x, b->y};
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {result};
  ARGS(LoadedExecutable_Execute, call, .executable = executable, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 2,
       .output_lists = output_lists, .device_complete_events = event);
  if (CALL(LoadedExecutable_Execute, call)) exit(1);
}

static void step_program(bench_t* b) {
  static vtpu_exec_t exec;
  static char temp[1 << 16] __attribute__((aligned(64)));
  exec.pool = b->client->client->serial;
  exec.temp = temp;
  if (vtpu_program_run(b->add->image->code->program, &exec, b->memory, &b->out)) exit(1);
}

static void step_execute(bench_t* b) {
  PJRT_Buffer* result = NULL;
  execute(b, b->add, &result, NULL);
  ARGS(Buffer_Destroy, destroy, .buffer = result);
  if (CALL(Buffer_Destroy, destroy)) exit(1);
}

static void step_execute_event(bench_t* b) {
  PJRT_Buffer* result = NULL;
  PJRT_Event* event = NULL;
  execute(b, b->add, &result, &event);
  probe_destroy_event(event);
  ARGS(Buffer_Destroy, destroy, .buffer = result);
  if (CALL(Buffer_Destroy, destroy)) exit(1);
}

static void step_chain(bench_t* b) {
  PJRT_Buffer* result = NULL;
  execute(b, b->bump, &result, NULL);
  ARGS(Buffer_Destroy, destroy, .buffer = b->x);
  if (CALL(Buffer_Destroy, destroy)) exit(1);
  b->x = result;
}

static void step_round_trip(bench_t* b) {
  PJRT_Buffer* result = NULL;
  float got[4];
  execute(b, b->add, &result, NULL);
  if (probe_read(result, got, sizeof(got))) exit(1);
  ARGS(Buffer_Destroy, destroy, .buffer = result);
  if (CALL(Buffer_Destroy, destroy)) exit(1);
}

static void step_upload(bench_t* b) {
  ARGS(Buffer_Destroy, destroy, .buffer = probe_floats(b->client, 1, 2, 3, 4));
  if (CALL(Buffer_Destroy, destroy)) exit(1);
}

static void step_download(bench_t* b) {
  float got[4];
  if (probe_read(b->y, got, sizeof(got))) exit(1);
}

static void run(const char* title, int64_t inline_limit) {
  bench_t b = {.client = probe_client(1, inline_limit)};
  b.add = probe_compile(b.client, probe_add);
  b.bump = probe_compile(b.client, probe_bump);
  b.x = probe_floats(b.client, 1, 2, 3, 4);
  b.y = probe_floats(b.client, 0, 0, 0, 0);
  PJRT_Buffer* z = probe_floats(b.client, 0, 0, 0, 0);
  CHECK_OK(vtpu_buffer_address(vtpu_buffer_of(b.x), &b.memory[0]));
  CHECK_OK(vtpu_buffer_address(vtpu_buffer_of(b.y), &b.memory[1]));
  CHECK_OK(vtpu_buffer_address(vtpu_buffer_of(z), &b.out));
  printf("%s\n", title);
  if (inline_limit > 0) printf("  %8.0f ns  the program alone\n", measure(&b, step_program));
  printf("  %8.0f ns  execute + destroy\n", measure(&b, step_execute));
  printf("  %8.0f ns  execute with event + destroy\n", measure(&b, step_execute_event));
  printf("  %8.0f ns  execute, donated chain\n", measure(&b, step_chain));
  printf("  %8.0f ns  execute + download of 16 bytes\n", measure(&b, step_round_trip));
  printf("  %8.0f ns  upload of 16 bytes + destroy\n", measure(&b, step_upload));
  printf("  %8.0f ns  download of 16 bytes\n", measure(&b, step_download));
  probe_destroy(b.x);
  probe_destroy(b.y);
  probe_destroy(z);
  probe_destroy_loaded(b.add);
  probe_destroy_loaded(b.bump);
  probe_close(b.client);
}

int main(void) {
  run("on the calling thread", 1000000);
  run("queued", -1);
  return 0;
}
