#include "runtime/flat_function.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace inlay::runtime {
namespace {

constexpr std::size_t kInlineSlots = 32;

bool all_finite(const double* values, std::size_t count) {
  // x - x is 0 for every finite x and NaN for the others: one sum, no branch in the loop.
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] - values[i];
  return sum == 0;
}

int64_t gradient_length(const FlatLogpSpec& spec, std::span<const int64_t> symbols) {
  return spec.executable->object().outputs[static_cast<std::size_t>(spec.grad_output)].dims[0].evaluate(symbols);
}

int run_with(const FlatLogpSpec& spec, int64_t dim, const void** params, int64_t* symbols, const double* x,
             double* grad, double* logp) {
  std::copy(spec.params.begin(), spec.params.end(), params);
  std::copy(spec.symbols.begin(), spec.symbols.end(), symbols);
  params[spec.x_param] = x;
  if (spec.x_symbol >= 0) {
    symbols[spec.x_symbol] = dim;
    if (gradient_length(spec, {symbols, spec.symbols.size()}) != dim) return kFlatWrongDim;
  }
  std::array<void*, 2> outputs;
  outputs[static_cast<std::size_t>(spec.logp_output)] = logp;
  outputs[static_cast<std::size_t>(spec.grad_output)] = grad;
  Executable::Failure failure;
  switch (spec.executable->run(params, outputs.data(), symbols, nullptr, failure)) {
    case INLAY_OK: break;
    case INLAY_SIZE_OVERFLOW:
    case INLAY_OUT_OF_MEMORY: return kFlatOutOfMemory;
    case INLAY_BEYOND_UPPER_BOUND: return kFlatWrongDim;
    default: return kFlatFailed;
  }
  if (!std::isfinite(*logp)) return kFlatLogpNotFinite;
  return all_finite(grad, static_cast<std::size_t>(dim)) ? kFlatOk : kFlatGradNotFinite;
}

int call_flat_logp(std::size_t dim, const double* x, double* grad, double* logp, const void* context) noexcept {
  const auto& spec = *static_cast<const FlatLogpSpec*>(context);
  const auto length = static_cast<int64_t>(dim);
  if (spec.x_symbol < 0 && length != spec.dim) return kFlatWrongDim;
  try {
    if (spec.params.size() <= kInlineSlots && spec.symbols.size() <= kInlineSlots) {
      const void* params[kInlineSlots];
      int64_t symbols[kInlineSlots];
      return run_with(spec, length, params, symbols, x, grad, logp);
    }
    std::vector<const void*> params(spec.params.size());
    std::vector<int64_t> symbols(spec.symbols.size());
    return run_with(spec, length, params.data(), symbols.data(), x, grad, logp);
  } catch (const std::bad_alloc&) {
    return kFlatOutOfMemory;
  } catch (...) {
    return kFlatWrongDim;  // a size that does not fit in 64 bits
  }
}

/// May the gradient be as long as the argument, for some length? A size that is followed from length to length ends
/// where it is its own; n - 1 and 2 * n never do.
bool may_be_as_long(const FlatLogpSpec& spec) {
  std::vector<int64_t> symbols = spec.symbols;
  for (int64_t length : {int64_t{1}, int64_t{2}, int64_t{1000003}}) {
    try {
      for (int i = 0; i < 64 && length > 0; ++i) {
        symbols[static_cast<std::size_t>(spec.x_symbol)] = length;
        const int64_t next = gradient_length(spec, symbols);
        if (next == length) return true;
        length = next;
      }
    } catch (const Error&) {
      // It grows beyond 64 bits.
    }
  }
  return false;
}

void require(bool holds, const char* what) {
  if (!holds) {
    throw Error(ErrorCode::unsupported, {}, str("no C function of the form ", kFlatLogpSignature, ": ", what));
  }
}

bool is_vector(const TensorSpec& spec) { return spec.dtype == "f64" && spec.dims.size() == 1; }

void check(const FlatLogpSpec& spec) {
  INLAY_CHECK(spec.executable, "a function of nothing");
  const Object& object = spec.executable->object();
  INLAY_CHECK(spec.params.size() == object.params.size() && spec.symbols.size() == object.symbols.size(),
              "an address for each parameter and a number for each symbol");
  require(object.host_calls.empty(), "it calls back into its host");
  require(object.outputs.size() == 2, "it must have two outputs, the log density and its gradient");
  require(spec.x_param >= 0 && static_cast<std::size_t>(spec.x_param) < object.params.size() &&
              is_vector(object.params[static_cast<std::size_t>(spec.x_param)]),
          "the argument must be one f64 vector");
  require((spec.logp_output == 0 && spec.grad_output == 1) || (spec.logp_output == 1 && spec.grad_output == 0),
          "its outputs are numbers 0 and 1");
  const TensorSpec& logp = object.outputs[static_cast<std::size_t>(spec.logp_output)];
  const TensorSpec& grad = object.outputs[static_cast<std::size_t>(spec.grad_output)];
  require(logp.dtype == "f64" && logp.dims.empty(), "the log density must be one f64");
  require(is_vector(grad), "the gradient must be one f64 vector");
  require(grad.segment == 0, "the length of the gradient must be known when it is called");
  INLAY_CHECK(spec.x_symbol < static_cast<int>(spec.symbols.size()), "there is no symbol ", spec.x_symbol);
  for (std::size_t p = 0; p < object.params.size(); ++p) {
    for (const SizeExpr& size : object.params[p].dims) {
      const bool mentions = std::ranges::any_of(size.items, [&](const SizeItem& item) {
        return item.kind == SizeItem::Kind::symbol && item.number == spec.x_symbol;
      });
      require(!mentions || p == static_cast<std::size_t>(spec.x_param), "another argument is as long as the vector");
    }
  }
  // Where the length is a symbol, each call compares.
  require(spec.x_symbol < 0 || may_be_as_long(spec), "the gradient is never as long as the argument");
  require(spec.x_symbol >= 0 || gradient_length(spec, spec.symbols) == spec.dim,
          "the gradient must be as long as the argument");
}

}  // namespace

FlatLogp::FlatLogp(FlatLogpSpec spec) {
  check(spec);
  spec_ = std::make_unique<const FlatLogpSpec>(std::move(spec));
  trampoline_ = Trampoline(reinterpret_cast<void*>(&call_flat_logp), spec_.get());
}

}  // namespace inlay::runtime
