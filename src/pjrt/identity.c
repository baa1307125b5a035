// Owns the answer to "would this serialized executable be the same here?": the plugin's code, what it
// says of itself and its devices, the compile options, the machine's processor. Must not know programs
// or files of a cache. Invariant: the plugin's code is named by what is loaded, never by a path or a
// time: the linker's build id as mapped, else a digest of the file.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/options.h"
#include "pjrt/handle.h"

typedef struct search {
  uintptr_t code;  // an address inside the library
  unsigned char id[64];
  size_t id_size;  // 0: none found
} search_t;

static bool contains(const struct dl_phdr_info* info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD &&
        address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
      return true;
  }
  return false;
}

static void read_notes(const char* notes, size_t size, search_t* search) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, notes, sizeof(note));
    size_t name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;
    size_t whole = sizeof(note) + name_size + (((size_t)note.n_descsz + 3) & ~(size_t)3);
    if (whole > size) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= sizeof(search->id)) {
      memcpy(search->id, notes + sizeof(note) + name_size, note.n_descsz);
      search->id_size = note.n_descsz;
    }
    notes += whole;
    size -= whole;
  }
}

static int visit_library(struct dl_phdr_info* info, size_t size, void* arg) {
  search_t* search = arg;
  (void)size;
  if (!contains(info, search->code)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE)
      read_notes((const char*)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz, search);
  }
  return 1;
}

static tpt_status_t digest_file(const char* path, unsigned char out_bytes[TPT_DIGEST_SIZE]) {
  unsigned char block[16384];
  ssize_t size;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) TPT_FAIL(TPT_NOT_FOUND, "cannot read %s again: %s", path, strerror(errno));
  tpt_digest_t digest;
  tpt_digest_init(&digest);
  while ((size = read(file, block, sizeof(block))) > 0)
    tpt_digest_append(&digest, block, (size_t)size);
  close(file);
  if (size < 0) TPT_FAIL(TPT_DATA_LOSS, "%s cannot be read in full", path);
  tpt_digest_finish(&digest, out_bytes);
  return NULL;
}

static tpt_status_t append_code(const tpt_plugin_t* plugin, tpt_str_t* out) {
  char text[2 * 64 + 1];
  search_t search = {.code = (uintptr_t)plugin->api.PJRT_Client_Create};
  dl_iterate_phdr(visit_library, &search);
  if (search.id_size > 0) {
    tpt_digest_print(search.id, search.id_size, text);
    tpt_str_printf(out, "build %s\n", text);
  } else {
    TPT_TRY(digest_file(plugin->path, search.id));
    tpt_digest_print(search.id, TPT_DIGEST_SIZE, text);
    tpt_str_printf(out, "file %s\n", text);
  }
  return NULL;
}

// The first processor's model and instruction sets: a plugin may compile for exactly those.
static void append_processor(tpt_str_t* out) {
  static const char* const kNames[] = {"vendor_id", "cpu family",  "model",           "stepping",
                                       "flags",     "Features",    "CPU implementer", "CPU variant",
                                       "CPU part",  "CPU revision"};
  char line[8192];
  FILE* file = fopen("/proc/cpuinfo", "re");
  if (!file) return;
  while (fgets(line, sizeof(line), file) && line[0] != '\n') {
    for (size_t i = 0; i < sizeof(kNames) / sizeof(*kNames); i++) {
      if (strncmp(line, kNames[i], strlen(kNames[i])) == 0) {
        tpt_str_append_cstr(out, line);
        break;
      }
    }
  }
  fclose(file);
}

// What compilers behind PJRT read from the environment.
static void append_flags(tpt_str_t* out) {
  static const char* const kNames[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "TF_XLA_FLAGS"};
  for (size_t i = 0; i < sizeof(kNames) / sizeof(*kNames); i++) {
    const char* value = tpt_environment(kNames[i]);
    if (value && *value) tpt_str_printf(out, "%s %s\n", kNames[i], value);
  }
}

tpt_status_t tpt_client_identity(const tpt_client_t* client, tpt_str_t* out_text) {
  const tpt_plugin_t* plugin = client->plugin;
  tpt_str_printf(out_text, "platform %s\n%s\n", client->platform_name, client->platform_version);
  tpt_str_printf(out_text, "api %d.%d\n", plugin->api.pjrt_api_version.major_version,
                 plugin->api.pjrt_api_version.minor_version);
  TPT_TRY(append_code(plugin, out_text));
  for (int i = 0; i < client->device_count; i++)
    tpt_str_printf(out_text, "device %s\n", client->devices[i].kind);
  append_flags(out_text);
  append_processor(out_text);
  tpt_str_append_cstr(out_text, "options ");
  TPT_TRY(tpt__client_compile_options(client, out_text));
  return tpt_str_status(out_text);
}
