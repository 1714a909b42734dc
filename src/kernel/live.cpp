#include "kernel/live.h"

#include "kernel/visit.h"

namespace inlay::kernel {

std::vector<bool> live_statements(const Stage& stage, const std::vector<bool>& skip) {
  std::vector<bool> live(stage.statements.size(), false), read(static_cast<std::size_t>(stage.num_registers), false);
  for (std::size_t i = stage.statements.size(); i-- > 0;) {
    const Statement& s = stage.statements[i];
    const bool is_skipped = i < skip.size() && skip[i];
    live[i] = !is_skipped && (s.is_write() || s.can_fail() || (s.result.valid() && read[s.result.index]));
    if (live[i]) for_each_register(s, [&](RegisterId r) { read[r.index] = true; });
  }
  return live;
}

std::vector<bool> read_registers(const Stage& stage, const std::vector<bool>& live) {
  std::vector<bool> read(static_cast<std::size_t>(stage.num_registers), false);
  for (std::size_t i = 0; i < stage.statements.size(); ++i) {
    if (live[i]) for_each_register(stage.statements[i], [&](RegisterId r) { read[r.index] = true; });
  }
  return read;
}

void drop_unused(Stage& stage) {
  const std::vector<bool> live = live_statements(stage);
  std::vector<Statement> kept;
  for (std::size_t i = 0; i < stage.statements.size(); ++i) {
    if (live[i]) kept.push_back(std::move(stage.statements[i]));
  }
  stage.statements = std::move(kept);
}

}  // namespace inlay::kernel
