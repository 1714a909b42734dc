#pragma once
// The replay of a plan: it follows what every byte holds through all steps of a program. Inside memory/verify only.
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/regions.h"
#include "memory/index_proof.h"
#include "memory/liveness.h"
#include "memory/verify.h"

namespace inlay::memory::replay {

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
  std::vector<Diagnostic> run();

 private:
  // verify.cpp: the steps in their order, loops and conds

  bool replay_steps(StepId begin, StepId end);
  bool replay_loop(const kernel::LoopBegin& loop, const kernel::RegionSpan& region);
  static bool fails_as_a_whole(const kernel::Step& step);
  bool choose();
  bool replay(const kernel::LoopBegin&) { return true; }
  bool replay(const kernel::LoopEnd&) { return true; }
  bool replay(const kernel::CondBegin&) { return true; }
  bool replay(const kernel::CondElse&) { return true; }
  bool replay(const kernel::CondEnd&) { return true; }
  /// Nothing is wrong so far, and the replay has not become too long.
  bool goes_on() const { return out_.empty() && left_ > 0; }
  void wrong(std::string message);
  BufferId root(BufferId b) const { return kernel::root_of(program_, b); }
  const std::string& name(BufferId b) const { return program_.buffers[b].name; }
  int64_t value(const Dim& dim) const { return dim.evaluate(symbols_); }
  int64_t count(BufferId b);

  // replay_plan.cpp: the plan by itself

  void check_layouts();
  void check_lives();
  void place_buffers();
  bool has_room(int64_t bytes);
  void may_fail();
  void place(BufferId b, const IdMap<StorageId, int>& block_of);

  // replay_elements.cpp: what each element holds

  bool is_ours(BufferId b) const { return places_[root(b)].block >= 0; }
  std::span<Content> bytes_of(BufferId b, int64_t element);
  bool in_range(BufferId b, int64_t element);
  std::string where() const;
  void read(BufferId b, int64_t element);
  void write(BufferId b, int64_t element) { write(b, element, ++last_content_); }
  void write(BufferId b, int64_t element, Content content);
  void read_all(BufferId b);
  void write_all(BufferId b);
  void copy_all(BufferId from, BufferId to, bool elided);

  // replay_steps.cpp: a step; false ends the program

  bool replay(const kernel::LibraryCall& call);
  bool takes_bytes_of(const kernel::LibraryCall& call, std::size_t operand);

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

  bool replay(const kernel::HostCall& call);
  bool replay(const kernel::BindSize&) { return true; }  // a register, and a number that is given here
  bool replay(const kernel::Copy& copy);
  bool replay(const kernel::SizeCheck& check);
  bool replay(const Kernel& kernel);

  /// An axis in a loop nest, and which of its points are passed there.
  struct Passed {
    std::size_t axis = 0;
    int64_t begin = 0, end = 0, step = 1;
  };

  std::vector<Passed> passed(const std::vector<kernel::Axis>& axes, std::size_t first) const;

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

  void replay_stage(const Kernel& kernel, int stage_index, std::vector<int64_t>& point);
  bool is_overwritten(const Stage& stage, int load) const;
  void replay_statement(const Statement& s, const std::vector<int64_t>& point);
  void gather(const Statement& s, const std::vector<Passed>& loops, std::vector<int64_t>& point);
  void gather_here(const Statement& s, const std::vector<int64_t>& point);
  void scatter(const Statement& s, const std::vector<int64_t>& point);
  std::vector<int64_t> reachable(const Statement& s, const std::vector<int64_t>& point);
  static bool reaches_the_same(const Statement& s);
  void take_over(const Stage& stage, const Statement& store, const std::vector<int64_t>& point);
  std::optional<int64_t> known(const kernel::IndexTerm& index) const;
  /// Does it go through an index that nobody knows here?
  bool is_anywhere(const kernel::Subscript& subscript) const { return subscript.index && !known(*subscript.index); }
  bool is_anywhere(const AccessMap& map) const;
  int64_t coordinate_of(BufferId buffer, const kernel::Subscript& subscript, const std::vector<int64_t>& point) const;
  int64_t element(const Statement& s, const std::vector<int64_t>& point) const;
  void check_outputs();

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

}  // namespace inlay::memory::replay
