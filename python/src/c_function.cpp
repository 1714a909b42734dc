#include "c_function.h"

#include "call.h"
#include "support/error.h"

namespace inlay::python {
namespace {

constexpr const char* kGeneralSignature = "int (const void *const *inputs, void *const *outputs)";

int call_general(const void* const* inputs, void** outputs, const void*, const void*, const void* data) noexcept {
  const auto& context = *static_cast<const CFunction::Context*>(data);
  ShortArray<const void*, 32> arguments(context.arguments.size());
  std::copy(context.arguments.begin(), context.arguments.end(), arguments.data());
  for (std::size_t i = 0; i < context.from_caller.size(); ++i) arguments[context.from_caller[i]] = inputs[i];
  switch (context.program->run_raw(arguments.data(), context.symbols, outputs)) {
    case INLAY_OK: return 0;
    case INLAY_SIZE_OVERFLOW:
    case INLAY_OUT_OF_MEMORY: return runtime::kFlatOutOfMemory;
    default: return runtime::kFlatFailed;
  }
}

bool is_vector(const TensorInfo& info) { return info.dtype == DType::f64 && info.rank == 1; }

std::string type_text(const TensorInfo& info) {
  const bool named = !info.name.empty() && info.name[0] != '$';  // not a number that inlay gave
  return str(named ? info.name : "", named ? ": " : "", dtype_name(info.dtype), "[", join(info.dims, ", "), "]");
}

}  // namespace

CFunction::CFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments) : program_(program) {
  if (arguments.size() != program_->arguments().size()) {
    throw Error(
        ErrorCode::wrong_argument_count, {},
        str("no C function: the program takes ", program_->arguments().size(), " arguments, not ", arguments.size()));
  }
  context_.program = &*program_;
  const std::span<const int64_t> symbols = program_->symbol_template();
  context_.symbols.assign(symbols.begin(), symbols.end());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorInfo& info = program_->arguments()[i];
    const void* data = nullptr;
    if (arguments[i] == Py_None) {
      context_.from_caller.push_back(i);
      if (info.is_opaque) throw Error(ErrorCode::unsupported, {}, str("no C function: ", info.name, " is no array"));
    } else if (info.is_opaque) {
      data = arguments[i];
      kept_.push_back(Py_NewRef(arguments[i]));
    } else {
      // A copy: a shared variable that was made with borrow=True shows its array to others, who may write to it.
      PyObject* array = PyArray_FROMANY(arguments[i], info.numpy_type, info.rank, info.rank,
                                        NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY);
      if (array == nullptr) {
        PyErr_Clear();
        throw Error(ErrorCode::wrong_dtype, {},
                    str("no C function: the value of ", info.name, " does not fit its type"));
      }
      kept_.push_back(array);
      auto* a = reinterpret_cast<PyArrayObject*>(array);
      bind_sizes(info, a);
      data = PyArray_DATA(a);
    }
    context_.arguments.push_back(data);
  }
  if (is_flat()) {
    make_flat();
  } else {
    make_general();
  }
}

void CFunction::bind_sizes(const TensorInfo& info, PyArrayObject* array) {
  for (std::size_t axis = 0; axis < info.dims.size(); ++axis) {
    const auto size = static_cast<int64_t>(PyArray_DIM(array, static_cast<int>(axis)));
    int64_t must_be = info.dims[axis];
    if (info.symbols[axis] >= 0) {
      int64_t& symbol = context_.symbols[static_cast<std::size_t>(info.symbols[axis])];
      if (symbol < 0) symbol = size;
      must_be = symbol;
    }
    if (must_be == size) continue;
    throw Error(ErrorCode::shape_mismatch, {}, str(info.name, ": dim ", axis, " is ", size, ", but must be ", must_be));
  }
}

CFunction::~CFunction() {
  for (PyObject* object : kept_) Py_DECREF(object);
}

int CFunction::traverse(visitproc visit, void* arg) const {
  for (PyObject* object : kept_) Py_VISIT(object);
  return program_.traverse(visit, arg);
}

std::uintptr_t CFunction::address() const {
  return reinterpret_cast<std::uintptr_t>(flat_ ? flat_->address() : general_.address());
}

bool CFunction::is_flat() const {
  if (context_.from_caller.size() != 1 || program_->results().size() != 2) return false;
  if (!program_->executable().object().host_calls.empty()) return false;
  const TensorInfo& x = program_->arguments()[context_.from_caller[0]];
  const TensorInfo &logp = program_->results()[0], &gradient = program_->results()[1];
  if (!is_vector(x) || logp.dtype != DType::f64 || logp.rank != 0 || !is_vector(gradient)) return false;
  if (gradient.is_late) return false;
  return (x.is_static && gradient.dims == x.dims) || x.symbols[0] >= 0;
}

void CFunction::make_flat() {
  const std::size_t x = context_.from_caller[0];
  runtime::FlatLogpSpec spec{.executable = program_->shared_executable()};
  const std::span<const void* const> params = program_->parameter_template();
  spec.params.assign(params.begin(), params.end());
  for (std::size_t i = 0; i < context_.arguments.size(); ++i) {
    spec.params[static_cast<std::size_t>(program_->slot_of_argument(i))] = context_.arguments[i];
  }
  spec.symbols = context_.symbols;
  spec.x_param = program_->slot_of_argument(x);
  spec.x_symbol = program_->arguments()[x].symbols[0];
  spec.dim = program_->arguments()[x].dims[0];
  flat_.emplace(std::move(spec));
  signature_ = runtime::kFlatLogpSignature;
}

void CFunction::make_general() {
  for (std::size_t i : context_.from_caller) {
    const TensorInfo& info = program_->arguments()[i];
    if (info.is_static) continue;
    throw Error(ErrorCode::unsupported, {}, str("no C function: the size of ", info.name, " is not a constant"));
  }
  for (const TensorInfo& result : program_->results()) {
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
