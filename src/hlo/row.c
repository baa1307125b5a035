// Owns the table of StableHLO ops as data: the rows of hlo.def with their attributes. Must not know
// graphs or type rules.
#include "hlo/enum.h"
#include "hlo/graph.h"

// hlo.def spells kinds and groups in short; as designators they leave out what a row does not say.
#define I64      .kind = TPT_ATTR_I64
#define I32      .kind = TPT_ATTR_I32
#define I64S     .kind = TPT_ATTR_I64S
#define I64PAIRS .kind = TPT_ATTR_I64PAIRS
#define BOOL     .kind = TPT_ATTR_BOOL
#define BOOLS    .kind = TPT_ATTR_BOOLS
#define ENUM     .kind = TPT_ATTR_ENUM
#define ENUMS    .kind = TPT_ATTR_ENUMS
#define BYTES    .kind = TPT_ATTR_BYTES
#define STRING   .kind = TPT_ATTR_STRING
#define DOT      .group = TPT_GROUP_DOT
#define CONV     .group = TPT_GROUP_CONV
#define GATHER   .group = TPT_GROUP_GATHER
#define SCATTER  .group = TPT_GROUP_SCATTER

#define HLO(id, mnemonic, operands, regions, rule, ...)                                            \
  static const tpt_attr_row_t attrs_##id[] = {__VA_ARGS__};
#include "hlo/hlo.def"
#undef HLO

static const tpt_hlo_row_t rows[TPT_HLO_COUNT] = {
#define HLO(id, mnemonic, operands, regions, rule, ...)                                            \
  {mnemonic, operands, regions, (int)(sizeof(attrs_##id) / sizeof(tpt_attr_row_t)), attrs_##id},
#include "hlo/hlo.def"
#undef HLO
};

const tpt_hlo_row_t* tpt_hlo_row(tpt_hlo_t op) {
  return (unsigned)op < TPT_HLO_COUNT ? &rows[op] : NULL;
}
