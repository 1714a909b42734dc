#include "memory/search/beam.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <unordered_set>
#include <utility>

namespace inlay::memory::search {
namespace {

// States that are kept of each length, and what all of them together may hold: long problems get a narrower beam.
constexpr std::size_t kWidth = 16, kMostUnits = 1536;
// Units that are tried in some state. Beyond that the given order stays.
constexpr int64_t kMostTries = 50'000;

using Unit = OrderProblem::Unit;
using Storage = OrderProblem::Storage;

/// Some units have run.
struct State {
  std::vector<int> ready;     // in the given order
  std::vector<int> waits;     // by unit: for how many
  std::vector<int> uses;      // by storage: to come
  double live = 0, peak = 0;  // bytes
  uint64_t key = 0;           // of the set of units that have run
};

/// What a unit would do to a state.
struct Effect {
  double need = 0;  // while it runs
  double live = 0;  // afterwards
};

class Orders {
 public:
  explicit Orders(const OrderProblem& problem)
      : problem_(problem),
        waiting_(problem.units.size()),
        num_uses_(problem.storages.size(), 0),
        keys_(problem.units.size()) {
    std::mt19937_64 random;  // the same keys each time
    for (uint64_t& key : keys_) key = random();
    for (std::size_t u = 0; u < problem.units.size(); ++u) {
      for (int before : problem.units[u].after)
        waiting_[static_cast<std::size_t>(before)].push_back(static_cast<int>(u));
      for (int s : problem.units[u].storages) ++num_uses_[static_cast<std::size_t>(s)];
    }
  }

  State first() const {
    State out{.uses = num_uses_};
    for (std::size_t u = 0; u < problem_.units.size(); ++u) {
      out.waits.push_back(static_cast<int>(problem_.units[u].after.size()));
      if (out.waits.back() == 0) out.ready.push_back(static_cast<int>(u));
    }
    for (const Storage& storage : problem_.storages) out.live += storage.is_there ? storage.bytes : 0;
    out.peak = out.live;
    return out;
  }

  Effect effect(const State& state, int unit) const {
    const Unit& it = problem_.units[static_cast<std::size_t>(unit)];
    Effect out{state.live, state.live};
    for (int s : it.storages) {
      if (is_born(state, s)) out.need += bytes(s);
    }
    out.live = out.need;
    for (int s : it.storages) {
      if (dies(state, s)) out.live -= bytes(s);
    }
    std::vector<OrderProblem::InPlace> taken;
    for (const OrderProblem::InPlace& pair : it.in_place) {
      const bool is_taken = std::ranges::any_of(taken, [&](const OrderProblem::InPlace& other) {
        return other.operand == pair.operand || other.result == pair.result;
      });
      if (is_taken || !is_born(state, pair.result) || !dies(state, pair.operand)) continue;
      taken.push_back(pair);
      out.need -= bytes(pair.operand);
    }
    return out;
  }

  void run(State& state, int unit, const Effect& effect) const {
    std::erase(state.ready, unit);
    for (int next : waiting_[static_cast<std::size_t>(unit)]) {
      if (--state.waits[static_cast<std::size_t>(next)] > 0) continue;
      state.ready.insert(std::ranges::lower_bound(state.ready, next), next);
    }
    state.key ^= keys_[static_cast<std::size_t>(unit)];
    use(state, unit, effect);
  }

  /// What running the unit does to the bytes: all that a given order asks for.
  void use(State& state, int unit, const Effect& effect) const {
    for (int s : problem_.units[static_cast<std::size_t>(unit)].storages) --state.uses[static_cast<std::size_t>(s)];
    state.live = effect.live;
    state.peak = std::max(state.peak, effect.need);
  }

  uint64_t key(int unit) const { return keys_[static_cast<std::size_t>(unit)]; }

 private:
  double bytes(int storage) const { return problem_.storages[static_cast<std::size_t>(storage)].bytes; }
  bool is_born(const State& state, int storage) const {
    const auto s = static_cast<std::size_t>(storage);
    return !problem_.storages[s].is_there && state.uses[s] == num_uses_[s];
  }
  bool dies(const State& state, int storage) const {
    const auto s = static_cast<std::size_t>(storage);
    return !problem_.storages[s].stays && state.uses[s] == 1;
  }

  const OrderProblem& problem_;
  std::vector<std::vector<int>> waiting_;  // by unit: who waits for it
  std::vector<int> num_uses_;              // by storage
  std::vector<uint64_t> keys_;
};

/// A way to make a state of the next length.
struct Way {
  int state = 0, unit = 0;
  Effect effect;
  double peak = 0;
  uint64_t key = 0;
};

class Beam {
 public:
  Beam(const OrderProblem& problem, double below_bytes, double enough_bytes)
      : orders_(problem),
        num_units_(problem.units.size()),
        width_(std::clamp<std::size_t>(kMostUnits / std::max<std::size_t>(num_units_, 1), 1, kWidth)),
        below_(below_bytes),
        enough_(enough_bytes) {}

  std::vector<int> run() {
    states_.push_back(orders_.first());
    for (std::size_t length = 0; length < num_units_; ++length) {
      collect();
      if (ways_.empty() || tries_ > kMostTries) return {};
      keep_best();
    }
    return order();
  }

 private:
  void collect() {
    ways_.clear();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const std::size_t begin = ways_.size();
      for (int unit : states_[i].ready) {
        ++tries_;
        const Way way = way_of(static_cast<int>(i), unit);
        if (way.peak >= below_) continue;
        // It makes nothing worse, and frees what any other order would keep at least as long: it goes first.
        const bool is_free = way.peak <= std::max(states_[i].peak, enough_) && way.effect.live <= states_[i].live;
        if (is_free) ways_.resize(begin);
        ways_.push_back(way);
        if (is_free) break;
      }
    }
  }

  Way way_of(int state, int unit) const {
    const State& from = states_[static_cast<std::size_t>(state)];
    const Effect effect = orders_.effect(from, unit);
    return {state, unit, effect, std::max(from.peak, effect.need), from.key ^ orders_.key(unit)};
  }

  void keep_best() {
    std::ranges::stable_sort(ways_, {},
                             [&](const Way& way) { return std::pair(std::max(way.peak, enough_), way.effect.live); });
    std::unordered_set<uint64_t> seen;
    std::vector<State> next;
    history_.emplace_back();
    for (const Way& way : ways_) {
      if (next.size() == width_) break;
      if (!seen.insert(way.key).second) continue;
      next.push_back(states_[static_cast<std::size_t>(way.state)]);
      orders_.run(next.back(), way.unit, way.effect);
      history_.back().emplace_back(way.state, way.unit);
    }
    states_ = std::move(next);
  }

  std::vector<int> order() const {
    std::vector<int> out(num_units_);
    std::size_t at = 0;  // the first state is the best
    for (std::size_t length = num_units_; length-- > 0;) {
      const auto [state, unit] = history_[length][at];
      out[length] = unit;
      at = static_cast<std::size_t>(state);
    }
    return out;
  }

  Orders orders_;
  std::size_t num_units_, width_;
  double below_, enough_;
  int64_t tries_ = 0;
  std::vector<State> states_;
  std::vector<Way> ways_;
  std::vector<std::vector<std::pair<int, int>>> history_;  // by length: from which state, by which unit
};

}  // namespace

double peak_bytes(const OrderProblem& problem, const std::vector<int>& order) {
  const Orders orders(problem);
  State state = orders.first();
  for (int unit : order) orders.use(state, unit, orders.effect(state, unit));
  return state.peak;
}

double floor_bytes(const OrderProblem& problem) {
  double kept = 0;  // there throughout
  for (const Storage& storage : problem.storages) kept += storage.is_there && storage.stays ? storage.bytes : 0;
  double most = kept;
  for (const Unit& unit : problem.units) {
    double need = kept;
    for (int s : unit.storages) {
      const Storage& storage = problem.storages[static_cast<std::size_t>(s)];
      need += storage.is_there && storage.stays ? 0 : storage.bytes;
    }
    // As if each result found an operand that dies.
    std::vector<int> taken;
    for (const auto& [operand, result] : unit.in_place) {
      if (std::ranges::find(taken, result) != taken.end()) continue;
      taken.push_back(result);
      need -= problem.storages[static_cast<std::size_t>(result)].bytes;
    }
    most = std::max(most, need);
  }
  return most;
}

std::vector<int> find_order(const OrderProblem& problem, double below_bytes, double enough_bytes) {
  return Beam(problem, below_bytes, enough_bytes).run();
}

}  // namespace inlay::memory::search
