#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "fuse/in_place.h"
#include "fuse/view_maps.h"

namespace inlay::fuse {

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
  if (home.place().valid()) return home.place();
  const ValueId shown = cut.graph.node_of(base)->operands[0];
  home.memory = cut.buffers.new_view(base, bytes_of_base(cut, shown));
  home.pieces = cut.homes[shown].pieces;
  return home.memory;
}

/// Of the base, what the updates leave.
void bring_left_over(Cut& cut, ValueId base, ValueId whole, const LeftOver& left) {
  for (const Box& box : left.boxes) {
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
}

/// What the first update, which `first` writes, begins with.
void begin_whole(Cut& cut, const Regions& regions, ValueId whole, Piece& first) {
  const Node& update = *cut.graph.node_of(regions.updates.front());
  const ValueId base = update.operands[0];
  const BufferId buffer = cut.homes[whole].buffer;
  switch (cut.decisions[whole].begin) {
    case Begin::nothing: return;
    case Begin::left_over: return bring_left_over(cut, base, whole, regions.left);
    case Begin::fill: first.starts.push_back({buffer, {Start::Kind::fill, *regions.fill, {}}}); return;
    case Begin::computed: {
      Piece all = elementwise(cut.graph, base, buffer, /*defines=*/false);
      all.writes[0].target = whole;
      cut.add(whole, std::move(all));
      return;
    }
    case Begin::copy: break;
  }
  const BufferId from = bytes_of_base(cut, base);
  Start start{Start::Kind::copy, {}, from, {}};
  if (update.in_place == InPlace::required)
    start.required = cut.program.sites.push_back(in_place_site(cut.graph, update));
  first.starts.push_back({buffer, start});
  first.step_operands.push_back(base);
  cut.buffers.because(from,
                      {kernel::StoredFor::copied, str(cut.program.buffers[buffer].name, " begins with what it holds")});
}

}  // namespace

void cut_regions(Cut& cut, ValueId v) {
  cut.new_home(v);
  const Regions& regions = cut.decisions.regions.at(v);
  const std::vector<ValueId>& chain = regions.updates;
  const Node& lowest = *cut.graph.node_of(chain.front());
  Piece first;
  const bool is_concat = lowest.op == Op::concat;
  if (is_concat) write_parts(cut, chain.front(), lowest, v);
  begin_whole(cut, regions, v, first);
  // Boxes wait for nothing; the next region for all that is there, and then each for the one before.
  const std::size_t boxes = regions.left.regions;
  for (std::size_t i = is_concat ? 1 : 0; i < chain.size(); ++i) {
    const ValueId onto = i < boxes ? lowest.operands[0] : ValueId();
    const std::vector<PieceId>& there = cut.homes[v].pieces;
    const bool waits_for_all = i == std::max<std::size_t>(boxes, is_concat ? 1 : 0);
    if (!onto.valid()) first.after = waits_for_all ? there : std::vector{there.back()};
    write_region(cut, chain[i], v, onto, std::exchange(first, {}));
  }
}

}  // namespace inlay::fuse
