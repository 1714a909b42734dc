#include "planned_run.h"

#include <algorithm>
#include <deque>
#include <map>

#include "guarded_block.h"
#include "memory/liveness.h"
#include "memory/verify.h"

namespace inlay::tool {
namespace {

using kernel::BufferId;

/// A door for the evaluator: calls the reference's functions, keeps what they return until the run ends.
class Door {
 public:
  explicit Door(std::span<const reference::HostFunction> functions) : functions_(functions) {}

  bool operator()(const kernel::HostCall& call, std::span<const kernel::HostTensor> operands,
                  std::span<kernel::HostTensor> results) {
    const auto at = static_cast<std::size_t>(call.function);
    if (call.function < 0 || at >= functions_.size() || !functions_[at]) return false;
    std::vector<Tensor> arguments;
    for (const kernel::HostTensor& operand : operands) {
      Tensor argument = Tensor::zeros(operand.dtype, operand.dims);
      std::copy_n(operand.data, argument.data.size(), argument.data.begin());
      arguments.push_back(std::move(argument));
    }
    try {
      std::vector<Tensor> made = functions_[at](arguments);
      for (std::size_t i = 0; i < results.size(); ++i) {
        kept_.push_back(std::move(made.at(i)));
        results[i].dims = kept_.back().dims;
        results[i].data = kept_.back().data.data();
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }

 private:
  std::span<const reference::HostFunction> functions_;
  std::deque<Tensor> kept_;
};

std::vector<kernel::Array> arrays_of(std::span<const Tensor> tensors) {
  std::vector<kernel::Array> arrays;
  for (const Tensor& tensor : tensors) arrays.push_back({tensor.dtype, tensor.dims, tensor.data});
  return arrays;
}

/// Where everything lies in one run; blocks are made when the sizes that they need are known.
class PlannedMemory {
 public:
  PlannedMemory(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, memory::Planner planner,
                std::span<kernel::Array> params)
      : program_(program), plan_(plan), planner_(planner), params_(params) {
    // The caller has a donated parameter where the result lies that takes its place.
    for (BufferId param : program.params) {
      if (!is_moved(param)) continue;
      const std::vector<std::byte>& bytes = params[program.buffers[param].slot].bytes;
      const int storage = static_cast<int>(plan.sharing.placements[param].storage.index);
      std::ranges::copy(bytes, block(storage, 0, static_cast<int64_t>(bytes.size())).begin());
    }
  }

  std::byte* address(BufferId buffer, std::span<const int64_t> symbols) {
    const kernel::Buffer& what = program_.buffers[buffer];
    if (what.role == kernel::Role::param && !is_moved(buffer)) return params_[what.slot].bytes.data();
    const memory::Placement& placement = plan_.sharing.placements[buffer];
    INLAY_CHECK(placement.storage.valid(), what.name, " has no storage");
    return storage(placement.storage, symbols) + placement.offset_bytes.evaluate(symbols);
  }

  /// Nothing is left of what the plan says is dead: the bytes of the arena that no storage needs at this step are ones,
  /// which read as NaN.
  void poison(kernel::StepId step) {
    begin_segments(step);
    const memory::Lifetime now{memory::read_tick(step), memory::end_tick(step)};
    for (auto& [index, segment] : segments_) {
      const int64_t size = segment.layout.arena_bytes;
      std::vector<std::pair<int64_t, int64_t>> needed = {{0, 0}};
      for (std::size_t s = 0; s < segment.storages.size(); ++s) {
        const memory::Storage& storage = segment.storages[s];
        const int64_t begin = segment.layout.offset_bytes[s];
        if (is_placed(storage) && meet(storage.live, now)) needed.emplace_back(begin, begin + storage.size_bytes);
      }
      std::ranges::sort(needed);
      needed.emplace_back(size, size);
      std::byte* bytes = block(-1, index, size).begin();
      int64_t free_from = 0;
      for (const auto& [begin, end] : needed) {
        if (begin > free_from) std::fill(bytes + free_from, bytes + begin, std::byte{0xff});
        free_from = std::max(free_from, end);
      }
    }
  }

  /// Is what the caller gave as it was?
  bool is_unchanged(BufferId param, std::span<const std::byte> given, std::span<const int64_t> symbols) {
    return std::ranges::equal(given, std::span(address(param, symbols), given.size()));
  }

  void check_guards() {
    for (auto& [key, block] : blocks_) block.check(key.first < 0 ? "the arena" : "an output");
  }

 private:
  bool is_moved(BufferId param) const {
    const memory::StorageId storage = plan_.sharing.placements[param].storage;
    return storage.valid() && plan_.sharing.storages[storage].owner != memory::Owner::param;
  }

  /// In a loop the sizes are others in each pass, and so is the block.
  void begin_segments(kernel::StepId step) {
    const std::vector<kernel::StepId>& starts = plan_.sharing.segment_starts;
    for (int segment = 1; segment < plan_.sharing.num_segments(); ++segment) {
      if (starts[static_cast<std::size_t>(segment)] != step || segments_.erase(segment) == 0) continue;
      const auto before = blocks_.find(std::pair(-1, segment));
      if (before == blocks_.end()) continue;
      before->second.check("the arena");
      blocks_.erase(before);
    }
  }

  std::byte* storage(memory::StorageId id, std::span<const int64_t> symbols) {
    const memory::SharedStorage& storage = plan_.sharing.storages[id];
    if (storage.owner == memory::Owner::param) return params_[storage.slot].bytes.data();
    if (storage.owner == memory::Owner::output) {
      return block(static_cast<int>(id.index), 0, storage.size_bytes.evaluate(symbols)).begin();
    }
    auto segment = segments_.find(storage.segment);
    if (segment == segments_.end()) {
      const auto storages = memory::storages_of_segment(plan_.sharing, storage.segment, symbols);
      segment = segments_.emplace(storage.segment, Segment{storages, memory::plan(planner_, storages)}).first;
    }
    const memory::Layout& layout = segment->second.layout;
    return block(-1, storage.segment, layout.arena_bytes).begin() + layout.offset_bytes[id.index];
  }

  GuardedBlock& block(int storage, int segment, int64_t size) {
    return blocks_.try_emplace(std::pair(storage, segment), size).first->second;
  }

  const kernel::KernelProgram& program_;
  const memory::MemoryPlan& plan_;
  const memory::Planner planner_;
  std::span<kernel::Array> params_;
  struct Segment {
    std::vector<memory::Storage> storages;
    memory::Layout layout;
  };
  std::map<int, Segment> segments_;
  std::map<std::pair<int, int>, GuardedBlock> blocks_;  // by output storage, or -1 and the segment
};

/// The plan's own proof; quadratic, so only where it is short.
void verify_plan(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, memory::Planner planner,
                 std::span<const int64_t> symbols) {
  int64_t elements = 0;
  for (const kernel::Buffer& buffer : program.buffers) elements += kernel::num_elements(buffer).evaluate(symbols);
  if (elements > 5000) return;
  for (const Diagnostic& diagnostic : memory::verify(program, plan, symbols, planner)) throw Error(diagnostic);
  if (memory::has_static_arena(plan.sharing)) return;
  // What was laid out for larger sizes holds for these too.
  std::vector<int64_t> upper_bounds;
  for (int64_t size : symbols) upper_bounds.push_back(size + size / 2 + 1);
  std::vector<memory::Layout> layouts;
  for (int segment = 0; segment < plan.sharing.num_segments(); ++segment)
    layouts.push_back(memory::plan(planner, memory::storages_up_to(plan.sharing, segment, upper_bounds)));
  for (const Diagnostic& diagnostic : memory::verify(program, plan, layouts, symbols)) throw Error(diagnostic);
}

}  // namespace

std::vector<Tensor> run_apart(const kernel::KernelProgram& program, std::span<const Tensor> inputs,
                              std::span<const reference::HostFunction> host_functions) {
  Door door(host_functions);
  const kernel::Evaluation evaluation = kernel::evaluate(program, arrays_of(inputs), std::ref(door));
  if (evaluation.failure) throw kernel::error_of(program, *evaluation.failure);
  std::vector<Tensor> outputs;
  for (const kernel::Array& array : evaluation.outputs) outputs.push_back({array.dtype, array.dims, array.bytes});
  return outputs;
}

std::vector<Tensor> run_planned(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                                memory::Planner planner, std::span<const Tensor> inputs,
                                std::span<const reference::HostFunction> host_functions) {
  std::vector<kernel::Array> params = arrays_of(inputs);
  std::vector<int64_t> symbols = kernel::bind_symbols(program, params);
  PlannedMemory memory(program, plan, planner, params);
  Door door(host_functions);
  const auto address = [&](BufferId buffer, std::span<const int64_t> known) { return memory.address(buffer, known); };
  const auto failure =
      kernel::evaluate(program, symbols, address, std::ref(door), [&](kernel::StepId step) { memory.poison(step); });
  memory.check_guards();
  for (std::size_t i = 0; i < params.size(); ++i) {
    const bool may_change = program.buffers[program.params[i]].donated && !failure;
    INLAY_CHECK(may_change || memory.is_unchanged(program.params[i], inputs[i].data, symbols), "argument ", i,
                " was changed");
  }
  if (failure) throw kernel::error_of(program, *failure);
  verify_plan(program, plan, planner, symbols);

  std::vector<Tensor> outputs;
  for (BufferId buffer : program.outputs) {
    const kernel::Buffer& what = program.buffers[buffer];
    std::vector<int64_t> dims;
    for (const Dim& dim : what.dims) dims.push_back(dim.evaluate(symbols));
    Tensor out = Tensor::zeros(what.dtype, std::move(dims));
    std::copy_n(memory.address(buffer, symbols), out.data.size(), out.data.begin());
    outputs.push_back(std::move(out));
  }
  return outputs;
}

}  // namespace inlay::tool
