#include "rewrite/rules.h"

#include "rewrite/node_rules.h"
#include "rewrite/scalar_rules.h"

namespace inlay::rewrite {

std::vector<RuleInfo> all_rules() {
  std::vector<RuleInfo> out = {
      {"common-value", "two equal expressions", "one value", "", Close::bitwise},
      {"short-matmul", "matmul(x, y)", "sum(x * y)", "a side is short, or x' follows in the same rows",
       Close::rounding},
      {"loop-invariant", "loop { f(x) }, x of the outside", "y = f(x), loop { y }", "f cannot fail", Close::bitwise},
      {"unchanged-in-loop", "loop carry (c = x) { return c }", "x", "", Close::bitwise},
      {"view-into-loop", "y = flip(x), loop { y[i] }", "loop { flip(x)[i] }", "", Close::bitwise},
      {"unread-loop-result", "%r, %s = loop, and nobody reads %s", "%r = loop", "", Close::bitwise},
      {"equal-sizes", "sizes n and m, or n and m + 1, that a check finds equal", "n for both, or m + 1", "",
       Close::bitwise},
      {"detach-asserts", "f(assert(x, p))", "f(x), and assert(p)", "", Close::bitwise},
      {"identity-parts", "max(concat(x, [-inf]))", "max(x)", "", Close::bitwise},
      {"find-folds", "max(x), and sum(exp(x - max(x)))", "one fold of both", "", Close::rounding},
      {"single-precision", "cast(sum(cast(x)))", "sum(x)", "single precision is asked for", Close::rounding},
      {"running-prefix", "cumsum(x)[0:k]", "cumsum(x[0:k])", "nothing else reads it", Close::bitwise},
  };
  for (const NodeRule& rule : node_rules()) out.push_back({rule.name, rule.from, rule.to, "", rule.close});
  for (const Rule& rule : scalar_rules()) out.push_back({rule.name, rule.from, rule.to, rule.when, rule.close});
  return out;
}

}  // namespace inlay::rewrite
