#pragma once
// May a kernel's output take the bytes of one of its operands?
//
// Only if no point other than the one that writes an element reads it at or after the write. That is decided from
// access maps, never from the order of a loop's points. Stages give two guarantees: a stage ends before the next begins
// (at one point of the outer axes), and the statements of one point run in order.
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/transfers.h"
#include "memory/liveness.h"

namespace inlay::memory {

/// Answers these questions about one kernel, which is read only once: a kernel of hundreds of stages is asked about as
/// many pairs.
class OverwriteQuestions {
 public:
  OverwriteQuestions(const kernel::KernelProgram& program, const kernel::Kernel& kernel);

  /// Says why the output may not take the operand's bytes, as a clause about the operand: "is read where it is
  /// overwritten"; empty if it may. Both are roots; the output has as many bytes as the operand. A `copy` start of the
  /// operand itself is no obstacle, since it then moves nothing.
  std::string why_not(kernel::BufferId operand, kernel::BufferId output) const;

  /// Says why a result may not be written over part by part where its operand lies in it, at `transfer` (whose store
  /// writes what is made of the load, not the same value): a clause about the operand; empty if it may. That the region
  /// is free otherwise is asked as of every transfer.
  std::string why_not_in_part(const kernel::Transfer& transfer) const;

  /// May a write of the kernel fill only a part of the output, which `uses` it? Else it has one write, of all of it.
  bool may_fill_part(kernel::BufferId output, const Uses& uses) const;

  /// The transfers by which what is computed of each element of the operand comes to a region of the output.
  std::vector<kernel::Transfer> transfers(kernel::StepId step, kernel::BufferId operand, kernel::BufferId output) const;

 private:
  /// One access of a buffer.
  struct Touch {
    int stage = 0, statement = 0;
    const kernel::Statement* at = nullptr;
    bool is_before(const Touch& other) const {
      return stage != other.stage ? stage < other.stage : statement < other.statement;
    }
  };
  /// The kernel's accesses of the bytes of a root.
  struct Accesses {
    std::vector<Touch> loads, writes;           // in order
    const kernel::Start* start = nullptr;       // its contents before the first stage
    std::vector<kernel::BufferId> copied_into;  // the roots that begin as copies
  };

  const Accesses& accesses_of(kernel::BufferId root) const;
  bool is_started(const Accesses& output, kernel::BufferId operand) const;
  bool is_made_first(const Accesses& operand, const Accesses& output) const;
  bool may_read_overwritten(const Touch& load, const Touch& write) const;
  bool may_follow(const Touch& load, const Touch& write, const Dim& offset = 0) const;
  bool are_disjoint(const Touch& a, const Touch& b) const;
  bool is_one_point(const Touch& touch) const;
  bool same_element(const Touch& load, const Touch& write, const Dim& offset) const;
  bool finishes_first(const kernel::Statement& load, const kernel::Statement& write) const;
  bool keeps_to_its_part(const kernel::Statement& load, const kernel::Statement& write, int outer_axis) const;
  std::vector<Dim> extents(const Touch& touch) const;
  const std::vector<Dim>& dims(const Touch& touch) const { return program_.buffers[touch.at->buffer].dims; }

  const kernel::KernelProgram& program_;
  const kernel::Kernel& kernel_;
  std::unordered_map<kernel::BufferId, Accesses> accesses_;
};

}  // namespace inlay::memory
