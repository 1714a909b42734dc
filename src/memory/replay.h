#pragma once
// The parts of the replay of a plan, which tracks the contents of every byte through all steps of a program. Inside
// memory/verify only.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "memory/index_proof.h"
#include "memory/liveness.h"
#include "memory/verify.h"

namespace inlay::memory::replay {

using kernel::BufferId;
using kernel::KernelProgram;
using kernel::StepId;

/// The progress of the replay: the current step, the remaining budget, and the errors found.
class Progress {
 public:
  Progress(const KernelProgram& program, const ReplayLimits& limits)
      : program_(program), left_(limits.accesses), bytes_left_(limits.bytes) {}

  void begin(StepId step) { step_ = step; }
  /// Counts one access or point.
  void pass() { --left_; }
  /// Is there no error so far, and budget left?
  bool goes_on() const { return out_.empty() && left_ > 0; }
  /// Is there room to track this many more bytes? If not, nothing is replayed.
  bool has_room(int64_t bytes);
  void wrong(std::string message);
  /// Reports an error about the current step.
  template <class... Parts>
  void wrong_here(const Parts&... parts) {
    wrong(str(where(), parts...));
  }
  std::vector<Diagnostic> found() && { return std::move(out_); }

 private:
  std::string where() const;

  const KernelProgram& program_;
  StepId step_;
  int64_t left_;        // accesses and points
  int64_t bytes_left_;  // how many more may be tracked
  std::vector<Diagnostic> out_;
};

/// The number of a content, which one write put into one element. 0: nothing yet.
using Content = uint64_t;

/// The actual and the expected contents of each element.
class Elements {
 public:
  Elements(const KernelProgram& program, std::span<const int64_t> symbols, Progress& progress)
      : program_(program),
        symbols_(symbols),
        progress_(progress),
        places_(program.buffers.size()),
        counts_(program.buffers.size(), -1) {}

  /// Places all buffers where the plan puts them.
  void place(const Sharing& sharing, std::span<const Layout> layouts);

  int64_t value(const Dim& dim) const { return dim.evaluate(symbols_); }
  int64_t count(BufferId b);
  bool is_ours(BufferId b) const { return place_of(b).block >= 0; }
  bool begin_together(BufferId a, BufferId b) const;
  bool is_written(BufferId b, int64_t element) { return expected(b, element) != 0; }
  bool in_range(BufferId b, int64_t element);

  void read(BufferId b, int64_t element);
  void write(BufferId b, int64_t element) { write(b, element, ++last_content_); }
  void read_all(BufferId b);
  void write_all(BufferId b);
  void copy_all(BufferId from, BufferId to, bool elided);
  /// If the second element has the very bytes of the first, and these hold the expected content of the first, it takes
  /// over that content.
  bool take_over(BufferId from, int64_t from_element, BufferId to, int64_t to_element);
  /// Marks all of the buffer as unwritten. It is not a view, or the view itself is meant.
  void forget(BufferId b) { std::ranges::fill(places_[b].expected, Content{}); }
  /// Checks that the caller's bytes are unchanged, since the call could fail here.
  void may_fail();

 private:
  /// Bytes that buffers may share: an arena block, or the bytes of one output.
  struct Block {
    std::string name;
    std::vector<Content> bytes;
    bool is_given = false;  // by the caller, with a parameter's contents
  };

  /// A buffer with tracked bytes: where it lies, and the expected content of each element.
  struct Place {
    int block = -1;  // -1: not tracked
    int64_t begin = 0;
    int64_t storage_begin = 0, storage_end = 0;
    int64_t element_bytes = 1;
    std::vector<Content> expected;
  };

  void place(BufferId b, const Sharing& sharing, std::span<const Layout> layouts,
             const IdMap<StorageId, int>& block_of);
  const std::string& name(BufferId b) const { return program_.buffers[b].name; }
  const Place& place_of(BufferId b) const { return places_[kernel::root_of(program_, b)]; }
  Content& expected(BufferId b, int64_t element) {
    return places_[kernel::root_of(program_, b)].expected[static_cast<std::size_t>(element)];
  }
  std::span<Content> bytes_of(BufferId b, int64_t element);
  void write(BufferId b, int64_t element, Content content);

  const KernelProgram& program_;
  std::span<const int64_t> symbols_;
  Progress& progress_;
  std::vector<Block> blocks_;
  IdMap<BufferId, Place> places_;
  IdMap<BufferId, int64_t> counts_;
  Content last_content_ = 0;
  bool changed_given_ = false;  // has a byte of the caller been overwritten?
};

/// The state that the parts of a replay share.
struct State {
  State(const KernelProgram& program, std::span<const int64_t> symbols, const ReplayLimits& limits)
      : program(program),
        progress(program, limits),
        elements(program, symbols, progress),
        turns(program.buffers.size(), -1),
        proof(program, symbols) {}

  const KernelProgram& program;
  Progress progress;
  Elements elements;
  IdMap<BufferId, int64_t> turns;  // of the loops that are running, by their counters; else -1
  IndexProof proof;
};

void replay_call(const kernel::LibraryCall& call, State& state);
/// Can it fail?
bool may_fail(const kernel::LibraryCall& call);
void replay_kernel(const kernel::Kernel& kernel, State& state);

}  // namespace inlay::memory::replay
