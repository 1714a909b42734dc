#include <algorithm>
#include <optional>
#include <utility>

#include "memory/replay.h"

namespace inlay::memory::replay {

namespace {

using kernel::AccessMap;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Subscript;

/// A loop over an axis, and the points that it visits.
struct Passed {
  std::size_t axis = 0;
  int64_t begin = 0, end = 0, step = 1;
};

std::vector<Passed> passed(const Elements& elements, const std::vector<kernel::Axis>& axes, std::size_t first) {
  std::vector<Passed> out;
  for (const kernel::Axis& axis : axes) out.push_back({first + out.size(), 0, elements.value(axis.extent)});
  return out;
}

template <class Body>
void for_each_point(Progress& progress, const std::vector<Passed>& loops, std::vector<int64_t>& point,
                    const Body& body) {
  const std::size_t before = point.size();
  for (const Passed& loop : loops) {
    if (loop.begin >= loop.end) return;
  }
  for (const Passed& loop : loops) {
    point.resize(std::max(point.size(), loop.axis + 1));
    point[loop.axis] = loop.begin;
  }
  while (progress.goes_on()) {
    progress.pass();
    body();
    std::size_t k = loops.size();
    for (; k > 0; --k) {
      const Passed& loop = loops[k - 1];
      if ((point[loop.axis] += loop.step) < loop.end) break;
      point[loop.axis] = loop.begin;
    }
    if (k == 0) break;
  }
  point.resize(before);
}

/// Computes which elements the points of a stage touch.
class Reach {
 public:
  Reach(const Kernel& kernel, const Stage& stage, int64_t tile_begin, State& state)
      : state_(state), kernel_(kernel), tile_begin_(tile_begin) {
    for (const Statement& s : stage.statements) {
      const bool is_turn = s.kind == Statement::Kind::load && state.turns[s.buffer] >= 0;
      if (is_turn) known_.emplace_back(s.result, state.turns[s.buffer]);
    }
  }

  bool is_anywhere(const AccessMap& map) const {
    return std::ranges::any_of(map.subscripts, [&](const Subscript& u) { return is_anywhere(u); });
  }

  /// The element if unknown indices are 0; -1: it is beyond a dim.
  int64_t element(const Statement& s, const std::vector<int64_t>& point) const {
    const std::vector<Dim>& dims = state_.program.buffers[s.buffer].dims;
    int64_t out = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Subscript& subscript = s.map.subscripts[d];
      const int64_t at = coordinate_of(s.buffer, subscript, point);
      if (at < 0 || at >= elements_.value(dims[d])) return -1;
      out = out * elements_.value(dims[d]) + at;
    }
    return out;
  }

  /// The elements that a point may touch: all along dims with an unknown index. Empty if a subscript leaves the buffer,
  /// which the kernel verifier reports.
  std::vector<int64_t> reachable(const Statement& s, const std::vector<int64_t>& point) const {
    std::vector<int64_t> reached = {0};  // one dim at a time
    for (std::size_t d = 0; d < s.map.subscripts.size(); ++d) {
      const Subscript& subscript = s.map.subscripts[d];
      const int64_t size = elements_.value(state_.program.buffers[s.buffer].dims[d]);
      const int64_t extent = is_anywhere(subscript) ? elements_.value(subscript.index->extent) : 1;
      std::vector<int64_t> next;
      for (int64_t e : reached) {
        for (int64_t i = 0; i < extent && state_.progress.goes_on(); ++i) {
          state_.progress.pass();
          const int64_t at = coordinate_of(s.buffer, subscript, point) + (extent == 1 ? 0 : i * subscript.index->step);
          if (at >= 0 && at < size) next.push_back(e * size + at);
        }
      }
      reached = std::move(next);
    }
    return reached;
  }

 private:
  /// Returns the value of an index that is the counter of a loop.
  std::optional<int64_t> known(const kernel::IndexTerm& index) const {
    for (const auto& [reg, number] : known_) {
      if (reg == index.index) return number;
    }
    return std::nullopt;
  }

  /// Does it have an index that is unknown here?
  bool is_anywhere(const Subscript& subscript) const { return subscript.index && !known(*subscript.index); }

  /// The coordinate if unknown indices are 0.
  int64_t coordinate_of(BufferId buffer, const Subscript& subscript, const std::vector<int64_t>& point) const {
    int64_t at = elements_.value(subscript.base);
    if (subscript.index) at += subscript.index->step * known(*subscript.index).value_or(0);
    for (const kernel::AxisTerm& term : subscript.axes) {
      const bool from_tile = kernel_.is_tiled() && term.axis == kernel_.tiled_axis() && kernel_.is_local(buffer);
      at += elements_.value(term.step) * (point[static_cast<std::size_t>(term.axis)] - (from_tile ? tile_begin_ : 0));
    }
    return at;
  }

  State& state_;
  const Elements& elements_ = state_.elements;
  const Kernel& kernel_;
  const int64_t tile_begin_;
  std::vector<std::pair<kernel::RegisterId, int64_t>> known_;  // registers that hold the counter of a loop
};

/// Do all points touch the same elements? Then the first point and the last show all that the points between would.
bool reaches_the_same(const Statement& s) {
  return std::ranges::all_of(s.map.subscripts, [](const Subscript& u) { return u.axes.empty(); });
}

/// Replays a stage at one outer point.
class StageReplay {
 public:
  StageReplay(const Stage& stage, const Reach& reach, const std::vector<Passed>& loops, std::vector<int64_t>& point,
              State& state)
      : state_(state), stage_(stage), reach_(reach), loops_(loops), point_(point) {}

  void run() {
    // Through an index any element may be read or written that the other subscripts allow. So what is gathered must be
    // there at the first point and after the last, and a scatter changes everything at every point. If there is one
    // point, or each point overwrites the very element that it has read, the read comes before the writes of later
    // statements.
    const bool one_point = std::ranges::all_of(loops_, [](const Passed& loop) { return loop.begin + 1 == loop.end; });
    std::vector<int> of_all_points;
    for (int i = 0; i < static_cast<int>(stage_.statements.size()); ++i) {
      const Statement& s = stage_.statements[i];
      const bool gathers = s.kind == Statement::Kind::load && reach_.is_anywhere(s.map);
      if (gathers && !one_point && !is_overwritten(i)) of_all_points.push_back(i);
    }
    const auto read_gathered = [&] {
      for (int i : of_all_points) gather(stage_.statements[i]);
    };
    read_gathered();
    if (state_.proof.is_asked()) state_.proof.begin_stage(stage_);
    bool is_first = true;
    for_each_point(progress_, loops_, point_, [&] {
      if (state_.proof.is_asked() && !state_.proof.pass_point(stage_, point_)) {
        progress_.wrong_here(" takes an index for checked that nothing before it has checked");
      }
      for (bool elided : {false, true}) {  // elided statements come after those that make them needless
        for (int i = 0; i < static_cast<int>(stage_.statements.size()); ++i) {
          const Statement& s = stage_.statements[i];
          if (s.elided != elided) continue;
          if (s.can_fail()) elements_.may_fail();
          if (elided) {
            take_over(s);
          } else if (!reach_.is_anywhere(s.map)) {
            replay_statement(s);
          } else if (s.kind == Statement::Kind::load) {
            if (std::ranges::find(of_all_points, i) == of_all_points.end()) gather_here(s);
          } else if (s.is_write() && (is_first || !reaches_the_same(s))) {
            scatter(s);
          }
        }
      }
      is_first = false;
    });
    read_gathered();
    for (const Statement& s : stage_.statements) {
      if (!one_point && s.is_write() && reach_.is_anywhere(s.map) && reaches_the_same(s)) scatter(s);
    }
  }

 private:
  /// Does a point, after this load, write the element that it loads, in an array of the same dims?
  bool is_overwritten(int load) const {
    const Statement& loaded = stage_.statements[load];
    const auto is_there = [](const Subscript& a, const Subscript& b) {
      const bool same_index = a.index.has_value() == b.index.has_value() &&
                              (!a.index || (a.index->index == b.index->index && a.index->step == b.index->step));
      return same_index && a.base == b.base && a.axes == b.axes;
    };
    return std::any_of(stage_.statements.begin() + load, stage_.statements.end(), [&](const Statement& s) {
      return s.is_write() && state_.program.buffers[s.buffer].dims == state_.program.buffers[loaded.buffer].dims &&
             std::ranges::equal(s.map.subscripts, loaded.map.subscripts, is_there);
    });
  }

  void replay_statement(const Statement& s) {
    if (!s.buffer.valid() || !elements_.is_ours(s.buffer)) return;
    const bool is_beyond = reach_.element(s, point_) < 0;
    if (is_beyond && s.map.has_index()) return;  // for these sizes the run would have failed here
    if (s.kind == Statement::Kind::load || s.accumulates()) elements_.read(s.buffer, reach_.element(s, point_));
    if (s.is_write()) elements_.write(s.buffer, reach_.element(s, point_));
  }

  /// Reads what the points of a stage may read.
  void gather(const Statement& s) {
    if (!elements_.is_ours(s.buffer)) return;
    std::vector<bool> seen(static_cast<std::size_t>(elements_.count(s.buffer)), false);  // by where the indices are 0
    for_each_point(progress_, loops_, point_, [&] {
      const int64_t first = reach_.element(s, point_);
      if (first >= 0 && first < elements_.count(s.buffer) && seen[static_cast<std::size_t>(first)]) return;
      for (int64_t e : reach_.reachable(s, point_)) {
        if (progress_.goes_on()) elements_.read(s.buffer, e);
      }
      if (first >= 0 && first < elements_.count(s.buffer)) seen[static_cast<std::size_t>(first)] = true;
    });
  }

  void gather_here(const Statement& s) {
    if (!elements_.is_ours(s.buffer)) return;
    for (int64_t e : reach_.reachable(s, point_)) {
      if (progress_.goes_on()) elements_.read(s.buffer, e);
    }
  }

  /// Gives every element there new contents.
  void scatter(const Statement& s) {
    if (!elements_.is_ours(s.buffer)) return;
    for (int64_t e : reach_.reachable(s, point_)) {
      if (!progress_.goes_on()) return;
      if (elements_.is_written(s.buffer, e)) elements_.read(s.buffer, e);
      if (progress_.goes_on()) elements_.write(s.buffer, e);
    }
  }

  /// Replays an elided store: the register is an element of another buffer, which must lie in these very bytes.
  void take_over(const Statement& store) {
    if (!store.sets()) {
      return progress_.wrong_here(": what is no store that sets is left out");
    }
    const int64_t to = reach_.element(store, point_);
    for (const Statement& other : stage_.statements) {
      const bool loads = other.kind == Statement::Kind::load && other.result == store.operands[0];
      const bool stores = &other != &store && other.kind == Statement::Kind::store && other.operands == store.operands;
      if ((!loads && !stores) || !elements_.is_ours(other.buffer) || reach_.is_anywhere(other.map)) continue;
      const int64_t from = reach_.element(other, point_);
      if (!elements_.in_range(other.buffer, from) || !elements_.in_range(store.buffer, to)) return;
      if (elements_.take_over(other.buffer, from, store.buffer, to)) return;
    }
    progress_.wrong_here(": a store to ", state_.program.buffers[store.buffer].name,
                         " is left out, but its bytes are not there");
  }

  State& state_;
  Elements& elements_ = state_.elements;
  Progress& progress_ = state_.progress;
  const Stage& stage_;
  const Reach& reach_;
  const std::vector<Passed>& loops_;
  std::vector<int64_t>& point_;
};

}  // namespace

void replay_kernel(const Kernel& kernel, State& state) {
  Elements& elements = state.elements;
  const auto start_all = [&](bool local) {
    for (const KernelOutput& output : kernel.outputs) {
      if (output.is_local != local) continue;
      if (local) elements.forget(kernel::root_of(state.program, output.buffer));
      if (output.start.kind == Start::Kind::fill) elements.write_all(output.buffer);
      if (output.start.kind == Start::Kind::copy) {
        elements.copy_all(output.start.source, output.buffer, output.start.elided);
      }
    }
  };
  if (kernel.workspace.valid()) elements.write_all(kernel.workspace);
  start_all(false);
  std::vector<Passed> outer = passed(elements, kernel.outer, 0);
  if (kernel.is_tiled()) outer.back().step = kernel.tile;
  Passed tile;  // of the outer axis that is tiled
  std::vector<int64_t> point;
  const auto replay_stage = [&](const Stage& stage) {
    std::vector<Passed> loops = passed(elements, stage.axes, kernel.outer.size());
    if (kernel.is_tiled() && !stage.once)
      loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(stage.tile_at), tile);
    if (std::ranges::any_of(loops, [](const Passed& loop) { return loop.begin >= loop.end; })) return;
    const Reach reach(kernel, stage, tile.begin, state);
    StageReplay(stage, reach, loops, point, state).run();
  };
  const auto once = std::span(kernel.stages).first(kernel.num_once());
  point.assign(outer.size(), 0);
  std::ranges::for_each(once, replay_stage);
  for_each_point(state.progress, outer, point, [&] {
    start_all(true);
    if (kernel.is_tiled()) {
      tile = outer.back();
      tile.begin = point.back();
      tile.end = std::min(tile.begin + kernel.tile, tile.end);
      tile.step = 1;
    }
    std::ranges::for_each(std::span(kernel.stages).subspan(once.size()), replay_stage);
  });
}

}  // namespace inlay::memory::replay
