#include "explain/memory_map.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/formula.h"
#include "kernel/steps.h"
#include "kernel/text.h"
#include "memory/liveness.h"
#include "memory/upper_bound.h"
#include "support/table.h"

namespace inlay::explain {

using kernel::Buffer;
using kernel::BufferId;
using kernel::KernelProgram;
using kernel::Step;
using kernel::StepId;
using memory::Layout;
using memory::Lifetime;
using memory::MemoryPlan;
using memory::Owner;
using memory::Placement;
using memory::SharedStorage;
using memory::Sharing;
using memory::StorageId;

namespace {

using Row = std::vector<std::string>;

std::string storage_text(const Sharing& sharing, StorageId storage) {
  const SharedStorage& it = sharing.storages[storage];
  switch (it.owner) {
    case Owner::output: return str("out", it.slot);
    case Owner::param: return str("in", it.slot);
    case Owner::arena: break;
  }
  return str("s", storage.index);
}

/// Steps down, with what each brings into memory.
class Map {
 public:
  Map(const KernelProgram& program, const MemoryPlan& plan)
      : program_(program),
        plan_(plan),
        sharing_(plan.sharing),
        liveness_(memory::liveness(program)),
        names_(program.symbol_names()) {}

  MemoryTable table() const {
    MemoryTable out = head();
    const IdMap<StepId, std::vector<BufferId>> born = born_at();
    for (StepId step : ids<StepId>(program_.steps.size())) {
      for (BufferId b : born[step]) out.rows.push_back(row(b, step));
    }
    for (const memory::PlannedCopy& copy : sharing_.copies) {
      out.notes.push_back(str("copy ", name(copy.source), " -> ", name(copy.destination), " at ",
                              step_name(program_, program_.steps[copy.step.index]), ": ", copy.reason));
    }
    for (const memory::SharingCandidate& apart : sharing_.kept_apart) {
      out.notes.push_back(str(apart.value, " and ", apart.operand, " are kept apart at ", apart.step, ", as asked"));
    }
    add_elided(out.notes);
    return out;
  }

  /// The blocks of segments stand one above the other.
  Page page(const PageWords& words, std::span<const int64_t> symbols) const {
    if (!plan_.is_static) throw depends_on_sizes();
    Page out{.title = words.title, .arena_bytes = plan_.arena_bytes(), .lower_bound_bytes = plan_.lower_bound_bytes()};
    std::vector<int64_t> base_bytes = {0};
    for (const Layout& layout : plan_.layouts) base_bytes.push_back(base_bytes.back() + layout.arena_bytes);
    std::vector<kernel::StepSummary> summaries = kernel::summaries(program_, words.parts);
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      const Placement& placement = sharing_.placements[b];
      if (!is_in_arena(b)) continue;
      const SharedStorage& storage = sharing_.storages[placement.storage];
      const Layout& layout = plan_.layouts[static_cast<std::size_t>(storage.segment)];
      const StepId maker = liveness_.uses[b].writes.front();
      // How much of a storage of constant size a buffer takes may be unknown: then it is shown as the whole.
      Dim bytes = kernel::size_bytes(program_.buffers[b]), offset = placement.offset_bytes;
      if (!is_known(bytes, symbols) || !is_known(offset, symbols)) {
        bytes = storage.size_bytes;
        offset = 0;
      }
      out.buffers.push_back({.name = name(b),
                             .type = type_text(program_, program_.buffers[b]),
                             .storage = storage_text(sharing_, placement.storage),
                             .reason = why(b),
                             .made_by = made_by(b, summaries[maker.index].kind),
                             .bytes = size(bytes, symbols),
                             .offset = base_bytes[static_cast<std::size_t>(storage.segment)] +
                                       layout.offset_bytes[placement.storage.index] + size(offset, symbols),
                             .begin = liveness_.lives[b].begin,
                             .end = liveness_.lives[b].end});
      if (out.buffers.back().bytes == 0) out.buffers.pop_back();
    }
    out.steps = page_steps(words, std::move(summaries));
    out.rows = page_rows(words, symbols);
    return out;
  }

 private:
  const std::string& name(BufferId b) const { return program_.buffers[b].name; }

  void add_elided(std::vector<std::string>& notes) const {
    std::vector<std::string> copies, starts, stores;
    for (const Step& step : program_.steps) {
      const auto add = [&](std::vector<std::string>& out, bool elided, BufferId into) {
        if (elided)
          out.push_back(str("nothing to move into ", name(into), " at ", step_name(program_, step), ": it is there"));
      };
      const auto root = [&](BufferId b) { return kernel::root_of(program_, b); };
      if (const auto* copy = std::get_if<kernel::Copy>(&step)) add(copies, copy->elided, root(copy->destination));
      const auto* kernel = std::get_if<kernel::Kernel>(&step);
      if (!kernel) continue;
      for (const kernel::KernelOutput& output : kernel->outputs) add(starts, output.start.elided, output.buffer);
      for (const kernel::Stage& stage : kernel->stages) {
        for (const kernel::Statement& s : stage.statements) {
          if (s.elided) add(stores, s.elided, root(s.buffer));
        }
      }
    }
    for (const auto* list : {&copies, &starts, &stores}) notes.insert(notes.end(), list->begin(), list->end());
  }

  /// Is there a number, or a bound, for each symbol of it?
  bool is_known(const Dim& size, std::span<const int64_t> symbols) const {
    return std::ranges::all_of(size.symbols(), [&](SymbolId s) {
      return symbols.empty() ? s.index < plan_.upper_bounds.size() && plan_.upper_bounds[s] >= 0
                             : symbols[s.index] >= 0;
    });
  }

  /// Of a static plan: for these sizes, or the most that it can be.
  int64_t size(const Dim& bytes, std::span<const int64_t> symbols) const {
    return std::max<int64_t>(symbols.empty() ? memory::at_most(bytes, plan_.upper_bounds) : bytes.evaluate(symbols), 0);
  }

  /// Has it bytes in the arena that a step writes?
  bool is_in_arena(BufferId b) const {
    const StorageId storage = sharing_.placements[b].storage;
    return storage.valid() && sharing_.storages[storage].owner == Owner::arena && !liveness_.uses[b].writes.empty();
  }

  static bool is_working_memory(const Buffer& buffer) { return buffer.stored.why == kernel::StoredFor::workspace; }

  std::string made_by(BufferId b, const std::string& kind) const {
    if (is_working_memory(program_.buffers[b])) return "workspace";
    return kind == "numbers" ? "kernel" : kind.empty() ? "copy" : kind;  // one that is elided has no kind
  }

  /// A step is a column where it moves bytes; single numbers live in registers.
  std::vector<PageStep> page_steps(const PageWords& words, std::vector<kernel::StepSummary> summaries) const {
    std::vector<bool> makes_memory(program_.steps.size(), false);
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      if (is_in_arena(b)) makes_memory[liveness_.uses[b].writes.front().index] = true;
    }
    std::vector<PageStep> out;
    for (kernel::StepSummary& step : summaries) {
      const std::size_t s = out.size();
      const bool is_shown = !step.kind.empty() && (step.kind != "numbers" || makes_memory[s]);
      const std::string what = step.kind == "copy" || step.name.empty() ? step.kind : step.name;
      out.push_back({what, std::move(step.formulas), s < words.lines.size() ? words.lines[s] : "", is_shown});
    }
    return out;
  }

  /// Those of constants that are bound to the function are not the caller's.
  std::vector<PageRow> page_rows(const PageWords& words, std::span<const int64_t> symbols) const {
    const kernel::Vocabulary vocabulary(program_, words.parts);
    std::vector<PageRow> out;
    const auto add = [&](BufferId b, bool is_result) {
      const Buffer& buffer = program_.buffers[b];
      const Lifetime& live = liveness_.lives[kernel::root_of(program_, b)];
      if (buffer.bound || kernel::is_handle(buffer) || live.begin == live.end) return;
      std::optional<int64_t> bytes;
      const Dim dim = kernel::size_bytes(buffer);
      if (is_known(dim, symbols)) bytes = size(dim, symbols);
      out.push_back({vocabulary.name(b), type_text(program_, buffer), bytes, is_result, live.begin, live.end});
    };
    for (BufferId b : program_.params) add(b, false);
    for (BufferId b : program_.outputs) add(b, true);
    return out;
  }

  /// " for n up to 4096, m up to 7"
  std::string bounds_text() const {
    std::string out;
    for (SymbolId symbol : ids<SymbolId>(plan_.upper_bounds.size())) {
      if (plan_.upper_bounds[symbol] >= 0)
        out += str(out.empty() ? " for " : ", ", names_[symbol], " up to ", plan_.upper_bounds[symbol]);
    }
    return out;
  }

  /// By step, what it is the first to write.
  IdMap<StepId, std::vector<BufferId>> born_at() const {
    IdMap<StepId, std::vector<BufferId>> out(program_.steps.size());
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      const std::vector<StepId>& writes = liveness_.uses[b].writes;
      if (sharing_.placements[b].storage.valid() && !writes.empty()) out[writes.front()].push_back(b);
    }
    return out;
  }

  /// The table without its rows.
  MemoryTable head() const {
    if (plan_.is_static) {
      return {.arena_bytes = plan_.arena_bytes(),
              .lower_bound_bytes = plan_.lower_bound_bytes(),
              .rest = bounds_text(),
              .num_segments = sharing_.num_segments()};
    }
    Dim total = 0;
    for (const SharedStorage& storage : sharing_.storages) {
      if (storage.owner == Owner::arena) total = total + storage.size_bytes;
    }
    return {.rest = str("at most ", total.to_text(names_), " bytes and alignment"),
            .num_segments = sharing_.num_segments()};
  }

  MemoryRow row(BufferId b, StepId step) const {
    const Placement& placement = sharing_.placements[b];
    const SharedStorage& storage = sharing_.storages[placement.storage];
    const Buffer& buffer = program_.buffers[b];
    const Lifetime& live = liveness_.lives[b];
    return {.step = step_name(program_, program_.steps[step.index]),
            .value = buffer.name,
            .type = type_text(program_, buffer),
            .storage = storage_text(sharing_, placement.storage),
            .segment = storage.segment,
            .at = address(placement, storage),
            .bytes = kernel::size_bytes(buffer).to_text(names_),
            .begin = live.begin,
            .end = live.end,
            .reason = reason(placement)};
  }

  std::string address(const Placement& placement, const SharedStorage& storage) const {
    if (storage.owner == Owner::arena && plan_.is_static && placement.offset_bytes.is_constant()) {
      const Layout& layout = plan_.layouts[storage.segment];
      return str(layout.offset_bytes[placement.storage.index] + placement.offset_bytes.constant());
    }
    return str("+", placement.offset_bytes.to_text(names_));
  }

  std::string reason(const Placement& placement) const {
    switch (placement.reason) {
      case memory::Reason::own:
      case memory::Reason::none: return "";
      case memory::Reason::in_place: return str("takes over ", name(placement.took_over));
      case memory::Reason::destination: return str("is made in ", name(placement.took_over));
      case memory::Reason::view: return str("views ", name(placement.took_over));
    }
    return "";
  }

  /// Why it lies there, or else why it has bytes at all.
  std::string why(BufferId b) const {
    const std::string shares = reason(sharing_.placements[b]);
    return shares.empty() ? kernel::stored_text(program_.buffers[b].stored) : shares;
  }

  const KernelProgram& program_;
  const MemoryPlan& plan_;
  const Sharing& sharing_;
  memory::Liveness liveness_;
  IdMap<SymbolId, std::string> names_;
};

}  // namespace

MemoryTable memory_table(const KernelProgram& program, const MemoryPlan& plan) { return Map(program, plan).table(); }

std::string memory_map(const KernelProgram& program, const MemoryPlan& plan) {
  return text(memory_table(program, plan));
}

Page memory_page(const KernelProgram& program, const MemoryPlan& plan, const PageWords& words,
                 std::span<const int64_t> symbols) {
  return Map(program, plan).page(words, symbols);
}

std::vector<StoredValue> stored_values(const KernelProgram& program, const MemoryPlan& plan) {
  const kernel::Names names(program);
  IdMap<BufferId, std::string> owner(program.buffers.size());
  for (const Step& step : program.steps) {
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (!kernel) continue;
    for (const kernel::KernelOutput& output : kernel->outputs) {
      if (output.is_local) owner[output.buffer] = str("@", kernel->name, ", ");
    }
  }
  std::vector<StoredValue> out;
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role != kernel::Role::temporary || buffer.view_of.valid()) continue;
    const StorageId storage = plan.sharing.placements[b].storage;
    const bool sizes_are_known = std::ranges::all_of(buffer.dims, &Dim::is_constant);
    out.push_back({b, names.buffers[b], owner[b] + (storage.valid() ? storage_text(plan.sharing, storage) : "nowhere"),
                   kernel::size_bytes(buffer), kernel::stored_text(buffer.stored),
                   kernel::stored_help(buffer.stored, sizes_are_known)});
  }
  return out;
}

std::string stored_table(const KernelProgram& program, const MemoryPlan& plan) {
  const kernel::Names names(program);
  std::vector<Row> rows = {{"value", "bytes", "where", "why"}};
  for (const StoredValue& value : stored_values(program, plan)) {
    rows.push_back({value.name, value.bytes.to_text(names.symbols), value.where, value.reason});
  }
  return rows.size() > 1 ? table(rows) : "";
}

}  // namespace inlay::explain
