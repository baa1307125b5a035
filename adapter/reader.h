// Reads the arguments of one ATen call from the dispatcher's stack into tpt_arg_t. Private to call.cc.
#ifndef TPUTORCH_ADAPTER_READER_H_
#define TPUTORCH_ADAPTER_READER_H_

#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "adapter/adapter.h"

namespace tputorch {

// Memory for one call's arrays: a stack buffer, then the heap.
class Scratch {
public:
  template <typename T> T* take(size_t count) {
    size_t size = (count * sizeof(T) + 15) & ~static_cast<size_t>(15);
    if (used_ + size <= sizeof(buffer_)) {
      T* data = reinterpret_cast<T*>(buffer_ + used_);
      used_ += size;
      return data;
    }
    heap_.emplace_back(new char[size + 16]);
    return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(heap_.back().get()) + 15) &
                                ~static_cast<uintptr_t>(15));
  }

private:
  alignas(16) char buffer_[4096];
  size_t used_ = 0;
  std::vector<std::unique_ptr<char[]>> heap_;
};

inline tpt_number_t number_of_scalar(const at::Scalar& scalar) {
  tpt_number_t number;
  memset(&number, 0, sizeof(number));
  if (scalar.isFloatingPoint()) {
    number.dtype = TPT_F64;
    number.f = scalar.toDouble();
  } else if (scalar.isComplex()) {
    number.dtype = TPT_C128;
    number.f = scalar.toComplexDouble().real();
    number.im = scalar.toComplexDouble().imag();
  } else {
    number.dtype = scalar.isBoolean() ? TPT_PRED : TPT_S64;
    number.i = scalar.isBoolean() ? scalar.toBool() : scalar.toLong();
  }
  return number;
}

inline tpt_number_t number_from(const c10::IValue& value) {
  return number_of_scalar(value.toScalar());
}

// Reads the arguments of one call and finds its device.
class Reader {
public:
  explicit Reader(const tpt_op_t* op) : op_(op) {}

  void read(const c10::IValue& value, const tpt_schema_arg_t& schema, tpt_arg_t* arg) {
    memset(arg, 0, sizeof(*arg));
    if (schema.kind == TPT_ARG_GENERATOR) {
      arg->kind = TPT_ARG_GENERATOR;
      generator_ = generator_of(value);
      return;
    }
    if (value.isNone()) return;
    arg->kind = schema.kind;
    switch (schema.kind) {
    case TPT_ARG_TENSOR: {
      auto* tensor = scratch_.take<tpt_tensor_t>(1);
      read_tensor(value, tensor);
      if (tensor->flags & TPT_TENSOR_NONE) arg->kind = TPT_ARG_NONE;
      arg->tensors = tensor;
      arg->count = 1;
      return;
    }
    case TPT_ARG_TENSORS:
      return read_tensors(value, arg);
    case TPT_ARG_SCALAR:
      arg->number = number_from(value);
      return;
    case TPT_ARG_FLOAT:
      arg->number.dtype = TPT_F64;
      arg->number.f = value.isDouble() ? value.toDouble() : number_as_double(value);
      return;
    case TPT_ARG_DTYPE:
      arg->number.dtype = TPT_S64;
      arg->number.i = dtype_of(value.toScalarType());
      return;
    case TPT_ARG_DEVICE:
      arg->number.dtype = TPT_S64;
      arg->number.i = value.toDevice().index();
      if (device_ < 0) wanted_ = value.toDevice();
      return;
    case TPT_ARG_STRING:
      arg->string = value.toStringRef().c_str();
      arg->count = static_cast<uint32_t>(value.toStringRef().size());
      return;
    case TPT_ARG_INT:
    case TPT_ARG_BOOL:
      arg->number = number_from(value);
      return;
    default:
      return read_list(value, arg);
    }
  }

  // Device of the call: that of its tensors, the device argument, or the current one.
  c10::DeviceIndex device() const {
    if (device_ >= 0) return device_;
    return resolve_device(wanted_ ? wanted_->index() : -1);
  }
  tpt_generator_t* generator() const { return generator_; }
  Scratch& scratch() { return scratch_; }

private:
  static double number_as_double(const c10::IValue& value) {
    tpt_number_t number = number_from(value);
    return number.dtype == TPT_F64 ? number.f : static_cast<double>(number.i);
  }

  void read_tensor(const c10::IValue& value, tpt_tensor_t* out) {
    if (value.isNone() || !value.toTensor().defined()) {
      memset(out, 0, sizeof(*out));
      out->flags = TPT_TENSOR_NONE;
      return;
    }
    const at::Tensor& tensor = value.toTensor();
    c10::Device device = tensor.device();
    if (__builtin_expect(device.type() == kTpu, 1)) {
      if (device_ >= 0 && device.index() != device_) wrong_device(device);
      device_ = device.index();
      TORCH_CHECK_NOT_IMPLEMENTED(
          tensor.layout() == at::kStrided, "aten::", tpt_op_schema(op_)->name,
          ": only strided tensors exist on device tpu, got ", tensor.layout());
      if (__builtin_expect(tensor.is_conj() || tensor.is_neg(), 0)) {
        // Core lets some ops (clone, views) through with the bits still on.
        kept_.push_back(without_lazy_bits(tensor));
        *out = window_of(kept_.back());
        return;
      }
      *out = window_of(tensor);
      return;
    }
    if (!device.is_cpu() || tensor.dim() != 0) wrong_device(device);
    *out = number_of(tensor.is_conj() || tensor.is_neg() ? tensor.resolve_conj().resolve_neg()
                                                         : tensor);
  }

  [[noreturn]] void wrong_device(c10::Device other) {
    c10::Device mine(kTpu, device_ >= 0 ? device_ : current_device());
    TORCH_CHECK(false,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                mine, " and ", other, "! (while calling aten::", tpt_op_schema(op_)->name,
                "; move the tensor with .to(\"tpu\"))");
    throw std::logic_error("not reached");
  }

  void read_tensors(const c10::IValue& value, tpt_arg_t* arg) {
    if (value.isTensorList()) {
      c10::List<at::Tensor> list = value.toTensorList();
      auto* tensors = scratch_.take<tpt_tensor_t>(list.size());
      size_t i = 0;
      for (const at::Tensor& tensor : list)
        read_tensor(c10::IValue(tensor), &tensors[i++]);
      arg->tensors = tensors;
      arg->count = static_cast<uint32_t>(i);
      return;
    }
    c10::ArrayRef<c10::IValue> list = value.toListRef();
    auto* tensors = scratch_.take<tpt_tensor_t>(list.size());
    for (size_t i = 0; i < list.size(); i++)
      read_tensor(list[i], &tensors[i]);
    arg->tensors = tensors;
    arg->count = static_cast<uint32_t>(list.size());
  }

  void read_list(const c10::IValue& value, tpt_arg_t* arg) {
    if (arg->kind == TPT_ARG_INTS || arg->kind == TPT_ARG_BOOLS) {
      size_t count = 0;
      int64_t* ints = nullptr;
      if (value.isIntList()) {
        c10::List<int64_t> list = value.toIntList();
        ints = scratch_.take<int64_t>(list.size());
        for (int64_t item : list)
          ints[count++] = item;
      } else if (value.isInt()) {
        ints = scratch_.take<int64_t>(1);
        ints[count++] = value.toInt();
      } else {
        c10::ArrayRef<c10::IValue> list =
            value.isBoolList() ? c10::ArrayRef<c10::IValue>() : value.toListRef();
        std::vector<c10::IValue> bools;
        if (value.isBoolList())
          for (bool item : value.toBoolList())
            bools.emplace_back(item);
        if (value.isBoolList()) list = bools;
        ints = scratch_.take<int64_t>(list.size());
        for (const c10::IValue& item : list)
          ints[count++] = number_from(item).i;
      }
      arg->ints = ints;
      arg->count = static_cast<uint32_t>(count);
      return;
    }
    if (arg->kind == TPT_ARG_FLOATS) {
      std::vector<double> list = value.toDoubleVector();
      auto* floats = scratch_.take<double>(list.size());
      std::copy(list.begin(), list.end(), floats);
      arg->floats = floats;
      arg->count = static_cast<uint32_t>(list.size());
      return;
    }
    c10::ArrayRef<c10::IValue> list = value.toListRef();
    auto* numbers = scratch_.take<tpt_number_t>(list.size());
    for (size_t i = 0; i < list.size(); i++)
      numbers[i] = number_from(list[i]);
    arg->numbers = numbers;
    arg->count = static_cast<uint32_t>(list.size());
  }

  const tpt_op_t* op_;
  c10::DeviceIndex device_ = -1;
  std::optional<c10::Device> wanted_;
  tpt_generator_t* generator_ = nullptr;
  Scratch scratch_;
  std::vector<at::Tensor> kept_;  // values of lazily conjugated or negated arguments
};

}  // namespace tputorch

#endif  // TPUTORCH_ADAPTER_READER_H_
