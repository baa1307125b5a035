// Owns the program that synchronize waits for. Must not know storages or calls.
#include "eager/barrier.h"

#include <string.h>

static const char kText[] =
    "\"builtin.module\"() ({\n"
    "\"func.func\"() ({\n"
    "^bb0(%0: tensor<i32>):\n"
    "%1 = \"stablehlo.add\"(%0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>\n"
    "\"func.return\"(%1) : (tensor<i32>) -> ()\n"
    "}) {function_type = (tensor<i32>) -> (tensor<i32>), sym_name = \"main\"} : () -> ()\n"
    "}) : () -> ()\n";

static tpt_status_t prepare(tpt_barrier_t* barrier, tpt_client_t* client, int device) {
  if (!barrier->executable)
    TPT_TRY(tpt_client_compile(client, kText, sizeof(kText) - 1, &barrier->executable));
  if (barrier->number) return NULL;
  tpt_type_t type = tpt_type_scalar(TPT_S32);
  int32_t one = 1;
  return tpt_buffer_from_host(client, device, &type, &one, &barrier->number);
}

tpt_status_t tpt_barrier_send(tpt_barrier_t* barrier, tpt_client_t* client, int device,
                              tpt_buffer_t** out_result) {
  TPT_TRY_NOTE(prepare(barrier, client, device),
               "while making the program that synchronize waits for");
  tpt_run_params_t params = {.device = device, .args = &barrier->number, .arg_count = 1};
  return tpt_executable_run(barrier->executable, &params, out_result);
}

void tpt_barrier_deinit(tpt_barrier_t* barrier) {
  tpt_buffer_release(barrier->number);
  tpt_executable_release(barrier->executable);
  memset(barrier, 0, sizeof(*barrier));
}
