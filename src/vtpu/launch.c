// Launches. One pass under the device's lock checks the arguments, takes memory for results and
// temporaries, and either runs the program there or queues a task. Invariant: nothing of an argument
// changes before the launch is certain to be run (queued) or has run well (inline).
#include "vtpu/launch.h"

#include <string.h>

#include "base/allocator.h"

enum { SHARED_COST = 50000 };  // nanoseconds from which an inline run is worth the pool

// What the check of the arguments found.
typedef struct survey {
  vtpu_event_t* failed;  // the event of an argument that failed; borrowed
  int pending_count;
  int donated_count;
  void** in;            // per argument: its memory
  vtpu_keep_t** keeps;  // per argument: where copies of it are kept, or NULL; borrowed
  void** out;           // per result
} survey_t;

// --- arguments ------------------------------------------------------------------------------------------

static tpt_status_t count_mismatch(const vtpu_launch_t* launch) {
  TPT_FAIL(TPT_INVALID_ARGUMENT, "the program takes %d arguments, %zu were passed",
           launch->code->param_count, launch->arg_count);
}

static tpt_status_t type_mismatch(const vtpu_launch_t* launch, size_t i) {
  char wanted[200], passed[200];
  tpt_type_print(launch->code->params[i], wanted, sizeof(wanted));
  tpt_type_print(&launch->args[i]->type, passed, sizeof(passed));
  TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %zu: the program takes %s, the buffer is %s", i, wanted,
           passed);
}

static inline bool type_matches(const tpt_type_t* a, const tpt_type_t* b) {
  if (a->dtype != b->dtype || a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

static bool is_kept(const vtpu_launch_t* launch, size_t param) {
  for (size_t i = 0; i < launch->keep_count; i++)
    if (launch->keep[i] == (int64_t)param) return true;
  return false;
}

// Marks the buffer as seen by this launch; refuses a second sight if one of the two donates.
static tpt_status_t mark_use(vtpu_buffer_t* buffer, uint64_t number, bool is_donated, size_t i) {
  bool was_seen = buffer->launch == number;
  if (was_seen && (is_donated || buffer->is_donated_now))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "argument %zu is a buffer that the same call donates: f(donate(a), a)", i);
  buffer->launch = number;
  buffer->is_donated_now = is_donated;
  return NULL;
}

static tpt_status_t survey_argument(const vtpu_launch_t* launch, size_t i, survey_t* survey) {
  vtpu_buffer_t* buffer = launch->args[i];
  TPT_TRY_NOTE(vtpu_buffer_check(buffer), "argument %zu", i);
  if (buffer->device != launch->device)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %zu is on device %d, the program runs on device %d", i,
             buffer->device->params.id, launch->device->params.id);
  TPT_TRY_NOTE(vtpu_buffer_check_alive(buffer), "argument %zu", i);
  if (!type_matches(launch->code->params[i], &buffer->type)) return type_mismatch(launch, i);
  bool is_donated =
      launch->code->param_aliases[i] >= 0 && (launch->keep_count == 0 || !is_kept(launch, i));
  TPT_TRY(mark_use(buffer, launch->device->launch_count, is_donated, i));
  survey->donated_count += is_donated;
  if (buffer->ready) {
    vtpu_event_state_t state = vtpu_event_get_state(buffer->ready);
    survey->pending_count += state == VTPU_EVENT_PENDING;
    if (state == VTPU_EVENT_FAILED && !survey->failed) survey->failed = buffer->ready;
  }
  survey->in[i] = buffer->block ? buffer->block->data : NULL;
  survey->keeps[i] = NULL;
  if (launch->code->param_keeps[i] && !is_donated)
    survey->keeps[i] = vtpu_block_keep(launch->device, buffer->block);
  return NULL;
}

static tpt_status_t survey_arguments(const vtpu_launch_t* launch, survey_t* survey) {
  const vtpu_code_t* code = launch->code;
  if (launch->arg_count != (size_t)code->param_count) return count_mismatch(launch);
  survey->in =
      vtpu_device_scratch(launch->device, 2 * launch->arg_count + (size_t)code->result_count);
  if (!survey->in) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a launch");
  survey->out = survey->in + launch->arg_count;
  survey->keeps = (vtpu_keep_t**)(survey->out + code->result_count);
  launch->device->launch_count++;
  for (size_t i = 0; i < launch->arg_count; i++)
    TPT_TRY(survey_argument(launch, i, survey));
  return NULL;
}

// --- results ----------------------------------------------------------------------------------------------

static void destroy_results(const vtpu_launch_t* launch, int count) {
  for (int i = 0; i < count; i++) {
    vtpu_buffer_destroy_locked(launch->results[i]);
    launch->results[i] = NULL;
  }
}

// The argument whose memory the result may take now, or NULL.
static vtpu_buffer_t* alias_source(const vtpu_launch_t* launch, int result) {
  int param = launch->code->result_aliases[result];
  if (param < 0) return NULL;
  vtpu_buffer_t* source = launch->args[param];
  bool is_free_to_take = source->is_donated_now && source->block && source->block->hold_count == 0;
  return is_free_to_take ? source : NULL;
}

static tpt_status_t create_result(const vtpu_launch_t* launch, int i, survey_t* survey) {
  const tpt_type_t* type = launch->code->results[i];
  vtpu_buffer_t* source = alias_source(launch, i);
  vtpu_buffer_t* result = NULL;
  if (source) {
    result = vtpu_buffer_new(launch->device, type);
    if (!result) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a buffer's handle");
    result->block = source->block;
    vtpu_block_forget(result->block);
    result->block->ref_count++;
  } else {
    TPT_TRY_NOTE(vtpu_buffer_new_block(launch->device, type, &result), "result %d of a program", i);
  }
  launch->results[i] = result;
  survey->out[i] = result->block->data;
  return NULL;
}

static tpt_status_t create_results(const vtpu_launch_t* launch, survey_t* survey) {
  for (int i = 0; i < launch->code->result_count; i++) {
    tpt_status_t status = create_result(launch, i, survey);
    if (status) {
      destroy_results(launch, i);
      return status;
    }
  }
  return NULL;
}

// Results in the likeness of a failed argument.
static tpt_status_t create_poisoned(const vtpu_launch_t* launch, vtpu_event_t* failed) {
  for (int i = 0; i < launch->code->result_count; i++) {
    vtpu_buffer_t* result = vtpu_buffer_new(launch->device, launch->code->results[i]);
    if (!result) {
      destroy_results(launch, i);
      TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a buffer's handle");
    }
    result->ready = vtpu_event_retain(failed);
    launch->results[i] = result;
  }
  if (launch->out_done) *launch->out_done = vtpu_event_retain(failed);
  return NULL;
}

// --- on the calling thread ------------------------------------------------------------------------------------

static tpt_status_t run_inline(const vtpu_launch_t* launch, const survey_t* survey, void* temp) {
  vtpu_device_t* device = launch->device;
  const vtpu_code_t* code = launch->code;
  vtpu_exec_t exec = {
      .pool = code->cost < SHARED_COST ? device->params.serial : device->params.pool,
      .temp = temp,
      .flush_subnormals = device->params.flush_subnormals,
      .profile = device->params.profile,
      .keeps = survey->keeps,
  };
  tpt_status_t status = vtpu_program_run(code->program, &exec, survey->in, survey->out);
  if (status) {
    destroy_results(launch, code->result_count);
    return status;
  }
  if (survey->donated_count > 0) {
    for (size_t i = 0; i < launch->arg_count; i++) {
      if (!launch->args[i]->is_donated_now) continue;
      launch->args[i]->ref_count++;
      vtpu_buffer_end_donation(launch->args[i], true);
    }
  }
  if (launch->out_done) *launch->out_done = vtpu_event_ready();
  return NULL;
}

// --- in the queue ----------------------------------------------------------------------------------------------

typedef struct launch_task {
  vtpu_task_t task;
  vtpu_device_t* device;
  vtpu_code_t* code;
  void* temp;
  void** in;
  void** out;
  vtpu_keep_t** keeps;      // references, per argument
  vtpu_buffer_t** donated;  // references
  int donated_count;
} launch_task_t;

static tpt_status_t run_launch(vtpu_task_t* task) {
  launch_task_t* t = (launch_task_t*)task;
  vtpu_exec_t exec = {.pool = t->device->params.pool,
                      .temp = t->temp,
                      .flush_subnormals = t->device->params.flush_subnormals,
                      .profile = t->device->params.profile,
                      .keeps = t->keeps};
  return vtpu_program_run(t->code->program, &exec, t->in, t->out);
}

static void finish_launch(vtpu_task_t* task, tpt_status_t status) {
  launch_task_t* t = (launch_task_t*)task;
  for (int i = 0; i < t->donated_count; i++)
    vtpu_buffer_end_donation(t->donated[i], !status);
}

static void release_launch(vtpu_task_t* task) {
  launch_task_t* t = (launch_task_t*)task;
  for (int i = 0; i < t->code->param_count; i++)
    vtpu_keep_release(t->keeps[i]);
  vtpu_code_release(t->code);
  tpt_free(task);
}

static tpt_status_t create_task(const vtpu_launch_t* launch, const survey_t* survey, void* temp,
                                launch_task_t** out_task) {
  size_t args = launch->arg_count, results = (size_t)launch->code->result_count;
  size_t pointers =
      2 * args + results + (size_t)survey->pending_count + (size_t)survey->donated_count;
  launch_task_t* t = tpt_malloc(sizeof(*t) + pointers * sizeof(void*));
  if (!t) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory to queue a launch");
  memset(t, 0, sizeof(*t));
  tpt_status_t status = vtpu_event_create(&t->task.done);
  if (status) {
    tpt_free(t);
    return status;
  }
  t->task.run = run_launch;
  t->task.finish = finish_launch;
  t->task.release = release_launch;
  t->device = launch->device;
  t->temp = temp;
  t->in = (void**)(t + 1);
  t->out = t->in + args;
  t->keeps = (vtpu_keep_t**)(t->out + results);
  t->task.waits = (vtpu_event_t**)(t->keeps + args);
  t->donated = (vtpu_buffer_t**)(t->task.waits + survey->pending_count);
  memcpy(t->in, survey->in, (args + results) * sizeof(void*));
  *out_task = t;
  return NULL;
}

// The launch is queued for certain: stamp what it uses and mark what it donates.
static void commit_task(const vtpu_launch_t* launch, const survey_t* survey, launch_task_t* t) {
  uint64_t ticket = t->task.ticket;
  vtpu_event_t* done = t->task.done;
  t->code = vtpu_code_retain(launch->code);
  for (size_t i = 0; i < launch->arg_count; i++) {
    vtpu_buffer_t* buffer = launch->args[i];
    t->keeps[i] = vtpu_keep_retain(survey->keeps[i]);
    if (buffer->block) buffer->block->last_use = ticket;
    // An argument that became ready since the survey is still safe to wait for.
    if (buffer->ready && t->task.wait_count < survey->pending_count &&
        vtpu_event_get_state(buffer->ready) != VTPU_EVENT_READY)
      t->task.waits[t->task.wait_count++] = vtpu_event_retain(buffer->ready);
    if (buffer->is_donated_now && !buffer->donation) {
      buffer->donation = vtpu_event_retain(done);
      buffer->ref_count++;
      t->donated[t->donated_count++] = buffer;
    }
  }
  for (int i = 0; i < launch->code->result_count; i++) {
    launch->results[i]->block->last_use = ticket;
    launch->results[i]->ready = vtpu_event_retain(done);
  }
  if (launch->out_done) *launch->out_done = vtpu_event_retain(done);
}

static tpt_status_t queue_task(const vtpu_launch_t* launch, const survey_t* survey,
                               vtpu_block_t* temp) {
  launch_task_t* t = NULL;
  tpt_status_t status = create_task(launch, survey, temp ? temp->data : NULL, &t);
  if (!status) {
    // The worker cannot take the task before this thread drops the lock.
    status = vtpu_device_submit(launch->device, &t->task);
    if (status) {
      vtpu_event_release(t->task.done);
      tpt_free(t);
    }
  }
  if (status) {
    destroy_results(launch, launch->code->result_count);
    return status;
  }
  commit_task(launch, survey, t);
  if (temp) temp->last_use = t->task.ticket;
  return NULL;
}

// --- both ------------------------------------------------------------------------------------------------------

static tpt_status_t launch_locked(const vtpu_launch_t* launch) {
  vtpu_device_t* device = launch->device;
  const vtpu_code_t* code = launch->code;
  survey_t survey = {0};
  vtpu_block_t* temp = NULL;
  TPT_TRY(survey_arguments(launch, &survey));
  if (survey.failed) return create_poisoned(launch, survey.failed);
  TPT_TRY(create_results(launch, &survey));
  if (code->temp_size > 0) {
    tpt_status_t status = vtpu_hbm_alloc(device->hbm, code->temp_size, &temp);
    if (status) {
      destroy_results(launch, code->result_count);
      return tpt_status_note(status, "temporaries of a program");
    }
  }
  bool is_inline = survey.pending_count == 0 && code->cost <= device->params.inline_limit &&
                   vtpu_device_is_idle(device) && !device->is_abandoned;
  tpt_status_t status = is_inline ? run_inline(launch, &survey, temp ? temp->data : NULL)
                                  : queue_task(launch, &survey, temp);
  // Later work may have the temporaries' memory: it runs later.
  if (temp) vtpu_hbm_free(device->hbm, temp);
  return status;
}

tpt_status_t vtpu_launch_run(const vtpu_launch_t* launch) {
  vtpu_device_t* device = launch->device;
  vtpu_device_lock(device);
  tpt_status_t status = launch_locked(launch);
  if (__builtin_expect(status != NULL, 0) && tpt_status_code(status) == TPT_RESOURCE_EXHAUSTED &&
      !vtpu_device_is_idle(device)) {  // finishing work may give memory back
    vtpu_device_await_locked(device, device->submitted);
    tpt_status_release(status);
    status = launch_locked(launch);
  }
  vtpu_device_unlock(device);
  return status;
}
