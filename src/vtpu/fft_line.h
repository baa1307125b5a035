// Discrete Fourier transforms of one line of any length, in double precision.
#ifndef TPUTORCH_VTPU_FFT_LINE_H_
#define TPUTORCH_VTPU_FFT_LINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef double _Complex vtpu_c128_t;

typedef struct vtpu_fft_line vtpu_fft_line_t;

// Plans a line of `length` >= 1; NULL when the arena is out of memory. Lives in the arena.
const vtpu_fft_line_t* vtpu_fft_line_make(int64_t length, tpt_arena_t* arena);
// Elements of scratch that a transform of such a line needs.
int64_t vtpu_fft_line_scratch(const vtpu_fft_line_t* line);
// out[k] = sum of in[j] * exp(-2 pi i j k / n), or +2 pi i with `inverse`; no scaling. in and out must
// not overlap. Thread-safe.
void vtpu_fft_line_run(const vtpu_fft_line_t* line, bool inverse, const vtpu_c128_t* in,
                       vtpu_c128_t* out, vtpu_c128_t* scratch);

#endif  // TPUTORCH_VTPU_FFT_LINE_H_
