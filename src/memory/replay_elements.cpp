#include <algorithm>

#include "memory/replay.h"

namespace inlay::memory::replay {

namespace {

constexpr std::size_t kMostMessages = 10;

}  // namespace

/// Reports an error, except after the budget is spent: a partial replay has not written everything.
void Progress::wrong(std::string message) {
  if (left_ > 0 && out_.size() < kMostMessages) out_.push_back({ErrorCode::internal, {}, std::move(message), {}, {}});
}

bool Progress::has_room(int64_t bytes) {
  bytes_left_ -= bytes;
  if (bytes_left_ < 0) left_ = 0;
  return goes_on();
}

std::string Progress::where() const {
  if (!step_.valid()) return "before the first step";
  const auto* kernel = std::get_if<kernel::Kernel>(&program_.steps[step_.index]);
  return kernel && !kernel->name.empty() ? str("@", kernel->name) : str("step ", step_.index);
}

void Elements::place(const Sharing& sharing, std::span<const Layout> layouts) {
  for (const Layout& layout : layouts) {
    if (!progress_.has_room(layout.arena_bytes)) return;
    blocks_.push_back({"the arena", std::vector<Content>(static_cast<std::size_t>(layout.arena_bytes), 0)});
  }
  IdMap<StorageId, int> block_of(sharing.storages.size(), -1);
  for (StorageId s : ids<StorageId>(sharing.storages.size())) {
    const SharedStorage& storage = sharing.storages[s];
    block_of[s] = storage.segment;
    if (storage.owner == Owner::arena) continue;
    block_of[s] = static_cast<int>(blocks_.size());
    const auto size = static_cast<std::size_t>(std::max<int64_t>(value(storage.size_bytes), 0));
    if (!progress_.has_room(static_cast<int64_t>(size))) return;
    const char* whose = storage.owner == Owner::output ? "output " : "parameter ";
    blocks_.push_back({str(whose, storage.slot), std::vector<Content>(size, 0)});
  }
  for (BufferId b : ids<BufferId>(program_.buffers.size())) place(b, sharing, layouts, block_of);
  for (BufferId b : program_.params) {
    if (!is_ours(b)) continue;
    write_all(b);
    blocks_[places_[b].block].is_given = true;
  }
}

void Elements::place(BufferId b, const Sharing& sharing, std::span<const Layout> layouts,
                     const IdMap<StorageId, int>& block_of) {
  const kernel::Buffer& buffer = program_.buffers[b];
  const Placement& placement = sharing.placements[b];
  const bool has_role = buffer.role == kernel::Role::temporary || buffer.role == kernel::Role::output || buffer.donated;
  const bool needs_bytes = has_role && buffer.dtype != DType::opaque && kernel::root_of(program_, b) == b;
  if (!needs_bytes) return;
  if (!placement.storage.valid()) return progress_.wrong(str(buffer.name, " has no storage"));
  const SharedStorage& storage = sharing.storages[placement.storage];
  Place& out = places_[b];
  out.block = block_of[placement.storage];
  if (storage.owner == Owner::arena) {
    out.storage_begin = layouts[storage.segment].offset_bytes[placement.storage.index];
  }
  out.storage_end = out.storage_begin + std::max<int64_t>(value(storage.size_bytes), 0);
  out.begin = out.storage_begin + value(placement.offset_bytes);
  out.element_bytes = size_bytes(buffer.dtype);
  out.expected.assign(static_cast<std::size_t>(count(b)), 0);
  if (buffer.role != kernel::Role::output) return;
  if (storage.owner != Owner::output || storage.slot != buffer.slot || out.begin != 0) {
    progress_.wrong(str("output ", buffer.slot, " does not lie in its own bytes"));
  }
}

/// Every access needs it, so it is computed once.
int64_t Elements::count(BufferId b) {
  if (counts_[b] < 0) counts_[b] = std::max<int64_t>(value(num_elements(program_.buffers[b])), 0);
  return counts_[b];
}

bool Elements::begin_together(BufferId a, BufferId b) const {
  const Place &first = place_of(a), &second = place_of(b);
  return first.block == second.block && first.begin == second.begin;
}

std::span<Content> Elements::bytes_of(BufferId b, int64_t element) {
  const Place& place = place_of(b);
  return std::span(blocks_[place.block].bytes)
      .subspan(static_cast<std::size_t>(place.begin + element * place.element_bytes),
               static_cast<std::size_t>(place.element_bytes));
}

bool Elements::in_range(BufferId b, int64_t element) {
  progress_.pass();
  const Place& place = place_of(b);
  const Block& block = blocks_[place.block];
  const int64_t begin = place.begin + element * place.element_bytes, end = begin + place.element_bytes;
  if (element < 0 || element >= static_cast<int64_t>(place.expected.size())) {
    progress_.wrong_here(": element ", element, " of ", name(b), " does not exist");
  } else if (begin < 0 || end > static_cast<int64_t>(block.bytes.size())) {
    progress_.wrong_here(": element ", element, " of ", name(b), " at ", begin, " lies outside of ", block.name, " of ",
                         block.bytes.size(), " bytes");
  } else if (begin < place.storage_begin || end > place.storage_end) {
    progress_.wrong_here(": element ", element, " of ", name(b), " at ", begin, " lies outside of its storage [",
                         place.storage_begin, ", ", place.storage_end, ")");
  } else {
    return true;
  }
  return false;
}

void Elements::read(BufferId b, int64_t element) {
  if (!is_ours(b) || !in_range(b, element)) return;
  const Content written = expected(b, element);
  if (written == 0) return progress_.wrong_here(" reads element ", element, " of ", name(b), " before it is written");
  for (Content found : bytes_of(b, element)) {
    if (found == written) continue;
    return progress_.wrong_here(" reads element ", element, " of ", name(b), ", whose bytes hold something else");
  }
}

void Elements::write(BufferId b, int64_t element, Content content) {
  if (!is_ours(b) || !in_range(b, element)) return;
  std::ranges::fill(bytes_of(b, element), content);
  changed_given_ |= blocks_[place_of(b).block].is_given;
  expected(b, element) = content;
}

void Elements::read_all(BufferId b) {
  for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && progress_.goes_on(); ++e) read(b, e);
}

void Elements::write_all(BufferId b) {
  for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && progress_.goes_on(); ++e) write(b, e);
}

/// Copies all of `from` to all of `to`. If elided, no byte moves, and the bytes are those of `from` already.
void Elements::copy_all(BufferId from, BufferId to, bool elided) {
  if (!is_ours(to)) return;
  if (elided && !is_ours(from)) return progress_.wrong_here(": the copy of ", name(from), " cannot be left out");
  const int64_t num_elements = count(to);
  std::vector<Content> contents(static_cast<std::size_t>(num_elements));
  for (int64_t e = 0; e < num_elements; ++e) {
    if (is_ours(from)) read(from, e);
    if (!progress_.goes_on()) return;
    contents[static_cast<std::size_t>(e)] = is_ours(from) ? expected(from, e) : ++last_content_;
  }
  for (int64_t e = 0; e < num_elements && progress_.goes_on(); ++e) {
    const Content content = contents[static_cast<std::size_t>(e)];
    if (!elided) {
      write(to, e, content);
    } else if (!in_range(to, e)) {
      return;
    } else if (std::ranges::any_of(bytes_of(to, e), [&](Content found) { return found != content; })) {
      return progress_.wrong_here(": the copy of ", name(from), " to ", name(to),
                                  " is left out, but its bytes are not there");
    } else {
      expected(to, e) = content;
    }
  }
}

bool Elements::take_over(BufferId from, int64_t from_element, BufferId to, int64_t to_element) {
  const auto bytes = bytes_of(to, to_element);
  const Content held = expected(from, from_element);
  // A store of the same register may have overwritten the element since it was loaded: then that store counts.
  if (bytes_of(from, from_element).data() != bytes.data() || bytes.front() != held) return false;
  expected(to, to_element) = held;
  return true;
}

void Elements::may_fail() {
  if (changed_given_) progress_.wrong_here(" can fail, and bytes of the caller are overwritten by then");
}

}  // namespace inlay::memory::replay
