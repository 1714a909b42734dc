#pragma once
// Sizes that broadcast as ONNX means it: an axis of one element stretches, also where only a call says that it has one.
//
// Which sizes may be 1 in a call only, beside another that is not? Those of an input beside one of another name, or
// beside a number: the network says nothing of both. Sizes of the same symbols, such as n and 2 * floordiv(n + 1, 2),
// are meant to be equal; so are two that the run finds, such as how often two loops ran. They are compared.
#include <utility>
#include <vector>

#include "onnx/scope.h"

namespace inlay::onnx {

/// Does an axis of size `from` become one of size `to` where it has one element, and only the run says whether it has?
bool may_stretch(const Frame& frame, const Dim& from, const Dim& to);

/// The sizes that were made of others, which stay what they are where one of those comes again.
class BroadcastSizes {
 public:
  /// The size of the axis that axes of sizes a and b become. Of sizes that are compared it is the first.
  Dim of(const Frame& frame, const Dim& a, const Dim& b);
  /// The same of sizes that are equal, or one of them 1, as only the run says.
  Dim joined(const Dim& a, const Dim& b);
  /// Sizes to which others broadcast, and one more operand, aligned at the last axis; the last `num_core` do not.
  void add(const Frame& frame, std::vector<Dim>& sizes, const std::vector<Dim>& operand, std::size_t num_core);

 private:
  std::vector<Dim> parts(const Dim& size) const;

  std::vector<std::pair<Dim, std::vector<Dim>>> made_;
};

/// x, whose axes but the last `num_core` stretch to `sizes`, aligned at the last, where only the run says whether they
/// do. `made_for`: the op that errors name.
ValueId stretched(Frame& frame, ValueId x, const std::vector<Dim>& sizes, std::size_t num_core,
                  const std::string& made_for);

}  // namespace inlay::onnx
