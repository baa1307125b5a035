// Ops whose sizes depend on values: nonzero, masks as indices, unique, bincount, repeat_interleave. A count
// is read from the device (one wait), then a step whose program knows only a size large enough, a power of
// two, gives a buffer that the result is the front of. No data travels, and no new count compiles a step.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "adapter/adapter.h"

namespace tputorch {
namespace {

using torch::jit::Stack;

// Calls a step (src/aten/sized.def).
std::vector<at::Tensor> step(const char* name, std::vector<c10::IValue> arguments) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
      (std::string("tputorch::") + name).c_str(), "");
  Stack stack(std::move(arguments));
  op.callBoxed(stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& value : stack)
    results.push_back(value.isNone() ? at::Tensor() : value.toTensor());
  return results;
}

int64_t power_above(int64_t count) {
  int64_t size = 16;
  while (size < count)
    size *= 2;
  return size;
}

// `buffer` seen as a tensor of other sizes on its front.
at::Tensor front(const at::Tensor& buffer, at::IntArrayRef sizes, at::IntArrayRef strides) {
  buffer.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return buffer;
}

at::Tensor front_rows(const at::Tensor& buffer, int64_t count) {
  std::vector<int64_t> sizes = buffer.sizes().vec();
  std::vector<int64_t> strides = buffer.strides().vec();
  sizes[0] = count;
  return front(buffer, sizes, strides);
}

int64_t count_set(const at::Tensor& flags) {
  return at::count_nonzero(flags).item<int64_t>();
}

at::Tensor places_of(const at::Tensor& self) {
  int64_t count = self.numel() ? count_set(self) : 0;
  if (count == 0 || self.dim() == 0)
    return at::empty_strided({count, self.dim()}, {1, count}, self.options().dtype(at::kLong));
  at::Tensor flat = step("sized_nonzero", {self, power_above(count), count})[0];
  return front(flat, {count, self.dim()}, {1, count});
}

// self[mask], the mask covering its first dimensions.
at::Tensor select(const at::Tensor& self, const at::Tensor& mask) {
  int64_t count = mask.numel() ? count_set(mask) : 0;
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.erase(sizes.begin(), sizes.begin() + mask.dim());
  sizes.insert(sizes.begin(), count);
  if (count == 0 || self.numel() == 0) return at::empty(sizes, self.options());
  return front_rows(step("sized_select", {self, mask, power_above(count)})[0], count);
}

at::Tensor selected(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  auto [x, flags] = at::expand_outplace(self, mask);
  return select(*x, *flags);
}

bool is_mask(const std::optional<at::Tensor>& index) {
  return index && index->defined() &&
         (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte);
}

// The mask's sizes are those of self's dimensions from `first` on.
void check_mask(const at::Tensor& mask, const at::Tensor& self, int64_t first) {
  for (int64_t d = 0; d < mask.dim(); d++)
    TORCH_CHECK_INDEX(first + d < self.dim() && mask.size(d) == self.size(first + d),
                      "The shape of the mask ", mask.sizes(), " at index ", d,
                      " does not match the shape of the indexed tensor ", self.sizes(),
                      " at index ", first + d);
}

at::Tensor select_checked(const at::Tensor& self, const at::Tensor& mask) {
  check_mask(mask, self, 0);
  return select(self, mask);
}

// Masks become the coordinates of what they set.
c10::List<std::optional<at::Tensor>>
without_masks(const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices) {
  c10::List<std::optional<at::Tensor>> plain;
  for (const std::optional<at::Tensor>& index : indices) {
    if (!is_mask(index)) {
      plain.push_back(index);
      continue;
    }
    check_mask(*index, self, static_cast<int64_t>(plain.size()));
    plain.resize(plain.size() + static_cast<size_t>(index->dim()));
    at::Tensor places = places_of(*index);
    for (int64_t d = 0; d < index->dim(); d++)
      plain.set(plain.size() - static_cast<size_t>(index->dim() - d), places.select(1, d));
  }
  return plain;
}

bool has_scalar_mask(const c10::List<std::optional<at::Tensor>>& indices) {
  for (const std::optional<at::Tensor>& index : indices)
    if (is_mask(index) && index->dim() == 0) return true;
  return false;
}

bool run_index(Stack* stack) {
  auto indices = torch::jit::peek(*stack, 1, 2).toOptionalTensorList();
  at::Tensor self = torch::jit::peek(*stack, 0, 2).toTensor();
  bool has_masks = false;
  for (const std::optional<at::Tensor>& index : indices)
    has_masks |= is_mask(index);
  if (!has_masks || has_scalar_mask(indices)) return false;
  at::Tensor result = indices.size() == 1 ? select_checked(self, *indices.get(0))
                                          : at::index(self, without_masks(self, indices));
  torch::jit::drop(*stack, 2);
  stack->emplace_back(result);
  return true;
}

// _index_put_impl_(self, indices, values, accumulate, unsafe) with masks that its row does not take.
bool run_index_put(const c10::OperatorHandle& op, Stack* stack) {
  auto indices = torch::jit::peek(*stack, 1, 5).toOptionalTensorList();
  at::Tensor self = torch::jit::peek(*stack, 0, 5).toTensor();
  bool has_masks = false;
  for (const std::optional<at::Tensor>& index : indices)
    has_masks |= is_mask(index);
  if (!has_masks || has_scalar_mask(indices)) return false;
  (*stack)[stack->size() - 4] = without_masks(self, indices);
  op.callBoxed(*stack);
  return true;
}

// --- unique --------------------------------------------------------------------------------------------

using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

at::Tensor no_indices(const at::Tensor& self) {
  return at::empty({0}, self.options().dtype(at::kLong));
}

Three unique_of(const at::Tensor& self, bool sorts, bool inverse, bool counts) {
  if (self.numel() == 0) {
    at::Tensor places = at::empty(self.sizes(), self.options().dtype(at::kLong));
    return {at::empty({0}, self.options()), inverse ? places : no_indices(self), no_indices(self)};
  }
  std::vector<at::Tensor> all = step("sized_unique", {self, sorts, inverse, counts});
  int64_t count = all[3].item<int64_t>();
  return {front_rows(all[0], count), inverse ? all[1].view(self.sizes()) : no_indices(self),
          counts ? front_rows(all[2], count) : no_indices(self)};
}

Three unique2(const at::Tensor& self, bool, bool inverse, bool counts) {
  return unique_of(self, true, inverse, counts);
}

std::tuple<at::Tensor, at::Tensor> unique1(const at::Tensor& self, bool, bool inverse) {
  auto [values, places, counts] = unique_of(self, true, inverse, false);
  return {values, places};
}

// Rows along `dim`: the others flattened.
Three unique_rows(const at::Tensor& self, int64_t dim, bool sorts, bool inverse, bool counts) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  int64_t size = self.size(dim);
  TORCH_CHECK(
      self.numel() > 0 || size == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  if (size == 0)
    return {at::empty(self.sizes(), self.options()), no_indices(self), no_indices(self)};
  at::Tensor lines = self.movedim(dim, 0);
  std::vector<at::Tensor> all = step("sized_unique_rows", {lines.reshape({size, -1}), sorts});
  int64_t count = all[3].item<int64_t>();
  at::Tensor values = at::index_select(lines.contiguous(), 0, front_rows(all[0], count));
  return {values.movedim(0, dim), inverse ? all[1] : no_indices(self),
          counts ? front_rows(all[2], count) : no_indices(self)};
}

Three unique_in_dim(const at::Tensor& self, int64_t dim, bool, bool inverse, bool counts) {
  return unique_rows(self, dim, true, inverse, counts);
}

Three unique_dim_runs(const at::Tensor& self, int64_t dim, bool inverse, bool counts) {
  return unique_rows(self, dim, false, inverse, counts);
}

Three unique_runs(const at::Tensor& self, bool inverse, bool counts, std::optional<int64_t> dim) {
  if (!dim || (*dim == 0 && self.dim() == 1)) return unique_of(self, false, inverse, counts);
  return unique_rows(self, *dim, false, inverse, counts);
}

// --- counts --------------------------------------------------------------------------------------------

// Least and greatest element of integers, in one read.
std::pair<int64_t, int64_t> bounds(const at::Tensor& self) {
  auto [least, most] = at::aminmax(self);
  at::Tensor both = at::stack({least, most}).to(at::kLong).cpu();
  return {both.data_ptr<int64_t>()[0], both.data_ptr<int64_t>()[1]};
}

at::Tensor bin_counts(const at::Tensor& self, const std::optional<at::Tensor>& weights,
                      c10::SymInt minlength) {
  int64_t size = minlength.expect_int();
  bool is_weighted = weights && weights->defined();
  TORCH_CHECK_NOT_IMPLEMENTED(c10::isIntegralType(self.scalar_type(), false),
                              "\"bincount\" not implemented for ", self.scalar_type());
  TORCH_CHECK(size >= 0, "minlength should be >= 0");
  at::ScalarType kind = !is_weighted                           ? at::kLong
                        : weights->scalar_type() == at::kFloat ? at::kFloat
                                                               : at::kDouble;
  at::TensorOptions options = self.options().dtype(kind);
  if (self.dim() == 1 && self.numel() == 0) return at::zeros({size}, options.dtype(at::kLong));
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK(!is_weighted || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  auto [least, most] = bounds(self);
  TORCH_CHECK(least >= 0, "bincount only supports 1-d non-negative integral inputs.");
  at::Tensor each = is_weighted ? weights->to(kind) : at::ones({self.size(0)}, options);
  size = std::max(size, most + 1);
  at::Tensor sums = at::zeros({power_above(size)}, options);
  return front_rows(at::scatter_add(sums, 0, self.to(at::kLong), each), size);
}

at::Tensor repeated_places(const at::Tensor& repeats, std::optional<c10::SymInt> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.size(0) == 0) return at::empty_like(repeats);
  at::Tensor ends = at::cumsum(repeats, 0, at::kLong);
  at::Tensor facts = at::stack({std::get<0>(at::aminmax(repeats)).to(at::kLong), ends[-1]}).cpu();
  int64_t least = facts.data_ptr<int64_t>()[0], total = facts.data_ptr<int64_t>()[1];
  TORCH_CHECK(least >= 0, "repeats can not be negative");
  TORCH_CHECK(!output_size || output_size->expect_int() == total,
              "allocated size does not match required size");
  at::Tensor places = at::arange(power_above(total), ends.options());
  at::Tensor owners = at::searchsorted(ends, places, false, true);
  return front_rows(owners.to(repeats.scalar_type()), total);
}

}  // namespace

bool run_sized(const c10::OperatorHandle& op, Stack* stack) {
  std::string name = c10::toString(op.operator_name());
  if (name == "aten::index.Tensor") return run_index(stack);
  if (name == "aten::_index_put_impl_") return run_index_put(op, stack);
  return false;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("nonzero", &places_of);
  m.impl("masked_select", &selected);
  m.impl("_unique", &unique1);
  m.impl("_unique2", &unique2);
  m.impl("unique_dim", &unique_in_dim);
  m.impl("unique_consecutive", &unique_runs);
  m.impl("unique_dim_consecutive", &unique_dim_runs);
  m.impl("bincount", &bin_counts);
  m.impl("repeat_interleave.Tensor", &repeated_places);
}

}  // namespace tputorch
