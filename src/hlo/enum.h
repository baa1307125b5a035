// Spellings of StableHLO's enumerations. Numbers are those of builder.h.
#ifndef TPUTORCH_HLO_ENUM_H_
#define TPUTORCH_HLO_ENUM_H_

#include <stddef.h>
#include <stdint.h>

struct tpt_enum {
  const char* word;  // in #stablehlo<word VALUE>
  int count;
  const char* const* texts;
};

extern const struct tpt_enum tpt_enum_direction;
extern const struct tpt_enum tpt_enum_compare_type;
extern const struct tpt_enum tpt_enum_precision;
extern const struct tpt_enum tpt_enum_transpose;
extern const struct tpt_enum tpt_enum_fft;
extern const struct tpt_enum tpt_enum_rng;

// Spelling of a number ("?" outside the enumeration), and its number (-1 if unknown).
const char* tpt_enum_text(const struct tpt_enum* values, int64_t number);
int tpt_enum_find(const struct tpt_enum* values, const char* text, size_t size);

#endif  // TPUTORCH_HLO_ENUM_H_
