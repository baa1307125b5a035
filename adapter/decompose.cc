// Decompositions: an op without a row whose kernel in PyTorch is a function of other ops. From its second
// call with one signature on, it is recorded and runs as one program. It knows no op. Invariants: the
// signature holds everything the kernel can read but tensor values; whatever cannot be recorded runs op
// by op, as before.
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DefaultDtype.h>
#include <torch/library.h>

#include "adapter/adapter.h"

namespace tputorch {
namespace {

using torch::jit::Stack;

constexpr size_t kSignatureMax = 256;  // per op

// The call as bytes, and its tensors in order.
class Signature {
public:
  // False: something in it cannot be part of a signature.
  bool add(const c10::IValue& value) {
    if (value.isTensor()) return add_tensor(value.toTensor());
    if (value.isTensorList() || value.isList()) return add_list(value.toListRef());
    if (value.isNone()) return add_tag('N');
    if (value.isInt()) return add_word('I', value.toInt());
    if (value.isBool()) return add_word('B', value.toBool());
    if (value.isDouble()) return add_word('D', value.toDouble());
    if (value.isComplexDouble()) return add_word('C', value.toComplexDouble());
    if (value.isString()) {
      add_word('S', value.toStringRef().size());
      text_ += value.toStringRef();
      return true;
    }
    return false;
  }
  template <typename T> bool add_word(char tag, const T& word) {
    text_ += tag;
    text_.append(reinterpret_cast<const char*>(&word), sizeof(word));
    return true;
  }
  const std::string& text() const { return text_; }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }
  int device() const { return device_; }

private:
  bool add_tag(char tag) {
    text_ += tag;
    return true;
  }
  bool add_tensor(const at::Tensor& tensor) {
    if (!tensor.defined()) return add_tag('U');
    if (tensor.device().type() != kTpu || tensor.layout() != at::kStrided || tensor.is_conj() ||
        tensor.is_neg())
      return false;
    if (device_ >= 0 && device_ != tensor.device().index()) return false;
    device_ = tensor.device().index();
    add_word('T', tensor.scalar_type());
    add_word('w', tensor.unsafeGetTensorImpl()->is_wrapped_number());
    add_word('r', tensor.dim());
    for (int64_t size : tensor.sizes())
      add_word('s', size);
    for (int64_t stride : tensor.strides())
      add_word('t', stride);
    tensors_.push_back(tensor);
    return true;
  }
  bool add_list(c10::ArrayRef<c10::IValue> list) {
    add_word('L', list.size());
    for (const c10::IValue& item : list)
      if (!add(item)) return false;
    return true;
  }

  std::string text_;
  std::vector<at::Tensor> tensors_;
  int device_ = -1;
};

struct Recorded {
  enum { kSeenOnce, kProgram, kNever } state = kSeenOnce;
  std::shared_ptr<tpt_program_t> program;
  std::vector<int> list_counts;  // per return: items of a list, -1 for a tensor
};

// The stack with its tensors replaced, in order, by placeholders.
c10::IValue with_placeholders(const c10::IValue& value, const std::vector<at::Tensor>& placeholders,
                              size_t& next) {
  if (value.isTensor()) return value.toTensor().defined() ? placeholders[next++] : value;
  if (!value.isTensorList()) {
    if (!value.isList()) return value;
    bool has_tensor = false;
    for (const c10::IValue& item : value.toListRef())
      has_tensor |= item.isTensor();
    if (!has_tensor) return value;
    c10::impl::GenericList list(value.toList().elementType());
    for (const c10::IValue& item : value.toListRef())
      list.push_back(with_placeholders(item, placeholders, next));
    return list;
  }
  c10::List<at::Tensor> list;
  for (const c10::IValue& item : value.toListRef())
    list.push_back(with_placeholders(item, placeholders, next).toTensor());
  return list;
}

// A capture that ends, whatever happens.
class Capture {
public:
  explicit Capture(int device) : device_(device) { check(tpt_capture_begin(device)); }
  ~Capture() {
    if (is_active_) tpt_capture_cancel(device_);
  }
  at::Tensor input(const at::Tensor& like) {
    tpt_tensor_t window = window_of(like);
    tpt_result_t result;
    check(tpt_capture_input(device_, &window, &result));
    at::Tensor made = tensor_of(result, static_cast<c10::DeviceIndex>(device_));
    if (like.unsafeGetTensorImpl()->is_wrapped_number())
      made.unsafeGetTensorImpl()->set_wrapped_number(true);
    return made;
  }
  std::shared_ptr<tpt_program_t> end(const std::vector<tpt_tensor_t>& outputs) {
    tpt_program_t* program = nullptr;
    is_active_ = false;
    check(tpt_capture_end(device_, outputs.data(), static_cast<int>(outputs.size()), &program));
    return std::shared_ptr<tpt_program_t>(program, &tpt_program_release);
  }

private:
  int device_;
  bool is_active_ = true;
};

struct Decomposed final : c10::OperatorKernel {
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    size_t count = op.schema().arguments().size();
    Signature signature;
    if (tpt_eager_mode_get() != TPT_EAGER_STRICT || tpt_capture_is_active() ||
        !read(op, *stack, count, signature))
      return run_singly(op, stack);
    Recorded recorded;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto [place, is_new] = table_.try_emplace(signature.text());
      if (is_new && table_.size() > kSignatureMax) {
        table_.clear();
        is_new = true;
        place = table_.try_emplace(signature.text()).first;
      }
      if (!is_new && place->second.state == Recorded::kSeenOnce)
        record(op, *stack, count, signature, place->second);
      recorded = is_new ? Recorded() : place->second;
    }
    if (recorded.state != Recorded::kProgram) return run_singly(op, stack);
    run(op, stack, count, signature, recorded);
  }

private:
  static void run_singly(const c10::OperatorHandle& op, Stack* stack) {
    op.callBoxedForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd, *stack);
  }

  static bool read(const c10::OperatorHandle&, const Stack& stack, size_t count,
                   Signature& signature) {
    signature.add_word('p', tpt_precision_get());
    signature.add_word('d', c10::get_default_dtype_as_scalartype());
    for (size_t i = stack.size() - count; i < stack.size(); i++)
      if (!signature.add(stack[i])) return false;
    return signature.device() >= 0;
  }

  static void record(const c10::OperatorHandle& op, const Stack& stack, size_t count,
                     const Signature& signature, Recorded& recorded) {
    recorded.state = Recorded::kNever;
    try {
      Capture capture(signature.device());
      std::vector<at::Tensor> placeholders;
      for (const at::Tensor& tensor : signature.tensors())
        placeholders.push_back(capture.input(tensor));
      Stack inner;
      size_t next = 0;
      for (size_t i = stack.size() - count; i < stack.size(); i++)
        inner.push_back(with_placeholders(stack[i], placeholders, next));
      run_singly(op, &inner);
      std::vector<tpt_tensor_t> outputs;
      for (const c10::IValue& value : inner) {
        recorded.list_counts.push_back(-1);
        if (value.isTensor()) {
          outputs.push_back(output_of(value.toTensor()));
          continue;
        }
        std::vector<at::Tensor> list = value.toTensorVector();
        recorded.list_counts.back() = static_cast<int>(list.size());
        for (const at::Tensor& tensor : list)
          outputs.push_back(output_of(tensor));
      }
      recorded.program = capture.end(outputs);
      check(tpt_program_set_name(recorded.program.get(), op.operator_name().name.c_str() + 6));
      recorded.state = Recorded::kProgram;
    } catch (const std::exception&) {  // it reads values: op by op, for ever
      recorded.state = Recorded::kNever;
    }
  }

  static tpt_tensor_t output_of(const at::Tensor& tensor) {
    if (tensor.defined()) {
      TORCH_CHECK(tensor.device().type() == kTpu && !tensor.is_conj() && !tensor.is_neg());
      return window_of(tensor);
    }
    tpt_tensor_t none;
    memset(&none, 0, sizeof(none));
    none.flags = TPT_TENSOR_NONE;
    return none;
  }

  static void run(const c10::OperatorHandle&, Stack* stack, size_t count,
                  const Signature& signature, const Recorded& recorded) {
    std::vector<tpt_tensor_t> inputs;
    for (const at::Tensor& tensor : signature.tensors())
      inputs.push_back(window_of(tensor));
    tpt_result_t* results = nullptr;
    int result_count = 0, next = 0;
    check(tpt_program_run(recorded.program.get(), inputs.data(), static_cast<int>(inputs.size()),
                          nullptr, &results, &result_count));
    auto device = static_cast<c10::DeviceIndex>(signature.device());
    torch::jit::drop(*stack, count);
    for (int items : recorded.list_counts) {
      if (items < 0) {
        stack->emplace_back(tensor_of(results[next++], device));
        continue;
      }
      c10::List<at::Tensor> list;
      for (int i = 0; i < items; i++)
        list.push_back(tensor_of(results[next++], device));
      stack->emplace_back(std::move(list));
    }
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Recorded> table_;
};

// True for functions of tensors: nothing written or viewed, no device, generator or storage named.
bool is_function(const c10::FunctionSchema& schema) {
  bool has_tensor = false;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info()) return false;
    std::string type = argument.type()->str();
    if (type.find("Device") != std::string::npos || type.find("Generator") != std::string::npos ||
        type.find("Storage") != std::string::npos)
      return false;
    has_tensor |= type.find("Tensor") != std::string::npos;
  }
  for (const c10::Argument& result : schema.returns())
    if (result.type()->str() != "Tensor" && result.type()->str() != "Tensor[]") return false;
  return has_tensor && !schema.returns().empty();
}

// Their results share memory with arguments, or they exist for other layouts and for PyTorch's own tests.
bool is_excluded(const std::string& name) {
  static const std::unordered_set<std::string> names = {
      "aten::lift",          "aten::resize",       "aten::resize_as",
      "aten::set",           "aten::_unsafe_view", "aten::_lazy_clone",
      "aten::_reshape_copy", "aten::unsafe_split", "aten::unsafe_split_with_sizes"};
  return names.count(name) || name.find("sparse") != std::string::npos ||
         name.find("_test") != std::string::npos || name.find("coalesced") != std::string::npos;
}

}  // namespace

void register_decompositions() {
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1,
                                __FILE__, __LINE__);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0 || is_excluded(name.name)) continue;
    auto op = dispatcher.findSchema(name);
    if (!op || op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1) ||
        !op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
        !is_function(op->schema()))
      continue;
    std::string short_name = name.name.substr(strlen("aten::"));
    if (!name.overload_name.empty()) short_name += "." + name.overload_name;
    library.impl(short_name.c_str(),
                 torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Decomposed>()));
  }
}

}  // namespace tputorch
