#include "kept_arguments.h"

#include "support/counted.h"
#include "support/error.h"

namespace inlay::python {

KeptArguments::KeptArguments(const HeldProgram& program, const std::vector<PyObject*>& arguments, std::string refusal,
                             const std::function<bool(std::size_t)>& is_elsewhere)
    : program_(program), refusal_(std::move(refusal)) {
  if (arguments.size() != program_->arguments().size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str(refusal_, ": the program takes ", counted(program_->arguments().size(), "argument"), ", not ",
                    arguments.size()));
  }
  const std::span<const int64_t> symbols = program_->symbol_template();
  symbols_.assign(symbols.begin(), symbols.end());
  addresses_.resize(arguments.size());
  dims_.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArrayForm& info = program_->arguments()[i];
    if (info.is_opaque && arguments[i] == Py_None) refuse(str(info.name, " is no array"));
    if (is_elsewhere && is_elsewhere(i)) continue;
    if (arguments[i] == Py_None) {
      from_caller_.push_back(i);
    } else {
      keep_argument(i, arguments[i]);
    }
  }
}

void KeptArguments::refuse(const std::string& why) const {
  throw Error(ErrorCode::unsupported, {}, str(refusal_, ": ", why));
}

void KeptArguments::keep_argument(std::size_t i, PyObject* argument) {
  const ArrayForm& info = program_->arguments()[i];
  if (info.is_opaque) {
    keep(argument);
    addresses_[i] = argument;
    return;
  }
  // A copy: a shared variable that was made with borrow=True shows its array to others, who may write to it.
  PyObject* array =
      PyArray_FROMANY(argument, info.numpy_type, info.rank, info.rank, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY);
  if (array == nullptr) {
    PyErr_Clear();
    throw Error(ErrorCode::wrong_dtype, {}, str(refusal_, ": the value of ", info.name, " does not fit its type"));
  }
  kept_.push_back(nanobind::steal(array));
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  dims_[i].assign(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a));
  const auto slot = static_cast<std::size_t>(program_->slot_of_argument(i));
  bind_sizes(program_->executable().object().params[slot], dims_[i], symbols_);
  addresses_[i] = PyArray_DATA(a);
}

std::vector<const void*> KeptArguments::addresses_by_slot() const {
  const std::span<const void* const> bound = program().parameter_template();
  std::vector<const void*> addresses(bound.begin(), bound.end());
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    addresses[static_cast<std::size_t>(program().slot_of_argument(i))] = addresses_[i];
  }
  return addresses;
}

std::vector<runtime::TensorRef> KeptArguments::refs_by_slot() const {
  std::vector<runtime::TensorRef> refs;
  for (const void* address : addresses_by_slot()) {
    refs.push_back({const_cast<void*>(address), program().bound_dims(refs.size()).data()});
  }
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    refs[static_cast<std::size_t>(program().slot_of_argument(i))].dims = dims_[i].data();
  }
  return refs;
}

int KeptArguments::traverse(visitproc visit, void* arg) const {
  for (const nanobind::object& object : kept_) {
    Py_VISIT(object.ptr());
  }
  return program_.traverse(visit, arg);
}

}  // namespace inlay::python
