#include "memory/step_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "kernel/dependences.h"
#include "kernel/dim_proof.h"
#include "kernel/steps.h"
#include "kernel/visit.h"
#include "memory/commit.h"
#include "memory/liveness.h"
#include "memory/overwrite.h"
#include "memory/plan.h"
#include "memory/search/beam.h"
#include "memory/sharing.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Step;
using kernel::StepId;
using search::OrderProblem;

namespace {

// Two steps have only one order, or are needed at the same time.
constexpr std::size_t kFewestSteps = 3;

/// Steps first, first + 1, ... before `end`, which may be exchanged as far as dependences allow.
struct Sequence {
  uint32_t first = 0, end = 0;
  std::size_t size() const { return end - first; }
};

std::vector<Sequence> sequences_of(const KernelProgram& program) {
  std::vector<Sequence> out;
  const auto num_steps = static_cast<uint32_t>(program.steps.size());
  for (uint32_t step = 0; step < num_steps; ++step) {
    Sequence sequence{step, step};
    while (sequence.end < num_steps && moves(program.steps[sequence.end])) ++sequence.end;
    if (sequence.size() >= kFewestSteps) out.push_back(sequence);
    step = sequence.end;
  }
  return out;
}

class Waiting;

/// Facts about a program and its sharing in the given order, computed once for all sequences.
class Given {
 public:
  explicit Given(const SharedProgram& shared);

  OrderProblem problem(const Sequence& sequence, Waiting& waiting) const;

  const Step& step(StepId step) const { return program_.steps[step.index]; }
  /// The buffers that the step updates in place, without a copy: it comes after all others that use them.
  const std::vector<BufferId>& goes_on_with(StepId step) const { return goes_on_with_[step]; }
  /// Is it in bytes of the caller?
  bool is_callers(BufferId b) const {
    const StorageId storage = sharing_.placements[b].storage;
    return storage.valid() && sharing_.storages[storage].owner != Owner::arena;
  }
  /// Returns the donated parameter whose bytes it has, or none.
  BufferId donated_to(BufferId b) const {
    const StorageId storage = sharing_.placements[b].storage;
    return storage.valid() ? donated_to_[storage] : BufferId();
  }

 private:
  bool is_in_arena(BufferId b) const {
    const kernel::Buffer& buffer = program_.buffers[b];
    return buffer.role == Role::temporary && !buffer.view_of.valid() && buffer.dtype != DType::opaque;
  }
  Dim size_bytes(BufferId b) const { return kernel::size_bytes(program_.buffers[b]); }

  /// Returns the buffer in whose bytes it is made, or itself. Which result takes over the bytes of a dying operand
  /// depends on the order.
  BufferId home_of(BufferId b) const {
    while (sharing_.placements[b].reason == Reason::destination) b = sharing_.placements[b].took_over;
    return b;
  }

  void find_goes_on_with(const Liveness& liveness);
  void add_in_place(StepId step, const std::map<BufferId, int>& storages, OrderProblem::Unit& unit) const;
  double held(const Sequence& sequence, const std::map<BufferId, int>& touched) const;

  const KernelProgram& program_;
  const Sharing& sharing_;
  IdMap<BufferId, BufferId> home_;
  IdMap<BufferId, double> bytes_;    // in the arena
  IdMap<BufferId, Lifetime> lives_;  // of a home: the union for all that lie in it
  IdMap<StorageId, BufferId> donated_to_;
  IdMap<StepId, std::vector<BufferId>> goes_on_with_;
  std::vector<double> begun_, ended_;  // by tick: the bytes of homes whose live ranges begin, and end, before it
};

Given::Given(const SharedProgram& shared)
    : program_(shared.program),
      sharing_(shared.sharing),
      home_(program_.buffers.size()),
      bytes_(program_.buffers.size(), 0),
      lives_(program_.buffers.size()),
      donated_to_(sharing_.storages.size()),
      goes_on_with_(program_.steps.size()),
      begun_(2 * program_.steps.size() + 4, 0),
      ended_(2 * program_.steps.size() + 4, 0) {
  const KernelProgram& program = program_;
  const Liveness lives = liveness(program);
  const std::vector<int64_t> symbols(program.symbols.size(), kNominalSize);
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    home_[b] = home_of(b);
    if (is_in_arena(b)) bytes_[b] = std::max(0.0, size_bytes(b).estimate(symbols));
    const Lifetime& life = lives.lives[b];
    Lifetime& whole = lives_[home_[b]];
    if (life.end == 0) continue;
    whole = whole.end == 0 ? life : Lifetime{std::min(whole.begin, life.begin), std::max(whole.end, life.end)};
  }
  for (BufferId param : program.params) {
    const StorageId storage = sharing_.placements[param].storage;
    if (storage.valid()) donated_to_[storage] = param;
  }
  find_goes_on_with(lives);
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    if (home_[b] != b || bytes_[b] == 0) continue;
    begun_[static_cast<std::size_t>(lives_[b].begin) + 1] += bytes_[b];
    ended_[static_cast<std::size_t>(lives_[b].end) + 1] += bytes_[b];
  }
  std::partial_sum(begun_.begin(), begun_.end(), begun_.begin());
  std::partial_sum(ended_.begin(), ended_.end(), ended_.begin());
}

/// Finds the base of each update, and for a step that makes the next value of a loop in the carried value's bytes, the
/// carried value.
void Given::find_goes_on_with(const Liveness& liveness) {
  const auto root = [&](BufferId b) { return kernel::root_of(program_, b); };
  for (StepId id : ids<StepId>(program_.steps.size())) {
    if (const auto* copy = std::get_if<kernel::Copy>(&step(id)); copy && copy->elided) {
      const std::vector<StepId>& made = liveness.uses[root(copy->source)].writes;
      if (!made.empty()) goes_on_with_[made.front()].push_back(root(copy->destination));
    }
    const auto* kernel = std::get_if<Kernel>(&step(id));
    if (!kernel) continue;
    for (const kernel::KernelOutput& output : kernel->outputs) {
      if (output.start.elided) goes_on_with_[id].push_back(root(output.start.source));
    }
  }
}

/// The dependences of each step of a sequence. The sequences come in order.
class Waiting {
 public:
  Waiting(const KernelProgram& program, const Given& given) : given_(given), uses_(program) {}

  void begin(const Sequence& sequence) {
    first_ = StepId(sequence.first);
    last_failing_ = {};
  }

  /// Returns the units that must run before this step, which is the next one in the given order.
  std::vector<int> next(StepId step, const kernel::StepAccess& access) {
    std::vector<int> after;
    const auto add = [&](StepId before) {
      if (before.valid() && before >= first_) after.push_back(static_cast<int>(before.index - first_.index));
    };
    uses_.for_each_before(access, add);
    for (BufferId b : given_.goes_on_with(step)) uses_.for_each_use(b, add);
    const bool fails = can_fail(given_.step(step));
    bool waits_for_failing = fails;
    for (BufferId b : access.writes) {
      waits_for_failing |= given_.is_callers(b);
      if (const BufferId param = given_.donated_to(b); param.valid()) uses_.for_each_use(param, add);
    }
    if (waits_for_failing) add(last_failing_);
    if (fails) last_failing_ = step;
    uses_.add(step, access);
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    return after;
  }

 private:
  const Given& given_;
  kernel::LastUses uses_;
  StepId first_, last_failing_;  // of the sequence
};

OrderProblem Given::problem(const Sequence& sequence, Waiting& waiting) const {
  OrderProblem out;
  waiting.begin(sequence);
  std::map<BufferId, int> storages;  // by home
  std::vector<int> last_unit;        // by storage: that lists it
  const auto storage_of = [&](BufferId home) {
    const auto [at, is_new] = storages.try_emplace(home, static_cast<int>(out.storages.size()));
    if (is_new) {
      const Lifetime& life = lives_[home];
      out.storages.push_back(
          {bytes_[home], life.begin<read_tick(StepId(sequence.first)), life.end> end_tick(StepId(sequence.end - 1))});
    }
    return at->second;
  };
  for (uint32_t i = sequence.first; i < sequence.end; ++i) {
    const kernel::StepAccess access = kernel::access_of(program_, program_.steps[i]);
    OrderProblem::Unit unit{.after = waiting.next(StepId(i), access)};
    for (const std::vector<BufferId>* list : {&access.reads, &access.writes}) {
      for (BufferId b : *list) {
        if (bytes_[home_[b]] == 0) continue;
        const int storage = storage_of(home_[b]);
        last_unit.resize(out.storages.size(), -1);
        const auto number = static_cast<int>(out.units.size());
        if (std::exchange(last_unit[static_cast<std::size_t>(storage)], number) != number)
          unit.storages.push_back(storage);
      }
    }
    add_in_place(StepId(i), storages, unit);
    out.units.push_back(std::move(unit));
  }
  out.storages.push_back({held(sequence, storages), true, true});
  return out;
}

/// Bytes that are live throughout and not touched are the same in every order, but other sequences are compared with
/// this one.
double Given::held(const Sequence& sequence, const std::map<BufferId, int>& touched) const {
  const int32_t begin = read_tick(StepId(sequence.first)), end = end_tick(StepId(sequence.end - 1));
  // What begins before, minus what has ended by the end. What lives only within the sequence is touched in it.
  double bytes = begun_[static_cast<std::size_t>(begin)] - ended_[static_cast<std::size_t>(end) + 1];
  for (const auto& [b, storage] : touched) {
    const bool begins_before = lives_[b].begin<begin, ends_later = lives_[b].end> end;
    if (begins_before == ends_later) bytes += begins_before ? -bytes_[b] : bytes_[b];
  }
  return bytes;
}

/// Adds the operands of the step whose bytes a result may take if they die there.
void Given::add_in_place(StepId step, const std::map<BufferId, int>& storages, OrderProblem::Unit& unit) const {
  const Step& it = this->step(step);
  const auto can_share = [&](BufferId operand, BufferId result) {
    return operand != result && home_[operand] == operand && home_[result] == result && bytes_[operand] > 0 &&
           bytes_[result] > 0 && size_bytes(operand) == size_bytes(result);
  };
  const auto add = [&](BufferId operand, BufferId result) {
    unit.in_place.push_back({storages.at(operand), storages.at(result)});
  };
  if (const auto* call = std::get_if<kernel::LibraryCall>(&it)) {
    const LibraryOpFacts& row = facts(call->op);
    if (row.in_place_operand < 0) return;
    const BufferId operand = call->operands[static_cast<std::size_t>(row.in_place_operand)].buffer;
    const BufferId result = call->results[static_cast<std::size_t>(row.in_place_result)].buffer;
    if (can_share(operand, result)) add(operand, result);
  } else if (const auto* kernel = std::get_if<Kernel>(&it)) {
    kernel::StepAccess access = kernel::access_of(program_, it);
    // A kernel may have hundreds of each, most without bytes in the arena.
    const auto has_none = [&](BufferId b) { return home_[b] != b || bytes_[b] == 0; };
    std::erase_if(access.reads, has_none);
    std::erase_if(access.writes, has_none);
    if (access.reads.empty() || access.writes.empty()) return;
    const OverwriteQuestions overwrites(program_, *kernel);
    for (BufferId result : access.writes) {
      for (BufferId operand : access.reads) {
        if (!can_share(operand, result)) continue;
        const bool one_dtype =
            inlay::size_bytes(program_.buffers[operand].dtype) == inlay::size_bytes(program_.buffers[result].dtype);
        if (one_dtype && overwrites.why_not(operand, result).empty()) add(operand, result);
      }
    }
  }
}

// --- the search ---

/// Returns the program with the relevant sequences in other orders; nothing if no better order was found.
std::optional<KernelProgram> find_candidate(const SharedProgram& shared) {
  const KernelProgram& program = shared.program;
  const Given given(shared);
  Waiting waiting(program, given);
  struct Part {
    Sequence sequence;
    OrderProblem problem;
    double peak = 0;
  };
  std::vector<Part> parts;
  double enough = 0;
  for (const Sequence& sequence : sequences_of(program)) {
    Part part{sequence, given.problem(sequence, waiting)};
    std::vector<int> order(sequence.size());
    std::iota(order.begin(), order.end(), 0);
    part.peak = peak_bytes(part.problem, order);
    enough = std::max(enough, floor_bytes(part.problem));
    parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(parts, std::greater(), &Part::peak);
  std::optional<KernelProgram> out;
  for (const Part& part : parts) {
    if (part.peak <= enough) break;
    const std::vector<int> order = search::find_order(part.problem, part.peak, enough);
    if (order.empty()) {  // what is filled less than this one need not change
      enough = part.peak;
      continue;
    }
    if (!out) out = program;
    for (std::size_t i = 0; i < order.size(); ++i) {
      out->steps[part.sequence.first + i] = program.steps[part.sequence.first + static_cast<std::size_t>(order[i])];
    }
    enough = std::max(enough, peak_bytes(part.problem, order));
  }
  return out;
}

// --- the proof ---

/// The arena of one segment where most of it is in use, for nominal sizes.
struct Fullest {
  Dim bytes = 0;
  double nominal = 0;
};

/// Calls visit(bytes) with what lives at once in a segment, for each tick at which a storage begins.
template <class Visit>
void for_each_load(const Sharing& sharing, int segment, Visit visit) {
  struct Change {
    int32_t tick;
    bool begins;
    const Dim* bytes;
  };
  std::vector<Change> changes;
  for (const SharedStorage& storage : sharing.storages) {
    if (storage.owner != Owner::arena || storage.segment != segment || storage.live.begin >= storage.live.end) continue;
    changes.push_back({storage.live.begin, true, &storage.size_bytes});
    changes.push_back({storage.live.end, false, &storage.size_bytes});
  }
  std::ranges::stable_sort(changes, {}, [](const Change& change) { return std::pair(change.tick, change.begins); });
  Dim live = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    live = changes[i].begins ? live + *changes[i].bytes : live - *changes[i].bytes;
    const bool is_last = i + 1 == changes.size() || changes[i + 1].tick != changes[i].tick;
    if (changes[i].begins && is_last) visit(live);
  }
}

Fullest fullest(const SharedProgram& shared, int segment) {
  const std::vector<int64_t> symbols(shared.program.symbols.size(), kNominalSize);
  Fullest out;
  for_each_load(shared.sharing, segment, [&](const Dim& bytes) {
    const auto nominal = bytes.estimate(symbols);
    if (nominal > out.nominal) out = {bytes, nominal};
  });
  return out;
}

/// What a segment needs at its fullest step in the given order, it needs at no step of the other one. Empty: not so.
std::string symbolic_gain(const SharedProgram& given, const SharedProgram& other) {
  Dim before = 0;
  bool is_less = false;
  for (int segment = 0; segment < given.sharing.num_segments(); ++segment) {
    const Fullest most = fullest(given, segment), minimum = fullest(other, segment);
    bool is_proved = true;
    for_each_load(other.sharing, segment,
                  [&](const Dim& bytes) { is_proved = is_proved && kernel::always_at_least(most.bytes, bytes); });
    if (!is_proved) return "";
    is_less |= minimum.nominal < most.nominal;
    before = before + most.bytes;
  }
  return is_less ? str("fewer than ", before.to_text(given.program.symbol_names()), " bytes live at a time") : "";
}

/// An arena that is found at once is smaller than any arena of the given order.
std::string static_gain(const Sharing& given, const Sharing& other) {
  int64_t before = 0, after = 0, minimum = 0;
  for (int segment = 0; segment < given.num_segments(); ++segment) {
    const Layout layout = plan(Planner::greedy, storages_of_segment(other, segment, {}));
    before = add_bytes(before, lower_bound_bytes(storages_of_segment(given, segment, {})));
    after = add_bytes(after, layout.arena_bytes);
    minimum = add_bytes(minimum, layout.lower_bound_bytes);
  }
  return after < before ? str("at most ", minimum, " bytes live at a time, not ", before) : "";
}

std::ptrdiff_t num_taken_over(const SharedProgram& shared) {
  return std::ranges::count_if(shared.program.outputs, [&](BufferId output) {
    return param_in_output(shared.program, shared.sharing, output) >= 0;
  });
}

int num_elided(const KernelProgram& program) {
  int out = 0;
  for (const Step& step : program.steps) kernel::for_each_elidable(step, [&](bool elided) { out += elided; });
  return out;
}

std::string gain(const SharedProgram& given, const SharedProgram& other) {
  const bool moves_more = other.sharing.copies.size() > given.sharing.copies.size() ||
                          num_elided(other.program) < num_elided(given.program) ||
                          num_taken_over(other) < num_taken_over(given);
  if (moves_more) return "";
  const bool are_static = has_static_arena(given.sharing) && has_static_arena(other.sharing);
  return are_static ? static_gain(given.sharing, other.sharing) : symbolic_gain(given, other);
}

}  // namespace

StepOrder step_order_named(std::string_view name, std::string_view said_by) {
  const auto found = std::ranges::find(kStepOrderNames, name);
  if (found == std::end(kStepOrderNames)) {
    throw Error(ErrorCode::unknown_name, {}, str(said_by, "=", name, ": there is no such order"))
        .help("the orders are given and memory");
  }
  return static_cast<StepOrder>(found - std::begin(kStepOrderNames));
}

OrderedSteps order_steps(SharedProgram given, StepOrder order) {
  if (order == StepOrder::given || sequences_of(given.program).empty()) return {std::move(given), ""};
  if (std::optional<KernelProgram> candidate = find_candidate(given)) {
    SharedProgram other = share(std::move(*candidate), given.may_share);
    if (std::string gained = gain(given, other); !gained.empty()) return {std::move(other), std::move(gained)};
  }
  return {std::move(given), ""};
}

}  // namespace inlay::memory
