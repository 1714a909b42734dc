#include <unordered_set>

#include "kernel/text.h"
#include "support/ascii.h"
#include "support/free_name.h"

namespace inlay::kernel {
namespace {

/// The name with every character that the text form could not read again replaced; empty stays empty.
std::string as_identifier(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = is_letter(c) || is_digit(c) || c == '_' || c == '$';
    out += plain ? c : '_';
  }
  if (!out.empty() && is_digit(out[0])) out.insert(out.begin(), '_');
  return out;
}

/// Hands out names that were not used before.
class NameTable {
 public:
  std::string take(const std::string& wanted, const std::string& otherwise) {
    std::string name = as_identifier(wanted);
    if (name.empty()) name = otherwise;
    return free_name(name, [&](const std::string& it) { return used_.insert(it).second; });
  }
  void reserve(const std::string& name) { used_.insert(name); }

 private:
  std::unordered_set<std::string> used_;
};

}  // namespace

Names::Names(const KernelProgram& program) {
  NameTable buffer_names, symbol_names;
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    buffers.push_back(buffer_names.take(program.buffers[b].name, str("$", b.index)));
  }
  for (SymbolId s : ids<SymbolId>(program.symbols.size())) {
    symbols.push_back(symbol_names.take(program.symbols[s].name, str("n", s.index)));
  }
}

std::vector<std::string> Names::axes(const Kernel& kernel, const Stage& stage) const {
  NameTable table;
  for (const std::string& symbol : symbols) table.reserve(symbol);
  std::vector<std::string> out;
  for (const auto* list : {&kernel.outer, &stage.axes}) {
    for (const Axis& axis : *list) out.push_back(table.take(axis.name, "i"));
  }
  return out;
}

}  // namespace inlay::kernel
