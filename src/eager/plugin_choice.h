// Which PJRT plugin this process uses, and with which create options. Knows files and options, opens
// nothing.
#ifndef TPUTORCH_EAGER_PLUGIN_CHOICE_H_
#define TPUTORCH_EAGER_PLUGIN_CHOICE_H_

#include "base/options.h"
#include "pjrt/client.h"

typedef enum tpt_plugin_kind {
  TPT_PLUGIN_VTPU,     // the virtual TPU
  TPT_PLUGIN_LIBTPU,   // Google's, for real chips
  TPT_PLUGIN_XLA_CPU,  // takes cpu_device_count
  TPT_PLUGIN_OTHER,    // no create options
} tpt_plugin_kind_t;

typedef struct tpt_plugin_choice {
  tpt_plugin_kind_t kind;
  char path[1024];
} tpt_plugin_choice_t;

enum { TPT_CREATE_OPTION_MAX = 8 };

// option plugin=auto|vtpu|libtpu|<path>. auto: libtpu when a TPU is on the PCI bus and the library is
// found, else vtpu. `folder` (may be NULL) holds libvtpu.so.
TPT_MUST_USE tpt_status_t tpt_plugin_choose(const tpt_options_t* options, const char* folder,
                                            tpt_plugin_choice_t* out_choice);
// Create options of a kind; texts are the options' own. Returns their count.
int tpt_plugin_create_options(const tpt_plugin_choice_t* choice, const tpt_options_t* options,
                              tpt_named_value_t* out_values);
// TPU chips on the PCI bus that this process may open.
int tpt_plugin_chip_count(void);

#endif  // TPUTORCH_EAGER_PLUGIN_CHOICE_H_
