// Private to the files bf16*.c: the functions that are compiled for one instruction set. Their tables
// are empty where the compiler has no such target.
#ifndef TPUTORCH_VTPU_BF16_LEVEL_H_
#define TPUTORCH_VTPU_BF16_LEVEL_H_

#include "vtpu/bf16.h"

// [source][is rhs][along free]; both levels pack with AVX512-BF16.
typedef struct vtpu_bf16_packs {
  vtpu_bf16_pack_fn_t fn[VTPU_BF16_SOURCE_COUNT][2][2];
} vtpu_bf16_packs_t;
extern const vtpu_bf16_packs_t vtpu_bf16_packs;

extern const vtpu_bf16_row_t vtpu_bf16_row_avx512;
extern const vtpu_bf16_row_t vtpu_bf16_row_amx;

#endif  // TPUTORCH_VTPU_BF16_LEVEL_H_
