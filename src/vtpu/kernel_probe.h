// For tests: runs the kernel of one node on buffers of exactly the right size, with scratch filled
// with garbage, over a pool of two threads. Random data and the widening of any element to double.
#ifndef TPUTORCH_VTPU_KERNEL_PROBE_H_
#define TPUTORCH_VTPU_KERNEL_PROBE_H_

#include <stdlib.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/kernel.h"

enum { PROBE_OPERANDS_MAX = 8 };

static uint64_t probe_state = 0x1234567;

static inline uint64_t probe_next(void) {
  probe_state ^= probe_state << 13;
  probe_state ^= probe_state >> 7;
  probe_state ^= probe_state << 17;
  return probe_state >> 11;
}
// Uniform in [low, high].
static inline int64_t probe_int(int64_t low, int64_t high) {
  return low + (int64_t)(probe_next() % (uint64_t)(high - low + 1));
}
// Uniform in [-1, 1), 24 random bits.
static inline double probe_real(void) {
  return (double)(int64_t)(probe_next() & 0xFFFFFF) / (double)(1 << 23) - 1.0;
}

// Element i of an array, as a double (real part of complex numbers).
static inline double probe_get(tpt_dtype_t dtype, const void* data, int64_t i) {
  tpt_number_t number =
      tpt_number_load(dtype, (const char*)data + i * (int64_t)tpt_dtype_size(dtype));
  if (tpt_dtype_is_float(dtype) || tpt_dtype_is_complex(dtype)) return number.f;
  return dtype == TPT_U64 ? (double)(uint64_t)number.i : (double)number.i;
}
static inline void probe_set(tpt_dtype_t dtype, void* data, int64_t i, double value) {
  tpt_number_t number = {.dtype = TPT_F64, .f = value};
  if (!tpt_dtype_is_float(dtype) && !tpt_dtype_is_complex(dtype))
    number = (tpt_number_t){.dtype = TPT_S64, .i = (int64_t)value};
  tpt_number_store(&number, dtype, (char*)data + i * (int64_t)tpt_dtype_size(dtype));
}

// A fresh array: reals in [-1, 1), small integers for integer types. Freed with free.
static inline void* probe_random(const tpt_type_t* type) {
  void* data = malloc((size_t)tpt_type_size(type) + 1);
  for (int64_t i = 0; i < tpt_type_count(type); i++) {
    if (type->dtype == TPT_PRED) {
      probe_set(type->dtype, data, i, (double)probe_int(0, 1));
    } else if (tpt_dtype_is_int(type->dtype)) {
      probe_set(type->dtype, data, i, (double)probe_int(0, 15));
    } else if (tpt_dtype_is_complex(type->dtype)) {
      tpt_number_t number = {.dtype = TPT_C128, .f = probe_real(), .im = probe_real()};
      tpt_number_store(&number, type->dtype,
                       (char*)data + i * (int64_t)tpt_dtype_size(type->dtype));
    } else {
      probe_set(type->dtype, data, i, probe_real());
    }
  }
  return data;
}

static inline tpt_pool_t* probe_pool(void) {
  static tpt_pool_t* pool;
  if (!pool) (void)!CHECK_OK(tpt_pool_create(2, &pool));
  return pool;
}

// Runs the node that makes `value`. in: one array per operand; out[r] receives a fresh array
// (free). On failure out is NULL.
static inline tpt_status_t probe_run(tpt_graph_t* graph, tpt_value_t value, const void* const* in,
                                     void** out) {
  out[0] = NULL;
  TPT_TRY(tpt_graph_status(graph));
  const tpt_node_t* node = tpt_graph_producer(graph, value);
  if (!node) TPT_FAIL(TPT_INTERNAL, "the builder made no node");
  const vtpu_kernel_row_t* row = vtpu_kernel_row(node->op);
  if (!row) TPT_FAIL(TPT_UNIMPLEMENTED, "no kernel");
  tpt_type_t operands[PROBE_OPERANDS_MAX], results[PROBE_OPERANDS_MAX];
  for (uint32_t i = 0; i < node->operand_count; i++)
    operands[i] = *tpt_graph_type(graph, node->operands[i]);
  for (uint32_t i = 0; i < node->result_count; i++)
    results[i] = *tpt_graph_type(graph, tpt_node_result(node, i));
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_kernel_t kernel = {.graph = graph,
                          .node = node,
                          .operand_count = (int)node->operand_count,
                          .result_count = (int)node->result_count,
                          .operand_types = operands,
                          .result_types = results,
                          .arena = &arena};
  tpt_status_t status = row->prepare ? row->prepare(&kernel) : NULL;
  if (!status) {
    // posix_memalign keeps the exact size, so that the sanitizer sees an overrun.
    void* scratch = NULL;
    if (posix_memalign(&scratch, 64, kernel.scratch_size + 1) != 0) abort();
    memset(scratch, 0xFF, kernel.scratch_size);
    for (uint32_t i = 0; i < node->result_count; i++) {
      size_t size = (size_t)tpt_type_size(&results[i]);
      out[i] = malloc(size + 1);
      memset(out[i], 0xFF, size);
    }
    vtpu_exec_t exec = {.pool = probe_pool()};
    status = row->run(&kernel, &exec, scratch, in, (void* const*)out);
    free(scratch);
  }
  tpt_arena_deinit(&arena);
  return status;
}

#endif  // TPUTORCH_VTPU_KERNEL_PROBE_H_
