#include "kernel/blocks.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "inlay/runtime.h"
#include "kernel/live.h"

namespace inlay::kernel {
namespace {

using Kind = Statement::Kind;

/// So many states in a workspace a block of the least work has. Opening and merging one take some 0.4 ns, a fiftieth of
/// what the block takes where its loop is short (adding what is gathered); longer bodies take more.
constexpr int64_t kStatesOfBlock = 150;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kMostStackBytes = 2048;  // of a block's states, several of which lie there at a time

int64_t bytes_of(const BlockFold& fold) {
  int64_t out = 0;
  for (const DType dtype : fold.dtypes) out += fold.elements * size_bytes(dtype);
  return out;
}

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
class BlockFoldFinder {
 public:
  BlockFoldFinder(const KernelProgram& program, const Kernel& kernel, std::vector<int> axes)
      : program_(program),
        kernel_(kernel),
        axes_(std::move(axes)),
        cuts_outer_loops_(axes_[0] < static_cast<int>(kernel.outer.size())) {}

  void add(const Stage& stage) {
    const std::vector<bool> live = live_statements(stage);
    const std::vector<Dim> extents = axis_extents(kernel_, stage);
    for (std::size_t i = 0; i < live.size(); ++i) {
      const Statement& s = stage.statements[i];
      const bool is_local = cuts_outer_loops_ && kernel_.is_local(s.buffer);  // each block has one for itself
      if (!live[i] || !s.has_place() || is_local) continue;
      const BufferId root = root_of(program_, s.buffer);
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
    for (const auto& [root, writes] : writes_) {
      if (is_apart(writes)) continue;
      shared.insert(root);
      const Statement& first = *writes.front().at;
      if (!is_folded(root)) return {};
      if (first.state > 0) continue;  // with the first
      const Dim elements = num_elements(program_.buffers[root]);
      if (!elements.is_constant()) return {};
      BlockFold& fold = folds.emplace_back(first.fold);
      fold.elements = elements.constant();
      fold.is_one_sum =
          (first.fold == Fold::add || first.fold == Fold::mul) && writes.size() == 1 && !first.map.has_index();
      fold.by_index = std::ranges::all_of(writes, [](const Touch& write) { return write.at->map.has_index(); });
      for (const Statement& state : std::span(&first, facts(first.fold).num_stored)) {
        fold.buffers.push_back(root_of(program_, state.buffer));
        fold.dtypes.push_back(state.dtype);
        folded.insert(fold.buffers.back());
        if (!(num_elements(program_.buffers[fold.buffers.back()]) == elements)) return {};
      }
    }
    // Rows of columns are folded in registers, which go to memory once for each block.
    const auto is_long = [](const BlockFold& fold) { return !fold.by_index && bytes_of(fold) > kMostStackBytes; };
    if (shared != folded || std::ranges::any_of(folds, is_long)) return {};
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
    return s.sets() && !s.map.has_index() && is_injective(s.map, write.extents) == Answer::yes;
  }

  bool are_apart(const Touch& a, const Touch& b) const {
    if (program_.buffers[a.at->buffer].dims == program_.buffers[b.at->buffer].dims) {
      if (is_told_apart(*a.at, *b.at)) return true;
      const bool at_same_point = a.at->sets() && b.at->sets() && a.at->map == b.at->map && a.extents == b.extents;
      if (at_same_point) return true;
    }
    return always_disjoint({a.at->map, a.extents, program_.buffers[a.at->buffer].dims},
                           {b.at->map, b.extents, program_.buffers[b.at->buffer].dims});
  }

  bool is_told_apart(const Statement& a, const Statement& b) const {
    return std::ranges::all_of(axes_, [&](int axis) { return told_apart_by(a.map, b.map, axis); });
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

}  // namespace

int BlockFold::width() const {
  return static_cast<int>(std::min<uint64_t>(kMostLanes, std::bit_ceil(static_cast<uint64_t>(elements))));
}

int64_t BlockFold::pitch() const { return (elements + width() - 1) / width() * width(); }

int64_t BlockFold::bytes(std::size_t state) const {
  return (pitch() * size_bytes(dtypes[state]) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

int64_t BlockFold::bytes() const {
  int64_t out = 0;
  for (std::size_t k = 0; k < dtypes.size(); ++k) out += bytes(k);
  return out;
}

bool BlockRule::needs_workspace(std::span<const BlockFold> folds) const {
  int64_t bytes = 0, by_index = 0;
  for (const BlockFold& fold : folds) {
    bytes += bytes_of(fold);
    if (fold.by_index) by_index += bytes_of(fold);
  }
  return bytes > kMostStackBytes || by_index > table_bytes;
}

int64_t BlockRule::cost_of_block(std::span<const BlockFold> folds) const {
  if (!needs_workspace(folds)) return cost;
  int64_t states = 0;
  for (const BlockFold& fold : folds) states += fold.elements * static_cast<int64_t>(fold.dtypes.size());
  return std::max(cost, cost / kStatesOfBlock * states);
}

int64_t BlockRule::most_blocks(std::span<const BlockFold> folds) const {
  constexpr int64_t kMostTables = 16;
  return needs_workspace(folds) ? kMostTables : INLAY_MOST_BLOCKS;
}

Dim BlockRule::workspace_bytes(std::span<const BlockFold> folds, int64_t lane_bytes, const Dim& cost_of_all) const {
  int64_t bytes = lane_bytes;
  for (const BlockFold& fold : folds) bytes += fold.bytes();
  // Of as many blocks as this the last one finds so many parts before it that are not merged, at most.
  const auto parts = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(most_blocks(folds)) - 1));
  return min(parts + 1, floor_div(floor_div(cost_of_all, cost_of_block(folds)), 2) * 2) * Dim(bytes);
}

std::optional<std::vector<BlockFold>> folds_of_blocks(const KernelProgram& program, const Kernel& kernel,
                                                      std::span<const Stage> stages, std::vector<int> axes) {
  BlockFoldFinder finder(program, kernel, std::move(axes));
  for (const Stage& stage : stages) finder.add(stage);
  return finder();
}

bool shows(const BlockFold& fold) {
  return std::ranges::any_of(fold.dtypes, [](DType dtype) { return is_float(dtype); });
}

Dim cost_of(const Kernel& kernel, std::span<const Stage> stages) {
  Dim out = 0;
  for (const Stage& stage : stages) {
    const std::vector<bool> live = live_statements(stage);
    int64_t cost = 1;
    for (std::size_t i = 0; i < live.size(); ++i) cost += live[i] ? cost_of(stage.statements[i]) : 0;
    Dim points(cost);
    for (const Dim& extent : axis_extents(kernel, stage)) points = points * extent;
    out = out + points;
  }
  return out;
}

std::optional<int> outer_axis_to_cut(const Kernel& kernel) {
  const auto axis = std::ranges::find_if(kernel.outer, [](const Axis& a) { return !a.extent.is(1); });
  if (axis == kernel.outer.end()) return {};
  return static_cast<int>(axis - kernel.outer.begin());
}

int64_t most_lane_bytes(const Stage& stage) {
  constexpr int64_t kMostBytes = 128;  // 16 lanes of 8 bytes
  int64_t states = 0;
  for (const Statement& s : stage.statements) {
    if (s.is_write() && s.accumulates()) states += static_cast<int64_t>(s.num_states());
  }
  return states * kMostBytes;
}

}  // namespace inlay::kernel
