#pragma once
// Makes a Graph, one checked node at a time.
//
// Every call infers the type of its result and throws Error where the operands do not fit. Where sizes are not known
// yet, it records a DimCheck instead. `at` names where the next nodes come from, for errors and dumps.
//
// Values and sizes are of the builder that gave them out: any other refuses them (unknown-name), but a body has the
// sizes of the builder around it.
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "ir/graph.h"

namespace inlay {

/// When does a loop end? `by_condition`: also after a step whose last output, a 0-d bool, is false.
enum class Ends : uint8_t { after_count, by_condition };

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "main");
  GraphBuilder(GraphBuilder&&) = default;
  GraphBuilder& operator=(GraphBuilder&&) = default;

  /// A new size, bound by the first parameter or host-call result that has it as a whole dim, or by as_size or
  /// compress.
  Dim symbol(std::string name);
  void assume_equal(const Dim& left, const Dim& right);

  /// The origin of the nodes that follow; empty: none.
  void at(Location location) { location_ = std::move(location); }

  ValueId param(std::string name, TensorType type);
  ValueId bound(std::string name, TensorType type, Facts facts = {});
  /// A parameter whose bytes the caller gives away: what it is may be another value's after the call, a result among
  /// them, unless the call fails.
  ValueId donated(std::string name, TensorType type);
  /// The parameter's dims from here on: other sizes, which are assumed equal to those by which it was declared
  /// (Param::given).
  void equate_dims(ValueId param, std::vector<Dim> dims);
  void name(ValueId v, std::string name);

  ValueId literal(Literal value);                                         // 0-d
  ValueId literal(std::vector<Literal> elements, std::vector<Dim> dims);  // at most 16 elements, one dtype
  ValueId literal(double value) { return literal(Literal::of_float(DType::f64, value)); }

  /// Operands broadcast as in NumPy, aligned at the last axis; a dim stretches only where its type says 1.
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  ValueId cast(ValueId x, DType dtype);
  /// Cast to the dtype in which all of them meet (promote), for callers whose users mix dtypes.
  std::vector<ValueId> promoted(std::vector<ValueId> operands);

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

  /// Over `axes` (ascending, each once). `accumulator`: the dtype it is computed in and of the result; x is cast to it.
  /// max and min of no elements: an error. A mean is a sum and a division.
  ValueId reduce(Combine combine, ValueId x, std::vector<int> axes, DType accumulator);
  /// A reduction of several states over `axes` (ascending, each once): the results are the stored states of the row in
  /// ops/folds.def, the operands, all of one shape, what each of them folds that does not count points. `real`: the
  /// dtype of sums that count points. A row with hidden states goes over all axes. Of no elements: as `reduce` by the
  /// last state's own combine.
  std::vector<ValueId> fold(Fold fold, std::vector<ValueId> operands, std::vector<int> axes, DType real);
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
  /// numpy.matmul. Floats and complex numbers as a library op, integers and bools as products and a sum.
  ValueId matmul(ValueId a, ValueId b);

  /// Result types may have new symbols (from `symbol`) as whole dims: the call's result binds them.
  std::vector<ValueId> host_call(std::string name, int function, std::vector<ValueId> operands,
                                 std::vector<TensorType> results);
  /// `numbers`, up to four 0-d i64, stand in the message where it says {0}, {1}, ...; a message without them is the
  /// user's own, braces and all.
  ValueId assert_that(ValueId x, ValueId condition, std::string message, ErrorCode code = ErrorCode::assert_failed,
                      std::vector<ValueId> numbers = {});

  /// A builder for a body of a cond or a loop at this place: a graph of its own with the sizes of this one, and those
  /// that it finds itself, which nothing outside has.
  GraphBuilder body() const;
  /// The first parameter of a loop's body: the number of the step, in [0, count).
  ValueId step(std::string name, Dim count);
  /// What `then` returns where the 0-d bool `condition` holds, else what `otherwise` returns; the other is not
  /// computed. Both are bodies with a parameter for each of `captured`, and return values of the same types.
  std::vector<ValueId> cond(ValueId condition, std::vector<ValueId> captured, Graph then, Graph otherwise);
  /// `body` `count` times; see Region for its parameters and outputs. What is carried keeps its type. Results: what is
  /// carried after the last step, and for each traced output its values, one row for each step.
  std::vector<ValueId> loop(Dim count, std::vector<ValueId> initial, std::vector<ValueId> captured, Graph body,
                            Ends ends = Ends::after_count);

  void output(ValueId v, std::string name = "");

  // For compositions (ir/compose.h), which check what they take in the words of what the user called.

  Error error(ErrorCode code, std::string message) const;
  /// Throws where the relation between the sizes holds in no run; records a check, at the node that is made next, where
  /// it may not hold. {0} and {1} in the message are the two sizes.
  void require(DimCheck::Relation relation, const Dim& left, const Dim& right, ErrorCode code,
               const std::string& message, ValueId operand) {
    require_same(left, right, [&] { return message; }, {{"operand", operand}}, code, relation);
  }

  /// Room for as many nodes and values as `like` has.
  void reserve(const Graph& like);

  /// The run-time checks but the first `count`: a copy of a node that is checked already needs no more of them.
  void forget_checks(std::size_t count) {
    graph_.checks.erase(graph_.checks.begin() + static_cast<std::ptrdiff_t>(count), graph_.checks.end());
  }
  const Graph& graph() const { return graph_; }
  /// Errors: unknown-name: the value is not of this builder.
  const TensorType& type(ValueId v) const;
  Graph finish() &&;

  /// For what `source` becomes: the sizes of `source` are its own, once it has the same symbols. (Those that are given
  /// to a body it has.)
  static GraphBuilder rewriting(const Graph& source);

 private:
  ValueId add(Node node, TensorType type);
  ValueId new_value(TensorType type, std::string name, NodeId node);
  NodeId new_node(Node node);
  void require_own(ValueId v) const;
  void require_own(std::span<const Dim> dims, std::string_view what) const;
  void require_own(std::span<const IndexItem> index, std::string_view what) const;
  /// A body with the first symbols of `like`, so many.
  void become_body(const Graph& like, std::size_t num_given);
  void bind_symbols(ValueId v);
  void check_unused_by_params(const Dim& size) const;
  void check_known_by_params(ValueId param, std::span<const Dim> dims) const;
  void check_assumed_equal(ValueId param, std::span<const Dim> dims, std::span<const Dim> given) const;
  void bind_to_value(const Dim& symbol, ValueId v, const char* op);
  /// An operand as an error's notes show it: what it is to the op, and the value.
  struct Operand {
    std::string_view role;
    ValueId value;
  };
  /// Throws where the sizes are wrong in every run; records a check where they may be. `message` is asked for the text
  /// only then; {0} and {1} in it are the two sizes.
  template <class Message>
  void require_same(const Dim& left, const Dim& right, const Message& message, std::initializer_list<Operand> operands,
                    ErrorCode code = ErrorCode::shape_mismatch,
                    DimCheck::Relation relation = DimCheck::Relation::equal) {
    if (holds(left, right, relation)) return;
    check_at_run_time({left, right, relation, {}, code, message(), notes_of(operands), location_});
  }
  void require_axes(const char* op, ValueId x, std::vector<int>& axes) const;
  std::vector<Dim> dims_without(ValueId x, const std::vector<int>& axes, Combine combine);
  /// Of a view of `x`.
  void require_not_negative(std::string_view op, ValueId x, std::span<const Dim> dims);
  bool holds(const Dim& left, const Dim& right, DimCheck::Relation relation) const;
  void check_at_run_time(DimCheck check);
  std::vector<std::pair<std::string, std::string>> notes_of(std::initializer_list<Operand> operands) const;
  /// x, flipped where the index goes down, and the index of the same elements going up.
  ValueId upwards(ValueId x, std::vector<IndexItem>& index, const char* op);
  /// The axes along which the index goes down, where it does so within x.
  std::vector<int> check_steps(ValueId x, std::span<const IndexItem> index, const char* op);
  /// v, which is written to a region of this rank, flipped along the region's axes that stand for these axes of the
  /// base.
  ValueId flip_in_region(ValueId v, std::span<const IndexItem> index, const std::vector<int>& axes, int region_rank);
  void complete_index(ValueId x, std::vector<IndexItem>& index, bool arrays_allowed, const char* op);
  std::vector<Dim> broadcast_dims(std::span<const ValueId> operands, const std::string& what);
  std::vector<Dim> checked_region(std::span<const IndexItem> index, const char* op);
  void require_captured(const char* op, std::span<const ValueId> outside, const Graph& body, std::size_t first_param);
  std::vector<ValueId> add_region(Node node, const std::vector<TensorType>& types);
  ValueId write(Op op, Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v, InPlace in_place);
  std::vector<TensorType> types_of(std::span<const ValueId> values) const;
  void require_core_sizes(LibraryOp op, std::span<const ValueId> operands);
  void broadcast_batches(LibraryOp op, std::span<ValueId> operands);
  ValueId multiply_and_sum(ValueId a, ValueId b);

  Graph graph_;
  Location location_;
  uint32_t number_;  // which its values have
};

}  // namespace inlay
