#include "runtime/flat_function.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "runtime/scratch.h"
#include "runtime/trampoline.h"
#include "support/counted.h"
#include "support/fork_gate.h"

namespace inlay::runtime {
namespace {

bool all_finite(std::span<const double> values) {
  // x - x is 0 for every finite x and NaN for the others: one sum, no branch in the loop.
  double sum = 0;
  for (double value : values) sum += value - value;
  return sum == 0;
}

/// Provides memory for outputs whose size is found during the run; the caller's Host makes host calls.
class FlatHost final : public Host {
 public:
  explicit FlatHost(std::unique_ptr<Host> inner) : inner_(std::move(inner)) {}

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override {
    return inner_ ? inner_->host_call(function, operands, operand_dims, results, result_dims) : INLAY_HOST_CALL_FAILED;
  }
  std::string why_failed() const override { return inner_ ? inner_->why_failed() : std::string(); }
  void* allocate_output(int, std::span<const int64_t> dims) override {
    length_ = dims[0];
    values_.resize(static_cast<std::size_t>(std::max<int64_t>(length_, 1)));
    return values_.data();
  }

  std::span<const double> values() const { return {values_.data(), static_cast<std::size_t>(length_)}; }

 private:
  std::unique_ptr<Host> inner_;
  std::vector<double> values_;
  int64_t length_ = 0;
};

int code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::factorization_failed: return kFlatNoFactor;
    case ErrorCode::size_overflow:
    case ErrorCode::out_of_memory: return kFlatOutOfMemory;
    case ErrorCode::upper_bound: return kFlatWrongDim;
    case ErrorCode::interrupted: return kFlatInterrupted;
    default: return kFlatFailed;
  }
}

}  // namespace

struct FlatFunction::State {
  FlatSpec spec;
  std::vector<const void*> addresses;  // by slot
  bool has_fixed_sizes = false;        // no size depends on a call
  std::vector<int64_t> symbols;        // bound here if sizes are fixed; else each call binds them
  int64_t dim = -1;                    // the length of x, where it is a constant
  std::size_t num_data_dims = 0;       // in all of user_data
  std::size_t vector_output = 0;       // the gradient, or the values
  Trampoline trampoline;

  mutable std::mutex mutex;
  std::optional<std::string> last_error;
  std::atomic<bool> has_told = false;

  const Executable& executable() const { return *spec.executable; }
  const Object& object() const { return executable().object(); }
  const TensorSpec& x() const { return object().params[static_cast<std::size_t>(spec.x_param)]; }
  const TensorSpec& vector() const { return object().outputs[vector_output]; }

  void check() const;
  void bind(int64_t length, const void* user_data, std::span<const void*> params, std::span<int64_t> symbols) const;
  bool may_be_as_long() const;
  const char* null_pointer(int64_t length, int64_t num_values, const double* x, void* const* outputs) const;
  int call(int64_t length, int64_t num_values, const double* x, void** outputs, const void* user_data) noexcept;
  int run(const void* const* params, int64_t num_values, void** outputs, int64_t* symbols);
  int fail(const Error& error, int code) noexcept;

  static int call_logp(std::size_t dim, const double* x, double* grad, double* logp, const void* user_data,
                       void* state) noexcept;
  static int call_expand(std::size_t dim, std::size_t num_values, const double* x, double* values,
                         const void* user_data, void* state) noexcept;
};

int FlatFunction::State::call_logp(std::size_t dim, const double* x, double* grad, double* logp, const void* user_data,
                                   void* state) noexcept {
  std::array<void*, 2> outputs = {logp, grad};
  const auto length = static_cast<int64_t>(dim);
  State& self = *static_cast<State*>(state);
  const int code = self.call(length, length, x, outputs.data(), user_data);
  if (code < 0 && self.spec.keeps_going) return kFlatPassedBy;
  if (code != kFlatOk) return code;
  if (!std::isfinite(*logp)) return kFlatLogpNotFinite;
  return all_finite({grad, dim}) ? kFlatOk : kFlatGradNotFinite;
}

int FlatFunction::State::call_expand(std::size_t dim, std::size_t num_values, const double* x, double* values,
                                     const void* user_data, void* state) noexcept {
  void* outputs = values;
  State& self = *static_cast<State*>(state);
  const int code = self.call(static_cast<int64_t>(dim), static_cast<int64_t>(num_values), x, &outputs, user_data);
  if (code >= 0 || !self.spec.keeps_going) return code;
  if (values != nullptr) std::fill_n(values, num_values, std::numeric_limits<double>::quiet_NaN());
  return kFlatOk;
}

namespace {

/// The error of a wrong length. `given` is the caller's size_t, also if no array has so many elements.
Error other_length(std::string_view what, int64_t given, std::string_view whose, int64_t wanted) {
  return {ErrorCode::shape_mismatch,
          {},
          str(what, " has ", counted(static_cast<std::size_t>(given), "element"), ", and the ", whose, " ", wanted)};
}

/// Rejects what no array can have: dims below 0, or more bytes than can be counted.
void check_dims(const std::string& name, std::span<const int64_t> dims, int64_t element_bytes) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] >= 0) continue;
    throw Error(ErrorCode::shape_mismatch, {}, str("dim ", axis, " of ", name, " is ", dims[axis]));
  }
  if (std::ranges::count(dims, 0) > 0) return;
  int64_t bytes = element_bytes;
  for (int64_t dim : dims) {
    if (!__builtin_mul_overflow(bytes, dim, &bytes)) continue;
    throw Error(ErrorCode::size_overflow, {},
                str(name, " has dims [", join(dims, ", "), "]: its size does not fit in 64 bits"));
  }
}

}  // namespace

/// Returns the name of the first null pointer that a call needs. (An array of no elements may be anywhere.)
const char* FlatFunction::State::null_pointer(int64_t length, int64_t num_values, const double* x,
                                              void* const* outputs) const {
  if (x == nullptr && length != 0) return "x";
  const bool has_logp = object().outputs.size() > 1;
  if (has_logp && outputs[1 - vector_output] == nullptr) return "logp";
  if (outputs[vector_output] == nullptr && num_values != 0) return has_logp ? "grad" : "values";
  return nullptr;
}

int FlatFunction::State::call(int64_t length, int64_t num_values, const double* x, void** outputs,
                              const void* user_data) noexcept {
  try {
    if (dim >= 0 && length != dim)
      return fail(other_length("the given x", length, "function takes", dim), kFlatWrongDim);
    if (const char* what = null_pointer(length, num_values, x, outputs))
      return fail({ErrorCode::wrong_argument_count, {}, str(what, " is a null pointer")}, kFlatWrongDim);
    Scratch<const void*, 64> params(addresses.size());
    Scratch<int64_t, 32> sizes(symbols.size());
    std::ranges::copy(addresses, params.data());
    params[static_cast<std::size_t>(spec.x_param)] = x;
    if (has_fixed_sizes) {
      std::ranges::copy(symbols, sizes.data());
    } else {
      try {
        bind(length, user_data, params.span(), sizes.span());
        if (vector().segment == 0) {
          const int64_t made = vector().dims[0].evaluate(sizes.span());
          if (made != num_values)
            return fail(other_length("the array for the result", num_values, "result has", made), kFlatWrongDim);
        }
      } catch (const Error& error) {
        return fail(error, error.code() == ErrorCode::size_overflow ? kFlatOutOfMemory : kFlatWrongDim);
      }
    }
    return run(params.data(), num_values, outputs, sizes.data());
  } catch (const Error& error) {
    return fail(error, code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return fail({ErrorCode::out_of_memory, {}, "no memory"}, kFlatOutOfMemory);
  } catch (...) {
    return kFlatFailed;
  }
}

int FlatFunction::State::run(const void* const* params, int64_t num_values, void** outputs, int64_t* sizes) {
  const bool needs_host = !object().host_calls.empty() || vector().segment > 0;
  std::optional<FlatHost> host;
  if (needs_host) host.emplace(spec.make_host ? spec.make_host() : nullptr);
  void* const wanted = outputs[vector_output];
  Executable::Failure failure;
  const int32_t code = executable().run(params, outputs, sizes, host ? &*host : nullptr, failure,
                                        {spec.stop, spec.stop}, 0, spec.pool ? &*spec.pool : nullptr);
  if (code == INLAY_HOST_CALL_FAILED && !host->why_failed().empty()) {
    throw Error(ErrorCode::host_call_failed, {}, str("a host call failed: ", host->why_failed()));
  }
  if (code != INLAY_OK) throw executable().error_of(code, failure);
  if (vector().segment == 0) return kFlatOk;
  const auto made = static_cast<int64_t>(host->values().size());
  if (made != num_values)
    return fail(other_length("the array for the result", num_values, "result has", made), kFlatWrongDim);
  std::ranges::copy(host->values(), static_cast<double*>(wanted));
  return kFlatOk;
}

int FlatFunction::State::fail(const Error& error, int code) noexcept {
  if (code > 0) return code;
  try {
    {
      const ForkGate::Inside inside;
      const std::lock_guard lock(mutex);
      last_error = error.what();
    }
    const bool is_known = spec.keeps_going && has_told.exchange(true);
    if (spec.on_failure && !is_known) spec.on_failure(error);
  } catch (...) {
    // The code is enough; nothing may be thrown out of a C function.
  }
  return code;
}

/// Sets what only the call has, and all sizes. Throws if they contradict each other.
void FlatFunction::State::bind(int64_t length, const void* user_data, std::span<const void*> params,
                               std::span<int64_t> sizes) const {
  Scratch<TensorRef, 64> refs(spec.params.size());
  std::ranges::copy(spec.params, refs.data());
  if (length < 0 || length > std::numeric_limits<int64_t>::max() / x().element_bytes) {
    throw Error(ErrorCode::size_overflow, {},
                str("x has ", static_cast<std::size_t>(length), " elements: its size does not fit in 64 bits"));
  }
  refs[static_cast<std::size_t>(spec.x_param)].dims = &length;
  const auto* record = static_cast<const std::byte*>(user_data);
  Scratch<int64_t, 64> all_dims(num_data_dims);
  std::size_t next = 0;
  for (const FlatData& data : spec.data) {
    if (record == nullptr) throw Error(ErrorCode::wrong_argument_count, {}, "no user_data");
    const auto slot = static_cast<std::size_t>(data.param);
    const TensorSpec& param = object().params[slot];
    const std::span<int64_t> dims = all_dims.span().subspan(next, param.dims.size());
    next += dims.size();
    std::memcpy(&params[slot], record + data.address_offset, sizeof(void*));
    std::memcpy(dims.data(), record + data.dims_offset, dims.size_bytes());
    check_dims(param.name, dims, param.element_bytes);
    if (params[slot] == nullptr && std::ranges::count(dims, 0) == 0)
      throw Error(ErrorCode::wrong_argument_count, {}, str("the address of ", param.name, " is a null pointer"));
    refs[slot].dims = dims.data();
  }
  executable().bind_symbols(refs.span(), sizes);
}

/// May the gradient be as long as the argument, for some length? Follows the size from length to length to a fixed
/// point; n - 1 and 2 * n have none.
bool FlatFunction::State::may_be_as_long() const {
  std::vector<const void*> params(addresses);
  std::vector<int64_t> sizes(symbols.size());
  for (int64_t length : {int64_t{1}, int64_t{2}, int64_t{1000003}}) {
    try {
      for (int i = 0; i < 64 && length > 0; ++i) {
        bind(length, nullptr, params, sizes);
        const int64_t next = vector().dims[0].evaluate(sizes);
        if (next == length) return true;
        length = next;
      }
    } catch (const Error&) {
      // It overflows 64 bits, or contradicts another argument's length.
    }
  }
  return false;
}

void FlatFunction::State::check() const {
  const auto require = [&](bool holds, const char* what) {
    if (holds) return;
    throw Error(ErrorCode::unsupported, {}, str("no C function of the form ", flat_signature(spec.form), ": ", what));
  };
  const auto is_vector = [](const TensorSpec& tensor) { return tensor.dtype == "f64" && tensor.dims.size() == 1; };
  require(object().host_calls.empty() || spec.make_host, "it calls back into its host");
  require(spec.x_param >= 0 && static_cast<std::size_t>(spec.x_param) < object().params.size() && is_vector(x()),
          "the argument must be one f64 vector");
  const bool is_logp = spec.form == FlatForm::logp;
  const std::size_t num_outputs = object().outputs.size();
  require(!is_logp || num_outputs == 2, "it must have two outputs, the log density and its gradient");
  require(is_logp || num_outputs == 1, "it must have one output, the values");
  if (is_logp) {
    const TensorSpec& logp = object().outputs[0];
    require(logp.dtype == "f64" && logp.dims.empty(), "the log density must be one f64");
  }
  require(is_vector(vector()), is_logp ? "the gradient must be one f64 vector" : "the values must be one f64 vector");
  require(!is_logp || vector().segment == 0, "the length of the gradient must be known when it is called");
}

const char* flat_signature(FlatForm form) {
  return form == FlatForm::logp
             ? "int (size_t dim, const double *x, double *grad, double *logp, const void *user_data)"
             : "int (size_t dim, size_t num_values, const double *x, double *values, const void *user_data)";
}

FlatFunction::FlatFunction(FlatSpec spec) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.spec = std::move(spec);
  INLAY_CHECK(state.spec.executable, "a function of nothing");
  INLAY_CHECK(state.spec.params.size() == state.object().params.size(), "an address for each parameter");
  const bool is_logp = state.spec.form == FlatForm::logp;
  state.vector_output = is_logp ? 1 : 0;
  state.check();
  for (const TensorRef& param : state.spec.params) state.addresses.push_back(param.data);
  state.symbols.assign(state.object().symbols.size(), 0);
  for (const FlatData& data : state.spec.data) {
    state.num_data_dims += state.object().params[static_cast<std::size_t>(data.param)].dims.size();
  }
  const SizeExpr& length = state.x().dims[0];
  if (length.is_constant()) state.dim = length.items[0].number;
  if (state.spec.data.empty() && state.dim >= 0) {
    state.bind(state.dim, nullptr, state.addresses, state.symbols);
    // The caller says how many values there are, so each call compares.
    state.has_fixed_sizes = is_logp;
  }
  const char* as_long = nullptr;
  if (state.has_fixed_sizes && state.vector().dims[0].evaluate(state.symbols) != state.dim) {
    as_long = "the gradient must be as long as the argument";
  } else if (is_logp && !state.has_fixed_sizes && state.spec.data.empty() && !state.may_be_as_long()) {
    as_long = "the gradient is never as long as the argument";
  }
  if (as_long != nullptr) {
    throw Error(ErrorCode::unsupported, {},
                str("no C function of the form ", flat_signature(state.spec.form), ": ", as_long));
  }
  void* const target =
      is_logp ? reinterpret_cast<void*>(&State::call_logp) : reinterpret_cast<void*>(&State::call_expand);
  state.trampoline = Trampoline(target, &state);
}

FlatFunction::~FlatFunction() = default;
FlatFunction::FlatFunction(FlatFunction&&) noexcept = default;

void* FlatFunction::address() const { return state_->trampoline.address(); }

std::optional<std::string> FlatFunction::last_error() const {
  const ForkGate::Inside inside;
  const std::lock_guard lock(state_->mutex);
  return state_->last_error;
}

}  // namespace inlay::runtime
