#include <algorithm>

#include "backend/c/stage.h"
#include "backend/c/steps.h"
#include "kernel/stopping.h"
#include "kernel/tiles.h"

namespace inlay::c_backend {
namespace {

using kernel::Start;

constexpr std::size_t kLineLength = 100;

/// `(a, b, c)`, over several lines where it is long.
std::string in_lines(const std::string& head, const std::vector<std::string>& items) {
  std::string out = head + "(";
  std::size_t line = out.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : ")");
    if (i > 0 && line + item.size() > kLineLength) {
      out += "\n    ";
      line = 4;
    } else if (i > 0) {
      out += " ";
    }
    out += item;
    line += item.size() + 1;
  }
  return items.empty() ? out + "void)" : out;
}

class KernelText {
 public:
  KernelText(ProgramText& p, const kernel::Kernel& kernel) : p_(p), kernel_(kernel), names_(p.names) {
    for (const kernel::Axis& axis : kernel.outer) place_.points.push_back(names_.take(axis.name, "i"));
    place_.written = access_of(p.program, kernel).writes;
  }

  /// Where it stands, in the entry.
  void write_here(Text& out) {
    for (std::size_t s = 0; s < kernel_.stages.size(); ++s) write_stage(out, s);
  }

  /// The function, before the entry, and its call.
  void write_function(Text& entry) {
    ProgramText::Uses of_entry = std::exchange(p_.uses, {});
    for (BufferId b : place_.written) {
      if (p_.is_scalar(b)) place_.by_address.push_back(b);
    }
    Text body(1);
    write_body(body);
    ProgramText::Uses mine = std::exchange(p_.uses, std::move(of_entry));
    std::ranges::sort(mine.symbols);
    std::ranges::sort(mine.buffers);
    const std::string function = p_.names.take(kernel_.name.empty() ? "scalars" : kernel_.name, "k");
    write_head(function, mine);
    if (ends_early(mine)) body.line("return INLAY_OK;");
    p_.kernels.append(body);
    p_.kernels.line("}");
    p_.kernels.blank();
    write_call(entry, function, mine);
  }

 private:
  static bool ends_early(const ProgramText::Uses& uses) { return uses.can_fail || uses.can_be_interrupted; }

  void write_body(Text& out) {
    write_starts(out, /*local=*/false);
    const std::size_t num_once = kernel_.num_once();
    for (std::size_t s = 0; s < num_once; ++s) write_stage(out, s);
    int loops = 0;
    for (std::size_t axis = 0; axis < kernel_.outer.size(); ++axis) loops += open_loop(out, axis);
    if (kernel::looks_at_outer_points(kernel_)) out.line(p_.look_up());
    write_starts(out, /*local=*/true);
    for (std::size_t s = num_once; s < kernel_.stages.size(); ++s) write_stage(out, s);
    for (; loops > 0; --loops) out.close();
  }

  bool open_loop(Text& out, std::size_t axis) {
    const kernel::Axis& facts = kernel_.outer[axis];
    std::string& point = place_.points[axis];
    const std::string end = p_.size(facts.extent);
    if (kernel_.is_tiled() && static_cast<int>(axis) == kernel_.tiled_axis()) {
      const std::string begin = place_.tile_begin = names_.take(str(point, "_tile"));
      place_.tile_end = names_.take(str(point, "_end"));
      const std::string step = p_.size(kernel::rows_at_once(kernel_));
      out.open("for (", p_.index_type(), " ", begin, " = 0; ", begin, " < ", end, "; ", begin, " += ", step, ")");
      out.line("const ", p_.index_type(), " ", place_.tile_end, " = ", p_.min_of_indices(), "(", begin, " + ", step,
               ", ", end, ");");
      return true;
    }
    if (facts.extent.is(1)) {
      point = "0";
      return false;
    }
    out.open("for (", p_.index_type(), " ", point, " = 0; ", point, " < ", end, "; ++", point, ")");
    return true;
  }

  void write_starts(Text& out, bool local) {
    for (const kernel::KernelOutput& output : kernel_.outputs) {
      if (output.is_local != local) continue;
      if (output.start.kind == Start::Kind::fill) {
        write_fill(p_, out, output.buffer, output.start.value, place_.by_address);
      } else if (output.start.kind == Start::Kind::copy && !output.start.elided) {
        write_transfer(p_, out, output.start.source, output.buffer, place_.by_address);
      }
    }
  }

  void write_stage(Text& out, std::size_t s) {
    if (kernel_.stages.size() > 1) out.comment(str("stage ", s + 1));
    StageText(p_, out, names_, kernel_, kernel_.stages[s], place_).write();
  }

  bool is_written(BufferId b) const { return std::ranges::count(place_.written, b) > 0; }

  /// Proved to have no byte in common with anything that is written while this is used.
  bool is_apart(BufferId b, const std::vector<BufferId>& all) const {
    return std::ranges::all_of(all, [&](BufferId other) {
      const bool harmless = other == b || (!is_written(b) && !is_written(other));
      return harmless || memory::shares_bytes(p_.program, p_.plan.sharing, b, other) == Answer::no;
    });
  }

  void write_head(const std::string& function, const ProgramText::Uses& uses) {
    std::vector<std::string> params;
    if (ends_early(uses)) params.emplace_back("InlayCall* call");
    for (SymbolId s : uses.symbols) params.push_back(str("const int64_t ", p_.symbol(s)));
    for (BufferId b : uses.buffers) {
      const DType dtype = p_.program.buffers[b].dtype;
      use_type(p_.needs, dtype);
      const std::string constness = is_written(b) ? "" : "const ";
      const std::string type = str(constness, memory_type(dtype));
      if (p_.is_scalar(b) && !is_written(b)) {
        params.push_back(str(type, " ", p_.name(b)));
      } else {
        params.push_back(str(type, is_apart(b, uses.buffers) ? "* restrict " : "* ", p_.name(b)));
      }
    }
    p_.kernels.comment(str("kernel @", kernel_.name, ": ", description()));
    p_.kernels.line(in_lines(str("static ", ends_early(uses) ? "int32_t " : "void ", function), params), " {");
  }

  /// "outer (r < m) by 64; stages (i < n, r), (i < n, r)"
  std::string description() const {
    const IdMap<SymbolId, std::string> symbols = p_.program.symbol_names();
    const auto text = [&](const kernel::Axis& axis) { return str(axis.name, " < ", axis.extent.to_text(symbols)); };
    const auto list = [&](const std::vector<kernel::Axis>& axes) { return str("(", join(axes, ", ", text), ")"); };
    std::string out = kernel_.outer.empty() ? "" : str("outer ", list(kernel_.outer));
    if (kernel_.is_tiled()) out += str(" by ", kernel_.tile);
    if (!out.empty()) out += "; ";
    return str(out, kernel_.stages.size() == 1 ? "stage " : "stages ",
               join(kernel_.stages, ", ",
                    [&](const kernel::Stage& stage) { return str(stage.once ? "once " : "", list(stage.axes)); }));
  }

  void write_call(Text& entry, const std::string& function, const ProgramText::Uses& uses) {
    std::vector<std::string> arguments;
    if (ends_early(uses)) arguments.emplace_back("call");
    for (SymbolId s : uses.symbols) arguments.push_back(p_.symbol(s));
    for (BufferId b : uses.buffers) {
      p_.use(b);
      arguments.push_back(str(p_.is_scalar(b) && is_written(b) ? "&" : "", p_.name(b)));
    }
    const std::string text = str(function, "(", join(arguments, ", ", [](const std::string& a) { return a; }), ")");
    if (!uses.can_be_interrupted) {
      return entry.line(uses.can_fail ? str("if (", text, " != INLAY_OK) return INLAY_FAILED_AT_SITE;") : text + ";");
    }
    p_.uses.can_be_interrupted = true;
    entry.open("");
    entry.line("const int32_t status = ", text, ";");
    entry.line("if (status != INLAY_OK) return status;");
    entry.close();
  }

  ProgramText& p_;
  const kernel::Kernel& kernel_;
  NameTable names_;
  KernelPlace place_;
};

}  // namespace

void write_kernel(ProgramText& p, Text& entry, const kernel::Kernel& kernel) {
  KernelText text(p, kernel);
  kernel.is_scalar() ? text.write_here(entry) : text.write_function(entry);
}

}  // namespace inlay::c_backend
