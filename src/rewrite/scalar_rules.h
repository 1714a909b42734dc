#pragma once
// The rules of scalar ops as data, so that they can be listed, switched off one by one, and tested in a loop over the
// list.
#include <span>

#include "support/pass_context.h"

namespace inlay::rewrite {

/// `from` and `to` are expressions over
///   x y z p    any value; twice the same letter is twice the same value
///   c d        a literal; on the right side ops of literals alone are computed at once: reciprocal(c)
///   1  -0.5  inf   a literal of that value, in the dtype of the rule's operands (-0 is the float -0.0; 1 is also true)
///   true false     a literal bool
/// Operands of commutative ops match in any order, and views of what an op makes match as what it makes of the views.
/// `when` names what must hold (simplifier.cpp: kConditions), joined by " and "; empty: always.
struct Rule {
  const char* name;
  const char* from;
  const char* to;
  const char* when;
  Close close;
  bool complex = false;  // holds for complex numbers too
};

/// Returns the rules; the first that matches is applied.
std::span<const Rule> scalar_rules();

}  // namespace inlay::rewrite
