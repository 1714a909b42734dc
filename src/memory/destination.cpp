#include "memory/destination.h"

#include <algorithm>

#include "kernel/dim_proof.h"
#include "kernel/steps.h"

namespace inlay::memory {

using kernel::always_at_least;
using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Statement;
using kernel::StepId;
using kernel::Transfer;

namespace {

class DestinationQuestion {
 public:
  DestinationQuestion(const KernelProgram& program, const Liveness& liveness, const Transfer& transfer)
      : program_(program),
        liveness_(liveness),
        transfer_(transfer),
        begin_(offset_bytes(program, transfer)),
        source_(program.buffers[transfer.source]),
        destination_(program.buffers[transfer.destination]) {}

  std::string why_not() const {
    using kernel::Role;
    if (source_.role != Role::temporary) return str("is of role ", role_name(source_.role));
    if (destination_.role != Role::temporary && destination_.role != Role::output) return "goes nowhere";
    if (liveness_.uses[transfer_.source].writes.empty()) return "is written by nobody";
    if (!transfer_.keeps_order) return "lies there in another order";
    if (!lies_inside()) return "is not proved to lie inside";
    if (!is_finished()) return "is written after it is copied";
    if (!starts_first()) return str(destination_.name, " is filled after ", source_.name, " is computed");
    if (!is_alone()) return "lies where something else is written";
    return "";
  }

 private:
  BufferId root(BufferId buffer) const { return kernel::root_of(program_, buffer); }
  Dim end() const { return begin_ + size_bytes(source_); }
  StepId born() const { return liveness_.uses[transfer_.source].writes.front(); }

  /// Is the region proved to be in bounds, or checked before the first byte is written there?
  bool lies_inside() const {
    if (always_at_least(begin_, 0) && always_at_least(size_bytes(destination_), end())) return true;
    for (std::size_t step = born().index; step < program_.steps.size(); ++step) {
      if (std::holds_alternative<kernel::SizeCheck>(program_.steps[step])) return false;
    }
    return true;
  }

  /// Is everything that is ever written to `source` there when it is copied?
  bool is_finished() const {
    const std::vector<StepId>& writes = liveness_.uses[transfer_.source].writes;
    if (writes.back() != transfer_.step) return writes.back() < transfer_.step;
    if (transfer_.stage < 0) return false;
    const auto& kernel = std::get<Kernel>(program_.steps[transfer_.step.index]);
    int num_writes = 0, last_stage = -1;
    for (int stage = 0; stage < static_cast<int>(kernel.stages.size()); ++stage) {
      for (const Statement& s : kernel.stages[stage].statements) {
        if (!s.is_write() || root(s.buffer) != transfer_.source) continue;
        ++num_writes;
        last_stage = stage;
      }
    }
    const bool from_register = kernel.stages[transfer_.stage].statements[transfer_.origin].is_write();
    if (from_register) return num_writes == 1 && writes.size() == 1;
    return (kernel.outer.empty() || kernel.stages[last_stage].once) && last_stage < transfer_.stage;
  }

  /// Are all starts of `destination` before the first byte of `source`?
  bool starts_first() const {
    for (StepId step : liveness_.uses[transfer_.destination].writes) {
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
      if (!kernel || !start_of(program_, *kernel, transfer_.destination) || step < born()) continue;
      if (step != born() || start_of(program_, *kernel, transfer_.source)) return false;
    }
    return true;
  }

  /// Does nothing but the transfer write to the region?
  bool is_alone() const {
    return std::ranges::none_of(liveness_.uses[transfer_.destination].writes, [&](StepId step) {
      return may_touch(program_, step, transfer_, kernel::Access::writes);
    });
  }

  const KernelProgram& program_;
  const Liveness& liveness_;
  const Transfer& transfer_;
  const Dim begin_;  // in bytes of the destination
  const Buffer& source_;
  const Buffer& destination_;
};

}  // namespace

Dim offset_bytes(const KernelProgram& program, const Transfer& transfer) {
  return transfer.offset * Dim(size_bytes(program.buffers[transfer.destination].dtype));
}

std::string why_not_in_destination(const KernelProgram& program, const Liveness& liveness, const Transfer& transfer) {
  return DestinationQuestion(program, liveness, transfer).why_not();
}

}  // namespace inlay::memory
