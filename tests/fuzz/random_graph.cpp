#include "random_graph.h"

#include <algorithm>
#include <optional>

#include "ir/compose.h"
#include "ir/compose_sizes.h"

namespace inlay::fuzz {
namespace {

using tool::Random;

constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 8, 9, 17, 33};
constexpr const char* kSymbolNames[] = {"n", "m", "k"};
constexpr DType kDTypes[] = {DType::f64,  DType::f64, DType::f64,  DType::f64,     DType::f64, DType::i64,
                             DType::i64,  DType::f32, DType::f32,  DType::boolean, DType::i32, DType::u8,
                             DType::i8,   DType::f64, DType::f64,  DType::i64,     DType::f32, DType::f16,
                             DType::bf16, DType::c64, DType::c128, DType::c128};

/// A value so far, and what the maker must know of it.
struct Entry {
  ValueId v;
  bool exact = true;  // no rounding on its way: equal bit by bit in every evaluator
  bool fails = false;
};

class GraphMaker {
 public:
  GraphMaker(Random& random, const RandomGraphOptions& options) : random_(random), options_(options) {
    for (int i = 0; i < 3; ++i) sizes_.push_back(of(kSizes));
  }

  RandomGraph make() {
    const int num_params = static_cast<int>(draw(1, 4));
    for (int i = 0; i < num_params; ++i) new_param(of(kDTypes), dims_for_param());
    const int64_t num_nodes = draw(1, options_.most_nodes);
    for (int64_t i = 0; i < num_nodes * 4 && nodes_ < num_nodes; ++i) step();
    add_outputs();
    RandomGraph out{std::move(builder_).finish(), {}};
    for (SymbolId s : ids<SymbolId>(out.graph.symbols.size()))
      out.given.sizes[out.graph.symbols[s].name] = size_of(Dim::symbol(s));
    return out;
  }

 private:
  /// All that nothing uses, and what fails: a compiler may drop what no output needs, and its error with it.
  void add_outputs() {
    std::vector<bool> used(builder_.graph().values.size(), false);
    for (const Node& node : builder_.graph().nodes) {
      for (ValueId v : node.operands) used[v.index] = true;
    }
    for (const Entry& entry : pool_) {
      if (!used[entry.v.index] || entry.fails || chance(10)) builder_.output(entry.v);
    }
  }

  // Chance.

  int64_t draw(int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(random_);
  }
  bool chance(int percent) { return draw(0, 99) < percent; }
  template <class Range>
  std::ranges::range_value_t<Range> of(const Range& range) {
    return std::begin(range)[draw(0, static_cast<int64_t>(std::size(range)) - 1)];
  }

  // Sizes.

  int64_t size_of(const Dim& dim) const { return dim.evaluate(symbol_sizes_); }

  /// A symbol that a parameter is about to bind.
  Dim symbol() {
    const auto which = static_cast<std::size_t>(draw(0, 2));
    if (!symbols_[which]) {
      symbols_[which] = builder_.symbol(kSymbolNames[which]);
      symbol_sizes_.push_back(sizes_[which]);
    }
    return *symbols_[which];
  }
  Dim dim_for_param() {
    if (chance(70)) return symbol();
    return draw(1, 4);
  }
  std::vector<Dim> dims_for_param() {
    const int64_t kind = draw(0, 99);
    const int rank = kind < 15 ? 0 : kind < 65 ? 1 : kind < 90 ? 2 : 3;
    std::vector<Dim> dims;
    for (int i = 0; i < rank; ++i) dims.push_back(dim_for_param());
    return dims;
  }
  /// A size of something that exists, or a number.
  Dim known_dim() {
    const ValueId v = of(pool_).v;
    if (type(v).dims.empty() || chance(30)) return draw(1, 3);
    return of(type(v).dims);
  }

  // Values.

  const TensorType& type(ValueId v) const { return builder_.type(v); }

  ValueId new_param(DType dtype, std::vector<Dim> dims) {
    const ValueId v = builder_.param(str("p", pool_.size()), {dtype, std::move(dims)});
    pool_.push_back({v, true});
    return v;
  }

  template <class Predicate>
  std::optional<std::size_t> pick(Predicate wanted) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (wanted(pool_[i])) found.push_back(i);
    }
    if (found.empty()) return std::nullopt;
    // The later half twice as often: deep graphs rather than wide ones.
    const auto at = std::max(draw(0, static_cast<int64_t>(found.size()) - 1),
                             chance(50) ? 0 : draw(0, static_cast<int64_t>(found.size()) - 1));
    return found[static_cast<std::size_t>(at)];
  }

  ValueId use(std::size_t i) const { return pool_[i].v; }

  void add(ValueId v, bool exact) {
    ++nodes_;
    for (Entry& entry : pool_) {
      if (entry.v == v) return;  // it changed nothing
    }
    pool_.push_back({v, exact, std::exchange(next_fails_, false)});
  }

  /// Floats and complex numbers: what ops on them may round.
  static bool is_inexact(DType dtype) { return is_float(dtype) || is_complex(dtype); }

  ValueId literal(DType dtype) {
    constexpr double kValues[] = {0, 1, 2, 3, 0.5, -1, -2.5};
    if (is_complex(dtype)) return builder_.literal(Literal::of_float(dtype, of(kValues), of(kValues)));
    const double value = is_float(dtype) ? of(kValues) : static_cast<double>(draw(0, dtype == DType::boolean ? 1 : 3));
    return builder_.literal(Literal::of(dtype, value));
  }

  static bool computes(DType dtype) { return dtype != DType::opaque; }

  /// The same shape when stretched, without a check.
  static bool stretches(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
      const Dim &x = a[a.size() - i], &y = b[b.size() - i];
      if (!(x == y || x.is(1) || y.is(1))) return false;
    }
    return true;
  }
  static bool stretches_to(const std::vector<Dim>& from, const std::vector<Dim>& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t i = 1; i <= from.size(); ++i) {
      const Dim &x = from[from.size() - i], &y = to[to.size() - i];
      if (!(x == y || x.is(1))) return false;
    }
    return true;
  }

  // Ops.

  void step() {
    using Maker = void (GraphMaker::*)();
    constexpr Maker kMakers[] = {
        &GraphMaker::scalar,     &GraphMaker::scalar,        &GraphMaker::scalar,    &GraphMaker::scalar,
        &GraphMaker::scalar,     &GraphMaker::cast,          &GraphMaker::broadcast, &GraphMaker::reshape,
        &GraphMaker::transpose,  &GraphMaker::flip,          &GraphMaker::slice,     &GraphMaker::slice,
        &GraphMaker::gather,     &GraphMaker::gather,        &GraphMaker::update,    &GraphMaker::update,
        &GraphMaker::scatter,    &GraphMaker::scatter,       &GraphMaker::reduce,    &GraphMaker::reduce,
        &GraphMaker::reduce,     &GraphMaker::concat,        &GraphMaker::concat,    &GraphMaker::iota,
        &GraphMaker::size,       &GraphMaker::matmul,        &GraphMaker::host_call, &GraphMaker::assert_that,
        &GraphMaker::cumulative, &GraphMaker::cumulative,    &GraphMaker::compress,  &GraphMaker::where,
        &GraphMaker::arange,     &GraphMaker::factorization, &GraphMaker::rows,      &GraphMaker::cond,
        &GraphMaker::loop,       &GraphMaker::diagonal,      &GraphMaker::moved,     &GraphMaker::placed,
        &GraphMaker::reduced};
    (this->*of(kMakers))();
  }

  /// Does a small change of an operand change the result by a jump?
  static bool jumps(ScalarOp op) {
    switch (op) {
      case ScalarOp::floor_:
      case ScalarOp::ceil_:
      case ScalarOp::round_:
      case ScalarOp::trunc_:
      case ScalarOp::sign_:
      case ScalarOp::isnan_:
      case ScalarOp::isinf_:
      case ScalarOp::isfinite_:
      case ScalarOp::signbit_:
      case ScalarOp::copysign_:
      case ScalarOp::nextafter_:
      case ScalarOp::floor_div_:
      case ScalarOp::mod_:
      case ScalarOp::eq_:
      case ScalarOp::ne_:
      case ScalarOp::lt_:
      case ScalarOp::le_:
      case ScalarOp::gt_:
      case ScalarOp::ge_:
      case ScalarOp::pow_:
      case ScalarOp::arctan2_:
      case ScalarOp::lgamma_:
      case ScalarOp::gamma_:
      case ScalarOp::digamma_:
      case ScalarOp::trigamma_:
      case ScalarOp::polygamma_:
      case ScalarOp::beta_:
      case ScalarOp::lbeta_:
      case ScalarOp::xlogy_:
      case ScalarOp::xlog1py_:
      case ScalarOp::gammainc_:
      case ScalarOp::gammaincc_:
      case ScalarOp::gammainc_da_:
      case ScalarOp::betainc_:
      case ScalarOp::betainc_da_:
      case ScalarOp::betainc_db_: return true;
      default: return false;  // clang-format off: a choice among ops, not a case for each
    }
  }
  /// Most complex functions jump across a branch cut, and the axes are where results meet it.
  static bool jumps_in_the_plane(ScalarOp op) {
    switch (op) {
      case ScalarOp::neg_: case ScalarOp::abs_: case ScalarOp::square_: case ScalarOp::exp_: case ScalarOp::sin_:
      case ScalarOp::cos_: case ScalarOp::sinh_: case ScalarOp::cosh_: case ScalarOp::real_: case ScalarOp::imag_:
      case ScalarOp::conj_: case ScalarOp::add_: case ScalarOp::sub_: case ScalarOp::mul_: case ScalarOp::select_: return false;
      default: return true;
    }
  }
  /// Is the result exact where the operands are?
  static bool rounds(ScalarOp op, DType dtype) {
    if (is_complex(dtype) && op == ScalarOp::abs_) return true;
    switch (op) {
      case ScalarOp::real_: case ScalarOp::imag_: case ScalarOp::conj_: case ScalarOp::complex_:
      case ScalarOp::neg_: case ScalarOp::abs_: case ScalarOp::sign_: case ScalarOp::floor_: case ScalarOp::ceil_:
      case ScalarOp::round_: case ScalarOp::trunc_: case ScalarOp::max_: case ScalarOp::min_: case ScalarOp::select_:
      case ScalarOp::clip_: case ScalarOp::copysign_: case ScalarOp::nextafter_: return false;
      default: return true;
    }
  }

  void scalar() {
    const auto op = static_cast<ScalarOp>(draw(0, kNumScalarOps - 1));
    const bool is_select = op == ScalarOp::select_;
    const auto fits = [&](const Entry& e) {
      const DType dtype = type(e.v).dtype;
      if (op == ScalarOp::pow_ && is_signed_integer(dtype)) return false;   // it could fail
      return accepts(op, dtype) && (e.exact || is_integer(dtype) || !(is_complex(dtype) ? jumps_in_the_plane(op) : jumps(op)));
    };
    const auto first = pick(fits);
    if (!first) return;
    const DType dtype = type(pool_[*first].v).dtype;
    std::vector<ValueId> operands = {use(*first)};
    bool exact = pool_[*first].exact;
    std::vector<Dim> dims = type(operands[0]).dims;
    const auto another = [&](DType wanted) {
      const auto next = pick([&](const Entry& e) {
        return type(e.v).dtype == wanted && (fits(e) || wanted != dtype) && stretches(type(e.v).dims, dims);
      });
      if (!next || chance(15)) return literal(wanted);
      exact = exact && pool_[*next].exact;
      if (type(pool_[*next].v).dims.size() > dims.size()) dims = type(pool_[*next].v).dims;
      return use(*next);
    };
    // With three operands of different ranks two may fit the first and not each other: then not this time.
    if (facts(op).arity >= 2) operands.push_back(another(dtype));
    if (facts(op).arity >= 3 && !is_select) operands.push_back(another(dtype));
    if (is_select) operands.insert(operands.begin(), another(DType::boolean));
    for (ValueId a : operands) {
      for (ValueId b : operands) {
        if (!stretches(type(a).dims, type(b).dims)) return;
      }
    }
    add(builder_.scalar(op, operands), is_inexact(result_dtype(op, dtype)) ? exact && !rounds(op, dtype) : true);
  }

  void cast() {
    const DType to = of(kDTypes);
    const auto x = pick([&](const Entry& e) {
      const DType from = type(e.v).dtype;
      const bool to_integer = is_float(from) && !is_inexact(to);
      const bool loses_part = is_complex(from) && !is_complex(to);
      return computes(from) && !loses_part && !(to_integer && (!e.exact || options_.elements == tool::Elements::nasty));
    });
    if (!x) return;
    const bool rounds = promote(type(pool_[*x].v).dtype, to) != to;
    add(builder_.cast(use(*x), to), is_inexact(to) ? pool_[*x].exact && !rounds : true);
  }

  void broadcast() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() < 3; });
    if (!x) return;
    std::vector<Dim> dims = type(pool_[*x].v).dims;
    for (Dim& dim : dims) {
      if (dim.is(1) && chance(70)) dim = known_dim();
    }
    if (dims.size() < 3 && chance(70)) dims.insert(dims.begin(), known_dim());
    add(builder_.broadcast(use(*x), dims), pool_[*x].exact);
  }

  void reshape() {
    const auto x = pick([](const Entry&) { return true; });
    std::vector<Dim> dims = type(pool_[*x].v).dims;
    if (dims.size() >= 2 && chance(50)) {
      const auto at = static_cast<std::size_t>(draw(0, static_cast<int64_t>(dims.size()) - 2));
      dims[at] = dims[at] * dims[at + 1];
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (dims.size() < 3) {
      dims.insert(dims.begin() + draw(0, static_cast<int64_t>(dims.size())), Dim(1));
    } else {
      return;
    }
    add(builder_.reshape(use(*x), dims), pool_[*x].exact);
  }

  void transpose() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 2; });
    if (!x) return;
    std::vector<int> permutation;
    for (int i = 0; i < type(pool_[*x].v).rank(); ++i) permutation.push_back(i);
    std::ranges::shuffle(permutation, random_);
    add(builder_.transpose(use(*x), permutation), pool_[*x].exact);
  }

  void flip() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
    if (!x) return;
    add(builder_.flip(use(*x), {static_cast<int>(draw(0, type(pool_[*x].v).rank() - 1))}), pool_[*x].exact);
  }

  void diagonal() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 2; });
    if (!x) return;
    const int rank = type(pool_[*x].v).rank();
    const auto first = draw(0, rank - 1), second = (first + draw(1, rank - 1)) % rank;
    add(composed("extract_diag", *x, {{"offset", draw(-2, 2)}, {"first", first}, {"second", second}}), pool_[*x].exact);
  }

  // Compositions (ir/compose.h).

  ValueId composed(std::string_view name, std::size_t x, const std::vector<std::pair<std::string, Dim>>& numbers, NamedArguments named = {}, std::vector<ValueId> more = {}) {
    for (const auto& [argument, number] : numbers) named[argument] = {{number}, false, ""};
    more.insert(more.begin(), use(x));
    return compose(builder_, name, more, named)[0];
  }

  static ComposeArgument list(std::vector<Dim> sizes) { return {std::move(sizes), true, ""}; }

  /// The elements of a value, some of them, or some several times.
  void moved() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && type(e.v).rank() <= 2; });
    if (!x) return;
    const std::vector<Dim> dims = type(pool_[*x].v).dims;
    const int64_t axis = draw(0, static_cast<int64_t>(dims.size()) - 1);
    const bool empty = size_of(product(dims)) == 0;
    std::vector<Dim> before, after;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      before.emplace_back(draw(0, 2));
      after.emplace_back(draw(0, 3));
    }
    constexpr const char* kModes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    const std::string mode = empty ? "constant" : of(kModes);
    const auto make = [&]() -> ValueId {
      switch (draw(0, 5)) {
        case 0: return composed("roll", *x, {{"shift", draw(-4, 4)}, {"axis", axis}});
        case 1: return composed("repeat", *x, {{"count", draw(0, 3)}, {"axis", axis}});
        case 2: return composed("tile", *x, {}, {{"times", list({draw(1, 2), draw(0, 2)})}});
        case 3: return composed("expand_dims", *x, {}, {{"axes", list({draw(-2, 1)})}});
        case 4: return composed("swapaxes", *x, {{"first", 0}, {"second", -1}});
        default: return composed("pad", *x, {}, {{"before", list(before)}, {"after", list(after)}, {"mode", {{}, false, mode}}});
      }
    };
    add(make(), pool_[*x].exact);
  }

  /// Elements of a value, and others, by where they stand.
  void placed() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && type(e.v).rank() <= 2 && computes(type(e.v).dtype); });
    if (!x) return;
    const ValueId other = literal(type(pool_[*x].v).dtype);
    const auto make = [&]() -> ValueId {
      if (type(pool_[*x].v).rank() == 1) return composed("alloc_diag", *x, {{"offset", draw(-1, 1)}});
      switch (draw(0, 3)) {
        case 0: return composed("tril", *x, {{"offset", draw(-1, 1)}});
        case 1: return composed("triu", *x, {{"offset", draw(-1, 1)}});
        case 2: return composed("set_diag", *x, {{"offset", draw(-1, 1)}}, {}, {other});
        default: return composed("fill_diagonal", *x, {}, {{"wrap", {{}, false, chance(50) ? "true" : "false"}}}, {other});
      }
    };
    add(make(), pool_[*x].exact);
  }

  /// Reductions of several nodes.
  void reduced() {
    const bool arg = chance(40);
    const auto x = pick([&](const Entry& e) {
      const DType dtype = type(e.v).dtype;
      return type(e.v).rank() >= 1 && (arg ? e.exact && computes(dtype) && !is_complex(dtype) : dtype == DType::f64) && size_of(product(type(e.v).dims)) > 0;
    });
    if (!x) return;
    NamedArguments named;
    if (chance(70)) named["axes"] = list({draw(-type(pool_[*x].v).rank(), type(pool_[*x].v).rank() - 1)});
    const bool nasty = options_.elements == tool::Elements::nasty;
    if (arg) return add(composed(chance(50) ? "argmax" : "argmin", *x, {}, named), true);
    if (pool_[*x].exact && chance(30)) return add(composed(chance(50) ? "all" : "any", *x, {}, named), true);
    if (nasty) return;
    constexpr const char* kNames[] = {"mean", "var", "logsumexp", "softmax", "log_softmax"};
    add(composed(of(kNames), *x, {}, named), false);
  }

  /// Ranges and positions that hold for the chosen sizes.
  IndexItem item(const Dim& dim) {
    const int64_t size = size_of(dim);
    switch (draw(0, 6)) {
      case 0: return IndexItem::range(0, dim);
      case 1: return IndexItem::range(0, dim, draw(2, 3));
      case 2:
        if (size >= 1) return IndexItem::at(chance(50) ? Dim(0) : dim - 1);
        break;
      case 3:
        if (size >= 1) return IndexItem::range(1, dim);
        break;
      case 4:
        if (size >= 1) return IndexItem::range(0, dim - 1);
        break;
      case 5: return IndexItem::range(dim - 1, -1, -draw(1, 3));
      default:
        if (size >= 2) return IndexItem::range(1, dim - 1, draw(1, 2));
        break;
    }
    return IndexItem::range(0, chance(50) ? dim : Dim(0));
  }

  std::vector<IndexItem> items(ValueId x) {
    std::vector<IndexItem> index;
    for (const Dim& dim : type(x).dims) index.push_back(item(dim));
    return index;
  }

  void slice() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
    if (!x) return;
    add(builder_.slice(use(*x), items(pool_[*x].v)), pool_[*x].exact);
  }

  /// An index array for an axis of this size, or none where there is nothing to index.
  std::optional<ValueId> index_array(const Dim& dim, const std::vector<Dim>& dims) {
    const int64_t size = size_of(dim);
    const bool empty = size_of(product(dims)) == 0;
    if (size == 0 && !empty && !may_fail()) return std::nullopt;
    if (step_ && dims.empty() && loop_count_ == dim && chance(80)) return step_;
    if (depth_ == 0 && (dims.empty() || chance(60))) {
      const DType dtype = chance(80) ? DType::i64 : of(std::vector<DType>{DType::i32, DType::u8, DType::i8});
      if (dim.is_constant() && size > 0 && chance(50)) {
        return builder_.bound(str("b", next_bound_++), {dtype, dims}, {true, 0, dim.constant() - 1, chance(50)});
      }
      const ValueId v = builder_.param(str("q", next_bound_++), {dtype, dims});
      return v;
    }
    if (size > 0) {
      const auto x = pick([&](const Entry& e) { return type(e.v).dtype == DType::i64 && type(e.v).dims == dims; });
      if (x) return builder_.scalar(ScalarOp::mod_, {use(*x), builder_.size(dim)});   // computed: in [0, size)
    }
    const auto one = [&] { return Literal::of_integer(DType::i64, size ? draw(-size, size - 1) : 0); };
    if (dims.size() == 1 && dims[0].is_constant() && dims[0].constant() >= 1 && dims[0].constant() <= 16) {
      std::vector<Literal> elements;
      for (int64_t i = 0; i < dims[0].constant(); ++i) elements.push_back(one());
      if (chance(10) && may_fail()) elements[0].i = chance(50) ? size : -size - 1;
      return builder_.literal(elements, dims);
    }
    return std::nullopt;
  }

  /// At most one place in a program fails, so that all evaluators fail in the same one.
  bool may_fail() {
    if (depth_ > 0 || failing_places_ > 0 || !chance(20)) return false;
    ++failing_places_;
    next_fails_ = true;
    return true;
  }

  std::vector<Dim> index_dims() {
    const int64_t kind = draw(0, 9);
    if (kind == 0) return {};
    std::vector<Dim> dims = {chance(70) ? known_dim() : Dim(draw(1, 4))};
    if (kind == 1) dims.push_back(known_dim());
    // A size that no parameter binds alone cannot be a new parameter's, unless it is a number or bound already.
    return dims;
  }

  /// Items with at least one index array.
  std::optional<std::vector<IndexItem>> items_with_arrays(ValueId x) {
    std::vector<IndexItem> index = items(x);
    const std::vector<Dim> dims = index_dims();
    const auto at = static_cast<std::size_t>(draw(0, static_cast<int64_t>(index.size()) - 1));
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (axis != at && !chance(25)) continue;
      const auto array = index_array(type(x).dims[axis], dims);
      if (!array) return std::nullopt;
      index[axis] = IndexItem::through(*array);
    }
    return index;
  }

  void gather() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
    if (!x) return;
    const auto index = items_with_arrays(pool_[*x].v);
    if (index) add(builder_.gather(use(*x), *index), pool_[*x].exact);
  }

  Combine write_combine(DType dtype) {
    const auto combine = of(std::vector<Combine>{Combine::set, Combine::set, Combine::add, Combine::add, Combine::mul, Combine::max, Combine::min});
    const bool possible = combine == Combine::set || accepts(combine_op(combine), dtype);
    return possible && !order_shows(combine, dtype) ? combine : Combine::set;
  }

  /// A product of tiny numbers and infinities is NaN or not by the order in which it underflows.
  bool order_shows(Combine combine, DType dtype) const {
    return combine == Combine::mul && is_inexact(dtype) && options_.elements == tool::Elements::nasty;
  }

  /// The dims of x[index], by asking the builder for the gather that would read them.
  std::vector<Dim> region_dims(ValueId x, const std::vector<IndexItem>& index) {
    GraphBuilder asked = builder_;
    return asked.type(asked.gather(x, index)).dims;
  }

  void write(ValueId (GraphBuilder::*make)(Combine, ValueId, std::vector<IndexItem>, ValueId), std::size_t x, const std::vector<IndexItem>& index) {
    const DType dtype = type(pool_[x].v).dtype;
    const std::vector<Dim> dims = region_dims(pool_[x].v, index);
    const auto value = pick([&](const Entry& e) { return type(e.v).dtype == dtype && stretches_to(type(e.v).dims, dims); });
    const bool exact = pool_[x].exact && (!value || pool_[*value].exact);
    const ValueId v = value && chance(85) ? use(*value) : literal(dtype);
    const Combine combine = write_combine(dtype);
    const bool keeps = combine == Combine::set || combine == Combine::max || combine == Combine::min || !is_inexact(dtype);
    add((builder_.*make)(combine, use(x), index, v), exact && keeps);
  }

  void update() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
    if (x) write(&GraphBuilder::update, *x, items(pool_[*x].v));
  }

  void scatter() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
    if (!x) return;
    const auto index = items_with_arrays(pool_[*x].v);
    if (index) write(&GraphBuilder::scatter, *x, *index);
  }

  void reduce() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
    if (!x) return;
    const TensorType from = type(pool_[*x].v);
    std::vector<int> axes;
    int64_t count = 1;
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (from.rank() > 1 && chance(40)) continue;
      axes.push_back(axis);
      count *= size_of(from.dims[axis]);
    }
    const auto combine = of(std::vector<Combine>{Combine::add, Combine::add, Combine::add, Combine::mul, Combine::max, Combine::min, Combine::and_, Combine::or_});
    const bool extreme = combine == Combine::max || combine == Combine::min;
    const bool never_any = std::ranges::any_of(axes, [&](int axis) { return from.dims[axis].is(0); });
    if (extreme && (never_any || (count == 0 && !may_fail()))) return;
    DType accumulator = from.dtype;
    if (combine == Combine::add && !is_inexact(from.dtype)) accumulator = DType::i64;
    if (combine == Combine::add && from.dtype == DType::f32 && chance(50)) accumulator = DType::f64;
    if (!accepts(combine_op(combine), accumulator) || order_shows(combine, accumulator)) return;
    add(builder_.reduce(combine, use(*x), axes, accumulator), pool_[*x].exact && (extreme || !is_inexact(accumulator)));
  }

  void concat() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1; });
    if (!x) return;
    const TensorType first = type(pool_[*x].v);
    const auto axis = static_cast<int>(draw(0, first.rank() - 1));
    std::vector<ValueId> parts = {use(*x)};
    bool exact = pool_[*x].exact;
    for (int64_t i = draw(1, 3); i > 0; --i) {
      const auto part = pick([&](const Entry& e) {
        const TensorType& t = type(e.v);
        if (t.dtype != first.dtype || t.rank() != first.rank()) return false;
        for (int d = 0; d < t.rank(); ++d) {
          if (d != axis && !(t.dims[d] == first.dims[d])) return false;
        }
        return true;
      });
      exact = exact && pool_[*part].exact;
      parts.push_back(use(*part));
    }
    add(builder_.concat(parts, axis), exact);
  }

  void cumulative() {
    const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
    if (!x) return;
    const TensorType from = type(pool_[*x].v);
    const auto axis = static_cast<int>(draw(0, from.rank() - 1));
    const auto combine = of(std::vector<Combine>{Combine::add, Combine::add, Combine::mul, Combine::max, Combine::min});
    const bool extreme = combine == Combine::max || combine == Combine::min;
    const DType accumulator = combine == Combine::add && !is_inexact(from.dtype) ? DType::i64 : from.dtype;
    if (!accepts(combine_op(combine), accumulator) || order_shows(combine, accumulator)) return;
    add(builder_.cumulative(combine, use(*x), axis, accumulator), pool_[*x].exact && (extreme || !is_inexact(accumulator)));
  }

  /// Sizes that are found on the way are known to nobody here; so what has them is an output, or of another size again.
  Dim late_symbol() {
    symbol_sizes_.push_back(0);
    return builder_.symbol(str("late", symbol_sizes_.size()));
  }

  void compress() {
    if (depth_ > 0) return;  // a body finds no sizes
    const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() == 1; });
    if (!mask) return;
    const ValueId m = use(*mask);
    const std::vector<Dim> dims = type(m).dims;
    const auto fits = [&](const Entry& e) { return type(e.v).dims == dims && computes(type(e.v).dtype) && e.exact; };
    std::vector<ValueId> xs = {builder_.iota(dims[0], DType::i64)};
    while (pick(fits) && chance(60)) xs.push_back(use(*pick(fits)));
    const std::vector<ValueId> results = builder_.compress(m, xs, late_symbol());
    add(results[0], true);
    builder_.output(chance(50) ? results.back() : builder_.flip(results.back(), {0}));
    const ValueId where = results[1];
    const auto base = pick([&](const Entry& e) {
      return type(e.v).rank() >= 1 && type(e.v).dims[0] == dims[0] && computes(type(e.v).dtype) && e.exact;
    });
    std::vector<IndexItem> index = {IndexItem::through(where)};
    if (chance(50)) builder_.output(builder_.gather(use(*base), index));
    if (chance(50)) {
      const ValueId one = literal(type(pool_[*base].v).dtype);
      add(builder_.scatter(write_combine(type(one).dtype), use(*base), index, one), !is_inexact(type(one).dtype));
    }
    if (chance(50)) add(builder_.reduce(Combine::add, where, {0}, DType::i64), true);
    if (chance(50)) builder_.output(builder_.cumulative(Combine::add, where, 0, DType::i64));
    if (chance(50)) builder_.output(builder_.concat({where, xs[0], where}, 0));
    if (!chance(50)) return;
    // The same number under another name: that the two agree is found when the program runs.
    const Dim again = late_symbol();
    builder_.as_size(results[0], again);
    builder_.output(builder_.scalar(ScalarOp::add_, {builder_.iota(again, DType::i64), where}));
  }

  /// Sizes that a composition has bound by itself.
  void note_late_symbols() { symbol_sizes_.resize(builder_.graph().symbols.size(), 0); }

  void where() {
    if (depth_ > 0) return;  // a body finds no sizes
    const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() >= 1; });
    if (!mask) return;
    const std::vector<Dim> dims = type(pool_[*mask].v).dims;
    const auto x = pick([&](const Entry& e) {
      const std::vector<Dim>& of_x = type(e.v).dims;
      return computes(type(e.v).dtype) && of_x.size() >= dims.size() && std::equal(dims.begin(), dims.end(), of_x.begin());
    });
    if (!x) return;
    const DType dtype = type(pool_[*x].v).dtype;
    if (chance(60)) builder_.output(read_where(builder_, use(*x), use(*mask)));
    if (chance(30)) builder_.output(of(nonzero(builder_, use(*mask))));
    const Combine combine = write_combine(dtype);
    const bool keeps = combine == Combine::set || combine == Combine::max || combine == Combine::min || !is_float(dtype);
    const bool exact = pool_[*x].exact && keeps;
    if (chance(60)) add(write_where(builder_, combine, use(*x), use(*mask), literal(dtype)), exact);
    if (chance(40)) {  // a row for each place, though all alike
      const ValueId row = builder_.broadcast(literal(dtype), std::vector<Dim>(type(pool_[*x].v).dims.size() - dims.size() + 1, Dim(1)));
      add(write_where(builder_, combine, use(*x), use(*mask), row), exact);
    }
    note_late_symbols();
  }

  void arange() {
    if (depth_ > 0) return;  // a body finds no sizes
    const auto number = [&](int64_t least, int64_t greatest) {
      return builder_.literal(Literal::of_integer(DType::i64, draw(least, greatest)));
    };
    const auto mask = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() >= 1; });
    if (!mask) return;
    std::vector<int> axes;
    for (int axis = 0; axis < type(pool_[*mask].v).rank(); ++axis) axes.push_back(axis);
    const ValueId count = builder_.reduce(Combine::add, use(*mask), axes, DType::i64);
    const DType dtype = of(std::vector<DType>{DType::i64, DType::f64, DType::f32, DType::u8});
    const ValueId step = builder_.literal(Literal::of_integer(DType::i64, of(std::vector<int64_t>{1, 2, 3, -1})));
    const ValueId counted = inlay::arange(builder_, number(-3, 3), count, step, dtype);
    builder_.output(chance(50) ? counted : builder_.cumulative(Combine::max, counted, 0, dtype));
    note_late_symbols();
  }

  void iota() {
    const DType dtype = of(std::vector<DType>{DType::i64, DType::i64, DType::f64, DType::i32});
    add(builder_.iota(known_dim() + draw(0, 1), dtype), true);
  }

  void size() { add(builder_.size(known_dim() * draw(1, 2) + draw(0, 2)), true); }

  /// Of all ranks, and of integers; what does not fit is no product.
  void matmul() {
    const auto fits = [&](const Entry& e) {
      const DType dtype = type(e.v).dtype;
      const bool multiplies = dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype) || dtype == DType::i64 || dtype == DType::boolean;
      return multiplies && type(e.v).rank() >= 1;
    };
    const auto a = pick(fits);
    if (!a) return;
    const TensorType left = type(pool_[*a].v);
    const auto b = pick([&](const Entry& e) {
      const TensorType& t = type(e.v);
      if (!fits(e) || t.dtype != left.dtype || !(t.dims[t.rank() > 1 ? t.rank() - 2 : 0] == left.dims.back())) return false;
      if (t.rank() < 2 || left.rank() < 2) return true;
      return stretches({left.dims.begin(), left.dims.end() - 2}, {t.dims.begin(), t.dims.end() - 2});
    });
    if (b) add(builder_.matmul(use(*a), use(*b)), !is_float(left.dtype));
  }

  // Factorizations. Of matrices that are far from singular, so that the results are sharp; and of each its unique part: not a
  // singular vector, whose sign is open, but the product of the factors.

  ValueId literal_like(ValueId x, double value) { return builder_.literal(Literal::of(type(x).dtype, value)); }
  ValueId swapped(ValueId x) {
    std::vector<int> axes(static_cast<std::size_t>(type(x).rank()));
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return builder_.transpose(x, axes);
  }
  /// x with a row of its own scale in each column: x * row.
  ValueId scaled(ValueId x, ValueId row) {
    std::vector<Dim> dims = type(row).dims;
    dims.insert(dims.end() - 1, Dim(1));
    return builder_.scalar(ScalarOp::mul_, {x, builder_.reshape(row, dims)});
  }
  ValueId eye(const Dim& n, DType dtype) {
    const ValueId i = builder_.iota(n, DType::i64);
    return builder_.cast(builder_.scalar(ScalarOp::eq_, {i, builder_.reshape(i, {n, 1})}), dtype);
  }
  ValueId call(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options = 0) {
    return builder_.library(op, std::move(operands), options)[0];
  }

  void factorization() {
    if (options_.elements == tool::Elements::nasty) return;  // NaN in, and an error or NaN out, as the library likes
    const auto x = pick([&](const Entry& e) {
      const DType dtype = type(e.v).dtype;
      return e.exact && (dtype == DType::f64 || dtype == DType::f32) && type(e.v).rank() >= 2;
    });
    if (!x) return;
    const ValueId sigmoid = builder_.scalar(ScalarOp::sigmoid_, {use(*x)});
    const ValueId is_number = builder_.scalar(ScalarOp::eq_, {use(*x), use(*x)});
    const ValueId bounded = builder_.scalar(ScalarOp::select_, {is_number, sigmoid, literal_like(sigmoid, 0.5)});
    const DType dtype = type(bounded).dtype;
    const Dim n = type(bounded).dims[static_cast<std::size_t>(type(bounded).rank()) - 2];
    const ValueId a = builder_.scalar(
        ScalarOp::add_, {builder_.matmul(bounded, swapped(bounded)), builder_.scalar(ScalarOp::mul_, {eye(n, dtype), literal_like(bounded, 2)})});
    const LibraryOptions upper = chance(50) ? static_cast<LibraryOptions>(LibraryOption::upper) : 0;
    const LibraryOptions nan = static_cast<LibraryOptions>(LibraryOption::nan);
    switch (draw(0, 7)) {
      case 0: return add(call(LibraryOp::cholesky, {a}, upper | nan), false);
      case 1: {
        const ValueId l = call(LibraryOp::cholesky, {a}, upper | nan);
        const LibraryOptions turned = chance(50) ? static_cast<LibraryOptions>(LibraryOption::transposed) : 0;
        return add(call(LibraryOp::solve_triangular, {l, bounded}, upper | turned | nan), false);
      }
      case 2: return add(call(LibraryOp::solve, {a, bounded}, nan), false);
      case 3: {
        const std::vector<ValueId> parts = builder_.library(LibraryOp::qr, {a});
        add(parts[1], false);
        return add(builder_.matmul(parts[0], parts[1]), false);
      }
      case 4: return add(call(LibraryOp::lu_factor, {a}, nan), false);
      case 5: {
        const std::vector<ValueId> parts = builder_.library(LibraryOp::svd, {bounded});
        add(parts[1], false);
        return add(builder_.matmul(scaled(parts[0], parts[1]), parts[2]), false);
      }
      case 6: return add(call(LibraryOp::expm, {a}), false);
      default: {
        const std::vector<ValueId> parts = builder_.library(LibraryOp::eigh, {a}, upper);
        add(parts[0], false);
        return add(builder_.matmul(scaled(parts[1], parts[0]), swapped(parts[1])), false);
      }
    }
  }

  void rows() {
    const auto x = pick([&](const Entry& e) { return e.exact && accepts(LibraryOp::sort, type(e.v).dtype) && type(e.v).rank() >= 1; });
    if (!x) return;
    if (chance(30)) return add(call(LibraryOp::argsort, {use(*x)}), true);
    if (chance(40)) return some_extremes(*x);
    const ValueId sorted = call(LibraryOp::sort, {use(*x)});
    add(sorted, true);
    const DType dtype = type(sorted).dtype;
    const auto wanted = pick([&](const Entry& e) { return e.exact && type(e.v).dtype == dtype && type(e.v).rank() == 1; });
    if (!wanted || type(sorted).rank() != 1) return;
    const LibraryOptions right = chance(50) ? static_cast<LibraryOptions>(LibraryOption::right) : 0;
    add(call(LibraryOp::searchsorted, {sorted, use(*wanted)}, right), true);
  }

  void some_extremes(std::size_t x) {
    const int axis = static_cast<int>(draw(0, type(pool_[x].v).rank() - 1));
    const int64_t size = size_of(type(pool_[x].v).dims[axis]);
    const NamedArguments named = {{"count", {{draw(0, size)}, false, ""}}, {"axis", {{axis}, false, ""}}, {"smallest", {{}, false, chance(50) ? "true" : "false"}}};
    for (ValueId v : compose(builder_, "top_k", {use(x)}, named)) add(v, true);
  }

  void host_call() {
    if (!chance(20)) return;
    const bool late = depth_ == 0 && chance(40);
    const auto x = pick([&](const Entry& e) {
      return computes(type(e.v).dtype) && (!late || (e.exact && type(e.v).dtype == DType::f64 && type(e.v).rank() == 1));
    });
    if (!x || (late && has_late_size_)) return;
    TensorType result = type(pool_[*x].v);
    if (late) {
      // Its length is known to nobody here; so no size of it may be chosen, and it is an output as it is.
      has_late_size_ = true;
      result.dims = {builder_.symbol("late")};
      const ValueId v = builder_.host_call("positive", host_functions_++, {use(*x)}, {result})[0];
      builder_.output(builder_.scalar(ScalarOp::exp_, {v}));
      builder_.output(builder_.reduce(Combine::add, v, {0}, DType::f64));
      symbol_sizes_.push_back(0);
      ++nodes_;
      return;
    }
    add(builder_.host_call("copy", host_functions_++, {use(*x)}, {result})[0], pool_[*x].exact);
  }

  void assert_that() {
    if (!chance(30)) return;
    const auto x = pick([](const Entry&) { return true; });
    const auto condition = pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() == 0; });
    const bool computed = condition && may_fail();
    const ValueId holds = computed ? use(*condition) : builder_.literal(Literal::of_integer(DType::boolean, 1));
    const auto number = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::i64, {}}; });
    if (number && chance(50)) {
      add(builder_.assert_that(use(*x), holds, "it is {0}", ErrorCode::shape_mismatch, {use(*number)}), pool_[*x].exact);
    } else {
      add(builder_.assert_that(use(*x), holds, "as it was asked to"), pool_[*x].exact);
    }
  }

  // Regions. What fails stands outside of them: a branch is not always taken.

  /// The maker's state around a body.
  struct Outside {
    GraphBuilder builder;
    std::vector<Entry> pool;
    std::optional<ValueId> step;
    Dim loop_count;
  };
  Outside enter() {
    Outside outside{std::move(builder_), std::move(pool_), step_, loop_count_};
    builder_ = outside.builder.body();
    pool_.clear();
    step_.reset();
    ++depth_;
    return outside;
  }
  Graph leave(Outside outside) {
    Graph body = std::move(builder_).finish();
    builder_ = std::move(outside.builder);
    pool_ = std::move(outside.pool);
    step_ = outside.step;
    loop_count_ = outside.loop_count;
    --depth_;
    return body;
  }

  std::vector<Entry> some_values(int64_t most) {
    std::vector<Entry> out;
    for (int64_t i = draw(0, most); i > 0; --i) {
      const auto x = pick([&](const Entry& e) { return computes(type(e.v).dtype); });
      if (x) out.push_back(pool_[*x]);
    }
    return out;
  }

  static std::vector<ValueId> ids_of(const std::vector<Entry>& entries) {
    std::vector<ValueId> out;
    for (const Entry& e : entries) out.push_back(e.v);
    return out;
  }

  void come_in(const Outside& outside, const std::vector<Entry>& captured) {
    for (const Entry& e : captured) {
      pool_.push_back({builder_.param(str("c", pool_.size()), outside.builder.type(e.v)), e.exact});
    }
  }

  void some_steps() {
    for (int64_t i = draw(1, 4); i > 0; --i) step();
  }

  /// The last value of this type: there is one, since a parameter has it.
  Entry last_of(const TensorType& wanted) {
    for (std::size_t i = pool_.size(); i-- > 0;) {
      if (type(pool_[i].v) == wanted) return pool_[i];
    }
    return pool_[0];
  }

  void cond() {
    if (depth_ > 1 || !chance(50)) return;
    std::vector<Entry> captured = some_values(3);
    if (captured.empty()) return;
    const auto found = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::boolean, {}}; });
    const ValueId condition = found         ? use(*found)
                              : depth_ == 0 ? builder_.param(str("q", next_bound_++), {DType::boolean, {}})
                                            : builder_.literal(Literal::of_integer(DType::boolean, draw(0, 1)));
    std::vector<TensorType> types;
    for (std::size_t i = 0; i < captured.size() && (i == 0 || chance(50)); ++i) types.push_back(type(captured[i].v));
    std::vector<bool> exact(types.size(), true);
    const auto branch = [&] {
      Outside outside = enter();
      come_in(outside, captured);
      some_steps();
      for (std::size_t i = 0; i < types.size(); ++i) {
        const Entry e = last_of(types[i]);
        builder_.output(e.v);
        exact[i] = exact[i] && e.exact;
      }
      return leave(std::move(outside));
    };
    Graph then = branch(), otherwise = branch();
    const auto results = builder_.cond(condition, ids_of(captured), std::move(then), std::move(otherwise));
    for (std::size_t i = 0; i < results.size(); ++i) add(results[i], exact[i] || !is_float(types[i].dtype));
  }

  void loop() {
    if (depth_ > 1 || !chance(50)) return;
    Dim count = known_dim();
    if (size_of(count) > 5) count = draw(0, 3);
    const std::vector<Entry> carried = some_values(2), captured = some_values(2);
    std::vector<Entry> all = carried;
    // What rounding does to a carried value goes round with it.
    for (Entry& e : all) e.exact = !is_float(type(e.v).dtype);
    all.insert(all.end(), captured.begin(), captured.end());
    std::vector<TensorType> types;
    for (const Entry& e : carried) types.push_back(type(e.v));
    Outside outside = enter();
    loop_count_ = count;
    step_ = builder_.step("i", count);
    pool_.push_back({*step_});
    come_in(outside, all);
    some_steps();
    std::vector<bool> exact;
    for (const TensorType& carried_type : types) {
      builder_.output(last_of(carried_type).v);
      exact.push_back(!is_float(carried_type.dtype));
    }
    for (const Entry& traced : some_values(2)) {
      builder_.output(traced.v);
      exact.push_back(traced.exact);
    }
    const auto go_on = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::boolean, {}}; });
    const bool ends = go_on && chance(60);
    if (ends) builder_.output(use(*go_on));
    Graph body = leave(std::move(outside));
    const auto results = builder_.loop(count, ids_of(carried), ids_of(captured), std::move(body),
                                       ends ? Ends::by_condition : Ends::after_count);
    for (std::size_t i = 0; i < results.size(); ++i) {
      add(results[i], exact[i] || !is_float(type(results[i]).dtype));
    }
  }

  Random& random_;
  const RandomGraphOptions options_;
  GraphBuilder builder_;
  std::vector<int64_t> sizes_;                 // of n, m, k
  std::optional<Dim> symbols_[3];
  std::vector<int64_t> symbol_sizes_;          // by SymbolId
  std::vector<Entry> pool_;
  std::optional<ValueId> step_;                // of the innermost loop
  Dim loop_count_;
  int depth_ = 0;                              // regions around
  int nodes_ = 0, failing_places_ = 0, host_functions_ = 0, next_bound_ = 0;
  bool has_late_size_ = false, next_fails_ = false;
};

}  // namespace

RandomGraph random_graph(Random& random, const RandomGraphOptions& options) { return GraphMaker(random, options).make(); }

}  // namespace inlay::fuzz
