#include "c_function.h"

#include "call.h"
#include "errors.h"
#include "gil.h"
#include "runtime/type_of.h"
#include "support/counted.h"
#include "support/error.h"

namespace inlay::python {
namespace {

constexpr const char* kGeneralSignature = "int (const void *const *inputs, void *const *outputs)";

int call_general(const void* const* inputs, void** outputs, const void*, const void*, const void*,
                 const void* data) noexcept {
  const auto& context = *static_cast<const CFunction::Context*>(data);
  ShortArray<const void*, 32> arguments(context.arguments.size());
  std::copy(context.arguments.begin(), context.arguments.end(), arguments.data());
  for (std::size_t i = 0; i < context.from_caller.size(); ++i) arguments[context.from_caller[i]] = inputs[i];
  switch (context.program->run_raw(arguments.data(), context.symbols, outputs, context.stop)) {
    case INLAY_OK: return 0;
    case INLAY_INTERRUPTED: return runtime::kFlatInterrupted;
    case INLAY_SIZE_OVERFLOW:
    case INLAY_OUT_OF_MEMORY: return runtime::kFlatOutOfMemory;
    default: return runtime::kFlatFailed;
  }
}

/// As Python ends its traceback with it: the class, and what it says.
std::string text_of(PyObject* exception) {
  const auto name = type_name(Py_TYPE(exception));
  PyObject* said = PyObject_Str(exception);
  const char* text = said == nullptr ? nullptr : utf8_of(said);
  const std::string whole = text == nullptr || *text == '\0' ? name : str(name, ": ", text);
  PyErr_Clear();
  Py_XDECREF(said);
  return whole;
}

/// Gives the Python error that is set to `on_error`, if there is one, and returns its text. What `on_error` raises has
/// nowhere to go.
std::string report(PyObject* on_error) {
  PyObject *type, *exception, *trace;
  PyErr_Fetch(&type, &exception, &trace);
  PyErr_NormalizeException(&type, &exception, &trace);
  if (trace != nullptr) PyException_SetTraceback(exception, trace);
  const std::string text = text_of(exception);
  if (on_error != nullptr) {
    PyObject* result = PyObject_CallFunctionObjArgs(on_error, exception, nullptr);
    if (result == nullptr) PyErr_WriteUnraisable(on_error);
    Py_XDECREF(result);
  }
  Py_XDECREF(type);
  Py_XDECREF(exception);
  Py_XDECREF(trace);
  return text;
}

/// Host calls of a thread that may not know Python.
class SamplerHost final : public runtime::Host {
 public:
  SamplerHost(const BoundProgram& program, PyObject* on_error) : call_(program, Gil::foreign), on_error_(on_error) {}

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override {
    const int32_t code = call_.host_call(function, operands, operand_dims, results, result_dims);
    if (code == INLAY_OK) return code;
    const ForeignGil gil;
    if (!gil) return code;
    call_.restore_exception();
    why_failed_ = report(on_error_);
    return code;
  }
  std::string why_failed() const override { return why_failed_; }
  void* allocate_output(int, std::span<const int64_t>) override { return nullptr; }  // FlatFunction brings it

 private:
  Call call_;
  PyObject* on_error_;  // may be null
  std::string why_failed_;
};

bool is_vector(const ArrayForm& info) { return info.dtype == DType::f64 && info.rank == 1; }

std::string type_text(const ArrayForm& info) {
  const bool named = !info.name.empty() && info.name[0] != '$';  // not a number that inlay gave
  return str(named ? info.name : "", named ? ": " : "", dtype_name(info.dtype), "[", join(info.dims, ", "), "]");
}

}  // namespace

CFunction::CFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments, const Options& options)
    : program_(program) {
  if (arguments.size() != program_->arguments().size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("no C function: the program takes ", counted(program_->arguments().size(), "argument"), ", not ",
                    arguments.size()));
  }
  context_.program = &*program_;
  const std::span<const int64_t> symbols = program_->symbol_template();
  context_.symbols.assign(symbols.begin(), symbols.end());
  context_.arguments.resize(arguments.size());
  dims_.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArrayForm& info = program_->arguments()[i];
    if (info.is_opaque && (arguments[i] == Py_None || options.form)) {
      throw Error(ErrorCode::unsupported, {}, str("no C function: ", info.name, " is no array"));
    }
    if (options.data.contains(i)) continue;
    if (arguments[i] == Py_None) {
      context_.from_caller.push_back(i);
    } else {
      keep_argument(i, arguments[i]);
    }
  }
  if (options.form || is_logp()) {
    make_flat(options, options.form.value_or(runtime::FlatForm::logp));
  } else {
    make_general();
  }
}

void CFunction::keep_argument(std::size_t i, PyObject* argument) {
  const ArrayForm& info = program_->arguments()[i];
  if (info.is_opaque) {
    kept_.push_back(nanobind::borrow(argument));
    context_.arguments[i] = argument;
    return;
  }
  // A copy: a shared variable that was made with borrow=True shows its array to others, who may write to it.
  PyObject* array =
      PyArray_FROMANY(argument, info.numpy_type, info.rank, info.rank, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY);
  if (array == nullptr) {
    PyErr_Clear();
    throw Error(ErrorCode::wrong_dtype, {}, str("no C function: the value of ", info.name, " does not fit its type"));
  }
  kept_.push_back(nanobind::steal(array));
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  bind_sizes(info, a);
  dims_[i].assign(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a));
  context_.arguments[i] = PyArray_DATA(a);
}

void CFunction::bind_sizes(const ArrayForm& info, PyArrayObject* array) {
  for (std::size_t axis = 0; axis < info.dims.size(); ++axis) {
    const auto size = static_cast<int64_t>(PyArray_DIM(array, static_cast<int>(axis)));
    int64_t must_be = info.dims[axis];
    if (info.symbols[axis] >= 0) {
      int64_t& symbol = context_.symbols[static_cast<std::size_t>(info.symbols[axis])];
      if (symbol < 0) symbol = size;
      must_be = symbol;
    }
    if (must_be == size) continue;
    throw runtime::wrong_dim(info.name, axis, size, must_be);
  }
}

int CFunction::traverse(visitproc visit, void* arg) const {
  for (const nanobind::object& object : kept_) {
    Py_VISIT(object.ptr());
  }
  return program_.traverse(visit, arg);
}

std::uintptr_t CFunction::address() const {
  return reinterpret_cast<std::uintptr_t>(flat_ ? flat_->address() : general_.address());
}

bool CFunction::is_logp() const {
  if (context_.from_caller.size() != 1 || program_->results().size() != 2) return false;
  const ArrayForm& x = program_->arguments()[context_.from_caller[0]];
  const ArrayForm &logp = program_->results()[0], &gradient = program_->results()[1];
  if (!is_vector(x) || logp.dtype != DType::f64 || logp.rank != 0 || !is_vector(gradient)) return false;
  if (gradient.is_late) return false;
  return (x.is_static && gradient.dims == x.dims) || x.symbols[0] >= 0;
}

void CFunction::make_flat(const Options& options, runtime::FlatForm form) {
  if (context_.from_caller.size() != 1) {
    throw Error(ErrorCode::unsupported, {},
                str("no C function of the form ", runtime::flat_signature(form), ": it takes ",
                    context_.from_caller.size(), " arguments, not one"));
  }
  PyObject* on_error = options.on_error == Py_None ? nullptr : options.on_error;
  if (on_error != nullptr) kept_.push_back(nanobind::borrow(on_error));
  runtime::FlatSpec spec{.executable = program_->shared_executable(), .form = form, .stop = &context_.stop};
  const std::span<const void* const> addresses = program_->parameter_template();
  for (std::size_t slot = 0; slot < addresses.size(); ++slot) {
    spec.params.push_back({const_cast<void*>(addresses[slot]), program_->bound_dims(slot).data()});
  }
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    spec.params[static_cast<std::size_t>(program_->slot_of_argument(i))] = {const_cast<void*>(context_.arguments[i]),
                                                                            dims_[i].data()};
  }
  for (const auto& [i, offsets] : options.data) {
    spec.data.push_back({program_->slot_of_argument(i), offsets.address, offsets.dims});
  }
  spec.x_param = program_->slot_of_argument(context_.from_caller[0]);
  spec.keeps_going = options.keeps_going;
  if (!program_->executable().object().host_calls.empty()) {
    spec.make_host = [program = &*program_, on_error] { return std::make_unique<SamplerHost>(*program, on_error); };
  }
  if (on_error != nullptr) {
    spec.on_failure = [on_error](const Error& error) {
      if (error.code() == ErrorCode::host_call_failed) return;  // the host has told what it was
      const ForeignGil gil;
      if (!gil) return;
      raise(error);
      report(on_error);
    };
  }
  flat_.emplace(std::move(spec));
  signature_ = runtime::flat_signature(form);
}

void CFunction::make_general() {
  for (std::size_t i : context_.from_caller) {
    const ArrayForm& info = program_->arguments()[i];
    if (info.is_static) continue;
    throw Error(ErrorCode::unsupported, {}, str("no C function: the size of ", info.name, " is not a constant"));
  }
  for (const ArrayForm& result : program_->results()) {
    if (result.is_static && !result.is_opaque) continue;
    throw Error(ErrorCode::unsupported, {}, "no C function: the size of an output is not a constant");
  }
  general_ = runtime::Trampoline(reinterpret_cast<void*>(&call_general), &context_);
  const auto inputs =
      join(context_.from_caller, ", ", [&](std::size_t i) { return type_text(program_->arguments()[i]); });
  const auto outputs = join(program_->results(), ", ", type_text);
  signature_ = str(kGeneralSignature, "; inputs ", inputs, "; outputs ", outputs);
}

}  // namespace inlay::python
