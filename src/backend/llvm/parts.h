#pragma once
// A program of many steps becomes several functions.
//
// Register allocation takes time by the values that live through a function times its blocks, so the time of a program
// that is one function is quadratic in its steps. Once a function is large, what follows is a *part*: a function of its
// own, which the large one calls at that place and which ends with the same codes. A part holds whole steps of one
// body, or whole stages of one kernel. It computes sizes and addresses anew, from the tables of the call; 0-d values
// and what host calls gave go over in memory.
#include <map>
#include <memory>
#include <set>

#include "backend/llvm/regions.h"

namespace inlay::llvm_backend {

class Part {
 public:
  explicit Part(FunctionEmitter& caller, Frame::Kind kind = Frame::Kind::part);

  /// What the part will read or write: it gets the value that the caller has by now.
  void take(const kernel::StepAccess& access);
  /// The caller calls it, and has the values of what the part has written that `is_read_later` asks for.
  void close(llvm::function_ref<bool(BufferId root)> is_read_later);
  /// Of blocks, which give no values back: the caller has the values that they take, for as long as its scratch stays.
  Value* close_blocks();
  bool has_taken(BufferId root) const { return taken_.contains(root); }

  FunctionEmitter& function() { return f_; }

 private:
  Value* slot_of(FunctionEmitter& f, Value* slots, std::size_t i);
  Value* load(FunctionEmitter& f, BufferId root, Value* slot);
  void store(FunctionEmitter& f, BufferId root, Value* slot);
  Value* stored_slots(std::size_t num_given);

  FunctionEmitter& caller_;
  FunctionEmitter f_;
  std::vector<BufferId> passed_;      // by slot
  std::map<BufferId, Value*> taken_;  // with its value when the part begins
  std::set<BufferId> written_;
};

/// The functions that are open while the steps of a program are emitted, each called by the one before.
class OpenFunctions {
 public:
  explicit OpenFunctions(FunctionEmitter& entry);

  /// Opens and closes parts, so that a step has its function.
  void begin_step(kernel::StepId step);
  void end();  // closes all parts

  FunctionEmitter& function() { return open_.empty() ? entry_ : open_.back()->part.function(); }
  RegionEmitter& regions() { return open_.empty() ? entry_regions_ : open_.back()->regions; }
  /// Sizes or addresses are known only from here on.
  void begin_finding();

 private:
  struct Open {
    Open(FunctionEmitter& caller, kernel::StepId begin, const std::vector<kernel::RegionSpan>& regions)
        : part(caller), regions(part.function(), regions), begin(begin) {}
    Part part;
    RegionEmitter regions;
    kernel::StepId begin;
    bool finds = false;
  };
  /// The first and the last step that reads a buffer.
  struct Reads {
    uint32_t first = UINT32_MAX, last = 0;
  };

  void take(kernel::StepId step);
  void close(kernel::StepId next);

  FunctionEmitter& entry_;
  const std::vector<kernel::RegionSpan> spans_;
  RegionEmitter entry_regions_;
  std::vector<std::unique_ptr<Open>> open_;
  std::vector<kernel::StepAccess> access_;  // by step
  std::vector<Reads> reads_;                // by root
};

}  // namespace inlay::llvm_backend
