#include "backend/c/layout.h"

#include "backend/c/backend.h"

namespace inlay::c_backend {

bool has_layout(const memory::MemoryPlan& plan) { return !plan.is_static && plan.sharing.num_segments() == 1; }

std::string layout_prototype(const std::string& name) {
  return str("int64_t ", name, "(const int64_t* sizes, int64_t* offsets)");
}

std::string layout_text(ProgramText& p, const std::string& name) {
  const auto& storages = p.plan.sharing.storages;
  NameTable names = p.names;
  const std::string lives = names.take("lives"), bytes = names.take("bytes"), all = names.take("all"),
                    offsets = names.take("offsets"), i = names.take("i");
  std::vector<std::string> ticks;
  Text set_bytes(1);
  p.uses.symbols.clear();
  for (const memory::StorageId s : ids<memory::StorageId>(storages.size())) {
    const memory::SharedStorage& storage = storages[s];
    ticks.push_back(str("{", storage.live.begin, ", ", storage.live.end, "}"));
    const bool is_here = storage.owner == memory::Owner::arena;
    set_bytes.line(bytes, "[", s.index, "] = ", is_here ? p.exact_size(storage.size_bytes) : "0", ";");
  }
  const std::string& add = p.needs.use("add_sizes");
  Text out;
  out.open("int64_t ", name, "(const int64_t* sizes, int64_t* ", offsets, ")");
  out.line("static const int32_t ", lives, "[", storages.size(), "][2] = {", join(ticks, ", "), "};");
  for (const SymbolId symbol : p.uses.symbols)
    out.line("const int64_t ", p.symbol(symbol), " = sizes[", symbol.index, "];");
  out.line("int64_t ", bytes, "[", storages.size(), "], ", all, " = 0;");
  out.line("bool overflows = false;");
  out.append(set_bytes);
  out.open("for (int ", i, " = 0; ", i, " < ", storages.size(), "; ++", i, ")");
  out.line(all, " = ", add, "(", all, ", ", add, "(", bytes, "[", i, "], 64, &overflows), &overflows);");
  out.close();
  out.line("if (overflows) return -1;");
  out.line("return ", p.needs.use("place_storages"), "(", storages.size(), ", ", lives, ", ", bytes, ", ", offsets,
           ");");
  out.close();
  return out.text();
}

}  // namespace inlay::c_backend
