#include "backend/c/layout.h"

#include "backend/c/backend.h"

namespace inlay::c_backend {

using memory::StorageId;

std::string layout_prototype(const memory::MemoryPlan& plan, const std::string& name) {
  const char* segment = plan.sharing.num_segments() > 1 ? "int32_t segment, " : "";
  return str("int64_t ", name, "(", segment, "const int64_t* sizes, int64_t* offsets)");
}

namespace {

std::vector<StorageId> storages_in(const memory::Sharing& sharing, int segment) {
  std::vector<StorageId> out;
  for (const StorageId s : ids<StorageId>(sharing.storages.size())) {
    const memory::SharedStorage& storage = sharing.storages[s];
    if (storage.owner == memory::Owner::arena && storage.segment == segment) out.push_back(s);
  }
  return out;
}

/// Of a function with the parameters of layout_prototype.
class LayoutFunction {
 public:
  explicit LayoutFunction(ProgramText& p) : p_(p), sharing_(p.plan.sharing) {}

  std::string text(const std::string& name) {
    Text out;
    out.open(layout_prototype(p_.plan, name));
    const int num_segments = sharing_.num_segments();
    for (int segment = 0; segment < num_segments; ++segment) {
      if (num_segments == 1) {
        write_segment(out, segment);
      } else {
        out.open("if (segment == ", segment, ")");
        write_segment(out, segment);
        out.close();
      }
    }
    if (num_segments > 1) out.line("return -1;");
    out.close();
    return out.text();
  }

 private:
  void write_segment(Text& out, int segment) {
    if (p_.plan.is_static) {
      write_bounds(out, segment);
      out.line("return ", p_.plan.layouts[static_cast<std::size_t>(segment)].arena_bytes, ";");
    } else if (const std::vector<StorageId> here = storages_in(sharing_, segment); here.empty()) {
      out.line("return 0;");
    } else {
      write_layout(out, here);
    }
  }

  /// Of all sizes that are known where the segment begins: those that the caller brings, and those that the program has
  /// found. Where one is beyond its bound, the bytes and offsets, which are constants, are too few.
  void write_bounds(Text& out, int segment) {
    for (const SymbolId symbol : ids<SymbolId>(p_.plan.upper_bounds.size())) {
      const int64_t bound = p_.plan.upper_bounds[symbol];
      if (bound >= 0 && sharing_.symbol_segments[symbol] <= segment)
        out.line("if (sizes[", symbol.index, "] > ", bound, ") return -1;");
    }
  }

  void write_layout(Text& out, const std::vector<StorageId>& here) {
    NameTable names = p_.names;
    const std::string storages = names.take("storages"), bytes = names.take("bytes"), all = names.take("all"),
                      i = names.take("i");
    std::vector<std::string> rows, byte_counts;
    p_.uses.symbols.clear();
    for (const StorageId s : here) {
      const memory::SharedStorage& storage = sharing_.storages[s];
      rows.push_back(str("{", s.index, ", ", storage.live.begin, ", ", storage.live.end, "}"));
      byte_counts.push_back(p_.exact_size(storage.size_bytes));
    }
    const std::string& add = p_.needs.use("add_sizes");
    const std::size_t count = here.size();
    out.line("static const int32_t ", storages, "[", count, "][3] = {", join(rows, ", "), "};");
    for (const SymbolId symbol : p_.uses.symbols)
      out.line("const int64_t ", p_.symbol(symbol), " = sizes[", symbol.index, "];");
    out.line("int64_t ", bytes, "[", count, "], ", all, " = 0;");
    out.line("bool overflows = false;");
    for (std::size_t k = 0; k < count; ++k) out.line(bytes, "[", k, "] = ", byte_counts[k], ";");
    out.open("for (int ", i, " = 0; ", i, " < ", count, "; ++", i, ")");
    out.line(all, " = ", add, "(", all, ", ", add, "(", bytes, "[", i, "], 64, &overflows), &overflows);");
    out.close();
    out.line("if (overflows) return -1;");
    out.line("return ", p_.needs.use("place_storages"), "(", count, ", ", storages, ", ", bytes, ", offsets);");
  }

  ProgramText& p_;
  const memory::Sharing& sharing_;
};

}  // namespace

std::string layout_text(ProgramText& p, const std::string& name) { return LayoutFunction(p).text(name); }

}  // namespace inlay::c_backend
