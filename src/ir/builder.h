#pragma once
// Makes a Graph, one checked node at a time: a call for each op. The graph's sizes, parameters and outputs are calls of
// GraphDraft; what makes several nodes is a function (ir/compose.h, ir/linalg.h).
//
// Every call infers the type of its result and throws Error where the operands do not fit. Where sizes are not known
// yet, it records a DimCheck instead.
#include "ir/graph_draft.h"

namespace inlay {

/// When does a loop end? `by_condition`: also after a step whose last output, a 0-d bool, is false.
enum class Ends : uint8_t { after_count, by_condition };

class GraphBuilder : public GraphDraft {
 public:
  using GraphDraft::GraphDraft;
  /// For what `source` becomes: its sizes are those of `source`, once it has the same symbols. (Those that are given to
  /// a body it has.)
  static GraphBuilder rewriting(const Graph& source);

  ValueId literal(Literal value);                                         // 0-d
  ValueId literal(std::vector<Literal> elements, std::vector<Dim> dims);  // at most 16 elements, one dtype
  ValueId literal(double value) { return literal(Literal::of_float(DType::f64, value)); }

  /// Operands broadcast as in NumPy, aligned at the last axis; a dim stretches only where its type says 1.
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  ValueId cast(ValueId x, DType dtype);

  ValueId broadcast(ValueId x, std::vector<Dim> dims);  // dims of x aligned at the last axis; each equal or 1
  ValueId reshape(ValueId x, std::vector<Dim> dims);    // same number of elements, row-major order
  ValueId transpose(ValueId x, std::vector<int> permutation);
  ValueId flip(ValueId x, std::vector<int> axes);
  /// The elements of x whose places on axes `first` and `second`, which are of one size, are equal: the two axes go,
  /// and one of that size comes last.
  ValueId diagonal(ValueId x, int first, int second);
  /// Fewer items than axes: the rest are whole. `array` items only in gather and scatter. A range may go backwards, in
  /// all four: `-1 <= stop <= start < dim`, step < 0, every step-th element from `start` down to before `stop`. The
  /// node has the same elements as a range that goes up, and a flip of the region stands beside it.
  ValueId slice(ValueId x, std::vector<IndexItem> index);
  /// Index arrays broadcast together; their axes stand where the arrays stood if those are adjacent, else first
  /// (NumPy).
  /// `made_for`: the op that an error names instead of gather.
  ValueId gather(ValueId x, std::vector<IndexItem> index, std::string made_for = {});
  /// `v` broadcasts statically to the shape of the region x[index]. dtype of v = dtype of x. The result is a new value
  /// all the same where it is `required` to be made in place: compiling fails (not-in-place) where x would be copied.
  ValueId update(Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v,
                 InPlace in_place = InPlace::wanted);
  ValueId scatter(Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v,
                  InPlace in_place = InPlace::wanted);

  /// Over `axes` (ascending, each once). The results are the stored states of the row in ops/folds.def, the operands,
  /// all of one shape, what each of them folds that does not count points. `dtype`: what the first result is computed
  /// in; its operand is cast to it, and sums that count points have it too. A row with hidden states goes over all
  /// axes. Of no elements, what has a max or a min is an error. A mean is a sum and a division.
  std::vector<ValueId> reduce(Fold fold, std::vector<ValueId> operands, std::vector<int> axes, DType dtype);
  /// The first result of a row of one operand, such as a sum.
  ValueId reduce(Fold fold, ValueId x, std::vector<int> axes, DType dtype);
  /// The running combination along `axis`: element i combines elements 0 ... i of x, one after the other, in the dtype
  /// `accumulator`, to which x is cast and which is that of the result. add, mul, max, min (NaN stays from where it
  /// stands). Along an axis of no elements there is none. Source: numpy.ufunc.accumulate.
  ValueId cumulative(Combine combine, ValueId x, int axis, DType accumulator);
  ValueId concat(std::vector<ValueId> parts, int axis);
  ValueId iota(Dim length, DType dtype);
  ValueId size(Dim size);
  /// `n`, a 0-d integer, is the number of `symbol` (from `symbol`, not bound yet) for what follows: a size that is
  /// known only when the value is. The result is that number, as i64. Error at run time: negative-size.
  ValueId as_size(ValueId n, const Dim& symbol);
  /// The elements of each of `xs` [n] where `mask`, bool [n], holds, in order. First the number of them, a 0-d i64,
  /// which is that of `symbol` for what follows; then the elements of each, [symbol].
  std::vector<ValueId> compress(ValueId mask, std::vector<ValueId> xs, const Dim& symbol);

  /// The results of a library op, as its row in ops/library_ops.def says. Leading axes are batch axes: they broadcast
  /// statically, as in NumPy's linalg.
  std::vector<ValueId> library(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options = 0);

  /// `function`: a number that no other call has. Result types may have new symbols (from `symbol`) as whole dims: the
  /// call's result binds them.
  std::vector<ValueId> host_call(std::string name, int function, std::vector<ValueId> operands,
                                 std::vector<TensorType> results);
  /// `numbers`, up to four 0-d i64, stand in the message where it says {0}, {1}, ...; a message without them is the
  /// user's own, braces and all.
  ValueId assert_that(ValueId x, ValueId condition, std::string message, ErrorCode code = ErrorCode::assert_failed,
                      std::vector<ValueId> numbers = {});

  /// A builder for a body of a cond or a loop at this place: a graph of its own with the sizes of this one, and those
  /// that it finds itself, which nothing outside has.
  GraphBuilder body() const;
  /// What `then` returns where the 0-d bool `condition` holds, else what `otherwise` returns; the other is not
  /// computed. Both are bodies with a parameter for each of `captured`, and return values of the same types.
  std::vector<ValueId> cond(ValueId condition, std::vector<ValueId> captured, Graph then, Graph otherwise);
  /// `body` `count` times; see Region for its parameters and outputs. What is carried keeps its type. Results: what is
  /// carried after the last step, and for each traced output its values, one row for each step.
  std::vector<ValueId> loop(Dim count, std::vector<ValueId> initial, std::vector<ValueId> captured, Graph body,
                            Ends ends = Ends::after_count);
};

}  // namespace inlay
