#pragma once
// All rewrites by name: --rewrite-off takes these names, `explain` counts them and docs/rewriting.md lists them.
#include <string_view>
#include <vector>

#include "support/pass_context.h"

namespace inlay::rewrite {

struct RuleInfo {
  std::string_view name, from, to, when;
  Close close = Close::bitwise;
};

/// Returns the rules of scalar ops, the rules that need code, and the rewrites of passes.
std::vector<RuleInfo> all_rules();

}  // namespace inlay::rewrite
