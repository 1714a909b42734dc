#include <algorithm>

#include "memory/replay.h"

namespace inlay::memory::replay {

bool Replay::replay(const kernel::LibraryCall& call) {
  const LibrarySignature& signature = facts(call.op).signature;
  const auto read_operands = [&](bool all) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (!all && takes_bytes_of(call, i)) continue;
      for_each_element(call, signature.operands[i], call.operands[i],
                       [&](int64_t element) { read(call.operands[i].buffer, element); });
    }
  };
  read_operands(true);
  if (call.workspace.valid()) write_all(call.workspace);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    for_each_element(call, signature.results[r], call.results[r],
                     [&](int64_t element) { write(call.results[r].buffer, element); });
  }
  read_operands(false);  // the call reads while it writes
  if (!call.sites.empty()) may_fail();
  return true;
}

/// Is a result made in the very bytes of the operand, which the function can do?
bool Replay::takes_bytes_of(const kernel::LibraryCall& call, std::size_t operand) {
  const LibraryOpFacts& row = facts(call.op);
  if (row.in_place_operand != static_cast<int>(operand)) return false;
  const kernel::CallArray &from = call.operands[operand],
                          &to = call.results[static_cast<std::size_t>(row.in_place_result)];
  if (!is_ours(from.buffer) || !is_ours(to.buffer)) return false;
  const Place &a = places_[root(from.buffer)], &b = places_[root(to.buffer)];
  const bool one_layout =
      from.offset == to.offset && from.strides == to.strides && !from.index.valid() && !to.index.valid();
  return one_layout && a.block == b.block && a.begin == b.begin;
}

bool Replay::replay(const kernel::HostCall& call) {
  for (BufferId operand : call.operands) read_all(operand);
  return true;
}

bool Replay::replay(const kernel::Copy& copy) {
  copy_all(copy.source, copy.destination, copy.elided);
  return true;
}

bool Replay::replay(const kernel::SizeCheck& check) {
  const int64_t left = value(check.left), right = value(check.right);
  return check.relation == DimCheck::Relation::equal ? left == right : left <= right;
}

bool Replay::replay(const Kernel& kernel) {
  const auto start_all = [&](bool local) {
    for (const KernelOutput& output : kernel.outputs) {
      if (output.is_local != local) continue;
      if (local) std::ranges::fill(places_[root(output.buffer)].expected, Content{});
      if (output.start.kind == Start::Kind::fill) write_all(output.buffer);
      if (output.start.kind == Start::Kind::copy) {
        copy_all(output.start.source, output.buffer, output.start.elided);
      }
    }
  };
  start_all(false);
  kernel_ = &kernel;
  std::vector<Passed> outer = passed(kernel.outer, 0);
  if (kernel.is_tiled()) outer.back().step = kernel.tile;
  std::vector<int64_t> point;
  for_each_point(outer, point, [&] {
    start_all(true);
    if (kernel.is_tiled()) {
      tile_ = outer.back();
      tile_.begin = point.back();
      tile_.end = std::min(tile_.begin + kernel.tile, tile_.end);
      tile_.step = 1;
    }
    for (int stage = 0; stage < static_cast<int>(kernel.stages.size()); ++stage) replay_stage(kernel, stage, point);
  });
  return true;
}

std::vector<Replay::Passed> Replay::passed(const std::vector<kernel::Axis>& axes, std::size_t first) const {
  std::vector<Passed> out;
  for (const kernel::Axis& axis : axes) out.push_back({first + out.size(), 0, value(axis.extent)});
  return out;
}

void Replay::replay_stage(const Kernel& kernel, int stage_index, std::vector<int64_t>& point) {
  const Stage& stage = kernel.stages[stage_index];
  std::vector<Passed> loops = passed(stage.axes, kernel.outer.size());
  if (kernel.is_tiled()) {
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(stage.tile_at), tile_);
  }
  if (std::ranges::any_of(loops, [](const Passed& loop) { return loop.begin >= loop.end; })) return;
  known_.clear();
  for (const Statement& s : stage.statements) {
    const bool is_turn = s.kind == Statement::Kind::load && turns_[s.buffer] >= 0;
    if (is_turn) known_.emplace_back(s.result, turns_[s.buffer]);
  }
  // Through an index any element may be read or written, wherever the other subscripts allow. So what is gathered
  // must be there at the first point and after the last, and what is scattered to changes at every point. Where there
  // is one point, or where each point overwrites the very element that it has read, it is read before what stands
  // behind it is written.
  const bool one_point = std::ranges::all_of(loops, [](const Passed& loop) { return loop.begin + 1 == loop.end; });
  std::vector<int> of_all_points;
  for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
    const Statement& s = stage.statements[i];
    const bool gathers = s.kind == Statement::Kind::load && is_anywhere(s.map);
    if (gathers && !one_point && !is_overwritten(stage, i)) of_all_points.push_back(i);
  }
  const auto read_gathered = [&] {
    for (int i : of_all_points) gather(stage.statements[i], loops, point);
  };
  read_gathered();
  if (proof_.is_asked()) proof_.begin_stage(stage);
  bool is_first = true;
  for_each_point(loops, point, [&] {
    if (proof_.is_asked() && !proof_.pass_point(stage, point)) {
      wrong(str(where(), " takes an index for checked that nothing before it has checked"));
    }
    for (bool elided : {false, true}) {  // what is left out follows what makes it needless
      for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
        const Statement& s = stage.statements[i];
        if (s.elided != elided) continue;
        if (s.can_fail()) may_fail();
        if (elided) {
          take_over(stage, s, point);
        } else if (!is_anywhere(s.map)) {
          replay_statement(s, point);
        } else if (s.kind == Statement::Kind::load) {
          if (std::ranges::find(of_all_points, i) == of_all_points.end()) gather_here(s, point);
        } else if (s.is_write() && (is_first || !reaches_the_same(s))) {
          scatter(s, point);
        }
      }
    }
    is_first = false;
  });
  read_gathered();
  for (const Statement& s : stage.statements) {
    if (!one_point && s.is_write() && is_anywhere(s.map) && reaches_the_same(s)) scatter(s, point);
  }
}

/// Does a point write, behind this load, the place in an array of the same dims that it loads?
bool Replay::is_overwritten(const Stage& stage, int load) const {
  const Statement& loaded = stage.statements[load];
  const auto is_there = [](const Subscript& a, const Subscript& b) {
    const bool same_index = a.index.has_value() == b.index.has_value() &&
                            (!a.index || (a.index->index == b.index->index && a.index->step == b.index->step));
    return same_index && a.base == b.base && a.axes == b.axes;
  };
  return std::any_of(stage.statements.begin() + load, stage.statements.end(), [&](const Statement& s) {
    return s.is_write() && program_.buffers[s.buffer].dims == program_.buffers[loaded.buffer].dims &&
           std::ranges::equal(s.map.subscripts, loaded.map.subscripts, is_there);
  });
}

void Replay::replay_statement(const Statement& s, const std::vector<int64_t>& point) {
  if (!s.buffer.valid() || !is_ours(s.buffer)) return;
  const bool is_beyond = element(s, point) < 0;
  if (is_beyond && s.map.has_index()) return;  // of these sizes the run would have ended here, with an error
  if (s.kind == Statement::Kind::load || s.accumulates()) read(s.buffer, element(s, point));
  if (s.is_write()) write(s.buffer, element(s, point));
}

/// Reads what the points of a stage may read.
void Replay::gather(const Statement& s, const std::vector<Passed>& loops, std::vector<int64_t>& point) {
  if (!is_ours(s.buffer)) return;
  std::vector<bool> seen(static_cast<std::size_t>(count(s.buffer)), false);  // by where the indices are 0
  for_each_point(loops, point, [&] {
    const int64_t first = element(s, point);
    if (first >= 0 && first < count(s.buffer) && seen[static_cast<std::size_t>(first)]) return;
    for (int64_t e : reachable(s, point)) {
      if (goes_on()) read(s.buffer, e);
    }
    if (first >= 0 && first < count(s.buffer)) seen[static_cast<std::size_t>(first)] = true;
  });
}

void Replay::gather_here(const Statement& s, const std::vector<int64_t>& point) {
  if (!is_ours(s.buffer)) return;
  for (int64_t e : reachable(s, point)) {
    if (goes_on()) read(s.buffer, e);
  }
}

/// Every element there has new content afterwards.
void Replay::scatter(const Statement& s, const std::vector<int64_t>& point) {
  if (!is_ours(s.buffer)) return;
  for (int64_t e : reachable(s, point)) {
    if (!goes_on()) return;
    if (places_[root(s.buffer)].expected[static_cast<std::size_t>(e)] != 0) read(s.buffer, e);
    if (goes_on()) write(s.buffer, e);
  }
}

/// The elements that a point may reach: nobody knows which along the dims that go through an index. None where a
/// subscript leaves the buffer, which is the kernel verifier's business.
std::vector<int64_t> Replay::reachable(const Statement& s, const std::vector<int64_t>& point) {
  std::vector<int64_t> reached = {0};  // a dim at a time
  for (std::size_t d = 0; d < s.map.subscripts.size(); ++d) {
    const kernel::Subscript& subscript = s.map.subscripts[d];
    const int64_t size = value(program_.buffers[s.buffer].dims[d]);
    const int64_t extent = is_anywhere(subscript) ? value(subscript.index->extent) : 1;
    std::vector<int64_t> next;
    for (int64_t e : reached) {
      for (int64_t i = 0; i < extent && goes_on(); ++i) {
        --left_;
        const int64_t at = coordinate_of(s.buffer, subscript, point) + (extent == 1 ? 0 : i * subscript.index->step);
        if (at >= 0 && at < size) next.push_back(e * size + at);
      }
    }
    reached = std::move(next);
  }
  return reached;
}

/// From every point the same? Then the first point and the last show all that the points between would.
bool Replay::reaches_the_same(const Statement& s) {
  return std::ranges::all_of(s.map.subscripts, [](const kernel::Subscript& u) { return u.axes.empty(); });
}

/// A store that is left out: the register is an element of another buffer, which must lie in these very bytes.
void Replay::take_over(const Stage& stage, const Statement& store, const std::vector<int64_t>& point) {
  if (store.kind != Statement::Kind::store || store.combine != Combine::set) {
    return wrong(str(where(), ": what is no store that sets is left out"));
  }
  const int64_t to = element(store, point);
  for (const Statement& other : stage.statements) {
    const bool loads = other.kind == Statement::Kind::load && other.result == store.operands[0];
    const bool stores = &other != &store && other.kind == Statement::Kind::store && other.operands == store.operands;
    if ((!loads && !stores) || !is_ours(other.buffer) || is_anywhere(other.map)) continue;
    const int64_t from = element(other, point);
    if (!in_range(other.buffer, from) || !in_range(store.buffer, to)) return;
    const auto bytes = bytes_of(store.buffer, to);
    const Content held = places_[root(other.buffer)].expected[static_cast<std::size_t>(from)];
    // A load may have been overwritten since by a store of the same register: that one holds, not the load.
    if (bytes_of(other.buffer, from).data() != bytes.data() || bytes.front() != held) continue;
    places_[root(store.buffer)].expected[static_cast<std::size_t>(to)] = held;
    return;
  }
  wrong(str(where(), ": a store to ", name(store.buffer), " is left out, but its bytes are not there"));
}

/// The number that an index stands for where that is the turn of a loop.
std::optional<int64_t> Replay::known(const kernel::IndexTerm& index) const {
  for (const auto& [reg, number] : known_) {
    if (reg == index.index) return number;
  }
  return std::nullopt;
}

bool Replay::is_anywhere(const AccessMap& map) const {
  return std::ranges::any_of(map.subscripts, [&](const kernel::Subscript& u) { return is_anywhere(u); });
}

/// Where the indices that nobody knows are 0.
int64_t Replay::coordinate_of(BufferId buffer, const kernel::Subscript& subscript,
                              const std::vector<int64_t>& point) const {
  int64_t at = value(subscript.base);
  if (subscript.index) at += subscript.index->step * known(*subscript.index).value_or(0);
  for (const kernel::AxisTerm& term : subscript.axes) {
    const bool from_tile = kernel_->is_tiled() && term.axis == kernel_->tiled_axis() && kernel_->is_local(buffer);
    at += value(term.step) * (point[static_cast<std::size_t>(term.axis)] - (from_tile ? tile_.begin : 0));
  }
  return at;
}

int64_t Replay::element(const Statement& s, const std::vector<int64_t>& point) const {
  const std::vector<Dim>& dims = program_.buffers[s.buffer].dims;
  int64_t out = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Subscript& subscript = s.map.subscripts[d];
    const int64_t at = coordinate_of(s.buffer, subscript, point);
    if (at < 0 || at >= value(dims[d])) return -1;
    out = out * value(dims[d]) + at;
  }
  return out;
}

void Replay::check_outputs() {
  for (BufferId b : program_.outputs) {
    if (!goes_on()) return;
    step_ = StepId(program_.steps.size() - 1);
    if (is_ours(b)) read_all(b);
  }
}

}  // namespace inlay::memory::replay
