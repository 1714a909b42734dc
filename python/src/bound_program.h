#pragma once
// A compiled function as Python calls it: what each argument must be, the arrays bound to it, its host functions.
//
// Immutable once made, so any number of threads may call it. Arguments are checked here for dtype and rank and brought
// into row-major form; their sizes are checked by the runtime's rules. Results are new arrays, or those that the caller
// gives for them (out_arrays.h).
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "long_calls.h"
#include "numpy_api.h"
#include "runtime/bytes.h"
#include "runtime/executable.h"
#include "runtime/step_times.h"

namespace inlay::python {

/// An argument or a result.
struct ArrayForm {
  std::string name;
  DType dtype = DType::f64;
  int numpy_type = 0;
  int rank = 0;
  std::vector<npy_intp> dims;  // -1: not a constant
  std::vector<int> symbols;    // by axis: the symbol that the dim is, -1: none
  bool is_static = true;       // every dim is a constant
  bool is_opaque = false;
  bool is_number = false;    // one integer
  bool is_late = false;      // of a result: allocated while the function runs
  bool donated = false;      // of an argument: a call may overwrite it
  int taken = -1;            // of a result: the argument whose array it is, changed; -1: none
  bool is_reshaped = false;  // and under other dims
};

/// Binds the symbols that dims of an array are whose sizes no call looks at again; -1 in `symbols`: not known yet. A
/// dim that is an expression is left to the runtime's rules: true where there is one. Throws where a dim does not fit.
bool bind_sizes(const runtime::TensorSpec& spec, std::span<const int64_t> dims, std::span<int64_t> symbols);

class Call;
class Draw;
class OutArrays;

class BoundProgram {
 public:
  /// `bound`: arrays by order of the bound parameters; `host_functions`: callables by number. Takes no references: that
  /// they live is up to HeldProgram.
  /// `step_times`: where the times of steps go, if the code tells them; or null. Throws where an array or a function is
  /// missing.
  BoundProgram(std::shared_ptr<const runtime::Executable> executable, std::span<PyObject* const> bound,
               std::span<PyObject* const> host_functions, std::shared_ptr<runtime::StepTimes> step_times);
  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;
  ~BoundProgram();

  const runtime::Executable& executable() const { return *executable_; }
  std::shared_ptr<const runtime::Executable> shared_executable() const { return executable_; }
  std::span<const ArrayForm> arguments() const { return arguments_; }  // those given per call
  std::span<const ArrayForm> results() const { return results_; }
  PyObject* host_function(int number) const { return host_functions_[static_cast<std::size_t>(number)]; }
  /// What draws in that function's place; or null.
  const Draw* draw(int number) const { return draws_[static_cast<std::size_t>(number)].get(); }
  /// Does it return bytes of its operands (its attribute `lends`)? They are read where they are, as those of arguments.
  bool lends(int number) const { return lends_[static_cast<std::size_t>(number)]; }
  const runtime::HostCallSpec& host_call(int number) const;

  /// Addresses of all parameters, those of the arguments null; and where argument i belongs among them.
  std::span<const void* const> parameter_template() const { return parameter_template_; }
  int slot_of_argument(std::size_t i) const { return argument_slots_[i]; }
  /// Of the array that is bound to this parameter; empty: an argument's.
  std::span<const int64_t> bound_dims(std::size_t slot) const { return bound_dims_[slot]; }
  /// The sizes that the bound arrays bind, by symbol; -1: an argument's or the program's own.
  std::span<const int64_t> symbol_template() const { return symbol_template_; }

  /// One sentence for each argument that a call has had to copy, and each result that it has copied to where it was
  /// wanted.
  std::vector<std::string> copies_of_arguments() const;

  /// Of the first call's machine code; negative: there was none yet.
  double first_call_seconds() const { return first_call_seconds_.load(std::memory_order_relaxed); }

  /// Runs on `arguments` (as many as arguments()). On success fills `results` with new references and returns true;
  /// else a Python error is set. `failed_host_call`: the number of the host function whose exception it is, -1: none.
  /// `out`: what the caller gives for results (OutArrays), or null. `threads`: on how many it may run; 0: as the
  /// program has it.
  bool call(std::span<PyObject* const> arguments, std::span<PyObject*> results, int& failed_host_call,
            PyObject* out = nullptr, int threads = 0) const;

  /// As `call` on addresses of row-major data, without the GIL, all sizes bound; returns the runtime's code.
  int32_t run_raw(const void* const* arguments, std::span<const int64_t> symbols, void** results, const StopFlag& stop,
                  const runtime::CallersPool* pool) const;

 private:
  friend class Call;
  struct Values;  // of one call
  bool bind_arguments(Call& call, std::span<PyObject* const> objects, Values& values) const;
  void place_results(const OutArrays& outs, Values& values, std::span<PyObject*> results) const;
  int32_t run(Call& call, Values& values, int threads, runtime::Executable::Failure& failure) const;
  bool deliver(const OutArrays& outs, Values& values, std::span<PyObject*> results) const;
  bool give_away(Call& call, const OutArrays& outs, std::span<PyArrayObject*> arrays,
                 std::span<const void*> params) const;
  const char* why_not_direct(std::size_t slot, const OutArrays& outs, std::span<PyArrayObject* const> arrays) const;
  void note_copy(std::size_t argument, const char* why) const {
    copied_[argument].store(why, std::memory_order_relaxed);
  }

  std::shared_ptr<const runtime::Executable> executable_;
  std::shared_ptr<runtime::StepTimes> step_times_;
  std::vector<ArrayForm> arguments_, results_;
  std::vector<int> argument_slots_;
  std::vector<const void*> parameter_template_;
  std::vector<runtime::Bytes> bound_bytes_;
  std::vector<std::vector<int64_t>> bound_dims_;  // by slot, of bound parameters
  std::vector<int64_t> symbol_template_;          // sizes that bound arrays bind; -1: not known
  bool has_donated_ = false;
  bool needs_rules_ = false;  // a dim of a bound array is an expression
  std::vector<PyObject*> host_functions_;
  std::vector<std::unique_ptr<const Draw>> draws_;            // by host function
  std::vector<bool> lends_;                                   // likewise
  mutable std::vector<std::atomic<const char*>> copied_;      // by argument: why it was copied
  mutable std::vector<std::atomic<const char*>> out_copied_;  // by result: why it was not made where it was wanted
  std::size_t num_numbers_ = 0;                               // arguments that are 0-d integers
  std::unique_ptr<LongCalls> long_calls_;
  mutable std::atomic<double> first_call_seconds_{-1};
};

/// A bound program as one Python object holds it. Each of these objects has a reference of its own to what the program
/// is bound to, so that the garbage collector can count them: a host function may know the function that calls it.
///
/// To traverse is enough. Such a cycle goes through something that was changed after the function was made (a cell, a
/// dict, a list), and that is what the collector clears.
class HeldProgram {
 public:
  /// As BoundProgram. `others`: what the executable calls besides.
  HeldProgram(std::shared_ptr<const runtime::Executable> executable, std::span<PyObject* const> bound,
              std::span<PyObject* const> host_functions, std::shared_ptr<runtime::StepTimes> step_times,
              std::span<PyObject* const> others = {});
  HeldProgram(const HeldProgram& other) : program_(other.program_), references_(Py_NewRef(other.references_)) {}
  HeldProgram& operator=(const HeldProgram&) = delete;
  ~HeldProgram() { Py_DECREF(references_); }

  const BoundProgram& operator*() const { return *program_; }
  const BoundProgram* operator->() const { return program_.get(); }

  /// For a tp_traverse.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(references_);
    return 0;
  }

 private:
  std::shared_ptr<const BoundProgram> program_;
  PyObject* references_;  // a tuple
};

}  // namespace inlay::python
