#include "call.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "array_form.h"
#include "draw.h"
#include "errors.h"
#include "gil.h"
#include "interrupt.h"
#include "runtime/host_result.h"
#include "runtime/scratch.h"
#include "runtime/type_of.h"
#include "support/counted.h"
#include "support/error.h"

namespace nb = nanobind;

namespace inlay::python {

/// Holds the GIL for as long as it lives, whoever had it before; on a foreign thread not at Python's end.
class Call::Holder {
 public:
  explicit Holder(Call& call) : call_(call) {
    if (call_.gil_ == Gil::released) take_gil_back(call_.state_);
    if (call_.gil_ == Gil::foreign) foreign_.emplace();
  }
  ~Holder() {
    if (call_.gil_ == Gil::released) call_.state_ = PyEval_SaveThread();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  explicit operator bool() const { return !foreign_ || *foreign_; }

 private:
  Call& call_;
  std::optional<ForeignGil> foreign_;
};

Call::~Call() {
  if (kept_.empty() && returned_.empty() && handles_.empty() && exception_type_ == nullptr) return;
  std::optional<ForeignGil> foreign;
  if (gil_ == Gil::foreign && !foreign.emplace()) return;  // all that was kept goes with Python
  for (PyObject* object : kept_) Py_DECREF(object);
  for (PyObject* object : returned_) Py_XDECREF(object);
  for (PyObject* object : handles_) Py_DECREF(object);
  Py_XDECREF(exception_type_);
  Py_XDECREF(exception_);
  Py_XDECREF(trace_);
}

void Call::keep_returned(int function, PyObject* object) {
  const auto at = static_cast<std::size_t>(function);
  if (returned_.size() <= at) returned_.resize(at + 1);
  Py_XDECREF(std::exchange(returned_[at], object));
}

void Call::keep_handle(PyObject* object) {
  if (handles_.insert(object).second) Py_INCREF(object);
}

void Call::begin_run(Gil gil) {
  gil_ = gil;
  if (gil_ == Gil::released) state_ = PyEval_SaveThread();
}

void Call::end_run() {
  if (gil_ == Gil::released) take_gil_back(state_);
  gil_ = Gil::held;
}

void Call::restore_exception() {
  PyErr_Restore(exception_type_, exception_, trace_);
  exception_type_ = exception_ = trace_ = nullptr;
}

int32_t Call::host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                        int64_t* result_dims) {
  const Holder holder(*this);
  if (!holder) return INLAY_HOST_CALL_FAILED;
  if (call_host(function, operands, operand_dims, results, result_dims)) return INLAY_OK;
  failed_host_call_ = function;
  PyErr_Fetch(&exception_type_, &exception_, &trace_);
  return INLAY_HOST_CALL_FAILED;
}

int32_t Call::interrupted() {
  if (gil_ == Gil::foreign) return INLAY_INTERRUPTED;
  const Holder holder(*this);
  if (!is_interrupted()) return INLAY_OK;
  PyErr_Fetch(&exception_type_, &exception_, &trace_);
  return INLAY_INTERRUPTED;
}

PyObject* new_array(const ArrayForm& info, const npy_intp* dims, PyArray_Descr* bfloat16) {
  if (info.dtype != DType::bf16 || bfloat16 == nullptr) return PyArray_SimpleNew(info.rank, dims, info.numpy_type);
  Py_INCREF(reinterpret_cast<PyObject*>(bfloat16));
  return PyArray_NewFromDescr(&PyArray_Type, bfloat16, info.rank, dims, nullptr, nullptr, 0, nullptr);
}

void* Call::allocate_output(int slot, std::span<const int64_t> dims) {
  const Holder holder(*this);
  const ArrayForm& info = program_.results()[static_cast<std::size_t>(slot)];
  runtime::Scratch<npy_intp, 8> sizes(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) sizes[i] = dims[i];
  PyObject* array = new_array(info, sizes.data(), bfloat16);
  if (array == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  PyObject*& place = late_results[static_cast<std::size_t>(slot)];
  Py_XDECREF(place);
  place = array;
  return PyArray_DATA(reinterpret_cast<PyArrayObject*>(array));
}

namespace {

/// The operand as an object of its own: the memory belongs to the function and will be used again.
PyObject* copy_of_operand(const runtime::TensorSpec& spec, DType dtype, const void* data, const int64_t* dims) {
  runtime::Scratch<npy_intp, 8> sizes(spec.dims.size());
  for (std::size_t i = 0; i < spec.dims.size(); ++i) sizes[i] = dims[i];
  PyObject* array = PyArray_SimpleNew(static_cast<int>(spec.dims.size()), sizes.data(), numpy_type(dtype));
  if (array == nullptr) return nullptr;
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  if (PyArray_NBYTES(a) > 0) std::memcpy(PyArray_DATA(a), data, static_cast<std::size_t>(PyArray_NBYTES(a)));
  return array;
}

/// A new reference to what the function returns; null: a Python error is set.
PyObject* call_function(PyObject* callable, const runtime::HostCallSpec& spec, void* const* operands,
                        const int64_t* operand_dims) {
  runtime::Scratch<PyObject*, 16> arguments(spec.operands.size() +
                                            1);  // one place before them for vectorcall's own use
  std::size_t count = 0;
  bool ok = true;
  for (; ok && count < spec.operands.size(); ++count) {
    const DType dtype = runtime::dtype_of(spec.operands[count]);
    auto* handle = static_cast<PyObject*>(operands[count]);
    PyObject* value = dtype == DType::opaque
                          ? Py_NewRef(handle)
                          : copy_of_operand(spec.operands[count], dtype, operands[count], operand_dims);
    operand_dims += spec.operands[count].dims.size();
    ok = value != nullptr;
    arguments[count + 1] = value;
  }
  PyObject* returned = nullptr;
  if (ok) {
    returned = PyObject_Vectorcall(callable, arguments.data() + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  }
  for (std::size_t i = 0; i < count; ++i) Py_XDECREF(arguments[i + 1]);
  return returned;
}

}  // namespace

bool Call::call_host(int function, void* const* operands, const int64_t* operand_dims, void** results,
                     int64_t* result_dims) {
  const runtime::HostCallSpec& spec = program_.host_call(function);
  try {  // nothing passes through the machine code
    const Draw* const draw = program_.draw(function);
    nb::object returned = nb::steal(or_stay([&] {
      PyObject* const drawn = draw == nullptr ? nullptr : (*draw)(spec, operands, operand_dims);
      if (drawn != nullptr || PyErr_Occurred() != nullptr) return drawn;
      return call_function(program_.host_function(function), spec, operands, operand_dims);
    }));
    if (returned.is_valid()) take_results(function, returned.ptr(), results, result_dims);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    raise(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    raise(Error(ErrorCode::internal, spec.location, error.what()));
  }
  return PyErr_Occurred() == nullptr;
}

namespace {

/// Does nobody but us hold the bytes that a host function has returned, in a tuple or alone?
bool is_alone(PyObject* returned, PyArrayObject* array, PyArrayObject* plain) {
  if (PyArray_BASE(plain) != nullptr || !PyArray_CHKFLAGS(plain, NPY_ARRAY_OWNDATA)) return false;
  auto* const object = reinterpret_cast<PyObject*>(plain);
  // `array` and `plain`, and what the function gave: the object itself, or the tuple that holds it.
  const Py_ssize_t ours = 1 + (plain == array) + (object == returned);
  return Py_REFCNT(object) <= ours;
}

}  // namespace

void Call::take_results(int function, PyObject* returned, void** addresses, int64_t* dims) {
  const runtime::HostCallSpec& spec = program_.host_call(function);
  const std::size_t count = spec.results.size();
  const bool is_tuple = PyTuple_Check(returned);
  if (is_tuple ? tuple_size(returned) != count : count != 1) {
    throw runtime::wrong_host_results(spec, is_tuple              ? counted(tuple_size(returned), "result")
                                            : returned == Py_None ? "None"
                                                                  : kind_of(returned));
  }
  PyObject* taken = PyTuple_New(static_cast<Py_ssize_t>(count));
  if (taken == nullptr) return;
  keep_returned(function, taken);
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* value = is_tuple ? tuple_item(returned, i) : returned;
    // A tuple that somebody keeps keeps what is in it.
    const OwnedArray kept_elsewhere(
        is_tuple && Py_REFCNT(returned) > 1 ? reinterpret_cast<PyArrayObject*>(Py_NewRef(value)) : nullptr);
    value = take_result(spec, i, value, program_.lends(function), addresses + i, dims);
    if (value == nullptr) return;
    set_tuple_item(taken, i, value);
  }
}

PyObject* Call::take_result(const runtime::HostCallSpec& spec, std::size_t i, PyObject* value, bool is_lent,
                            void** address, int64_t*& dims) {
  const runtime::TensorSpec& result = spec.results[i];
  const DType dtype = runtime::dtype_of(result);
  if (dtype == DType::opaque) {
    *address = value;
    keep_handle(value);
    return Py_NewRef(value);
  }
  const OwnedArray array = as_array(value, dtype, str(spec.name, ": result ", i), spec.location);
  if (!array) return nullptr;
  const std::span<const npy_intp> shape(PyArray_DIMS(array.get()), static_cast<std::size_t>(PyArray_NDIM(array.get())));
  const std::vector<int64_t> sizes(shape.begin(), shape.end());
  const std::string came = has_dtype(array.get(), dtype) ? result.dtype : dtype_text(array.get());
  if (const auto wrong = runtime::wrong_host_result(spec, i, came, sizes)) throw *wrong;
  OwnedArray plain = in_plain_form(array.get(), dtype);
  // What the function keeps it may fill again before we have read it.
  if (plain && !is_lent && !is_alone(value, array.get(), plain.get())) {
    plain.reset(reinterpret_cast<PyArrayObject*>(PyArray_NewCopy(plain.get(), NPY_CORDER)));
  }
  if (!plain) return nullptr;
  dims = std::ranges::copy(sizes, dims).out;
  *address = PyArray_DATA(plain.get());
  return reinterpret_cast<PyObject*>(plain.release());
}

}  // namespace inlay::python
