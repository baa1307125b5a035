// Owns the choice of a plugin. Must not open a chip: it looks at files only. Invariant: what is chosen
// depends on the options, the library folder and the machine, never on what ran before.
#include "eager/plugin_choice.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char kPciFolder[] = "/sys/bus/pci/devices";
static const char kGoogleVendor[] = "0x1ae0";

static bool is_tpu(const char* pci_name) {
  char path[512], vendor[16] = "";
  snprintf(path, sizeof(path), "%s/%s/vendor", kPciFolder, pci_name);
  FILE* file = fopen(path, "re");
  if (!file) return false;
  bool is_read = fgets(vendor, sizeof(vendor), file) != NULL;
  fclose(file);
  return is_read && strncmp(vendor, kGoogleVendor, strlen(kGoogleVendor)) == 0;
}

int tpt_plugin_chip_count(void) {
  if (access("/dev/vfio", F_OK) != 0 && access("/dev/accel0", F_OK) != 0) return 0;
  DIR* folder = opendir(kPciFolder);
  if (!folder) return 0;
  int count = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    if (entry->d_name[0] != '.' && is_tpu(entry->d_name)) count++;
  }
  closedir(folder);
  return count;
}

static bool join(char* out_path, size_t size, const char* folder, const char* name) {
  int length = snprintf(out_path, size, "%s/%s", folder, name);
  return length > 0 && (size_t)length < size && access(out_path, R_OK) == 0;
}

static bool find_libtpu(const char* folder, char* out_path, size_t size) {
  const char* given = tpt_environment("TPU_LIBRARY_PATH");
  if (given && *given) {
    snprintf(out_path, size, "%s", given);
    return access(out_path, R_OK) == 0;
  }
  // The wheel of libtpu stands beside ours in site-packages.
  if (folder && join(out_path, size, folder, "../libtpu/libtpu.so")) return true;
  return join(out_path, size, "/usr/lib", "libtpu.so") ||
         join(out_path, size, "/usr/local/lib", "libtpu.so");
}

static tpt_plugin_kind_t kind_of_path(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  if (strstr(name, "vtpu")) return TPT_PLUGIN_VTPU;
  if (strstr(name, "libtpu")) return TPT_PLUGIN_LIBTPU;
  if (strstr(name, "cpu")) return TPT_PLUGIN_XLA_CPU;
  return TPT_PLUGIN_OTHER;
}

static tpt_status_t choose_vtpu(const char* folder, tpt_plugin_choice_t* out_choice) {
  out_choice->kind = TPT_PLUGIN_VTPU;
  if (!folder)
    TPT_FAIL(
        TPT_NOT_FOUND,
        "the folder of libvtpu.so is not set; import tputorch, or say plugin=/path/to/plugin.so");
  if (!join(out_choice->path, sizeof(out_choice->path), folder, "libvtpu.so"))
    TPT_FAIL(TPT_NOT_FOUND, "the virtual TPU is missing: no file %s/libvtpu.so; reinstall tputorch",
             folder);
  return NULL;
}

tpt_status_t tpt_plugin_choose(const tpt_options_t* options, const char* folder,
                               tpt_plugin_choice_t* out_choice) {
  memset(out_choice, 0, sizeof(*out_choice));
  const char* wanted = options->plugin && *options->plugin ? options->plugin : "auto";
  size_t size = sizeof(out_choice->path);
  if (strcmp(wanted, "vtpu") == 0) return choose_vtpu(folder, out_choice);
  if (strcmp(wanted, "auto") == 0) {
    if (tpt_plugin_chip_count() == 0 || !find_libtpu(folder, out_choice->path, size))
      return choose_vtpu(folder, out_choice);
    out_choice->kind = TPT_PLUGIN_LIBTPU;
    return NULL;
  }
  if (strcmp(wanted, "libtpu") == 0) {
    out_choice->kind = TPT_PLUGIN_LIBTPU;
    if (find_libtpu(folder, out_choice->path, size)) return NULL;
    TPT_FAIL(TPT_NOT_FOUND, "plugin=libtpu: libtpu.so was not found; pip install libtpu, or set "
                            "TPU_LIBRARY_PATH to the file");
  }
  if (strlen(wanted) >= size)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "option plugin: a path of %zu characters is too long",
             strlen(wanted));
  snprintf(out_choice->path, size, "%s", wanted);
  out_choice->kind = kind_of_path(wanted);
  if (access(wanted, R_OK) != 0)
    TPT_FAIL(TPT_NOT_FOUND,
             "option plugin: no file \"%s\" (auto, vtpu, libtpu, or the path of a PJRT plugin)",
             wanted);
  return NULL;
}

static void add_text(tpt_named_value_t* values, int* count, const char* name, const char* text) {
  values[(*count)++] = (tpt_named_value_t){name, text, 0};
}

static void add_integer(tpt_named_value_t* values, int* count, const char* name, int64_t integer) {
  values[(*count)++] = (tpt_named_value_t){name, NULL, integer};
}

int tpt_plugin_create_options(const tpt_plugin_choice_t* choice, const tpt_options_t* options,
                              tpt_named_value_t* out_values) {
  int count = 0;
  if (choice->kind == TPT_PLUGIN_XLA_CPU)
    add_integer(out_values, &count, "cpu_device_count", options->devices);
  if (choice->kind != TPT_PLUGIN_VTPU) return count;
  add_text(out_values, &count, "chip", options->chip);
  add_integer(out_values, &count, "devices", options->devices);
  add_integer(out_values, &count, "hbm", options->hbm);
  add_integer(out_values, &count, "threads", options->threads);
  add_integer(out_values, &count, "flush_subnormals", options->flush_subnormals);
  add_integer(out_values, &count, "inline_limit", options->inline_limit);
  return count;
}
