// Calls: one boxed kernel serves every row of the op table, in its functional, in-place and out= forms.
// It turns the stack into tpt_arg_t, runs the call, and turns results into tensors. An op without a row
// (or a row that says UNIMPLEMENTED) runs on the CPU: counted, named once.
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "adapter/adapter.h"
#include "adapter/line.h"
#include "adapter/reader.h"

namespace tputorch {
namespace {

using torch::jit::Stack;

// --- ops that run on the CPU ---------------------------------------------------------------------------

struct Fallbacks {
  std::mutex mutex;
  std::map<std::string, uint64_t> counts;
};
Fallbacks& fallbacks() {
  static Fallbacks* all = new Fallbacks;
  return *all;
}

void run_on_cpu(const c10::OperatorHandle& op, Stack* stack, const char* why) {
  std::string name = c10::toString(op.operator_name());
  char mode[16] = "warn";
  tpt_status_release(tpt_runtime_get_option("fallback", mode, sizeof(mode)));
  TORCH_CHECK_NOT_IMPLEMENTED(strcmp(mode, "error") != 0, name, " has no kernel on device tpu", why,
                              ", and TPUTORCH_OPTIONS=\"fallback=error\" forbids the CPU");
  try {  // first: what the CPU refuses is the caller's error, not a missing kernel
    at::native::cpu_fallback(op, stack);
  } catch (const c10::Error&) {
    TORCH_CHECK_NOT_IMPLEMENTED(!tpt_capture_is_active(), name, " has no kernel on device tpu", why,
                                " and runs on the CPU, which a recorded program cannot");
    throw;
  }
  bool first;
  {
    std::lock_guard<std::mutex> lock(fallbacks().mutex);
    first = fallbacks().counts[name]++ == 0;
  }
  tpt_counters_add_fallback();
  if (first && strcmp(mode, "quiet") != 0)
    TORCH_WARN(name, " has no kernel on device tpu", why,
               " and runs on the CPU (right, but slow). This is said once per op; "
               "torch.tpu.counters() counts them.");
}

void fallback(const c10::OperatorHandle& op, Stack* stack) {
  run_on_cpu(op, stack, "");
}

std::atomic<uint64_t>& row_count(int row) {
  static auto* counts = new std::vector<std::atomic<uint64_t>>(static_cast<size_t>(tpt_op_count()));
  return (*counts)[static_cast<size_t>(row)];
}

// Results of a row that are lists of tensors.
int list_count(const tpt_schema_t* schema) {
  int lists = 0;
  for (int i = 0; i < schema->return_count; i++)
    lists += schema->returns[i] == TPT_ARG_TENSORS;
  return lists;
}

// --- the kernel of a row -------------------------------------------------------------------------------

enum class Form { kFunctional, kInplace, kOut };

// A call of a row, counted; its random generator is the device's own.
tpt_call_t call_of(const tpt_op_t* op, int row, const tpt_arg_t* args, int arg_count,
                   c10::DeviceIndex device) {
  tpt_call_t call;
  memset(&call, 0, sizeof(call));
  row_count(row).fetch_add(1, std::memory_order_relaxed);
  call.op = op;
  call.args = args;
  call.arg_count = arg_count;
  call.device = device;
  call.default_dtype = dtype_of(c10::get_default_dtype_as_scalartype());
  Line line = current_line();
  call.file = line.file;
  call.line = line.number;
  return call;
}

void set_written(tpt_call_t& call, Form form, const int* written, size_t count) {
  if (form == Form::kInplace) call.variant = TPT_INPLACE;
  call.inplace_args = written;
  call.inplace_count = static_cast<int>(count);
}

struct RowKernel final : c10::OperatorKernel {
  RowKernel(const tpt_op_t* op, Form form, std::vector<int> written)
      : op_(op), schema_(tpt_op_schema(op)), row_(tpt_op_index(op)), form_(form),
        written_(std::move(written)) {
    is_product_ = strcmp(tpt_op_family(op), "matmul") == 0 ||
                  strcmp(tpt_op_family(op), "conv") == 0 ||
                  strcmp(tpt_op_family(op), "attention") == 0;
    overlap_ = tpt_op_overlap_rule(op);
  }

  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, Stack* stack) {
    size_t total = handle.schema().arguments().size();
    c10::ArrayRef<c10::IValue> values(stack->data() + (stack->size() - total), total);
    Reader reader(op_);
    auto* args = reader.scratch().take<tpt_arg_t>(static_cast<size_t>(schema_->arg_count));
    read(values, reader, args);
    tpt_arg_t* outs = form_ == Form::kOut ? read_outs(values, reader) : nullptr;
    if (form_ == Form::kInplace && __builtin_expect(writes_lazy_bits(values), 0))
      return run_on_stand_ins(handle, stack);
    tpt_call_t call = call_of(op_, row_, args, schema_->arg_count, reader.device());
    set_written(call, form_, written_.data(), written_.size());
    call.generator = reader.generator();
    if (__builtin_expect(is_product_ && !told_precision, 0)) tell_precision(args);
    tpt_result_t* results = nullptr;
    int count = 0;
    tpt_status_t status = check_overlap(call, outs);
    if (!status) status = tpt_call_run(&call, &results, &count);
    if (__builtin_expect(status != nullptr, 0)) {
      if (tpt_status_code(status) != TPT_UNIMPLEMENTED) throw_status(status);
      if (run_sized(handle, stack)) return tpt_status_release(status);
      // PyTorch's own decomposition, where there is one, before the CPU.
      if (handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd)) {
        tpt_status_release(status);
        return handle.callBoxedForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd, *stack);
      }
      std::string why = std::string(" (") + tpt_status_message(status) + ")";
      tpt_status_release(status);
      return run_on_cpu(handle, stack, why.c_str());
    }
    finish(handle, stack, values, results, count, call.device);
  }

  static bool told_precision;

private:
  void read(c10::ArrayRef<c10::IValue> values, Reader& reader, tpt_arg_t* args) {
    size_t given = form_ == Form::kOut ? values.size() - written_.size() : values.size();
    for (int i = 0; i < schema_->arg_count; i++) {
      if (static_cast<size_t>(i) < given) {
        reader.read(values[static_cast<size_t>(i)], schema_->args[i], &args[i]);
        continue;
      }
      // A factory's out= form has no dtype, layout, device: the out tensor says them.
      memset(&args[i], 0, sizeof(args[i]));
      if (schema_->args[i].kind == TPT_ARG_DTYPE) {
        args[i].kind = TPT_ARG_DTYPE;
        args[i].number.dtype = TPT_S64;
        args[i].number.i = dtype_of(values.back().toTensor().scalar_type());
      }
    }
  }

  tpt_arg_t* read_outs(c10::ArrayRef<c10::IValue> values, Reader& reader) {
    auto* outs = reader.scratch().take<tpt_arg_t>(written_.size());
    for (size_t i = 0; i < written_.size(); i++) {
      const c10::IValue& value = values[static_cast<size_t>(written_[i])];
      tpt_schema_arg_t schema;
      memset(&schema, 0, sizeof(schema));
      schema.kind = value.isTensor() ? TPT_ARG_TENSOR : TPT_ARG_TENSORS;
      reader.read(value, schema, &outs[i]);
    }
    return outs;
  }

  // What is written may not share memory with what is read, where PyTorch's CPU kernels forbid it.
  tpt_status_t check_overlap(const tpt_call_t& call, const tpt_arg_t* outs) const {
    if (form_ == Form::kFunctional || overlap_ == TPT_OVERLAP_ANY) return nullptr;
    if (form_ == Form::kInplace && overlap_ == TPT_OVERLAP_LISTS)
      return tpt_overlap_check_lists(&call);
    for (size_t i = 0; i < written_.size(); i++) {
      const tpt_arg_t& arg = outs ? outs[i] : call.args[written_[i]];
      if (arg.kind != TPT_ARG_TENSOR) continue;
      tpt_status_t status = tpt_overlap_check(overlap_, arg.tensors, call.args, call.arg_count,
                                              outs ? -1 : written_[i]);
      if (status) return status;
    }
    return nullptr;
  }

  // --- written tensors with lazy bits: the call runs on their values, which then go through the views ---

  bool writes_lazy_bits(c10::ArrayRef<c10::IValue> values) const {
    for (int index : written_) {
      const c10::IValue& value = values[static_cast<size_t>(index)];
      if (!value.isTensor() || !value.toTensor().defined()) continue;
      if (value.toTensor().is_conj() || value.toTensor().is_neg()) return true;
    }
    return false;
  }

  void run_on_stand_ins(const c10::OperatorHandle& handle, Stack* stack) {
    size_t base = stack->size() - handle.schema().arguments().size();
    std::vector<std::pair<at::Tensor, at::Tensor>> lazy;
    std::vector<c10::IValue> written;
    for (int index : written_) {
      c10::IValue& value = (*stack)[base + static_cast<size_t>(index)];
      written.push_back(value);
      if (!value.isTensor() || !value.toTensor().defined()) continue;
      at::Tensor tensor = value.toTensor();
      if (!tensor.is_conj() && !tensor.is_neg()) continue;
      lazy.emplace_back(tensor, without_lazy_bits(tensor));
      value = lazy.back().second;
    }
    (*this)(handle, c10::DispatchKeySet(), stack);
    for (auto& [tensor, stand_in] : lazy)
      tensor.copy_(stand_in);
    written.resize(std::min(written.size(), handle.schema().returns().size()));
    replace(stack, written.size(), std::move(written));
  }

  void finish(const c10::OperatorHandle& handle, Stack* stack, c10::ArrayRef<c10::IValue> values,
              const tpt_result_t* results, int count, c10::DeviceIndex device) {
    if (form_ == Form::kInplace) {
      std::vector<c10::IValue> returned;
      for (size_t i = 0; i < handle.schema().returns().size() && i < written_.size(); i++)
        returned.push_back(values[static_cast<size_t>(written_[i])]);
      return replace(stack, values.size(), std::move(returned));
    }
    int next = 0, lists = list_count(schema_);
    std::vector<c10::IValue> returned;
    returned.reserve(static_cast<size_t>(schema_->return_count));
    for (int i = 0; i < schema_->return_count; i++) {
      if (schema_->returns[i] == TPT_ARG_TENSOR) {
        TORCH_INTERNAL_ASSERT(next < count, schema_->name, " returned too few results");
        returned.emplace_back(tensor_of(results[next++], device));
      } else if (schema_->returns[i] == TPT_ARG_INT) {
        // Sizes that attention hands to its own backward pass, which reads them from the tensors.
        returned.emplace_back(int64_t{0});
        next++;
      } else {
        // Rows with several lists have no functional form (see has_functional_form).
        c10::List<at::Tensor> list;
        int items = count - (schema_->return_count - lists);
        for (int k = 0; k < items; k++)
          list.push_back(tensor_of(results[next++], device));
        returned.emplace_back(std::move(list));
      }
    }
    if (form_ == Form::kFunctional) return replace(stack, values.size(), std::move(returned));
    std::vector<c10::IValue> outs;
    for (size_t i = 0; i < written_.size(); i++) {
      const c10::IValue& out = values[static_cast<size_t>(written_[i])];
      write_out(out, returned[i]);
      outs.push_back(out);
    }
    outs.resize(std::min(outs.size(), handle.schema().returns().size()));
    replace(stack, values.size(), std::move(outs));
  }

  static void write_out(const c10::IValue& out, const c10::IValue& value) {
    if (out.isTensor()) return write_one(out.toTensor(), value.toTensor());
    c10::List<at::Tensor> outs = out.toTensorList(), results = value.toTensorList();
    for (size_t i = 0; i < outs.size(); i++)
      write_one(outs.get(i), results.get(i));
  }

  static void write_one(const at::Tensor& out, const at::Tensor& value) {
    TORCH_CHECK(c10::canCast(value.scalar_type(), out.scalar_type()), "result type ",
                value.scalar_type(), " can't be cast to the desired output type ",
                out.scalar_type());
    at::native::resize_output(out, value.sizes());
    out.copy_(value);
  }

  static void replace(Stack* stack, size_t drop, std::vector<c10::IValue> returned) {
    torch::jit::drop(*stack, drop);
    for (c10::IValue& value : returned)
      stack->push_back(std::move(value));
  }

  // Said once, where it first matters: f32 products run at the chip's native precision.
  static void tell_precision(const tpt_arg_t* args) {
    if (args[0].kind != TPT_ARG_TENSOR || args[0].tensors->dtype != TPT_F32) return;
    told_precision = true;
    char quiet[8] = "0";
    tpt_status_release(tpt_runtime_get_option("quiet", quiet, sizeof(quiet)));
    if (tpt_precision_get() != 0 || quiet[0] == '1') return;
    fprintf(
        stderr,
        "tputorch: float32 matrix products run at the TPU's default precision, one bfloat16 pass; "
        "torch.set_float32_matmul_precision(\"highest\") asks for float32.\n");
  }

  const tpt_op_t* op_;
  const tpt_schema_t* schema_;
  int row_;
  Form form_;
  std::vector<int> written_;
  bool is_product_;
  tpt_overlap_rule_t overlap_;
};
bool RowKernel::told_precision = false;

// --- registration --------------------------------------------------------------------------------------

// Arguments whose alias mark says they are written.
std::vector<int> written_args(const c10::FunctionSchema& schema) {
  std::vector<int> written;
  for (size_t i = 0; i < schema.arguments().size(); i++) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->isWrite()) written.push_back(static_cast<int>(i));
  }
  return written;
}

bool is_factory_argument(const std::string& name) {
  return name == "dtype" || name == "layout" || name == "device" || name == "pin_memory" ||
         name == "memory_format";
}

// True when `other` is the in-place or out= overload of `base`: the same arguments by name and type.
bool derives(const c10::FunctionSchema& base, const c10::FunctionSchema& other, Form form,
             const std::vector<int>& written) {
  if (written.empty()) return false;
  size_t given = other.arguments().size();
  if (form == Form::kOut) {
    for (int index : written) {
      if (!other.arguments()[static_cast<size_t>(index)].is_out()) return false;
    }
    given -= written.size();
    if (written.size() != base.returns().size()) return false;
  } else {
    for (int index : written)
      if (other.arguments()[static_cast<size_t>(index)].is_out()) return false;
  }
  if (given > base.arguments().size()) return false;
  for (size_t i = 0; i < base.arguments().size(); i++) {
    if (i >= given) {
      if (form == Form::kOut && is_factory_argument(base.arguments()[i].name())) continue;
      return false;
    }
    const c10::Argument &a = base.arguments()[i], &b = other.arguments()[i];
    if (a.name() != b.name() || *a.type() != *b.type()) return false;
  }
  return true;
}

// The lengths of several result lists cannot be told apart; such rows serve their in-place form only.
bool has_functional_form(const tpt_schema_t* schema) {
  return list_count(schema) <= 1;
}

// "normal_functional" -> "normal_": core names the functional form of some in-place ops so.
std::string inplace_name(const std::string& base) {
  static const std::string suffix = "_functional";
  if (base.size() > suffix.size() &&
      base.compare(base.size() - suffix.size(), suffix.size(), suffix) == 0)
    return base.substr(0, base.size() - suffix.size()) + "_";
  return base + "_";
}

bool is_composite_implicit(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

// --- kernels without a stack ---------------------------------------------------------------------------
// Putting tensors on a stack counts references, which needs the GIL where Python holds the only one. Rows
// of tensors and Scalars with one result take their arguments as they come; anything unusual goes the
// boxed way.

template <typename First, typename... Rest> struct UnboxedKernel final {
  static constexpr size_t kCount = 1 + sizeof...(Rest);
  static constexpr bool kIsInplace = std::is_same_v<First, at::Tensor&>;
  using Result = std::conditional_t<kIsInplace, at::Tensor&, at::Tensor>;

  UnboxedKernel(const c10::OperatorHandle& handle, const tpt_op_t* op, Form form,
                std::vector<int> written)
      : handle_(handle), op_(op), row_(tpt_op_index(op)), overlap_(tpt_op_overlap_rule(op)),
        is_product_(strcmp(tpt_op_family(op), "matmul") == 0),
        boxed_(op, form, std::move(written)) {}

  Result operator()(First first, Rest... rest) {
    Call call;
    bool is_usual = call.put(first, 0);
    size_t place = 1;
    ((is_usual = is_usual && call.put(rest, place), place++), ...);
    if (__builtin_expect(
            !is_usual || call.device < 0 || (is_product_ && !RowKernel::told_precision), 0))
      return by_stack(first, rest...);
    tpt_result_t* results = nullptr;
    int count = 0;
    tpt_status_t status = nullptr;
    if (kIsInplace && overlap_ != TPT_OVERLAP_ANY)
      status = tpt_overlap_check(overlap_, call.tensors, call.args, static_cast<int>(kCount), 0);
    if (!status) status = run(call, &results, &count);
    if (__builtin_expect(status != nullptr, 0)) {
      if (tpt_status_code(status) != TPT_UNIMPLEMENTED) throw_status(status);
      tpt_status_release(status);
      return by_stack(first, rest...);
    }
    if constexpr (kIsInplace) {
      return first;
    } else {
      return tensor_of(results[0], call.device);
    }
  }

private:
  struct Call {
    tpt_arg_t args[kCount];
    tpt_tensor_t tensors[kCount];
    c10::DeviceIndex device = -1;

    bool put(const at::Tensor& tensor, size_t place) {
      if (!tensor.defined() || tensor.is_conj() || tensor.is_neg()) return false;
      c10::Device where = tensor.device();
      if (__builtin_expect(where.type() == kTpu, 1)) {
        if ((device >= 0 && where.index() != device) || tensor.layout() != at::kStrided)
          return false;
        device = where.index();
        tensors[place] = window_of(tensor);
      } else {
        if (!where.is_cpu() || tensor.dim() != 0) return false;
        tensors[place] = number_of(tensor);
      }
      memset(&args[place], 0, sizeof(args[place]));
      args[place].kind = TPT_ARG_TENSOR;
      args[place].count = 1;
      args[place].tensors = &tensors[place];
      return true;
    }
    bool put(const at::Scalar& scalar, size_t place) {
      memset(&args[place], 0, sizeof(args[place]));
      args[place].kind = TPT_ARG_SCALAR;
      args[place].number = number_of_scalar(scalar);
      return true;
    }
  };

  tpt_status_t run(const Call& arguments, tpt_result_t** results, int* count) {
    static const int kFirst = 0;
    tpt_call_t call =
        call_of(op_, row_, arguments.args, static_cast<int>(kCount), arguments.device);
    if (kIsInplace) set_written(call, Form::kInplace, &kFirst, 1);
    return tpt_call_run(&call, results, count);
  }

  Result by_stack(First first, Rest... rest) {
    Stack stack{c10::IValue(first), c10::IValue(rest)...};
    boxed_(handle_, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), &stack);
    if constexpr (kIsInplace) {
      return first;
    } else {
      return std::move(stack[0]).toTensor();
    }
  }

  c10::OperatorHandle handle_;
  const tpt_op_t* op_;
  int row_;
  tpt_overlap_rule_t overlap_;
  bool is_product_;
  RowKernel boxed_;
};

// "TTS" for (Tensor, Tensor, Scalar) -> Tensor; "" for schemas that need the stack.
std::string kinds_of(const c10::FunctionSchema& schema) {
  std::string kinds;
  if (schema.returns().size() != 1 || schema.returns()[0].type()->str() != "Tensor") return "";
  for (const c10::Argument& argument : schema.arguments()) {
    std::string type = argument.real_type()->str();
    if (type != "Tensor" && type != "Scalar") return "";
    kinds += type[0] == 'T' ? 'T' : 'S';
  }
  return kinds;
}

template <typename... Rest>
torch::CppFunction unboxed(const c10::OperatorHandle& handle, const tpt_op_t* op, Form form,
                           std::vector<int> written) {
  if (form == Form::kInplace) {
    auto kernel =
        std::make_shared<UnboxedKernel<at::Tensor&, Rest...>>(handle, op, form, std::move(written));
    return torch::CppFunction([kernel](at::Tensor& first, Rest... rest) -> at::Tensor& {
      return (*kernel)(first, rest...);
    });
  }
  auto kernel = std::make_shared<UnboxedKernel<const at::Tensor&, Rest...>>(handle, op, form,
                                                                            std::move(written));
  return torch::CppFunction([kernel](const at::Tensor& first, Rest... rest) -> at::Tensor {
    return (*kernel)(first, rest...);
  });
}

using MakeUnboxed = torch::CppFunction (*)(const c10::OperatorHandle&, const tpt_op_t*, Form,
                                           std::vector<int>);
const std::unordered_map<std::string, MakeUnboxed>& unboxed_kinds() {
  using T = const at::Tensor&;
  using S = const at::Scalar&;
  static const std::unordered_map<std::string, MakeUnboxed> kinds = {
      {"T", &unboxed<>},           {"TT", &unboxed<T>},
      {"TS", &unboxed<S>},         {"TTS", &unboxed<T, S>},
      {"TSS", &unboxed<S, S>},     {"TTT", &unboxed<T, T>},
      {"TTTS", &unboxed<T, T, S>}, {"TTTSS", &unboxed<T, T, S, S>}};
  return kinds;
}

void add_kernel(torch::Library& library, const c10::OperatorName& name, const tpt_op_t* op,
                Form form, std::vector<int> written) {
  std::string short_name = name.name.substr(strlen("aten::"));
  if (!name.overload_name.empty()) short_name += "." + name.overload_name;
  auto handle = c10::Dispatcher::singleton().findSchema(name);
  std::string kinds = form == Form::kOut || !handle ? "" : kinds_of(handle->schema());
  auto found = unboxed_kinds().find(kinds);
  bool is_first_written = form != Form::kInplace || written == std::vector<int>{0};
  if (found != unboxed_kinds().end() && is_first_written) {
    library.impl(short_name.c_str(), found->second(*handle, op, form, std::move(written)));
    return;
  }
  library.impl(short_name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                       std::make_unique<RowKernel>(op, form, std::move(written))));
}

// A step of an op becomes an operator of our own namespace (see sized.cc).
void add_step(const tpt_op_t* op) {
  static torch::Library steps(torch::Library::DEF, "tputorch", std::nullopt, __FILE__, __LINE__);
  steps.def(tpt_op_schema_text(op));
  steps.impl(tpt_op_schema(op)->name,
             torch::dispatch(c10::DispatchKey::PrivateUse1,
                             torch::CppFunction::makeFromBoxedFunctor(std::make_unique<RowKernel>(
                                 op, Form::kFunctional, std::vector<int>{}))));
}

// copy_ is core's: it moves between devices and calls _copy_from.
const std::unordered_set<std::string>& never_registered() {
  static const std::unordered_set<std::string> names = {"aten::copy_", "aten::copy.out",
                                                        "aten::resize_"};
  return names;
}

}  // namespace

void for_each_fallback(void (*fn)(void* arg, const std::string& name, uint64_t count), void* arg) {
  std::lock_guard<std::mutex> lock(fallbacks().mutex);
  for (const auto& [name, count] : fallbacks().counts)
    fn(arg, name, count);
}

uint64_t row_calls(int row) {
  return row_count(row).load(std::memory_order_relaxed);
}

void register_rows() {
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1,
                                __FILE__, __LINE__);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  std::unordered_map<std::string, std::vector<c10::OperatorName>> by_base;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames())
    if (name.name.rfind("aten::", 0) == 0) by_base[name.name].push_back(name);
  std::unordered_set<std::string> seen;
  for (int i = 0; i < tpt_op_count(); i++)
    seen.insert(std::string("aten::") + tpt_op_schema(tpt_op_row(i))->name);
  for (int i = 0; i < tpt_op_count(); i++) {
    const tpt_op_t* op = tpt_op_row(i);
    const tpt_schema_t* schema = tpt_op_schema(op);
    if (tpt_op_is_step(op)) {
      add_step(op);
      continue;
    }
    c10::OperatorName name(std::string("aten::") + schema->base, schema->overload);
    auto handle = dispatcher.findSchema(name);
    TORCH_CHECK(handle, "this PyTorch has no operator ", name,
                "; tputorch is built for torch 2.13");
    TORCH_CHECK(!is_composite_implicit(*handle) || tpt_op_is_composite_implicit(op), name,
                " is composite-implicit: a row on it would cut its autograd");
    const c10::FunctionSchema& base = handle->schema();
    if (has_functional_form(schema)) add_kernel(library, name, op, Form::kFunctional, {});
    if (tpt_op_is_functional_only(op)) continue;
    std::string self = std::string("aten::") + schema->base;
    for (const auto& [family, form] :
         {std::pair<std::string, Form>(inplace_name(self), Form::kInplace),
          std::pair<std::string, Form>(self, Form::kOut)}) {
      auto found = by_base.find(family);
      if (found == by_base.end()) continue;
      for (const c10::OperatorName& other : found->second) {
        std::string full = c10::toString(other);
        auto other_handle = dispatcher.findSchema(other);
        if (!other_handle || other == name || never_registered().count(full)) continue;
        std::vector<int> written = written_args(other_handle->schema());
        if (!derives(base, other_handle->schema(), form, written)) continue;
        if (is_composite_implicit(*other_handle) || !seen.insert(full).second) continue;
        add_kernel(library, other, op, form, std::move(written));
      }
    }
  }
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

}  // namespace tputorch
