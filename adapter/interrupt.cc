// Ctrl-C while a thread waits for the device: the core asks now and then, Python's handlers run, and what
// they raise ends the wait.
#include "adapter/interrupt.h"

#include <pybind11/pybind11.h>

#include "tputorch/runtime.h"

namespace tputorch {
namespace {

// Only threads of Python can have handlers to run; the GIL is not held here.
tpt_status_t poll_signals() {
  if (!PyGILState_GetThisThreadState() || !Py_IsInitialized()) return nullptr;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool is_raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(gil);
  if (!is_raised) return nullptr;
  return tpt_status_make(TPT_CANCELLED, __FILE__, __LINE__, "interrupted by a signal");
}

}  // namespace

void install_interrupts() {
  tpt_wait_poll_set(&poll_signals);
}

void throw_if_raised() {
  if (!PyGILState_GetThisThreadState()) return;
  pybind11::gil_scoped_acquire gil;
  if (PyErr_Occurred()) throw pybind11::error_already_set();
}

}  // namespace tputorch
