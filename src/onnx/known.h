#pragma once
// Which elements of small values are known while a network is read: exported networks compute shapes, axes and
// conditions by nodes, and a graph's ranks and sizes hang on them.
//
// It looks at the nodes that the builder has, so an op of ONNX is written down once, as nodes.
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/builder.h"

namespace inlay::onnx {

/// An integer, as a size; or a literal of bool or of a float.
using Number = std::variant<Dim, Literal>;

struct Elements {
  std::vector<int64_t> dims;
  std::vector<std::optional<Number>> numbers;  // row-major; none: it is known when the program runs
};

class Known {
 public:
  explicit Known(const GraphBuilder& builder) : builder_(builder) {}

  /// What a parameter is known to be: a small array of the file, or a value outside of a body.
  void set(ValueId v, std::shared_ptr<const Elements> elements) { known_[v] = std::move(elements); }

  /// Null: nothing is known.
  std::shared_ptr<const Elements> of(ValueId v);

 private:
  void catch_up();

  const GraphBuilder& builder_;
  std::size_t next_node_ = 0;
  std::unordered_map<ValueId, std::shared_ptr<const Elements>> known_;
};

/// As a literal of the dtype, where it is one number for all sizes.
std::optional<Literal> as_literal(const std::optional<Number>& number, DType dtype);

}  // namespace inlay::onnx
