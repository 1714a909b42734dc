#include <algorithm>

#include "memory/replay.h"

namespace inlay::memory::replay {

std::span<Content> Replay::bytes_of(BufferId b, int64_t element) {
  const Place& place = places_[root(b)];
  return std::span(blocks_[place.block].bytes)
      .subspan(static_cast<std::size_t>(place.begin + element * place.element_bytes),
               static_cast<std::size_t>(place.element_bytes));
}

bool Replay::in_range(BufferId b, int64_t element) {
  --left_;
  const Place& place = places_[root(b)];
  const Block& block = blocks_[place.block];
  const int64_t begin = place.begin + element * place.element_bytes, end = begin + place.element_bytes;
  if (element < 0 || element >= static_cast<int64_t>(place.expected.size())) {
    wrong(str(where(), ": element ", element, " of ", name(b), " does not exist"));
  } else if (begin < 0 || end > static_cast<int64_t>(block.bytes.size())) {
    wrong(str(where(), ": element ", element, " of ", name(b), " at ", begin, " lies outside of ", block.name, " of ",
              block.bytes.size(), " bytes"));
  } else if (begin < place.storage_begin || end > place.storage_end) {
    wrong(str(where(), ": element ", element, " of ", name(b), " at ", begin, " lies outside of its storage [",
              place.storage_begin, ", ", place.storage_end, ")"));
  } else {
    return true;
  }
  return false;
}

std::string Replay::where() const {
  const auto* kernel = std::get_if<Kernel>(&program_.steps[step_.index]);
  return kernel && !kernel->name.empty() ? str("@", kernel->name) : str("step ", step_.index);
}

void Replay::read(BufferId b, int64_t element) {
  if (!is_ours(b) || !in_range(b, element)) return;
  const Content expected = places_[root(b)].expected[static_cast<std::size_t>(element)];
  if (expected == 0) return wrong(str(where(), " reads element ", element, " of ", name(b), " before it is written"));
  for (Content found : bytes_of(b, element)) {
    if (found == expected) continue;
    return wrong(str(where(), " reads element ", element, " of ", name(b), ", whose bytes hold something else"));
  }
}

void Replay::write(BufferId b, int64_t element, Content content) {
  if (!is_ours(b) || !in_range(b, element)) return;
  std::ranges::fill(bytes_of(b, element), content);
  changed_given_ |= blocks_[places_[root(b)].block].is_given;
  places_[root(b)].expected[static_cast<std::size_t>(element)] = content;
}

void Replay::read_all(BufferId b) {
  for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && goes_on(); ++e) read(b, e);
}

void Replay::write_all(BufferId b) {
  for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && goes_on(); ++e) write(b, e);
}

/// All of `from` into all of `to`. Elided: no byte moves, and the bytes are those of `from` already.
void Replay::copy_all(BufferId from, BufferId to, bool elided) {
  if (!is_ours(to)) return;
  if (elided && !is_ours(from)) return wrong(str(where(), ": the copy of ", name(from), " cannot be left out"));
  const int64_t num_elements = count(to);
  std::vector<Content> contents(static_cast<std::size_t>(num_elements));
  for (int64_t e = 0; e < num_elements; ++e) {
    if (is_ours(from)) read(from, e);
    if (!goes_on()) return;
    contents[static_cast<std::size_t>(e)] =
        is_ours(from) ? places_[root(from)].expected[static_cast<std::size_t>(e)] : ++last_content_;
  }
  for (int64_t e = 0; e < num_elements && goes_on(); ++e) {
    const Content content = contents[static_cast<std::size_t>(e)];
    if (!elided) {
      write(to, e, content);
    } else if (!in_range(to, e)) {
      return;
    } else if (std::ranges::any_of(bytes_of(to, e), [&](Content found) { return found != content; })) {
      return wrong(
          str(where(), ": the copy of ", name(from), " to ", name(to), " is left out, but its bytes are not there"));
    } else {
      places_[root(to)].expected[static_cast<std::size_t>(e)] = content;
    }
  }
}

}  // namespace inlay::memory::replay
