#include "runtime/executable.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/arena.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"
#include "runtime/type_of.h"
#include "support/counted.h"
#include "support/float_environment.h"

namespace inlay::runtime {
namespace {

/// The rule for one dim of a parameter.
struct DimRule {
  enum class Kind : uint8_t { binds, equals_symbol, equals_constant, equals_expression };
  Kind kind = Kind::binds;
  int param = 0, axis = 0;
  int64_t number = 0;  // the symbol, or the constant
};

std::vector<DimRule> dim_rules(const Object& object) {
  std::vector<DimRule> rules, checks;
  for (std::size_t s = 0; s < object.symbols.size(); ++s) {
    const SymbolSpec& symbol = object.symbols[s];
    if (symbol.param < 0) continue;
    INLAY_CHECK(static_cast<std::size_t>(symbol.param) < object.params.size() &&
                    static_cast<std::size_t>(symbol.axis) < object.params[symbol.param].dims.size(),
                "symbol ", symbol.name, " is bound by a dim that is not there");
    rules.push_back({DimRule::Kind::binds, symbol.param, symbol.axis, static_cast<int64_t>(s)});
  }
  const auto binds = [&](int param, int axis) {
    return std::ranges::any_of(rules, [&](const DimRule& r) { return r.param == param && r.axis == axis; });
  };
  for (int p = 0; p < static_cast<int>(object.params.size()); ++p) {
    for (int axis = 0; axis < static_cast<int>(object.params[p].dims.size()); ++axis) {
      const std::vector<SizeItem>& items = object.params[p].dims[axis].items;
      if (items.size() == 1 && items[0].kind == SizeItem::Kind::constant) {
        checks.push_back({DimRule::Kind::equals_constant, p, axis, items[0].number});
      } else if (items.size() != 1) {
        checks.push_back({DimRule::Kind::equals_expression, p, axis, 0});
      } else if (!binds(p, axis)) {
        checks.push_back({DimRule::Kind::equals_symbol, p, axis, items[0].number});
      }
    }
  }
  rules.insert(rules.end(), checks.begin(), checks.end());
  return rules;
}

std::string dim_text(const TensorSpec& spec, int axis) {
  return static_cast<std::size_t>(axis) < spec.dim_texts.size() ? spec.dim_texts[axis] : "its size";
}

std::string binder_text(const Object& object, const SymbolSpec& symbol) {
  if (symbol.param < 0) return "found on the way";
  return str("bound by dim ", symbol.axis, " of ", object.params[symbol.param].name);
}

[[noreturn]] void broken(const DimRule& rule, const Object& object, int64_t is, int64_t must_be,
                         std::span<const int64_t> symbols) {
  const TensorSpec& spec = object.params[rule.param];
  if (rule.kind == DimRule::Kind::equals_constant) throw wrong_dim(spec.name, rule.axis, is, must_be);
  const std::string found = str(spec.name, ": dim ", rule.axis, " is ", is);
  const auto error = [](std::string message) { return Error(ErrorCode::shape_mismatch, {}, std::move(message)); };
  if (rule.kind == DimRule::Kind::equals_symbol) {
    const SymbolSpec& symbol = object.symbols[rule.number];
    throw error(str(found, ", but ", symbol.name, " is ", must_be, ", ", binder_text(object, symbol)));
  }
  Error out = error(str(found, ", but ", dim_text(spec, rule.axis), " is ", must_be));
  std::vector<int64_t> named;
  for (const SizeItem& item : spec.dims[rule.axis].items) {
    if (item.kind != SizeItem::Kind::symbol || std::ranges::count(named, item.number)) continue;
    named.push_back(item.number);
    const SymbolSpec& symbol = object.symbols[item.number];
    out = std::move(out).note(symbol.name, str("is ", symbols[item.number], ", ", binder_text(object, symbol)));
  }
  throw out;
}

}  // namespace

void check_facts(const TensorSpec& param, const TensorRef& argument) {
  if (param.facts == Facts()) return;
  int64_t count = 1;
  for (std::size_t axis = 0; axis < param.dims.size(); ++axis) count *= argument.dims[axis];
  check_facts(param.facts, dtype_of(param), argument.data, count, str("%", param.name));
}

struct Executable::Impl {
  Object object;
  LoadedCode code;
  InlayEntry entry = nullptr;
  LayoutFunction layout;
  std::vector<DimRule> dim_rules;
  std::size_t num_segments = 1;
  int64_t arena_bytes = 0;    // of a plain program
  bool has_bounds = false;    // has a symbol an upper bound?
  bool takes_params = false;  // does an output have the bytes of a donated parameter?
  bool is_plain = false;      // one static arena, no host calls: it never calls back

  int32_t run_on(void* arena, InlayCall& call, Failure& failure) const;
  int32_t run_on_stack(InlayCall& call, Failure& failure) const;
  int32_t run_with_host(const Executable& executable, InlayCall& call, Host* host, Failure& failure) const;
};

namespace {

int32_t finish(const InlayCall& call, int32_t code, Executable::Failure& failure) {
  if (code != INLAY_OK) {
    failure.site = call.failure_site;
    std::copy(std::begin(call.failure_numbers), std::end(call.failure_numbers), failure.numbers.begin());
  }
  return code;
}

int32_t no_segment(InlayCall*, int32_t) { return INLAY_OUT_OF_MEMORY; }

int32_t no_host(InlayCall*, int32_t, void* const*, const int64_t*, void**, int64_t*) { return INLAY_HOST_CALL_FAILED; }

/// For a call whose `host` is a Host.
int32_t ask_host(InlayCall* call) {
  return call->host ? static_cast<Host*>(call->host)->interrupted() : int32_t{INLAY_INTERRUPTED};
}

InlayCall make_call(const void* const* params, void** outputs, int64_t* symbols, Host* host, const StopFlags& flags) {
  InlayCall call{};
  call.params = params;
  call.outputs = outputs;
  call.symbols = symbols;
  call.begin_segment = no_segment;
  call.host_call = no_host;
  call.host = host;
  call.failure_site = -1;
  call.stop = reinterpret_cast<const int32_t*>(flags.stop);
  call.stop_while_writing = reinterpret_cast<const int32_t*>(flags.while_writing);
  call.interrupted = ask_host;
  return call;
}

}  // namespace

int32_t Executable::Impl::run_on(void* arena, InlayCall& call, Failure& failure) const {
  void* segments[1] = {arena};
  call.segments = segments;
  return finish(call, entry(&call), failure);
}

// A separate function, so that only calls with an arena pay for a frame that holds one.
[[gnu::noinline]] int32_t Executable::Impl::run_on_stack(InlayCall& call, Failure& failure) const {
  alignas(kArenaAlignment) std::byte arena[kStackArenaBytes];
  return run_on(arena, call, failure);
}

namespace {

/// A call with callbacks: late sizes, host calls.
struct Run {
  const Object& object;
  const LayoutFunction& layout;
  const Executable& executable;
  Host* host;
  std::span<ArenaBlock> blocks;
  std::span<int64_t> offsets;
  std::span<const int64_t> symbols;
  bool has_bounds;
  Executable::Failure& failure;
};

int64_t segment_bytes(const Run& run, int segment) {
  if (!run.object.arena.is_static) return run.layout(segment, run.symbols, run.offsets);
  return run.object.arena.segment_bytes.empty() ? 0 : run.object.arena.segment_bytes[segment];
}

/// The error that there is no memory for the block of a segment, with the largest storages in it.
Error no_arena(const Object& object, int segment, int64_t bytes, std::span<const int64_t> symbols) {
  std::vector<std::pair<int64_t, std::string>> largest;
  for (const ArenaSpec::Storage& storage : object.arena.storages) {
    if (storage.segment == segment) largest.emplace_back(storage.bytes.evaluate(symbols), storage.name);
  }
  std::ranges::stable_sort(largest, std::ranges::greater(), &std::pair<int64_t, std::string>::first);
  Error out(ErrorCode::out_of_memory, {}, str("no memory for the arena of ", bytes, " bytes"));
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < std::min(largest.size(), kNamed); ++i) {
    out = std::move(out).note(largest[i].second, str(largest[i].first, " bytes"));
  }
  return out;
}

Error no_output(const Object& object, int slot, std::span<const int64_t> dims) {
  const TensorSpec& spec = object.outputs[static_cast<std::size_t>(slot)];
  return {ErrorCode::out_of_memory,
          {},
          str("no memory for result ", slot, ", ", spec.name, ": ", spec.dtype, "[", join(dims, ", "), "]")};
}

void allocate_outputs(const Executable& executable, const Object& object, int segment, std::span<const int64_t> symbols,
                      Host& host, void** outputs) {
  for (int slot = 0; slot < static_cast<int>(object.outputs.size()); ++slot) {
    const TensorSpec& spec = object.outputs[slot];
    if (spec.segment != segment || spec.dtype == "opaque") continue;
    Scratch<int64_t, 8> dims(spec.dims.size());
    executable.output_dims(slot, symbols, dims.span());
    outputs[slot] = host.allocate_output(slot, dims.span());
    if (!outputs[slot]) throw no_output(object, slot, dims.span());
  }
}

/// Returns INLAY_OK, or the code for a size larger than its bound. Sizes that are not known yet are skipped.
int32_t within_bounds(const Object& object, const int64_t* symbols, std::span<int64_t, 4> numbers) {
  for (std::size_t s = 0; s < object.symbols.size(); ++s) {
    const int64_t bound = object.symbols[s].upper_bound;
    if (bound < 0 || symbols[s] <= bound) continue;
    numbers[0] = static_cast<int64_t>(s);
    numbers[1] = symbols[s];
    numbers[2] = bound;
    return INLAY_BEYOND_UPPER_BOUND;
  }
  return INLAY_OK;
}

// The boundary between machine code and C++: no exception may cross it. `kept` receives the exception.
template <class Body>
int32_t as_code(int32_t code_of_exception, std::exception_ptr* kept, const Body& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::size_overflow) return INLAY_SIZE_OVERFLOW;
    if (kept) *kept = std::current_exception();
  } catch (const std::bad_alloc&) {
    return code_of_exception;
  } catch (...) {
    if (kept) *kept = std::current_exception();
  }
  return code_of_exception;
}

int32_t begin_segment(InlayCall* call, int32_t segment) {
  const Run& run = *static_cast<Run*>(call->host);
  return as_code(INLAY_OUT_OF_MEMORY, &run.failure.exception, [&]() -> int32_t {
    if (segment <= 0 || static_cast<std::size_t>(segment) >= run.blocks.size()) return INLAY_OUT_OF_MEMORY;
    if (run.has_bounds) {
      const int32_t code = within_bounds(run.object, call->symbols, call->failure_numbers);
      if (code != INLAY_OK) return code;
    }
    const int64_t bytes = segment_bytes(run, segment);
    run.blocks[segment] = ArenaBlock();  // from the previous iteration, if a loop finds the sizes
    run.blocks[segment] = ArenaBlock::borrow(bytes);
    call->segments[segment] = run.blocks[segment].data();
    if (!call->segments[segment]) throw no_arena(run.object, segment, bytes, run.symbols);
    if (run.host) allocate_outputs(run.executable, run.object, segment, run.symbols, *run.host, call->outputs);
    return INLAY_OK;
  });
}

int32_t host_call(InlayCall* call, int32_t function, void* const* operands, const int64_t* operand_dims, void** results,
                  int64_t* result_dims) {
  return as_code(INLAY_HOST_CALL_FAILED, nullptr, [&]() -> int32_t {
    const Run& run = *static_cast<Run*>(call->host);
    if (!run.host) return INLAY_HOST_CALL_FAILED;
    return run.host->host_call(function, operands, operand_dims, results, result_dims);
  });
}

int32_t interrupted(InlayCall* call) {
  const Run& run = *static_cast<Run*>(call->host);
  return run.host ? run.host->interrupted() : int32_t{INLAY_INTERRUPTED};
}

// The arena is not on the stack here: a host call may call the same program again, to any depth that its language
// allows.
int32_t run_asking(Run& run, InlayCall& call) {
  const int64_t bytes = segment_bytes(run, 0);
  run.blocks[0] = ArenaBlock::borrow(bytes);
  call.segments[0] = run.blocks[0].data();
  if (!call.segments[0]) throw no_arena(run.object, 0, bytes, run.symbols);
  return run.executable.entry()(&call);
}

}  // namespace

Executable::Executable(Object object, const Resolver& resolve, LayoutFunction layout) {
  auto impl = std::make_unique<Impl>();
  impl->object = std::move(object);
  const Object& o = impl->object;
  impl->code = load_elf(o.code, resolve);
  impl->entry = reinterpret_cast<InlayEntry>(impl->code.find(o.entry));
  if (!impl->entry) throw Error(ErrorCode::unknown_name, {}, str("the object has no entry ", o.entry));
  impl->layout = std::move(layout);
  impl->dim_rules = dim_rules(o);
  impl->num_segments = std::max<std::size_t>(o.arena.segment_bytes.size(), 1);
  INLAY_CHECK(o.arena.is_static || impl->layout, "a program whose sizes are found at run time needs a layout function");
  impl->has_bounds = std::ranges::any_of(o.symbols, [](const SymbolSpec& it) { return it.upper_bound >= 0; });
  impl->takes_params = std::ranges::any_of(o.outputs, [](const TensorSpec& it) { return it.taken_param >= 0; });
  impl->is_plain = o.arena.is_static && impl->num_segments == 1 && o.host_calls.empty();
  impl->arena_bytes = o.arena.segment_bytes.empty() ? 0 : o.arena.segment_bytes[0];
  impl_ = std::move(impl);
}

Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

void Executable::set_threads(int threads) {
  threads_ = threads;
  if (threads > 1) (void)max_threads();  // the pool is made, so that no call makes it
}

const Object& Executable::object() const { return impl_->object; }
InlayEntry Executable::entry() const { return impl_->entry; }

void Executable::bind_symbols(std::span<const TensorRef> params, std::span<int64_t> symbols) const {
  const Object& object = impl_->object;
  if (params.size() != object.params.size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("the function takes ", counted(object.params.size(), "argument"), ", not ", params.size()));
  }
  INLAY_CHECK(symbols.size() >= object.symbols.size(), symbols.size(), " places for ", object.symbols.size(),
              " symbols");
  for (const DimRule& rule : impl_->dim_rules) {
    const int64_t is = params[rule.param].dims[rule.axis];
    if (is < 0) {
      throw Error(ErrorCode::negative_size, {}, str(object.params[rule.param].name, ": dim ", rule.axis, " is ", is));
    }
    int64_t must_be = is;
    switch (rule.kind) {
      case DimRule::Kind::binds: symbols[rule.number] = is; break;
      case DimRule::Kind::equals_constant: must_be = rule.number; break;
      case DimRule::Kind::equals_symbol: must_be = symbols[rule.number]; break;
      case DimRule::Kind::equals_expression:
        must_be = object.params[rule.param].dims[rule.axis].evaluate(symbols);
        break;
    }
    if (is != must_be) broken(rule, object, is, must_be, symbols);
  }
  if (Failure failure; within_bounds(object, symbols.data(), failure.numbers) != INLAY_OK) {
    throw error_of(INLAY_BEYOND_UPPER_BOUND, failure);
  }
}

void Executable::output_dims(int slot, std::span<const int64_t> symbols, std::span<int64_t> dims) const {
  const TensorSpec& spec = impl_->object.outputs[slot];
  for (std::size_t d = 0; d < spec.dims.size(); ++d) dims[d] = std::max<int64_t>(spec.dims[d].evaluate(symbols), 0);
}

void Executable::call(std::span<const TensorRef> params, Host& host, const StopFlags& flags, int threads) const {
  const Object& object = impl_->object;
  Scratch<int64_t, 32> symbols(object.symbols.size());
  bind_symbols(params, symbols.span());
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (object.params[i].bound) check_facts(object.params[i], params[i]);
  }
  Scratch<const void*, 64> addresses(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) addresses[i] = params[i].data;
  Scratch<void*, 32> outputs(object.outputs.size());
  allocate_outputs(*this, object, 0, symbols.span(), host, outputs.data());
  Failure failure;
  const int32_t code = run(addresses.data(), outputs.data(), symbols.data(), &host, failure, flags, threads);
  if (code != INLAY_OK) throw error_of(code, failure);
}

namespace {

/// Copies a donated parameter to the output that takes its bytes, unless the caller passes both at one address.
void bring_params(const Executable& executable, const void* const* params, void** outputs,
                  const int64_t* symbols) noexcept {
  const Object& object = executable.object();
  for (std::size_t slot = 0; slot < object.outputs.size(); ++slot) {
    const TensorSpec& output = object.outputs[slot];
    if (output.taken_param < 0 || outputs[slot] == params[output.taken_param]) continue;
    const TensorSpec& param = object.params[static_cast<std::size_t>(output.taken_param)];
    int64_t bytes = param.element_bytes;
    for (const SizeExpr& dim : param.dims) bytes *= dim.evaluate({symbols, object.symbols.size()});
    std::memcpy(outputs[slot], params[output.taken_param], static_cast<std::size_t>(bytes));
  }
}

}  // namespace

int32_t Executable::run(const void* const* params, void** outputs, int64_t* symbols, Host* host, Failure& failure,
                        const StopFlags& flags, int threads, const CallersPool* callers) const noexcept {
  const DefaultFloatEnvironment environment;
  const Impl& impl = *impl_;
  if (impl.has_bounds) {
    const int32_t code = within_bounds(impl.object, symbols, failure.numbers);
    if (code != INLAY_OK) return code;
  }
  if (impl.takes_params) bring_params(*this, params, outputs, symbols);
  InlayCall call = make_call(params, outputs, symbols, host, flags);
  std::optional<PoolUse> pool;
  if (threads == 0) threads = threads_;
  if (callers) {
    call.pool = const_cast<CallersPool*>(callers);
    call.run_blocks = run_blocks_by_caller;
  } else if (threads > 1) {
    call.pool = &pool.emplace(threads);
    call.run_blocks = run_blocks;
  }
  if (!impl.is_plain) {
    return as_code(INLAY_OUT_OF_MEMORY, &failure.exception,
                   [&] { return impl.run_with_host(*this, call, host, failure); });
  }
  if (impl.arena_bytes == 0) return impl.run_on(nullptr, call, failure);
  if (impl.arena_bytes <= kStackArenaBytes) return impl.run_on_stack(call, failure);
  const ArenaBlock block = ArenaBlock::borrow(impl.arena_bytes);
  if (block.data()) return impl.run_on(block.data(), call, failure);
  return as_code(INLAY_OUT_OF_MEMORY, &failure.exception,
                 [&]() -> int32_t { throw no_arena(impl.object, 0, impl.arena_bytes, {}); });
}

int32_t Executable::Impl::run_with_host(const Executable& executable, InlayCall& call, Host* host,
                                        Failure& failure) const {
  Scratch<void*, 8> segments(num_segments);
  Scratch<ArenaBlock, 8> blocks(num_segments);
  Scratch<int64_t, 64> offsets(static_cast<std::size_t>(object.arena.num_storages));
  Run state{object,     layout, executable, host, blocks.span(), offsets.span(), {call.symbols, object.symbols.size()},
            has_bounds, failure};
  call.segments = segments.data();
  call.offsets = object.arena.is_static ? nullptr : offsets.data();
  call.begin_segment = begin_segment;
  call.host_call = host_call;
  call.interrupted = interrupted;
  call.host = &state;
  return finish(call, run_asking(state, call), failure);
}

Error Executable::error_of(int32_t code, const Failure& failure) const {
  const Object& object = impl_->object;
  if (failure.exception) std::rethrow_exception(failure.exception);
  if (code == INLAY_BEYOND_UPPER_BOUND) {
    const SymbolSpec& symbol = object.symbols[static_cast<std::size_t>(failure.numbers[0])];
    return Error(ErrorCode::upper_bound, {},
                 str(symbol.name, " is ", failure.numbers[1], ", ", binder_text(object, symbol),
                     ", but the program was compiled for at most ", failure.numbers[2]));
  }
  if (code == INLAY_INTERRUPTED) return Error(ErrorCode::interrupted, {}, "the call was interrupted");
  if (code == INLAY_HOST_CALL_FAILED) return Error(ErrorCode::host_call_failed, {}, "a host call failed");
  if (code == INLAY_SIZE_OVERFLOW) return Error(ErrorCode::size_overflow, {}, "a size does not fit in 64 bits");
  if (code == INLAY_OUT_OF_MEMORY)
    return Error(ErrorCode::out_of_memory, {}, "no memory for an output or for the call's own values");
  if (code != INLAY_FAILED_AT_SITE || failure.site < 0 ||
      static_cast<std::size_t>(failure.site) >= object.sites.size()) {
    return Error(ErrorCode::internal, {}, str("the compiled code failed with ", code, " at site ", failure.site));
  }
  const SiteSpec& site = object.sites[static_cast<std::size_t>(failure.site)];
  // The message of an assert is the user's own: its braces are not placeholders.
  std::string message =
      site.code == ErrorCode::assert_failed ? site.message : with_numbers(site.message, failure.numbers);
  return Error(Diagnostic{site.code, site.location, std::move(message), site.notes, {}});
}

}  // namespace inlay::runtime
