// Tests of the op table: what every row must hold.
#include "base/check.h"
#include "hlo/graph.h"

static void test_mnemonics_are_unique(void) {
  for (int i = 0; i < TPT_HLO_COUNT; i++) {
    for (int j = 0; j < i; j++)
      CHECK(strcmp(tpt_hlo_row((tpt_hlo_t)i)->mnemonic, tpt_hlo_row((tpt_hlo_t)j)->mnemonic) != 0);
  }
  CHECK(tpt_hlo_row((tpt_hlo_t)-1) == NULL);
}

static void test_attributes_are_complete(void) {
  for (int i = 0; i < TPT_HLO_COUNT; i++) {
    const tpt_hlo_row_t* row = tpt_hlo_row((tpt_hlo_t)i);
    CHECK(row->attr_count <= 16);
    int groups = 0;
    for (int j = 0; j < row->attr_count; j++) {
      const tpt_attr_row_t* attr = &row->attrs[j];
      bool is_enum = attr->kind == TPT_ATTR_ENUM || attr->kind == TPT_ATTR_ENUMS;
      CHECK(attr->name && attr->name[0]);
      CHECK_EQ(attr->values != NULL, is_enum);
      // A group's slots stand together: it prints as one attribute.
      bool is_start = attr->group && (j == 0 || row->attrs[j - 1].group != attr->group);
      groups += is_start;
    }
    CHECK(groups <= 1);
  }
}

static void test_rows_say_what_the_table_says(void) {
  const tpt_hlo_row_t* row = tpt_hlo_row(TPT_HLO_DOT_GENERAL);
  CHECK_STR(row->mnemonic, "dot_general");
  CHECK_EQ(row->operand_count, 2);
  CHECK_EQ(row->attr_count, 5);
  CHECK_EQ(row->attrs[4].kind, TPT_ATTR_ENUMS);
  CHECK_EQ(tpt_hlo_row(TPT_HLO_ADD)->attr_count, 0);
  CHECK_EQ(tpt_hlo_row(TPT_HLO_WHILE)->region_count, 2);
}

int main(void) {
  RUN(test_mnemonics_are_unique);
  RUN(test_attributes_are_complete);
  RUN(test_rows_say_what_the_table_says);
  return TEST_RESULT;
}
