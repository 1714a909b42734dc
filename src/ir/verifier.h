#pragma once
// The verifier of graphs: one class, whose rules have a file for each family. Inside ir/ only.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/library_types.h"
#include "ir/region.h"
#include "ir/traits.h"
#include "ir/verify.h"

namespace inlay::verifier {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph),
        first_(first_of_equal_symbols(graph.symbols.size(), graph.assumptions)),
        defined_(graph.values.size(), false),
        bound_(graph.symbols.size(), graph.is_body) {}
  std::vector<Diagnostic> run() &&;

 private:
  // verify.cpp: handles, order, sizes

  void fail(const std::string& subject, const Location& location, const std::string& message);
  void fail(ValueId v, const std::string& message);
  void require(bool holds, ValueId v, const std::string& message);
  bool valid(ValueId v) const { return v.index < graph_.values.size(); }
  bool check_handle(ValueId v, const char* what);
  void check_defined(ValueId v, const std::string& user);
  void define(ValueId v);
  void check_given(const Param& param);
  bool binds(ValueId v, const Symbol& symbol, const Dim& as_dim) const;
  void check_symbols(ValueId v);
  void check_symbols(ValueId v, const Dim& dim);
  void node(NodeId n);
  bool same(const Dim& a, const Dim& b) const;

  template <class Visit>
  void for_each_equality(Visit visit) const {
    for (const auto& [left, right] : graph_.assumptions) visit(unified(left), unified(right));
    for (const DimCheck& check : graph_.checks) {
      if (check.relation == DimCheck::Relation::equal) visit(unified(check.left), unified(check.right));
    }
  }
  /// With one name for sizes that are assumed to be equal: a check may have another than the node that it guards
  /// (Param::given).
  Dim unified(const Dim& dim) const { return graph_.assumptions.empty() ? dim : dim.substitute(first_); }

  static Dim without(const Dim& difference, const Dim& zero);
  Dim replaced(const Dim& difference, const Dim& symbol, const Dim& by) const;
  bool at_most(const Dim& a, const Dim& b) const;
  bool same(std::span<const Dim> a, std::span<const Dim> b) const;
  const TensorType& type(ValueId v) const { return graph_.type(v); }
  std::string text(const TensorType& type) const { return graph_.type_text(type); }
  std::string text(const Dim& dim) const { return dim.to_text(graph_.symbol_names()); }
  void expect_type(DType dtype, const std::vector<Dim>& dims);
  void expect_stretches(const std::vector<Dim>& from, const std::vector<Dim>& to, const std::string& what);

  // verify_ops.cpp: each op by its own rule

  void check(const Node& node);
  void check_cast(const Node& node);
  void expect_dtype_of(ValueId operand);
  void literal(const Node& node);
  void scalar(const Node& node);
  void transpose(const Node& node);
  bool check_axes(const std::vector<int>& axes, int rank);
  void flip(const Node& node);
  void diagonal(const Node& node);
  std::optional<std::vector<Dim>> region(const Node& node, std::size_t first_array);
  void range(const IndexItem& item, const Dim& dim, int axis);
  void stretch(std::vector<Dim>& dims, const std::vector<Dim>& other);
  void read(const Node& node);
  void write(const Node& node);
  void reduce(const Node& node);
  void fold(const Node& node);
  void cumulative(const Node& node);
  void as_size(const Node& node);
  void compress(const Node& node);
  void concat(const Node& node);
  void library(const Node& node);

  // verify_regions.cpp: bodies are verified as graphs; here is how values pass the border

  void region(const Node& node);
  bool same_type(const TensorType& a, const TensorType& b) const { return a.dtype == b.dtype && same(a.dims, b.dims); }
  void expect_params(const Node& node, const Graph& body, std::size_t first_param, std::size_t first_operand);
  void expect_result(const Node& node, std::size_t result, const Graph& body, std::size_t output,
                     std::optional<Dim> rows = {});
  void cond(const Node& node);
  void loop(const Node& node);

  const Graph& graph_;
  const IdMap<SymbolId, Dim> first_;  // of those that are assumed to be equal
  IdMap<ValueId, bool> defined_;
  IdMap<SymbolId, bool> bound_;
  ValueId current_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace inlay::verifier
