#include "memory/destination.h"

#include <algorithm>

#include "kernel/dim_proof.h"
#include "kernel/steps.h"

namespace inlay::memory {

using kernel::AccessMap;
using kernel::always_at_least;
using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::StepId;

namespace {

bool always_sets(const Statement& s) { return s.always_sets(); }

/// Returns the offset of `source`'s first element in `destination`, if points touch the elements of both in the same
/// order.
std::optional<Dim> region_begin(const AccessMap& from, std::span<const Dim> from_dims, const AccessMap& to,
                                std::span<const Dim> to_dims, std::span<const Dim> extents) {
  if (to.has_index() || !covers_in_order(from, extents, from_dims)) return std::nullopt;
  const kernel::LinearMap a = linearize(from, from_dims), b = linearize(to, to_dims);
  return same_strides(a, b, extents) ? std::optional(b.base) : std::nullopt;
}

class TransferFinder {
 public:
  explicit TransferFinder(const KernelProgram& program) : program_(program) {}

  std::vector<Transfer> find() {
    for (StepId step : ids<StepId>(program_.steps.size())) {
      if (const auto* copy = std::get_if<kernel::Copy>(&program_.steps[step.index])) {
        out_.push_back({root(copy->source), root(copy->destination), 0, step});
      }
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
      for (int stage = 0; kernel && stage < static_cast<int>(kernel->stages.size()); ++stage) {
        find_in(*kernel, step, stage);
      }
    }
    return std::move(out_);
  }

 private:
  BufferId root(BufferId buffer) const { return kernel::root_of(program_, buffer); }

  void find_in(const Kernel& kernel, StepId step, int stage_index) {
    const Stage& stage = kernel.stages[stage_index];
    const std::vector<Dim> extents = axis_extents(kernel, stage);
    std::vector<std::vector<const Statement*>> of_register(stage.num_registers);  // its loads and stores
    for (const Statement& s : stage.statements) {
      if (s.kind == Statement::Kind::load) of_register[s.result.index].push_back(&s);
      if (always_sets(s)) of_register[s.operands[0].index].push_back(&s);
    }
    for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
      const Statement& store = stage.statements[i];
      if (!always_sets(store)) continue;
      for (const Statement* one : of_register[store.operands[0].index]) {
        const Statement& other = *one;
        const bool stores = other.kind == Statement::Kind::store;
        if (one == &store || root(other.buffer) == root(store.buffer)) continue;
        const Buffer &from = program_.buffers[other.buffer], &to = program_.buffers[store.buffer];
        // A register of another dtype would have rounded the value.
        const bool is_plain = from.dtype == to.dtype && other.dtype == from.dtype && store.dtype == to.dtype;
        if (!is_plain || from.role != kernel::Role::temporary) continue;
        // Elements of a local are counted from the beginning of the tile, those of other buffers from the beginning of
        // the array.
        if (kernel.is_tiled() && kernel.is_local(other.buffer) != kernel.is_local(store.buffer)) continue;
        const auto begin = region_begin(other.map, from.dims, store.map, to.dims, extents);
        if (!begin) continue;
        out_.push_back(
            {root(other.buffer), root(store.buffer), *begin * Dim(size_bytes(to.dtype)), step, stage_index, i, stores});
      }
    }
  }

  const KernelProgram& program_;
  std::vector<Transfer> out_;
};

class DestinationQuestion {
 public:
  DestinationQuestion(const KernelProgram& program, const Liveness& liveness, const Transfer& transfer)
      : program_(program),
        liveness_(liveness),
        transfer_(transfer),
        source_(program.buffers[transfer.source]),
        destination_(program.buffers[transfer.destination]) {}

  std::string why_not() const {
    using kernel::Role;
    if (source_.role != Role::temporary) return str("is of role ", role_name(source_.role));
    if (destination_.role != Role::temporary && destination_.role != Role::output) return "goes nowhere";
    if (liveness_.uses[transfer_.source].writes.empty()) return "is written by nobody";
    if (!lies_inside()) return "is not proved to lie inside";
    if (!is_finished()) return "is written after it is copied";
    if (!starts_first()) return str(destination_.name, " is filled after ", source_.name, " is computed");
    if (!is_alone()) return "lies where something else is written";
    return "";
  }

 private:
  BufferId root(BufferId buffer) const { return kernel::root_of(program_, buffer); }
  Dim end() const { return transfer_.offset_bytes + size_bytes(source_); }
  StepId born() const { return liveness_.uses[transfer_.source].writes.front(); }

  /// Is the region proved to be in bounds, or checked before the first byte is written there?
  bool lies_inside() const {
    if (always_at_least(transfer_.offset_bytes, 0) && always_at_least(size_bytes(destination_), end())) return true;
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
    if (transfer_.from_register) return num_writes == 1 && writes.size() == 1;
    return kernel.outer.empty() && last_stage < transfer_.stage;
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
    return std::ranges::all_of(liveness_.uses[transfer_.destination].writes, [&](StepId step) {
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
      if (!kernel) return step == transfer_.step;
      for (int stage = 0; stage < static_cast<int>(kernel->stages.size()); ++stage) {
        const std::vector<Statement>& statements = kernel->stages[stage].statements;
        for (int i = 0; i < static_cast<int>(statements.size()); ++i) {
          const bool is_itself = step == transfer_.step && stage == transfer_.stage && i == transfer_.statement;
          if (!is_itself && may_write_region(*kernel, kernel->stages[stage], statements[i])) return false;
        }
      }
      return true;
    });
  }

  bool may_write_region(const Kernel& kernel, const Stage& stage, const Statement& s) const {
    if (!s.is_write() || root(s.buffer) != transfer_.destination) return false;
    const auto region = bounding_region(s.map, axis_extents(kernel, stage), program_.buffers[s.buffer].dims);
    if (!region) return true;
    const Dim element = size_bytes(destination_.dtype);
    return !kernel::always_apart(region->first * element, region->last * element, transfer_.offset_bytes, end());
  }

  const KernelProgram& program_;
  const Liveness& liveness_;
  const Transfer& transfer_;
  const Buffer& source_;
  const Buffer& destination_;
};

}  // namespace

std::vector<Transfer> find_transfers(const KernelProgram& program) { return TransferFinder(program).find(); }

std::string why_not_in_destination(const KernelProgram& program, const Liveness& liveness, const Transfer& transfer) {
  return DestinationQuestion(program, liveness, transfer).why_not();
}

}  // namespace inlay::memory
