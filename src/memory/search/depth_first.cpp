#include "memory/search/depth_first.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

namespace inlay::memory::search {
namespace {

constexpr int32_t kMany = 512;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

std::size_t index(int32_t i) { return static_cast<std::size_t>(i); }

/// The bits [begin, end) that lie in this word.
uint64_t mask(std::size_t word, std::size_t begin, std::size_t end) {
  const std::size_t low = word * 64;
  if (end <= low || begin >= low + 64) return 0;
  uint64_t out = ~uint64_t{0};
  if (begin > low) out &= ~uint64_t{0} << (begin - low);
  if (end < low + 64) out &= (uint64_t{1} << (end - low)) - 1;
  return out;
}

}  // namespace

DepthFirst::DepthFirst(const Problem& problem, const Order& order, int64_t capacity_bytes)
    : problem_(problem), order_(order), highest_(problem.highest_offsets(capacity_bytes)) {
  const std::size_t num_items = problem.items.size();
  floor_.assign(num_items, 0);
  bound_.assign(num_items, 0);
  position_.assign(num_items, 0);
  remaining_.assign((num_items + 63) / 64, 0);
  for (std::size_t i = 0; i < num_items; ++i) remaining_[i >> 6] |= uint64_t{1} << (i & 63);
  num_words_ = remaining_.size();
  find_members();
  find_section_room();
  find_twins();

  const bool fits = capacity_bytes >= problem.minimum_bytes &&
                    std::ranges::none_of(highest_, [](int64_t offset) { return offset < 0; }) && lift_to_pins() &&
                    have_room(0, problem.num_sections);
  if (!fits) {
    state_ = State::ended;
    outcome_ = Outcome::impossible;
    return;
  }
  std::vector<Ranked> all;
  for (std::size_t i = 0; i < num_items; ++i) all.push_back({static_cast<int32_t>(i), 0});
  add_part(all, INT32_MAX, kNone);
  agenda_ = 0;
}

void DepthFirst::find_members() {
  const auto num_sections = index(problem_.num_sections);
  members_.assign(num_sections * num_words_, 0);
  load_.assign(num_sections, 0);
  crossing_.assign(num_sections + 1, 0);
  witness_.assign(num_sections, 0);
  first_item_.assign(num_sections + 1, static_cast<int32_t>(problem_.items.size()));
  first_word_.assign(num_sections, 0);
  component_.assign(num_sections, 0);
  for (std::size_t i = problem_.items.size(); i-- > 0;) {
    const Item& item = problem_.items[i];
    first_item_[index(item.first)] = static_cast<int32_t>(i);
    for (std::size_t s = index(item.first); s < index(item.last); ++s) {
      members_[s * num_words_ + (i >> 6)] |= uint64_t{1} << (i & 63);
      load_[s] += item.size;
      witness_[s] = static_cast<int32_t>(i);
      first_word_[s] = static_cast<int32_t>(i >> 6);
      if (s > index(item.first)) ++crossing_[s];
    }
  }
  for (std::size_t s = num_sections; s-- > 0;) first_item_[s] = std::min(first_item_[s], first_item_[s + 1]);
}

/// Sizes are rounded up to units. What ends above all others may leave the rest of its last unit out, so a section's
/// capacity in units depends on what lives in it.
void DepthFirst::find_section_room() {
  room_.assign(index(problem_.num_sections), 0);
  for (std::size_t i = 0; i < problem_.items.size(); ++i) {
    const Item& item = problem_.items[i];
    for (std::size_t s = index(item.first); s < index(item.last); ++s)
      room_[s] = std::max(room_[s], highest_[i] + item.size);
  }
}

/// Equal items stand next to each other.
void DepthFirst::find_twins() {
  twins_.resize(problem_.items.size());
  next_twin_.resize(problem_.items.size());
  const auto is_like = [](const Item& a, const Item& b) {
    return a.first == b.first && a.last == b.last && a.size_bytes == b.size_bytes && a.alignment == b.alignment;
  };
  for (std::size_t i = 0, begin = 0; i < problem_.items.size(); ++i) {
    const bool ends = i + 1 == problem_.items.size() || !is_like(problem_.items[i], problem_.items[i + 1]);
    twins_[i] = static_cast<int32_t>(begin);
    next_twin_[i] = static_cast<int32_t>(ends ? begin : i + 1);
    if (ends) begin = i + 1;
  }
}

bool DepthFirst::lift_to_pins() {
  if (problem_.pins.empty()) return true;
  pins_of_.resize(problem_.items.size());
  pins_in_.resize(index(problem_.num_sections));
  for (std::size_t p = 0; p < problem_.pins.size(); ++p) {
    const Pin& pin = problem_.pins[p];
    for (int32_t s = pin.first; s < pin.last; ++s) {
      pins_in_[index(s)].push_back(static_cast<int32_t>(p));
      room_[index(s)] = std::max(room_[index(s)], pin.end);  // its last unit may reach beyond the capacity too
    }
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (at(static_cast<int32_t>(i)).first < pin.last && at(static_cast<int32_t>(i)).last > pin.first)
        pins_of_[i].push_back(static_cast<int32_t>(p));
    }
  }
  for (std::size_t i = 0; i < problem_.items.size(); ++i) {
    floor_[i] = bound_[i] = above_pins(static_cast<int32_t>(i), 0);
    if (floor_[i] > highest_[i]) return false;
  }
  return true;
}

Outcome DepthFirst::advance(int64_t placements) {
  const int64_t limit = placements_ + placements;
  while (state_ != State::ended) {
    if (state_ == State::open && !open_node()) {
      state_ = State::ended;
      outcome_ = Outcome::found;
      break;
    }
    if (placements_ >= limit) return Outcome::unfinished;
    Node& node = nodes_.back();
    node.chosen = choose(parts_[index(node.part)]);
    if (node.chosen != kNone && place(node)) {
      state_ = State::open;
    } else if (!backtrack()) {
      state_ = State::ended;
      outcome_ = Outcome::impossible;
    }
  }
  return outcome_;
}

/// The next choice to be made; false where nothing remains.
bool DepthFirst::open_node() {
  while (agenda_ != kNone && parts_[index(agenda_)].count == 0) agenda_ = parts_[index(agenda_)].next;
  if (agenda_ == kNone) return false;
  nodes_.push_back({.part = agenda_, .decided_by = parts_[index(agenda_)].decided_by, .bans_from = trail_.size()});
  state_ = State::choose;
  return true;
}

/// The choice of the last node has failed, or it has none left. Ends at a node that may choose anew; false: there is
/// none.
bool DepthFirst::backtrack() {
  while (true) {
    Node& node = nodes_.back();
    if (node.chosen != kNone) {
      undo_choice(node);
      if (ban(node.chosen)) {
        state_ = State::choose;
        return true;
      }
    }
    const int32_t decided_by = node.decided_by;
    undo_to(node.bans_from);
    if (decided_by == kNone) return false;
    // Nodes in between have solved other parts, which this one does not depend on.
    while (static_cast<int32_t>(nodes_.size()) - 1 > decided_by) {
      nodes_.pop_back();
      if (static_cast<int32_t>(nodes_.size()) - 1 > decided_by) {
        undo_choice(nodes_.back());
        undo_to(nodes_.back().bans_from);
      }
    }
  }
}

/// The item with the lowest floor that is not banned from it.
int32_t DepthFirst::choose(const Part& part) {
  int64_t ceiling = kNever, lowest = kNever;
  Ranked best{kNone, 0};
  bool some_below = false;
  const std::span<const Ranked> entries(pool_.data() + part.begin, index(part.count));
  for (const Ranked& entry : entries) {
    const int64_t floor = floor_[index(entry.item)];
    ceiling = std::min(ceiling, floor + at(entry.item).size);
    if (bound_[index(entry.item)] > floor) {
      some_below = some_below || bound_[index(entry.item)] < lowest;
    } else if (floor < lowest || (floor == lowest && entry.rank < best.rank)) {
      lowest = floor;
      best = entry;
    }
  }
  if (best.item == kNone || lowest >= ceiling) return kNone;
  if (!some_below) return best.item;
  // What is banned rests on something that comes later, and all that comes later lies at `lowest` or above.
  int32_t first = part.last, last = part.first;
  for (const Ranked& entry : entries) {
    if (bound_[index(entry.item)] >= lowest) continue;
    if (!lift(entry.item, floor_[index(entry.item)], above_pins(entry.item, lowest + 1))) return kNone;
    first = std::min(first, at(entry.item).first);
    last = std::max(last, at(entry.item).last);
  }
  return have_room(first, last) ? best.item : kNone;
}

/// Places node.chosen at its floor; false where that leaves no solution. Undone by undo_choice, whatever it returned.
bool DepthFirst::place(Node& node) {
  ++placements_;
  node.choice_from = trail_.size();
  node.num_parts = parts_.size();
  node.pool_size = pool_.size();
  const auto node_index = static_cast<int32_t>(nodes_.size()) - 1;
  Part& part = parts_[index(node.part)];
  const int32_t chosen = node.chosen;
  const Item& item = at(chosen);

  const int32_t end = part.begin + --part.count;
  const int32_t other = pool_[index(end)].item;
  std::swap(pool_[index(position_[index(chosen)])], pool_[index(end)]);
  std::swap(position_[index(chosen)], position_[index(other)]);
  part.decided_by = node_index;
  remaining_[word(chosen)] &= ~(uint64_t{1} << (chosen & 63));
  bool is_cut = false;
  for (int32_t s = item.first; s < item.last; ++s) {
    load_[index(s)] -= item.size;
    if (s > item.first) is_cut |= --crossing_[index(s)] == 0;
  }

  const int64_t top = floor_[index(chosen)] + item.size;
  int32_t first = item.first, last = item.last;
  bool fits = true;
  for_neighbours(chosen, [&](int32_t i) {
    if (floor_[index(i)] >= top) return;
    const int64_t floor = above_pins(i, top);
    fits = lift(i, floor, std::max(bound_[index(i)], floor)) && fits;
    first = std::min(first, at(i).first);
    last = std::max(last, at(i).last);
  });
  if (!fits || !have_room(first, last)) return false;
  if (is_cut) split(node_index);
  return true;
}

void DepthFirst::undo_choice(Node& node) {
  undo_to(node.choice_from);
  agenda_ = node.part;
  Part& part = parts_[index(node.part)];
  if (parts_.size() > node.num_parts) {  // its items went into parts of their own
    parts_.resize(node.num_parts);
    pool_.resize(node.pool_size);
    set_positions(part.begin, part.count);
  }
  ++part.count;
  part.decided_by = node.decided_by;
  remaining_[word(node.chosen)] |= uint64_t{1} << (node.chosen & 63);
  const Item& item = at(node.chosen);
  for (int32_t s = item.first; s < item.last; ++s) {
    load_[index(s)] += item.size;
    if (s > item.first) ++crossing_[index(s)];
  }
}

/// `item` does not lie at its floor, nor do those that are like it and have the same: they change places freely.
bool DepthFirst::ban(int32_t item) {
  const int64_t floor = floor_[index(item)];
  const int64_t bound = above_pins(item, lowest_lift(item));
  for (int32_t twin = next_twin_[index(item)];; twin = next_twin_[index(twin)]) {
    if (!is_placed(twin) && floor_[index(twin)] == floor && bound_[index(twin)] < bound) {
      if (!lift(twin, floor, bound)) return false;
    }
    if (twin == item) break;
  }
  return have_room(at(item).first, at(item).last);
}

/// The lowest top of what could come between `item` and its floor.
int64_t DepthFirst::lowest_lift(int32_t item) {
  const int64_t floor = floor_[index(item)], top = floor + at(item).size;
  int64_t lowest = kNever;
  for_neighbours(item, [&](int32_t i) {
    const int64_t bound = bound_[index(i)], end = bound + at(i).size;
    if (bound >= top || end >= lowest || end <= floor) return;
    const bool is_banned_too = twins_[index(i)] == twins_[index(item)] && floor_[index(i)] == floor;
    if (!is_banned_too) lowest = end;
  });
  return lowest;
}

/// Items of the node's part that no longer meet go into parts of their own, the smallest first: it fails soonest.
void DepthFirst::split(int32_t node) {
  const Part part = parts_[index(nodes_[index(node)].part)];
  int32_t num_components = 0;
  for (int32_t s = part.first; s < part.last; ++s) {
    if (s > part.first && crossing_[index(s)] == 0) ++num_components;
    component_[index(s)] = num_components;
  }
  std::vector<std::vector<Ranked>> components(index(num_components) + 1);
  for (int32_t k = part.begin; k < part.begin + part.count; ++k) {
    const Ranked entry = pool_[index(k)];
    components[index(component_[index(at(entry.item).first)])].push_back(entry);
  }
  std::erase_if(components, [](const auto& items) { return items.empty(); });
  if (components.size() < 2) return;
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  agenda_ = part.next;
  for (const auto& items : components) {
    add_part(items, part.ranked_count, node);
    agenda_ = static_cast<int32_t>(parts_.size()) - 1;
  }
}

/// `ranked_count`: of the items that these were ranked with. Where a large part has lost only few of them the ranks
/// stay: to rank it again for each little one that leaves it would cost more than the search.
void DepthFirst::add_part(std::span<const Ranked> items, int32_t ranked_count, int32_t node) {
  Part part{.begin = static_cast<int32_t>(pool_.size()),
            .count = static_cast<int32_t>(items.size()),
            .first = problem_.num_sections,
            .last = 0,
            .next = agenda_,
            .decided_by = node};
  pool_.insert(pool_.end(), items.begin(), items.end());
  for (const Ranked& entry : items) {
    part.first = std::min(part.first, at(entry.item).first);
    part.last = std::max(part.last, at(entry.item).last);
  }
  const bool ranks_stay = part.count >= kMany && part.count > ranked_count - ranked_count / 8;
  part.ranked_count = ranks_stay ? ranked_count : part.count;
  parts_.push_back(part);
  const std::span<Ranked> entries(pool_.data() + part.begin, items.size());
  if (!ranks_stay && !items.empty())
    rank(entries, problem_, order_,
         std::span<const int64_t>(load_).subspan(index(part.first), index(part.last - part.first)), part.first);
  set_positions(part.begin, part.count);
}

void DepthFirst::set_positions(int32_t begin, int32_t count) {
  for (int32_t k = begin; k < begin + count; ++k) position_[index(pool_[index(k)].item)] = k;
}

/// All remaining items that meet `item`: those that live in its first section, and those that begin later in it.
template <class Function>
void DepthFirst::for_neighbours(int32_t item, Function function) {
  const auto first = index(at(item).first), last = index(at(item).last);
  const auto later = index(first_item_[first + 1]), end = index(first_item_[last]);
  const uint64_t* members = members_.data() + first * num_words_;
  const std::size_t end_word = (std::max(later, end) + 63) / 64;
  for (auto w = index(first_word_[first]); w < end_word; ++w) {
    uint64_t bits = (members[w] | mask(w, later, end)) & remaining_[w];
    for (; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<int32_t>(w * 64 + index(std::countr_zero(bits)));
      if (i != item) function(i);
    }
  }
}

/// false: the item would end above the capacity.
bool DepthFirst::lift(int32_t item, int64_t floor, int64_t bound) {
  trail_.push_back({item, floor_[index(item)], bound_[index(item)]});
  floor_[index(item)] = floor;
  bound_[index(item)] = bound;
  return bound <= highest_[index(item)];
}

void DepthFirst::undo_to(std::size_t size) {
  for (; trail_.size() > size; trail_.pop_back()) {
    const Change& change = trail_.back();
    floor_[index(change.item)] = change.floor;
    bound_[index(change.item)] = change.bound;
  }
}

/// Is there room in each of the sections for all that remains to be placed there?
///
/// All of it lies above the lowest bound in the section. One item whose bound is low enough is the proof: it is looked
/// for only where the one that was found last no longer is.
bool DepthFirst::have_room(int32_t first, int32_t last) {
  for (int32_t s = first; s < last; ++s) {
    if (load_[index(s)] == 0) continue;
    const int32_t witness = witness_[index(s)];
    if ((is_placed(witness) || !is_room_for(witness, s)) && !find_witness(s)) return false;
  }
  return true;
}

bool DepthFirst::find_witness(int32_t section) {
  const uint64_t* members = members_.data() + index(section) * num_words_;
  const std::size_t end_word = (index(first_item_[index(section) + 1]) + 63) / 64;
  for (auto w = index(first_word_[index(section)]); w < end_word; ++w) {
    for (uint64_t bits = members[w] & remaining_[w]; bits != 0; bits &= bits - 1) {
      const auto i = static_cast<int32_t>(w * 64 + index(std::countr_zero(bits)));
      if (!is_room_for(i, section)) continue;
      witness_[index(section)] = i;
      return true;
    }
  }
  return false;
}

bool DepthFirst::is_room_for(int32_t item, int32_t section) const {
  const int64_t bound = bound_[index(item)];
  int64_t needed = bound + load_[index(section)];
  if (!pins_in_.empty()) {
    for (int32_t p : pins_in_[index(section)]) {
      const Pin& pin = problem_.pins[index(p)];
      if (pin.begin >= bound) needed += pin.end - pin.begin;
    }
  }
  return needed <= room_[index(section)];
}

/// The lowest aligned offset from `offset` on where the item meets nothing that is pinned.
int64_t DepthFirst::above_pins(int32_t item, int64_t offset) const {
  if (offset >= kNever) return offset;
  int64_t out = aligned(offset, at(item).alignment);
  if (pins_of_.empty()) return out;
  for (int32_t p : pins_of_[index(item)]) {  // by begin: an earlier one may end later, and is passed then
    const Pin& pin = problem_.pins[index(p)];
    if (pin.begin < out + at(item).size && out < pin.end) out = aligned(pin.end, at(item).alignment);
  }
  return out;
}

}  // namespace inlay::memory::search
