#include "kernel/unused.h"

#include <algorithm>

namespace inlay::kernel {

void drop_unused(Stage& stage) {
  std::vector<bool> used(static_cast<std::size_t>(stage.num_registers), false);
  std::vector<Statement> kept;
  for (auto s = stage.statements.rbegin(); s != stage.statements.rend(); ++s) {
    const bool acts = s->is_write() || s->can_fail();
    if (!acts && !(s->result.valid() && used[s->result.index])) continue;
    for (RegisterId r : s->operands) used[r.index] = true;
    if (s->predicate.valid()) used[s->predicate.index] = true;
    for (const Subscript& subscript : s->map.subscripts) {
      if (subscript.index) used[subscript.index->index.index] = true;
    }
    kept.push_back(std::move(*s));
  }
  std::ranges::reverse(kept);
  stage.statements = std::move(kept);
}

}  // namespace inlay::kernel
