// Tensors: the few ATen ops that are about storage and metadata rather than values (empty, views, set_,
// resize_, copies, item). Everything else is a row of the op table.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_conj_physical.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/all.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "adapter/adapter.h"
#include "adapter/line.h"

namespace tputorch {

tpt_dtype_t dtype_of(c10::ScalarType type) {
  tpt_dtype_t dtype = tpt_dtype_from_torch(static_cast<int>(type));
  TORCH_CHECK(dtype != TPT_DTYPE_INVALID, "dtype ", c10::toString(type),
              " is not supported on device tpu");
  return dtype;
}

c10::ScalarType scalar_type_of(tpt_dtype_t dtype) {
  return static_cast<c10::ScalarType>(tpt_dtype_row(dtype)->torch);
}

tpt_tensor_t window_of(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  tpt_tensor_t window;
  memset(&window, 0, sizeof(window));
  size_t bytes = 0;
  window.storage = storage_of(impl->unsafe_storage().unsafeGetStorageImpl(), &bytes);
  window.dtype = dtype_of(c10::typeMetaToScalarType(impl->dtype()));
  window.rank = static_cast<int32_t>(impl->dim());
  TORCH_CHECK(window.rank <= TPT_RANK_MAX, "tensors on device tpu have at most ",
              static_cast<int>(TPT_RANK_MAX), " dimensions, got ", window.rank);
  window.sizes = impl->sizes().data();
  window.strides = impl->strides().data();
  window.offset = impl->storage_offset();
  if (__builtin_expect(bytes != 0, 0)) {
    size_t item = tpt_dtype_size(window.dtype);
    TORCH_CHECK(bytes % item == 0,
                "a tensor's storage starts at a misaligned address of a tpu storage");
    window.offset += static_cast<int64_t>(bytes / item);
  }
  if (impl->is_wrapped_number()) window.flags |= TPT_TENSOR_WRAPPED;
  return window;
}

tpt_tensor_t number_of(const at::Tensor& tensor) {
  tpt_tensor_t number;
  memset(&number, 0, sizeof(number));
  number.flags = TPT_TENSOR_HOST;
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) number.flags |= TPT_TENSOR_WRAPPED;
  number.dtype = dtype_of(tensor.scalar_type());
  number.number = tpt_number_load(number.dtype, tensor.const_data_ptr());
  number.number.dtype = number.dtype;
  return number;
}

at::Tensor tensor_of(const tpt_result_t& result, c10::DeviceIndex device) {
  if (!result.storage) return at::Tensor();
  size_t bytes = tpt_storage_size(result.storage);
  c10::Storage storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, own_storage(result.storage, device), allocator(),
      /*resizable=*/true);
  auto impl = c10::make_intrusive<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(scalar_type_of(result.dtype)));
  impl->set_sizes_and_strides(c10::IntArrayRef(result.sizes, static_cast<size_t>(result.rank)),
                              c10::IntArrayRef(result.strides, static_cast<size_t>(result.rank)));
  return at::Tensor(std::move(impl));
}

// The value that a lazily conjugated or negated device tensor stands for, computed by rows: resolve_conj
// would copy, and copying is what asks for this.
at::Tensor without_lazy_bits(const at::Tensor& tensor) {
  bool conj = tensor.is_conj(), neg = tensor.is_neg();
  if (!conj && !neg) return tensor;
  if (tensor.device().type() != kTpu) return tensor.resolve_conj().resolve_neg();
  at::Tensor value = conj ? tensor.conj() : tensor;
  if (neg) value = value._neg_view();
  if (conj) value = at::_conj_physical(value);
  return neg ? at::neg(value) : value;
}

namespace {

using std::optional;

c10::DispatchKeySet keys() {
  return c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
}

at::Tensor empty(at::IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout> layout,
                 optional<at::Device> device, optional<bool>, optional<at::MemoryFormat> format) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == at::kStrided,
                              "only strided tensors exist on device tpu");
  at::ScalarType type = at::dtype_or_default(dtype);
  dtype_of(type);
  c10::OptionalDeviceGuard guard(c10::Device(kTpu, resolve_device(device ? device->index() : -1)));
  return at::detail::empty_generic(size, allocator(), keys(), type, format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         optional<at::ScalarType> dtype, optional<at::Layout> layout,
                         optional<at::Device> device, optional<bool>) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == at::kStrided,
                              "only strided tensors exist on device tpu");
  at::ScalarType type = at::dtype_or_default(dtype);
  dtype_of(type);
  c10::OptionalDeviceGuard guard(c10::Device(kTpu, resolve_device(device ? device->index() : -1)));
  return at::detail::empty_strided_generic(size, stride, allocator(), keys(), type);
}

void grow(c10::TensorImpl* impl, size_t bytes) {
  c10::StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  if (bytes > storage->nbytes()) resize_storage(storage, bytes);
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          optional<at::MemoryFormat> format) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (impl->sizes() != size) {
    size_t item = impl->dtype().itemsize();
    grow(impl, at::detail::computeStorageNbytesContiguous(
                   size, item, static_cast<size_t>(impl->storage_offset())));
    impl->set_sizes_contiguous(size);
  }
  if (format && *format != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  TORCH_CHECK(source.device_type() == kTpu, "Attempted to set the storage of a tensor on device \"",
              self.device(), "\" to a storage on different device \"", source.device(),
              "\".  This is no longer allowed; the devices must match.");
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  std::vector<int64_t> contiguous;
  if (stride.data() == nullptr || stride.size() != size.size()) {
    contiguous = at::detail::defaultStrides(size);
    stride = contiguous;
  }
  size_t item = impl->dtype().itemsize();
  grow(impl, at::detail::computeStorageNbytes(size, stride, item, static_cast<size_t>(offset)));
  impl->set_sizes_and_strides(size, stride);
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage source) {
  int64_t count = static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage(self, std::move(source), 0, {count}, {1});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

at::Tensor& set_nothing(at::Tensor& self) {
  c10::DeviceIndex device = self.device().index();
  c10::OptionalDeviceGuard guard(c10::Device(kTpu, device));
  c10::Storage source(c10::Storage::use_byte_size_t(), 0, allocator(), true);
  return set_storage(self, std::move(source), 0, {0}, {1});
}

// Device to host: dense in the source's dtype, then whatever the destination wants.
void download(const at::Tensor& src, const at::Tensor& dst) {
  if (src.numel() == 0) return;
  bool direct = dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() &&
                dst.is_contiguous() && !dst.is_conj() && !dst.is_neg();
  at::Tensor host =
      direct ? dst : at::empty(src.sizes(), src.options().device(at::kCPU).pinned_memory(false));
  tpt_tensor_t window = window_of(src);
  check(tpt_tensor_download(&window, host.mutable_data_ptr()));
  if (!direct) dst.copy_(host);
}

void upload(const at::Tensor& src, const at::Tensor& dst) {
  if (dst.numel() == 0) return;
  at::Tensor host = src.to(dst.scalar_type());
  if (host.sizes() != dst.sizes()) host = host.expand(dst.sizes());
  host = host.resolve_conj().resolve_neg().contiguous();
  tpt_tensor_t window = window_of(dst);
  tell_line();
  check(tpt_tensor_upload(&window, host.const_data_ptr()));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  if (dst.is_conj() || dst.is_neg()) {
    // In the target's dtype first: minus a bool or an unsigned number would be another one.
    at::Tensor plain = dst, value = self.to(dst.scalar_type());
    if (dst.is_conj()) plain = plain.conj(), value = value.conj();
    if (dst.is_neg()) plain = plain._neg_view(), value = value._neg_view();
    plain.copy_(value);
    return dst;
  }
  at::Tensor src = without_lazy_bits(self);
  bool from = src.device().type() == kTpu, to = dst.device().type() == kTpu;
  if (from && to) {
    tpt_tensor_t target = window_of(dst), source = window_of(src);
    tpt_arg_t read = {};
    read.kind = TPT_ARG_TENSOR;
    read.count = 1;
    read.tensors = &source;
    check(tpt_overlap_check(TPT_OVERLAP_NOT_PARTIAL, &target, &read, 1, -1));
    tell_line();
    check(tpt_tensor_copy(&target, &source));
  } else if (from) {
    at::Tensor source = src.sizes() == dst.sizes() ? src : src.expand(dst.sizes());
    download(source, dst);
  } else if (src.device().is_cpu()) {
    upload(src, dst);
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "copy from ", src.device(), " to ", dst.device(),
                                " is not possible; go through the CPU");
  }
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  if (self.sizes() != dst.sizes()) dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  alignas(16) char element[16];
  tpt_tensor_t window = window_of(self);
  check(tpt_tensor_download(&window, element));
  tpt_number_t number = tpt_number_load(window.dtype, element);
  switch (tpt_dtype_row(window.dtype)->kind) {
  case TPT_CLASS_BOOL:
    return at::Scalar(number.i != 0);
  case TPT_CLASS_FLOAT:
    return at::Scalar(number.f);
  case TPT_CLASS_COMPLEX:
    return at::Scalar(c10::complex<double>(number.f, number.im));
  case TPT_CLASS_UINT:
    if (window.dtype == TPT_U64) return at::Scalar(static_cast<uint64_t>(number.i));
    return at::Scalar(number.i);
  default:
    return at::Scalar(number.i);
  }
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.device() == other.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  return at::all(at::eq(self, other)).item<bool>();
}

at::Tensor view(const at::Tensor& self, at::IntArrayRef size) {
  return at::native::view(self, size);
}
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}
at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}
at::Tensor unfold(const at::Tensor& self, int64_t dim, int64_t size, int64_t step) {
  return at::native::unfold(self, dim, size, step);
}
void record_stream(at::Tensor&, at::Stream) {}
// Nested tensors do not exist here: the encoder's inference path then keeps the padding.
bool nested_from_mask_left_aligned(const at::Tensor&, const at::Tensor&) {
  return false;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("as_strided", TORCH_FN(as_strided));
  m.impl("view", TORCH_FN(view));
  m.impl("_reshape_alias", TORCH_FN(reshape_alias));
  m.impl("unfold", TORCH_FN(unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("resize_", TORCH_FN(resize_));
  m.impl("set_", TORCH_FN(set_nothing));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor));
  m.impl("set_.source_Storage", TORCH_FN(set_whole_storage));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage));
  m.impl("is_set_to", TORCH_FN(at::native::is_set_to));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar_dense));
  m.impl("equal", TORCH_FN(equal));
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("_nested_tensor_from_mask_left_aligned", TORCH_FN(nested_from_mask_left_aligned));
}

// Without these the lazy-bit fallbacks would call copy_ from inside _copy_from, without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace tputorch
