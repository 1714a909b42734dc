#pragma once
// One call of a bound program: its temporaries, what its host calls returned, the exception that ended it.
#include <unordered_set>
#include <vector>

#include "bound_program.h"

namespace inlay::python {

/// Who holds the GIL while the machine code runs.
enum class Gil : uint8_t {
  held,      // the calling thread keeps it
  released,  // given up for the run, taken back for each host call
  foreign,   // the thread may not know Python at all: taken where it is needed
};

class Call final : public runtime::Host {
 public:
  Call(const BoundProgram& program, Gil gil) : program_(program), gil_(gil) {}
  ~Call() override;

  /// Keeps a new reference until the call ends.
  void keep(PyObject* object) { kept_.push_back(object); }

  /// Around the run of the machine code: who has the GIL meanwhile, if the calling thread has it now.
  void begin_run(Gil gil);
  void end_run();

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override;
  void* allocate_output(int slot, std::span<const int64_t> dims) override;
  int32_t interrupted() override;

  /// Where late results go, by slot: new references.
  std::span<PyObject*> late_results;
  PyArray_Descr* bfloat16 = nullptr;  // as in new_array

  int failed_host_call() const { return failed_host_call_; }
  /// The exception of a failed host call, or of an interruption, becomes the current Python error.
  void restore_exception();
  bool has_exception() const { return exception_type_ != nullptr; }

 private:
  class Holder;  // has the GIL for a while
  bool call_host(int function, void* const* operands, const int64_t* operand_dims, void** results,
                 int64_t* result_dims);
  /// Keeps a new reference until the call ends, or until the function is called again: in the body of a loop, whose
  /// next pass reads no array of this one's.
  void keep_returned(int function, PyObject* object);
  /// Keeps an opaque value until the call ends: a loop may carry it through any number of passes.
  void keep_handle(PyObject* object);
  /// What the function returned becomes the results of the call: the addresses and dims of arrays that are kept.
  /// Throws, or sets a Python error.
  void take_results(int function, PyObject* returned, void** addresses, int64_t* dims);
  /// A new reference to what must live as long as the address is read; null: a Python error is set. Throws.
  PyObject* take_result(const runtime::HostCallSpec& spec, std::size_t i, PyObject* value, bool is_lent, void** address,
                        int64_t*& dims);

  const BoundProgram& program_;
  Gil gil_;
  PyThreadState* state_ = nullptr;
  std::vector<PyObject*> kept_;
  std::vector<PyObject*> returned_;  // by function: what its last call returned
  std::unordered_set<PyObject*> handles_;
  PyObject *exception_type_ = nullptr, *exception_ = nullptr, *trace_ = nullptr;
  int failed_host_call_ = -1;
};

/// A new array for a result; null: a Python error is set. `bfloat16`: what elements of bf16 are, as those of an
/// argument are; null: bits.
PyObject* new_array(const ArrayForm& info, const npy_intp* dims, PyArray_Descr* bfloat16);

}  // namespace inlay::python
