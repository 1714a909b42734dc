#include "fuse/left_over.h"

#include <algorithm>
#include <unordered_set>

#include "fuse/decide.h"
#include "ir/traits.h"
#include "kernel/dim_proof.h"

namespace inlay::fuse {
namespace {

constexpr std::size_t kMostLoops = 4;
constexpr int64_t kFewColumns = 4;  // each is a loop through rows that are not read

/// What the update writes, where that is a range or one place of each axis.
std::optional<Box> box_of(const Graph& graph, ValueId v, ReadBy by) {
  const Node& update = *graph.node_of(v);
  if (update.op != Op::update) return std::nullopt;
  Box box;
  for (const IndexItem& item : update.index) {
    if (item.kind == IndexItem::Kind::range && (item.step == 1 || (by == ReadBy::folds && item.step > 1))) {
      box.push_back({item.start, item.stop, item.step});
    } else if (item.kind == IndexItem::Kind::position) {
      box.push_back({item.position, item.position + 1});
    } else {
      return std::nullopt;
    }
  }
  return box;
}

bool has_whole_rows(const Box& box, std::span<const Dim> dims) {
  for (std::size_t axis = 1; axis < dims.size(); ++axis) {
    if (!box[axis].begin.is(0) || box[axis].end != dims[axis] || box[axis].step != 1) return false;
  }
  return true;
}

/// Puts the rows where they belong among others in order, if they are apart from all of them.
bool insert(std::vector<StridedRange>& others, const StridedRange& rows) {
  for (std::size_t at = others.size() + 1; at-- > 0;) {
    const bool behind = at == 0 || kernel::always_at_least(rows.begin, others[at - 1].end);
    const bool before = at == others.size() || kernel::always_at_least(others[at].begin, rows.end);
    if (!behind || !before) continue;
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(at), rows);
    return true;
  }
  return false;
}

/// What is left of [0, dim) by what is written, which is in order.
std::vector<StridedRange> left_by(std::span<const StridedRange> written, const Dim& dim) {
  std::vector<StridedRange> out;
  Dim from = 0;
  for (const StridedRange& one : written) {
    if (one.begin != from) out.push_back({from, one.begin});
    for (int64_t skipped = 1; skipped < one.step; ++skipped) {
      // A step beyond the end skips nothing; of an axis of 1 there is no second place that a loop could name.
      const StridedRange between{one.begin + skipped, one.end, one.step};
      if (!between.count().is(0)) out.push_back(between);
    }
    from = one.end;
  }
  if (from != dim) out.push_back({from, dim});
  return out;
}

bool are_few(const Dim& columns) { return kernel::always_at_least(kFewColumns, columns); }

}  // namespace

std::optional<LeftOver> left_over(const Graph& graph, std::span<const ValueId> updates, Brings brings, ReadBy by) {
  const std::vector<Dim>& dims = graph.type(updates[0]).dims;
  const auto first = box_of(graph, updates[0], by);
  if (!first || dims.empty()) return std::nullopt;
  LeftOver out{.regions = 1};
  std::vector<StridedRange> rows = {first->front()};
  for (ValueId v : has_whole_rows(*first, dims) ? updates.subspan(1) : updates.first(0)) {
    const auto box = box_of(graph, v, by);
    if (!box || !has_whole_rows(*box, dims) || !insert(rows, box->front())) break;
    ++out.regions;
  }
  // Axis by axis: of what the region has on the axes before, what it leaves of this one.
  bool all_short = true;
  Box within;
  for (const Dim& dim : dims) within.push_back({0, dim});
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::span<const StridedRange> written = axis == 0 ? rows : std::span(*first).subspan(axis, 1);
    for (const StridedRange& left : left_by(written, dims[axis])) {
      const bool few = are_few(left.count());
      if (axis > 0 && !few && by == ReadBy::stores) return std::nullopt;
      all_short = all_short && (few || left.count().is_constant());
      out.boxes.emplace_back(within)[axis] = left;
    }
    within[axis] = written[0];
  }
  if (out.boxes.size() > kMostLoops) return std::nullopt;
  if (out.boxes.size() > 1 && !all_short && brings == Brings::values) return std::nullopt;
  return out;
}

bool may_be_left_out(const Graph& graph, const Decisions& decisions, ValueId v) {
  std::vector<ValueId> todo = {v};
  std::unordered_set<ValueId> seen;
  while (!todo.empty()) {
    const ValueId part = todo.back();
    todo.pop_back();
    if (decisions[part].how != How::inlined || !seen.insert(part).second) continue;
    const Node& node = *graph.node_of(part);
    if (may_fail(graph, node)) return false;
    todo.insert(todo.end(), node.operands.begin(), node.operands.end());
  }
  return true;
}

}  // namespace inlay::fuse
