#pragma once
// The GIL on a thread that may not know Python at all, such as a sampler's. Python ends such a thread when it asks for
// the GIL at Python's end, in the midst of what it does. So Python waits at its end for those that hold it by this, or
// wait for it, and no other may.
#include <Python.h>

namespace inlay::python {

/// Has the GIL for as long as it lives, unless Python is at its end.
class ForeignGil {
 public:
  ForeignGil();
  ~ForeignGil();
  ForeignGil(const ForeignGil&) = delete;
  ForeignGil& operator=(const ForeignGil&) = delete;

  explicit operator bool() const { return has_gil_; }

 private:
  bool has_gil_ = false;
  PyGILState_STATE state_{};
};

/// From now on Python's end waits.
void wait_for_foreign_threads_at_exit();

}  // namespace inlay::python
