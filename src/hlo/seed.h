// For fuzz programs: StableHLO texts to start from: every op's sample graphs in generic form, then the
// programs of the folder TPUTORCH_TEST_DATA.
#ifndef TPUTORCH_HLO_SEED_H_
#define TPUTORCH_HLO_SEED_H_

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "hlo/print.h"
#include "hlo/sample.h"

#ifndef TPUTORCH_TEST_DATA
#define TPUTORCH_TEST_DATA ""
#endif

static inline size_t seed_sample(tpt_hlo_t op, char* out, size_t room) {
  tpt_graph_t* graph;
  tpt_str_t text;
  size_t size = 0;
  tpt_status_t status = tpt_graph_create(&graph);
  tpt_str_init(&text);
  if (!status) {
    sample_build(graph, op);
    status = tpt_graph_print(graph, &text);
  }
  if (!status && text.size < room) memcpy(out, text.data, size = text.size);
  if (!size) out[size++] = '\n';  // 0 would end the seeds
  tpt_status_release(status);
  tpt_str_deinit(&text);
  tpt_graph_release(graph);
  return size;
}

// The number-th program of the folder that fits into `room`.
static inline size_t seed_file(size_t number, char* out, size_t room) {
  char path[4096];
  size_t size = 0;
  DIR* folder = opendir(TPUTORCH_TEST_DATA);
  for (struct dirent* entry; folder && !size && (entry = readdir(folder));) {
    const char* end = strrchr(entry->d_name, '.');
    if (!end || strcmp(end, ".mlir") != 0) continue;
    snprintf(path, sizeof(path), "%s/%s", TPUTORCH_TEST_DATA, entry->d_name);
    FILE* file = fopen(path, "re");
    size = file ? fread(out, 1, room, file) : 0;
    if (file) fclose(file);
    if (size >= room || number-- > 0) size = 0;
  }
  if (folder) closedir(folder);
  return size;
}

static inline size_t seed_text(size_t number, char* out, size_t room) {
  if (number < TPT_HLO_COUNT) return seed_sample((tpt_hlo_t)number, out, room);
  return seed_file(number - TPT_HLO_COUNT, out, room);
}

#endif  // TPUTORCH_HLO_SEED_H_
