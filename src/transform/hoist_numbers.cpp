#include "transform/hoist_numbers.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "kernel/live.h"
#include "kernel/visit.h"
#include "transform/choose_locals.h"
#include "transform/kept_values.h"

namespace inlay::transform {

using kernel::Kernel;
using kernel::KernelProgram;
using kernel::RegisterId;
using kernel::Stage;
using kernel::Statement;

namespace {

/// Some vectors: what one number takes by itself counts beside them. Tiles of longer rows leave the first cache, if the
/// stages keep rows, or come back to them.
constexpr int64_t kMaxShortRow = 128;

class NumberHoister {
 public:
  NumberHoister(KernelProgram& program, Kernel& kernel, LoopPassContext& context)
      : program_(program), kernel_(kernel), context_(context) {}

  void run() {
    if (tile_of(kernel_, context_.caps) == 1 && !has_short_rows()) return;
    bool has_changed = false;
    for (std::size_t at = 0; at < kernel_.stages.size(); ++at) {
      if (!may_hoist_from(kernel_.stages[at])) continue;
      const std::vector<RegisterId> numbers = expensive_numbers(kernel_.stages[at]);
      if (numbers.empty() || !context_.fires()) continue;
      at = hoist(at, numbers);
      has_changed = true;
    }
    if (has_changed) list_outputs(kernel_);
  }

 private:
  /// What a check guards stays behind it.
  static bool may_hoist_from(const Stage& stage) {
    return !stage.once && !stage.axes.empty() && std::ranges::none_of(stage.statements, &Statement::can_fail);
  }

  bool has_short_rows() const {
    return std::ranges::all_of(kernel_.stages, [](const Stage& stage) {
      const Dim points = points_of_row(stage);
      return stage.once || (points.is_constant() && points.constant() <= kMaxShortRow);
    });
  }

  bool is_of_row(const Stage& stage, const Statement& s) const {
    const int num_outer = static_cast<int>(kernel_.outer.size());
    switch (s.kind) {
      case Statement::Kind::literal:
      case Statement::Kind::size:
      case Statement::Kind::op:
      case Statement::Kind::cast: return true;
      case Statement::Kind::axis: return s.axis < num_outer;
      case Statement::Kind::load:
        for (std::size_t i = 0; i < stage.axes.size(); ++i) {
          if (s.map.uses_axis(num_outer + static_cast<int>(i))) return false;
        }
        return !is_written_in(program_, stage, s.buffer);
      default: return false;
    }
  }

  /// Registers that hold one number for each row, made by something expensive, and that something reads that changes
  /// along the row.
  std::vector<RegisterId> expensive_numbers(const Stage& stage) const {
    struct Facts {
      bool is_of_row = false, is_expensive = false, is_read_along = false;
    };
    std::vector<Facts> facts(static_cast<std::size_t>(stage.num_registers));
    std::vector<RegisterId> out;
    for (const Statement& s : stage.statements) {
      Facts made{is_of_row(stage, s), is_expensive(s), false};
      for_each_register(s, [&](RegisterId r) {
        made.is_of_row = made.is_of_row && facts[r.index].is_of_row;
        made.is_expensive = made.is_expensive || facts[r.index].is_expensive;
      });
      if (!made.is_of_row) for_each_register(s, [&](RegisterId r) { facts[r.index].is_read_along = true; });
      if (s.result.valid()) facts[s.result.index] = made;
    }
    for (const Statement& s : stage.statements) {
      if (!s.result.valid() || s.dtype == DType::boolean || is_half(s.dtype)) continue;
      const Facts& made = facts[s.result.index];
      if (made.is_of_row && made.is_expensive && made.is_read_along) out.push_back(s.result);
    }
    return out;
  }

  /// Returns where the stage is then.
  std::size_t hoist(std::size_t at, const std::vector<RegisterId>& numbers) {
    const std::vector<Statement> makers = makers_of(kernel_.stages[at], numbers);
    if (at == kernel_.num_once() || !may_append(kernel_.stages[at - 1], makers)) {
      kernel_.stages.insert(kernel_.stages.begin() + static_cast<std::ptrdiff_t>(at), Stage());
      ++at;
    }
    Stage &before = kernel_.stages[at - 1], &stage = kernel_.stages[at];
    const std::vector<RegisterId> moved = append(before, makers, stage.num_registers);
    for (RegisterId number : numbers) {
      Statement& maker = *std::ranges::find(stage.statements, number, &Statement::result);
      const auto [buffer, map] = new_temporary(maker.dtype);
      before.statements.push_back({.kind = Statement::Kind::store,
                                   .dtype = maker.dtype,
                                   .operands = {moved[number.index]},
                                   .buffer = buffer,
                                   .map = map});
      maker = {.kind = Statement::Kind::load, .result = number, .dtype = maker.dtype, .buffer = buffer, .map = map};
    }
    drop_unused(stage);
    return at;
  }

  static std::vector<Statement> makers_of(const Stage& stage, const std::vector<RegisterId>& numbers) {
    std::vector<bool> needed(static_cast<std::size_t>(stage.num_registers), false);
    for (RegisterId number : numbers) needed[number.index] = true;
    std::vector<Statement> out;
    for (const Statement& s : std::views::reverse(stage.statements)) {
      if (!s.result.valid() || !needed[s.result.index]) continue;
      for_each_register(s, [&](RegisterId r) { needed[r.index] = true; });
      out.push_back(s);
    }
    std::ranges::reverse(out);
    return out;
  }

  /// Where the stage has one point a row too, and what the statements load is there before it runs.
  bool may_append(const Stage& before, const std::vector<Statement>& makers) const {
    return before.axes.empty() && std::ranges::none_of(makers, [&](const Statement& s) {
             return s.kind == Statement::Kind::load && is_written_in(program_, before, s.buffer);
           });
  }

  /// Returns, by register of theirs, the one that holds it there. What the stage has already it does not get twice.
  static std::vector<RegisterId> append(Stage& to, const std::vector<Statement>& makers, int num_registers) {
    std::vector<RegisterId> out(static_cast<std::size_t>(num_registers));
    for (Statement s : makers) {
      const RegisterId result = std::exchange(s.result, RegisterId());
      for_each_register(s, [&](RegisterId& r) { r = out[r.index]; });
      const auto known = std::ranges::find_if(to.statements, [&](const Statement& there) {
        return there.result.valid() && !there.is_write() && say_the_same(there, s);
      });
      if (known != to.statements.end()) {
        out[result.index] = known->result;
        continue;
      }
      s.result = out[result.index] = RegisterId(to.num_registers++);
      to.statements.push_back(std::move(s));
    }
    return out;
  }

  /// With an element for each outer point.
  KeptPlace new_temporary(DType dtype) {
    std::vector<KeptAxis> axes;
    for (std::size_t i = 0; i < kernel_.outer.size(); ++i)
      axes.push_back({static_cast<int>(i), kernel_.outer[i].extent});
    return add_kept(program_, kernel_, "number", kernel::StoredFor::number_of_row, dtype, axes, /*is_local=*/false);
  }

  KernelProgram& program_;
  Kernel& kernel_;
  LoopPassContext& context_;
};

}  // namespace

KernelProgram hoist_numbers(KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (kernel && !kernel->outer.empty() && !kernel->is_tiled()) NumberHoister(program, *kernel, context).run();
  }
  return program;
}

}  // namespace inlay::transform
