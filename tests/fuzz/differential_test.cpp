// Random programs, every evaluator against the reference.
//
// A second long; INLAY_FUZZ_SECONDS=3600 makes it an hour. INLAY_FUZZ_SEED=17 runs the program that a failure named,
// first.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "compare.h"
#include "compiler/backends.h"
#include "host_functions.h"
#include "ir/text.h"
#include "ir/traits.h"
#include "ir/verify.h"
#include "judges.h"
#include "oracle/reference/evaluate.h"
#include "random_graph.h"
#include "seeds.h"

namespace inlay::fuzz {
namespace {

using reference::Tensor;

/// How far each output moves when every rounding on its way is made a little worse: |moved - plain|, by element.
///
/// Two right evaluators round differently (another order of a sum, another exp, a fused multiply-add), and what follows
/// may make that larger without bound: exp(x) - exp(y), a pole of tan. So the program itself says what it makes of
/// rounding.
class Sensitivity {
 public:
  Sensitivity(const Graph& graph, std::span<const Tensor> inputs, uint64_t seed)
      : random_(seed),
        graph_(graph),
        inputs_(inputs),
        functions_(tool::host_functions_of(graph)),
        plain_(reference::evaluate_all(graph, inputs, functions_)) {
    for (const Output& output : graph.outputs) moved_.push_back(Tensor::zeros(DType::f64, plain_[output.value].dims));
  }

  /// One more round: what moves by chance (a sign, a jump) moves in some of them.
  void shake() {
    is_odd_round_ = !is_odd_round_;
    const auto observer = [&](const Graph& graph, ValueId v, Tensor& value) { shake(graph, v, value); };
    try {
      const auto values = reference::evaluate_all(graph_, inputs_, functions_, observer);
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        const ValueId v = graph_.outputs[i].value;
        note(i, values[v], plain_[v]);
      }
    } catch (const Error&) {  // it is at the edge of failing: nothing can be said
      for (Tensor& moved : moved_) for_each(moved, [](double& m) { m = std::numeric_limits<double>::infinity(); });
    }
  }

  double operator()(std::size_t output, int64_t element) const { return moved_[output].get<double>(element); }

 private:
  template <class Body>
  static void for_each(Tensor& tensor, Body body) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      double value = tensor.get<double>(i);
      body(value);
      tensor.set(i, value);
    }
  }

  /// Is each state an element, or the place of one?
  static bool finds_an_element(Fold fold) {
    return std::ranges::all_of(facts(fold).states, [](const FoldState& state) {
      return state.combine == Combine::max || state.combine == Combine::min;
    });
  }

  /// The size and the direction of a complex number are rounded.
  static bool moves_elements_only(const Graph& graph, const Node& node) {
    switch (node.op) {
      case Op::scalar:
        if (node.scalar == ScalarOp::abs_ || node.scalar == ScalarOp::sign_) {
          return !is_complex(graph.type(node.operands[0]).dtype);
        }
        return node.scalar == ScalarOp::neg_ || node.scalar == ScalarOp::max_ || node.scalar == ScalarOp::min_ ||
               node.scalar == ScalarOp::select_ || node.scalar == ScalarOp::floor_ || node.scalar == ScalarOp::real_ ||
               node.scalar == ScalarOp::imag_ || node.scalar == ScalarOp::conj_ || node.scalar == ScalarOp::complex_ ||
               node.scalar == ScalarOp::ceil_ || node.scalar == ScalarOp::round_ || node.scalar == ScalarOp::trunc_;
      case Op::update:
      case Op::scatter:
      case Op::cumulative:
        return node.combine == Combine::set || node.combine == Combine::max || node.combine == Combine::min;
      case Op::reduce: return finds_an_element(node.fold);
      case Op::library: return node.library == LibraryOp::sort;
      case Op::cast: return false;
      default: return true;
    }
  }

  /// The maximum of 0.0 and -0.0 is either, and what divides by it an infinity of either sign.
  static bool has_zeros_of_either_sign(const Node& node) {
    if (node.op == Op::reduce) return finds_an_element(node.fold);
    if (node.op == Op::scalar) return node.scalar == ScalarOp::max_ || node.scalar == ScalarOp::min_;
    const bool combines = node.op == Op::update || node.op == Op::scatter || node.op == Op::cumulative;
    return combines && (node.combine == Combine::max || node.combine == Combine::min);
  }

  void shake(const Graph& graph, ValueId v, Tensor& value) {
    if (has_zeros_of_either_sign(*graph.node_of(v)) && is_float(value.dtype)) {
      for_each(value, [&](double& x) { x = x != 0 ? x : is_odd_round_ ? -0.0 : 0.0; });
    }
    if (moves_elements_only(graph, *graph.node_of(v)) || value.dtype == DType::opaque) return;
    const bool has_plain = &graph == &graph_ && plain_[v].dims == value.dims;  // a body has one for each turn
    const bool is_anything = has_plain && leaves_range(*graph.node_of(v), value.dtype);
    const bool overflows = is_matmul(*graph.node_of(v)) && (!has_plain || may_overflow(*graph.node_of(v)));
    const double maximum = graph.node_of(v)->op == Op::library ? maximum_of(value) : 0;
    const std::optional<Tensor> summed = has_plain ? what_is_summed(*graph.node_of(v)) : std::nullopt;
    visit_element_type(value.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (kIsFloating<T> || kIsComplex<T>) {
        for (int64_t i = 0; i < value.num_elements(); ++i) {
          const T x = value.get<T>(i);
          const bool unknown = has_plain && is_rounding_only(x, plain_[v].get<T>(i));
          const double own = size(computed(x));
          if (is_anything) {
            value.set(i, is_odd_round_ ? of_all_parts<T>(std::numeric_limits<double>::quiet_NaN()) : T());
            continue;
          }
          const T moved = shaken(x, summed && std::isfinite(own) ? summed->get<double>(i) : own == 0 ? maximum : own);
          value.set(i, unknown && random_() % 2 == 0 ? T() : overflows ? either_infinity(moved) : moved);
        }
      }
    });
  }

  static bool is_matmul(const Node& node) { return node.op == Op::library && node.library == LibraryOp::matmul; }

  /// Of each element of a product of matrices the sum of absolute values: what cancels there was rounded (of a square
  /// of 1e30 (1 + i) a part is 0, and 1e44 where one of its products is fused into the difference).
  std::optional<Tensor> what_is_summed(const Node& node) const {
    if (!is_matmul(node)) return std::nullopt;
    std::vector<Tensor> sizes;
    std::vector<std::string> params;
    for (ValueId operand : node.operands) {
      const Tensor& plain = plain_[operand];
      const std::vector<double> numbers = tool::numbers_of(plain);
      const std::size_t parts = is_complex(plain.dtype) ? 2 : 1;
      Tensor& to = sizes.emplace_back(Tensor::zeros(DType::f64, plain.dims));
      for (int64_t i = 0; i < to.num_elements(); ++i) {
        const auto first = static_cast<std::size_t>(i) * parts;
        const double size = std::hypot(numbers[first], parts == 2 ? numbers[first + 1] : 0.0);
        to.set(i, std::isfinite(size) ? size : 0.0);
      }
      params.push_back(
          str("%p", params.size(), ": f64[", join(plain.dims, ", ", [](int64_t n) { return str(n); }), "]"));
    }
    const Graph product =
        parse(str("graph @main(", params[0], ", ", params[1], ") {\n%s = matmul %p0, %p1\nreturn %s\n}"));
    return reference::evaluate(product, sizes, {})[0];
  }

  /// Has the product of matrices finite elements so large that what two of them give may be infinite? A sum with
  /// an infinity of the other sign is then NaN or not by its order, and by whether a product is fused into it.
  bool may_overflow(const Node& node) const {
    return std::ranges::any_of(node.operands, [&](ValueId operand) {
      const double large = real_of(plain_[operand].dtype) == DType::f32 ? 1e18 : 1e153;
      return std::ranges::any_of(tool::numbers_of(plain_[operand]),
                                 [&](double x) { return std::isfinite(x) && std::fabs(x) > large; });
    });
  }

  /// May a product of many numbers become infinite or 0 on its way in one order, and stay in range in another? Then it
  /// is anything: infinity times 0 is NaN, and what 0 came to first is 0.
  bool leaves_range(const Node& node, DType dtype) const {
    const bool is_product = reduces_by(node, Fold::mul) || (node.op == Op::cumulative && node.combine == Combine::mul);
    if (!is_product) return false;
    double above_one = 0, below_one = 0;  // powers of 2
    for (double x : tool::numbers_of(plain_[node.operands[0]])) {
      const double power = x != 0 && std::isfinite(x) ? std::log2(std::fabs(x)) : 0;
      (power > 0 ? above_one : below_one) += power;
    }
    const double range = real_of(dtype) == DType::f64 ? 1022 : 126;
    return above_one > range || below_one < -range;
  }

  template <class T>
  T either_infinity(T x) const {
    if (std::isfinite(size(computed(x)))) return x;
    return of_all_parts<T>(is_odd_round_ ? std::numeric_limits<double>::quiet_NaN()
                                         : std::numeric_limits<double>::infinity());
  }

  template <class T>
  static T of_all_parts(double x) {
    if constexpr (kIsComplex<T>) {
      using Part = typename T::value_type;
      return T(static_cast<Part>(x), static_cast<Part>(x));
    } else {
      return stored<T>(x);
    }
  }

  /// Has all that is left of a sum cancelled, so that another order may well find 0?
  template <class T>
  static bool is_rounding_only(T x, T plain) {
    return size(computed(x) - computed(plain)) > 0.5 * size(computed(plain));
  }
  template <class T>
  static double size(T x) {
    if constexpr (kIsComplex<T>) {
      return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
    } else {
      return std::fabs(static_cast<double>(x));
    }
  }

  static double maximum_of(const Tensor& value) {
    double maximum = 0;
    for (double x : tool::numbers_of(value)) maximum = std::isfinite(x) ? std::max(maximum, std::fabs(x)) : maximum;
    return maximum;
  }

  /// By some units in the last place of a number of size `of`: of its own (each part of a complex number by units of
  /// the whole, as a product rounds it); a 0 in a matrix of the largest there, as the off-diagonal of solve(a, a).
  template <class T>
  T shaken(T x, double of) {
    if constexpr (kIsComplex<T>) {
      using R = typename T::value_type;
      constexpr R kNaN = std::numeric_limits<R>::quiet_NaN();
      const double unit = of * static_cast<double>(std::numeric_limits<R>::epsilon());
      if (!std::isfinite(unit)) {  // which part is inf is chance; BLAS often leaves none
        const bool is_nan = is_odd_round_ || random_() % 2 == 0;
        return is_nan ? T(kNaN, kNaN) : x;
      }
      const R re = static_cast<R>(static_cast<double>(x.real()) + some() * unit);
      return T(re, static_cast<R>(static_cast<double>(x.imag()) + some() * unit));
    } else {
      constexpr double kUnit = std::is_same_v<T, Half> ? 0x1p-10
                               : std::is_same_v<T, BFloat16>
                                   ? 0x1p-7
                                   : static_cast<double>(std::numeric_limits<Computed<T>>::epsilon());
      const auto plain = static_cast<double>(computed(x));
      const double unit = of * kUnit;
      return std::isfinite(plain) ? stored<T>(plain + some() * unit) : x;
    }
  }
  /// Never 0: each element moves in each round.
  double some() {
    std::uniform_int_distribution<int> units(1, 4);
    return random_() % 2 == 0 ? units(random_) : -units(random_);
  }

  void note(std::size_t i, const Tensor& found, const Tensor& plain) {
    if (found.dims != plain.dims || plain.dtype == DType::opaque) return;
    if (!is_float(plain.dtype) && !is_complex(plain.dtype)) return;
    const std::vector<double> f = tool::numbers_of(found), p = tool::numbers_of(plain);
    const std::size_t parts = is_complex(plain.dtype) ? 2 : 1;
    for (std::size_t k = 0; k < p.size(); ++k) {
      const auto e = static_cast<int64_t>(k / parts);
      moved_[i].set(e, std::max(moved_[i].get<double>(e), apart(f[k], p[k])));
    }
  }
  static double apart(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return 0;
    if (a == b) return 0;
    return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : std::numeric_limits<double>::infinity();
  }

  tool::Random random_;
  bool is_odd_round_ = false;  // what is chance comes out one way: every infinity is NaN, every zero is -0.0
  const Graph& graph_;
  std::span<const Tensor> inputs_;
  std::vector<reference::HostFunction> functions_;
  IdMap<ValueId, Tensor> plain_;
  std::vector<Tensor> moved_;
};

void copy_element(Tensor& to, const Tensor& from, std::size_t i) {
  const auto at = static_cast<int64_t>(i);
  std::memcpy(to.element(at), from.element(at), static_cast<std::size_t>(size_bytes(to.dtype)));
}

/// The elements of `found` that differ by no more than the program's own rounding, taken from the reference.
void forgive(Tensor& found, const Tensor& wanted, std::size_t output, const Sensitivity& sensitivity) {
  if (!is_float(wanted.dtype) && !is_complex(wanted.dtype)) return;
  const std::vector<double> f = tool::numbers_of(found), w = tool::numbers_of(wanted);
  const std::size_t parts = is_complex(wanted.dtype) ? 2 : 1;
  // A few shakes seldom meet the worst one, and a sum in another order rounds as often as it has terms; a defect moves
  // a number by its own size, which is 1e15 roundings of f64 and 1e7 of f32. Evaluators round half precision alike, but
  // for double rounding.
  const double factor = is_half(wanted.dtype) ? 8 : 1e4;
  for (std::size_t i = 0; i * parts < w.size(); ++i) {
    const double allowed = factor * sensitivity(output, static_cast<int64_t>(i));
    bool near = true;
    for (std::size_t k = i * parts; k < (i + 1) * parts; ++k) near = near && std::fabs(f[k] - w[k]) <= allowed;
    if (std::isinf(allowed) || near) copy_element(found, wanted, i);
  }
}

/// May a result be finite where the reference is not?
enum class Finite : uint8_t { as_wanted, may_be_more };

void forgive_finite(Tensor& found, const Tensor& wanted) {
  if (!is_float(wanted.dtype) && !is_complex(wanted.dtype)) return;
  const std::vector<double> f = tool::numbers_of(found), w = tool::numbers_of(wanted);
  const std::size_t parts = is_complex(wanted.dtype) ? 2 : 1;
  const auto finite = [&](const std::vector<double>& numbers, std::size_t i) {
    return std::isfinite(numbers[i * parts]) && std::isfinite(numbers[(i + 1) * parts - 1]);
  };
  for (std::size_t i = 0; i * parts < w.size(); ++i) {
    if (finite(f, i) && !finite(w, i)) copy_element(found, wanted, i);
  }
}

struct Outcome {
  std::vector<Tensor> outputs;
  std::optional<ErrorCode> error;
  std::string text;

  /// Of several mistakes in one call one is reported.
  void same_mistake_as(const Outcome& other) {
    if (error && other.error && *error != ErrorCode::internal) error = other.error;
  }
};

/// Puts an element out of bounds into one of the arrays that index something; false: there is none.
bool mislead(const Graph& graph, std::vector<Tensor>& inputs, tool::Random& random) {
  const std::vector<std::size_t> params = tool::index_params(graph);
  if (params.empty()) return false;
  Tensor& array = inputs[params[random() % params.size()]];
  if (array.num_elements() == 0) return false;
  const auto place = static_cast<int64_t>(random() % static_cast<uint64_t>(array.num_elements()));
  visit_element_type(array.dtype, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)>) array.set(place, static_cast<decltype(zero)>(100));
  });
  return true;
}

Outcome run(const tool::Judge& judge, std::span<const Tensor> inputs) {
  try {
    return {judge.run(inputs), std::nullopt, ""};
  } catch (const Error& error) {
    return {{}, error.code(), error.what()};
  }
}

/// Rounds of shaking after which a difference is no rounding; most need one.
constexpr int kMostRounds = 20;

/// What two outcomes differ in, or nothing.
std::string disagreement(const Graph& graph, std::span<const Tensor> inputs, const Outcome& wanted, Outcome found,
                         uint64_t seed, Finite finite) {
  if (wanted.error || found.error) {
    if (wanted.error == found.error) return "";
    return str("the reference ", wanted.error ? "fails: " + wanted.text : "does not fail",
               ", and this: ", found.error ? found.text : "does not");
  }
  std::optional<Sensitivity> sensitivity;
  for (std::size_t i = 0; i < wanted.outputs.size(); ++i) {
    if (!tool::difference(found.outputs[i], wanted.outputs[i])) continue;
    if (found.outputs[i].dims == wanted.outputs[i].dims && found.outputs[i].dtype == wanted.outputs[i].dtype) {
      if (finite == Finite::may_be_more) forgive_finite(found.outputs[i], wanted.outputs[i]);
      if (!sensitivity) sensitivity.emplace(graph, inputs, seed);
      for (int round = 0; round < kMostRounds && tool::difference(found.outputs[i], wanted.outputs[i]); ++round) {
        sensitivity->shake();
        forgive(found.outputs[i], wanted.outputs[i], i, *sensitivity);
      }
    }
    if (const auto differs = tool::difference(found.outputs[i], wanted.outputs[i]))
      return str("output ", i, ": ", *differs);
  }
  return "";
}

std::string inputs_text(const Graph& graph, std::span<const Tensor> inputs) {
  std::string out;
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    out += str("\n  ", graph.value_text(graph.params[p].value), " = ", tool::tensor_text(inputs[p], 200));
  }
  return out;
}

/// Mostly the defaults; sometimes nothing fused, no rounding changed, an older CPU.
Options any_options(tool::Random& random) {
  Options options;
  options.fuse = std::array{fuse::Mode::none, fuse::Mode::greedy, fuse::Mode::full, fuse::Mode::full}[random() % 4];
  options.planning.planner = std::array{memory::Planner::naive, memory::Planner::search, memory::Planner::max,
                                        memory::Planner::greedy}[random() % 4];
  if (random() % 4 == 0) options.order = memory::StepOrder::given;
  options.tile_of_columns = std::array<int64_t, 4>{0, 2, 4, 16}[random() % 4];
  if (random() % 4 == 0) options.rewrite.farthest = Close::bitwise;
#if !defined(__aarch64__)  // which has one level
  const auto level = random() % 8;
  const bool is_chosen = level % 4 == 0 && backend_of(options).chooses_cpu.empty();
  if (is_chosen) options.cpu_features = level == 0 ? "-sse3" : "-avx512f";
#endif
  return options;
}

std::string options_text(const Options& options) {
  return str("\n  fuse ", fuse::mode_name(options.fuse), ", planner ", memory::planner_name(options.planning.planner),
             ", order ", memory::kStepOrderNames[static_cast<std::size_t>(options.order)], ", rewriting ",
             options.rewrite.farthest == Close::bitwise ? "bitwise" : "better", ", features \"", options.cpu_features,
             "\", tiles of ", options.tile_of_columns);
}

/// A value that is stored and of which `explain` does not say why.
std::string unexplained(const Lowered& program) {
  for (const kernel::Buffer& buffer : program.kernels.buffers) {
    const bool is_stored = buffer.role == kernel::Role::temporary && !buffer.view_of.valid();
    if (is_stored && buffer.stored.why == kernel::StoredFor::unsaid) return str("why is ", buffer.name, " stored?");
  }
  program.apart();  // it finds its way through whatever there is
  return "";
}

int64_t minimum_bytes(const Lowered& program, std::span<const int64_t> sizes, int64_t& rounding) {
  int64_t total = 0;
  rounding = 0;
  for (int segment = 0; segment < program.plan.sharing.num_segments(); ++segment) {
    const std::vector<memory::Storage> storages = memory::storages_of_segment(program.plan.sharing, segment, sizes);
    total += memory::lower_bound_bytes(storages);
    if (!program.plan.is_static) rounding += 64 * static_cast<int64_t>(storages.size());
  }
  return total;
}

/// What runs in another order than the given one must not need more memory.
std::string larger_than_given(const Graph& graph, const Lowered& ordered, Options options,
                              std::span<const Tensor> inputs) {
  if (ordered.order_gain.empty()) return "";
  options.order = memory::StepOrder::given;
  const Lowered given = lower(graph, options);
  std::vector<int64_t> sizes = reference::bind_symbols(graph, inputs);
  sizes.resize(given.kernels.symbols.size(), 5);
  for (int64_t& size : sizes) size = size < 0 ? 5 : size;  // known only on the way
  int64_t rounding = 0;
  const int64_t now = minimum_bytes(ordered, sizes, rounding), before = minimum_bytes(given, sizes, rounding);
  if (now > before + rounding) return str("another order needs ", now, " bytes, the given one ", before);
  if (ordered.plan.is_static && given.plan.is_static && options.planning.planner != memory::Planner::naive &&
      ordered.plan.arena_bytes() >= given.plan.arena_bytes()) {
    return str("another order saves nothing: ", ordered.plan.arena_bytes(), " bytes");
  }
  return "";
}

/// The share of programs that the C backend runs too: a call of the C compiler takes longer than all else.
constexpr uint64_t kByC = 16;

bool runs_by_c_too(uint64_t seed, const Options& options) {
  return seed % kByC == 0 && backend_of(options).name != "c" && backend_named("c").is_available();
}

/// One program; everything wrong with it.
std::string check_program(uint64_t seed) {
  tool::Random random(seed);
  const RandomGraphOptions graph_options{.elements = random() % 4 == 0 ? tool::Elements::nasty : tool::Elements::plain};
  RandomGraph made;
  try {
    made = random_graph(random, graph_options);
  } catch (const Error& error) {
    return str("seed ", seed, ": the generator: ", error.what());
  }
  const std::string text = print(made.graph);
  const auto failed = [&](const std::string& what, const std::string& more = "") {
    return str("seed ", seed, ": ", what, "\n", text, more);
  };
  try {
    for (const Diagnostic& diagnostic : verify(made.graph)) return failed(diagnostic.to_text());
    if (print(parse(text)) != text) return failed(str("printed again:\n", print(parse(text))));
    std::vector<Tensor> inputs = tool::random_inputs(made.graph, made.given, random, graph_options.elements);
    const bool is_misled = random() % 5 == 0 && mislead(made.graph, inputs, random);
    const std::vector<Tensor> before = inputs;
    const Options options = any_options(random);
    const tool::Judges judges = tool::make_judges(made.graph, options);
    if (const std::string what = unexplained(*judges.program); !what.empty())
      return failed(what, options_text(options));
    if (const std::string what = larger_than_given(made.graph, *judges.program, options, inputs); !what.empty())
      return failed(what, options_text(options));
    // Rewriting may make a result better: finite where the program as written overflows. So it is judged against the
    // graph as written, and all that follows against the rewritten graph, strictly.
    const Graph* judged = &made.graph;
    Outcome wanted = run(judges.list[0], inputs);
    Finite finite = options.rewrite.farthest == Close::bitwise ? Finite::as_wanted : Finite::may_be_more;
    for (const tool::Judge& judge : std::span(judges.list).subspan(1)) {
      Outcome found = run(judge, inputs);
      if (is_misled) found.same_mistake_as(wanted);
      // What nothing needs cannot fail any more.
      const bool drops_error = judge.name == "rewritten" && wanted.error && !found.error;
      const std::string differs = drops_error ? "" : disagreement(*judged, inputs, wanted, found, seed, finite);
      if (!differs.empty())
        return failed(str(judge.name, ": ", differs), options_text(options) + inputs_text(made.graph, inputs));
      if (before != inputs) return failed(str(judge.name, ": an argument was changed"));
      if (judge.name != "rewritten") continue;
      judged = &judges.program->graph;
      wanted = std::move(found);
      finite = Finite::as_wanted;
    }
    if (!runs_by_c_too(seed, options)) return "";
    Options by_c = options;
    by_c.backend = "c", by_c.cpu_features = "";  // its compiler chooses the CPU
    const tool::Judges c_judges = tool::make_judges(made.graph, by_c);
    for (const char* name : {"c", "c/guarded"}) {
      Outcome found = run(c_judges.named(name), inputs);
      if (is_misled) found.same_mistake_as(wanted);
      const std::string differs = disagreement(*judged, inputs, wanted, std::move(found), seed, finite);
      if (!differs.empty())
        return failed(str(name, ": ", differs), options_text(options) + inputs_text(made.graph, inputs));
    }
  } catch (const Error& error) {
    return failed(error.what());
  }
  return "";
}

TEST(Differential, EvaluatorsAgreeOnRandomPrograms) {
  int failures = 0;
  for (Seeds seeds; seeds.more() && failures < 5;) {
    const std::string failure = check_program(seeds.next());
    if (failure.empty()) continue;
    ADD_FAILURE() << failure;
    ++failures;
  }
}

}  // namespace
}  // namespace inlay::fuzz
