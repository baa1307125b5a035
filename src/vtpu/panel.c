// Staging of operands for products: the table of conversions to and from the compute types, and the
// packing of blocks seen through strides or offset tables. Knows neither dot nor convolution.
#include "vtpu/panel.h"

#include <string.h>

#include "vtpu/gemm_s16.h"
#include "vtpu/kernel.h"
#include "vtpu/simd.h"

static const vtpu_compute_row_t compute_rows[VTPU_COMPUTE_COUNT] = {
    [VTPU_COMPUTE_F32] = {4, 4, vtpu_gemm_f32}, [VTPU_COMPUTE_F64] = {8, 8, vtpu_gemm_f64},
    [VTPU_COMPUTE_C64] = {8, 8, vtpu_gemm_c64}, [VTPU_COMPUTE_C128] = {16, 16, vtpu_gemm_c128},
    [VTPU_COMPUTE_U32] = {4, 4, vtpu_gemm_u32}, [VTPU_COMPUTE_U64] = {8, 8, vtpu_gemm_u64},
    [VTPU_COMPUTE_S16] = {2, 4, vtpu_gemm_s16},
};

const vtpu_compute_row_t* vtpu_compute_row(vtpu_compute_t compute) {
  return &compute_rows[compute];
}

static vtpu_compute_t compute_guess(tpt_dtype_t lhs, tpt_dtype_t rhs, tpt_dtype_t result) {
  if (lhs == TPT_C128 || rhs == TPT_C128) return VTPU_COMPUTE_C128;
  if (lhs == TPT_C64 || rhs == TPT_C64) return VTPU_COMPUTE_C64;
  if (lhs == TPT_F64 || rhs == TPT_F64 || result == TPT_F64) return VTPU_COMPUTE_F64;
  if (tpt_dtype_is_float(lhs) || tpt_dtype_is_float(rhs)) return VTPU_COMPUTE_F32;
  return tpt_dtype_size(result) == 8 || result == TPT_PRED ? VTPU_COMPUTE_U64 : VTPU_COMPUTE_U32;
}

tpt_status_t vtpu_compute_find(tpt_dtype_t lhs, tpt_dtype_t rhs, tpt_dtype_t result,
                               vtpu_compute_t* out_compute) {
  *out_compute = compute_guess(lhs, rhs, result);
  if (!vtpu_widen_fn(lhs, *out_compute, VTPU_PART_EXACT) ||
      !vtpu_widen_fn(rhs, *out_compute, VTPU_PART_EXACT) || !vtpu_narrow_fn(*out_compute, result))
    TPT_FAIL(
        TPT_UNIMPLEMENTED,
        "vtpu has no product of %s and %s with a result of %s; convert the operands to one type",
        tpt_dtype_row(lhs)->name, tpt_dtype_row(rhs)->name, tpt_dtype_row(result)->name);
  return NULL;
}

// --- conversions
// ------------------------------------------------------------------------------------

static void copy_4(const void* in, void* out, int64_t count) {
  memcpy(out, in, (size_t)count * 4);
}
static void copy_8(const void* in, void* out, int64_t count) {
  memcpy(out, in, (size_t)count * 8);
}
static void copy_16(const void* in, void* out, int64_t count) {
  memcpy(out, in, (size_t)count * 16);
}

static void widen_bf16(const void* in, void* out, int64_t count) {
  vtpu_f32_from_bf16(in, out, count);
}
static void widen_f16(const void* in, void* out, int64_t count) {
  vtpu_f32_from_f16(in, out, count);
}
static void narrow_bf16(const void* in, void* out, int64_t count) {
  vtpu_bf16_from_f32(in, out, count);
}
static void narrow_f16(const void* in, void* out, int64_t count) {
  vtpu_f16_from_f32(in, out, count);
}
static void widen_high(const void* in, void* out, int64_t count) {
  vtpu_round_to_bf16(in, out, count);
}

VTPU_INLINE void rest_body(const float* in, float* out, int64_t count) {
  // An infinite (or NaN) high part already says everything: a rest of NaN would spoil it.
  for (int64_t i = 0; i < count; i++) {
    float rest = in[i] - out[i];
    out[i] = rest - rest == 0.0f ? rest : 0.0f;
  }
}
VTPU_SIMD_FUNCTION(static, rest, (const float* in, float* out, int64_t count), (in, out, count))

static void widen_low(const void* in, void* out, int64_t count) {
  vtpu_round_to_bf16(in, out, count);
  rest(in, out, count);
  vtpu_round_to_bf16(out, out, count);
}

#define CONVERT(name, from, to)                                                                    \
  VTPU_INLINE void name##_loop_body(const from* in, to* out, int64_t count) {                      \
    for (int64_t i = 0; i < count; i++)                                                            \
      out[i] = (to)in[i];                                                                          \
  }                                                                                                \
  VTPU_SIMD_FUNCTION(static, name##_loop, (const from* in, to* out, int64_t count),                \
                     (in, out, count))                                                             \
  static void name(const void* in, void* out, int64_t count) {                                     \
    name##_loop(in, out, count);                                                                   \
  }

CONVERT(f64_from_f32, float, double)
CONVERT(f32_from_f64, double, float)
CONVERT(s16_from_s8, int8_t, int16_t)
CONVERT(s16_from_u8, uint8_t, int16_t)
CONVERT(u32_from_s8, int8_t, uint32_t)
CONVERT(u32_from_u8, uint8_t, uint32_t)
CONVERT(u32_from_s16, int16_t, uint32_t)
CONVERT(u32_from_u16, uint16_t, uint32_t)
CONVERT(u32_from_64, uint64_t, uint32_t)
CONVERT(u64_from_s8, int8_t, uint64_t)
CONVERT(u64_from_u8, uint8_t, uint64_t)
CONVERT(u64_from_s16, int16_t, uint64_t)
CONVERT(u64_from_u16, uint16_t, uint64_t)
CONVERT(u64_from_s32, int32_t, uint64_t)
CONVERT(u64_from_u32, uint32_t, uint64_t)
CONVERT(u8_from_u32, uint32_t, uint8_t)
CONVERT(u16_from_u32, uint32_t, uint16_t)

// Through f32, a stretch at a time.
#define VIA_F32(name, widen)                                                                       \
  static void name(const void* in, void* out, int64_t count) {                                     \
    float x[256];                                                                                  \
    for (int64_t i = 0; i < count; i += 256) {                                                     \
      int64_t left = count - i < 256 ? count - i : 256;                                            \
      widen((const uint16_t*)in + i, x, left);                                                     \
      f64_from_f32(x, (double*)out + i, left);                                                     \
    }                                                                                              \
  }
VIA_F32(f64_from_bf16, vtpu_f32_from_bf16)
VIA_F32(f64_from_f16, vtpu_f32_from_f16)

static void c128_from_c64(const void* in, void* out, int64_t count) {
  f64_from_f32(in, out, 2 * count);
}
static void u32_from_pred(const void* in, void* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    ((uint32_t*)out)[i] = ((const uint8_t*)in)[i] != 0;
}
static void u64_from_pred(const void* in, void* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    ((uint64_t*)out)[i] = ((const uint8_t*)in)[i] != 0;
}
static void pred_from_u64(const void* in, void* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    ((uint8_t*)out)[i] = ((const uint64_t*)in)[i] != 0;
}

static const vtpu_convert_fn_t widen_table[VTPU_COMPUTE_COUNT][TPT_DTYPE_COUNT] = {
    [VTPU_COMPUTE_F32] = {[TPT_F32] = copy_4, [TPT_BF16] = widen_bf16, [TPT_F16] = widen_f16},
    [VTPU_COMPUTE_F64] = {[TPT_F64] = copy_8,
                          [TPT_F32] = f64_from_f32,
                          [TPT_BF16] = f64_from_bf16,
                          [TPT_F16] = f64_from_f16},
    [VTPU_COMPUTE_C64] = {[TPT_C64] = copy_8},
    [VTPU_COMPUTE_C128] = {[TPT_C128] = copy_16, [TPT_C64] = c128_from_c64},
    [VTPU_COMPUTE_U32] = {[TPT_PRED] = u32_from_pred,
                          [TPT_S8] = u32_from_s8,
                          [TPT_U8] = u32_from_u8,
                          [TPT_S16] = u32_from_s16,
                          [TPT_U16] = u32_from_u16,
                          [TPT_S32] = copy_4,
                          [TPT_U32] = copy_4,
                          [TPT_S64] = u32_from_64,
                          [TPT_U64] = u32_from_64},
    [VTPU_COMPUTE_U64] = {[TPT_PRED] = u64_from_pred,
                          [TPT_S8] = u64_from_s8,
                          [TPT_U8] = u64_from_u8,
                          [TPT_S16] = u64_from_s16,
                          [TPT_U16] = u64_from_u16,
                          [TPT_S32] = u64_from_s32,
                          [TPT_U32] = u64_from_u32,
                          [TPT_S64] = copy_8,
                          [TPT_U64] = copy_8},
    [VTPU_COMPUTE_S16] = {[TPT_S8] = s16_from_s8, [TPT_U8] = s16_from_u8},
};

static const vtpu_convert_fn_t narrow_table[VTPU_COMPUTE_COUNT][TPT_DTYPE_COUNT] = {
    [VTPU_COMPUTE_F32] = {[TPT_F32] = copy_4, [TPT_BF16] = narrow_bf16, [TPT_F16] = narrow_f16},
    [VTPU_COMPUTE_F64] = {[TPT_F64] = copy_8, [TPT_F32] = f32_from_f64},
    [VTPU_COMPUTE_C64] = {[TPT_C64] = copy_8},
    [VTPU_COMPUTE_C128] = {[TPT_C128] = copy_16},
    [VTPU_COMPUTE_U32] = {[TPT_S8] = u8_from_u32,
                          [TPT_U8] = u8_from_u32,
                          [TPT_S16] = u16_from_u32,
                          [TPT_U16] = u16_from_u32,
                          [TPT_S32] = copy_4,
                          [TPT_U32] = copy_4},
    [VTPU_COMPUTE_U64] = {[TPT_S64] = copy_8, [TPT_U64] = copy_8, [TPT_PRED] = pred_from_u64},
};

vtpu_convert_fn_t vtpu_widen_fn(tpt_dtype_t dtype, vtpu_compute_t compute, vtpu_part_t part) {
  if (dtype == TPT_F32 && compute == VTPU_COMPUTE_F32) {
    if (part == VTPU_PART_HIGH) return widen_high;
    if (part == VTPU_PART_LOW) return widen_low;
  }
  return (unsigned)dtype < TPT_DTYPE_COUNT ? widen_table[compute][dtype] : NULL;
}

bool vtpu_convert_is_copy(vtpu_convert_fn_t fn) {
  return fn == copy_4 || fn == copy_8 || fn == copy_16;
}

bool vtpu_widen_is_copy(tpt_dtype_t dtype, vtpu_compute_t compute, vtpu_part_t part) {
  return vtpu_convert_is_copy(vtpu_widen_fn(dtype, compute, part));
}

vtpu_convert_fn_t vtpu_narrow_fn(vtpu_compute_t compute, tpt_dtype_t dtype) {
  if (compute == VTPU_COMPUTE_S16) compute = VTPU_COMPUTE_U32;  // as sums are
  return (unsigned)dtype < TPT_DTYPE_COUNT ? narrow_table[compute][dtype] : NULL;
}

// --- packing
// ----------------------------------------------------------------------------------------

int32_t vtpu_axis_runs(const int64_t* table, int64_t count, int32_t* out_run) {
  for (int64_t i = count - 1; i >= 0; i--) {
    bool continues = i + 1 < count && table[i + 1] == table[i] + 1 && out_run[i + 1] < INT32_MAX;
    out_run[i] = continues ? out_run[i + 1] + 1 : 1;
  }
  if (count == 0) return 0;
  for (int64_t i = 0; i < count; i += out_run[0])
    if (out_run[i] != out_run[0]) return 0;
  return out_run[0];
}

typedef struct wide {
  uint64_t half[2];
} wide_t;

// Elements of one row. Short runs are common (a row of an image), so they are copied by a plain
// loop rather than by a call.
#define GATHER(type)                                                                               \
  static void gather_##type(const type* in, const vtpu_axis_t* axis, int64_t first, int count,     \
                            type* restrict out) {                                                  \
    if (!axis->table) {                                                                            \
      in += first * axis->stride;                                                                  \
      for (int j = 0; j < count; j++)                                                              \
        out[j] = in[j * axis->stride];                                                             \
      return;                                                                                      \
    }                                                                                              \
    const int64_t* table = axis->table + first;                                                    \
    const int32_t* run = axis->run + first;                                                        \
    for (int j = 0; j < count;) {                                                                  \
      const type* from = in + table[j];                                                            \
      int length = run[j] < count - j ? run[j] : count - j;                                        \
      if (length >= 64) {                                                                          \
        memcpy(out + j, from, (size_t)length * sizeof(type));                                      \
      } else {                                                                                     \
        for (int i = 0; i < length; i++)                                                           \
          out[j + i] = from[i];                                                                    \
      }                                                                                            \
      j += length;                                                                                 \
    }                                                                                              \
  }

GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(wide_t)

// Equal runs of 32-bit elements, the shape of image rows: copied in vectors that may overlap.
#define COPY_BYTES(size) memcpy(out + i, from + i, (size))

VTPU_INLINE void gather_even_body(const float* in, const int64_t* table, int run, int count,
                                  float* out) {
  for (int j = 0; j < count; j += run, out += run) {
    const float* from = in + table[j];
    int i = 0;
    if (run >= 8) {
      for (; i + 8 <= run; i += 8)
        COPY_BYTES(32);
      i = run - 8;
      COPY_BYTES(32);
    } else if (run >= 4) {
      COPY_BYTES(16);
      i = run - 4;
      COPY_BYTES(16);
    } else {
      for (; i < run; i++)
        out[i] = from[i];
    }
  }
}
VTPU_SIMD_FUNCTION(static, gather_even,
                   (const float* in, const int64_t* table, int run, int count, float* out),
                   (in, table, run, count, out))

static void gather_row(const vtpu_panel_t* panel, const char* in, const vtpu_block_t* block,
                       void* out) {
  const vtpu_axis_t* axis = &panel->col;
  int run = axis->even_run;
  if (axis->table && panel->element_size == 4 && run > 1 && block->col % run == 0 &&
      block->col_count % run == 0) {
    gather_even((const float*)in, axis->table + block->col, run, block->col_count, out);
    return;
  }
  switch (panel->element_size) {
  case 1:
    gather_uint8_t((const uint8_t*)in, axis, block->col, block->col_count, out);
    break;
  case 2:
    gather_uint16_t((const uint16_t*)in, axis, block->col, block->col_count, out);
    break;
  case 4:
    gather_uint32_t((const uint32_t*)in, axis, block->col, block->col_count, out);
    break;
  case 8:
    gather_uint64_t((const uint64_t*)in, axis, block->col, block->col_count, out);
    break;
  default:
    gather_wide_t((const wide_t*)in, axis, block->col, block->col_count, out);
    break;
  }
}

void vtpu_panel_pack(const vtpu_panel_t* panel, const vtpu_block_t* block, void* temp, void* out) {
  bool is_dense = !panel->col.table && (panel->col.stride == 1 || block->col_count == 1);
  size_t row_size = (size_t)block->col_count * panel->out_size;
  for (int i = 0; i < block->row_count; i++) {
    int64_t offset = vtpu_axis_offset(&panel->row, block->row + i);
    char* to = (char*)out + (size_t)i * row_size;
    if (is_dense) {
      const char* from = (const char*)panel->data +
                         (offset + block->col * panel->col.stride) * (int64_t)panel->element_size;
      if (panel->widen) {
        panel->widen(from, to, block->col_count);
      } else {
        memcpy(to, from, row_size);
      }
      continue;
    }
    const char* from = (const char*)panel->data + offset * (int64_t)panel->element_size;
    gather_row(panel, from, block, panel->widen ? temp : to);
    if (panel->widen) panel->widen(temp, to, block->col_count);
  }
}

void vtpu_low_add(float* c, int64_t ldc, const float* low, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      float x = low[i * cols + j];
      c[i * ldc + j] += x - x == 0.0f ? x : 0.0f;
    }
  }
}
