#include <algorithm>

#include "kernel/kernel_texts.h"
#include "kernel/text.h"

namespace inlay::kernel {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return out + "\"";
}

std::string register_text(RegisterId reg) { return reg.valid() ? str("%", reg.index) : "%?"; }
std::string site_text(SiteId site) { return site.valid() ? str("#", site.index) : "#?"; }
const char* elided_text(bool elided) { return elided ? " elided" : ""; }
std::string optional_site(SiteId site) { return site.valid() ? str(" ", site_text(site)) : ""; }

std::string registers_text(std::span<const RegisterId> registers) { return join(registers, ", ", register_text); }

/// Adds "+ term" or "- term" to a sum.
void add_term(std::string& sum, std::string term) {
  if (sum.empty()) {
    sum = std::move(term);
  } else if (term[0] == '-') {
    sum += " - " + term.substr(1);
  } else {
    sum += " + " + term;
  }
}

/// What buffers, symbols and sizes are called. A program that verify would reject is printed too: it is what one looks
/// at then.
class NameText {
 public:
  explicit NameText(const KernelProgram& program) : names_(program) {}

  std::string buffer(BufferId b) const { return b.index < names_.buffers.size() ? names_.buffers[b] : "<none>"; }
  std::string buffers(const std::vector<BufferId>& list) const {
    return join(list, ", ", [&](BufferId b) { return buffer(b); });
  }
  std::string symbol(SymbolId s) const { return s.index < names_.symbols.size() ? names_.symbols[s] : "<none>"; }
  std::string dim(const Dim& d) const { return exists(d) ? d.to_text(names_.symbols) : "<size>"; }
  std::string dims(std::span<const Dim> list) const {
    return join(list, ", ", [&](const Dim& d) { return dim(d); });
  }
  std::string times(const Dim& step, const std::string& what) const {
    if (step.is(1) || step.is(-1)) return (step.is(1) ? "" : "-") + what;
    return str(exists(step) ? step.to_factor_text(names_.symbols) : "<size>", "*", what);
  }
  std::vector<std::string> axes(const Kernel& kernel, const Stage& stage) const { return names_.axes(kernel, stage); }

 private:
  bool exists(const Dim& d) const {
    return std::ranges::all_of(d.symbols(), [&](SymbolId s) { return s.index < names_.symbols.size(); });
  }

  Names names_;
};

class KernelPrinter {
 public:
  explicit KernelPrinter(const NameText& names) : names_(names) {}

  std::string kernel(const Kernel& kernel, const std::string& indent);
  std::string statement(const Statement& s);

  void enter(const Kernel& kernel, const Stage& stage) { axis_names_ = names_.axes(kernel, stage); }

 private:
  std::string axis(int a) const {
    const auto i = static_cast<std::size_t>(a);
    return i < axis_names_.size() ? axis_names_[i] : str("axis", a);
  }
  std::string axes_text(const std::vector<Axis>& axes, std::size_t first, int tiled_axis = -1, std::size_t tile_at = 0);
  std::string subscript(const Subscript& s);
  std::string access(BufferId b, const AccessMap& map);
  std::string right_side(const Statement& s);
  std::string start(const KernelOutput& output);
  std::string statements(const Stage& stage, const std::string& indent);

  const NameText& names_;
  std::vector<std::string> axis_names_;
};

/// `tiled_axis`: the axis of which only a tile is passed here, before axes[tile_at].
std::string KernelPrinter::axes_text(const std::vector<Axis>& axes, std::size_t first, int tiled_axis,
                                     std::size_t tile_at) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    texts.push_back(str(axis(static_cast<int>(first + i)), " < ", names_.dim(axes[i].extent)));
  }
  if (tiled_axis >= 0)
    texts.insert(texts.begin() + static_cast<std::ptrdiff_t>(std::min(tile_at, texts.size())), axis(tiled_axis));
  return str("(", join(texts, ", "), ")");
}

std::string KernelPrinter::subscript(const Subscript& s) {
  std::string sum;
  if (!s.base.is(0) || s.is_constant()) sum = names_.dim(s.base);
  for (const AxisTerm& term : s.axes) add_term(sum, names_.times(term.step, axis(term.axis)));
  if (!s.index) return sum;
  const IndexTerm& index = *s.index;
  add_term(sum,
           names_.times(index.step, str("wrap(", register_text(index.index), ", ", names_.dim(index.extent), ")")));
  switch (index.bounds) {
    case Bounds::proved: return sum + " proved";
    case Bounds::checked_before: return str(sum, " checked before ", site_text(index.site));
    case Bounds::checked: return str(sum, " checked ", site_text(index.site));
  }
  return sum;
}

std::string KernelPrinter::access(BufferId b, const AccessMap& map) {
  return str(names_.buffer(b), "[", join(map.subscripts, ", ", [&](const Subscript& s) { return subscript(s); }), "]");
}

std::string KernelPrinter::right_side(const Statement& s) {
  switch (s.kind) {
    case Statement::Kind::load: return str("load ", access(s.buffer, s.map));
    case Statement::Kind::literal: return str("literal ", s.literal.to_text());
    case Statement::Kind::axis: return str("axis ", axis(s.axis));
    case Statement::Kind::size: return str("size ", names_.dim(s.size));
    case Statement::Kind::op: return str(facts(s.op).name, " ", registers_text(s.operands));
    case Statement::Kind::cast: return str("cast ", registers_text(s.operands));
    case Statement::Kind::store:
    case Statement::Kind::fold:
    case Statement::Kind::check: break;
  }
  return "";
}

std::string KernelPrinter::statement(const Statement& s) {
  switch (s.kind) {
    case Statement::Kind::store:
      return str("store ", access(s.buffer, s.map), " ", combine_name(s.combine()), " ", registers_text(s.operands),
                 s.predicate.valid() ? str(" if ", register_text(s.predicate)) : "", elided_text(s.elided));
    case Statement::Kind::fold:
      return str(s.result.valid() ? str(register_text(s.result), " = ") : "", "fold ", state_name(s.fold, s.state), " ",
                 access(s.buffer, s.map), " ", registers_text(s.operands), " : ", dtype_name(s.dtype));
    case Statement::Kind::check:
      if (s.index_to_check()) return str("check ", subscript(s.map.subscripts[0]));
      return str("check ", registers_text(s.operands), " ", site_text(s.site));
    case Statement::Kind::load:
    case Statement::Kind::literal:
    case Statement::Kind::axis:
    case Statement::Kind::size:
    case Statement::Kind::op:
    case Statement::Kind::cast: break;
  }
  return str(register_text(s.result), " = ", right_side(s), " : ", dtype_name(s.dtype));
}

std::string KernelPrinter::statements(const Stage& stage, const std::string& indent) {
  std::string out;
  for (const Statement& s : stage.statements) out += str(indent, statement(s), "\n");
  return out;
}

std::string KernelPrinter::start(const KernelOutput& output) {
  std::string out = str(output.is_local ? "local " : "out ", names_.buffer(output.buffer));
  switch (output.start.kind) {
    case Start::Kind::keep: return output.is_local ? out : out + " start keep";
    case Start::Kind::fill: return str(out, " start fill ", output.start.value.to_text());
    case Start::Kind::copy:
      return str(out, " start copy ", names_.buffer(output.start.source),
                 output.start.required.valid() ? str(" in place ", site_text(output.start.required)) : "",
                 elided_text(output.start.elided));
  }
  return out;
}

std::string KernelPrinter::kernel(const Kernel& kernel, const std::string& indent) {
  const std::string inner = indent + "  ";
  enter(kernel, {});
  if (kernel.is_scalar() && kernel.name.empty() && kernel.stages.size() == 1) {
    return str(indent, "scalar {\n", statements(kernel.stages[0], inner), indent, "}\n");
  }
  std::string out = str(indent, "kernel ", kernel.name.empty() ? "" : str("@", kernel.name, " "), "{\n");
  if (!kernel.outer.empty()) {
    out += str(inner, "outer ", axes_text(kernel.outer, 0), kernel.is_tiled() ? str(" by ", kernel.tile) : "", "\n");
  }
  for (const KernelOutput& output : kernel.outputs) {
    if (output.start.kind != Start::Kind::keep || output.is_local) out += str(inner, start(output), "\n");
  }
  if (kernel.workspace.valid()) out += str(inner, "workspace ", names_.buffer(kernel.workspace), "\n");
  for (const Stage& stage : kernel.stages) {
    enter(kernel, stage);
    const int tiled_axis = kernel.is_tiled() && !stage.once ? kernel.tiled_axis() : -1;
    out += str(inner, stage.once ? "once " : "", "stage ",
               axes_text(stage.axes, kernel.outer.size(), tiled_axis, stage.tile_at), " {\n",
               statements(stage, inner + "  "), inner, "}\n");
  }
  return str(out, indent, "}\n");
}

class Printer {
 public:
  explicit Printer(const KernelProgram& program) : program_(program), names_(program) {}

  std::string program();

 private:
  std::string signature();
  std::string buffer_text(BufferId b);
  std::string place_text(const Buffer& b);
  std::string bound_text(const Buffer& b);
  std::string symbols_text();

  std::string step(const Kernel& kernel) { return KernelPrinter(names_).kernel(kernel, "  "); }
  std::string step(const LibraryCall& call);
  std::string call_arrays(const LibraryCall& call, const std::vector<CallArray>& arrays,
                          const std::vector<CoreAxes>& axes);
  std::string step(const HostCall& call);
  std::string step(const Copy& copy);
  std::string step(const SizeCheck& check);
  std::string step(const BindSize& bind);
  std::string step(const LoopBegin& loop) {
    return str("  loop ", names_.buffer(loop.step), " < ", names_.dim(loop.count), " {\n");
  }
  std::string step(const LoopEnd& loop) {
    return loop.go_on.valid() ? str("  } while ", names_.buffer(loop.go_on), "\n") : "  }\n";
  }
  std::string step(const CondBegin& cond) { return str("  cond ", names_.buffer(cond.condition), " {\n"); }
  std::string step(const CondElse&) { return "  } else {\n"; }
  std::string step(const CondEnd&) { return "  }\n"; }
  std::string steps();
  std::string site(SiteId id);
  std::string stored();

  const KernelProgram& program_;
  NameText names_;
};

std::string Printer::bound_text(const Buffer& b) {
  if (b.donated) return " donated";
  if (!b.bound) return "";
  std::vector<std::string> facts;
  if (b.facts.has_range) facts = {str("min ", b.facts.min), str("max ", b.facts.max)};
  if (b.facts.sorted) facts.emplace_back("sorted");
  return facts.empty() ? " bound" : str(" bound {", join(facts, ", "), "}");
}

std::string Printer::place_text(const Buffer& b) {
  std::string out = str(role_name(b.role), b.slot >= 0 ? str(" ", b.slot) : "", bound_text(b));
  if (b.role == Role::literal) {
    out += str(" [", join(b.elements, ", ", [](const Literal& element) { return element.to_text(); }), "]");
  }
  if (!b.view_of.valid()) return out;
  const std::string view = str("view of ", names_.buffer(b.view_of));
  return b.role == Role::temporary ? view : str(out, " ", view);
}

std::string Printer::buffer_text(BufferId id) {
  const Buffer& b = program_.buffers[id];
  std::string type(dtype_name(b.dtype));
  if (!b.dims.empty()) type += str("[", names_.dims(b.dims), "]");
  return str(names_.buffer(id), ": ", type, " ", place_text(b));
}

std::string Printer::symbols_text() {
  std::vector<std::string> texts;
  for (SymbolId s : ids<SymbolId>(program_.symbols.size())) {
    const Symbol& declared = program_.symbols[s];
    std::string text = names_.symbol(s);
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      if (declared.axis == Symbol::kOfValue) break;  // a `bind` says so
      if (!declared.source.valid() || program_.buffers[b].value != declared.source) continue;
      text += str(" = ", names_.buffer(b), ".", declared.axis);
      break;
    }
    texts.push_back(std::move(text));
  }
  return texts.empty() ? "" : str(" symbols ", join(texts, ", "));
}

std::string Printer::signature() {
  std::vector<std::string> buffers;
  std::size_t length = 0;
  for (BufferId b : ids<BufferId>(program_.buffers.size())) {
    buffers.push_back(buffer_text(b));
    length += buffers.back().size() + 2;
  }
  const std::string head = str("program @", program_.name, "(");
  constexpr std::size_t kLineLength = 110;
  const bool fits = head.size() + length <= kLineLength;
  return str(head, join(buffers, fits ? ", " : ",\n    "), ")", symbols_text(), " {\n");
}

std::string Printer::step(const LibraryCall& call) {
  const LibrarySignature& signature = facts(call.op).signature;
  const std::string sizes = names_.dims(call.sizes);
  std::string out =
      str("  call ", facts(call.op).name, " ", call_arrays(call, call.results, signature.results), " = ",
          call_arrays(call, call.operands, signature.operands), " (", sizes, ")", options_text(call.options));
  if (call.workspace.valid()) out += str(" workspace ", names_.buffer(call.workspace));
  for (SiteId site : call.sites) out += str(" ", site_text(site));
  return out + "\n";
}

std::string Printer::call_arrays(const LibraryCall& call, const std::vector<CallArray>& arrays,
                                 const std::vector<CoreAxes>& axes) {
  std::string out;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const CallArray& array = arrays[i];
    out += str(i == 0 ? "" : ", ", names_.buffer(array.buffer));
    if (i < axes.size() && is_row_major(call, axes[i], array)) continue;
    out += str(" at ", names_.dim(array.offset));
    if (array.index.valid()) out += str(" index ", names_.buffer(array.index), " by ", names_.dim(array.index_stride));
    out += str(" strides (", names_.dims(array.strides), ")");
  }
  return out;
}

std::string Printer::step(const HostCall& call) {
  std::string out =
      str("  host_call ", quoted(call.name), " ", call.function, " (", names_.buffers(call.operands), ")");
  if (!call.results.empty()) out += str(" -> ", names_.buffers(call.results));
  for (std::size_t i = 0; i < call.bindings.size(); ++i) {
    const HostCall::Binding& binding = call.bindings[i];
    const auto result = static_cast<std::size_t>(binding.result);
    out += str(i == 0 ? " bind " : ", ", names_.symbol(binding.symbol), " = ",
               result < call.results.size() ? names_.buffer(call.results[result]) : "<none>", ".", binding.axis);
  }
  return str(out, optional_site(call.site), "\n");
}

std::string Printer::step(const Copy& copy) {
  return str("  copy ", names_.buffer(copy.source), " -> ", names_.buffer(copy.destination), " ", quoted(copy.reason),
             elided_text(copy.elided), "\n");
}

std::string Printer::step(const SizeCheck& check) {
  const char* relation = check.relation == DimCheck::Relation::equal ? " == " : " <= ";
  return str("  check ", names_.dim(check.left), relation, names_.dim(check.right), " ", site_text(check.site), "\n");
}

std::string Printer::step(const BindSize& bind) {
  return str("  size ", names_.symbol(bind.symbol), " = ", names_.buffer(bind.value), " ", site_text(bind.site), "\n");
}

std::string Printer::site(SiteId id) {
  const Site& s = program_.sites[id];
  std::string out = str("    ", site_text(id), " ", code_name(s.code), " ", quoted(s.message));
  if (!s.location.empty()) out += str(" at ", quoted(s.location.text));
  for (const auto& [role, description] : s.notes) out += str(" note ", quoted(role), " ", quoted(description));
  return out + "\n";
}

bool begins_body(const Step& step) {
  return std::holds_alternative<LoopBegin>(step) || std::holds_alternative<CondBegin>(step) ||
         std::holds_alternative<CondElse>(step);
}
bool ends_body(const Step& step) {
  return std::holds_alternative<LoopEnd>(step) || std::holds_alternative<CondEnd>(step) ||
         std::holds_alternative<CondElse>(step);
}

/// Returns `text` with every line indented.
std::string moved_in(const std::string& text, std::size_t depth) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    out += std::string(2 * depth, ' ') + text.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

std::string Printer::steps() {
  std::string out;
  std::size_t depth = 0;
  for (const Step& s : program_.steps) {
    if (ends_body(s) && depth > 0) --depth;
    out += moved_in(std::visit([&](const auto& each) { return step(each); }, s), depth);
    if (begins_body(s)) ++depth;
  }
  return out;
}

std::string Printer::stored() {
  std::string out;
  for (BufferId b : ids<BufferId>(program_.buffers.size())) {
    const auto& [why, what] = program_.buffers[b].stored;
    if (why == StoredFor::unsaid) continue;
    out += str("    ", names_.buffer(b), " ", stored_for_name(why), what.empty() ? "" : " " + quoted(what), "\n");
  }
  return out.empty() ? out : str("  stored {\n", out, "  }\n");
}

std::string Printer::program() {
  std::string out = signature() + steps();
  if (program_.sites.size() > 0) {
    out += "  sites {\n";
    for (SiteId id : ids<SiteId>(program_.sites.size())) out += site(id);
    out += "  }\n";
  }
  out += stored();
  if (!program_.refusals.empty()) {
    out += "  refusals {\n";
    for (const std::string& refusal : program_.refusals) out += str("    ", quoted(refusal), "\n");
    out += "  }\n";
  }
  return out + "}\n";
}

}  // namespace

std::string print(const KernelProgram& program) { return Printer(program).program(); }

IdMap<StepId, std::string> print_kernels(const KernelProgram& program) {
  const NameText names(program);
  IdMap<StepId, std::string> out(program.steps.size());
  for (StepId step : ids<StepId>(program.steps.size())) {
    const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
    if (kernel) out[step] = KernelPrinter(names).kernel(*kernel, "");
  }
  return out;
}

std::string print_statement(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
                            const Statement& statement) {
  const NameText names(program);
  KernelPrinter printer(names);
  printer.enter(kernel, stage);
  return printer.statement(statement);
}

}  // namespace inlay::kernel
