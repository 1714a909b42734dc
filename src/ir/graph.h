#pragma once
// An array program: immutable values, each made by one node, with symbolic sizes.
//
// A Graph is plain tables and typed handles. Nodes stand in program order: operands come before their users. Nothing is
// ever mutated: `update` makes a new value. Only memory planning knows that two values may share bytes.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ops/facts.h"
#include "ops/fold.h"
#include "ops/library_op.h"
#include "ops/literal.h"
#include "ops/scalar_op.h"
#include "support/error.h"
#include "support/id.h"

namespace inlay {

/// A value of a graph. One that a builder gave out has the number of the builder, and all others refuse it; in a Graph
/// it is an index alone. Comparisons look at the index.
struct ValueId : Id<struct ValueTag> {
  uint32_t builder = 0;  // 0: of none

  constexpr ValueId() = default;
  constexpr explicit ValueId(std::size_t i, uint32_t builder = 0) : Id(i), builder(builder) {}
};
using NodeId = Id<struct NodeTag>;

struct TensorType {
  DType dtype = DType::f64;
  std::vector<Dim> dims;

  int rank() const { return static_cast<int>(dims.size()); }
  bool operator==(const TensorType&) const = default;
};

/// The closed set of op families. What each takes and gives stands with its builder call (ir/builder.h).
enum class Op : uint8_t {
  literal,    // a scalar, or up to 16 elements, known at compile time
  scalar,     // one ScalarOp applied elementwise; operands broadcast statically
  cast,       // to another dtype
  broadcast,  // views: no elements of their own
  reshape,
  transpose,
  flip,
  diagonal,  // two axes become one, the last
  slice,
  gather,   // read through index arrays
  update,   // a new value: a base with a region written or combined
  scatter,  // the same through index arrays
  reduce,
  fold,        // a reduction of several states (ops/folds.def), each of which is a result
  cumulative,  // the running combination along an axis, in order
  concat,
  iota,       // 0, 1, ..., n-1
  size,       // a Dim as a 0-d i64 value
  as_size,    // a 0-d i64 value, once it is known to be a size: from here on it is the number of a symbol
  compress,   // how many elements of a mask hold, which is the number of a symbol; and the elements where it does
  library,    // a LibraryOp over matrices or rows, for each point of the leading axes; may have several results
  host_call,  // a function that the door supplies
  assert_,    // its first operand, once its condition, the second, holds; further ones are numbers for its message
  cond,       // one of two bodies
  loop,       // a body, a number of times
};
std::string_view op_name(Op op);

/// May an update copy its base? `required`: where the plan cannot give it the base's bytes, compiling is an error.
enum class InPlace : uint8_t { wanted, required };

/// One place in the brackets of `x[...]`. `range` keeps its axis, `position` drops it; `array` is an index array.
struct IndexItem {
  enum class Kind : uint8_t { range, position, array };
  Kind kind = Kind::range;
  Dim start, stop;   // range: 0 <= start <= stop <= dim, every `step`-th element
  int64_t step = 1;  // > 0
  Dim position;      // 0 <= position < dim
  ValueId array;     // integers of any rank; negative ones count from the end; out of bounds is an error

  static IndexItem range(Dim start, Dim stop, int64_t step = 1) { return {Kind::range, start, stop, step, {}, {}}; }
  static IndexItem at(Dim position) { return {Kind::position, {}, {}, 1, position, {}}; }
  static IndexItem through(ValueId array) { return {Kind::array, {}, {}, 1, {}, array}; }
  Dim length() const { return ceil_div(stop - start, step); }
  bool operator==(const IndexItem&) const = default;
};

struct Graph;

/// The bodies of a cond or a loop, and how values pass the border.
///
/// A body is closed: what it reads of the outside comes in as an operand, and stands for one of its parameters. So
/// every pass and every oracle treats it as a graph. The sizes of the graph around it are its own, by the same ids;
/// those that it finds itself come behind them, and nothing outside has them.
///   cond   operands: the 0-d bool, captured...      bodies: then, else, each with a parameter for each captured one
///   loop   operands: initial..., captured...        body: parameters step, carried..., captured...
///          results: carried, after the last step    outputs: next carried..., traced..., and the condition if it has
///          one
///                   ..., traces [count, ...]...
struct Region {
  std::vector<std::shared_ptr<const Graph>> bodies;
  Dim count;                   // of loop: the greatest number of steps, >= 0
  int num_carried = 0;         // of loop
  bool has_condition = false;  // loop: after a step that gives false no other follows; rows of traces not reached are 0
};

struct Node {
  Op op = Op::literal;
  ScalarOp scalar = ScalarOp::add_;       // of Op::scalar
  Combine combine = Combine::set;         // of update, scatter, reduce, cumulative
  Fold fold = Fold::none;                 // of Op::fold
  InPlace in_place = InPlace::wanted;     // of update, scatter
  LibraryOp library = LibraryOp::matmul;  // of Op::library
  LibraryOptions library_options = 0;
  std::vector<ValueId> operands;  // index arrays too, after the others, in the order of `index`
  std::vector<ValueId> results;
  std::vector<IndexItem> index;   // of slice, gather, update, scatter: one item for each axis of operand 0
  std::vector<int> axes;          // transpose: the permutation; flip, reduce, fold: axes, ascending; diagonal:
                                  // two; cumulative, concat: one
  Dim size;                       // of size; of as_size and compress: the symbol that they bind
  std::vector<Literal> elements;  // of Op::literal, row-major
  std::string text;               // assert: its message; host_call: its name; gather: the op that it is
                                  // made for, where its errors say that
  int host_function = -1;         // of host_call: index into the door's table
  ErrorCode error = ErrorCode::assert_failed;  // of assert
  Region region;                               // of cond and loop
  Location location;
};

/// How an error begins that is about the node: with its op, or the one that it is made for.
std::string_view called(const Node& node);

struct Param {
  ValueId value;
  bool bound = false;    // given once, when the program is bound, not per call
  bool donated = false;  // the caller gives its bytes away: a call may overwrite them
  Facts facts;
  std::optional<Dim> below;  // of a loop's body, its first: the number of the step, 0 <= step < below
  /// The dims by which a caller's array is checked, where those of its type have other symbols for the same numbers
  /// (rewrite/equal_sizes.h). Empty: they are those of its type.
  std::vector<Dim> given;
};

struct ValueInfo {
  TensorType type;
  std::string name;  // as the user knows it; may be empty
  NodeId node;       // none: a parameter
};

struct Symbol {
  std::string name;
  // Who gives it its number: axis `axis` of a parameter or of a result of a host call; kOfValue: the value itself, a
  // 0-d i64 (of as_size, compress).
  static constexpr int kOfValue = -1;
  ValueId source;
  int axis = 0;
};

/// Two sizes that must agree when the program runs, found while building: neither yes nor no could be answered.
struct DimCheck {
  enum class Relation : uint8_t { equal, at_most };
  Dim left, right;
  Relation relation = Relation::equal;
  NodeId node;  // where the check stands; none: at the entry
  ErrorCode code = ErrorCode::shape_mismatch;
  std::string message;  // "add: dim 1 is {0} on the left and {1} on the right": the two sizes of the run
  std::vector<std::pair<std::string, std::string>> notes;  // role and description of the operands
  Location location;
};

struct Output {
  ValueId value;
  std::string name;
};

struct Graph {
  std::string name = "main";
  bool is_body = false;  // of a region
  std::size_t num_given =
      0;                    // of a body: its first symbols, so many, are those of the graph around it, which knows them
  uint32_t symbols_of = 0;  // the number of the builder whose symbols it has, a body that of the graph around it
  IdMap<SymbolId, Symbol> symbols;
  IdMap<ValueId, ValueInfo> values;
  IdMap<NodeId, Node> nodes;
  std::vector<Param> params;
  std::vector<Output> outputs;
  std::vector<DimCheck> checks;
  std::vector<std::pair<Dim, Dim>> assumptions;  // as written: `assume n == m + 1`; each is a check at the entry

  const TensorType& type(ValueId v) const { return values[v].type; }
  const Node* node_of(ValueId v) const { return values[v].node.valid() ? &nodes[values[v].node] : nullptr; }
  /// Of a size that is found on the way, the node that finds it. None: the size is known at the entry.
  NodeId binder_of(SymbolId s) const {
    const ValueId source = symbols[s].source;  // one that is given to a body has none
    return source.valid() ? values[source].node : NodeId();
  }
  bool is_given(SymbolId s) const { return s.index < num_given; }
  /// Of a body: does the graph around it have all symbols of the size?
  bool is_given(const Dim& size) const {
    return std::ranges::all_of(size.symbols(), [&](SymbolId s) { return is_given(s); });
  }
  IdMap<SymbolId, std::string> symbol_names() const;

  /// `alpha`, or `$7` where it has no name: what buffers and reasons are called.
  std::string name_text(ValueId v) const;
  /// `%alpha` or `%7`: how the text form and errors write a value.
  std::string value_text(ValueId v) const;
  /// `f64[n, 3]`.
  std::string type_text(const TensorType& type) const;
  /// `%3 "alpha" f64[5, 7]`, for the notes of an error.
  std::string describe(ValueId v) const;
};

/// The dims by which a caller's array for the parameter is checked.
inline const std::vector<Dim>& given_dims(const Graph& graph, const Param& param) {
  return param.given.empty() ? graph.type(param.value).dims : param.given;
}

/// Does NumPy put the index arrays' axes first? A range stands between two of them; a position among index arrays
/// counts as one.
bool arrays_apart(std::span<const IndexItem> index);

/// Dims of the region that an index list selects: the index arrays' broadcast dims stand where the arrays stood, or
/// first.
std::vector<Dim> region_dims(const Graph& graph, std::span<const IndexItem> index);

}  // namespace inlay

template <>
struct std::hash<inlay::ValueId> : std::hash<inlay::Id<inlay::ValueTag>> {};
