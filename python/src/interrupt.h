#pragma once
// Ctrl-C while machine code runs or a program is compiled.
//
// Python's handler of the signal only notes that it came; what it means is for the main thread to find out, when it
// runs Python again. So a handler of ours stands in front of Python's: it sets the flag that the work looks at, and
// calls Python's. Where the work sees the flag, Python's own handlers run, whatever they are: a KeyboardInterrupt ends
// the work, and after a handler that returns it goes on.
#include <nanobind/nanobind.h>

#include "gil.h"
#include "support/error.h"
#include "support/stop.h"

namespace inlay::python {

/// Of what this thread runs: set by the signal if it is the main thread, the only one that Python interrupts; else
/// never.
const StopFlag& python_stop_flag();

/// Puts the handler in front of Python's, unless it is there or the signal is none of Python's. Before work that may be
/// long: `signal.signal` sets Python's alone.
void listen_for_interrupts();

/// The flag is set: runs Python's handlers. True: a Python error is set. With the GIL.
bool is_interrupted();

/// Work without Python. A Ctrl-C ends it, or, if Python's handlers raise nothing, has it begin again.
template <class Work>
void unless_interrupted(const Work& work) {
  listen_for_interrupts();
  for (;;) {
    try {
      const ReleasedGil released;
      const StopScope stop(python_stop_flag());
      return work();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::interrupted) throw;
    }
    if (is_interrupted()) throw nanobind::python_error();
  }
}

}  // namespace inlay::python
