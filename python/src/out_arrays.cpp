#include "out_arrays.h"

#include <algorithm>
#include <type_traits>

#include "support/counted.h"
#include "support/error.h"

namespace inlay::python {
namespace {

runtime::Elements elements_of(PyArrayObject* array) {
  static_assert(std::is_same_v<npy_intp, int64_t>);
  const auto rank = static_cast<std::size_t>(PyArray_NDIM(array));
  return {PyArray_DATA(array), {PyArray_DIMS(array), rank}, {PyArray_STRIDES(array), rank}, PyArray_ITEMSIZE(array)};
}

/// numpy.shares_memory, which knows of strides.
bool share_elements(PyArrayObject* a, PyArrayObject* b) {
  PyObject* numpy = PyImport_ImportModule("numpy");
  PyObject* answer = numpy == nullptr ? nullptr : PyObject_CallMethod(numpy, "shares_memory", "OOi", a, b, 100'000);
  const bool share = answer == nullptr || PyObject_IsTrue(answer) != 0;  // too hard to tell: they may
  PyErr_Clear();
  Py_XDECREF(answer);
  Py_XDECREF(numpy);
  return share;
}

/// The array, or its bits where it has a dtype that NumPy does not know; null: a Python error is set.
OwnedArray known_to_numpy(PyArrayObject* array) {
  if (PyArray_TYPE(array) < NPY_USERDEF) {
    Py_INCREF(reinterpret_cast<PyObject*>(array));
    return OwnedArray(array);
  }
  PyObject* const bits = PyArray_View(array, PyArray_DescrFromType(NPY_UINT16), nullptr);
  return OwnedArray(reinterpret_cast<PyArrayObject*>(bits));
}

/// Between arrays of one dtype, of which one may be bits. False: a Python error is set.
bool copy(PyArrayObject* from, PyArrayObject* to) {
  const OwnedArray source = known_to_numpy(from);
  const OwnedArray target = known_to_numpy(to);
  return source && target && PyArray_CopyInto(target.get(), source.get()) == 0;
}

}  // namespace

runtime::Bytes bytes_of(PyArrayObject* array) { return elements_of(array).bytes(); }

OutArrays::OutArrays(PyObject* out, const BoundProgram& program) : program_(&program) {
  if (out == Py_None) return;
  const std::size_t count = program.results().size();
  std::vector<PyObject*> given(1, out);
  if (PyTuple_Check(out)) {
    given.resize(tuple_size(out));
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = tuple_item(out, i);
  }
  if (given.size() != count) {
    const std::string came = PyTuple_Check(out) ? str("a tuple of ", given.size()) : kind_of(out);
    throw Error(ErrorCode::wrong_argument_count, {},
                str("out: the function has ", counted(count, "result"), ", but ", came, " is given"))
        .help(str("out=(", join(program.results(), ", ", [](const ArrayForm& info) { return info.name; }),
                  count == 1 ? ",)" : ")", "; None where a new array is wanted"));
  }
  arrays_.resize(count);
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (given[slot] == Py_None) continue;
    const ArrayForm& info = program.results()[slot];
    if (info.is_opaque || !PyArray_Check(given[slot]) || is_masked(given[slot])) {
      const char* wanted = info.is_opaque ? "nothing can be given for an object" : "an array of NumPy is needed";
      throw Error(ErrorCode::wrong_dtype, {}, str(name(slot), " is ", kind_of(given[slot]), ", but ", wanted));
    }
    arrays_[slot] = reinterpret_cast<PyArrayObject*>(given[slot]);
    if (!has_dtype(arrays_[slot], info.dtype)) {
      throw Error(ErrorCode::wrong_dtype, {},
                  str(name(slot), " is an array of ", dtype_text(arrays_[slot]), ", but the result is of ",
                      dtype_name(info.dtype)));
    }
    has_late_ |= info.is_late;
    require_writable(slot);
  }
  require_apart();
}

std::string OutArrays::name(std::size_t slot) const {
  return str("out: what is given for result ", slot, ", ", program_->results()[slot].name, ",");
}

void OutArrays::require_writable(std::size_t slot) const {
  if (!PyArray_ISWRITEABLE(arrays_[slot])) throw Error(ErrorCode::wrong_output, {}, str(name(slot), " is read-only"));
  if (!is_plain(arrays_[slot]) && !elements_of(arrays_[slot]).are_apart())
    throw Error(ErrorCode::wrong_output, {}, str(name(slot), " has elements that share their bytes"));
}

void OutArrays::require_apart() const {
  for (std::size_t slot = 0; slot < arrays_.size(); ++slot) {
    for (std::size_t other = 0; arrays_[slot] != nullptr && other < slot; ++other) {
      if (arrays_[other] == nullptr || !bytes_of(arrays_[slot]).meet(bytes_of(arrays_[other]))) continue;
      if (!share_elements(arrays_[slot], arrays_[other])) continue;
      throw Error(ErrorCode::wrong_output, {},
                  str(name(slot), " shares bytes with what is given for result ", other, ", ",
                      program_->results()[other].name));
    }
  }
}

void OutArrays::require_shape(std::size_t slot, std::span<const int64_t> dims) const {
  PyArrayObject* array = arrays_[slot];
  const std::span<const npy_intp> shape(PyArray_DIMS(array), static_cast<std::size_t>(PyArray_NDIM(array)));
  if (std::ranges::equal(shape, dims)) return;
  throw Error(ErrorCode::shape_mismatch, {},
              str(name(slot), " has the shape [", join(shape, ", "), "], but the result has [", join(dims, ", "), "]"));
}

bool OutArrays::meet(PyArrayObject* array, int except) const {
  for (std::size_t slot = 0; slot < arrays_.size(); ++slot) {
    if (arrays_[slot] == nullptr || !bytes_of(arrays_[slot]).meet(bytes_of(array))) continue;
    const bool is_place = static_cast<int>(slot) == except && is_plain(arrays_[slot]) &&
                          PyArray_BYTES(arrays_[slot]) == PyArray_BYTES(array);
    if (!is_place) return true;
  }
  return false;
}

bool OutArrays::deliver(std::span<PyObject*> results) const {
  const auto made = [&](std::size_t slot) { return reinterpret_cast<PyArrayObject*>(results[slot]); };
  for (std::size_t slot = 0; slot < arrays_.size(); ++slot) {
    if (arrays_[slot] == nullptr || made(slot) == arrays_[slot]) continue;
    const std::span<const npy_intp> shape(PyArray_DIMS(made(slot)), static_cast<std::size_t>(PyArray_NDIM(made(slot))));
    require_shape(slot, std::vector<int64_t>(shape.begin(), shape.end()));
  }
  for (std::size_t slot = 0; slot < arrays_.size(); ++slot) {
    if (arrays_[slot] == nullptr || made(slot) == arrays_[slot]) continue;
    if (!copy(made(slot), arrays_[slot])) return false;
    Py_DECREF(results[slot]);
    results[slot] = Py_NewRef(reinterpret_cast<PyObject*>(arrays_[slot]));
  }
  return true;
}

}  // namespace inlay::python
