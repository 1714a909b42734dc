#include "kernel/sizes.h"

#include <algorithm>

#include "kernel/steps.h"

namespace inlay::kernel {
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
