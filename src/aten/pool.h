// Geometry of a pool: windows over the last `count` dimensions of a tensor, regular or adaptive.
#ifndef TPUTORCH_ATEN_POOL_H_
#define TPUTORCH_ATEN_POOL_H_

#include "aten/taps.h"

enum { TPT_POOL_MAX = 3 };

typedef struct tpt_pool {
  int count;  // spatial dimensions
  int first;  // the first of them in the tensor
  int64_t in[TPT_POOL_MAX], out[TPT_POOL_MAX];
  int64_t kernel[TPT_POOL_MAX], stride[TPT_POOL_MAX], pad[TPT_POOL_MAX], dilation[TPT_POOL_MAX];
} tpt_pool_t;

// Where the numbers of a pool stand among the arguments; -1: absent.
typedef struct tpt_pool_args {
  int kernel;  // then stride and padding follow
  int dilation;
  int ceil_mode;
} tpt_pool_args_t;

// Reads and checks a pool over the input type, in PyTorch's words.
TPT_MUST_USE tpt_status_t tpt_pool_read(const tpt_lower_t* l, const tpt_type_t* input,
                                        const tpt_pool_args_t* args, tpt_pool_t* out_pool);
// An adaptive pool to the given sizes (list argument `sizes`, or the sizes of `output` when -1). Where
// the input divides evenly, kernel and stride are set; else both are the widest window and
// tpt_pool_is_even is false.
TPT_MUST_USE tpt_status_t tpt_pool_read_adaptive(const tpt_lower_t* l, const tpt_type_t* input,
                                                 int sizes, const tpt_type_t* output,
                                                 tpt_pool_t* out_pool);
bool tpt_pool_is_even(const tpt_pool_t* pool, int i);
// Window [start, end) of output element o of an adaptive pool's dimension i.
int64_t tpt_pool_start(const tpt_pool_t* pool, int i, int64_t o);
int64_t tpt_pool_end(const tpt_pool_t* pool, int i, int64_t o);
// The windows of dimension i of an adaptive pool as taps without weights. False: the graph failed.
bool tpt_pool_taps(tpt_graph_t* g, const tpt_pool_t* pool, int i, tpt_taps_t* out_taps);
// The input's type with the pool's output sizes.
tpt_type_t tpt_pool_output(const tpt_pool_t* pool, const tpt_type_t* input);
// True when dimension i's windows tile the input from its start without gap or overlap.
bool tpt_pool_tiles(const tpt_pool_t* pool, int i);
// Each element of dimension i repeated over its tile (tpt_pool_tiles), cut or zero-filled to the
// input's size.
tpt_v tpt_pool_repeat(tpt_graph_t* g, tpt_v x, const tpt_pool_t* pool, int i);

#endif  // TPUTORCH_ATEN_POOL_H_
