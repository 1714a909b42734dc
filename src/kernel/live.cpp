#include "kernel/live.h"

#include <algorithm>

#include "kernel/visit.h"

namespace inlay::kernel {

namespace {

template <class IsNeedless>
std::vector<bool> find_live(const Stage& stage, const IsNeedless& is_needless) {
  std::vector<bool> live(stage.statements.size(), false), read(static_cast<std::size_t>(stage.num_registers), false);
  for (std::size_t i = stage.statements.size(); i-- > 0;) {
    const Statement& s = stage.statements[i];
    live[i] = !is_needless(i) && (s.is_write() || s.can_fail() || (s.result.valid() && read[s.result.index]));
    if (live[i]) for_each_register(s, [&](RegisterId r) { read[r.index] = true; });
  }
  return live;
}

}  // namespace

std::vector<bool> live_statements(const Stage& stage, const std::function<bool(std::size_t)>& is_needless) {
  return find_live(stage, [&](std::size_t i) { return stage.statements[i].elided || (is_needless && is_needless(i)); });
}

std::vector<bool> read_registers(const Stage& stage, const std::vector<bool>& live) {
  std::vector<bool> read(static_cast<std::size_t>(stage.num_registers), false);
  for (std::size_t i = 0; i < stage.statements.size(); ++i) {
    if (live[i]) for_each_register(stage.statements[i], [&](RegisterId r) { read[r.index] = true; });
  }
  return read;
}

const Statement* maker_of(const Stage& stage, RegisterId r) {
  const auto made = std::ranges::find(stage.statements, r, &Statement::result);
  return made == stage.statements.end() ? nullptr : &*made;
}

void drop_unused(Stage& stage) {
  const std::vector<bool> live = find_live(stage, [](std::size_t) { return false; });
  std::vector<Statement> kept;
  for (std::size_t i = 0; i < stage.statements.size(); ++i) {
    if (live[i]) kept.push_back(std::move(stage.statements[i]));
  }
  stage.statements = std::move(kept);
}

}  // namespace inlay::kernel
