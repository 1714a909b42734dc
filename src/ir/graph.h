#pragma once
// An array program: immutable values, each made by one node, with symbolic sizes.
//
// A Graph is plain tables and typed handles. Nodes are in program order: operands come before their users. Values are
// immutable: `update` makes a new value. Only memory planning knows that two values may share bytes.
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

/// A value of a graph. A value from a builder has the number of the builder, and other builders reject it; in a Graph
/// it is only an index. Comparisons use the index.
struct ValueId : Id<struct ValueTag> {
  uint32_t builder = 0;  // 0: none

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

/// The closed set of op families. Each builder call (ir/builder.h) says what its op takes and gives.
enum class Op : uint8_t {
  literal,    // a scalar, or up to 16 elements, known at compile time
  scalar,     // one ScalarOp applied elementwise; operands broadcast statically
  cast,       // to another dtype
  broadcast,  // views: no elements of their own
  reshape,
  transpose,
  flip,
  diagonal,  // takes the diagonal of two axes, as the last axis
  slice,
  gather,      // read through index arrays
  update,      // a new value: a base with a region written or combined
  scatter,     // the same through index arrays
  reduce,      // by a Fold (ops/folds.def), each stored state of which is a result
  cumulative,  // the running combination along an axis, in order
  concat,
  iota,       // 0, 1, ..., n-1
  size,       // a Dim as a 0-d i64 value
  as_size,    // a 0-d i64 value that is checked to be a size: the value of a symbol from here on
  compress,   // the elements where a mask holds, and their number, which is the value of a symbol
  library,    // a LibraryOp on matrices or rows, for each point of the leading axes; may have several results
  host_call,  // a function of the caller
  assert_,    // its first operand, if its condition, the second, holds; further ones are numbers for its message
  cond,       // one of two bodies
  loop,       // a body that runs a number of times
};
std::string_view op_name(Op op);

/// May an update copy its base? `required`: compiling fails if the plan cannot give it the base's bytes.
enum class InPlace : uint8_t { wanted, required };

/// One item in the brackets of `x[...]`. `range` keeps its axis, `position` drops it; `array` is an index array.
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

/// The bodies of a cond or a loop, and how values enter and leave them.
///
/// A body is closed: what it reads from outside is an operand, and one of its parameters. So every pass and every
/// oracle treats it as a graph. It has the sizes of the enclosing graph under the same ids; those that it finds itself
/// come after them, and are unknown outside.
///   cond   operands: the 0-d bool, captured...      bodies: then, else, each with a parameter for each captured one
///   loop   operands: initial..., captured...        body: parameters step, carried..., captured...
///          results: carried, after the last step    outputs: next carried..., traced..., and the condition if it has
///          one
///                   ..., traces [count, ...]...
struct Region {
  std::vector<std::shared_ptr<const Graph>> bodies;
  Dim count;                   // of loop: the maximum number of steps, >= 0
  int num_carried = 0;         // of loop
  bool has_condition = false;  // loop: ends after a step that gives false; rows of traces not reached are 0
};

struct Node {
  Op op = Op::literal;
  ScalarOp scalar = ScalarOp::add_;       // of Op::scalar
  Combine combine = Combine::set;         // of update, scatter, cumulative
  Fold fold = Fold::none;                 // of Op::reduce
  InPlace in_place = InPlace::wanted;     // of update, scatter
  LibraryOp library = LibraryOp::matmul;  // of Op::library
  LibraryOptions library_options = 0;
  std::vector<ValueId> operands;  // index arrays come after the others, in the order of `index`
  std::vector<ValueId> results;
  std::vector<IndexItem> index;   // of slice, gather, update, scatter: one item for each axis of operand 0
  std::vector<int> axes;          // transpose: the permutation; flip, reduce: axes, ascending; diagonal: two;
                                  // cumulative, concat: one
  Dim size;                       // of size; of as_size and compress: the symbol that they define
  std::vector<Literal> elements;  // of Op::literal, row-major
  std::string text;               // assert: its message; host_call: its name; gather: the op that it is
                                  // made for, where its errors say that
  int host_function = -1;         // of host_call: index into the table of host functions
  ErrorCode error = ErrorCode::assert_failed;  // of assert
  Region region;                               // of cond and loop
  Location location;
};

/// Returns how errors about the node begin: with its op, or the op that it is made for.
std::string_view called(const Node& node);

struct Param {
  ValueId value;
  bool bound = false;    // set once, when the program is bound, not per call
  bool donated = false;  // the caller gives up its bytes: a call may overwrite them
  Facts facts;
  std::optional<Dim> below;  // of the first parameter of a loop's body: it is the step's number, 0 <= step < below
  /// The dims by which a caller's array is checked, if those of its type have other symbols of the same value
  /// (rewrite/equal_sizes.h). Empty: those of its type.
  std::vector<Dim> given;
};

struct ValueInfo {
  TensorType type;
  std::string name;  // as the user knows it; may be empty
  NodeId node;       // none: a parameter
};

struct Symbol {
  std::string name;
  // Its definition: axis `axis` of a parameter or of a result of a host call; kOfValue: the value itself, a 0-d i64 (of
  // as_size, compress).
  static constexpr int kOfValue = -1;
  ValueId source;
  int axis = 0;
};

/// Two sizes that must agree at run time: while building, they could be proved neither equal nor different.
struct DimCheck {
  enum class Relation : uint8_t { equal, at_most };
  Dim left, right;
  Relation relation = Relation::equal;
  NodeId node;  // the node that carries the check; none: it stands alone, where its sizes are known (ir/checks.h)
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
      0;  // of a body: how many of its first symbols are those of the enclosing graph, which knows them
  uint32_t symbols_of = 0;  // the number of the builder of its symbols, for a body that of the enclosing graph
  IdMap<SymbolId, Symbol> symbols;
  IdMap<ValueId, ValueInfo> values;
  IdMap<NodeId, Node> nodes;
  std::vector<Param> params;
  std::vector<Output> outputs;
  std::vector<DimCheck> checks;
  std::vector<std::pair<Dim, Dim>> assumptions;  // as written: `assume n == m + 1`; each is a check at the entry

  const TensorType& type(ValueId v) const { return values[v].type; }
  const Node* node_of(ValueId v) const { return values[v].node.valid() ? &nodes[values[v].node] : nullptr; }
  /// Returns the node that finds a size during the run; none if the size is known at the entry.
  NodeId binder_of(SymbolId s) const {
    const ValueId source = symbols[s].source;  // a body's symbol from outside has none
    return source.valid() ? values[source].node : NodeId();
  }
  bool is_given(SymbolId s) const { return s.index < num_given; }
  /// Of a body: does the enclosing graph have all symbols of the size?
  bool is_given(const Dim& size) const {
    return std::ranges::all_of(size.symbols(), [&](SymbolId s) { return is_given(s); });
  }
  IdMap<SymbolId, std::string> symbol_names() const;

  /// Returns `alpha`, or `$7` without a name: the name in buffers and reasons.
  std::string name_text(ValueId v) const;
  /// Returns `%alpha` or `%7`, as the text form and errors write a value.
  std::string value_text(ValueId v) const;
  /// Returns the text of a type: `f64[n, 3]`.
  std::string type_text(const TensorType& type) const;
  /// Returns `%3 "alpha" f64[5, 7]`, for the notes of an error.
  std::string describe(ValueId v) const;
};

/// Returns the dims by which a caller's array for the parameter is checked.
inline const std::vector<Dim>& given_dims(const Graph& graph, const Param& param) {
  return param.given.empty() ? graph.type(param.value).dims : param.given;
}

/// Does NumPy put the index arrays' axes first? It does if a range is between two of them; a position among index
/// arrays counts as one.
bool arrays_apart(std::span<const IndexItem> index);

/// Returns the dims of the region that an index list selects: the index arrays' broadcast dims are in the place of the
/// arrays, or first.
std::vector<Dim> region_dims(const Graph& graph, std::span<const IndexItem> index);

}  // namespace inlay

template <>
struct std::hash<inlay::ValueId> : std::hash<inlay::Id<inlay::ValueTag>> {};
