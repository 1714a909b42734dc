#pragma once
// A node while it is read: its attributes, its inputs as values, and where its outputs go. What the families of ops
// (ops_*.cpp) are written with.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/compose.h"
#include "ir/builder.h"
#include "onnx/attributes.h"
#include "onnx/scope.h"

namespace inlay::onnx {

class Importer;

class Call : public NodeAttributes {
 public:
  Call(Importer& importer, Scope& scope, const Node& node, int64_t version)
      : NodeAttributes(node, scope.frame.b), version(version), scope(scope), importer(importer), b(scope.frame.b) {}

  bool has(std::size_t i) const { return i < node.inputs.size() && !node.inputs[i].empty(); }
  bool wants(std::size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  /// Input i. Errors: wrong-arity where the node leaves it out.
  ValueId in(std::size_t i);
  std::optional<ValueId> maybe(std::size_t i);
  std::vector<ValueId> inputs();  // all of them, none left out
  TensorType type(ValueId v) const { return b.type(v); }
  DType dtype(std::size_t i) { return b.type(in(i)).dtype; }
  int rank(std::size_t i) { return b.type(in(i)).rank(); }
  std::vector<Dim> dims(std::size_t i) { return b.type(in(i)).dims; }
  /// The sizes of input i, which has `rank` axes. Errors: wrong-rank: it has not.
  std::vector<Dim> dims(std::size_t i, int rank);

  /// Output i.
  void out(std::size_t i, ValueId v);
  void out(ValueId v) { out(0, v); }

  /// The elements of an integer input as sizes, known or found when the program runs. Its length must be known.
  std::vector<Dim> sizes(std::size_t i);
  Dim size(std::size_t i);  // of one element
  /// The same where an element may be no size (-1, or a place that counts from the end): those that are known, and each
  /// as a 0-d i64.
  std::vector<std::optional<Dim>> known_integers(std::size_t i);
  ValueId element(std::size_t i, int64_t place);
  /// The elements of an input as constants: axes, and what else decides how the graph looks. Errors: NeedsFixed.
  std::vector<int64_t> constants(std::size_t i);
  int64_t constant(std::size_t i);
  std::vector<Literal> literals(std::size_t i);
  /// All of its elements, if they are known.
  std::optional<std::vector<Literal>> known_literals(ValueId v);
  std::optional<bool> known_truth(ValueId v);  // of one bool

  /// What an attribute was before `version` `since`, and is input i from then on. None: neither is there.
  std::optional<std::vector<int64_t>> constants_or_attribute(std::size_t i, std::string_view name, int64_t since);
  std::optional<std::vector<Dim>> sizes_or_attribute(std::size_t i, std::string_view name, int64_t since);

  /// `axis` of input 0 (or of a rank) as 0 ... rank - 1.
  int axis(int64_t axis, int rank) const;
  std::vector<int> axes(const std::vector<int64_t>& axes, int rank) const;

  /// An element of the dtype, 0-d.
  ValueId literal(DType dtype, double value) { return b.literal(Literal::of(dtype, value)); }
  /// A size that may be 1 in a call, beside another that is not, stretches as a 1 does (onnx/broadcast.h).
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  /// x op c.
  ValueId with(ScalarOp op, ValueId x, double c) { return b.scalar(op, {x, literal(b.type(x).dtype, c)}); }

  /// What must be known of `v`, and hangs on inputs of the network.
  Error needs(ValueId v, const std::string& what) const;

  const int64_t version;
  Scope& scope;
  Importer& importer;
  GraphBuilder& b;
};

/// A size as a 0-d number of the dtype.
ValueId as_number(Call& c, DType dtype, const Dim& size);
/// The one element of v, 0-d.
ValueId one_number(Call& c, ValueId v);
/// A vector along axis `axis` of `rank`.
ValueId along(Call& c, ValueId vector, std::size_t axis, std::size_t rank);
/// Places of an axis of that size: those outside of it become its first and its last.
ValueId clamped(Call& c, ValueId places, const Dim& size);

/// Stretches operands to the sizes that all have together; not along the last `num_core` axes.
void broadcast(Call& c, std::span<ValueId> operands, std::size_t num_core = 0);
/// x @ y, whose batch axes stretch so.
ValueId matmul(Call& c, ValueId x, ValueId y);

/// What an op of ONNX, as `version` of the operator set has it, makes of operands: `node` says which and how.
ValueId applied(Importer& importer, Scope& scope, Node node, std::span<const ValueId> operands, int64_t version);

/// x with sizes that are equal to its own when the network runs. `b`: the builder of x. `what`: x, in messages.
ValueId with_sizes(const Call& c, GraphBuilder& b, ValueId x, const std::vector<Dim>& dims, const std::string& what);

}  // namespace inlay::onnx
