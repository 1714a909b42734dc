#include "rewrite/rules.h"

#include <algorithm>

#include "ir/nearest.h"
#include "rewrite/node_rules.h"
#include "rewrite/scalar_rules.h"
#include "support/error.h"

namespace inlay::rewrite {

std::vector<RuleInfo> all_rules() {
  std::vector<RuleInfo> out = {
      {"common-value", "two equal expressions", "one value", "", Close::bitwise},
      {"short-matmul", "matmul(x, y)", "sum(x * y)", "a side is short", Close::rounding},
      {"loop-invariant", "loop { f(x) }, x of the outside", "y = f(x), loop { y }", "f cannot fail", Close::bitwise},
      {"unchanged-in-loop", "loop carry (c = x) { return c }", "x", "", Close::bitwise},
      {"view-into-loop", "y = flip(x), loop { y[i] }", "loop { flip(x)[i] }", "", Close::bitwise},
      {"unread-loop-result", "%r, %s = loop, and nobody reads %s", "%r = loop", "", Close::bitwise},
  };
  for (const NodeRule& rule : node_rules()) out.push_back({rule.name, rule.from, rule.to, "", rule.close});
  for (const Rule& rule : scalar_rules()) out.push_back({rule.name, rule.from, rule.to, rule.when, rule.close});
  return out;
}

void require_rule(const std::string& name) {
  std::vector<std::string> names;
  for (const RuleInfo& rule : all_rules()) names.emplace_back(rule.name);
  if (std::ranges::find(names, name) != names.end()) return;
  Error error(ErrorCode::unknown_name, {}, str("there is no rewrite rule ", name));
  if (const auto near = text::nearest(name, names)) throw std::move(error).help(str("did you mean ", *near, "?"));
  throw error;
}

}  // namespace inlay::rewrite
