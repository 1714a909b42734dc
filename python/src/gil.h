#pragma once
// The GIL: given up, taken back, and taken by a thread that may not know Python at all, such as a sampler's. Python
// ends a thread that asks for the GIL at Python's end, in the midst of what it does. So Python waits at its end for
// foreign threads that hold it, or wait for it, and no other such thread may; a thread of Python's own stays where it
// asks.
#include <exception>

#include <Python.h>

namespace inlay::python {

/// Does not return.
[[noreturn]] void stay();

/// Work that asks for the GIL, or runs Python, below code that nothing may unwind. At its end Python (before 3.14) ends
/// a thread that asks for the GIL by unwinding all that it is in: machine code, functions that are noexcept, and
/// objects that would drop references without the GIL. Such a thread stays here, as it stays in Python 3.14, until the
/// process has ended.
template <class Work>
auto or_stay(const Work& work) {
  try {
    return work();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    stay();
  }
}

/// What PyEval_SaveThread returned.
void take_gil_back(PyThreadState* state);

/// Does not have the GIL for as long as it lives.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() { take_gil_back(state_); }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Has the GIL for as long as it lives, whether or not the thread had it: one that Python began.
class TakenGil {
 public:
  TakenGil();
  ~TakenGil() { PyGILState_Release(state_); }
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;

 private:
  PyGILState_STATE state_;
};

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
