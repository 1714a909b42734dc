#include "backend/llvm/cut_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "kernel/live.h"

namespace inlay::llvm_backend {
namespace {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using Kind = Statement::Kind;

constexpr int64_t kMaxElements = 1024;        // that blocks have for themselves: they lie on the stack
constexpr int64_t kMaxStateBytes = 2 * 1024;  // of which there are several at a time (INLAY_BLOCK_STATES)

/// One access of a buffer by what is cut.
struct Touch {
  const Statement* at;
  std::vector<Dim> extents;  // of all axes of its stage
};

/// Of memory from a cache a load of 8 bytes takes some 0.2 ns. Through an index a lane at a time.
int64_t cost_of(const Statement& s) {
  const bool is_indexed = s.has_place() && s.map.has_index();
  switch (s.kind) {
    case Kind::load: return is_indexed ? 8 : std::max<int64_t>(1, size_bytes(s.dtype) / 4);
    case Kind::store: return is_indexed ? 16 : std::max<int64_t>(1, size_bytes(s.dtype) / 4);
    case Kind::fold: return is_indexed ? 16 : s.has_several_states() ? 10 : 1;
    case Kind::op: return facts(s.op).cost;
    case Kind::cast: return 1;
    default: return 0;
  }
}

/// Is the loop over these axes free of what two of its points would both write, but for folds?
class CutFinder {
 public:
  CutFinder(const KernelProgram& program, const Kernel& kernel, std::vector<int> axes)
      : program_(program),
        kernel_(kernel),
        axes_(std::move(axes)),
        cuts_outer_loops_(axes_[0] < static_cast<int>(kernel.outer.size())) {}

  void add(const Stage& stage) {
    const std::vector<bool> live = kernel::live_statements(stage);
    const std::vector<Dim> extents = kernel::axis_extents(kernel_, stage);
    for (std::size_t i = 0; i < live.size(); ++i) {
      const Statement& s = stage.statements[i];
      const bool is_local = cuts_outer_loops_ && kernel_.is_local(s.buffer);  // each block has one for itself
      if (!live[i] || !s.has_place() || is_local) continue;
      const BufferId root = kernel::root_of(program_, s.buffer);
      if (s.is_write()) {
        writes_[root].push_back({&s, extents});
      } else {
        loads_.insert(root);
      }
    }
  }

  /// What blocks fold; none: they would meet elsewhere too.
  std::optional<std::vector<BlockFold>> operator()() const {
    std::vector<BlockFold> folds;
    std::set<BufferId> shared, folded;
    int64_t bytes = 0;
    for (const auto& [root, writes] : writes_) {
      if (is_apart(writes)) continue;
      shared.insert(root);
      const Statement& first = *writes.front().at;
      if (!is_folded(root)) return {};
      if (first.state > 0) continue;  // with the first
      const Dim elements = num_elements(program_.buffers[root]);
      if (!elements.is_constant() || elements.constant() > kMaxElements) return {};
      BlockFold& fold = folds.emplace_back(first.fold);
      fold.elements = elements.constant();
      fold.is_one_sum =
          (first.fold == Fold::add || first.fold == Fold::mul) && writes.size() == 1 && !first.map.has_index();
      for (const Statement& state : std::span(&first, facts(first.fold).num_stored)) {
        fold.buffers.push_back(kernel::root_of(program_, state.buffer));
        fold.dtypes.push_back(state.dtype);
        bytes += fold.elements * size_bytes(state.dtype);
        folded.insert(fold.buffers.back());
        if (!(num_elements(program_.buffers[fold.buffers.back()]) == elements)) return {};
      }
    }
    if (shared != folded || bytes > kMaxStateBytes) return {};
    return folds;
  }

 private:
  /// Do these writes touch different elements at different points of the loop?
  bool is_apart(const std::vector<Touch>& writes) const {
    for (std::size_t a = 0; a < writes.size(); ++a) {
      if (!touches_each_once(writes[a])) return false;
      for (std::size_t b = 0; b < a; ++b) {
        if (!are_apart(writes[a], writes[b])) return false;
      }
    }
    return true;
  }

  bool touches_each_once(const Touch& write) const {
    const Statement& s = *write.at;
    if (is_told_apart(s, s)) return true;
    return s.sets() && !s.map.has_index() && kernel::is_injective(s.map, write.extents) == Answer::yes;
  }

  bool are_apart(const Touch& a, const Touch& b) const {
    if (program_.buffers[a.at->buffer].dims == program_.buffers[b.at->buffer].dims) {
      if (is_told_apart(*a.at, *b.at)) return true;
      const bool at_same_point = a.at->sets() && b.at->sets() && a.at->map == b.at->map && a.extents == b.extents;
      if (at_same_point) return true;
    }
    return kernel::always_disjoint({a.at->map, a.extents, program_.buffers[a.at->buffer].dims},
                                   {b.at->map, b.extents, program_.buffers[b.at->buffer].dims});
  }

  bool is_told_apart(const Statement& a, const Statement& b) const {
    return std::ranges::all_of(axes_, [&](int axis) { return kernel::told_apart_by(a.map, b.map, axis); });
  }

  /// Is all that is done to the buffer one state of one fold? f16 and bf16: every addition rounds, and so their order
  /// shows.
  bool is_folded(BufferId root) const {
    const std::vector<Touch>& writes = writes_.at(root);
    const Statement& first = *writes.front().at;
    const bool merges = first.accumulates() && !first.has_hidden_states() && !is_half(first.dtype) &&
                        !is_complex(first.dtype) && !loads_.contains(root);
    return merges && std::ranges::all_of(writes, [&](const Touch& write) {
             const Statement& s = *write.at;
             const bool is_alone = !s.has_several_states() || writes.size() == 1;
             return s.fold == first.fold && s.state == first.state && s.dtype == first.dtype && !s.result.valid() &&
                    is_alone;
           });
  }

  const KernelProgram& program_;
  const Kernel& kernel_;
  const std::vector<int> axes_;
  const bool cuts_outer_loops_;
  std::map<BufferId, std::vector<Touch>> writes_;  // by root
  std::set<BufferId> loads_;
};

Dim cost_of(const Kernel& kernel, const Stage& stage) {
  const std::vector<bool> live = kernel::live_statements(stage);
  int64_t cost = 1;
  for (std::size_t i = 0; i < live.size(); ++i) cost += live[i] ? cost_of(stage.statements[i]) : 0;
  Dim points(cost);
  for (const Dim& extent : axis_extents(kernel, stage)) points = points * extent;
  return points;
}

/// As it is known: too little for two blocks?
bool is_one_block(const Cut& cut) {
  const bool is_short = cut.extent.is_constant() && cut.extent.constant() <= cut.step;
  return is_short || (cut.cost.is_constant() && cut.cost.constant() < 2 * cut.cost_of_block);
}

std::vector<int> axes_of(const kernel::NestLoop& loop) {
  std::vector<int> axes = loop.merged;
  axes.push_back(loop.axis);
  return axes;
}

bool rounds(const BlockFold& fold) {
  return (fold.fold == Fold::add || fold.fold == Fold::mul) && is_float(fold.dtypes[0]);
}

/// Are the results other bytes than without blocks? Of integers they are not, and of sums by their tree. (The maximum
/// of 0.0 and -0.0 is either.)
bool shows(const Cut& cut) {
  return std::ranges::any_of(cut.folds, [&](const BlockFold& fold) {
    const bool is_of_floats = std::ranges::any_of(fold.dtypes, [](DType dtype) { return is_float(dtype); });
    return is_of_floats && !(cut.keeps_tree && fold.is_one_sum);
  });
}

void keep_tree(const StagePlan& plan, Cut& cut) {
  cut.keeps_tree = true;
  cut.step = int64_t{StagePlan::kVectorsOfBlock} * plan.width;
  cut.left_over_of = int64_t{StagePlan::kQuarters} * plan.width;
}

/// In the vector loop. (Two vectors at a time go through an index where tables are long.)
int64_t points_of_pass(const StagePlan& plan) { return int64_t{plan.width} * std::max(plan.unroll, 2); }

}  // namespace

std::optional<Cut> cut_of(const KernelProgram& program, const Kernel& kernel, const Stage& stage, const StagePlan& plan,
                          const CutRule& rule) {
  for (int level = 0; level < plan.innermost(); ++level) {
    // Of rows that are folded the columns may be cut as well: what is made once for a row is little.
    const bool may_cut = level == 0 || (plan.by_columns && level == 1 && plan.innermost() == 2);
    if (!may_cut) return {};
    Cut cut{.level = level,
            .extent = plan.loop(level).extent,
            .cost = cost_of(kernel, stage),
            .cost_of_block = rule.cost_of_block,
            .step = level + 1 == plan.innermost() ? points_of_pass(plan) : 1};
    if (is_one_block(cut)) continue;
    CutFinder finder(program, kernel, axes_of(plan.loop(level)));
    finder.add(stage);
    std::optional<std::vector<BlockFold>> folds = finder();
    if (!folds) continue;
    // A sum by columns is the same number whatever else its loop does, and has no tree of whose branches could be made.
    if (plan.by_columns && level == 0 && std::ranges::any_of(*folds, rounds)) continue;
    cut.folds = std::move(*folds);
    if (plan.by_turns && plan.innermost() == 1) keep_tree(plan, cut);
    if (!rule.for_threads && !shows(cut)) return {};
    return cut;
  }
  return {};
}

std::optional<Cut> cut_of(const KernelProgram& program, const Kernel& kernel, const CutRule& rule) {
  int axis = 0;
  while (axis < static_cast<int>(kernel.outer.size()) && kernel.outer[axis].extent.is(1)) ++axis;
  if (axis == static_cast<int>(kernel.outer.size())) return {};
  Cut cut{.level = axis, .extent = kernel.outer[axis].extent, .cost = 0, .cost_of_block = rule.cost_of_block};
  if (kernel.is_tiled() && axis == kernel.tiled_axis()) cut.step = kernel.tile;
  CutFinder finder(program, kernel, {axis});
  for (const Stage& stage : kernel.stages) {
    cut.cost = cut.cost + cost_of(kernel, stage);
    finder.add(stage);
  }
  if (is_one_block(cut)) return {};
  std::optional<std::vector<BlockFold>> folds = finder();
  if (!folds) return {};
  cut.folds = std::move(*folds);
  if (!rule.for_threads && !shows(cut)) return {};
  return cut;
}

}  // namespace inlay::llvm_backend
