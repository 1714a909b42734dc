#include "kernel/summary.h"

#include <algorithm>
#include <optional>

#include "kernel/counts.h"
#include "kernel/flops.h"
#include "kernel/formula.h"
#include "kernel/live.h"
#include "kernel/visit.h"
#include "ops/library_strides.h"

namespace inlay::kernel {
namespace {

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

class Summarizer {
 public:
  Summarizer(const KernelProgram& program, const std::vector<NamedPart>& parts)
      : program_(program), words_(program, parts), num_users_(count_users(program)) {}

  std::vector<StepSummary> all() {
    std::vector<StepSummary> out;
    int depth = 0;
    for (const Step& step : program_.steps) {
      const bool ends = std::holds_alternative<LoopEnd>(step) || std::holds_alternative<CondEnd>(step);
      if (ends) --depth;
      out.push_back(std::visit([&](const auto& each) { return of(each); }, step));
      out.back().depth = depth;
      out.back().returns = !out.back().kind.empty() && writes_result(step);
      if (std::holds_alternative<CondElse>(step)) --out.back().depth;
      if (std::holds_alternative<LoopBegin>(step) || std::holds_alternative<CondBegin>(step)) ++depth;
    }
    return out;
  }

 private:
  bool writes_result(const Step& step) const {
    return std::ranges::any_of(access_of(program_, step).writes,
                               [&](BufferId b) { return program_.buffers[b].role == Role::output; });
  }

  std::string name(BufferId b) const { return words_.name(b); }
  std::string text(const Dim& d) const { return d.to_text(words_.names().symbols); }

  StepSummary of(const Kernel& whole) const {
    Kernel kernel = whole;
    for (Stage& stage : kernel.stages) {
      if (std::erase_if(stage.statements, [](const Statement& s) { return s.elided; }) > 0) drop_unused(stage);
    }
    const KernelCounts counts = count(program_, kernel);
    StepSummary out = {.kind = kernel.is_scalar() ? "numbers" : "kernel",
                       .name = kernel.name.empty() ? "" : "@" + kernel.name,
                       .formulas = formulas(words_, kernel),
                       .read_bytes = counts.read_bytes,
                       .written_bytes = counts.written_bytes,
                       .flops = flops(kernel)};
    for (const KernelOutput& output : kernel.outputs) {
      if (output.start.kind != Start::Kind::copy || output.is_local || output.start.elided) continue;
      const Dim bytes = size_bytes(program_.buffers[output.buffer]);
      out.read_bytes = out.read_bytes + bytes;
      out.written_bytes = out.written_bytes + bytes;
    }
    for (const Stage& stage : kernel.stages) {
      if (stage.statements.empty()) continue;
      for (std::string& made : made_by(kernel, stage)) add_once(out.makes, std::move(made));
      std::vector<Dim> extents = axis_extents(kernel, stage);
      if (stage.once)
        extents.erase(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(kernel.outer.size()));
      if (!extents.empty()) add_once(out.loops, join(extents, " x ", [&](const Dim& d) { return text(d); }));
    }
    if (out.makes.empty()) say_what_is_there(whole, out);
    const std::string over = out.loops.empty() ? "" : str(" over ", join(out.loops, ", "));
    out.title = kernel.is_scalar() ? "single numbers" : out.name + over;
    return out;
  }

  std::vector<std::string> made_by(const Kernel& kernel, const Stage& stage) const {
    std::vector<std::string> out;
    for (const Statement& s : stage.statements) {
      if (s.is_write() && is_read_later(kernel, s.buffer)) out.push_back(target(kernel, stage, s));
    }
    return out;
  }

  /// Describes a kernel that the plan elides completely: its results are in place already.
  void say_what_is_there(const Kernel& whole, StepSummary& out) const {
    const bool has_formulas = !out.formulas.empty();
    for (const Stage& stage : whole.stages) {
      for (const Statement& s : stage.statements) {
        if (!s.is_write() || !is_read_later(whole, s.buffer)) continue;
        const std::string place = target(whole, stage, s);
        add_once(out.makes, place);
        const Statement* load = maker_of(stage, s.operands[0]);
        if (!has_formulas && load->kind == Statement::Kind::load)
          add_once(out.formulas, str(target(whole, stage, *load), " is in ", place, " already"));
      }
    }
  }

  /// Is it read later? Not a kernel's local, and not a scalar that is shown as its expression.
  bool is_read_later(const Kernel& kernel, BufferId b) const {
    if (program_.buffers[b].role != Role::scalar) return !kernel.is_local(b);
    return num_users_[b] > 1 && (kernel.is_scalar() || !words_.stands_where_read(b));
  }

  /// Returns the text of what the statement writes or loads, or the name of the part.
  std::string target(const Kernel& kernel, const Stage& stage, const Statement& s) const {
    const std::string text =
        place_text(words_, kernel, stage, s.buffer, s.map, [](RegisterId) { return Expression(); }).text;
    return text.substr(0, text.find('['));
  }

  StepSummary of(const LibraryCall& call) const {
    const LibrarySignature& signature = facts(call.op).signature;
    const auto list = [&](const std::vector<CallArray>& arrays, const std::vector<CoreAxes>& axes) {
      std::string text;
      for (std::size_t i = 0; i < arrays.size(); ++i) text += (i == 0 ? "" : ", ") + name(call, arrays[i], axes[i]);
      return text;
    };
    StepSummary out = {.kind = "library call",
                       .name = std::string(facts(call.op).name),
                       .formulas = {str(list(call.results, signature.results), " = ", facts(call.op).name, "(",
                                        list(call.operands, signature.operands), ")")},
                       .flops = flops(program_, call)};
    const auto bytes = [&](const CallArray& array, const CoreAxes& axes) {
      return product(library_extents(call.op, axes, call.sizes)) * size_bytes(program_.buffers[array.buffer].dtype);
    };
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      out.read_bytes = out.read_bytes + bytes(call.operands[i], signature.operands[i]);
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      out.written_bytes = out.written_bytes + bytes(call.results[r], signature.results[r]);
      add_once(out.makes, name(call, call.results[r], signature.results[r]));
    }
    return out;
  }

  /// Returns the name of the part of a vector that the call reads or writes, if it has one.
  std::string name(const LibraryCall& call, const CallArray& array, const CoreAxes& axes) const {
    const Dim count = product(library_extents(call.op, axes, call.sizes));
    const bool is_vector = program_.buffers[array.buffer].dims.size() == 1 && count.is_constant();
    const NamedPart* part = is_vector ? words_.part(array.buffer, array.offset, count.constant()) : nullptr;
    return part != nullptr ? part->name : name(array.buffer);
  }

  StepSummary of(const HostCall& call) const {
    const auto list = [&](const std::vector<BufferId>& buffers) {
      return join(buffers, ", ", [&](BufferId b) { return name(b); });
    };
    StepSummary out = {.kind = "host call", .name = call.name};
    out.formulas = {str(list(call.results), " = ", call.name, "(", list(call.operands), ")")};
    for (BufferId b : call.operands) out.read_bytes = out.read_bytes + size_bytes(program_.buffers[b]);
    for (BufferId b : call.results) {
      out.written_bytes = out.written_bytes + size_bytes(program_.buffers[b]);
      add_once(out.makes, name(b));
    }
    return out;
  }

  StepSummary of(const Copy& copy) const {
    if (copy.elided || is_handle(program_.buffers[copy.destination])) return {};
    const Dim bytes = size_bytes(program_.buffers[copy.destination]);
    return {.kind = "copy",
            .title = "copy",
            .makes = {name(copy.destination)},
            .formulas = {str(name(copy.destination), " = ", name(copy.source))},
            .read_bytes = bytes,
            .written_bytes = bytes,
            .flops = Dim(0)};
  }

  StepSummary of(const LoopBegin& loop) const {
    return {.kind = "loop", .formulas = {str("for ", name(loop.step), " < ", text(loop.count))}};
  }
  StepSummary of(const CondBegin& cond) const {
    return {.kind = "condition", .formulas = {"if " + words_.number(cond.condition).text}};
  }
  static StepSummary of(const CondElse&) { return {.kind = "condition", .formulas = {"else"}}; }
  static StepSummary of(const SizeCheck&) { return {}; }
  static StepSummary of(const BindSize&) { return {}; }
  static StepSummary of(const LoopEnd&) { return {}; }
  static StepSummary of(const CondEnd&) { return {}; }

  const KernelProgram& program_;
  Vocabulary words_;
  IdMap<BufferId, int> num_users_;  // steps
};

/// Returns the first element and the length of a slice that reads contiguous elements of a vector.
std::optional<std::pair<Dim, Dim>> range_of(const Node& slice) {
  if (slice.index.size() != 1) return std::nullopt;
  const IndexItem& item = slice.index[0];
  if (item.kind == IndexItem::Kind::position) return std::pair{item.position, Dim(1)};
  const bool has_gaps = item.kind != IndexItem::Kind::range || item.step != 1;
  return has_gaps ? std::nullopt : std::optional(std::pair{item.start, item.stop - item.start});
}

}  // namespace

std::vector<NamedPart> named_parts(const KernelProgram& program, const Graph& graph) {
  std::vector<NamedPart> out;
  IdMap<ValueId, BufferId> parameters(graph.values.size()), results(graph.values.size());
  IdMap<ValueId, bool> has_array(graph.values.size(), false);  // it is named already: two things would have one name
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const Buffer& buffer = program.buffers[b];
    if (!buffer.value.valid() || buffer.value.index >= graph.values.size()) continue;
    if (buffer.role == Role::param) parameters[buffer.value] = b;
    if (buffer.role == Role::output) results[buffer.value] = b;
    if (buffer.role != Role::scalar) has_array[buffer.value] = true;
  }
  const auto add = [&](BufferId buffer, const Dim& first, const Dim& length, const std::string& name) {
    if (!name.empty()) out.push_back({buffer, first, length, name});
  };
  for (const Node& node : graph.nodes) {
    if (node.op == Op::slice && parameters[node.operands[0]].valid()) {
      const std::string& name = graph.values[node.results[0]].name;
      if (const auto range = range_of(node)) add(parameters[node.operands[0]], range->first, range->second, name);
    }
    if (node.op != Op::concat || !results[node.results[0]].valid() || graph.type(node.results[0]).rank() != 1) continue;
    Dim first = 0;
    for (ValueId operand : node.operands) {
      const Dim& length = graph.type(operand).dims[0];
      const std::string& name = graph.values[operand].name;
      add(results[node.results[0]], first, length, has_array[operand] ? "" : name);
      first = first + length;
    }
  }
  return out;
}

std::vector<StepSummary> summaries(const KernelProgram& program, const std::vector<NamedPart>& parts) {
  return Summarizer(program, parts).all();
}

}  // namespace inlay::kernel
