// Sets the CPU's control register; an architecture without a case here keeps subnormals.
#include "vtpu/subnormal.h"

#if defined(__x86_64__)
#include <immintrin.h>
enum { FLUSH_BITS = 0x8040 };  // flush results to zero, take subnormal operands as zero
static uint64_t control_get(void) {
  return _mm_getcsr();
}
static void control_set(uint64_t control) {
  _mm_setcsr((unsigned)control);
}
#elif defined(__aarch64__)
enum { FLUSH_BITS = 1 << 24 };
static uint64_t control_get(void) {
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
static void control_set(uint64_t control) {
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
enum { FLUSH_BITS = 0 };
static uint64_t control_get(void) {
  return 0;
}
static void control_set(uint64_t control) {
  (void)control;
}
#endif

vtpu_subnormal_t vtpu_subnormal_begin(bool flush) {
  vtpu_subnormal_t mode = {false, 0};
  if (!flush) return mode;
  mode.changed = true;
  mode.saved = control_get();
  control_set(mode.saved | FLUSH_BITS);
  return mode;
}

void vtpu_subnormal_end(vtpu_subnormal_t mode) {
  if (mode.changed) control_set(mode.saved);
}
