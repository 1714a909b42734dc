// Uses the size checks of a program to compare the sizes of its buffers.
#include <algorithm>

#include "kernel/verify_kernel.h"

namespace inlay::kernel {

bool mentions(const Dim& dim, SymbolId symbol) {
  const std::vector<SymbolId> symbols = dim.symbols();
  return std::ranges::find(symbols, symbol) != symbols.end();
}

namespace {

bool has_function(const Dim& dim) {
  return std::ranges::any_of(dim.terms(), [](const Dim::Term& term) {
    return std::ranges::any_of(term.factors,
                               [](const Dim::Atom& atom) { return atom.kind != Dim::Atom::Kind::symbol; });
  });
}

/// Replaces symbols by what checks say that they equal: a buffer may have one of them, and a check the other.
class Equalities {
 public:
  explicit Equalities(const KernelProgram& program) {
    for (SymbolId s : ids<SymbolId>(program.symbols.size())) known_.push_back(Dim::symbol(s));
    // Equations without functions come first: of m == floordiv(k, 2) and k == 2*m, the second defines k.
    for (bool has_functions : {false, true}) {
      for (const Step& step : program.steps) {
        const auto* check = std::get_if<SizeCheck>(&step);
        if (check == nullptr || check->relation != DimCheck::Relation::equal) continue;
        if ((has_function(check->left) || has_function(check->right)) == has_functions) add(check->left, check->right);
      }
    }
  }

  bool hold(const Dim& a, const Dim& b) const {
    const Dim apart = (a - b).substitute(known_);
    if (apart.is(0)) return true;
    std::vector<Dim> zeros;
    for (const Dim& checked : zeros_) {
      zeros.push_back(checked.substitute(known_));
      zeros.push_back(Dim(0) - zeros.back());
    }
    // One check, or two that follow each other: a view of a view has a check for each step.
    const auto is_zero = [&](const Dim& dim) { return std::ranges::find(zeros, dim) != zeros.end(); };
    return is_zero(apart) || std::ranges::any_of(zeros, [&](const Dim& zero) { return is_zero(apart - zero); });
  }

 private:
  void add(const Dim& a, const Dim& b) {
    const Dim left = a.substitute(known_), right = b.substitute(known_);
    if (left.is_symbol() && !mentions(right, left.as_symbol())) return replace(left.as_symbol(), right);
    if (right.is_symbol() && !mentions(left, right.as_symbol())) return replace(right.as_symbol(), left);
    zeros_.push_back(left - right);
  }

  void replace(SymbolId symbol, const Dim& by) {
    IdMap<SymbolId, Dim> one;
    for (SymbolId s : ids<SymbolId>(known_.size())) one.push_back(s == symbol ? by : Dim::symbol(s));
    for (Dim& dim : known_) dim = dim.substitute(one);
  }

  IdMap<SymbolId, Dim> known_;
  std::vector<Dim> zeros_;
};

}  // namespace

bool same_num_elements(const KernelProgram& program, const Buffer& a, const Buffer& b) {
  const Dim left = num_elements(a), right = num_elements(b);
  if (same_dim(left, right) != Answer::unknown) return left == right;
  return Equalities(program).hold(left, right);
}

}  // namespace inlay::kernel
