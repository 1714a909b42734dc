#include "ir/verify.h"

#include <algorithm>
#include <optional>

#include "ir/library_types.h"
#include "ir/region.h"
#include "ir/traits.h"

namespace inlay {
namespace {

struct Arity {
  std::size_t least = 0, greatest = 0;
};
constexpr std::size_t kAny = ~std::size_t{0};

Arity arity_of(const Node& node) {
  switch (node.op) {
    case Op::literal:
    case Op::iota:
    case Op::size: return {0, 0};
    case Op::scalar:
      return {static_cast<std::size_t>(facts(node.scalar).arity), static_cast<std::size_t>(facts(node.scalar).arity)};
    case Op::cast:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal:
    case Op::slice:
    case Op::reduce:
    case Op::cumulative:
    case Op::as_size: return {1, 1};
    case Op::compress: return {1, kAny};
    case Op::gather: return {2, kAny};
    case Op::update: return {2, 2};
    case Op::scatter: return {3, kAny};
    case Op::concat: return {1, kAny};
    case Op::library:
      return {facts(node.library).signature.operands.size(), facts(node.library).signature.operands.size()};
    case Op::assert_: return {2, 6};
    case Op::host_call: return {0, kAny};
    case Op::cond: return {1, kAny};
    case Op::loop: return {0, kAny};
  }
  return {};
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), defined_(graph.values.size(), false), bound_(graph.symbols.size(), graph.is_body) {}

  std::vector<Diagnostic> run() && {
    for (const Param& param : graph_.params) {
      if (check_handle(param.value, "a parameter")) define(param.value);
    }
    for (const Param& param : graph_.params) {
      if (!valid(param.value)) continue;
      check_symbols(param.value);
      check_given(param);
    }
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) node(n);
    for (const Output& output : graph_.outputs) {
      if (check_handle(output.value, "an output")) check_defined(output.value, "an output");
    }
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      if (!defined_[v]) fail(v, "is made by nothing");
    }
    for (const DimCheck& check : graph_.checks) {
      if (!check.node.valid() || check.node.index < graph_.nodes.size()) continue;
      fail(graph_.name, check.location, str("the check of ", check.message, " stands at no node"));
    }
    return std::move(diagnostics_);
  }

 private:
  // Saying what is wrong.

  void fail(const std::string& subject, const Location& location, const std::string& message) {
    diagnostics_.push_back({ErrorCode::internal, location, str(subject, ": ", message), {}, {}});
  }
  void fail(ValueId v, const std::string& message) {
    const Node* made_by = graph_.values[v].node.index < graph_.nodes.size() ? graph_.node_of(v) : nullptr;
    fail(graph_.value_text(v), made_by ? made_by->location : Location(), message);
  }
  void require(bool holds, ValueId v, const std::string& message) {
    if (!holds) fail(v, message);
  }

  // Handles and order.

  bool valid(ValueId v) const { return v.index < graph_.values.size(); }
  bool check_handle(ValueId v, const char* what) {
    if (valid(v)) return true;
    fail(graph_.name, {}, str(what, " is no value of the graph"));
    return false;
  }
  void check_defined(ValueId v, const std::string& user) {
    if (!defined_[v]) fail(v, str("is used by ", user, " before it is made"));
  }
  void define(ValueId v) {
    if (defined_[v]) fail(v, "is made twice");
    defined_[v] = true;
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      const Symbol& symbol = graph_.symbols[s];
      if (symbol.source != v) continue;
      if (!binds(v, symbol, Dim::symbol(s))) {
        const std::string who = symbol.axis == Symbol::kOfValue ? "" : str("axis ", symbol.axis, " ");
        fail(v, str(who, "does not bind symbol ", symbol.name));
      }
      bound_[s] = true;
    }
  }

  /// Are the dims that it is given by its own, once what is assumed equal is one size?
  void check_given(const Param& param) {
    if (param.given.empty()) return;
    const IdMap<SymbolId, Dim> first = first_of_equal_symbols(graph_.symbols.size(), graph_.assumptions);
    const auto assumed_equal = [&](const Dim& a, const Dim& b) { return a.substitute(first) == b.substitute(first); };
    require(std::ranges::equal(param.given, graph_.type(param.value).dims, assumed_equal), param.value,
            "is given by dims that are not assumed to be equal to its own");
  }

  /// Has the value the symbol as a whole dim, or is it the symbol's number?
  bool binds(ValueId v, const Symbol& symbol, const Dim& as_dim) const {
    const auto param = std::ranges::find(graph_.params, v, &Param::value);
    const std::vector<Dim>& dims = param == graph_.params.end() ? graph_.type(v).dims : given_dims(graph_, *param);
    if (symbol.axis != Symbol::kOfValue) {
      return symbol.axis >= 0 && symbol.axis < static_cast<int>(dims.size()) && dims[symbol.axis] == as_dim;
    }
    const Node* node = graph_.node_of(v);
    return node && (node->op == Op::as_size || node->op == Op::compress) && node->size == as_dim &&
           node->results[0] == v;
  }

  void check_symbols(ValueId v) {
    for (const Dim& dim : graph_.type(v).dims) check_symbols(v, dim);
  }
  void check_symbols(ValueId v, const Dim& dim) {
    for (SymbolId s : dim.symbols()) {
      if (s.index >= graph_.symbols.size()) {
        fail(v, str("symbol ", s.index, " is not of this graph"));
      } else if (!bound_[s]) {
        fail(v, str("symbol ", graph_.symbols[s].name, " is used before it is bound"));
      }
    }
  }

  void node(NodeId n) {
    const Node& node = graph_.nodes[n];
    const std::string name(node.op == Op::scalar    ? facts(node.scalar).name
                           : node.op == Op::library ? facts(node.library).name
                                                    : op_name(node.op));
    for (ValueId v : node.operands) {
      if (!check_handle(v, "an operand")) return;
      check_defined(v, name);
    }
    for (ValueId v : node.results) {
      if (!check_handle(v, "a result")) return;
      require(graph_.values[v].node == n, v, "does not name the node that makes it");
      define(v);
    }
    for (ValueId v : node.results) check_symbols(v);
    if (node.op == Op::host_call) return;
    if (is_region(node.op)) return region(node);
    const std::size_t num_results = node.op == Op::library ? facts(node.library).signature.results.size() : 1;
    if (node.results.size() != num_results && node.op != Op::compress) {
      return fail(name, node.location, str("has ", node.results.size(), " results"));
    }
    const ValueId result = node.results[0];
    const Arity arity = arity_of(node);
    if (node.operands.size() < arity.least || node.operands.size() > arity.greatest) {
      return fail(result, str(name, " has ", node.operands.size(), " operands"));
    }
    current_ = result;
    check(node);
  }

  // Sizes.

  /// For all sizes, by an assumption, or by a check of the graph.
  bool same(const Dim& a, const Dim& b) const {
    // What is known to be equal to a - b: by one equality, by another one of that, and so on. b - d is 0 where b and d
    // were compared with 3.
    constexpr std::size_t kMost = 64;
    std::vector<Dim> equal = {a - b};
    for (std::size_t i = 0; i < equal.size(); ++i) {
      if (equal[i].is(0)) return true;
      const Dim difference = equal[i];
      for_each_equality([&](const Dim& left, const Dim& right) {
        if (equal.size() >= kMost) return;
        for (const Dim& other : {without(difference, left - right), replaced(difference, left, right),
                                 replaced(difference, right, left)}) {
          if (std::ranges::find(equal, other) == equal.end()) equal.push_back(other);
        }
      });
    }
    return false;
  }

  template <class Visit>
  void for_each_equality(Visit visit) const {
    for (const auto& [left, right] : graph_.assumptions) visit(left, right);
    for (const DimCheck& check : graph_.checks) {
      if (check.relation == DimCheck::Relation::equal) visit(check.left, check.right);
    }
  }

  /// Less as many of what is 0 as take its first term away, if they can.
  static Dim without(const Dim& difference, const Dim& zero) {
    if (difference.is_constant()) return difference;
    const Dim::Term& first = difference.terms()[0];
    for (const Dim::Term& term : zero.terms()) {
      if (first.coefficient % term.coefficient != 0) continue;
      const Dim other = difference - Dim(first.coefficient / term.coefficient) * zero;
      if (other.is_constant() || other.terms().size() < difference.terms().size() + zero.terms().size() - 1)
        return other;
    }
    return difference;
  }

  /// With `by` in the place of a symbol, also within functions.
  Dim replaced(const Dim& difference, const Dim& symbol, const Dim& by) const {
    if (!symbol.is_symbol()) return difference;
    IdMap<SymbolId, Dim> replacement;
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) replacement.push_back(Dim::symbol(s));
    replacement[symbol.as_symbol()] = by;
    return difference.substitute(replacement);
  }

  bool at_most(const Dim& a, const Dim& b) const {
    if ((b - a).lower_bound(IdMap<SymbolId, int64_t>(graph_.symbols.size(), 0)) >= 0) return true;
    const auto says_so = [&](const DimCheck& check) {
      return check.relation == DimCheck::Relation::at_most && check.right - check.left == b - a;
    };
    return std::ranges::any_of(graph_.checks, says_so) || same(a, b);
  }
  bool same(std::span<const Dim> a, std::span<const Dim> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Dim& x, const Dim& y) { return same(x, y); });
  }

  const TensorType& type(ValueId v) const { return graph_.type(v); }
  std::string text(const TensorType& type) const { return graph_.type_text(type); }
  std::string text(const Dim& dim) const { return dim.to_text(graph_.symbol_names()); }

  void expect_type(DType dtype, const std::vector<Dim>& dims) {
    const TensorType& found = type(current_);
    if (found.dtype == dtype && same(found.dims, dims)) return;
    fail(current_, str("its type is ", text(found), "; its operands make ", text(TensorType{dtype, dims})));
  }

  /// `from` stretches to `to`, aligned at the last axis, only where it is 1.
  void expect_stretches(const std::vector<Dim>& from, const std::vector<Dim>& to, const std::string& what) {
    bool fits = from.size() <= to.size();
    for (std::size_t i = 0; fits && i < from.size(); ++i) {
      fits = from[i].is(1) || same(from[i], to[to.size() - from.size() + i]);
    }
    const TensorType left{DType::f64, from}, right{DType::f64, to};
    if (!fits) fail(current_, str(what, " ", text(left), " does not stretch to ", text(right)));
  }

  // Each op by its own rule.

  void check(const Node& node) {
    switch (node.op) {
      case Op::literal: return literal(node);
      case Op::scalar: return scalar(node);
      case Op::cast: return check_cast(node);
      case Op::broadcast:
        expect_dtype_of(node.operands[0]);
        return expect_stretches(type(node.operands[0]).dims, type(current_).dims, "the operand");
      case Op::reshape:
        expect_dtype_of(node.operands[0]);
        return require(same(product(type(node.operands[0]).dims), product(type(current_).dims)), current_,
                       "reshape changes the number of elements");
      case Op::transpose: return transpose(node);
      case Op::flip: return flip(node);
      case Op::diagonal: return diagonal(node);
      case Op::slice:
      case Op::gather: return read(node);
      case Op::update:
      case Op::scatter: return write(node);
      case Op::reduce: return reduce(node);
      case Op::cumulative: return cumulative(node);
      case Op::concat: return concat(node);
      case Op::iota: return require(type(current_).rank() == 1, current_, "iota makes rank 1");
      case Op::size: check_symbols(current_, node.size); return expect_type(DType::i64, {});
      case Op::as_size: return as_size(node);
      case Op::compress: return compress(node);
      case Op::library: return library(node);
      case Op::host_call:
      case Op::cond:
      case Op::loop: return;
      case Op::assert_:
        require(type(node.operands[1]) == TensorType{DType::boolean, {}}, current_, "the condition is no 0-d bool");
        for (std::size_t i = 2; i < node.operands.size(); ++i) {
          require(type(node.operands[i]) == TensorType{DType::i64, {}}, current_, "a number is no 0-d i64");
        }
        return expect_type(type(node.operands[0]).dtype, type(node.operands[0]).dims);
    }
  }

  void check_cast(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    require(!is_complex(from.dtype) || is_complex(type(current_).dtype), current_,
            "a complex number is cast to a real one");
    expect_type(type(current_).dtype, from.dims);
  }

  void expect_dtype_of(ValueId operand) {
    require(type(current_).dtype == type(operand).dtype, current_, "a view changes the dtype");
  }

  void literal(const Node& node) {
    const Dim count = product(type(current_).dims);
    require(count.is(static_cast<int64_t>(node.elements.size())), current_,
            str(node.elements.size(), " elements for ", text(type(current_))));
    for (const Literal& element : node.elements) {
      require(element.dtype == type(current_).dtype, current_, "an element of another dtype");
    }
  }

  void scalar(const Node& node) {
    const bool is_select = node.scalar == ScalarOp::select_;
    const DType dtype = type(node.operands.back()).dtype;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const DType wanted = is_select && i == 0 ? DType::boolean : dtype;
      require(type(node.operands[i]).dtype == wanted, current_,
              str("operand ", i, " is ", text(type(node.operands[i]))));
      expect_stretches(type(node.operands[i]).dims, type(current_).dims, str("operand ", i));
    }
    require(accepts(node.scalar, dtype), current_, str(facts(node.scalar).name, " does not take ", dtype_name(dtype)));
    const DType result = result_dtype(node.scalar, dtype);
    require(type(current_).dtype == result, current_, str("its dtype is not ", dtype_name(result)));
    // Nothing stretches a dim that is 1 in every operand.
    for (int from_last = 1; from_last <= type(current_).rank(); ++from_last) {
      const auto wide = [&](ValueId v) {
        const auto& dims = type(v).dims;
        return static_cast<int>(dims.size()) >= from_last && !dims[dims.size() - from_last].is(1);
      };
      const bool any = std::ranges::any_of(node.operands, wide);
      require(any || type(current_).dims[type(current_).rank() - from_last].is(1), current_, "wider than its operands");
    }
  }

  void transpose(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    std::vector<int> sorted = node.axes;
    std::ranges::sort(sorted);
    std::vector<int> whole;
    for (int axis = 0; axis < from.rank(); ++axis) whole.push_back(axis);
    if (sorted != whole) return fail(current_, "the axes are no permutation");
    std::vector<Dim> dims;
    for (int axis : node.axes) dims.push_back(from.dims[axis]);
    expect_type(from.dtype, dims);
  }

  /// Ascending, each once, and there.
  bool check_axes(const std::vector<int>& axes, int rank) {
    const bool ascending = std::ranges::adjacent_find(axes, std::greater_equal<>()) == axes.end();
    if (ascending && (axes.empty() || (axes.front() >= 0 && axes.back() < rank))) return true;
    fail(current_, str("axes [", join(axes, ", "), "] of rank ", rank));
    return false;
  }

  void flip(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    if (check_axes(node.axes, from.rank())) expect_type(from.dtype, from.dims);
  }

  void diagonal(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    if (!check_axes(node.axes, from.rank())) return;
    if (node.axes.size() != 2) return fail(current_, str(node.axes.size(), " axes, not 2"));
    require(same(from.dims[node.axes[0]], from.dims[node.axes[1]]), current_, "the two dims differ");
    std::vector<Dim> dims;
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (!std::ranges::binary_search(node.axes, axis)) dims.push_back(from.dims[axis]);
    }
    dims.push_back(from.dims[node.axes[0]]);
    expect_type(from.dtype, dims);
  }

  /// The shape of x[index], or none when the index itself is wrong. `first_array`: where index arrays begin in
  /// operands.
  std::optional<std::vector<Dim>> region(const Node& node, std::size_t first_array) {
    const TensorType& x = type(node.operands[0]);
    if (static_cast<int>(node.index.size()) != x.rank()) {
      fail(current_, str(node.index.size(), " index items for rank ", x.rank()));
      return std::nullopt;
    }
    std::vector<Dim> ranges_before, ranges_after, arrays;
    std::size_t next_array = first_array;
    int array_blocks = 0;
    bool in_block = false;
    const bool any_array =
        std::ranges::any_of(node.index, [](const IndexItem& item) { return item.kind == IndexItem::Kind::array; });
    const auto in_array_block = [&] {
      if (!in_block) ++array_blocks;
      in_block = true;
    };
    for (int axis = 0; axis < x.rank(); ++axis) {
      const IndexItem& item = node.index[axis];
      switch (item.kind) {
        case IndexItem::Kind::range:
          range(item, x.dims[axis], axis);
          (array_blocks ? ranges_after : ranges_before).push_back(item.length());
          in_block = false;
          break;
        case IndexItem::Kind::position:
          require(at_most(0, item.position) && at_most(item.position + 1, x.dims[axis]), current_,
                  str("position ", text(item.position), " is not shown to be in axis ", axis));
          if (any_array) in_array_block();
          break;
        case IndexItem::Kind::array:
          if (next_array >= node.operands.size() || node.operands[next_array] != item.array) {
            fail(current_, "the operands are not the index arrays in order");
            return std::nullopt;
          }
          ++next_array;
          require(is_integer(type(item.array).dtype), current_, "an index array of no integers");
          stretch(arrays, type(item.array).dims);
          in_array_block();
          break;
      }
    }
    if (next_array != node.operands.size()) {
      fail(current_, "more operands than index arrays");
      return std::nullopt;
    }
    // Arrays with a range between them, where a position beside arrays is one too: their axes come first, as in NumPy.
    std::vector<Dim> dims = array_blocks > 1 ? arrays : ranges_before;
    const std::vector<Dim>& middle = array_blocks > 1 ? ranges_before : arrays;
    dims.insert(dims.end(), middle.begin(), middle.end());
    dims.insert(dims.end(), ranges_after.begin(), ranges_after.end());
    return dims;
  }

  void range(const IndexItem& item, const Dim& dim, int axis) {
    require(item.step > 0, current_, str("step ", item.step));
    if (item.start.is(0) && item.stop == dim) return;  // whole: a size is never negative
    require(at_most(0, item.start) && at_most(item.start, item.stop) && at_most(item.stop, dim), current_,
            str("range ", text(item.start), ":", text(item.stop), " is not shown to be in axis ", axis));
  }

  /// `dims` widened by `other`, aligned at the last axis.
  void stretch(std::vector<Dim>& dims, const std::vector<Dim>& other) {
    if (other.size() > dims.size()) dims.insert(dims.begin(), other.size() - dims.size(), Dim(1));
    for (std::size_t i = 0; i < other.size(); ++i) {
      Dim& dim = dims[dims.size() - other.size() + i];
      if (dim.is(1)) {
        dim = other[i];
      } else {
        require(other[i].is(1) || same(dim, other[i]), current_, "the index arrays do not fit each other");
      }
    }
  }

  void read(const Node& node) {
    if (const auto dims = region(node, 1)) expect_type(type(node.operands[0]).dtype, *dims);
  }

  void write(const Node& node) {
    const TensorType &base = type(node.operands[0]), &value = type(node.operands[1]);
    if (const auto dims = region(node, 2)) expect_stretches(value.dims, *dims, "the value");
    require(value.dtype == base.dtype, current_, "the value has another dtype than the base");
    require(node.combine == Combine::set || accepts(combine_op(node.combine), base.dtype), current_,
            str(combine_name(node.combine), " does not take ", dtype_name(base.dtype)));
    expect_type(base.dtype, base.dims);
  }

  void reduce(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    if (!check_axes(node.axes, from.rank())) return;
    require(node.combine != Combine::set && accepts(combine_op(node.combine), from.dtype), current_,
            str("reduce ", combine_name(node.combine), " does not take ", dtype_name(from.dtype)));
    std::vector<Dim> dims;
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (!std::ranges::binary_search(node.axes, axis)) dims.push_back(from.dims[axis]);
    }
    expect_type(from.dtype, dims);
  }

  void cumulative(const Node& node) {
    const TensorType& from = type(node.operands[0]);
    if (node.axes.size() != 1 || !check_axes(node.axes, from.rank())) return;
    require(node.combine != Combine::set && accepts(combine_op(node.combine), from.dtype), current_,
            str("cumulative ", combine_name(node.combine), " does not take ", dtype_name(from.dtype)));
    expect_type(from.dtype, from.dims);
  }

  void as_size(const Node& node) {
    require(type(node.operands[0]) == TensorType{DType::i64, {}}, current_, "a size is no 0-d i64");
    require(node.size.is_symbol(), current_, "binds no symbol");
    expect_type(DType::i64, {});
  }

  void compress(const Node& node) {
    const TensorType& mask = type(node.operands[0]);
    expect_type(DType::i64, {});
    if (mask.dtype != DType::boolean || mask.rank() != 1) return fail(current_, "the mask is no vector of bool");
    if (node.results.size() != node.operands.size()) return fail(current_, "has not one result for each operand");
    require(node.size.is_symbol(), current_, "binds no symbol");
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      const TensorType& x = type(node.operands[i]);
      require(same(x.dims, mask.dims), current_, str("operand ", i, " is ", text(x)));
      current_ = node.results[i];
      expect_type(x.dtype, {node.size});
    }
  }

  void concat(const Node& node) {
    const TensorType& first = type(node.operands[0]);
    if (node.axes.size() != 1 || !check_axes(node.axes, first.rank())) return;
    const int axis = node.axes[0];
    std::vector<Dim> dims = first.dims;
    dims[axis] = 0;
    for (ValueId v : node.operands) {
      const TensorType& part = type(v);
      if (part.dtype != first.dtype || part.rank() != first.rank()) return fail(current_, "parts of different types");
      for (int d = 0; d < first.rank(); ++d) {
        if (d == axis) {
          dims[d] = dims[d] + part.dims[d];
        } else {
          require(same(dims[d], part.dims[d]), current_, str("parts differ in dim ", d));
        }
      }
    }
    expect_type(first.dtype, dims);
  }

  void library(const Node& node) {
    std::vector<TensorType> operands;
    for (ValueId v : node.operands) operands.push_back(type(v));
    ErrorCode code = ErrorCode::internal;
    const std::string problem = library_operands_problem(node.library, operands, code);
    if (!problem.empty()) return fail(current_, problem);
    const LibraryOpFacts& row = facts(node.library);
    require((node.library_options & ~row.options) == 0, current_, str(row.name, " has other options"));
    const LibraryShape shape = library_shape(node.library, operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::vector<Dim> dims;
      if (has_all_core_axes(node.library, i, operands[i].rank())) dims = shape.batch;
      for (const CoreAxis& axis : core_axes(node.library, i, operands[i].rank())) {
        dims.push_back(core_size<Dim>(row.signature, axis, shape.sizes));
      }
      require(same(operands[i].dims, dims), current_, str("operand ", i, " of ", row.name, " has other sizes"));
    }
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      current_ = node.results[r];
      expect_type(shape.results[r].dtype, shape.results[r].dims);
    }
  }

  // Regions: their bodies are verified as graphs; here stands how values pass the border.

  void region(const Node& node) {
    const std::string name(op_name(node.op));
    const Region& region = node.region;
    if (region.bodies.size() != (node.op == Op::cond ? 2 : 1)) {
      return fail(name, node.location, str("has ", region.bodies.size(), " bodies"));
    }
    for (const auto& body : region.bodies) {
      if (!body->is_body || body->symbols.size() > graph_.symbols.size()) {
        return fail(name, node.location, "its body is no body of this graph");
      }
      std::vector<Diagnostic> inside = verify(*body);
      diagnostics_.insert(diagnostics_.end(), inside.begin(), inside.end());
    }
    node.op == Op::cond ? cond(node) : loop(node);
  }

  bool same_type(const TensorType& a, const TensorType& b) const { return a.dtype == b.dtype && same(a.dims, b.dims); }

  void expect_params(const Node& node, const Graph& body, std::size_t first_param, std::size_t first_operand) {
    const std::size_t count = node.operands.size() - first_operand;
    if (body.params.size() != first_param + count) {
      return fail(std::string(op_name(node.op)), node.location, str(body.params.size(), " parameters of the body"));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId inside = body.params[first_param + i].value, outside = node.operands[first_operand + i];
      if (!same_type(body.type(inside), type(outside))) {
        fail(outside, str("comes into a body as ", body.describe(inside)));
      }
    }
  }

  void expect_result(const Node& node, std::size_t result, const Graph& body, std::size_t output,
                     std::optional<Dim> rows = {}) {
    TensorType made = body.type(body.outputs[output].value);
    if (rows) made.dims.insert(made.dims.begin(), *rows);
    if (!same_type(type(node.results[result]), made)) fail(node.results[result], str("the body makes ", text(made)));
  }

  void cond(const Node& node) {
    require(type(node.operands[0]) == TensorType{DType::boolean, {}}, node.operands[0], "the condition is no 0-d bool");
    for (const auto& body : node.region.bodies) {
      expect_params(node, *body, 0, 1);
      if (body->outputs.size() != node.results.size()) return fail("cond", node.location, "a body of other results");
      for (std::size_t i = 0; i < node.results.size(); ++i) expect_result(node, i, *body, i);
    }
  }

  void loop(const Node& node) {
    const Graph& body = *node.region.bodies[0];
    const auto num_carried = static_cast<std::size_t>(node.region.num_carried);
    const std::size_t num_conditions = node.region.has_condition ? 1 : 0;
    expect_params(node, body, 1, 0);
    if (!diagnostics_.empty()) return;
    const bool fits = node.operands.size() >= num_carried && node.results.size() >= num_carried &&
                      body.outputs.size() == node.results.size() + num_conditions;
    if (!fits) return fail("loop", node.location, "a body of other results");
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const bool is_trace = i >= num_carried;
      expect_result(node, i, body, i, is_trace ? std::optional(node.region.count) : std::nullopt);
    }
    if (num_conditions > 0 && body.type(body.outputs.back().value) != TensorType{DType::boolean, {}}) {
      fail("loop", node.location, "its condition is no 0-d bool");
    }
    if (body.params[0].below != node.region.count) fail("loop", node.location, "its step has another bound");
  }

  const Graph& graph_;
  IdMap<ValueId, bool> defined_;
  IdMap<SymbolId, bool> bound_;
  ValueId current_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

std::vector<Diagnostic> verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace inlay
