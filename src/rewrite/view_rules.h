#pragma once
// Rules that need code: views of views, casts of casts, what is known already. Each begins with the rewrite it does.
#include "rewrite/simplifier.h"

namespace inlay::rewrite {

/// What stands for `node`; none where the rule does not fit, and then nothing was built.
using NodeRule = std::optional<ValueId> (*)(Simplifier& simplifier, const Node& node, const TensorType& type);

struct NamedNodeRule {
  const char* name;
  Op op;
  NodeRule apply;
};
std::span<const NamedNodeRule> node_rules();

}  // namespace inlay::rewrite
