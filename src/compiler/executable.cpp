// The C++ interface: include/inlay/executable.h and compile.h over the compiler and the runtime.
#include "runtime/executable.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "compiler/compile.h"
#include "compiler/executable_state.h"
#include "compiler/strided.h"
#include "inlay/compile.h"
#include "runtime/bytes.h"
#include "runtime/host_result.h"
#include "runtime/result_place.h"
#include "runtime/type_of.h"
#include "support/counted.h"

namespace inlay {

namespace {

/// The bytes of a row-major ArrayRef or ArrayOut.
runtime::Bytes bytes_of(const auto& array) {
  int64_t bytes = size_bytes(array.dtype);
  for (int64_t dim : array.dims) bytes *= dim;
  const char* begin = static_cast<const char*>(array.data);
  return {begin, begin + bytes};
}

/// The caller's ArrayOuts for results.
class ArrayPlaces {
 public:
  ArrayPlaces(const ExecutableState& state, std::span<const ArrayRef> arguments, std::span<const ArrayOut> places)
      : state_(state), places_(places) {
    for (const ArrayRef& argument : arguments) given_.push_back(bytes_of(argument));
    some_are_late_ = std::ranges::any_of(state.executable.object().outputs,
                                         [](const runtime::TensorSpec& output) { return output.segment > 0; });
    if (places.size() != state.results.size()) {
      throw Error(ErrorCode::wrong_argument_count, {},
                  str("the function has ", counted(state.results.size(), "result"), ", but ",
                      counted(places.size(), "place"), " for them"));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].dtype != state.results[i].dtype) throw wrong(ErrorCode::wrong_dtype, i, state.results[i].dims);
      if (!places[i].strides.empty() && places[i].strides.size() != places[i].dims.size()) {
        throw Error(ErrorCode::wrong_rank, {},
                    str("the place for ", state.results[i].name, " has ", places[i].strides.size(), " strides for ",
                        places[i].dims.size(), " dims"));
      }
      require_address(
          ErrorCode::wrong_output, [&] { return str("the place for ", state.results[i].name); }, places[i].dims,
          places[i].data);
      if (!elements_are_apart(places[i])) {
        throw Error(ErrorCode::wrong_output, {},
                    str("elements of the place for ", state.results[i].name, " share bytes"));
      }
      for (std::size_t other = 0; other < i; ++other) {
        if (!meet(places[i], places[other])) continue;
        throw Error(ErrorCode::wrong_output, {},
                    str("the places for ", state.results[other].name, " and ", state.results[i].name, " share bytes"));
      }
    }
  }

  /// Returns where to write the result; null: elsewhere, to be copied here later. Throws Error(shape-mismatch).
  void* of(std::size_t slot, std::span<const int64_t> dims) const {
    if (!std::ranges::equal(places_[slot].dims, dims)) throw wrong(ErrorCode::shape_mismatch, slot, dims);
    if (!is_row_major(places_[slot].dims, places_[slot].strides)) return nullptr;
    const runtime::TensorSpec& result = state_.executable.object().outputs[slot];
    const runtime::Bytes* taken =
        result.taken_param < 0 ? nullptr : &given_[static_cast<std::size_t>(result.taken_param)];
    if (why_not_written_at(bytes_of(places_[slot]), result, given_, taken, some_are_late_)) return nullptr;
    return places_[slot].data;
  }

  void fill(std::size_t slot, const Array& result) const {
    const ArrayOut& place = places_[slot];
    if (!is_row_major(place.dims, place.strides)) return copy(result, place);
    const runtime::Bytes bytes = bytes_of(place);
    if (bytes.begin != bytes.end)
      std::memcpy(place.data, result.data(), static_cast<std::size_t>(bytes.end - bytes.begin));
  }

 private:
  template <class Dims>
  Error wrong(ErrorCode code, std::size_t slot, const Dims& dims) const {
    const TensorInfo& info = state_.results[slot];
    return {code,
            {},
            str("the place for ", info.name, " is ",
                runtime::type_text(dtype_name(places_[slot].dtype), places_[slot].dims), ", not ",
                runtime::type_text(dtype_name(info.dtype), dims))};
  }

  const ExecutableState& state_;
  std::span<const ArrayOut> places_;
  std::vector<runtime::Bytes> given_;  // of the arguments
  bool some_are_late_ = false;
};

/// Memory for results, and the caller's functions. One for each call.
class CallHost final : public runtime::Host {
 public:
  explicit CallHost(const ExecutableState& state, const ArrayPlaces* places = nullptr)
      : state_(state), places_(places), results_(state.results.size()), is_made_(state.results.size()) {}

  void* allocate_output(int slot, std::span<const int64_t> dims) override {
    const auto at = static_cast<std::size_t>(slot);
    if (void* place = places_ ? places_->of(at, dims) : nullptr) return place;
    is_made_[at] = true;
    try {
      results_[at] = Array(state_.results[at].dtype, {dims.begin(), dims.end()});
    } catch (const Error&) {
      return nullptr;
    }
    return results_[at].data();
  }

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override {
    try {
      call(spec_of(function), operands, operand_dims, results, result_dims);
      return INLAY_OK;
    } catch (const std::exception& exception) {
      const runtime::HostCallSpec& spec = spec_of(function);
      if (!failure_)
        failure_.emplace(ErrorCode::host_call_failed, spec.location, str(spec.name, ": ", exception.what()));
      return INLAY_HOST_CALL_FAILED;
    }
  }

  /// Why a host call failed.
  const std::optional<Error>& failure() const { return failure_; }
  /// May results be written to memory of the caller?
  bool writes_places() const { return places_ != nullptr; }
  std::vector<Array> take_results() { return std::move(results_); }
  void fill_places() const {
    for (std::size_t slot = 0; slot < results_.size(); ++slot) {
      if (is_made_[slot]) places_->fill(slot, results_[slot]);
    }
  }

 private:
  const runtime::HostCallSpec& spec_of(int function) const {
    const auto& specs = state_.executable.object().host_calls;
    const auto found = std::ranges::find(specs, function, &runtime::HostCallSpec::function);
    INLAY_CHECK(found != specs.end(), "no host call ", function);
    return *found;
  }

  void call(const runtime::HostCallSpec& spec, void* const* operands, const int64_t* operand_dims, void** results,
            int64_t* result_dims) {
    std::vector<ArrayRef> arguments;
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const auto rank = spec.operands[i].dims.size();
      arguments.emplace_back(runtime::dtype_of(spec.operands[i]),
                             std::vector<int64_t>(operand_dims, operand_dims + rank), operands[i]);
      operand_dims += rank;
    }
    std::vector<Array> made = state_.host_functions.at(static_cast<std::size_t>(spec.function))(arguments);
    if (made.size() != spec.results.size()) fail(runtime::wrong_host_results(spec, counted(made.size(), "result")));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto wrong = runtime::wrong_host_result(spec, i, dtype_name(made[i].dtype()), made[i].dims());
      if (wrong) fail(*wrong);
      results[i] = made[i].data();
      result_dims = std::ranges::copy(made[i].dims(), result_dims).out;
    }
    kept_[spec.function] = std::move(made);
  }

  [[noreturn]] void fail(const Error& error) {
    failure_ = error;
    throw Error(error);
  }

  const ExecutableState& state_;
  const ArrayPlaces* const places_;  // null: results are new arrays
  std::vector<Array> results_;
  std::vector<bool> is_made_;               // by result: is it one of `results_`?
  std::map<int, std::vector<Array>> kept_;  // by number, until the call comes again, as in the body of a loop
  std::optional<Error> failure_;
};

/// Checks the number of arguments, their dtypes and ranks; the runtime compares sizes.
std::vector<runtime::TensorRef> checked(const ExecutableState& state, std::span<const ArrayRef> arguments) {
  if (arguments.size() != state.params.size()) {
    const auto names = join(state.params, ", ", [](const TensorInfo& info) { return info.name; });
    throw Error(
        ErrorCode::wrong_argument_count, {},
        str("the function takes ", counted(state.params.size(), "argument"), " (", names, "), not ", arguments.size()));
  }
  std::vector<runtime::TensorRef> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorInfo& info = state.params[i];
    const bool same_dtype = arguments[i].dtype == info.dtype;
    if (!same_dtype || arguments[i].dims.size() != info.dims.size()) {
      throw Error(
          same_dtype ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype, {},
          str("argument ", info.name, " is ", runtime::type_text(dtype_name(arguments[i].dtype), arguments[i].dims),
              ", not ", runtime::type_text(dtype_name(info.dtype), info.dims)));
    }
    out.push_back({const_cast<void*>(arguments[i].data), arguments[i].dims.data()});  // never written
  }
  return out;
}

}  // namespace

Options options_of(const CompileOptions& from) {
  Options out;
  out.may_share = from.may_share;
  out.planning.custom = from.custom_planner;
  out.planning.upper_bounds.assign(from.upper_bounds.begin(), from.upper_bounds.end());
  out.rewrite.single_precision = from.single_precision;
  if (from.keep_every_bit) out.rewrite.farthest = Close::bitwise;
  if (!from.backend.empty()) out.backend = from.backend;
  out.cpu_features = from.cpu;
  if (!from.planner.empty()) out.planning.planner = memory::planner_named(from.planner, "planner");
  if (!from.order.empty()) out.order = memory::step_order_named(from.order, "order");
  if (!from.dump_directory.empty()) out.dump_directory = from.dump_directory;
  out.verify = out.verify || from.verify;
  if (from.threads < 1) {
    throw Error(ErrorCode::unsupported, {}, str("a call runs on 1 thread at least, not on ", from.threads));
  }
  out.threads = from.threads;
  return out;
}

Executable compile(const Graph& graph, const CompileOptions& options) {
  Program program = compile_program(graph, options_of(options));
  runtime::Executable code = std::move(program.executable);
  return Executable(state_of(std::move(code), options.host_functions,
                             std::make_shared<const EmittedProgram>(std::move(program)), nullptr));
}

const std::vector<TensorInfo>& Executable::params() const { return state_->params; }
const std::vector<TensorInfo>& Executable::results() const { return state_->results; }

namespace {

/// Instead of donated arguments that code may overwrite with what is no result, copies, which are returned: the
/// caller's stay as they are, and may be given for other parameters too. (Where a result takes the bytes of one, the
/// runtime moves them there first.)
std::vector<Array> spare_donated(const runtime::Object& object, std::span<const ArrayRef> arguments,
                                 std::span<runtime::TensorRef> params) {
  std::vector<Array> copies;
  for (std::size_t slot = 0; slot < params.size(); ++slot) {
    const bool is_result = std::ranges::any_of(object.outputs, [&](const runtime::TensorSpec& output) {
      return output.taken_param == static_cast<int>(slot);
    });
    if (!object.params[slot].donated || is_result) continue;
    Array& copy = copies.emplace_back(arguments[slot].dtype, arguments[slot].dims);
    const runtime::Bytes bytes = bytes_of(arguments[slot]);
    if (bytes.begin != bytes.end)
      std::memcpy(copy.data(), bytes.begin, static_cast<std::size_t>(bytes.end - bytes.begin));
    params[slot].data = copy.data();
  }
  return copies;
}

void run(const ExecutableState& state, std::span<const ArrayRef> arguments, CallHost& host) {
  std::vector<runtime::TensorRef> params = checked(state, arguments);
  const std::vector<Array> copies = spare_donated(state.executable.object(), arguments, params);
  try {
    state.executable.call(params, host, {&stop_flag(), host.writes_places() ? &kNeverStop : &stop_flag()});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::host_call_failed && host.failure()) throw Error(*host.failure());
    throw;
  }
}

}  // namespace

std::vector<Array> Executable::operator()(std::span<const ArrayRef> arguments) const {
  const RowMajorArguments row_major(arguments);
  CallHost host(*state_);
  run(*state_, row_major.get(), host);
  return host.take_results();
}

void Executable::into(std::span<const ArrayRef> arguments, std::span<const ArrayOut> results) const {
  const RowMajorArguments row_major(arguments);
  const ArrayPlaces places(*state_, row_major.get(), results);
  CallHost host(*state_, &places);
  run(*state_, row_major.get(), host);
  host.fill_places();
}

Executable::Call Executable::prepare(std::span<const ArrayRef> like) const {
  for (const runtime::TensorSpec& spec : state_->executable.object().outputs) {
    if (spec.segment == 0) continue;
    throw Error(ErrorCode::unsupported, {}, str("prepare: the size of ", spec.name, " is known only when it runs"));
  }
  for (const ArrayRef& argument : like) {
    if (is_row_major(argument.dims, argument.strides)) continue;
    throw Error(ErrorCode::unsupported, {}, "prepare: its calls take row-major arguments, and one here is strided")
        .help("call the function itself, which copies it");
  }
  Call out;
  out.state_ = state_;
  out.symbols_.assign(state_->executable.object().symbols.size(), -1);
  state_->executable.bind_symbols(checked(*state_, like), out.symbols_);
  for (std::size_t slot = 0; slot < state_->results.size(); ++slot) {
    std::vector<int64_t> dims(state_->results[slot].dims.size());
    state_->executable.output_dims(static_cast<int>(slot), out.symbols_, dims);
    out.result_dims_.push_back(std::move(dims));
  }
  return out;
}

void Executable::Call::operator()(const void* const* arguments, void* const* results) const {
  constexpr std::size_t kFew = 64;
  int64_t few_symbols[kFew];
  void* few_results[kFew];
  std::vector<int64_t> more_symbols;
  std::vector<void*> more_results;
  // The code writes symbols and results there, so each call has a copy.
  int64_t* symbols = few_symbols;
  void** outputs = few_results;
  if (symbols_.size() > kFew) symbols = (more_symbols.resize(symbols_.size()), more_symbols.data());
  if (result_dims_.size() > kFew) outputs = (more_results.resize(result_dims_.size()), more_results.data());
  std::ranges::copy(symbols_, symbols);
  std::copy_n(results, result_dims_.size(), outputs);
  CallHost* host = nullptr;
  std::optional<CallHost> own_host;
  if (!state_->executable.object().host_calls.empty()) host = &own_host.emplace(*state_);
  runtime::Executable::Failure failure;
  const int32_t code = state_->executable.run(arguments, outputs, symbols, host, failure, {&stop_flag(), &stop_flag()});
  if (code == INLAY_OK) return;
  if (code == INLAY_HOST_CALL_FAILED && host && host->failure()) throw Error(*host->failure());
  throw state_->executable.error_of(code, failure);
}

}  // namespace inlay
