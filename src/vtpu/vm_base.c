// The vector machine for any CPU of the architecture.
#define VM_TABLE vtpu_vm_table_base
#include "vtpu/vm_level.inc"
