// The border between PyTorch and the C core: what the adapter's files share. It converts types, calls
// tpt_*, and throws. No op, shape or dtype rule lives here.
#ifndef TPUTORCH_ADAPTER_H_
#define TPUTORCH_ADAPTER_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include "tputorch/runtime.h"

struct _object;
typedef _object PyObject;

namespace tputorch {

constexpr c10::DeviceType kTpu = c10::DeviceType::PrivateUse1;

// Throws the status as PyTorch's exception of its kind and frees it: OUT_OF_RANGE is IndexError,
// UNIMPLEMENTED NotImplementedError, RESOURCE_EXHAUSTED OutOfMemoryError, all else RuntimeError.
[[noreturn]] void throw_status(tpt_status_t take_status);
inline void check(tpt_status_t take_status) {
  if (__builtin_expect(take_status != nullptr, 0)) throw_status(take_status);
}

// Device of the calling thread, and its change. Indexes out of range are an error.
c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex device);
// The index itself, or the current device for -1. Checked against the device count.
c10::DeviceIndex resolve_device(c10::DeviceIndex device);

// The DataPtr that owns a storage.
c10::DataPtr own_storage(tpt_storage_t* take_storage, c10::DeviceIndex device);
// The storage behind a device tensor, and where the tensor's torch storage starts in it (bytes).
tpt_storage_t* storage_of(const c10::StorageImpl* impl, size_t* out_offset);
c10::Allocator* allocator();

// A device tensor as a window; sizes and strides are borrowed from the tensor.
tpt_tensor_t window_of(const at::Tensor& tensor);
// A 0-d CPU tensor as a host number.
tpt_tensor_t number_of(const at::Tensor& tensor);
tpt_dtype_t dtype_of(c10::ScalarType type);
c10::ScalarType scalar_type_of(tpt_dtype_t dtype);
// Takes the result's storage.
at::Tensor tensor_of(const tpt_result_t& result, c10::DeviceIndex device);

// The value that a lazily conjugated or negated tensor stands for; other tensors as they are.
at::Tensor without_lazy_bits(const at::Tensor& tensor);

// Grows or shrinks the bytes of a torch storage of ours.
void resize_storage(c10::StorageImpl* impl, size_t size);

// Runs an op whose sizes depend on values, where its row cannot (sized.cc); false: not one of those. The
// stack is as the op's kernel got it.
bool run_sized(const c10::OperatorHandle& op, std::vector<c10::IValue>* stack);
// Registers every row of the op table, once, at load.
void register_rows();
// Registers the ops without a row that PyTorch composes of others, after the rows.
void register_decompositions();
// How often a row was called since the start.
uint64_t row_calls(int row);
// Ops that ran on the CPU since the start, as "name" -> count.
void for_each_fallback(void (*fn)(void* arg, const std::string& name, uint64_t count), void* arg);

// The default generator of a device, and the core's state behind a torch generator (null: the default).
const at::Generator& default_generator(c10::DeviceIndex device);
tpt_generator_t* generator_of(const c10::IValue& value);

// Adds recording, Program and Programs (program.cc) to the Python module; false with a Python error set.
bool add_program_types(PyObject* module);

}  // namespace tputorch

#endif  // TPUTORCH_ADAPTER_H_
