// Tests of the enumerations' spellings.
#include "base/check.h"
#include "hlo/builder.h"
#include "hlo/enum.h"

static void test_texts_are_stablehlo(void) {
  CHECK_STR(tpt_enum_text(&tpt_enum_direction, TPT_GT), "GT");
  CHECK_STR(tpt_enum_text(&tpt_enum_compare_type, TPT_COMPARE_TOTALORDER), "TOTALORDER");
  CHECK_STR(tpt_enum_text(&tpt_enum_precision, TPT_PRECISION_HIGHEST), "HIGHEST");
  CHECK_STR(tpt_enum_text(&tpt_enum_transpose, TPT_NO_TRANSPOSE), "NO_TRANSPOSE");
  CHECK_STR(tpt_enum_text(&tpt_enum_transpose, TPT_TRANSPOSE_A), "TRANSPOSE");
  CHECK_STR(tpt_enum_text(&tpt_enum_fft, TPT_IRFFT), "IRFFT");
  CHECK_STR(tpt_enum_text(&tpt_enum_rng, TPT_RNG_PHILOX), "PHILOX");
  CHECK_STR(tpt_enum_text(&tpt_enum_fft, 99), "?");
  CHECK_STR(tpt_enum_text(&tpt_enum_fft, -1), "?");
}

static void test_every_text_is_found(void) {
  const struct tpt_enum* all[] = {&tpt_enum_direction, &tpt_enum_compare_type, &tpt_enum_precision,
                                  &tpt_enum_transpose, &tpt_enum_fft,          &tpt_enum_rng};
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < all[i]->count; j++)
      CHECK_EQ(tpt_enum_find(all[i], all[i]->texts[j], strlen(all[i]->texts[j])), j);
    CHECK_EQ(tpt_enum_find(all[i], "NOPE", 4), -1);
    CHECK_EQ(tpt_enum_find(all[i], all[i]->texts[0], 1), -1);
  }
}

int main(void) {
  RUN(test_texts_are_stablehlo);
  RUN(test_every_text_is_found);
  return TEST_RESULT;
}
