#include "backend/llvm/stage_plan.h"

#include <algorithm>
#include <bit>

#include "kernel/tiles.h"

namespace inlay::llvm_backend {
namespace {

using kernel::NestStatement;
using kernel::Statement;
using Kind = Statement::Kind;

constexpr int kMaxLanes = 16;
constexpr int kMostBytes = 64;  // of a vector

class Planner {
 public:
  Planner(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const kernel::Stage& stage)
      : program_(program), kernel_(kernel), stage_(stage), plan_{kernel::loop_nest(program, kernel, stage)} {}

  StagePlan operator()(int vector_bytes) {
    choose_columns();
    find_what_is_of_columns();
    plan_.by_turns = !plan_.by_columns && sums_floats();
    choose_width(plan_.by_turns ? kMostBytes : vector_bytes);
    choose_unroll();
    choose_blocks();
    choose_aligned_store();
    plan_.short_rows = folds_short_rows();
    return std::move(plan_);
  }

 private:
  bool in_vector_loop(std::size_t i) const {
    return plan_.statements[i].live && plan_.statements[i].level == plan_.innermost();
  }

  /// Rows are folded by columns where no order of the points can be told from another, and nothing expensive is made
  /// once for a row, since each strip of columns would make it again.
  void choose_columns() {
    if (plan_.loops.size() < 2) return;
    const int rows = plan_.loop(plan_.innermost() - 2).axis;
    const Dim& num_rows = plan_.loop(plan_.innermost() - 2).extent;
    if (num_rows.is_constant() && num_rows.constant() < kFewRows) return;
    std::vector<NestStatement*> folds;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& s = stage_.statements[i];
      NestStatement& facts = plan_.statements[i];
      if (!in_vector_loop(i)) {
        if (facts.live && facts.level + 1 == plan_.innermost() && is_expensive(s)) return;
        continue;
      }
      const bool may_fail = s.can_fail() && (s.kind == Kind::check || facts.index_varies);
      if (may_fail || (s.is_write() && !writes_each_column(s, facts))) return;
      if (s.kind == Kind::store && facts.place.stride_of(rows).is(0)) return;
      if (s.kind != Kind::fold) continue;
      if (!facts.place.stride_of(rows).is(0)) return;
      folds.push_back(&facts);
    }
    plan_.by_columns = !folds.empty();
    for (NestStatement* fold : folds) fold->accumulates = true;
  }

  /// (An integer's division stands behind a check, which stays where it is.)
  void find_what_is_of_columns() {
    plan_.of_column.resize(stage_.statements.size());
    if (plan_.loops.size() < 2) return;
    const int rows = plan_.loop(plan_.innermost() - 2).axis;
    std::vector<bool> follows_rows(plan_.register_levels.size());
    const auto root = [&](kernel::BufferId b) { return kernel::root_of(program_, b); };
    const auto is_written = [&](kernel::BufferId buffer) {
      return std::ranges::any_of(stage_.statements,
                                 [&](const Statement& s) { return s.is_write() && root(s.buffer) == root(buffer); });
    };
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& s = stage_.statements[i];
      const NestStatement& facts = plan_.statements[i];
      if (!s.result.valid()) continue;
      const bool changes = s.can_fail() || s.kind == Kind::fold || facts.level + 1 == plan_.innermost() ||
                           (s.kind == Kind::op && is_integer(s.dtype)) || (s.kind == Kind::axis && s.axis == rows) ||
                           (s.has_place() && (!facts.place.stride_of(rows).is(0) || !facts.place.indices.empty() ||
                                              is_written(s.buffer)));
      const auto follows = [&](kernel::RegisterId r) { return follows_rows[r.index]; };
      follows_rows[s.result.index] = changes || std::ranges::any_of(s.operands, follows);
      plan_.of_column[i] = in_vector_loop(i) && !follows_rows[s.result.index];
    }
  }

  /// Does a write have an element for each point of the vector axis, whatever is found there?
  bool writes_each_column(const Statement& write, const NestStatement& facts) const {
    if (write.result.valid() || write.predicate.valid() || !facts.place.indices.empty()) return false;
    if (write.kind == Kind::store && write.accumulates()) return false;
    return !facts.place.stride_of(plan_.vector_axis()).is(0);
  }

  /// The lanes are then the same whatever the CPU has, and so are the sums.
  bool sums_floats() const {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& statement = stage_.statements[i];
      const bool adds = statement.combine() == Combine::add || statement.combine() == Combine::mul;
      const bool rounds = is_float(statement.dtype) || is_complex(statement.dtype);
      const bool sums = plan_.statements[i].live && plan_.statements[i].accumulates;
      if (sums && adds && rounds && !statement.result.valid()) return true;
    }
    return false;
  }

  /// As many lanes of the widest number that is computed with as fill a vector register; complex elements fill two.
  /// What is only moved, cast or folded may fill two as well (the log-sum-exp of 1000 rows of 1000 floats, which folds
  /// in f64, us: by eight lanes 512, by sixteen 392).
  void choose_width(int vector_bytes) {
    if (plan_.loops.empty()) return;
    int64_t computed = 1, moved = 1;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      if (!in_vector_loop(i)) continue;
      const int64_t bytes = inlay::size_bytes(real_of(stage_.statements[i].dtype));
      moved = std::max(moved, bytes);
      if (stage_.statements[i].kind == Kind::op) computed = std::max(computed, bytes);
    }
    if (computed > 1) moved = std::max(computed, moved / 2);
    plan_.width = std::clamp(static_cast<int>(vector_bytes / moved), 2, kMaxLanes);
    const Dim& extent = plan_.vector_extent();
    if (extent.is_constant() && extent.constant() < plan_.width) {
      plan_.width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(extent.constant(), 1))));
    }
  }

  /// A tile of the outer axis begins where a pass does.
  bool passes_part_of_tile(int points) const {
    return plan_.vectors_pass_tile() && plan_.vector_extent().constant() % points != 0;
  }

  static constexpr int kShortBody = 8, kMediumBody = 16, kFewRows = 4;

  /// A division, or more: the loop waits for that, not for its sums or stores.
  static bool is_expensive(const Statement& statement) {
    return statement.kind == Kind::op && facts(statement.op).cost >= kCostOfDivision;
  }

  /// Several vectors at a time where the loop is short of work: a plain sum waits for its own last addition.
  void choose_unroll() {
    if (plan_.loops.empty()) return;
    int count = 0, sums = 0;
    bool long_body = false, has_exponentials = false, has_states = false;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      if (!in_vector_loop(i) || plan_.is_made_before_rows(i)) continue;
      const Statement& statement = stage_.statements[i];
      ++count;
      sums += plan_.statements[i].accumulates ? 1 : 0;
      plan_.points_wait |= statement.kind == Kind::fold && statement.result.valid();
      plan_.points_wait |= statement.predicate.valid();
      long_body |= is_expensive(statement);
      has_exponentials |= statement.fold == Fold::log_sum_exp;
      has_states |= statement.has_several_states();
      const Dim along = plan_.statements[i].place.stride_of(plan_.vector_axis());
      const bool contiguous = along.is(1) || along.is(-1);
      long_body |= statement.has_place() && !plan_.statements[i].accumulates &&
                   (plan_.statements[i].index_varies || !contiguous);
    }
    if (long_body || plan_.points_wait || count > kMediumBody) return;
    plan_.unroll = sums == 0 ? 1 : count <= kShortBody && !has_exponentials ? 4 : 2;
    // A strip of columns is a short part of each row: what is fetched ahead goes beyond it. (The sums of 1024 x 1024
    // doubles, us: by four vectors 142, by eight 96; of 1000 x 1000 86 and 81.)
    if (plan_.by_columns && !has_states) plan_.unroll *= 2;
    const Dim& extent = plan_.vector_extent();
    while (plan_.unroll > 1 && extent.is_constant() && extent.constant() < 2 * plan_.width * plan_.unroll) {
      plan_.unroll /= 2;
    }
    while (plan_.unroll > 1 && passes_part_of_tile(plan_.width * plan_.unroll)) plan_.unroll /= 2;
    choose_page();
  }

  /// Its lanes are no parts that merge by the row of folds.def (emit_fold.cpp).
  static bool has_step_of_its_own(const Statement& statement) {
    return statement.fold == Fold::moments || statement.fold == Fold::log_sum_exp;
  }

  /// May the rows be short, and does the loop over their points nothing but fold each of them? Of a short body, which
  /// is written twice more then.
  bool folds_short_rows() const {
    if (plan_.loops.size() < 2 || plan_.by_columns || plan_.unroll < 4 || plan_.block > 0) return false;
    if (plan_.vector_extent().is_constant() || plan_.vectors_pass_tile()) return false;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& statement = stage_.statements[i];
      const NestStatement& facts = plan_.statements[i];
      if (!facts.live || (facts.level != plan_.innermost() && !facts.accumulates)) continue;
      const bool folds_row = facts.accumulates && facts.opened + 1 == plan_.innermost() &&
                             !has_step_of_its_own(statement) && !statement.result.valid();
      if ((statement.is_write() && !folds_row) || statement.can_fail()) return false;
    }
    return true;
  }

  /// The vectors that a plain sum passes at a time lie a page of memory apart: what is fetched ahead stops at the end
  /// of a page, and of several pages more is on its way (256^3 doubles, ms: neighbours 7.7, pages 5.9; also 512 bytes
  /// ahead by instruction 6.4). In a cache they meet in the same places of it (65 536 doubles on an AMD EPYC, us:
  /// neighbours 2.2, pages 3.9).
  void choose_page() {
    if (plan_.unroll == 1 || plan_.vectors_pass_tile() || plan_.by_columns) return;
    if (kernel_.is_tiled() && kernel::folds_rows_again(kernel_)) return;  // no more at a time than a cache holds
    int64_t element = 1;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& statement = stage_.statements[i];
      if (!in_vector_loop(i)) continue;
      if (statement.is_write() && !plan_.statements[i].accumulates) return;
      if (statement.kind == Kind::load) element = std::max(element, size_bytes(statement.dtype));
    }
    constexpr int64_t kPageBytes = 4096;
    const int64_t page = kPageBytes / element;
    const Dim& extent = plan_.vector_extent();
    if (extent.is_constant() && extent.constant() < page * plan_.unroll) return;
    const Dim points = plan_.num_points();
    plan_.pages_from = StagePlan::kWorthPages / element;
    if (points.is_constant() && points.constant() < plan_.pages_from) return;
    plan_.page = page;
  }

  /// Two vectors of points: that many rows are open at a time. More of them would meet in the same places of a cache
  /// whose rows are a power of 2 apart (1000 x 1000 doubles, us: 8 points 660, 16 657, 64 713, all 1046; 1024 x 1024:
  /// 1216, 744, 1038, 7934). Of few rows, lines stay in the cache by themselves, and the loop is shorter (120 x 120, ns
  /// an element: all 0.26, 16 points 0.30), unless they meet there (128 x 128: 0.88, 0.29).
  void choose_blocks() {
    if (plan_.loops.size() < 2 || (kernel_.is_tiled() && !stage_.once) || !may_change_order()) return;
    const int block = 2 * plan_.width;
    const Dim& extent = plan_.vector_extent();
    if (extent.is_constant() && extent.constant() <= block) return;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      if (!in_vector_loop(i) || !stage_.statements[i].has_place() || plan_.statements[i].index_varies) continue;
      const kernel::LinearMap& place = plan_.statements[i].place;
      const Dim along = place.stride_of(plan_.vector_axis());
      if (along.is(0) || along.is(1) || along.is(-1)) continue;
      for (int level = 0; level + 1 < plan_.innermost(); ++level) {
        if (!place.stride_of(plan_.loop(level).axis).is(1)) continue;
        plan_.block = block;
        plan_.block_level = std::max(plan_.block_level, level);
        plan_.block_step = along * Dim(size_bytes(stage_.statements[i].dtype));
      }
    }
  }

  /// Is every effect a plain write of its own element, so that no order of the points can be told from another?
  bool may_change_order() const {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& statement = stage_.statements[i];
      const NestStatement& facts = plan_.statements[i];
      if (!facts.live) continue;
      if (statement.accumulates()) return false;
      if (statement.is_write() && (!facts.place.indices.empty() || statement.predicate.valid())) return false;
      if (statement.can_fail()) return false;
    }
    return true;
  }

  /// A store of a vector that lies in two lines of the cache takes twice as long, and what NumPy allocates begins
  /// within a line (x + 1 of 1e4 doubles, us: 2.6, aligned 2.25; of 1e5 floats 11.5, 9.9). Where more is computed the
  /// store waits for that, not for the cache. A sum must not depend on where its operands lie.
  void choose_aligned_store() {
    if (plan_.loops.empty() || plan_.block > 0 || plan_.vectors_pass_tile() || plan_.points_wait) return;
    const Dim& extent = plan_.vector_extent();
    if (extent.is_constant() && extent.constant() < StagePlan::kWorthAligning) return;
    std::optional<std::size_t> first;
    int count = 0;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& statement = stage_.statements[i];
      if (in_vector_loop(i) && (++count > kShortBody || is_expensive(statement))) return;
      if (!plan_.statements[i].live || !statement.is_write()) continue;
      if (statement.accumulates()) return;
      if (kernel_.is_local(statement.buffer) || plan_.statements[i].index_varies) continue;
      const bool is_contiguous = plan_.statements[i].place.stride_of(plan_.vector_axis()).is(1);
      if (is_contiguous && !first) first = i;
    }
    plan_.aligned_store = first;
  }

  const kernel::KernelProgram& program_;
  const kernel::Kernel& kernel_;
  const kernel::Stage& stage_;
  StagePlan plan_;
};

}  // namespace

StagePlan plan_stage(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const kernel::Stage& stage,
                     int vector_bytes) {
  return Planner(program, kernel, stage)(vector_bytes);
}

}  // namespace inlay::llvm_backend
