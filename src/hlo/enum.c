// Owns the spellings of StableHLO's enumerations, in the order of builder.h. Must not know ops.
#include "hlo/enum.h"

#include <string.h>

#include "hlo/builder.h"

static const char* const directions[] = {[TPT_EQ] = "EQ", [TPT_NE] = "NE", [TPT_GE] = "GE",
                                         [TPT_GT] = "GT", [TPT_LE] = "LE", [TPT_LT] = "LT"};
static const char* const compare_types[] = {[TPT_COMPARE_FLOAT] = "FLOAT",
                                            [TPT_COMPARE_TOTALORDER] = "TOTALORDER",
                                            [TPT_COMPARE_SIGNED] = "SIGNED",
                                            [TPT_COMPARE_UNSIGNED] = "UNSIGNED"};
static const char* const precisions[] = {[TPT_PRECISION_DEFAULT] = "DEFAULT",
                                         [TPT_PRECISION_HIGH] = "HIGH",
                                         [TPT_PRECISION_HIGHEST] = "HIGHEST"};
static const char* const transposes[] = {[TPT_TRANSPOSE_INVALID] = "TRANSPOSE_INVALID",
                                         [TPT_NO_TRANSPOSE] = "NO_TRANSPOSE",
                                         [TPT_TRANSPOSE_A] = "TRANSPOSE",
                                         [TPT_ADJOINT_A] = "ADJOINT"};
static const char* const ffts[] = {
    [TPT_FFT] = "FFT", [TPT_IFFT] = "IFFT", [TPT_RFFT] = "RFFT", [TPT_IRFFT] = "IRFFT"};
static const char* const rngs[] = {
    [TPT_RNG_DEFAULT] = "DEFAULT", [TPT_RNG_THREE_FRY] = "THREE_FRY", [TPT_RNG_PHILOX] = "PHILOX"};

#define ENUM(texts) (int)(sizeof(texts) / sizeof((texts)[0])), texts
const struct tpt_enum tpt_enum_direction = {"comparison_direction", ENUM(directions)};
const struct tpt_enum tpt_enum_compare_type = {"comparison_type", ENUM(compare_types)};
const struct tpt_enum tpt_enum_precision = {"precision", ENUM(precisions)};
const struct tpt_enum tpt_enum_transpose = {"transpose", ENUM(transposes)};
const struct tpt_enum tpt_enum_fft = {"fft_type", ENUM(ffts)};
const struct tpt_enum tpt_enum_rng = {"rng_algorithm", ENUM(rngs)};
#undef ENUM

const char* tpt_enum_text(const struct tpt_enum* values, int64_t number) {
  return number >= 0 && number < values->count ? values->texts[number] : "?";
}

int tpt_enum_find(const struct tpt_enum* values, const char* text, size_t size) {
  for (int i = 0; i < values->count; i++) {
    if (strlen(values->texts[i]) == size && memcmp(values->texts[i], text, size) == 0) return i;
  }
  return -1;
}
