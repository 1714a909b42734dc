#pragma once
// Every rewrite by its name: what --rewrite-off takes, `explain` counts and docs/rewriting.md lists.
#include <string_view>
#include <vector>

#include "rewrite/pass_context.h"

namespace inlay::rewrite {

struct RuleInfo {
  std::string_view name, from, to, when;
  Close close = Close::bitwise;
};

/// Rules of scalar ops, rules that need code, and what passes do.
std::vector<RuleInfo> all_rules();

/// Throws Error(unknown_name) where `name` is no rule's, with the nearest one.
void require_rule(const std::string& name);

}  // namespace inlay::rewrite
