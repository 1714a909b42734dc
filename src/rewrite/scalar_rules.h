#pragma once
// The rules of scalar ops, as data: listed, switched off one by one, and tested by walking the list.
#include <span>

#include "rewrite/pass_context.h"

namespace inlay::rewrite {

/// `from` and `to` are expressions over
///   x y z p    any value; twice the same letter is twice the same value
///   c          a literal; 1/c is its reciprocal
///   1  -0.5  inf   a literal of that value, in the dtype of the rule's operands (-0 is the float -0.0; 1 is also true)
/// Operands of commutative ops match in any order, and views of what an op makes match as what it makes of the views.
/// `when` names what must hold (scalar_rules.cpp: kConditions), joined by " and "; empty: always.
struct Rule {
  const char* name;
  const char* from;
  const char* to;
  const char* when;
  Close close;
};

/// The first rule that fits is taken.
std::span<const Rule> scalar_rules();

}  // namespace inlay::rewrite
