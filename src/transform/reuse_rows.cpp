#include "transform/reuse_rows.h"

#include <algorithm>
#include <map>
#include <optional>

#include "kernel/live.h"
#include "kernel/visit.h"
#include "transform/kept_values.h"

namespace inlay::transform {

using kernel::AccessMap;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::RegisterId;
using kernel::Stage;
using kernel::Statement;

namespace {

using NumberId = Id<struct NumberTag>;  // equal numbers: equal values at every point

/// What a register holds, told by what it is made of.
struct Meaning {
  Statement made_by;  // with numbers for operands and indices; without a result
  int version = 0;    // of a load: how many stages have written to the buffer before

  bool operator==(const Meaning& other) const {
    return version == other.version && say_the_same(made_by, other.made_by);
  }
};

class RowKeeper {
 public:
  RowKeeper(KernelProgram& program, Kernel& kernel, LoopPassContext& context)
      : program_(program), kernel_(kernel), context_(context) {}

  void run() {
    if (kernel_.outer.empty() || !stages_are_alike()) return;
    for (std::size_t stage = 0; stage < kernel_.stages.size(); ++stage) {
      find_numbers(stage);
      if (stage > kernel_.num_once() && !kernel_.stages[stage].axes.empty()) keep_for(stage);
    }
    if (!rows_.empty()) list_outputs(kernel_);
  }

 private:
  BufferId root(BufferId b) const { return root_of(program_, b); }

  /// Then an axis means the same in all of them.
  bool stages_are_alike() const {
    const Stage* first = nullptr;
    for (const Stage& stage : kernel_.stages) {
      if (stage.axes.empty() || stage.once) continue;
      if (!first) first = &stage;
      const auto extent = &kernel::Axis::extent;
      if (!std::ranges::equal(stage.axes, first->axes, {}, extent, extent) || stage.tile_at != first->tile_at)
        return false;
    }
    return first != nullptr;
  }

  // --- numbers ---

  void find_numbers(std::size_t index) {
    const Stage& stage = kernel_.stages[index];
    std::vector<NumberId>& numbers = numbers_.emplace_back(static_cast<std::size_t>(stage.num_registers));
    for (const Statement& s : stage.statements) {
      if (!s.result.valid()) continue;
      // (Axes of what runs once are others.)
      const NumberId number = s.is_write() || stage.once ? new_number({}, index) : number_of(s, index);
      numbers[s.result.index] = number;
    }
    for (const Statement& s : stage.statements) {
      if (s.is_write()) note_write(s, index);
    }
  }

  NumberId number_of(const Statement& s, std::size_t stage) {
    const std::vector<NumberId>& numbers = numbers_[stage];
    if (s.kind == Statement::Kind::load) {
      if (const auto stored = stored_before(s)) return *stored;
    }
    Meaning meaning{s, s.kind == Statement::Kind::load ? versions_[root(s.buffer)] : 0};
    meaning.made_by.result = RegisterId();
    for_each_register(meaning.made_by, [&](RegisterId& r) { r = RegisterId(numbers[r.index].index); });
    const bool changes_here =
        s.kind == Statement::Kind::load && is_written_in(program_, kernel_.stages[stage], s.buffer);
    const auto known = std::ranges::find(meanings_, meaning);
    if (!changes_here && known != meanings_.end()) return NumberId(known - meanings_.begin());
    return new_number(changes_here ? Meaning{} : meaning, stage);
  }

  NumberId new_number(const Meaning& meaning, std::size_t stage) {
    maker_.push_back(stage);
    return meanings_.push_back(meaning);
  }

  /// What an earlier stage stored is what is loaded, where both are at one place.
  struct Stored {
    BufferId buffer;
    AccessMap map;
    NumberId number;
  };
  std::optional<NumberId> stored_before(const Statement& load) const {
    for (const Stored& stored : stored_) {
      if (stored.buffer == load.buffer && stored.map == load.map) return stored.number;
    }
    return std::nullopt;
  }

  void note_write(const Statement& s, std::size_t stage) {
    std::erase_if(stored_, [&](const Stored& stored) { return root(stored.buffer) == root(s.buffer); });
    ++versions_[root(s.buffer)];
    const bool is_plain = !kernel_.stages[stage].once && s.always_sets() && !s.map.has_index() && !is_half(s.dtype);
    if (is_plain) stored_.push_back({s.buffer, s.map, numbers_[stage][s.operands[0].index]});
  }

  // --- keeping ---

  /// Registers that are rows: what they are made of is asked for at every point of the stage's last axis.
  std::vector<bool> rows_of(const Stage& stage) const {
    std::vector<bool> out(static_cast<std::size_t>(stage.num_registers), false);
    const int last = static_cast<int>(kernel_.outer.size() + stage.axes.size()) - 1;
    for (const Statement& s : stage.statements) {
      if (!s.result.valid()) continue;
      bool is_row = s.kind == Statement::Kind::axis ? s.axis == last : s.has_place() && s.map.uses_axis(last);
      for (RegisterId r : s.operands) is_row = is_row || out[r.index];
      out[s.result.index] = is_row;
    }
    return out;
  }

  /// By register: do the stage's effects need it, where what is in `kept` is there?
  static std::vector<bool> needed(const Stage& stage, const std::vector<bool>& kept) {
    const auto is_there = [&](std::size_t i) {
      const RegisterId result = stage.statements[i].result;
      return result.valid() && kept[result.index];
    };
    return read_registers(stage, live_statements(stage, is_there));
  }

  /// Does the stage load from memory what two stages before it have loaded? (Twice is what a row takes that is folded
  /// first and then used; to write it somewhere would cost more.)
  bool is_third_pass(const Statement& load, std::size_t later) const {
    if (load.kind != Statement::Kind::load || kernel_.is_local(load.buffer)) return false;
    const auto loads_it = [&](const Stage& stage) {
      return std::ranges::any_of(stage.statements, [&](const Statement& s) {
        return s.kind == Statement::Kind::load && s.buffer == load.buffer && s.map == load.map;
      });
    };
    const auto end = kernel_.stages.begin() + static_cast<std::ptrdiff_t>(later);
    return std::count_if(kernel_.stages.begin(), end, loads_it) >= 2;
  }

  void keep_for(std::size_t later) {
    Stage& stage = kernel_.stages[later];
    const std::vector<bool> rows = rows_of(stage);
    std::vector<bool> kept(rows.size(), false);
    for (const Statement& s : stage.statements) {
      if (s.kind != Statement::Kind::op && s.kind != Statement::Kind::cast) continue;
      const std::size_t maker = maker_[numbers_[later][s.result.index]];
      const bool made_before = maker < later && !kernel_.stages[maker].axes.empty();
      kept[s.result.index] = rows[s.result.index] && made_before && !is_half(s.dtype) && s.dtype != DType::boolean;
    }
    const std::vector<bool> before = needed(stage, std::vector<bool>(kept.size(), false)), after = needed(stage, kept);
    int rows_saved = 0, rows_kept = 0;
    for (const Statement& s : stage.statements) {
      if (!s.result.valid() || !rows[s.result.index]) continue;
      rows_saved += before[s.result.index] && !after[s.result.index] && is_third_pass(s, later);
      rows_kept += kept[s.result.index] && after[s.result.index];
    }
    if (rows_saved == 0 || rows_kept > rows_saved || !context_.fires()) return;
    for (Statement& s : stage.statements) {
      if (s.result.valid() && kept[s.result.index] && after[s.result.index])
        load_kept(s, numbers_[later][s.result.index]);
    }
    drop_unused(stage);
  }

  /// A row that holds a number's values.
  struct Row {
    NumberId number;
    KeptPlace place;
  };

  void load_kept(Statement& s, NumberId number) {
    auto row = std::ranges::find(rows_, number, &Row::number);
    if (row == rows_.end()) row = rows_.insert(row, stored_row(number, s.dtype));
    s = {.kind = Statement::Kind::load,
         .result = s.result,
         .dtype = s.dtype,
         .buffer = row->place.buffer,
         .map = row->place.map};
  }

  /// The maker of the number stores it now. In the order of the loops, so that vectors run along the row.
  Row stored_row(NumberId number, DType dtype) {
    Stage& stage = kernel_.stages[maker_[number]];
    std::vector<KeptAxis> axes;
    for (std::size_t i = 0; i <= stage.axes.size(); ++i) {
      if (kernel_.is_tiled() && i == stage.tile_at)
        axes.push_back({kernel_.tiled_axis(), min(kernel_.outer.back().extent, Dim(kernel_.tile))});
      if (i < stage.axes.size()) axes.push_back({static_cast<int>(kernel_.outer.size() + i), stage.axes[i].extent});
    }
    constexpr bool kIsLocal = true;
    Row row{number, add_kept(program_, kernel_, "row", kernel::StoredFor::kept_row, dtype, axes, kIsLocal)};
    const RegisterId made = register_with(stage, maker_[number], number);
    const auto behind = maker_of(stage, made) - stage.statements.data() + 1;
    stage.statements.insert(stage.statements.begin() + behind, {.kind = Statement::Kind::store,
                                                                .dtype = dtype,
                                                                .operands = {made},
                                                                .buffer = row.place.buffer,
                                                                .map = row.place.map});
    return row;
  }

  RegisterId register_with(const Stage& stage, std::size_t index, NumberId number) const {
    for (const Statement& s : stage.statements) {
      if (s.result.valid() && numbers_[index][s.result.index] == number) return s.result;
    }
    INLAY_CHECK(false, "a value that was made is gone");
    return {};
  }

  KernelProgram& program_;
  Kernel& kernel_;
  LoopPassContext& context_;
  std::vector<std::vector<NumberId>> numbers_;  // by stage and register
  IdMap<NumberId, Meaning> meanings_;
  IdMap<NumberId, std::size_t> maker_;  // the first stage that computes it
  std::vector<Row> rows_;
  std::vector<Stored> stored_;
  std::map<BufferId, int> versions_;  // by root: of what has been written to
};

}  // namespace

KernelProgram reuse_rows(KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (kernel && kernel->stages.size() > 1) RowKeeper(program, *kernel, context).run();
  }
  return program;
}

}  // namespace inlay::transform
