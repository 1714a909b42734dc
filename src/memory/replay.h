#pragma once
// The parts of the replay of a plan: it follows what every byte holds through all steps of a program. Inside
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

/// How far the replay is, how long it may still be, and what it has found.
class Progress {
 public:
  Progress(const KernelProgram& program, const ReplayLimits& limits)
      : program_(program), left_(limits.accesses), bytes_left_(limits.bytes) {}

  void begin(StepId step) { step_ = step; }
  /// One access or point more.
  void pass() { --left_; }
  /// Nothing is wrong so far, and the replay has not become too long.
  bool goes_on() const { return out_.empty() && left_ > 0; }
  /// For so many bytes more that are followed? Else nothing is replayed.
  bool has_room(int64_t bytes);
  void wrong(std::string message);
  /// About the step that is replayed.
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
  int64_t bytes_left_;  // that may still be followed
  std::vector<Diagnostic> out_;
};

/// The number of a content: what one write put into one element. 0: nothing yet.
using Content = uint64_t;

/// What each element holds, and what it should hold.
class Elements {
 public:
  Elements(const KernelProgram& program, std::span<const int64_t> symbols, Progress& progress)
      : program_(program),
        symbols_(symbols),
        progress_(progress),
        places_(program.buffers.size()),
        counts_(program.buffers.size(), -1) {}

  /// Where the plan says.
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
  /// The second, where it lies in the very bytes of the first and these hold that one, has its content too.
  bool take_over(BufferId from, int64_t from_element, BufferId to, int64_t to_element);
  /// Nothing is written of the buffer, which is no view, or of the view itself.
  void forget(BufferId b) { std::ranges::fill(places_[b].expected, Content{}); }
  /// The call could end with an error here: what the caller gave must be as it was.
  void may_fail();

 private:
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
  bool changed_given_ = false;  // has a byte that the caller gave been overwritten?
};

/// What the parts of a replay share.
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
  IdMap<BufferId, int64_t> turns;  // of the loops that are replayed, by their counters; else -1
  IndexProof proof;
};

void replay_call(const kernel::LibraryCall& call, State& state);
/// Can it end the program?
bool may_fail(const kernel::LibraryCall& call);
void replay_kernel(const kernel::Kernel& kernel, State& state);

}  // namespace inlay::memory::replay
