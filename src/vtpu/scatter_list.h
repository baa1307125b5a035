// Lists of single updates: (place in the operand, place in the updates) pairs, applied in order a
// batch at a time by a monoid, a replacement or a general body. Owner thread only; lives on the
// stack.
#ifndef TPUTORCH_VTPU_SCATTER_LIST_H_
#define TPUTORCH_VTPU_SCATTER_LIST_H_

#include "vtpu/kernel.h"
#include "vtpu/monoid.h"
#include "vtpu/panel.h"

enum {
  VTPU_SCATTER_MAX = 8,         // operands of one scatter
  VTPU_SCATTER_LIST_MAX = 128,  // updates applied at a time
};

// How an update changes an element. Exactly one of replaces, monoid, body is set.
typedef struct vtpu_scatter_rule {
  int count;                      // operands (1 unless there is a body)
  size_t size[VTPU_SCATTER_MAX];  // bytes of an element
  bool replaces;
  const vtpu_monoid_t* monoid;
  vtpu_body_t* body;
  // Both or neither: the accumulator holds f32 while the updates are 16-bit floats.
  vtpu_convert_fn_t widen, narrow;
} vtpu_scatter_rule_t;

typedef struct vtpu_scatter_list {
  const vtpu_scatter_rule_t* rule;
  void* const* acc;
  const void* const* updates;
  int count;
  int64_t at[VTPU_SCATTER_LIST_MAX];
  int64_t from[VTPU_SCATTER_LIST_MAX];
  // Hash set of the places in the list: a body must not see one place twice in a batch.
  int16_t slots[4 * VTPU_SCATTER_LIST_MAX];
} vtpu_scatter_list_t;

// The arrays are borrowed until the last flush.
void vtpu_scatter_list_init(vtpu_scatter_list_t* list, const vtpu_scatter_rule_t* rule,
                            void* const* acc, const void* const* updates);
// Appends an update of element `at` by element `from`; applies what is there when need be.
void vtpu_scatter_list_add(vtpu_scatter_list_t* list, int64_t at, int64_t from);
void vtpu_scatter_list_flush(vtpu_scatter_list_t* list);

#endif  // TPUTORCH_VTPU_SCATTER_LIST_H_
