// Copies are made at the second asking, are dropped with their content and by the bound, oldest first,
// never while somebody uses them.
#include "base/check.h"
#include "vtpu/keep.h"

static const int64_t form_a[2] = {1, 2}, form_b[3] = {1, 2, 3};

// 0: no copy, 1: a fresh one (filled with `value`), 2: one that holds `value`, 3: one that holds another.
static int ask(vtpu_keep_t* keep, const int64_t* form, size_t count, size_t size, char value) {
  bool is_fresh;
  vtpu_kept_t* kept = vtpu_keep_take(keep, form, count, size, &is_fresh);
  if (!kept) return 0;
  char* data = vtpu_kept_data(kept);
  int answer = 1;
  if (is_fresh)
    memset(data, value, size);
  else
    answer = data[0] == value && data[size - 1] == value ? 2 : 3;
  vtpu_kept_give(kept);
  return answer;
}

static void test_the_second_asking_makes_a_copy(void) {
  vtpu_keeper_t* keeper = NULL;
  if (!CHECK_OK(vtpu_keeper_create(1000, &keeper))) return;
  vtpu_keep_t* keep = vtpu_keep_create(keeper);
  CHECK_EQ(ask(keep, form_a, 2, 100, 'a'), 0);
  CHECK_EQ(ask(keep, form_b, 3, 100, 'b'), 0);
  CHECK_EQ(vtpu_keeper_in_use(keeper), 0);
  CHECK_EQ(ask(keep, form_a, 2, 100, 'a'), 1);
  CHECK_EQ(ask(keep, form_b, 3, 100, 'b'), 1);
  CHECK_EQ(ask(keep, form_a, 2, 100, 'a'), 2);
  CHECK_EQ(ask(keep, form_b, 3, 100, 'b'), 2);
  CHECK_EQ(vtpu_keeper_in_use(keeper), 200);
  CHECK_EQ(ask(NULL, form_a, 2, 100, 'a'), 0);
  vtpu_keep_release(keep);
  CHECK_EQ(vtpu_keeper_in_use(keeper), 0);
  vtpu_keeper_release(keeper);
}

static void test_the_bound_drops_what_was_used_longest_ago(void) {
  vtpu_keeper_t* keeper = NULL;
  if (!CHECK_OK(vtpu_keeper_create(250, &keeper))) return;
  vtpu_keep_t *x = vtpu_keep_create(keeper), *y = vtpu_keep_create(keeper);
  for (int i = 0; i < 2; i++)
    (void)ask(x, form_a, 2, 100, 'x'), (void)ask(y, form_a, 2, 100, 'y');
  CHECK_EQ(ask(x, form_a, 2, 100, 'x'), 2);
  (void)ask(x, form_b, 3, 100, 'z');
  CHECK_EQ(ask(x, form_b, 3, 100, 'z'), 1);  // in the place of y's
  CHECK_EQ(ask(x, form_a, 2, 100, 'x'), 2);
  CHECK_EQ(ask(y, form_a, 2, 100, 'y'), 1);  // made again, in the place of the older one of x
  CHECK_EQ(vtpu_keeper_in_use(keeper), 200);
  (void)ask(y, form_b, 3, 300, 'b');
  CHECK_EQ(ask(y, form_b, 3, 300, 'b'), 0);  // larger than the bound
  vtpu_keep_release(x);
  vtpu_keep_release(y);
  vtpu_keeper_release(keeper);
}

static void test_a_copy_in_use_stays(void) {
  vtpu_keeper_t* keeper = NULL;
  if (!CHECK_OK(vtpu_keeper_create(150, &keeper))) return;
  vtpu_keep_t *x = vtpu_keep_create(keeper), *y = vtpu_keep_create(keeper);
  bool is_fresh;
  (void)ask(x, form_a, 2, 100, 'x');
  (void)ask(y, form_a, 2, 100, 'y');
  vtpu_kept_t* kept = vtpu_keep_take(x, form_a, 2, 100, &is_fresh);
  CHECK(kept && is_fresh);
  if (!kept) return;
  memset(vtpu_kept_data(kept), 'x', 100);
  CHECK_EQ(ask(x, form_a, 2, 100, 'x'), 0);  // not filled yet
  CHECK_EQ(ask(y, form_a, 2, 100, 'y'), 0);  // no room
  vtpu_keep_release(x);                      // the content changed under its last user
  vtpu_keeper_release(keeper);
  CHECK(((char*)vtpu_kept_data(kept))[99] == 'x');
  vtpu_kept_give(kept);
  CHECK_EQ(ask(y, form_a, 2, 100, 'y'), 1);
  vtpu_keep_release(y);
}

static void test_a_bound_of_nothing_keeps_nothing(void) {
  vtpu_keeper_t* keeper = NULL;
  if (!CHECK_OK(vtpu_keeper_create(0, &keeper))) return;
  CHECK(!vtpu_keep_create(keeper));
  vtpu_keep_release(NULL);
  vtpu_kept_give(NULL);
  vtpu_keeper_release(keeper);
  vtpu_keeper_release(NULL);
}

int main(void) {
  RUN(test_the_second_asking_makes_a_copy);
  RUN(test_the_bound_drops_what_was_used_longest_ago);
  RUN(test_a_copy_in_use_stays);
  RUN(test_a_bound_of_nothing_keeps_nothing);
  return TEST_RESULT;
}
