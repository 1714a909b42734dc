#pragma once
// A graph that is being made: its sizes, its parameters and outputs, and what is checked of sizes when it runs.
//
// GraphBuilder (ir/builder.h) adds a call for each op. `at` names where the next nodes come from, for errors and dumps.
//
// Values and sizes are of the builder that gave them out: any other refuses them (unknown-name), but a body has the
// sizes of the builder around it.
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ir/graph.h"

namespace inlay {

/// Does it hold in every run, for all sizes that the assumptions of the graph leave?
bool holds(const Graph& graph, const Dim& left, const Dim& right, DimCheck::Relation relation);

class GraphDraft {
 public:
  explicit GraphDraft(std::string name = "main");
  GraphDraft(GraphDraft&&) = default;
  GraphDraft& operator=(GraphDraft&&) = default;

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
  /// The first parameter of a loop's body: the number of the step, in [0, count).
  ValueId step(std::string name, Dim count);
  /// The parameter's dims from here on: other sizes, which are assumed equal to those by which it was declared
  /// (Param::given).
  void equate_dims(ValueId param, std::vector<Dim> dims);
  void name(ValueId v, std::string name);
  void output(ValueId v, std::string name = "");

  const Graph& graph() const { return graph_; }
  /// Errors: unknown-name: the value is not of this builder.
  const TensorType& type(ValueId v) const;
  Graph finish() &&;

  /// Room for as many nodes and values as `like` has.
  void reserve(const Graph& like);

  // For compositions (ir/compose.h), which check what they take in the words of what the user called.

  Error error(ErrorCode code, std::string message) const;
  /// An operand as an error's notes show it: what it is to the op, and the value.
  struct Operand {
    std::string_view role;
    ValueId value;
  };
  /// Throws where the relation between the sizes holds in no run; records a check where it may not hold: at the node
  /// that is made next, or alone. `message` is asked for the text only then; {0} and {1} in it are the two sizes.
  template <class Message>
  void require(const Dim& left, const Dim& right, const Message& message, std::initializer_list<Operand> operands,
               ErrorCode code = ErrorCode::shape_mismatch, DimCheck::Relation relation = DimCheck::Relation::equal) {
    if (holds(graph_, left, right, relation)) return;
    check({left, right, relation, {}, code, message(), {}, location_}, operands);
  }
  void require(DimCheck::Relation relation, const Dim& left, const Dim& right, ErrorCode code,
               const std::string& message, ValueId operand) {
    require(left, right, [&] { return message; }, {{"operand", operand}}, code, relation);
  }
  /// Errors: unknown-name: one of the sizes is not of this builder.
  void require_own(std::span<const Dim> dims, std::string_view what) const;
  /// The run-time checks but the first `count`: a copy of a node that is checked already needs no more of them.
  void forget_checks(std::size_t count) {
    graph_.checks.erase(graph_.checks.begin() + static_cast<std::ptrdiff_t>(count), graph_.checks.end());
  }

 protected:
  /// The node, and its results.
  ValueId add(Node node, TensorType type);
  std::vector<ValueId> add(Node node, std::vector<TensorType> types);
  /// The symbols that are whole dims of `v` and that nothing binds yet are bound by it.
  void bind_symbols(ValueId v);
  /// `v` gives `symbol` its number.
  void bind_to_value(const Dim& symbol, ValueId v, const char* op);
  /// The sizes of `like` are its own. `num_given`: it is a body, and has so many symbols from the graph around it.
  void share_sizes(const Graph& like, std::optional<std::size_t> num_given);

 private:
  /// The id that is an index alone. Errors: unknown-name: the value is of another builder.
  ValueId own(ValueId v) const;
  NodeId new_node(Node node, std::span<TensorType> types);
  void check(DimCheck check, std::initializer_list<Operand> operands);

  Graph graph_;
  Location location_;
  uint32_t number_;  // which its values have
};

}  // namespace inlay
