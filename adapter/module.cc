// The Python module tputorch._C: thin doors to the core for python/tputorch.
#include <pybind11/pybind11.h>

#include <ATen/autocast_mode.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Generator.h>

#include "adapter/adapter.h"
#include "adapter/interrupt.h"
#include "adapter/line.h"

namespace py = pybind11;

namespace tputorch {
namespace {

py::dict device_info(int device) {
  tpt_device_info_t info;
  check(tpt_device_info(resolve_device(static_cast<c10::DeviceIndex>(device)), &info));
  py::dict out;
  out["kind"] = info.kind;
  out["platform"] = info.platform;
  out["platform_version"] = info.platform_version;
  out["plugin"] = info.plugin;
  out["memory_size"] = info.memory_size;
  return out;
}

py::dict memory(int device) {
  tpt_device_memory_t memory;
  check(tpt_device_memory(resolve_device(static_cast<c10::DeviceIndex>(device)), &memory));
  py::dict out;
  out["allocated"] = memory.allocated;
  out["peak_allocated"] = memory.peak_allocated;
  out["limit"] = memory.limit;
  out["in_use"] = memory.in_use;
  out["allocation_count"] = memory.allocation_count;
  out["storage_count"] = memory.storage_count;
  return out;
}

py::list live_tensors(int device) {
  std::vector<tpt_live_tensor_t> tensors(1024);
  int count = 0;
  for (bool is_whole = false; !is_whole;) {
    int capacity = static_cast<int>(tensors.size());
    check(tpt_device_live_tensors(resolve_device(static_cast<c10::DeviceIndex>(device)),
                                  tensors.data(), capacity, &count));
    is_whole = count <= capacity;
    if (!is_whole) tensors.resize(static_cast<size_t>(count) + 64);
  }
  py::list out;
  for (int i = 0; i < count; i++) {
    const tpt_live_tensor_t& tensor = tensors[static_cast<size_t>(i)];
    py::dict item;
    item["size"] = tensor.size;
    item["dtype"] = py::none();
    item["shape"] = py::none();
    if (tensor.type.dtype != TPT_DTYPE_INVALID) {
      item["dtype"] = py::reinterpret_borrow<py::object>(
          reinterpret_cast<PyObject*>(torch::getTHPDtype(scalar_type_of(tensor.type.dtype))));
      py::tuple shape(static_cast<size_t>(tensor.type.rank));
      for (int d = 0; d < tensor.type.rank; d++)
        shape[static_cast<size_t>(d)] = py::int_(tensor.type.dims[d]);
      item["shape"] = shape;
    }
    item["has_value"] = tensor.has_value;
    item["storages"] = tensor.storage_count;
    item["op"] = tensor.op ? py::object(py::str(tensor.op)) : py::none();
    item["file"] = tensor.file ? py::object(py::str(tensor.file)) : py::none();
    item["line"] = tensor.line;
    out.append(item);
  }
  return out;
}

py::list recent_compiles() {
  std::vector<tpt_compile_info_t> entries(static_cast<size_t>(tpt_compile_log_capacity()));
  int count = tpt_compile_log_get(entries.data(), static_cast<int>(entries.size()));
  py::list out;
  for (int i = 0; i < count; i++) {
    const tpt_compile_info_t& entry = entries[static_cast<size_t>(i)];
    py::dict item;
    item["op"] = entry.op;
    item["reason"] = entry.reason;
    item["seconds"] = entry.seconds;
    item["program_size"] = entry.program_size;
    item["device"] = entry.device;
    item["from_disk"] = entry.is_loaded;
    out.append(item);
  }
  return out;
}

py::list refused_donations() {
  tpt_refused_donation_t refusals[TPT_REFUSED_DONATION_MAX];
  int count = tpt_refused_donations(refusals);
  py::list out;
  for (int i = 0; i < count; i++) {
    py::dict item;
    item["op"] = refusals[i].op;
    if (refusals[i].file)
      item["where"] = std::string(refusals[i].file) + ":" + std::to_string(refusals[i].line);
    item["copied_bytes"] = refusals[i].size;
    item["reason"] = refusals[i].reason;
    out.append(item);
  }
  return out;
}

py::dict counters() {
  tpt_counters_t counters;
  tpt_counters_get(&counters);
  py::dict out, ops;
  out["calls"] = counters.calls;
  out["hits"] = counters.hits;
  out["compiles"] = counters.compiles;
  out["compile_seconds"] = counters.compile_seconds;
  out["launches"] = counters.launches;
  out["uploads"] = counters.uploads;
  out["downloads"] = counters.downloads;
  out["donations"] = counters.donations;
  out["refused_donations"] = counters.refused_donations;
  out["fused_windows"] = counters.fused_windows;
  out["disk_hits"] = counters.disk_hits;
  out["disk_misses"] = counters.disk_misses;
  out["disk_errors"] = counters.disk_errors;
  char trouble[512];
  tpt_disk_trouble(trouble, sizeof(trouble));
  out["disk_error"] = std::string(trouble);
  out["fallbacks"] = counters.fallbacks;
  for_each_fallback([](void* arg, const std::string& name,
                       uint64_t count) { (*static_cast<py::dict*>(arg))[py::str(name)] = count; },
                    &ops);
  out["fallback_ops"] = ops;
  out["recent_compiles"] = recent_compiles();
  out["recent_refused_donations"] = refused_donations();
  return out;
}

py::list rows() {
  py::list out;
  for (int i = 0; i < tpt_op_count(); i++) {
    const tpt_op_t* op = tpt_op_row(i);
    py::dict row;
    row["name"] = tpt_op_schema(op)->name;
    row["schema"] = tpt_op_schema_text(op);
    row["family"] = tpt_op_family(op);
    row["functional_only"] = tpt_op_is_functional_only(op);
    out.append(row);
  }
  return out;
}

py::dict calls_by_row() {
  py::dict out;
  for (int i = 0; i < tpt_op_count(); i++)
    out[py::str(tpt_op_schema(tpt_op_row(i))->name)] = row_calls(i);
  return out;
}

std::string get_option(const std::string& name) {
  char text[1024];
  check(tpt_runtime_get_option(name.c_str(), text, sizeof(text)));
  return text;
}

py::object generator(int device) {
  at::Generator made = default_generator(static_cast<c10::DeviceIndex>(device));
  PyObject* object = THPGenerator_initDefaultGenerator(made);
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.def("set_library_folder",
        [](const std::string& path) { check(tpt_runtime_set_library_folder(path.c_str())); });
  m.def("pass_over_folder", &pass_over_folder);
  m.def("register_rows", [] {
    register_rows();
    install_interrupts();
    register_decompositions();
    at::autocast::set_autocast_dtype(kTpu, at::kBFloat16);
  });
  m.def("open", [] { check(tpt_runtime_open()); }, py::call_guard<py::gil_scoped_release>());
  m.def("is_open", &tpt_runtime_is_open);
  m.def("is_bad_fork", &tpt_runtime_is_bad_fork);
  m.def("device_count", &tpt_runtime_device_count);
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def("set_device",
        [](int device) { set_current_device(static_cast<c10::DeviceIndex>(device)); });
  m.def(
      "synchronize",
      [](int device) {
        if (tpt_runtime_is_open())
          check(tpt_device_synchronize(resolve_device(static_cast<c10::DeviceIndex>(device))));
      },
      py::call_guard<py::gil_scoped_release>());
  m.def("device_info", &device_info);
  m.def("memory", &memory);
  m.def("live_tensors", &live_tensors);
  m.def("reset_peak_memory", [](int device) {
    tpt_device_memory_reset_peak(resolve_device(static_cast<c10::DeviceIndex>(device)));
  });
  m.def("empty_cache", [](int device) {
    tpt_device_empty_cache(resolve_device(static_cast<c10::DeviceIndex>(device)));
  });
  m.def("counters", &counters);
  m.def("counters_reset", [] {
    tpt_counters_reset();
    tpt_compile_log_clear();
  });
  m.def("hold_compile_guard", &tpt_compile_guard_hold);
  m.def("drop_compile_guard", &tpt_compile_guard_drop);
  m.def("precision", &tpt_precision_get);
  m.def("set_precision", &tpt_precision_set);
  m.def("eager_mode", [] { return static_cast<int>(tpt_eager_mode_get()); });
  m.def(
      "set_eager_mode",
      [](int mode) { check(tpt_eager_mode_set(static_cast<tpt_eager_mode_t>(mode))); },
      py::call_guard<py::gil_scoped_release>());
  m.def("blocking", &tpt_blocking_get);
  m.def("set_blocking", &tpt_blocking_set);
  m.def("get_option", &get_option);
  m.def("set_option", [](const std::string& name, const std::string& value) {
    check(tpt_runtime_set_option(name.c_str(), value.c_str()));
  });
  m.def("default_generator", &generator);
  m.def("rows", &rows);
  m.def("row_calls", &calls_by_row);
  if (!add_program_types(m.ptr())) throw py::error_already_set();
}

}  // namespace tputorch
