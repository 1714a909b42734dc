#include "gil.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>

namespace inlay::python {
namespace {

namespace nb = nanobind;

// A host call that never ends does not keep the process for ever.
constexpr auto kLongestWait = std::chrono::seconds(10);

std::atomic<int> num_inside = 0;  // threads that have the GIL by a ForeignGil, or wait for it
std::atomic<bool> is_closed = false;

bool enter() {
  ++num_inside;
  if (!is_closed) return true;
  --num_inside;
  return false;
}

void close() {
  is_closed = true;
  const ReleasedGil released;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (num_inside > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

void stay() {
  for (;;) pause();
}

void take_gil_back(PyThreadState* state) {
  or_stay([&] { PyEval_RestoreThread(state); });
}

TakenGil::TakenGil() : state_(or_stay(PyGILState_Ensure)) {}

ForeignGil::ForeignGil() : has_gil_(enter()) {
  if (has_gil_) state_ = or_stay(PyGILState_Ensure);
}

ForeignGil::~ForeignGil() {
  if (!has_gil_) return;
  PyGILState_Release(state_);
  --num_inside;
}

void wait_for_foreign_threads_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(close));
  pthread_atfork(nullptr, nullptr, [] { num_inside = 0; });  // a child has none of these threads
}

}  // namespace inlay::python
