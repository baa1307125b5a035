#include "eager/scalar_cache.h"
#include "eager/test_device.h"

static tpt_client_t* client;

static tpt_buffer_t* get(tpt_scalar_cache_t* cache, float value) {
  tpt_buffer_t* buffer = NULL;
  CHECK_OK(tpt_scalar_cache_get(cache, TPT_F32, &value, &buffer));
  return buffer;
}

static float value_of(tpt_buffer_t* buffer) {
  float value = 0;
  CHECK_OK(tpt_buffer_to_host(buffer, &value, sizeof(value)));
  return value;
}

static void test_equal_numbers_are_uploaded_once(void) {
  tpt_scalar_cache_t* cache;
  if (!CHECK_OK(tpt_scalar_cache_create(client, 0, &cache))) return;
  tpt_buffer_t* first = get(cache, 0.5f);
  tpt_scalar_cache_begin(cache);
  CHECK(get(cache, 0.5f) == first);
  CHECK_EQ(tpt_scalar_cache_upload_count(cache), 1);
  CHECK(get(cache, -0.0f) != get(cache, 0.0f));  // by bits
  double wide = 0.5;
  tpt_buffer_t* other = NULL;
  CHECK_OK(tpt_scalar_cache_get(cache, TPT_F64, &wide, &other));
  CHECK(other != first);
  CHECK_EQ(value_of(first), 0.5f);
  CHECK(tpt_scalar_cache_clear(cache));
  CHECK(!tpt_scalar_cache_clear(cache));
  tpt_scalar_cache_release(cache);
  tpt_scalar_cache_release(NULL);
}

static void test_numbers_of_one_call_all_stay(void) {
  enum { COUNT = 6000 };  // more than the cache holds
  tpt_scalar_cache_t* cache;
  static tpt_buffer_t* buffers[COUNT];
  if (!CHECK_OK(tpt_scalar_cache_create(client, 0, &cache))) return;
  for (int call = 0; call < 2; call++) {
    tpt_scalar_cache_begin(cache);
    for (int i = 0; i < COUNT; i++)
      buffers[i] = get(cache, (float)(i + call * 1000));
    for (int i = 0; i < COUNT; i += 97)
      CHECK_EQ(value_of(buffers[i]), (float)(i + call * 1000));
  }
  tpt_scalar_cache_release(cache);
}

static void test_old_numbers_make_room(void) {
  tpt_scalar_cache_t* cache;
  if (!CHECK_OK(tpt_scalar_cache_create(client, 0, &cache))) return;
  for (int i = 0; i < 5000; i++) {
    tpt_scalar_cache_begin(cache);
    get(cache, (float)i);
  }
  CHECK_EQ(tpt_scalar_cache_upload_count(cache), 5000);
  tpt_scalar_cache_begin(cache);
  get(cache, 4999);
  CHECK_EQ(tpt_scalar_cache_upload_count(cache), 5000);
  tpt_scalar_cache_release(cache);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  tpt_device_info_t info;
  tpt_plugin_t* plugin;
  tpt_named_value_t none;
  if (!CHECK_OK(tpt_device_info(0, &info)) || !CHECK_OK(tpt_plugin_load(info.plugin, &plugin)) ||
      !CHECK_OK(tpt_client_create(plugin, &none, 0, &client)))
    return TEST_RESULT;
  RUN(test_equal_numbers_are_uploaded_once);
  RUN(test_numbers_of_one_call_all_stay);
  RUN(test_old_numbers_make_room);
  tpt_client_release(client);
  return TEST_RESULT;
}
