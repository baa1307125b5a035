// Every op's sample graphs, built, printed, read, hashed and compared with allocations failing.
#include "base/fault.h"
#include "hlo/print.h"
#include "hlo/read.h"
#include "hlo/sample.h"

typedef struct trip {
  tpt_hlo_t op;
  tpt_graph_t *built, *read;
  tpt_str_t text;
} trip_t;

static tpt_status_t build(void* arg) {
  trip_t* trip = arg;
  TPT_TRY(tpt_graph_create(&trip->built));
  sample_build(trip->built, trip->op);
  return tpt_graph_status(trip->built);
}

static tpt_status_t print_and_read(void* arg) {
  trip_t* trip = arg;
  TPT_TRY(tpt_graph_print(trip->built, &trip->text));
  TPT_TRY(tpt_str_status(&trip->text));
  return tpt_graph_read(trip->text.data, trip->text.size, &trip->read);
}

static tpt_status_t round_trip(void* arg) {
  TPT_TRY(build(arg));
  return print_and_read(arg);
}

static void begin(void* arg) {
  trip_t* trip = arg;
  trip->built = trip->read = NULL;
  tpt_str_init(&trip->text);
}

static void end(void* arg, bool has_failed) {
  trip_t* trip = arg;
  if (!has_failed) CHECK(tpt_graph_equal(trip->built, trip->read));
  tpt_graph_release(trip->built);
  tpt_graph_release(trip->read);
  tpt_str_deinit(&trip->text);
}

static void test_samples_of_all_ops(void) {
  for (int op = 0; op < TPT_HLO_COUNT; op++) {
    trip_t trip = {.op = (tpt_hlo_t)op};
    const fault_case_t work = {tpt_hlo_row((tpt_hlo_t)op)->mnemonic, begin, round_trip, end};
    CHECK(fault_run(&work, &trip, 200) > 3);
  }
}

// A graph that failed is as good as new after a reset.
static void reuse_end(void* arg, bool has_failed) {
  trip_t* trip = arg;
  if (has_failed && trip->built) {
    tpt_graph_reset(trip->built);
    sample_build(trip->built, trip->op);
    CHECK_OK(tpt_graph_status(trip->built));
  }
  if (trip->built) CHECK_OK(print_and_read(trip));
  end(arg, !trip->built);
}

static void test_failed_graph_can_be_reset(void) {
  trip_t trip = {.op = TPT_HLO_REDUCE};
  const fault_case_t work = {"reset", begin, build, reuse_end};
  fault_run(&work, &trip, 200);
}

int main(void) {
  RUN(test_samples_of_all_ops);
  RUN(test_failed_graph_can_be_reset);
  return TEST_RESULT;
}
