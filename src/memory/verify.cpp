#include "memory/verify.h"

#include <algorithm>

#include "memory/index_proof.h"
#include "memory/liveness.h"

namespace inlay::memory {

using kernel::AccessMap;
using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::StepId;
using kernel::Subscript;

namespace {

constexpr std::size_t kMostMessages = 10;

/// The number of a content: what one write put into one element. 0: nothing yet.
using Content = uint64_t;

/// Bytes that may be shared: an arena block, or the bytes of one output.
struct Block {
  std::string name;
  std::vector<Content> bytes;
  bool is_given = false;  // by the caller, with what a parameter is
};

/// A buffer with bytes of ours: where it lies, and what each element should hold.
struct Place {
  int block = -1;  // -1: none of ours
  int64_t begin = 0;
  int64_t storage_begin = 0, storage_end = 0;
  int64_t element_bytes = 1;
  std::vector<Content> expected;
};

/// Which ways the conditions of conds and loops send a replay.
enum class Ways : uint8_t { all_true, all_false, in_turn };

class Replay {
 public:
  Replay(const KernelProgram& program, const MemoryPlan& plan, std::span<const Layout> layouts,
         std::span<const int64_t> symbols, Ways ways, const ReplayLimits& limits)
      : program_(program),
        regions_(kernel::regions_of(program)),
        liveness_(liveness(program)),
        ways_(ways),
        left_(limits.accesses),
        bytes_left_(limits.bytes),
        sharing_(plan.sharing),
        layouts_(layouts),
        symbols_(symbols),
        places_(program.buffers.size()),
        turns_(program.buffers.size(), -1),
        proof_(program, symbols) {}

  std::vector<Diagnostic> run() {
    check_layouts();
    check_lives();
    if (goes_on()) place_buffers();
    if (replay_steps(StepId(0), StepId(program_.steps.size()))) check_outputs();
    return std::move(out_);
  }

 private:
  // --- regions ---

  /// False ends the program.
  bool replay_steps(StepId begin, StepId end) {
    for (uint32_t i = begin.index; i < end.index; ++i) {
      if (!goes_on()) return false;
      step_ = StepId(i);
      const kernel::Step& step = program_.steps[i];
      if (fails_as_a_whole(step)) may_fail();
      if (proof_.is_asked()) proof_.pass_step(step);
      if (const auto* loop = std::get_if<kernel::LoopBegin>(&step)) {
        const kernel::RegionSpan& region = region_at(regions_, StepId(i));
        if (!replay_loop(*loop, region)) return false;
        i = region.end.index;
      } else if (std::holds_alternative<kernel::CondBegin>(step)) {
        const kernel::RegionSpan& region = region_at(regions_, StepId(i));
        const bool ok = choose() ? replay_steps(StepId(i + 1), region.otherwise)
                                 : replay_steps(StepId(region.otherwise.index + 1), region.end);
        if (!ok) return false;
        i = region.end.index;
      } else if (!std::visit([&](const auto& s) { return replay(s); }, step)) {
        return false;
      }
    }
    return goes_on();
  }

  bool replay_loop(const kernel::LoopBegin& loop, const kernel::RegionSpan& region) {
    const bool may_end = std::get<kernel::LoopEnd>(program_.steps[region.end.index]).go_on.valid();
    const int64_t count = value(loop.count);
    for (int64_t pass = 0; pass < count && goes_on(); ++pass) {
      --left_;
      if (proof_.is_asked()) proof_.pass_step(loop);
      if (!may_end) turns_[loop.step] = pass;  // else nobody knows how much of a trace there will be
      // What a body makes for itself is made anew.
      for (BufferId b : ids<BufferId>(places_.size())) {
        const Lifetime& life = liveness_.lives[b];
        const bool is_inside = life.begin > read_tick(region.begin) && life.end < end_tick(region.end);
        if (is_inside) std::ranges::fill(places_[b].expected, 0);
      }
      if (!replay_steps(StepId(region.begin.index + 1), region.end)) return false;
      if (may_end && !choose()) break;
    }
    return true;
  }

  static bool fails_as_a_whole(const kernel::Step& step) {
    const auto* call = std::get_if<kernel::LibraryCall>(&step);
    return (call && !call->sites.empty()) || std::holds_alternative<kernel::HostCall>(step) ||
           std::holds_alternative<kernel::SizeCheck>(step) || std::holds_alternative<kernel::BindSize>(step);
  }

  /// Conditions have no values here: one way for all, or in turn.
  bool choose() {
    switch (ways_) {
      case Ways::all_true: return true;
      case Ways::all_false: return false;
      case Ways::in_turn: return num_choices_++ % 2 == 0;
    }
    return true;
  }

  bool replay(const kernel::LoopBegin&) { return true; }
  bool replay(const kernel::LoopEnd&) { return true; }
  bool replay(const kernel::CondBegin&) { return true; }
  bool replay(const kernel::CondElse&) { return true; }
  bool replay(const kernel::CondEnd&) { return true; }

  /// Nothing is wrong so far, and the replay has not become too long.
  bool goes_on() const { return out_.empty() && left_ > 0; }

  /// What was replayed in part has not written what it should have.
  void wrong(std::string message) {
    if (left_ > 0 && out_.size() < kMostMessages) out_.push_back({ErrorCode::internal, {}, std::move(message), {}, {}});
  }
  BufferId root(BufferId b) const { return kernel::root_of(program_, b); }
  const std::string& name(BufferId b) const { return program_.buffers[b].name; }
  int64_t value(const Dim& dim) const { return dim.evaluate(symbols_); }
  /// Asked for at every access, so found once.
  int64_t count(BufferId b) {
    if (counts_[b] < 0) counts_[b] = std::max<int64_t>(value(num_elements(program_.buffers[b])), 0);
    return counts_[b];
  }

  // --- the plan by itself ---

  void check_layouts() {
    if (layouts_.size() != sharing_.segment_starts.size()) {
      return wrong(str(layouts_.size(), " layouts for ", sharing_.segment_starts.size(), " segments"));
    }
    for (int segment = 0; segment < sharing_.num_segments(); ++segment) {
      const std::vector<Storage> storages = storages_of_segment(sharing_, segment, symbols_);
      for (Diagnostic& d : memory::verify(layouts_[segment], storages))
        wrong(str("segment ", segment, ": ", d.message));
    }
  }

  /// A storage must live wherever one of its buffers is touched.
  void check_lives() {
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

  void place_buffers() {
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
  bool has_room(int64_t bytes) {
    bytes_left_ -= bytes;
    if (bytes_left_ < 0) left_ = 0;
    return goes_on();
  }

  /// The call could end with an error here: what the caller gave must be as it was.
  void may_fail() {
    if (changed_given_) wrong(str(where(), " can fail, and bytes of the caller are overwritten by then"));
  }

  void place(BufferId b, const IdMap<StorageId, int>& block_of) {
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

  // --- elements ---

  bool is_ours(BufferId b) const { return places_[root(b)].block >= 0; }

  std::span<Content> bytes_of(BufferId b, int64_t element) {
    const Place& place = places_[root(b)];
    return std::span(blocks_[place.block].bytes)
        .subspan(static_cast<std::size_t>(place.begin + element * place.element_bytes),
                 static_cast<std::size_t>(place.element_bytes));
  }

  bool in_range(BufferId b, int64_t element) {
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

  std::string where() const {
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step_.index]);
    return kernel && !kernel->name.empty() ? str("@", kernel->name) : str("step ", step_.index);
  }

  void read(BufferId b, int64_t element) {
    if (!is_ours(b) || !in_range(b, element)) return;
    const Content expected = places_[root(b)].expected[static_cast<std::size_t>(element)];
    if (expected == 0) return wrong(str(where(), " reads element ", element, " of ", name(b), " before it is written"));
    for (Content found : bytes_of(b, element)) {
      if (found == expected) continue;
      return wrong(str(where(), " reads element ", element, " of ", name(b), ", whose bytes hold something else"));
    }
  }

  void write(BufferId b, int64_t element) { write(b, element, ++last_content_); }

  void write(BufferId b, int64_t element, Content content) {
    if (!is_ours(b) || !in_range(b, element)) return;
    std::ranges::fill(bytes_of(b, element), content);
    changed_given_ |= blocks_[places_[root(b)].block].is_given;
    places_[root(b)].expected[static_cast<std::size_t>(element)] = content;
  }

  void read_all(BufferId b) {
    for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && goes_on(); ++e) read(b, e);
  }

  void write_all(BufferId b) {
    for (int64_t e = 0, n = is_ours(b) ? count(b) : 0; e < n && goes_on(); ++e) write(b, e);
  }

  /// All of `from` into all of `to`. Elided: no byte moves, and the bytes are those of `from` already.
  void copy_all(BufferId from, BufferId to, bool elided) {
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

  // --- steps: false ends the program ---

  bool replay(const kernel::LibraryCall& call) {
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
  bool takes_bytes_of(const kernel::LibraryCall& call, std::size_t operand) {
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

  /// visit(element) with all that the array may reach: nobody knows which row where an index is no loop's turn.
  template <class Visit>
  void for_each_element(const kernel::LibraryCall& call, const CoreAxes& axes, const kernel::CallArray& array,
                        Visit visit) {
    if (!is_ours(array.buffer)) return;
    std::vector<int64_t> sizes;
    for (const Dim& size : call.sizes) sizes.push_back(value(size));
    const std::array<int64_t, 3> extents = library_extents(call.op, axes, sizes);
    std::array<int64_t, 3> strides{};
    for (std::size_t axis = 0; axis < strides.size(); ++axis) strides[axis] = value(array.strides[axis]);
    const bool is_anywhere = array.index.valid() && turns_[array.index] < 0;
    const int64_t first = value(array.offset), step = array.index.valid() ? value(array.index_stride) : 0;
    const int64_t turn = array.index.valid() && !is_anywhere ? turns_[array.index] : 0;
    const int64_t last_turn = is_anywhere && step > 0 ? (count(array.buffer) - 1) / step : turn;
    for (int64_t at = turn; at <= last_turn && goes_on(); ++at) {
      for (int64_t point = 0; point < extents[0] && goes_on(); ++point) {
        for (int64_t i = 0; i < extents[1] && goes_on(); ++i) {
          for (int64_t j = 0; j < extents[2] && goes_on(); ++j) {
            visit(first + at * step + point * strides[0] + i * strides[1] + j * strides[2]);
          }
        }
      }
    }
  }

  bool replay(const kernel::HostCall& call) {
    for (BufferId operand : call.operands) read_all(operand);
    return true;
  }

  bool replay(const kernel::BindSize&) { return true; }  // a register, and a number that is given here

  bool replay(const kernel::Copy& copy) {
    copy_all(copy.source, copy.destination, sharing_.is_elided(step_));
    return true;
  }

  bool replay(const kernel::SizeCheck& check) {
    const int64_t left = value(check.left), right = value(check.right);
    return check.relation == DimCheck::Relation::equal ? left == right : left <= right;
  }

  bool replay(const Kernel& kernel) {
    const auto start_all = [&](bool local) {
      for (const KernelOutput& output : kernel.outputs) {
        if (output.is_local != local) continue;
        if (local) std::ranges::fill(places_[root(output.buffer)].expected, Content{});
        if (output.start.kind == Start::Kind::fill) write_all(output.buffer);
        if (output.start.kind == Start::Kind::copy) {
          copy_all(output.start.source, output.buffer, sharing_.is_elided(step_, output.buffer));
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

  /// An axis in a loop nest, and which of its points are passed there.
  struct Passed {
    std::size_t axis = 0;
    int64_t begin = 0, end = 0, step = 1;
  };

  std::vector<Passed> passed(const std::vector<kernel::Axis>& axes, std::size_t first) const {
    std::vector<Passed> out;
    for (const kernel::Axis& axis : axes) out.push_back({first + out.size(), 0, value(axis.extent)});
    return out;
  }

  template <class Body>
  void for_each_point(const std::vector<Passed>& loops, std::vector<int64_t>& point, const Body& body) {
    const std::size_t before = point.size();
    for (const Passed& loop : loops) {
      if (loop.begin >= loop.end) return;
    }
    for (const Passed& loop : loops) {
      point.resize(std::max(point.size(), loop.axis + 1));
      point[loop.axis] = loop.begin;
    }
    while (goes_on()) {
      --left_;
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

  void replay_stage(const Kernel& kernel, int stage_index, std::vector<int64_t>& point) {
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
          if (sharing_.is_elided(step_, stage_index, i) != elided) continue;
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
  bool is_overwritten(const Stage& stage, int load) const {
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

  void replay_statement(const Statement& s, const std::vector<int64_t>& point) {
    if (!s.buffer.valid() || !is_ours(s.buffer)) return;
    const bool is_beyond = element(s, point) < 0;
    if (is_beyond && s.map.has_index()) return;  // of these sizes the run would have ended here, with an error
    if (s.kind == Statement::Kind::load || s.accumulates()) read(s.buffer, element(s, point));
    if (s.is_write()) write(s.buffer, element(s, point));
  }

  /// Reads what the points of a stage may read.
  void gather(const Statement& s, const std::vector<Passed>& loops, std::vector<int64_t>& point) {
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

  void gather_here(const Statement& s, const std::vector<int64_t>& point) {
    if (!is_ours(s.buffer)) return;
    for (int64_t e : reachable(s, point)) {
      if (goes_on()) read(s.buffer, e);
    }
  }

  /// Every element there has new content afterwards.
  void scatter(const Statement& s, const std::vector<int64_t>& point) {
    if (!is_ours(s.buffer)) return;
    for (int64_t e : reachable(s, point)) {
      if (!goes_on()) return;
      if (places_[root(s.buffer)].expected[static_cast<std::size_t>(e)] != 0) read(s.buffer, e);
      if (goes_on()) write(s.buffer, e);
    }
  }

  /// The elements that a point may reach: nobody knows which along the dims that go through an index. None where a
  /// subscript leaves the buffer, which is the kernel verifier's business.
  std::vector<int64_t> reachable(const Statement& s, const std::vector<int64_t>& point) {
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
  static bool reaches_the_same(const Statement& s) {
    return std::ranges::all_of(s.map.subscripts, [](const kernel::Subscript& u) { return u.axes.empty(); });
  }

  /// A store that is left out: the register is an element of another buffer, which must lie in these very bytes.
  void take_over(const Stage& stage, const Statement& store, const std::vector<int64_t>& point) {
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
  std::optional<int64_t> known(const kernel::IndexTerm& index) const {
    for (const auto& [reg, number] : known_) {
      if (reg == index.index) return number;
    }
    return std::nullopt;
  }
  /// Does it go through an index that nobody knows here?
  bool is_anywhere(const kernel::Subscript& subscript) const { return subscript.index && !known(*subscript.index); }
  bool is_anywhere(const AccessMap& map) const {
    return std::ranges::any_of(map.subscripts, [&](const kernel::Subscript& u) { return is_anywhere(u); });
  }

  /// Where the indices that nobody knows are 0.
  int64_t coordinate_of(BufferId buffer, const kernel::Subscript& subscript, const std::vector<int64_t>& point) const {
    int64_t at = value(subscript.base);
    if (subscript.index) at += subscript.index->step * known(*subscript.index).value_or(0);
    for (const kernel::AxisTerm& term : subscript.axes) {
      const bool from_tile = kernel_->is_tiled() && term.axis == kernel_->tiled_axis() && kernel_->is_local(buffer);
      at += term.step * (point[static_cast<std::size_t>(term.axis)] - (from_tile ? tile_.begin : 0));
    }
    return at;
  }

  int64_t element(const Statement& s, const std::vector<int64_t>& point) const {
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

  void check_outputs() {
    for (BufferId b : program_.outputs) {
      if (!goes_on()) return;
      step_ = StepId(program_.steps.size() - 1);
      if (is_ours(b)) read_all(b);
    }
  }

  const KernelProgram& program_;
  const Kernel* kernel_ = nullptr;  // that is replayed
  Passed tile_;                     // of its outer axis, where that is tiled
  const std::vector<kernel::RegionSpan> regions_;
  const Liveness liveness_;
  const Ways ways_;
  int64_t left_;        // accesses and points that it may still pass
  int64_t bytes_left_;  // that it may still follow
  int num_choices_ = 0;
  bool changed_given_ = false;  // has a byte that the caller gave been overwritten?
  const Sharing& sharing_;
  std::span<const Layout> layouts_;
  std::span<const int64_t> symbols_;
  IdMap<BufferId, Place> places_;
  IdMap<BufferId, int64_t> turns_;                             // of the loops, by their counters; else -1
  std::vector<std::pair<kernel::RegisterId, int64_t>> known_;  // registers of the stage that hold such a turn
  IdMap<BufferId, int64_t> counts_ = IdMap<BufferId, int64_t>(program_.buffers.size(), -1);
  std::vector<Block> blocks_;
  IndexProof proof_;
  Content last_content_ = 0;
  StepId step_;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> verify(const KernelProgram& program, const MemoryPlan& plan, std::span<const Layout> layouts,
                               std::span<const int64_t> symbols, const ReplayLimits& limits) {
  std::vector<Diagnostic> out = Replay(program, plan, layouts, symbols, Ways::all_true, limits).run();
  if (kernel::regions_of(program).empty()) return out;
  for (Ways ways : {Ways::all_false, Ways::in_turn}) {
    if (out.empty()) out = Replay(program, plan, layouts, symbols, ways, limits).run();
  }
  return out;
}

std::vector<Diagnostic> verify(const KernelProgram& program, const MemoryPlan& plan, std::span<const int64_t> symbols,
                               Planner planner, const ReplayLimits& limits) {
  std::vector<Layout> layouts;
  for (int segment = 0; segment < plan.sharing.num_segments(); ++segment) {
    layouts.push_back(memory::plan(planner, storages_of_segment(plan.sharing, segment, symbols)));
  }
  return verify(program, plan, layouts, symbols, limits);
}

}  // namespace inlay::memory
