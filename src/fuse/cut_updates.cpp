#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "fuse/in_place.h"
#include "fuse/left_over.h"
#include "fuse/view_maps.h"

namespace inlay::fuse {

using kernel::Role;
using kernel::Start;

std::vector<ConcatPart> parts_of(const Graph& graph, const Node& concat) {
  std::vector<ConcatPart> out;
  const int axis = concat.axes[0];
  Dim begin = 0;
  for (ValueId value : concat.operands) {
    const std::vector<Dim>& own = graph.type(value).dims;
    // Along other axes a part has the dims of the whole, which a check may have found equal to its own.
    std::vector<Dim> dims = graph.type(concat.results[0]).dims;
    dims[axis] = own[axis];
    ConcatPart part{value, loop_over(dims), {}};
    part.in_whole = part.loop.at;
    kernel::Subscript& along = part.in_whole.subscripts[axis];
    along.base = along.base + begin;
    begin = begin + own[axis];
    part.loop.at = normalized(std::move(part.loop.at), own);
    out.push_back(std::move(part));
  }
  return out;
}

namespace {

void write_parts(Cut& cut, ValueId v, const Node& concat, ValueId whole) {
  for (ConcatPart& part : parts_of(cut.graph, concat)) {
    Piece piece{.axes = std::move(part.loop.axes)};
    piece.writes.push_back({.buffer = cut.homes[whole].buffer,
                            .map = std::move(part.in_whole),
                            .value = part.value,
                            .at = std::move(part.loop.at),
                            .target = v});
    cut.add(whole, std::move(piece));
  }
}

/// With the axes and the write of the region, `piece` is complete. `onto`: if valid, what the region is combined
/// with, for nothing of it is there yet.
void write_region(Cut& cut, ValueId v, ValueId whole, ValueId onto, Piece piece) {
  const Node& node = *cut.graph.node_of(v);
  const ValueId base = node.operands[0], value = node.operands[1];
  Loop loop = loop_over(region_dims(cut.graph, node.index));
  PlacedIndex placed = place_index(cut.graph, node.index, cut.graph.type(base).dims, loop.at);
  piece.axes = std::move(loop.axes);
  piece.writes.push_back({.combine = node.combine,
                          .buffer = cut.homes[whole].buffer,
                          .map = std::move(placed.map),
                          .indices = std::move(placed.arrays),
                          .value = value,
                          .at = broadcast_point(loop.at, cut.graph.type(value).dims),
                          .onto = onto,
                          .target = v});
  cut.add(whole, std::move(piece));
}

/// Where an update's base lies as a whole: in memory of its own, or in that of which it is another shape.
BufferId bytes_of_base(Cut& cut, ValueId base) {
  Home& home = cut.homes[base];
  const Node* node = cut.graph.node_of(base);
  if (home.memory.valid() && cut.program.buffers[home.memory].view_of.valid()) return home.memory;
  if (home.place().valid() || !node || node->op != Op::reshape) return home.buffer;
  const ValueId shown = node->operands[0];
  const BufferId from = bytes_of_base(cut, shown);
  const bool has_bytes =
      from.valid() && cut.program.buffers[from].role != Role::scalar && cut.program.buffers[from].role != Role::literal;
  if (!has_bytes) return {};
  home.memory = cut.buffers.new_view(base, from);
  home.pieces = cut.homes[shown].pieces;
  return home.memory;
}

/// Of the base, what the updates leave.
std::size_t begin_with_rest(Cut& cut, std::span<const ValueId> updates, ValueId whole, Brings brings) {
  const ValueId base = cut.graph.node_of(updates.front())->operands[0];
  const std::optional<LeftOver> left = left_over(cut.graph, updates, brings);
  if (!left || !may_be_left_out(cut.graph, cut.decisions, base)) return 0;
  for (const Box& box : left->boxes) {
    std::vector<Dim> dims;
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) dims.push_back(box.end[axis] - box.begin[axis]);
    Loop loop = loop_over(dims);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      Dim& begin = loop.at.subscripts[axis].base;
      begin = begin + box.begin[axis];
    }
    Piece piece = over(std::move(loop), base, cut.homes[whole].buffer, /*defines=*/false);
    piece.writes[0].target = whole;
    cut.add(whole, std::move(piece));
  }
  return left->regions;
}

/// What `whole` is where no region is written; `first` writes the first region. How many of `updates` write boxes of
/// their own, where only what they leave was brought.
std::size_t begin_whole(Cut& cut, std::span<const ValueId> updates, ValueId whole, Piece& first) {
  const Node& region = *cut.graph.node_of(updates.front());
  const ValueId base = region.operands[0];
  const BufferId buffer = cut.homes[whole].buffer, from = bytes_of_base(cut, base);
  const bool is_required = region.in_place == InPlace::required;
  const bool has_bytes = from.valid() && cut.program.buffers[from].role != Role::scalar;
  // An argument is not overwritten, so it is copied; in a body it may be what is carried, which is, as a donated one.
  const bool is_argument = has_bytes && cut.program.buffers[from].role == Role::param &&
                           !cut.program.buffers[kernel::root_of(cut.program, from)].donated && !cut.graph.is_body;
  if (is_required && !has_bytes) require_own_bytes(cut.graph, cut.homes, cut.program, region);
  const std::optional<Literal> fill = splat(cut.graph, base, [](ValueId) { return false; });
  if (!has_bytes || (is_argument && !is_required)) {
    const Brings brings = has_bytes || fill ? Brings::elements : Brings::values;
    if (const std::size_t boxes = begin_with_rest(cut, updates, whole, brings); boxes > 0) return boxes;
  }
  if (fill) {
    first.starts.push_back({buffer, {Start::Kind::fill, *fill, {}}});
  } else if (has_bytes) {
    first.starts.push_back({buffer, {Start::Kind::copy, {}, from, {}}});
    cut.buffers.because(
        from, {kernel::StoredFor::copied, str(cut.program.buffers[buffer].name, " begins with what it holds")});
    if (is_required) first.starts.back().start.required = cut.program.sites.push_back(in_place_site(cut.graph, region));
    first.step_operands.push_back(base);
  } else {
    Piece all = elementwise(cut.graph, base, buffer, /*defines=*/false);
    all.writes[0].target = whole;
    cut.add(whole, std::move(all));
  }
  return 0;
}

}  // namespace

void cut_regions(Cut& cut, ValueId v) {
  cut.new_home(v);
  std::vector<ValueId> chain = {v};
  while (cut.graph.node_of(chain.back())->op != Op::concat) {
    const ValueId base = cut.graph.node_of(chain.back())->operands[0];
    if (cut.decisions[base].how != How::updated_with) break;
    chain.push_back(base);
  }
  std::ranges::reverse(chain);
  const Node& lowest = *cut.graph.node_of(chain.front());
  const bool is_concat = lowest.op == Op::concat;
  if (is_concat) write_parts(cut, chain.front(), lowest, v);
  Piece first;
  const std::size_t boxes = is_concat ? 0 : begin_whole(cut, chain, v, first);
  // Boxes wait for nothing; the next region for all that is there, and then each for the one before.
  for (std::size_t i = is_concat ? 1 : 0; i < chain.size(); ++i) {
    const ValueId onto = i < boxes ? lowest.operands[0] : ValueId();
    const std::vector<PieceId>& there = cut.homes[v].pieces;
    const bool waits_for_all = i == std::max<std::size_t>(boxes, is_concat ? 1 : 0);
    if (!onto.valid()) first.after = waits_for_all ? there : std::vector{there.back()};
    write_region(cut, chain[i], v, onto, std::exchange(first, {}));
  }
}

}  // namespace inlay::fuse
