#pragma once
// The parts of the verifier of graphs. Inside ir/ only.
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace inlay::verifier {

/// What is wrong with a graph.
class Findings {
 public:
  explicit Findings(const Graph& graph) : graph_(graph) {}

  void fail(const std::string& subject, const Location& location, const std::string& message);
  void fail(ValueId v, const std::string& message);
  void require(bool holds, ValueId v, const std::string& message) {
    if (!holds) fail(v, message);
  }
  void add(std::span<const Diagnostic> more) { all_.insert(all_.end(), more.begin(), more.end()); }
  bool empty() const { return all_.empty(); }
  std::vector<Diagnostic> all() && { return std::move(all_); }

 private:
  const Graph& graph_;
  std::vector<Diagnostic> all_;
};

/// What is known of sizes: for all sizes, by an assumption, or by a check of the graph.
class SizeProof {
 public:
  explicit SizeProof(const Graph& graph);

  bool same(const Dim& a, const Dim& b) const;
  bool same(std::span<const Dim> a, std::span<const Dim> b) const;
  bool same(const TensorType& a, const TensorType& b) const { return a.dtype == b.dtype && same(a.dims, b.dims); }
  bool at_most(const Dim& a, const Dim& b) const;
  /// With one name for sizes that are assumed to be equal: a check may have another than the node that it guards
  /// (Param::given).
  Dim unified(const Dim& dim) const { return graph_.assumptions.empty() ? dim : dim.substitute(first_); }

 private:
  template <class Visit>
  void for_each_equality(Visit visit) const {
    for (const auto& [left, right] : graph_.assumptions) visit(unified(left), unified(right));
    for (const DimCheck& check : graph_.checks) {
      if (check.relation == DimCheck::Relation::equal) visit(unified(check.left), unified(check.right));
    }
  }
  Dim replaced(const Dim& difference, const Dim& symbol, const Dim& by) const;

  const Graph& graph_;
  const IdMap<SymbolId, Dim> first_;  // of those that are assumed to be equal
};

/// A node of one result or more, as the rule of its op sees it. What is required is required of `current`.
class OpCheck {
 public:
  OpCheck(const Graph& graph, const SizeProof& sizes, const Node& node, Findings& findings)
      : node(node), sizes(sizes), current(node.results[0]), graph_(graph), findings_(findings) {}

  const TensorType& type(ValueId v) const { return graph_.type(v); }
  const TensorType& result() const { return type(current); }
  const TensorType& operand(std::size_t i) const { return type(node.operands[i]); }
  std::string text(const TensorType& type) const { return graph_.type_text(type); }
  std::string text(const Dim& dim) const { return dim.to_text(graph_.symbol_names()); }

  void fail(const std::string& message) { findings_.fail(current, message); }
  void require(bool holds, const std::string& message) { findings_.require(holds, current, message); }
  void expect_type(DType dtype, const std::vector<Dim>& dims);
  /// `from` stretches to `to`, aligned at the last axis, only where it is 1.
  void expect_stretches(const std::vector<Dim>& from, const std::vector<Dim>& to, const std::string& what);

  const Node& node;
  const SizeProof& sizes;
  ValueId current;

 private:
  const Graph& graph_;
  Findings& findings_;
};

/// Each op by its own rule.
void check_op(OpCheck& c);
/// Of slice and gather, of update and scatter.
void check_read(OpCheck& c);
void check_write(OpCheck& c);

/// Bodies are verified as graphs; here is how values pass the border.
void check_region(const Graph& graph, const SizeProof& sizes, const Node& node, Findings& findings);

}  // namespace inlay::verifier
