#include "kernel/sizes.h"

#include <algorithm>
#include <concepts>

#include "kernel/steps.h"

namespace inlay::kernel {
namespace {

template <class Visit>
void for_each_size(const SizeCheck& check, Visit visit) {
  visit(check.left);
  visit(check.right);
}

template <class Visit>
void for_each_size(const LoopBegin& loop, Visit visit) {
  visit(loop.count);
}

/// These compute none that is not a buffer's.
template <class Step, class... Kinds>
concept OneOf = (std::same_as<Step, Kinds> || ...);
template <OneOf<Copy, HostCall, BindSize, LoopEnd, CondBegin, CondElse, CondEnd> Step, class Visit>
void for_each_size(const Step&, Visit) {}

}  // namespace

std::vector<std::vector<Dim>> sizes_to_test(const KernelProgram& program) {
  const std::vector<Step>& steps = program.steps;
  const std::size_t after_checks = entry_checks(program).size();
  std::vector<std::size_t> known_at(program.symbols.size(), after_checks);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (SymbolId symbol : symbols_bound_by(steps[i])) known_at[symbol.index] = std::max(after_checks, i + 1);
  }
  std::vector<std::vector<Dim>> out(steps.size());
  std::vector<Dim> seen;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto add = [&](const Dim& dim) {
      if (!dim.may_overflow() || std::ranges::find(seen, dim) != seen.end()) return;
      seen.push_back(dim);
      std::size_t first = after_checks;
      for (SymbolId symbol : dim.symbols()) first = std::max(first, known_at[symbol.index]);
      out[std::min(first, i)].push_back(dim);
    };
    std::visit([&](const auto& each) { for_each_size(each, add); }, steps[i]);
  }
  return out;
}

}  // namespace inlay::kernel
