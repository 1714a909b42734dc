#include "c_function.h"

#include <algorithm>

#include "errors.h"
#include "foreign_host.h"
#include "gil.h"
#include "runtime/scratch.h"
#include "support/error.h"

namespace inlay::python {
namespace {

constexpr const char* kGeneralSignature = "int (const void *const *inputs, void *const *outputs)";

bool is_vector(const ArrayForm& info) { return info.dtype == DType::f64 && info.rank == 1; }

std::string type_text(const ArrayForm& info) {
  const bool named = !info.name.empty() && info.name[0] != '$';  // not a number that inlay gave
  return str(named ? info.name : "", named ? ": " : "", dtype_name(info.dtype), "[", join(info.dims, ", "), "]");
}

}  // namespace

CFunction::CFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments, const Options& options)
    : arguments_(program, arguments, "no C function", [&](std::size_t i) { return options.data.contains(i); }) {
  for (const auto& [i, offsets] : options.data) {
    if (i < arguments.size()) continue;
    arguments_.refuse(str("user_data has argument ", i, ", and there are ", arguments.size()));
  }
  if (!options.form && !options.data.empty()) arguments_.refuse("user_data goes with the forms logp and expand");
  if (options.pool) {
    pool_ = options.pool;
    pool_->threads = this->program().executable().threads();
    if (pool_->threads == 1) arguments_.refuse("pool goes with a function that is compiled for several threads");
  }
  if (options.form || is_logp()) {
    make_flat(options, options.form.value_or(runtime::FlatForm::logp));
  } else {
    make_general();
  }
}

std::uintptr_t CFunction::address() const {
  return reinterpret_cast<std::uintptr_t>(flat_ ? flat_->address() : general_.address());
}

int CFunction::call_general(const void* const* inputs, void** outputs, const void*, const void*, const void*,
                            const void* self) noexcept {
  const auto& function = *static_cast<const CFunction*>(self);
  const KeptArguments& arguments = function.arguments_;
  runtime::Scratch<const void*, 32> addresses(arguments.addresses().size());
  std::ranges::copy(arguments.addresses(), addresses.data());
  for (std::size_t i = 0; i < arguments.from_caller().size(); ++i) addresses[arguments.from_caller()[i]] = inputs[i];
  switch (arguments.program().run_raw(addresses.data(), arguments.symbols(), outputs, function.stop_,
                                      function.pool_ ? &*function.pool_ : nullptr)) {
    case INLAY_OK: return 0;
    case INLAY_INTERRUPTED: return runtime::kFlatInterrupted;
    case INLAY_SIZE_OVERFLOW:
    case INLAY_OUT_OF_MEMORY: return runtime::kFlatOutOfMemory;
    default: return runtime::kFlatFailed;
  }
}

bool CFunction::is_logp() const {
  if (arguments_.from_caller().size() != 1 || program().results().size() != 2) return false;
  const ArrayForm& x = program().arguments()[arguments_.from_caller()[0]];
  const ArrayForm &logp = program().results()[0], &gradient = program().results()[1];
  if (!is_vector(x) || logp.dtype != DType::f64 || logp.rank != 0 || !is_vector(gradient)) return false;
  if (gradient.is_late) return false;
  return (x.is_static && gradient.dims == x.dims) || x.symbols[0] >= 0;
}

void CFunction::make_flat(const Options& options, runtime::FlatForm form) {
  for (const ArrayForm& info : program().arguments()) {
    if (info.is_opaque && options.form) arguments_.refuse(str(info.name, " is no array"));
  }
  if (arguments_.from_caller().size() != 1) {
    throw Error(ErrorCode::unsupported, {},
                str("no C function of the form ", runtime::flat_signature(form), ": it takes ",
                    arguments_.from_caller().size(), " arguments, not one"));
  }
  PyObject* on_error = options.on_error == Py_None ? nullptr : options.on_error;
  if (on_error != nullptr) arguments_.keep(on_error);
  runtime::FlatSpec spec{.executable = program().shared_executable(), .form = form, .stop = &stop_};
  spec.params = arguments_.refs_by_slot();
  for (const auto& [i, offsets] : options.data) {
    spec.data.push_back({program().slot_of_argument(i), offsets.address, offsets.dims});
  }
  spec.x_param = program().slot_of_argument(arguments_.from_caller()[0]);
  spec.keeps_going = options.keeps_going;
  spec.pool = pool_;
  if (!program().executable().object().host_calls.empty()) {
    spec.make_host = [program = &program(), on_error] { return std::make_unique<ForeignHost>(*program, on_error); };
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

/// By the runtime's rules: a dim of a kept array may be an expression of the sizes of others.
void CFunction::require_sizes() const {
  std::vector<runtime::TensorRef> refs = arguments_.refs_by_slot();
  for (std::size_t i : arguments_.from_caller()) {
    refs[static_cast<std::size_t>(program().slot_of_argument(i))].dims = program().arguments()[i].dims.data();
  }
  std::vector<int64_t> symbols(arguments_.symbols().size());
  program().executable().bind_symbols(refs, symbols);
}

void CFunction::make_general() {
  for (std::size_t i : arguments_.from_caller()) {
    const ArrayForm& info = program().arguments()[i];
    if (info.is_static) continue;
    arguments_.refuse(str("the size of ", info.name, " is not a constant"));
  }
  for (const ArrayForm& result : program().results()) {
    if (result.is_static && !result.is_opaque) continue;
    arguments_.refuse("the size of an output is not a constant");
  }
  require_sizes();
  general_ = runtime::Trampoline(reinterpret_cast<void*>(&call_general), this);
  const auto inputs =
      join(arguments_.from_caller(), ", ", [&](std::size_t i) { return type_text(program().arguments()[i]); });
  const auto outputs = join(program().results(), ", ", type_text);
  signature_ = str(kGeneralSignature, "; inputs ", inputs, "; outputs ", outputs);
}

}  // namespace inlay::python
