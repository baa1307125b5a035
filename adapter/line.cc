// Reads the calling thread's Python frames. A thread that has given up the GIL to call us cannot change
// its frames meanwhile, so they are read without it; the GIL is taken only when a place is new. Invariant:
// a cached place keeps its file name and line table alive, so equal pointers mean the same line for ever.
#include <Python.h>

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030D0000
#define TPUTORCH_READS_FRAMES 1
#define Py_BUILD_CORE         1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#include <mutex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <torch/csrc/autograd/node.h>

#include "tputorch/runtime.h"

#include "adapter/line.h"

namespace tputorch {
namespace {

constexpr int kDepthMax = 64;          // frames that are looked at
constexpr size_t kKeptMax = 1u << 16;  // Python objects that the caches keep alive
constexpr size_t kPlaceCount = 256;    // per thread, direct-mapped
constexpr size_t kFileCount = 64;

struct Place {
  const void* file;
  const void* table;
  int first_line;
  int offset;
  Line line;
};
struct File {
  const void* name;
  bool is_passed_over;
};
struct Caches {
  Place places[kPlaceCount];
  File files[kFileCount];
  std::pair<const char*, Line> nodes[kFileCount];
};
thread_local Caches caches;

// What all threads share.
struct Kept {
  std::mutex mutex;
  std::vector<std::string> folders;
  std::unordered_set<std::string> texts;  // nodes of a set never move
  std::unordered_set<PyObject*> objects;
};
Kept& kept() {
  static Kept* all = new Kept;  // outlives every thread
  return *all;
}

const char* intern(const std::string& text) {
  std::lock_guard<std::mutex> lock(kept().mutex);
  return kept().texts.insert(text).first->c_str();
}

// GIL held. False: too many are kept, do not cache.
bool keep(PyObject* object) {
  std::lock_guard<std::mutex> lock(kept().mutex);
  if (kept().objects.count(object)) return true;
  if (kept().objects.size() >= kKeptMax) return false;
  kept().objects.insert(object);
  Py_INCREF(object);
  return true;
}

size_t slot(const void* address, size_t extra, size_t count) {
  size_t mixed =
      (reinterpret_cast<size_t>(address) >> 4) * 0x9E3779B97F4A7C15u + extra * 0x85EBCA6Bu;
  return (mixed >> 20) & (count - 1);
}

// GIL held.
std::string text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text) return text;
  PyErr_Clear();
  return "?";
}

bool is_passed_over(const std::string& file) {
  std::lock_guard<std::mutex> lock(kept().mutex);
  for (const std::string& folder : kept().folders)
    if (file.compare(0, folder.size(), folder) == 0) return true;
  return false;
}

#ifdef TPUTORCH_READS_FRAMES

bool is_passed_over(PyCodeObject* code) {
  File& file = caches.files[slot(code->co_filename, 0, kFileCount)];
  if (__builtin_expect(file.name == code->co_filename, 1)) return file.is_passed_over;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool is_passed = is_passed_over(text_of(code->co_filename));
  if (keep(code->co_filename)) file = {code->co_filename, is_passed};
  PyGILState_Release(gil);
  return is_passed;
}

Line line_at(const _PyInterpreterFrame* frame) {
  PyCodeObject* code = frame->f_code;
  int offset = static_cast<int>(reinterpret_cast<const char*>(frame->prev_instr) -
                                reinterpret_cast<const char*>(code->co_code_adaptive));
  Place& place = caches.places[slot(code->co_linetable, static_cast<size_t>(offset), kPlaceCount)];
  if (__builtin_expect(place.table == code->co_linetable && place.offset == offset &&
                           place.file == code->co_filename &&
                           place.first_line == code->co_firstlineno,
                       1))
    return place.line;
  PyGILState_STATE gil = PyGILState_Ensure();
  Line line = {intern(text_of(code->co_filename)), PyCode_Addr2Line(code, offset)};
  if (keep(code->co_filename) && keep(code->co_linetable))
    place = {code->co_filename, code->co_linetable, code->co_firstlineno, offset, line};
  PyGILState_Release(gil);
  return line;
}

// Frames that the interpreter pushes for itself have no code of a user.
bool is_shim(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030C0000
  return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
  return frame->f_code == nullptr;
#endif
}

Line python_line(PyThreadState* thread) {
  const _PyInterpreterFrame* innermost = nullptr;
  const _PyInterpreterFrame* frame = thread->cframe ? thread->cframe->current_frame : nullptr;
  for (int depth = 0; frame && depth < kDepthMax; frame = frame->previous, depth++) {
    if (is_shim(frame)) continue;
    if (!is_passed_over(frame->f_code)) return line_at(frame);
    if (!innermost) innermost = frame;
  }
  return innermost ? line_at(innermost) : Line();
}

#else

// Without knowledge of the frames' layout: the same walk through the public interface.
Line python_line(PyThreadState* thread) {
  PyGILState_STATE gil = PyGILState_Ensure();
  Line line, innermost;
  PyFrameObject* frame = PyThreadState_GetFrame(thread);
  for (int depth = 0; frame && depth < kDepthMax && !line.file; depth++) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    std::string file = text_of(code->co_filename);
    bool is_passed = is_passed_over(file);
    if (!is_passed || !innermost.file) {
      Line here = {intern(file), PyFrame_GetLineNumber(frame)};
      if (!is_passed) line = here;
      if (!innermost.file) innermost = here;
    }
    Py_DECREF(code);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyGILState_Release(gil);
  return line.file ? line : innermost;
}

#endif

Line backward_line() {
  auto node = torch::autograd::get_current_node();
  if (!node) return Line();
  const torch::autograd::Node& running = *node;
  const char* type = typeid(running).name();
  auto& known = caches.nodes[slot(type, 0, kFileCount)];
  if (known.first == type) return known.second;
  std::string name = node->name();
  size_t colon = name.rfind(':');
  if (colon != std::string::npos) name = name.substr(colon + 1);
  known = {type, Line{intern("the backward of " + name), 0}};
  return known.second;
}

}  // namespace

Line current_line() {
  PyThreadState* thread = PyGILState_GetThisThreadState();
  Line line = thread ? python_line(thread) : Line();
  return line.file ? line : backward_line();
}

void pass_over_folder(const std::string& folder) {
  std::lock_guard<std::mutex> lock(kept().mutex);
  kept().folders.push_back(folder + "/");
}

void tell_line() {
  Line line = current_line();
  tpt_site_set(line.file, line.number);
}

}  // namespace tputorch
