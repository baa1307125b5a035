// Tests of the table: every entry is there, knows its name, and refuses bad structs and handles.
#include "vtpu/plugin_probe.h"

enum { ENTRIES = PJRT_SLOT_COUNT };
typedef PJRT_Error* (*entry_t)(void* args);

static const char* const names[ENTRIES] = {
#define SLOT(number, name, result, fields) #name,
#include "pjrt/pjrt_slots.def"
#undef SLOT
};
static const size_t sizes[ENTRIES] = {
#define SLOT(number, name, result, fields) PJRT_##name##_Args_STRUCT_SIZE,
#include "pjrt/pjrt_slots.def"
#undef SLOT
};

static entry_t entry(int slot) {
  entry_t fn;
  memcpy(&fn, (const char*)GetPjrtApi() + offsetof(PJRT_Api, PJRT_Error_Destroy) + 8 * (size_t)slot,
         sizeof(fn));
  return fn;
}

static void test_table_reports_90_and_holds_all_entries(void) {
  const PJRT_Api* api = GetPjrtApi();
  CHECK(api == GetPjrtApi());
  CHECK_EQ(api->pjrt_api_version.major_version, 0);
  CHECK_EQ(api->pjrt_api_version.minor_version, 90);
  CHECK_EQ(api->struct_size, 1064);
  CHECK_EQ(ENTRIES, 138);
  for (int i = 0; i < ENTRIES; i++)
    CHECK(entry(i) != NULL);
}

static void test_short_structs_are_refused_by_name(void) {
  char text[200];
  for (int i = PJRT_SLOT_Error_GetCode; i < ENTRIES; i++) {
    uint64_t args[40] = {8};
    snprintf(text, sizeof(text), "Unexpected PJRT_%s_Args size: expected", names[i]);
    CHECK_FAILS(vtpu_status(entry(i)(args)), TPT_INVALID_ARGUMENT, text);
    snprintf(text, sizeof(text), "PJRT_%s: args is NULL", names[i]);
    CHECK_FAILS(vtpu_status(entry(i)(NULL)), TPT_INVALID_ARGUMENT, text);
  }
}

// A caller whose header is older: structs end where the fields that matter end.
static void test_older_structs_are_accepted(void) {
  PJRT_Client_Create_Args args = {.struct_size = PJRT_ABI_END(PJRT_Client_Create_Args, client)};
  PASSES(Client_Create, args);
  ARGS(Client_Destroy, destroy, .client = args.client);
  destroy.struct_size += 64;  // a newer one
  PASSES(Client_Destroy, destroy);
}

// NULL handles: an error, or success where NULL is legal (Destroy) or no handle is taken; no crash.
static void test_null_arguments_never_crash(void) {
  int refused = 0;
  for (int i = PJRT_SLOT_Error_GetCode; i < ENTRIES; i++) {
    if (i == PJRT_SLOT_Client_Create || i == PJRT_SLOT_Event_Create ||
        i == PJRT_SLOT_ExecuteContext_Create || i == PJRT_SLOT_TopologyDescription_Create)
      continue;  // make objects without any argument
    uint64_t args[40] = {sizes[i]};
    tpt_status_t status = vtpu_status(entry(i)(args));
    bool is_destroy = strstr(names[i], "_Destroy") && !strstr(names[i], "CopyToDeviceStream");
    bool takes_none = i == PJRT_SLOT_Plugin_Initialize || i == PJRT_SLOT_Plugin_Attributes;
    if (!status != (is_destroy || takes_none)) {
      fprintf(stderr, "%s: %s\n", names[i], tpt_status_message(status));
      CHECK(!"a NULL argument was answered wrongly");
    }
    refused += status != NULL;
    tpt_status_release(status);
  }
  CHECK(refused > 110);
}

static void test_missing_entries_say_their_names(void) {
  const int missing[] = {PJRT_SLOT_CopyToDeviceStream_AddChunk, PJRT_SLOT_Client_CreateAliasBuffer,
                         PJRT_SLOT_Buffer_Bitcast, PJRT_SLOT_Device_PoisonExecution};
  for (int i = 0; i < 4; i++) {
    char text[100];
    uint64_t args[40] = {sizes[missing[i]]};
    snprintf(text, sizeof(text), "PJRT_%s: ", names[missing[i]]);
    CHECK_FAILS(vtpu_status(entry(missing[i])(args)), TPT_UNIMPLEMENTED, text);
  }
}

static void test_plugin_attributes(void) {
  ARGS(Plugin_Initialize, initialize);
  PASSES(Plugin_Initialize, initialize);
  ARGS(Plugin_Attributes, query);
  PASSES(Plugin_Attributes, query);
  CHECK_EQ(query.num_attributes, 3);
  for (size_t i = 0; i < query.num_attributes; i++)
    CHECK_EQ(strlen(query.attributes[i].name), query.attributes[i].name_size);
  CHECK_EQ(query.attributes[0].int64_value, 2);
  CHECK_EQ(query.attributes[1].int64_array_value[0], 1);
  CHECK_EQ(query.attributes[2].value_size, 3);
}

int main(void) {
  RUN(test_table_reports_90_and_holds_all_entries);
  RUN(test_short_structs_are_refused_by_name);
  RUN(test_older_structs_are_accepted);
  RUN(test_null_arguments_never_crash);
  RUN(test_missing_entries_say_their_names);
  RUN(test_plugin_attributes);
  return TEST_RESULT;
}
