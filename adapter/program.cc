// Programs as Python sees them: recording (capture_*), a recorded Program, and Programs, a cache of them
// by the sizes, strides and dtypes of the inputs. It decides nothing about ops. Invariant: an input's
// place in its storage is never part of a key.
#include <Python.h>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/object_ptr.h>

#include "adapter/adapter.h"

namespace tputorch {
namespace {

// Where an output of a graph comes from.
struct Output {
  enum Kind { kResult, kInput, kResultView, kInputView, kValue } kind;
  Py_ssize_t index = 0;  // result or input number; the value's number for kValue
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // a view's, from the first element of its base
};

struct Program {
  PyObject_HEAD tpt_program_t* program;
  int device;
};

// Touched with the GIL held only.
struct Entry {
  Program* program = nullptr;  // owned reference; null: every output is an input or a value
  std::vector<Output> outputs;
  PyObject* values = nullptr;  // owned list
  uint64_t last_run = 0;
  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    Py_XDECREF(reinterpret_cast<PyObject*>(program));
    Py_XDECREF(values);
  }
};

// Kept programs of one graph; the one that ran longest ago makes room.
constexpr size_t kEntriesMax = 256;

struct KeyHash {
  size_t operator()(const std::vector<int64_t>& key) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t word : key)
      hash = (hash ^ static_cast<uint64_t>(word)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};

struct Table {
  std::unordered_map<std::vector<int64_t>, std::shared_ptr<Entry>, KeyHash> entries;
  std::vector<int64_t> key;  // scratch
  uint64_t runs = 0;
};

struct Programs {
  PyObject_HEAD Table* table;
};

PyTypeObject* program_type = nullptr;

// --- recording -------------------------------------------------------------------------------------------

int device_argument(PyObject* object) {
  long device = PyLong_AsLong(object);
  if (device == -1 && PyErr_Occurred()) throw python_error();
  return resolve_device(static_cast<c10::DeviceIndex>(device));
}

PyObject* capture_begin(PyObject*, PyObject* device) {
  HANDLE_TH_ERRORS
  check(tpt_capture_begin(device_argument(device)));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* capture_cancel(PyObject*, PyObject* device) {
  HANDLE_TH_ERRORS
  tpt_capture_cancel(device_argument(device));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* capture_is_active(PyObject*, PyObject*) {
  return PyBool_FromLong(tpt_capture_is_active());
}

const at::Tensor& tensor_argument(PyObject* object) {
  TORCH_CHECK_TYPE(THPVariable_Check(object), "expected a tensor, got ", Py_TYPE(object)->tp_name);
  return THPVariable_Unpack(object);
}

// A 0-d CPU tensor stands in a program as a device tensor of its dtype.
tpt_tensor_t placeholder_of(const at::Tensor& tensor) {
  if (tensor.device().type() == kTpu) return window_of(tensor);
  tpt_tensor_t like;
  memset(&like, 0, sizeof(like));
  like.dtype = dtype_of(tensor.scalar_type());
  return like;
}

PyObject* capture_input(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 2, "capture_input takes a device and a tensor");
  int device = device_argument(args[0]);
  tpt_tensor_t like = placeholder_of(tensor_argument(args[1]));
  tpt_result_t result;
  check(tpt_capture_input(device, &like, &result));
  return THPVariable_Wrap(tensor_of(result, static_cast<c10::DeviceIndex>(device)));
  END_HANDLE_TH_ERRORS
}

// capture_draw_from(device, state or None): tpt_capture_draw_from.
PyObject* capture_draw_from(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 2, "capture_draw_from takes a device and a state or None");
  int device = device_argument(args[0]);
  if (args[1] == Py_None) {
    check(tpt_capture_draw_from(device, nullptr));
  } else {
    tpt_tensor_t state = window_of(tensor_argument(args[1]));
    check(tpt_capture_draw_from(device, &state));
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* random_state(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  int device = device_argument(index);
  tpt_result_t result;
  check(tpt_random_state(device, &result));
  return THPVariable_Wrap(tensor_of(result, static_cast<c10::DeviceIndex>(device)));
  END_HANDLE_TH_ERRORS
}

PyObject* capture_end(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 3 && PyList_Check(args[1]) && PyUnicode_Check(args[2]),
                   "capture_end takes a device, a list of tensors and a name");
  int device = device_argument(args[0]);
  const char* name = PyUnicode_AsUTF8(args[2]);
  if (!name) throw python_error();
  std::vector<tpt_tensor_t> outputs;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[1]); i++)
    outputs.push_back(window_of(tensor_argument(PyList_GET_ITEM(args[1], i))));
  tpt_program_t* program = nullptr;
  check(tpt_capture_end(device, outputs.data(), static_cast<int>(outputs.size()), &program));
  tpt_status_t named = tpt_program_set_name(program, name);
  if (named) {
    tpt_program_release(program);
    throw_status(named);
  }
  Program* self = PyObject_New(Program, program_type);
  if (!self) {
    tpt_program_release(program);
    throw python_error();
  }
  self->program = program;
  self->device = device;
  return reinterpret_cast<PyObject*>(self);
  END_HANDLE_TH_ERRORS
}

tpt_program_t* program_argument(PyObject* object) {
  TORCH_CHECK_TYPE(Py_TYPE(object) == program_type, "expected a recorded program");
  return reinterpret_cast<Program*>(object)->program;
}

std::vector<tpt_tensor_t> windows_of(PyObject* list) {
  std::vector<tpt_tensor_t> windows;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
    windows.push_back(window_of(tensor_argument(PyList_GET_ITEM(list, i))));
  return windows;
}

PyObject* list_of_results(const tpt_result_t* results, int count, int device) {
  THPObjectPtr list(PyList_New(count));
  if (!list) throw python_error();
  for (int i = 0; i < count; i++) {
    at::Tensor tensor = tensor_of(results[i], static_cast<c10::DeviceIndex>(device));
    PyList_SET_ITEM(list.get(), i, THPVariable_Wrap(tensor));
  }
  return list.release();
}

// control(kind, first, second, operands) -> results; kind 0: if, 1: while (tpt_control_run).
PyObject* control(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 4 && PyLong_Check(args[0]) && PyList_Check(args[3]),
                   "control takes a kind, two programs and a list of tensors");
  auto kind = static_cast<tpt_control_kind_t>(PyLong_AsLong(args[0]));
  tpt_program_t* const programs[2] = {program_argument(args[1]), program_argument(args[2])};
  std::vector<tpt_tensor_t> operands = windows_of(args[3]);
  int result_count = 0, device = reinterpret_cast<Program*>(args[2])->device;
  tpt_result_t* results = nullptr;
  tpt_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = tpt_control_run(kind, programs, operands.data(), static_cast<int>(operands.size()),
                           &results, &result_count);
  Py_END_ALLOW_THREADS;
  check(status);
  return list_of_results(results, result_count, device);
  END_HANDLE_TH_ERRORS
}

PyObject* barrier(PyObject*, PyObject* tensors) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyList_Check(tensors), "barrier takes a list of tensors");
  std::vector<tpt_tensor_t> operands = windows_of(tensors);
  int count = 0;
  tpt_result_t* results = nullptr;
  check(tpt_barrier(operands.data(), static_cast<int>(operands.size()), &results, &count));
  return list_of_results(results, count, count ? tpt_storage_device(operands[0].storage) : 0);
  END_HANDLE_TH_ERRORS
}

void program_dealloc(PyObject* self) {
  tpt_program_release(reinterpret_cast<Program*>(self)->program);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// --- keys ------------------------------------------------------------------------------------------------

enum KeyTag { kKeyTensor, kKeyHost, kKeyInt, kKeyFloat, kKeyBool, kKeyNone };

void add_tensor(const at::Tensor& tensor, std::vector<int64_t>* key) {
  c10::Device device = tensor.device();
  key->push_back(device.type() == kTpu ? kKeyTensor : kKeyHost);
  key->push_back(static_cast<int64_t>(tensor.scalar_type()) << 16 | (tensor.dim() & 0xFF) << 8 |
                 (device.index() & 0xFF));
  key->insert(key->end(), tensor.sizes().begin(), tensor.sizes().end());
  key->insert(key->end(), tensor.strides().begin(), tensor.strides().end());
}

// False for inputs that no program can take: lazily conjugated or negated tensors, CPU tensors with
// dimensions, other objects.
bool add_input(PyObject* input, std::vector<int64_t>* key) {
  if (THPVariable_Check(input)) {
    const at::Tensor& tensor = THPVariable_Unpack(input);
    c10::DeviceType type = tensor.device().type();
    if (type != kTpu && (type != c10::kCPU || tensor.dim() != 0)) return false;
    if (tensor.layout() != at::kStrided || tensor.is_conj() || tensor.is_neg()) return false;
    add_tensor(tensor, key);
    return true;
  }
  if (input == Py_None) {
    key->push_back(kKeyNone);
  } else if (PyBool_Check(input)) {
    key->push_back(kKeyBool);
    key->push_back(input == Py_True);
  } else if (PyLong_Check(input)) {
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(input, &overflow);
    if (overflow) return false;
    key->push_back(kKeyInt);
    key->push_back(value);
  } else if (PyFloat_Check(input)) {
    double value = PyFloat_AS_DOUBLE(input);
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    key->push_back(kKeyFloat);
    key->push_back(bits);
  } else {
    return false;
  }
  return true;
}

bool key_of(PyObject* inputs, std::vector<int64_t>* key) {
  key->clear();
  key->push_back(tpt_precision_get());
  key->push_back(static_cast<int64_t>(c10::get_default_dtype_as_scalartype()));
  key->push_back(current_device());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++)
    if (!add_input(PyList_GET_ITEM(inputs, i), key)) return false;
  return true;
}

// --- running ---------------------------------------------------------------------------------------------

// The part of `base` that an output is, sharing base's version counter: a write that autograd must not
// miss is seen through it.
at::Tensor view_of(const at::Tensor& base, const Output& output) {
  c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset |
                                           c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
  at::Tensor view = at::native::as_strided_tensorimpl(base, output.sizes, output.strides,
                                                      base.storage_offset() + output.offset);
  if (!base.is_inference() && !view.is_inference())
    view.unsafeGetTensorImpl()->set_version_counter(base.unsafeGetTensorImpl()->version_counter());
  return view;
}

std::vector<at::Tensor> run_program(const Program* program, PyObject* inputs) {
  std::vector<tpt_tensor_t> windows;
  std::vector<at::Tensor> uploaded;
  Py_ssize_t count = PyList_GET_SIZE(inputs);
  windows.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* input = PyList_GET_ITEM(inputs, i);
    if (!THPVariable_Check(input)) continue;
    const at::Tensor& tensor = THPVariable_Unpack(input);
    if (tensor.device().type() == kTpu) {
      windows.push_back(window_of(tensor));
      continue;
    }
    uploaded.push_back(
        at::_to_copy(tensor.detach(), tensor.options().device(c10::Device(
                                          kTpu, static_cast<c10::DeviceIndex>(program->device)))));
    windows.push_back(window_of(uploaded.back()));
  }
  tpt_result_t* results = nullptr;
  int result_count = 0;
  tpt_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = tpt_program_run(program->program, windows.data(), static_cast<int>(windows.size()),
                           nullptr, &results, &result_count);
  Py_END_ALLOW_THREADS;
  check(status);
  std::vector<at::Tensor> tensors;
  tensors.reserve(static_cast<size_t>(result_count));
  for (int i = 0; i < result_count; i++)
    tensors.push_back(tensor_of(results[i], static_cast<c10::DeviceIndex>(program->device)));
  return tensors;
}

PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

PyObject* output_object(const Entry& entry, const Output& output,
                        const std::vector<at::Tensor>& results, PyObject* inputs) {
  auto index = static_cast<size_t>(output.index);
  switch (output.kind) {
  case Output::kResult:
    return THPVariable_Wrap(results[index]);
  case Output::kResultView:
    return THPVariable_Wrap(view_of(results[index], output));
  case Output::kInput:
    return new_reference(PyList_GET_ITEM(inputs, output.index));
  case Output::kInputView:
    return THPVariable_Wrap(
        view_of(THPVariable_Unpack(PyList_GET_ITEM(inputs, output.index)), output));
  default:
    return new_reference(PyList_GET_ITEM(entry.values, output.index));
  }
}

PyObject* run_entry(const Entry& entry, PyObject* inputs) {
  std::vector<at::Tensor> results;
  if (entry.program) results = run_program(entry.program, inputs);
  THPObjectPtr list(PyList_New(static_cast<Py_ssize_t>(entry.outputs.size())));
  if (!list) throw python_error();
  for (size_t i = 0; i < entry.outputs.size(); i++) {
    PyObject* object = output_object(entry, entry.outputs[i], results, inputs);
    if (!object) throw python_error();
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), object);
  }
  return list.release();
}

// run(inputs) -> outputs, or None when there is no program for such inputs.
PyObject* programs_run(PyObject* self, PyObject* inputs) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyList_Check(inputs), "run takes a list of inputs");
  Table* table = reinterpret_cast<Programs*>(self)->table;
  if (tpt_capture_is_active() || !key_of(inputs, &table->key)) Py_RETURN_NONE;
  auto found = table->entries.find(table->key);
  if (found == table->entries.end()) Py_RETURN_NONE;
  std::shared_ptr<Entry> entry = found->second;  // other threads may drop it while it runs
  entry->last_run = ++table->runs;
  return run_entry(*entry, inputs);
  END_HANDLE_TH_ERRORS
}

PyObject* programs_accepts(PyObject* self, PyObject* inputs) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyList_Check(inputs), "accepts takes a list of inputs");
  return PyBool_FromLong(key_of(inputs, &reinterpret_cast<Programs*>(self)->table->key));
  END_HANDLE_TH_ERRORS
}

// Before torch's kinds: ("result", i), ("input", i), ("result_view" | "input_view", i, sizes, strides,
// offset), ("value", object).
Output read_output(PyObject* item, PyObject* values) {
  TORCH_CHECK_TYPE(PyTuple_Check(item) && PyTuple_GET_SIZE(item) >= 2, "an output is a tuple");
  const char* kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(item, 0));
  if (!kind) throw python_error();
  Output output;
  if (strcmp(kind, "value") == 0) {
    output.kind = Output::kValue;
    output.index = PyList_GET_SIZE(values);
    if (PyList_Append(values, PyTuple_GET_ITEM(item, 1))) throw python_error();
    return output;
  }
  output.index = PyLong_AsSsize_t(PyTuple_GET_ITEM(item, 1));
  bool of_input = strncmp(kind, "input", 5) == 0;
  if (PyTuple_GET_SIZE(item) == 2) {
    output.kind = of_input ? Output::kInput : Output::kResult;
    return output;
  }
  output.kind = of_input ? Output::kInputView : Output::kResultView;
  TORCH_CHECK_TYPE(PyTuple_GET_SIZE(item) == 5, "a view has sizes, strides and an offset");
  for (int part = 2; part < 4; part++) {
    THPObjectPtr list(PySequence_List(PyTuple_GET_ITEM(item, part)));
    if (!list) throw python_error();
    auto& into = part == 2 ? output.sizes : output.strides;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); i++)
      into.push_back(PyLong_AsLongLong(PyList_GET_ITEM(list.get(), i)));
  }
  output.offset = PyLong_AsLongLong(PyTuple_GET_ITEM(item, 4));
  if (PyErr_Occurred()) throw python_error();
  return output;
}

void drop_oldest(Table* table) {
  auto oldest = table->entries.begin();
  for (auto it = table->entries.begin(); it != table->entries.end(); ++it)
    if (it->second->last_run < oldest->second->last_run) oldest = it;
  std::shared_ptr<Entry> dropped = std::move(oldest->second);
  table->entries.erase(oldest);
}

// add(inputs, program or None, outputs): what run does from now on for inputs like these.
PyObject* programs_add(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 3 && PyList_Check(args[0]) && PyList_Check(args[2]),
                   "add takes inputs, a program and outputs");
  Table* table = reinterpret_cast<Programs*>(self)->table;
  TORCH_CHECK(key_of(args[0], &table->key), "no program can take these inputs");
  THPObjectPtr values(PyList_New(0));
  if (!values) throw python_error();
  auto entry = std::make_shared<Entry>();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[2]); i++)
    entry->outputs.push_back(read_output(PyList_GET_ITEM(args[2], i), values.get()));
  if (table->entries.count(table->key)) Py_RETURN_NONE;
  if (args[1] != Py_None) {
    TORCH_CHECK_TYPE(Py_TYPE(args[1]) == program_type, "expected a recorded program");
    entry->program = reinterpret_cast<Program*>(new_reference(args[1]));
  }
  entry->values = values.release();
  entry->last_run = ++table->runs;
  if (table->entries.size() >= kEntriesMax) drop_oldest(table);
  table->entries.emplace(table->key, std::move(entry));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

Py_ssize_t programs_length(PyObject* self) {
  return static_cast<Py_ssize_t>(reinterpret_cast<Programs*>(self)->table->entries.size());
}

PyObject* programs_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) reinterpret_cast<Programs*>(self)->table = new Table;
  return self;
}

void programs_dealloc(PyObject* self) {
  delete reinterpret_cast<Programs*>(self)->table;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// --- types -----------------------------------------------------------------------------------------------

template <typename F> PyCFunction function(F* fn) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(fn));
}

PyMethodDef functions[] = {
    {"capture_begin", capture_begin, METH_O, "Starts recording the thread's calls on a device."},
    {"capture_input", function(capture_input), METH_FASTCALL, "A placeholder like a tensor."},
    {"capture_end", function(capture_end), METH_FASTCALL, "Ends recording; a Program of a name."},
    {"capture_cancel", capture_cancel, METH_O, "Drops the recording, if there is one."},
    {"capture_draw_from", function(capture_draw_from), METH_FASTCALL, "Random draws from a state."},
    {"random_state", random_state, METH_O, "The state that the next draw starts from."},
    {"barrier", barrier, METH_O, "The same tensors, behind an optimization barrier."},
    {"control", function(control), METH_FASTCALL, "An if or a while over programs."},
    {"capture_is_active", capture_is_active, METH_NOARGS, "Whether this thread records."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef programs_methods[] = {
    {"run", programs_run, METH_O, "Outputs, or None when there is no program for such inputs."},
    {"accepts", programs_accepts, METH_O, "Whether a program could take such inputs."},
    {"add", function(programs_add), METH_FASTCALL, "Adds a program for such inputs."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot program_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(program_dealloc)},
    {Py_tp_doc, const_cast<char*>("A recorded program.")},
    {0, nullptr},
};
PyType_Spec program_spec = {"tputorch._C.Program", sizeof(Program), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, program_slots};

PyType_Slot programs_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(programs_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(programs_dealloc)},
    {Py_tp_methods, programs_methods},
    {Py_mp_length, reinterpret_cast<void*>(programs_length)},
    {Py_tp_doc, const_cast<char*>("Recorded programs by sizes, strides and dtypes of inputs.")},
    {0, nullptr},
};
PyType_Spec programs_spec = {"tputorch._C.Programs", sizeof(Programs), 0, Py_TPFLAGS_DEFAULT,
                             programs_slots};

}  // namespace

bool add_program_types(PyObject* module) {
  if (PyModule_AddFunctions(module, functions)) return false;
  PyObject* program = PyType_FromSpec(&program_spec);
  if (!program || PyModule_AddObjectRef(module, "Program", program)) return false;
  program_type = reinterpret_cast<PyTypeObject*>(program);
  PyObject* programs = PyType_FromSpec(&programs_spec);
  return programs && !PyModule_AddObjectRef(module, "Programs", programs);
}

}  // namespace tputorch
