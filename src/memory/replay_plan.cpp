#include <algorithm>

#include "memory/replay.h"

namespace inlay::memory::replay {

void Replay::check_layouts() {
  if (layouts_.size() != sharing_.segment_starts.size()) {
    return wrong(str(layouts_.size(), " layouts for ", sharing_.segment_starts.size(), " segments"));
  }
  for (int segment = 0; segment < sharing_.num_segments(); ++segment) {
    const std::vector<Storage> storages = storages_of_segment(sharing_, segment, symbols_);
    for (Diagnostic& d : memory::verify(layouts_[segment], storages)) wrong(str("segment ", segment, ": ", d.message));
  }
}

/// A storage must live wherever one of its buffers is touched.
void Replay::check_lives() {
  const Liveness& lives = liveness_;
  for (BufferId b : ids<BufferId>(program_.buffers.size())) {
    const Placement& placement = sharing_.placements[b];
    if (!placement.storage.valid() || root(b) != b || lives.uses[b].writes.empty()) continue;
    const SharedStorage& storage = sharing_.storages[placement.storage];
    const Lifetime& need = lives.lives[b];
    if (storage.live.begin > need.begin || storage.live.end < need.end) {
      wrong(str(name(b), " is needed in [", need.begin, ", ", need.end, "), but its storage ", storage.name,
                " lives in [", storage.live.begin, ", ", storage.live.end, ")"));
    }
  }
}

void Replay::place_buffers() {
  for (const Layout& layout : layouts_) {
    if (!has_room(layout.arena_bytes)) return;
    blocks_.push_back({"the arena", std::vector<Content>(static_cast<std::size_t>(layout.arena_bytes), 0)});
  }
  IdMap<StorageId, int> block_of(sharing_.storages.size(), -1);
  for (StorageId s : ids<StorageId>(sharing_.storages.size())) {
    const SharedStorage& storage = sharing_.storages[s];
    block_of[s] = storage.segment;
    if (storage.owner == Owner::arena) continue;
    block_of[s] = static_cast<int>(blocks_.size());
    const auto size = static_cast<std::size_t>(std::max<int64_t>(value(storage.size_bytes), 0));
    if (!has_room(static_cast<int64_t>(size))) return;
    const char* whose = storage.owner == Owner::output ? "output " : "parameter ";
    blocks_.push_back({str(whose, storage.slot), std::vector<Content>(size, 0)});
  }
  for (BufferId b : ids<BufferId>(program_.buffers.size())) place(b, block_of);
  for (BufferId b : program_.params) {
    if (!is_ours(b)) continue;
    write_all(b);
    blocks_[places_[b].block].is_given = true;
  }
}

/// Else nothing is replayed.
bool Replay::has_room(int64_t bytes) {
  bytes_left_ -= bytes;
  if (bytes_left_ < 0) left_ = 0;
  return goes_on();
}

/// The call could end with an error here: what the caller gave must be as it was.
void Replay::may_fail() {
  if (changed_given_) wrong(str(where(), " can fail, and bytes of the caller are overwritten by then"));
}

void Replay::place(BufferId b, const IdMap<StorageId, int>& block_of) {
  const Buffer& buffer = program_.buffers[b];
  const Placement& placement = sharing_.placements[b];
  const bool has_role = buffer.role == Role::temporary || buffer.role == Role::output || buffer.donated;
  const bool needs_bytes = has_role && buffer.dtype != DType::opaque && root(b) == b;
  if (!needs_bytes) return;
  if (!placement.storage.valid()) return wrong(str(buffer.name, " has no storage"));
  const SharedStorage& storage = sharing_.storages[placement.storage];
  Place& out = places_[b];
  out.block = block_of[placement.storage];
  if (storage.owner == Owner::arena)
    out.storage_begin = layouts_[storage.segment].offset_bytes[placement.storage.index];
  out.storage_end = out.storage_begin + std::max<int64_t>(value(storage.size_bytes), 0);
  out.begin = out.storage_begin + value(placement.offset_bytes);
  out.element_bytes = size_bytes(buffer.dtype);
  out.expected.assign(static_cast<std::size_t>(count(b)), 0);
  if (buffer.role != Role::output) return;
  if (storage.owner != Owner::output || storage.slot != buffer.slot || out.begin != 0) {
    wrong(str("output ", buffer.slot, " does not lie in its own bytes"));
  }
}

}  // namespace inlay::memory::replay
