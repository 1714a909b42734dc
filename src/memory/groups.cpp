#include "memory/groups.h"

#include <algorithm>
#include <iterator>
#include <numeric>

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

/// From the beginning of the first to the end of the last.
Lifetime hull(const Lifetime& a, const Lifetime& b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

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
      nominal_bytes_(program.buffers.size(), 0) {
  const std::vector<int64_t> symbols(program.symbols.size(), kNominalSize);
  std::vector<double> bytes(2 * program.steps.size() + 2, 0);  // of the arena by tick: first what comes and goes there
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    if (!has_bytes_of_ours(program.buffers[b])) continue;
    size_bytes_[b] = kernel::size_bytes(program.buffers[b]);
    nominal_bytes_[b] = std::max(size_bytes_[b].estimate(symbols), 0.0);
    group_of_[b] = static_cast<int>(groups_.size());
    const Lifetime& live = liveness.lives[b];
    const bool is_given = program.buffers[b].role == Role::param;
    groups_.push_back({b, {{b, live.end}}, live, is_given ? b : BufferId()});
    bytes[static_cast<std::size_t>(live.begin)] += bytes_in_arena(groups_.back());
    bytes[static_cast<std::size_t>(live.end)] -= bytes_in_arena(groups_.back());
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  load_ = Load(bytes);
}

std::string Groups::join(BufferId child, BufferId parent, const Dim& offset_bytes, Relation relation, Room room) {
  std::string why_not = harmed(child, parent, offset_bytes, relation);
  if (!why_not.empty()) return why_not;
  Group &from = groups_[group_of_[child]], &to = groups_[group_of_[parent]];
  // A small value that is made long before a large one would keep all of it live.
  const double peak_bytes = load_.max();
  add_load(from, to, 1);
  if (room == Room::must_not_grow && load_.max() > peak_bytes) {
    add_load(from, to, -1);
    return str(program_.buffers[to.container].name, " would be there longer and the whole larger");
  }
  const Dim shift = offset_bytes_[parent] + offset_bytes;
  for (const Member& member : from.members) {
    offset_bytes_[member.buffer] = offset_bytes_[member.buffer] + shift;
    group_of_[member.buffer] = group_of_[parent];
    add_member(to, member.buffer);
  }
  to.live = hull(from.live, to.live);
  if (!to.given.valid()) to.given = from.given;
  from = {};
  return "";
}

/// Adds what the join of the two changes of the load, or with the sign -1 takes it away again: where both live, the
/// bytes of one are there no more; where only the child does or neither, between them, those of the parent are.
void Groups::add_load(const Group& from, const Group& to, double sign) {
  const double child = sign * bytes_in_arena(from), parent = sign * bytes_in_arena(to);
  const int32_t later = std::max(from.live.begin, to.live.begin), sooner = std::min(from.live.end, to.live.end);
  load_.add({later, sooner}, -child);
  load_.add({sooner, later}, parent);
  load_.add({from.live.begin, std::min(from.live.end, to.live.begin)}, parent - child);
  load_.add({std::max(from.live.begin, to.live.end), from.live.end}, parent - child);
}

void Groups::add_member(Group& group, BufferId b) const {
  std::vector<Member>& members = group.members;
  const auto begin_of = [&](const Member& m) { return liveness_.lives[m.buffer].begin; };
  auto m = members.insert(std::ranges::upper_bound(members, liveness_.lives[b].begin, {}, begin_of), {b, 0});
  for (; m != members.end(); ++m) {
    const int32_t end = liveness_.lives[m->buffer].end;
    m->latest_end = m == members.begin() ? end : std::max(end, std::prev(m)->latest_end);
  }
}

/// Finds a member that lives while something else does and is asked for. Looks at none that ended before: a value that
/// goes through a thousand loops lies in one place in all of them.
template <class IsAskedFor>
BufferId Groups::find_meeting(const Group& group, const Lifetime& life, IsAskedFor is_asked_for) const {
  const auto begin_of = [&](const Member& m) { return liveness_.lives[m.buffer].begin; };
  auto m = std::ranges::lower_bound(group.members, life.end, {}, begin_of);
  while (m != group.members.begin() && (--m)->latest_end > life.begin) {
    if (meet(liveness_.lives[m->buffer], life) && is_asked_for(m->buffer)) return m->buffer;
  }
  return {};
}

std::string Groups::harmed(BufferId child, BufferId parent, const Dim& offset_bytes, Relation relation) const {
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
  for (const Member& member : from.members) {
    const BufferId m = member.buffer;
    const StepId born = liveness_.uses[m].writes.empty() ? StepId(0) : liveness_.uses[m].writes.front();
    if (!is_known_at(size_bytes_[to.container], born) || !is_known_at(shift, born)) {
      return str("the size of ", name(to.container), " is not known yet where ", name(m), " is made");
    }
    const BufferId needed = find_meeting(to, liveness_.lives[m], [&](BufferId other) {
      if (m == child && other == parent) return false;
      // The parent's content in this region begins with the child's: nothing before it is needed.
      const bool before_child = other == parent && liveness_.lives[m].begin < liveness_.lives[child].begin;
      if (!strict && before_child) return false;
      return may_meet(m, offset_bytes_[m] + shift, other, offset_bytes_[other]) && !only_begins(other, parent, m);
    });
    if (needed.valid()) return str(name(needed), " lies there while ", name(m), " is needed");
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
  // The members of a group have been asked about what is given in it.
  for (const auto& [given, joined] : {std::pair(from.given, &to), std::pair(to.given, &from)}) {
    if (!given.valid()) continue;
    for (const Member& member : joined->members) {
      if (is_given(member.buffer)) continue;
      if (std::string why = commit_.why_not(member.buffer, given); !why.empty()) {
        return str(program_.buffers[given].name, " ", why);
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

double Groups::bytes_in_arena(const Group& group) const {
  return in_arena(group) ? nominal_bytes_[group.container] : 0;
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
