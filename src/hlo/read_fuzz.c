// A text that reads must print, and what was printed must read back equal; any other text must be an
// error. Seeds: every op's sample graphs, printed, and the programs of tests/data. With libFuzzer:
//   clang -fsanitize=fuzzer,address,undefined -DTPUTORCH_LIBFUZZER -Iinclude -Isrc -D_GNU_SOURCE
//     src/hlo/read_fuzz.c (all other src/hlo and src/base sources but tests) -lm -lpthread
#include "base/fuzz.h"
#include "hlo/print.h"
#include "hlo/read.h"
#include "hlo/seed.h"

size_t fuzz_seed(size_t number, char* out, size_t room) {
  return seed_text(number, out, room);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tpt_graph_t* graph;
  tpt_graph_t* again = NULL;
  tpt_status_t status = tpt_graph_read((const char*)data, size, &graph);
  if (status) {
    tpt_status_release(status);
    return 0;
  }
  tpt_str_t text;
  tpt_str_init(&text);
  status = tpt_graph_print(graph, &text);
  if (!status) status = tpt_graph_read(text.data, text.size, &again);
  if (status || !tpt_graph_equal(graph, again)) {
    fprintf(stderr, "%.*s\nis printed as\n%s\n%s\n", (int)size, (const char*)data, text.data,
            tpt_status_message(status));
    __builtin_trap();
  }
  tpt_str_deinit(&text);
  tpt_graph_release(graph);
  tpt_graph_release(again);
  return 0;
}
