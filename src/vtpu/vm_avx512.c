// The vector machine for AVX-512; compiled with its flags (CMakeLists.txt).
#ifdef __AVX512F__
#define VM_TABLE vtpu_vm_table_avx512
#include "vtpu/vm_level.inc"
#else
#include "vtpu/vm.h"
const vtpu_vm_table_t vtpu_vm_table_avx512;
#endif
