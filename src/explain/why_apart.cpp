#include "explain/why_apart.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kernel/dependences.h"
#include "kernel/text.h"
#include "ops/library_op.h"

namespace inlay::explain {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StepId;

namespace {

struct Row {
  std::string_view name, sentence;
};
constexpr std::array<Row, kNumApartFor> kRows = {{
#define APART_FOR(name, text, sentence) {text, sentence},
#include "explain/apart.def"
#undef APART_FOR
}};

// How many kernels a number is traced back to.
constexpr std::size_t kMaxOrigins = 4;

const Kernel* kernel_at(const KernelProgram& program, StepId step) {
  const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
  return kernel && !kernel->is_scalar() ? kernel : nullptr;
}

// --- what waits for what ---

/// Two kernels with data in common.
struct Pair {
  StepId first, second;
  BufferId shared;
  BufferId number;          // that the second reads, and that is the first's or was made of its results
  bool waits = false;       // the second for the first, at once or by way of numbers
  bool is_changed = false;  // 0-d arithmetic writes elements of what they share, between them
};

/// Finds kernels with data in common.
class PairFinder {
 public:
  explicit PairFinder(const KernelProgram& program)
      : program_(program), uses_(program), last_reader_(program.buffers.size()), origins_(program.buffers.size()) {}

  /// In the order of their second kernels.
  std::vector<Pair> run() {
    for (StepId step : ids<StepId>(program_.steps.size())) add(step);
    return std::move(pairs_);
  }

 private:
  void add(StepId step) {
    const kernel::StepAccess access = access_of(program_, program_.steps[step.index]);
    const Kernel* kernel = kernel_at(program_, step);
    SmallVector<StepId, 4> origins;
    const std::size_t first_pair = pairs_.size();
    for (BufferId b : access.reads) {
      for (StepId origin : origins_[b]) {
        if (origin == step) continue;
        if (kernel) {
          Pair& it = pair(first_pair, origin, step, b);
          it.waits = true;
          if (is_number(b)) it.number = b;
          it.is_changed |= is_array(b) && uses_.writer(b) != origin;
        }
        const bool known = std::ranges::find(origins, origin) != origins.end();
        if (is_scalar(step) && !known && origins.size() < kMaxOrigins) origins.push_back(origin);
      }
    }
    for (BufferId b : access.reads) {
      if (!kernel || !is_array(b)) continue;
      if (last_reader_[b].valid()) pair(first_pair, last_reader_[b], step, b);
      last_reader_[b] = step;
    }
    for (BufferId b : access.writes) {
      const StepId writer = uses_.writer(b);
      if (kernel && writer.valid() && kernel_at(program_, writer)) pair(first_pair, writer, step, b);  // parts of one
      last_reader_[b] = {};
      if (kernel) origins = {step};
      origins_[b] = origins;
    }
    uses_.add(step, access);
  }

  bool is_scalar(StepId step) const {
    return std::holds_alternative<Kernel>(program_.steps[step.index]) && !kernel_at(program_, step);
  }

  /// `begin`: where the pairs of the second kernel begin.
  Pair& pair(std::size_t begin, StepId first, StepId second, BufferId shared) {
    const auto found = std::find_if(pairs_.begin() + static_cast<std::ptrdiff_t>(begin), pairs_.end(),
                                    [&](const Pair& known) { return known.first == first; });
    if (found != pairs_.end()) return *found;
    return pairs_.emplace_back(Pair{first, second, shared});
  }

  bool is_number(BufferId b) const {
    const Buffer& buffer = program_.buffers[b];
    return buffer.role == Role::scalar || num_elements(buffer).is(1);
  }
  bool is_array(BufferId b) const { return !is_number(b) && program_.buffers[b].role != Role::literal; }

  const KernelProgram& program_;
  kernel::LastUses uses_;
  IdMap<BufferId, StepId> last_reader_;  // the last kernel that read the array, since it was written
  IdMap<BufferId, SmallVector<StepId, 4>>
      origins_;  // kernels whose results it was made of, at once or by 0-d arithmetic
  std::vector<Pair> pairs_;
};

// --- why ---

std::vector<Dim> longest_axes(const Kernel& kernel) {
  std::vector<Dim> out;
  for (const Stage& stage : kernel.stages) {
    if (std::vector<Dim> axes = axis_extents(kernel, stage); axes.size() > out.size()) out = std::move(axes);
  }
  return out;
}

int num_ops(const Kernel& kernel) {
  std::ptrdiff_t most = 0;
  for (const Stage& stage : kernel.stages) {
    most = std::max(most, std::ranges::count_if(stage.statements, [](const Statement& s) {
                      return s.kind == Statement::Kind::op || s.kind == Statement::Kind::cast;
                    }));
  }
  return static_cast<int>(most);
}

class Judge {
 public:
  Judge(const KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode)
      : program_(program), caps_(caps), mode_(mode), dependences_(program), names_(program) {}

  std::vector<Apart> run() const {
    std::vector<Apart> out;
    for (const Pair& pair : PairFinder(program_).run()) {
      auto [why, what] = judge(pair);
      out.push_back({pair.first, pair.second, pair.shared, why, std::move(what)});
    }
    return out;
  }

 private:
  using Reason = std::pair<ApartFor, std::string>;

  Reason judge(const Pair& pair) const {
    const Kernel &first = *kernel_at(program_, pair.first), &second = *kernel_at(program_, pair.second);
    if (mode_ == fuse::Mode::none) return {ApartFor::fusion_off, {}};
    const StepId body = dependences_.body_of(pair.first), later_body = dependences_.body_of(pair.second);
    if (body != later_body) return {ApartFor::body, step_name(later_body.valid() ? later_body : body)};
    if (const StepId step = between(pair); step.valid()) return {ApartFor::between, step_name(step)};
    if (const std::optional<Reason> why = starts_with_all(first, second)) return *why;
    if (pair.is_changed) return {ApartFor::whole_parts, name(pair.shared)};
    if (const std::optional<Reason> why = needs_other_rows(first, second)) return *why;
    if (const std::optional<Reason> why = waits_for_number(pair, first, second)) return *why;
    if (pair.waits && any_statement(first, &Statement::can_fail) && any_statement(second, &Statement::can_fail)) {
      return {ApartFor::both_can_fail, {}};
    }
    if (const std::optional<Reason> why = other_axes(first, second)) return *why;
    if (mode_ == fuse::Mode::greedy) return {ApartFor::greedy, {}};
    const int ops = num_ops(first) + num_ops(second);
    if (ops > caps_.max_body_ops) return {ApartFor::long_loop, str(ops, ", more than ", caps_.max_body_ops)};
    return {ApartFor::order, {}};
  }

  /// A step but 0-d arithmetic that keeps them apart; none if none was seen.
  StepId between(const Pair& pair) const {
    const std::optional<std::vector<StepId>> steps = dependences_.between(pair.first, pair.second);
    if (!steps) return {};
    const auto found = std::ranges::find_if(*steps, [&](StepId step) {
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
      return !kernel || !kernel->is_scalar();
    });
    return found == steps->end() ? StepId() : *found;
  }

  std::string step_name(StepId step) const {
    const Step& it = program_.steps[step.index];
    if (const auto* kernel = std::get_if<Kernel>(&it)) return "@" + kernel->name;
    if (const auto* call = std::get_if<kernel::LibraryCall>(&it)) return std::string(facts(call->op).name);
    if (const auto* call = std::get_if<kernel::HostCall>(&it)) return str("host call \"", call->name, "\"");
    if (std::holds_alternative<kernel::Copy>(it)) return "a copy";
    if (const auto* size = std::get_if<kernel::BindSize>(&it)) return "the size " + names_.symbols[size->symbol];
    return std::holds_alternative<kernel::LoopBegin>(it) ? "a loop" : "a branch";
  }

  BufferId root(BufferId b) const { return root_of(program_, b); }
  const std::string& name(BufferId b) const { return names_.buffers[b]; }

  const KernelOutput* output(const Kernel& kernel, BufferId b) const {
    const auto found =
        std::ranges::find_if(kernel.outputs, [&](const KernelOutput& o) { return root(o.buffer) == root(b); });
    return found == kernel.outputs.end() ? nullptr : &*found;
  }

  /// An output of the second begins with what the first has written.
  std::optional<Reason> starts_with_all(const Kernel& first, const Kernel& second) const {
    for (const KernelOutput& o : second.outputs) {
      if (o.start.kind == Start::Kind::copy && output(first, o.start.source)) {
        return Reason{ApartFor::whole_start, str(name(o.buffer), " begins with ", name(o.start.source))};
      }
      const bool starts = o.start.kind != Start::Kind::keep;
      if (starts && touches(first, o.buffer)) {
        return Reason{ApartFor::whole_start, str(name(o.buffer), " begins anew")};
      }
    }
    return std::nullopt;
  }

  bool touches(const Kernel& kernel, BufferId b) const {
    return any_statement(kernel, [&](const Statement& s) { return s.has_place() && root(s.buffer) == root(b); });
  }

  /// What the second loads, or adds to, of arrays that the first writes. Of several reasons the one that stands first.
  std::optional<Reason> needs_other_rows(const Kernel& first, const Kernel& second) const {
    std::optional<Reason> out;
    const auto offer = [&](const std::optional<Reason>& why) {
      if (why && (!out || why->first < out->first)) out = why;
    };
    for (const Stage& later : second.stages) {
      for (const Statement& b : later.statements) {
        if (!b.has_place() || program_.buffers[root(b.buffer)].role == Role::scalar) continue;
        if (b.kind != Statement::Kind::load && !b.is_write()) continue;
        for (const Stage& earlier : first.stages) {
          for (const Statement& a : earlier.statements) {
            if (!a.is_write() || root(a.buffer) != root(b.buffer)) continue;
            offer(needs_other_rows(first, axis_extents(first, earlier), a, axis_extents(second, later), b));
          }
        }
      }
    }
    return out;
  }

  std::optional<Reason> needs_other_rows(const Kernel& first, const std::vector<Dim>& axes, const Statement& a,
                                         const std::vector<Dim>& later_axes, const Statement& b) const {
    const std::string& shared = name(a.buffer);
    const bool by_parts =
        a.kind == Statement::Kind::store && (a.accumulates() || a.map.has_index() || a.predicate.valid());
    if (by_parts) return Reason{ApartFor::whole_parts, shared};
    if (b.is_write()) return std::nullopt;  // parts of one array
    if (b.map.has_index()) return Reason{ApartFor::through_index, shared};
    if (!shares_row(first, axes, a, later_axes, b)) {
      if (a.kind == Statement::Kind::fold) return Reason{ApartFor::whole_fold, shared};
      if (axes == later_axes) return Reason{ApartFor::other_places, shared};
      return Reason{ApartFor::other_axes, axes_text(axes, later_axes)};
    }
    const Dim& row = later_axes.size() > axes.size() ? later_axes.back() : axes.back();
    if (row.is_constant() && row.constant() < caps_.short_row && std::max(axes.size(), later_axes.size()) > 1) {
      return Reason{ApartFor::short_rows, str(row.constant())};
    }
    return std::nullopt;
  }

  /// Does the same axis of both, the first or the last, tell which elements they touch, and is it equally long? What
  /// has outer axes keeps them.
  static bool shares_row(const Kernel& first, const std::vector<Dim>& axes, const Statement& a,
                         const std::vector<Dim>& later_axes, const Statement& b) {
    if (a.buffer != b.buffer) return false;
    const auto is_shared = [&](std::size_t axis, std::size_t later_axis) {
      if (axes[axis] != later_axes[later_axis]) return false;
      for (std::size_t d = 0; d < a.map.subscripts.size(); ++d) {
        const kernel::Subscript &s = a.map.subscripts[d], &t = b.map.subscripts[d];
        const bool told = s.is_told_by(static_cast<int>(axis)) && t.is_told_by(static_cast<int>(later_axis));
        if (told && s.base == t.base && s.axes[0].step == t.axes[0].step) return true;
      }
      return false;
    };
    if (axes.empty() || later_axes.empty()) return false;
    const std::size_t last = first.outer.empty() ? axes.size() - 1 : 0;
    return is_shared(0, 0) || is_shared(last, later_axes.size() - 1);
  }

  /// What is handed on is a number.
  std::optional<Reason> waits_for_number(const Pair& pair, const Kernel& first, const Kernel& second) const {
    if (!pair.number.valid()) return std::nullopt;
    const bool same_data = any_statement(second, [&](const Statement& s) {
      if (s.kind != Statement::Kind::load) return false;
      const Role role = program_.buffers[root(s.buffer)].role;
      return role != Role::scalar && role != Role::literal && touches(first, s.buffer);
    });
    return Reason{same_data ? ApartFor::whole_fold : ApartFor::other_data, name(pair.number)};
  }

  std::optional<Reason> other_axes(const Kernel& first, const Kernel& second) const {
    const std::vector<Dim> axes = longest_axes(first), later_axes = longest_axes(second);
    if (axes == later_axes) return std::nullopt;
    return Reason{ApartFor::other_axes, axes_text(axes, later_axes)};
  }

  std::string axes_text(const std::vector<Dim>& axes, const std::vector<Dim>& later_axes) const {
    const auto text = [&](const std::vector<Dim>& dims) {
      return str("[", join(dims, ", ", [&](const Dim& dim) { return dim.to_text(names_.symbols); }), "]");
    };
    return str(text(axes), ", the other over ", text(later_axes));
  }

  const KernelProgram& program_;
  const kernel::BackendCaps& caps_;
  const fuse::Mode mode_;
  const kernel::Dependences dependences_;
  const kernel::Names names_;
};

}  // namespace

std::string_view apart_for_name(ApartFor why) { return kRows[static_cast<std::size_t>(why)].name; }

std::string Apart::text() const {
  const auto& [name, sentence] = kRows[static_cast<std::size_t>(why)];
  const std::size_t gap = sentence.find("{}");
  if (gap == std::string_view::npos) return str(name, ": ", sentence);
  return str(name, ": ", sentence.substr(0, gap), what, sentence.substr(gap + 2));
}

std::vector<Apart> why_apart(const KernelProgram& program, const kernel::BackendCaps& caps, fuse::Mode mode) {
  return Judge(program, caps, mode).run();
}

}  // namespace inlay::explain
