// The vector machine for AVX2; compiled with its flags (CMakeLists.txt).
#ifdef __AVX2__
#define VM_TABLE vtpu_vm_table_avx2
#include "vtpu/vm_level.inc"
#else
#include "vtpu/vm.h"
const vtpu_vm_table_t vtpu_vm_table_avx2;
#endif
