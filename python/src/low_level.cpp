#include "low_level.h"

#include <limits>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "errors.h"
#include "gil.h"
#include "runtime/scratch.h"
#include "support/counted.h"
#include "support/fork_gate.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

// Of one number, too, though SciPy has a signature for that: it would drop its `args=` without a word.
double call_numbers(int count, double* x, void* self) noexcept {
  return static_cast<LowLevel*>(self)->of_numbers(count, x);
}

int call_filter(double* x, std::ptrdiff_t length, double* y, void* self) noexcept {
  return static_cast<LowLevel*>(self)->filter(x, length, y, 1);
}

int call_filter1d(double* x, std::ptrdiff_t length, double* y, std::ptrdiff_t result_length, void* self) noexcept {
  return static_cast<LowLevel*>(self)->filter(x, length, y, result_length);
}

struct Row {
  const char* signature;
  void* address;
};

const Row& row(LowLevel::Form form) {
  static const Row rows[] = {
      {"double (int, double *, void *)", reinterpret_cast<void*>(&call_numbers)},
      {"int (double *, npy_intp, double *, void *)", reinterpret_cast<void*>(&call_filter)},
      {"int (double *, npy_intp, double *, npy_intp, void *)", reinterpret_cast<void*>(&call_filter1d)},
  };
  return rows[static_cast<std::size_t>(form)];
}

/// The capsule holds a reference to the Python object of its context.
void drop(PyObject* capsule) noexcept { nb::find(static_cast<LowLevel*>(PyCapsule_GetContext(capsule))).dec_ref(); }

nb::object capsule_of(nb::handle self) {
  auto* const function = nb::inst_ptr<LowLevel>(self);
  const Row& is = row(function->form());
  PyObject* const capsule = PyCapsule_New(is.address, is.signature, nullptr);
  if (capsule == nullptr) throw nb::python_error();
  if (PyCapsule_SetContext(capsule, function) != 0 || PyCapsule_SetDestructor(capsule, drop) != 0) {
    Py_DECREF(capsule);
    throw nb::python_error();
  }
  self.inc_ref();
  return nb::steal(capsule);
}

bool is_number(const ArrayForm& info) { return info.dtype == DType::f64 && info.rank == 0; }
bool is_vector(const ArrayForm& info) { return info.dtype == DType::f64 && info.rank == 1; }

}  // namespace

LowLevel::LowLevel(const HeldProgram& program, const std::vector<PyObject*>& arguments, const std::string& form)
    : function_(program, arguments, str("no low-level callable of the form ", form)) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) function_.arguments().refuse(what);
  };
  const std::size_t count = function_.num_arguments();
  takes_vector_ = count == 1 && is_vector(function_.argument(0));
  require(function_.num_results() == 1, "it must have one result");
  if (form == "filter1d") {
    form_ = Form::filter1d;
    require(takes_vector_, "the argument must be one f64 vector");
    require(is_vector(function_.result(0)), "the result must be one f64 vector");
    return;
  }
  require(is_number(function_.result(0)), "the result must be one f64");
  if (form == "filter") {
    form_ = Form::filter;
    require(takes_vector_, "the argument must be one f64 vector");
    return;
  }
  bool are_numbers = count > 0;
  for (std::size_t i = 0; i < count; ++i) are_numbers &= is_number(function_.argument(i));
  require(takes_vector_ || are_numbers, "the arguments must be f64 numbers, or one f64 vector");
}

const char* LowLevel::signature() const { return row(form_).signature; }

std::optional<std::string> LowLevel::last_error() const {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  return last_error_;
}

double LowLevel::of_numbers(int count, const double* x) noexcept {
  double y = 0;
  const auto error = run(x, count, &y, 1);
  if (!error) return y;
  keep(*error);
  return std::numeric_limits<double>::quiet_NaN();
}

int LowLevel::filter(const double* x, std::ptrdiff_t length, double* y, std::ptrdiff_t result_length) noexcept {
  {
    const ForeignGil gil;
    if (!gil || PyErr_Occurred()) return 0;  // SciPy goes on to other windows, and raises in the end
  }
  const auto error = run(x, length, y, result_length);
  if (!error) return 1;
  keep(*error);
  const ForeignGil gil;  // SciPy has it, and raises what is set
  if (gil) raise(*error);
  return 0;
}

void LowLevel::keep(const Error& error) noexcept {
  try {
    const ForkGate::Inside inside;
    const std::lock_guard lock(mutex_);
    last_error_ = error.what();
  } catch (const std::exception&) {  // no memory for the text: the value says that it failed
  }
}

std::optional<Error> LowLevel::run(const double* x, int64_t length, double* y, int64_t result_length) const noexcept {
  try {
    const std::size_t count = function_.num_arguments();
    if (!takes_vector_ && length != static_cast<int64_t>(count)) {
      return Error(ErrorCode::wrong_argument_count, {},
                   str("the function takes ", counted(count, "number"), ", not ", length));
    }
    runtime::Scratch<const void*, 16> given(count);
    runtime::Scratch<const int64_t*, 16> dims(count);
    for (std::size_t i = 0; i < count; ++i) {
      given[i] = x + i;
      dims[i] = &length;  // a number has none, and reads none
    }
    runtime::Scratch<int64_t, 32> symbols(function_.num_symbols());
    function_.bind(dims.span(), symbols.span());
    if (form_ == Form::filter1d) {
      int64_t made = 0;
      function_.arguments().program().executable().output_dims(0, symbols.span(), {&made, 1});
      if (made != result_length) {
        return Error(ErrorCode::shape_mismatch, {},
                     str("the function makes ", counted(static_cast<std::size_t>(made), "element"), " of ", length,
                         ", not ", result_length));
      }
    }
    void* result = y;
    return function_.run(given.data(), symbols.span(), &result);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, {}, "no memory for the call's own values");
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, {}, error.what());
  }
}

void bind_low_level(nb::module_& m) {
  nb::class_<LowLevel>(m, "LowLevel", "A function with a signature that SciPy calls.")
      .def_prop_ro("signature", [](const LowLevel& f) { return std::string(f.signature()); })
      .def_prop_ro("last_error", &LowLevel::last_error, "What the last call that failed said.")
      .def("capsule", capsule_of, "For scipy.LowLevelCallable; keeps the function.");
}

}  // namespace inlay::python
