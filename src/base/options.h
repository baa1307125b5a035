// Options: one table (options.def), one variable (TPUTORCH_OPTIONS), one const struct.
// This is the only reader of the environment in the core.
#ifndef TPUTORCH_BASE_OPTIONS_H_
#define TPUTORCH_BASE_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct tpt_options {
#define TPT_OPTION_TYPE_STRING                              char*
#define TPT_OPTION_TYPE_BOOL                                bool
#define TPT_OPTION_TYPE_I64                                 int64_t
#define OPTION(name, type, initial, scope, legal, sentence) TPT_OPTION_TYPE_##type name;
#include "base/options.def"
#undef OPTION
} tpt_options_t;

// Defaults. Strings are owned by the struct.
TPT_MUST_USE tpt_status_t tpt_options_init(tpt_options_t* options);
void tpt_options_deinit(tpt_options_t* options);

// Parses "name=value name=value" over what is there. An unknown name or a bad value is
// INVALID_ARGUMENT naming the option, the legal values and the nearest known name; nothing changes
// then. A value may stand in double quotes (paths with spaces). Later settings win.
TPT_MUST_USE tpt_status_t tpt_options_parse(tpt_options_t* options, const char* text);

// Sets one option from text; errors as above, nothing changes then.
TPT_MUST_USE tpt_status_t tpt_options_set(tpt_options_t* options, const char* name,
                                          const char* value);

// Defaults, then TPUTORCH_OPTIONS, then TPU_LAUNCH_BLOCKING.
TPT_MUST_USE tpt_status_t tpt_options_from_environment(tpt_options_t* options);

// The table, for listings: row `index`, or NULL past the end. Static.
typedef struct tpt_option_row {
  const char* name;
  const char* type;
  const char* initial;
  const char* scope;
  const char* legal;  // see options.def
  const char* sentence;
} tpt_option_row_t;
const tpt_option_row_t* tpt_option_row(int index);

// Value of `name` printed as text into `text` (NUL-terminated, cut at text_size); NOT_FOUND if unknown.
TPT_MUST_USE tpt_status_t tpt_options_print(const tpt_options_t* options, const char* name,
                                            char* text, int text_size);

// An environment variable of the system (HOME, XDG_CACHE_HOME, TPU_LIBRARY_PATH ...); NULL if unset.
const char* tpt_environment(const char* name);

#endif  // TPUTORCH_BASE_OPTIONS_H_
