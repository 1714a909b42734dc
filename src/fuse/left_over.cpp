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

using Interval = std::pair<Dim, Dim>;  // [first, second)

/// What the update writes, where that is a box.
std::optional<std::vector<Interval>> box_of(const Graph& graph, ValueId v) {
  const Node& update = *graph.node_of(v);
  if (update.op != Op::update) return std::nullopt;
  std::vector<Interval> box;
  for (const IndexItem& item : update.index) {
    if (item.kind == IndexItem::Kind::range && item.step == 1) {
      box.emplace_back(item.start, item.stop);
    } else if (item.kind == IndexItem::Kind::position) {
      box.emplace_back(item.position, item.position + 1);
    } else {
      return std::nullopt;
    }
  }
  return box;
}

bool has_whole_rows(std::span<const Interval> box, std::span<const Dim> dims) {
  for (std::size_t axis = 1; axis < dims.size(); ++axis) {
    if (!box[axis].first.is(0) || box[axis].second != dims[axis]) return false;
  }
  return true;
}

/// Puts the rows where they belong among others in order, if they are apart from all of them.
bool insert(std::vector<Interval>& others, const Interval& rows) {
  for (std::size_t at = others.size() + 1; at-- > 0;) {
    const bool behind = at == 0 || kernel::always_at_least(rows.first, others[at - 1].second);
    const bool before = at == others.size() || kernel::always_at_least(others[at].first, rows.second);
    if (!behind || !before) continue;
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(at), rows);
    return true;
  }
  return false;
}

/// What lies in [0, dim) between the intervals.
std::vector<Interval> between(std::span<const Interval> intervals, const Dim& dim) {
  std::vector<Interval> out;
  Dim from = 0;
  for (const Interval& interval : intervals) {
    if (interval.first != from) out.emplace_back(from, interval.first);
    from = interval.second;
  }
  if (from != dim) out.emplace_back(from, dim);
  return out;
}

}  // namespace

std::optional<LeftOver> left_over(const Graph& graph, std::span<const ValueId> updates, Brings brings) {
  const std::vector<Dim>& dims = graph.type(updates[0]).dims;
  const auto first = box_of(graph, updates[0]);
  if (!first || dims.empty()) return std::nullopt;
  LeftOver out{.regions = 1};
  std::vector<Interval> rows = {first->front()};
  for (ValueId v : has_whole_rows(*first, dims) ? updates.subspan(1) : updates.first(0)) {
    const auto box = box_of(graph, v);
    if (!box || !has_whole_rows(*box, dims) || !insert(rows, box->front())) break;
    ++out.regions;
  }
  // Axis by axis: of what the region has on the axes before, what it leaves of this one.
  bool all_short = true;
  Box within{std::vector<Dim>(dims.size(), 0), dims};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::span<const Interval> written = axis == 0 ? rows : std::span(*first).subspan(axis, 1);
    for (const auto& [begin, end] : between(written, dims[axis])) {
      const bool is_short = (end - begin).is_constant();
      if (axis > 0 && !(is_short && (end - begin).constant() <= kFewColumns)) return std::nullopt;
      all_short = all_short && is_short;
      Box& box = out.boxes.emplace_back(within);
      box.begin[axis] = begin;
      box.end[axis] = end;
    }
    within.begin[axis] = written[0].first;
    within.end[axis] = written[0].second;
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
