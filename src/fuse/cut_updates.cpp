#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "fuse/in_place.h"
#include "fuse/view_maps.h"

namespace inlay::fuse {

using kernel::Start;

std::vector<PieceOfWhole> parts_of_concat(const Graph& graph, const Node& concat) {
  std::vector<PieceOfWhole> out;
  const ValueId whole = concat.results[0];
  const int axis = concat.axes[0];
  Dim begin = 0;
  for (ValueId value : concat.operands) {
    const std::vector<Dim>& own = graph.type(value).dims;
    // Along other axes a part has the dims of the whole, which a check may have found equal to its own.
    std::vector<Dim> dims = graph.type(whole).dims;
    dims[axis] = own[axis];
    Loop loop = loop_over(dims);
    AccessMap at = normalized(loop.at, own);
    kernel::Subscript& along = loop.at.subscripts[axis];
    along.base = along.base + begin;
    begin = begin + own[axis];
    out.push_back({{.whole = whole, .value = value, .at = std::move(at)}, std::move(loop)});
  }
  return out;
}

namespace {

/// Over the elements of a value that are in the box.
Loop loop_within(const Box& box) {
  std::vector<Dim> dims;
  for (const StridedRange& places : box) dims.push_back(places.count());
  Loop loop = loop_over(dims);
  for (std::size_t axis = 0; axis < box.size(); ++axis) {
    kernel::Subscript& at = loop.at.subscripts[axis];
    at = plus(constant(box[axis].begin), at, box[axis].step);
  }
  return loop;
}

/// What an update writes, and where.
struct Region {
  std::vector<Dim> axes;
  PlacedIndex place;
  AccessMap at;  // of what is written
};
/// Passed in the direction in which the value is made. (Where a scatter meets an element twice, the last point counts.)
Region region_of(const Cut& cut, const Node& update) {
  const Graph& graph = cut.graph;
  Loop loop = loop_over(region_dims(graph, update.index));
  if (update.op == Op::update) cut.decisions.directions.apply(update.operands[1], loop);
  AccessMap at = broadcast_point(loop.at, graph.type(update.operands[1]).dims);
  return {std::move(loop.axes), place_index(graph, update.index, graph.type(update.operands[0]).dims, loop.at),
          std::move(at)};
}

void write_parts(Cut& cut, ValueId v, const Node& concat, ValueId whole) {
  for (PieceOfWhole& one : parts_of_concat(cut.graph, concat)) {
    Piece piece{.axes = std::move(one.loop.axes)};
    piece.writes.push_back({.buffer = cut.homes[whole].buffer,
                            .map = std::move(one.loop.at),
                            .value = one.part.value,
                            .at = std::move(one.part.at),
                            .target = v});
    cut.add(whole, std::move(piece));
  }
}

/// With the axes and the write of the region, `piece` is complete. `onto`: if valid, what the region is combined
/// with, for nothing of it is there yet.
void write_region(Cut& cut, ValueId v, ValueId whole, ValueId onto, Piece piece) {
  const Node& node = *cut.graph.node_of(v);
  Region region = region_of(cut, node);
  piece.axes = std::move(region.axes);
  piece.writes.push_back({.fold = fold_by(node.combine),
                          .buffer = cut.homes[whole].buffer,
                          .map = std::move(region.place.map),
                          .indices = std::move(region.place.arrays),
                          .value = node.operands[1],
                          .at = std::move(region.at),
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
    Piece piece = over(loop_within(box), base, cut.homes[whole].buffer, /*defines=*/false);
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

std::vector<PieceOfWhole> parts_of(const Cut& cut, ValueId whole) {
  const Graph& graph = cut.graph;
  const Node& made_by = *graph.node_of(whole);
  if (made_by.op == Op::concat) return parts_of_concat(graph, made_by);
  const Regions& regions = cut.decisions.regions.at(whole);
  const ValueId base = graph.node_of(regions.updates.front())->operands[0];
  std::vector<PieceOfWhole> out;
  // What is written is first: it is seldom the smaller loop, and a fold begins with it beside what else is over it.
  for (ValueId v : regions.updates) {
    const Node& update = *graph.node_of(v);
    Region region = region_of(cut, update);
    out.push_back({{whole, update.operands[1], std::move(region.at), update.combine, base},
                   {std::move(region.axes), std::move(region.place.map)}});
  }
  for (const Box& box : regions.left.boxes) {
    Loop loop = loop_within(box);
    out.push_back({{.whole = whole, .value = base, .at = loop.at}, std::move(loop)});
  }
  return out;
}

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
