#include "memory/groups.h"

#include <algorithm>

#include "kernel/dim_proof.h"
#include "kernel/steps.h"

namespace inlay::memory {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Role;
using kernel::StepId;

namespace {

bool has_bytes_of_ours(const Buffer& buffer) {
  if (buffer.view_of.valid() || buffer.dtype == DType::opaque) return false;
  return buffer.role == Role::temporary || buffer.role == Role::output || buffer.donated;
}

}  // namespace

Groups::Groups(const KernelProgram& program, const Liveness& liveness, const IdMap<SymbolId, StepId>& known_from,
               const Commit& commit)
    : program_(program),
      liveness_(liveness),
      commit_(commit),
      known_from_(known_from),
      group_of_(program.buffers.size(), -1),
      offset_bytes_(program.buffers.size()),
      size_bytes_(program.buffers.size()),
      nominal_bytes_(program.buffers.size(), 0),
      load_bytes_(2 * program.steps.size() + 2, 0) {
  const std::vector<int64_t> symbols(program.symbols.size(), kNominalSize);
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    if (!has_bytes_of_ours(program.buffers[b])) continue;
    size_bytes_[b] = kernel::size_bytes(program.buffers[b]);
    nominal_bytes_[b] = std::max(size_bytes_[b].estimate(symbols), 0.0);
    group_of_[b] = static_cast<int>(groups_.size());
    groups_.push_back({b, {b}, liveness.lives[b]});
    add_load(groups_.back(), 1);
  }
  find_peak();
}

std::string Groups::join(BufferId child, BufferId parent, const Dim& offset_bytes, Relation relation, Room room) {
  std::string why_not = harmed(child, parent, offset_bytes, relation, room);
  if (!why_not.empty()) return why_not;
  Group &from = groups_[group_of_[child]], &to = groups_[group_of_[parent]];
  const Dim shift = offset_bytes_[parent] + offset_bytes;
  add_load(from, -1);
  add_load(to, -1);
  for (BufferId member : from.members) {
    offset_bytes_[member] = offset_bytes_[member] + shift;
    group_of_[member] = group_of_[parent];
    to.members.push_back(member);
  }
  to.live = {std::min(to.live.begin, from.live.begin), std::max(to.live.end, from.live.end)};
  add_load(to, 1);
  find_peak();
  from = {};
  return "";
}

std::string Groups::harmed(BufferId child, BufferId parent, const Dim& offset_bytes, Relation relation,
                           Room room) const {
  if (together(child, parent)) return "shares its bytes already";
  const Group &from = groups_[group_of_[child]], &to = groups_[group_of_[parent]];
  const auto name = [&](BufferId b) { return program_.buffers[b].name; };
  if (program_.buffers[from.container].role == Role::output) {
    return str(name(child), "'s bytes are those of ", name(from.container), ", which is returned");
  }
  // A larger member would exceed the child.
  if (!(size_bytes_[from.container] == size_bytes_[child]) || !offset_bytes_[child].is(0)) {
    return str(name(child), " lies in ", name(from.container));
  }
  const Dim shift = offset_bytes_[parent] + offset_bytes;
  if (std::string why_not = harms_caller(from, to, shift); !why_not.empty()) return why_not;
  const bool strict = relation == Relation::takes_over || is_started(parent);
  for (BufferId m : from.members) {
    const StepId born = liveness_.uses[m].writes.empty() ? StepId(0) : liveness_.uses[m].writes.front();
    if (!is_known_at(size_bytes_[to.container], born) || !is_known_at(shift, born)) {
      return str("the size of ", name(to.container), " is not known yet where ", name(m), " is made");
    }
    for (BufferId other : to.members) {
      if (m == child && other == parent) continue;
      // The parent's content in this region begins with the child's: nothing before it is needed.
      const bool before_child = other == parent && liveness_.lives[m].begin < liveness_.lives[child].begin;
      if (!strict && before_child) continue;
      if (meet(liveness_.lives[m], liveness_.lives[other]) &&
          may_meet(m, offset_bytes_[m] + shift, other, offset_bytes_[other]) && !only_begins(other, parent, m)) {
        return str(name(other), " lies there while ", name(m), " is needed");
      }
    }
  }
  if (room == Room::must_not_grow && raises_peak(group_of_[child], group_of_[parent])) {
    return str(name(to.container), " would be there longer and the whole larger");
  }
  return "";
}

/// Says how the join would harm the caller. A donated parameter lies where the caller put it, or where a result of the
/// same size goes: the caller then passes one address for both. It is written only when nothing can fail any more.
std::string Groups::harms_caller(const Group& from, const Group& to, const Dim& shift) const {
  const auto is_given = [&](BufferId b) { return program_.buffers[b].role == Role::param; };
  if (is_given(from.container)) {
    const bool takes_whole = program_.buffers[to.container].role == Role::output && shift.is(0) &&
                             size_bytes_[from.container] == size_bytes_[to.container];
    if (!takes_whole) return str(program_.buffers[from.container].name, " lies where the caller put it");
  }
  for (const Group* group : {&from, &to}) {
    const auto given = std::ranges::find_if(group->members, is_given);
    if (given == group->members.end()) continue;
    for (const Group* each : {&from, &to}) {
      for (BufferId member : each->members) {
        if (is_given(member)) continue;
        if (std::string why = commit_.why_not(member, *given); !why.empty()) {
          return str(program_.buffers[*given].name, " ", why);
        }
      }
    }
  }
  return "";
}

bool Groups::may_meet(BufferId a, const Dim& offset_a, BufferId b, const Dim& offset_b) const {
  if (offset_a == offset_b) return !size_bytes_[a].is(0) && !size_bytes_[b].is(0);
  return !kernel::always_apart(offset_a, offset_a + size_bytes_[a], offset_b, offset_b + size_bytes_[b]);
}

bool Groups::is_started(BufferId buffer) const {
  return std::ranges::any_of(liveness_.uses[buffer].writes, [&](StepId step) {
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
    return kernel && start_of(program_, *kernel, buffer);
  });
}

/// Is the other not needed any more but as what the parent begins with, where a stage of the same kernel makes the
/// child? What the parent has at the child's place is then written over anyway.
bool Groups::only_begins(BufferId other, BufferId parent, BufferId child) const {
  const Uses& uses = liveness_.uses[other];
  if (uses.reads.empty() || liveness_.uses[child].writes.empty()) return false;
  const StepId step = uses.reads.back();
  const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
  if (!kernel || liveness_.uses[child].writes.front() != step || start_of(program_, *kernel, child)) return false;
  if (liveness_.lives[other].end > end_tick(step)) return false;
  const auto names_it = [&](BufferId b) { return kernel::root_of(program_, b) == other; };
  if (any_statement(*kernel, [&](const kernel::Statement& s) { return s.has_place() && names_it(s.buffer); }))
    return false;
  return std::ranges::all_of(kernel->outputs, [&](const kernel::KernelOutput& output) {
    const bool is_read = output.start.kind == kernel::Start::Kind::copy && names_it(output.start.source);
    return !is_read || (output.start.elided && kernel::root_of(program_, output.buffer) == parent);
  });
}

bool Groups::is_known_at(const Dim& size, StepId step) const {
  return std::ranges::all_of(size.symbols(), [&](SymbolId symbol) { return known_from_[symbol] <= step; });
}

bool Groups::in_arena(const Group& group) const { return program_.buffers[group.container].role == Role::temporary; }

void Groups::add_load(const Group& group, double sign) {
  if (!in_arena(group)) return;
  for (int32_t tick = group.live.begin; tick < group.live.end; ++tick) {
    load_bytes_[tick] += sign * nominal_bytes_[group.container];
  }
}

/// Finds the tick of the maximum load, which no join raises as long as that tick keeps its load.
void Groups::find_peak() {
  if (load_bytes_[peak_tick_] >= peak_bytes_ && peak_bytes_ > 0) return;
  peak_tick_ = static_cast<std::size_t>(std::ranges::max_element(load_bytes_) - load_bytes_.begin());
  peak_bytes_ = load_bytes_[peak_tick_];
}

/// Would the arena's minimum size grow? A small value that is made long before a large one would keep all of it live.
bool Groups::raises_peak(int child, int parent) const {
  const Group &from = groups_[child], &to = groups_[parent];
  if (!in_arena(to)) return false;
  const auto lives_at = [](const Group& group, int32_t tick) {
    return group.live.begin <= tick && tick < group.live.end;
  };
  for (int32_t tick = std::min(from.live.begin, to.live.begin); tick < std::max(from.live.end, to.live.end); ++tick) {
    double load = load_bytes_[tick];
    if (lives_at(from, tick) && in_arena(from)) load -= nominal_bytes_[from.container];
    if (!lives_at(to, tick)) load += nominal_bytes_[to.container];
    if (load > peak_bytes_) return true;
  }
  return false;
}

void Groups::place(Sharing& sharing) const {
  std::vector<StorageId> storage_of(groups_.size());
  for (BufferId b : ids<BufferId>(program_.buffers.size())) {
    if (!has_bytes(b)) continue;
    const Group& group = groups_[group_of_[b]];
    StorageId& storage = storage_of[group_of_[b]];
    if (!storage.valid()) {
      const Buffer& container = program_.buffers[group.container];
      storage = sharing.storages.push_back({.name = container.name,
                                            .owner = container.role == Role::output  ? Owner::output
                                                     : container.role == Role::param ? Owner::param
                                                                                     : Owner::arena,
                                            .slot = in_arena(group) ? -1 : container.slot,
                                            .segment = segment_of(sharing, size_bytes_[group.container]),
                                            .live = group.live,
                                            .size_bytes = size_bytes_[group.container]});
    }
    sharing.placements[b] = {storage, offset_bytes_[b], Reason::own, {}};
  }
}

}  // namespace inlay::memory
