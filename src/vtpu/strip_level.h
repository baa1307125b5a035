// Private to the files strip*.c: what is compiled for one instruction set. Tables are empty where the
// compiler has no such target.
#ifndef TPUTORCH_VTPU_STRIP_LEVEL_H_
#define TPUTORCH_VTPU_STRIP_LEVEL_H_

#include "vtpu/strip.h"

extern const vtpu_strip_packs_t vtpu_strip_packs_f32;
extern const vtpu_strip_packs_t vtpu_strip_packs_bf16;

void vtpu_strip_product_f32(const vtpu_strip_product_t* product);
void vtpu_strip_product_bf16(const vtpu_strip_product_t* product);
void vtpu_strip_product_amx(const vtpu_strip_product_t* product);
// Which of them this build has.
extern const bool vtpu_strip_has_f32, vtpu_strip_has_bf16, vtpu_strip_has_amx;

#endif  // TPUTORCH_VTPU_STRIP_LEVEL_H_
