#pragma once
// Every rewrite by its name: what --rewrite-off takes, `explain` counts and docs/rewriting.md lists.
#include <string_view>
#include <vector>

#include "support/pass_context.h"

namespace inlay::rewrite {

struct RuleInfo {
  std::string_view name, from, to, when;
  Close close = Close::bitwise;
};

/// Rules of scalar ops, rules that need code, and what passes do.
std::vector<RuleInfo> all_rules();

}  // namespace inlay::rewrite
