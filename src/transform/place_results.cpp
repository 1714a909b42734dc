#include "transform/place_results.h"

#include <algorithm>
#include <optional>

#include "kernel/library_layout.h"
#include "kernel/regions.h"
#include "kernel/sizes.h"
#include "kernel/steps.h"
#include "kernel/transfers.h"
#include "kernel/visit.h"
#include "transform/moving_steps.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::CallArray;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::LibraryCall;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StepId;
using kernel::Transfer;

namespace {

/// What brings a call's result to its place, in the only stage of a kernel.
struct Bringing {
  Transfer transfer;
  std::vector<SymbolId> symbols;  // must be known where the place is written
  StepId step() const { return transfer.step; }
};

class ResultPlacer {
 public:
  ResultPlacer(KernelProgram& program, LoopPassContext& context)
      : program_(program),
        context_(context),
        names_(count_names(program)),
        writes_follow_(program.buffers.size()),
        loaded_by_(program.buffers.size()) {
    for (StepId step : ids<StepId>(program.steps.size())) {
      if (const auto* kernel = std::get_if<Kernel>(&at(step))) {
        if (kernel->stages.size() != 1) continue;
        for (const Statement& s : kernel->stages[0].statements) {
          if (s.kind == Statement::Kind::load) loaded_by_[s.buffer] = step;
        }
      } else if (std::holds_alternative<LibraryCall>(at(step))) {
        calls_.push_back(step);
      } else if (is_border(at(step))) {
        borders_.push_back(step);
      }
    }
  }

  void run() {
    // What one placement makes of the steps before it may let another be.
    for (bool placed = true; placed;) {
      placed = false;
      for (StepId call : calls_) {
        while (place_one_of(call)) placed = true;
      }
    }
    if (steps_) steps_->finish();
    std::erase_if(program_.steps, [](const Step& step) {
      const auto* kernel = std::get_if<Kernel>(&step);
      return kernel && kernel->stages.empty() && kernel->outputs.empty();
    });
  }

 private:
  BufferId root(BufferId b) const { return kernel::root_of(program_, b); }
  const Step& at(StepId step) const { return program_.steps[step.index]; }
  Kernel& kernel_at(StepId step) { return std::get<Kernel>(program_.steps[step.index]); }
  LibraryCall& call_at(StepId step) { return std::get<LibraryCall>(program_.steps[step.index]); }

  /// Of most programs no result can be placed, and they need no lists of who names what.
  MovingSteps& steps() {
    if (!steps_) steps_.emplace(program_);
    return *steps_;
  }

  /// Is a result of the call at this step placed, that was not before? (The call may stand elsewhere then.)
  bool place_one_of(StepId step) {
    const LibraryCall& call = call_at(step);
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      const BufferId made = call.results[r].buffer;
      const kernel::Buffer& buffer = program_.buffers[made];
      const bool is_own = buffer.role == kernel::Role::temporary && !buffer.view_of.valid() && names_[made] == 2;
      auto bringing = is_own ? find_bringing(step, made) : std::nullopt;
      const auto array = bringing ? array_of(call, r, *bringing) : std::nullopt;
      if (!array) continue;
      bringing->symbols = symbols_of(*array);
      const auto begin = start_before(step, *bringing);
      const auto behind = begin ? std::optional(step) : place_behind(step, *bringing);
      if (!behind || !context_.fires()) continue;
      drop(*bringing);
      call_at(step).results[r] = *array;
      steps().changed(step, {made, array->buffer});
      kernel::Buffer& place = program_.buffers[root(array->buffer)];
      if (place.role == kernel::Role::temporary) kernel::offer(place.stored, program_.buffers[made].stored);
      names_[made] = 0;
      if (begin) {
        bring_start(*begin, array->buffer, step);
      } else if (*behind != step) {
        steps().move_behind(*behind, step);
      }
      return true;
    }
    return false;
  }

  /// Of what a load behind the call in the same body loads, which nothing else asks for: in another body it is done
  /// another number of times.
  std::optional<Bringing> find_bringing(StepId call, BufferId made) {
    const StepId step = loaded_by_[made];
    const auto border = std::ranges::upper_bound(borders_, call);
    if (!step.valid() || step < call || (border != borders_.end() && *border < step)) return std::nullopt;
    const Kernel& kernel = kernel_at(step);
    const Stage& stage = kernel.stages[0];
    const int load = static_cast<int>(
        std::ranges::find_if(stage.statements,
                             [&](const Statement& s) { return s.kind == Statement::Kind::load && s.buffer == made; }) -
        stage.statements.begin());
    int store = -1;
    for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
      bool is_asked = false;
      for_each_register(stage.statements[i],
                        [&](kernel::RegisterId r) { is_asked |= r == stage.statements[load].result; });
      if (is_asked && (store >= 0 || !stage.statements[i].always_sets())) return std::nullopt;
      if (is_asked) store = i;
    }
    if (store < 0 || !kernel.outer.empty() || stage.axes.empty()) return std::nullopt;
    auto transfer = transfer_of(program_, step, 0, load, store);
    if (!transfer) return std::nullopt;
    const kernel::Role role = program_.buffers[transfer->destination].role;
    if (role != kernel::Role::temporary && role != kernel::Role::output) return std::nullopt;
    if (meets_at(step, *transfer)) return std::nullopt;
    return Bringing{*std::move(transfer), {}};
  }

  /// The place as the function sees it; none where it cannot write there.
  std::optional<CallArray> array_of(const LibraryCall& call, std::size_t result, const Bringing& bringing) const {
    const std::vector<Dim>& dims = program_.buffers[bringing.transfer.source].dims;
    const std::vector<Dim>& along = bringing.transfer.strides;
    const LibraryOpFacts& row = facts(call.op);
    const CoreAxes& axes = row.signature.results[result];
    const std::array<Dim, 3> extents = library_extents(call.op, axes, call.sizes);
    CallArray out = row_major_array(call, axes, store_of(bringing).buffer);
    out.offset = bringing.transfer.offset;
    // A plain vector lacks an axis, whose size is 1.
    std::size_t num_core = axes.size();
    std::vector<bool> is_there(axes.size(), true);
    for (std::size_t a = 0; a < axes.size() && num_core > dims.size(); ++a) {
      if (!axes[a].optional || !extents[a + 1].is(1)) continue;
      is_there[a] = false;
      --num_core;
    }
    if (num_core > dims.size()) return std::nullopt;
    const std::size_t num_batch = dims.size() - num_core;
    const auto batch = kernel::merged_stride(std::span(dims).first(num_batch), std::span(along).first(num_batch));
    if (!batch) return std::nullopt;
    if (!extents[0].is(1)) out.strides[0] = *batch;
    std::size_t next = num_batch;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (is_there[a] && !extents[a + 1].is(1)) out.strides[a + 1] = along[next];
      next += is_there[a];
    }
    const bool fits =
        kernel::why_not_laid(row.result_layouts[result], extents, out.strides, program_.symbol_names()).empty();
    return fits ? std::optional(out) : std::nullopt;
  }

  std::vector<SymbolId> symbols_of(const CallArray& array) const {
    std::vector<SymbolId> out;
    const auto add = [&](const Dim& size) { std::ranges::copy(size.symbols(), std::back_inserter(out)); };
    std::ranges::for_each(program_.buffers[array.buffer].dims, add);
    for_each_size(array, add);
    return out;
  }

  /// Is it only from this step on that the place's size and offset are known?
  bool binds_place(StepId step, const Bringing& bringing) const {
    return std::ranges::any_of(symbols_bound_by(at(step)), [&](SymbolId s) {
      return std::ranges::find(bringing.symbols, s) != bringing.symbols.end();
    });
  }

  /// The step whose start of the place can come before the call, so that the call may stay; none: nothing starts there,
  /// or it cannot.
  std::optional<StepId> start_before(StepId call, const Bringing& bringing) {
    const BufferId to = bringing.transfer.destination;
    const MovingSteps::Steps named = steps().naming(to, call, bringing.step());
    const auto found = std::ranges::find_if(named, [&](StepId step) { return start_at(step, to); });
    if (found == named.end()) return std::nullopt;
    const StepId begin = *found;
    const Start& start = *start_at(begin, to);
    const auto is_used_before = [&](BufferId buffer) {
      return std::ranges::any_of(steps().naming(buffer, call, begin), [&](StepId step) {
        return step != begin && access_of(program_, at(step)).names(buffer);
      });
    };
    if (is_used_before(to) || (start.kind == Start::Kind::copy && is_used_before(root(start.source)))) {
      return std::nullopt;
    }
    for (StepId step : steps().binding(call, begin)) {
      if (binds_place(step, bringing)) return std::nullopt;
    }
    for (StepId later : MovingSteps::Steps(found, named.end())) {
      if (meets_at(later, bringing.transfer) || (later != begin && start_at(later, to))) return std::nullopt;
    }
    return begin;
  }

  const Start* start_at(StepId step, BufferId buffer) const {
    const auto* kernel = std::get_if<Kernel>(&at(step));
    return kernel ? start_of(program_, *kernel, root(buffer)) : nullptr;
  }

  const Statement& store_of(const Bringing& bringing) const {
    return std::get<Kernel>(at(bringing.step())).stages[0].statements[bringing.transfer.store];
  }

  /// Moves the start of `buffer` from the kernel at `from` to a kernel of its own before `to`.
  void bring_start(StepId from, BufferId buffer, StepId to) {
    Kernel& kernel = kernel_at(from);
    const auto output = std::ranges::find_if(kernel.outputs, [&](const kernel::KernelOutput& o) {
      return o.start.kind != Start::Kind::keep && root(o.buffer) == root(buffer);
    });
    Kernel begins{.outputs = {*output}};
    output->start = {};
    const bool writes =
        any_statement(kernel, [&](const Statement& s) { return s.is_write() && s.buffer == output->buffer; });
    if (!writes) kernel.outputs.erase(output);
    steps().changed(from, {buffer});
    const BufferId copied = begins.outputs[0].start.source;
    if (copied.valid()) steps().changed(from, {copied});
    steps().add_before(to, std::move(begins));
  }

  /// The step behind which the call must stand, itself where it may stay: behind what its place begins with, what is
  /// written there or read from there before, and where its size is found. None: it cannot pass what stands between.
  std::optional<StepId> place_behind(StepId call, const Bringing& bringing) {
    StepId behind = call;
    for (StepId step : steps().naming(bringing.transfer.destination, call, bringing.step())) {
      if (step != call && must_come_first(step, bringing)) behind = step;
    }
    for (StepId step : steps().binding(call, bringing.step())) {
      if (steps().is_before(behind, step) && binds_place(step, bringing)) behind = step;
    }
    if (behind == call) return call;
    const kernel::StepAccess of_call = access_of(program_, at(call));
    for (StepId step : steps().all(call, behind)) {
      if (step != call && !may_pass(at(step), of_call, bringing.transfer.source, call_at(call))) return std::nullopt;
    }
    return behind;
  }

  bool must_come_first(StepId step, const Bringing& bringing) {
    const BufferId to = bringing.transfer.destination;
    const auto* kernel = std::get_if<Kernel>(&at(step));
    if (start_at(step, to)) return true;
    const bool copies = kernel && std::ranges::any_of(kernel->outputs, [&](const kernel::KernelOutput& output) {
                          return output.start.kind == Start::Kind::copy && root(output.start.source) == to;
                        });
    // That the loop that brings it does nothing else there was asked when it was found.
    return copies || (step != bringing.step() && meets_at(step, bringing.transfer));
  }

  /// Does the step reach what is brought, other than by bringing it?
  bool meets_at(StepId step, const Transfer& transfer) {
    std::optional<bool>& follow = writes_follow_[transfer.destination];  // they still do when some are dropped
    if (!follow) {
      follow = writes_follow_each_other(program_, transfer.destination, steps().naming(transfer.destination));
    }
    return may_touch(program_, step, transfer, *follow ? kernel::Access::reads : kernel::Access::all);
  }

  /// What is not kept, the result that moves aside: nothing reads what the call makes or writes what it reads; nothing
  /// else fails; and what the call reads is not the beginning of something, which could be made in its bytes.
  bool may_pass(const Step& step, const kernel::StepAccess& call, BufferId made, const LibraryCall& it) const {
    const kernel::StepAccess access = access_of(program_, step);
    const bool finds_size =
        std::holds_alternative<kernel::BindSize>(step) || std::holds_alternative<kernel::SizeCheck>(step);
    const auto* kernel = std::get_if<Kernel>(&step);
    if ((!kernel && !finds_size) || (can_fail(it) && can_fail(step))) return false;
    if (!kernel) return !access.names(made);
    const auto meet = [](const std::vector<BufferId>& a, const std::vector<BufferId>& b, BufferId but) {
      return std::ranges::any_of(a, [&](BufferId x) { return x != but && std::ranges::find(b, x) != b.end(); });
    };
    if (meet(call.writes, access.reads, made) || meet(call.writes, access.writes, made)) return false;
    if (meet(call.reads, access.writes, {})) return false;
    return std::ranges::none_of(kernel->outputs, [&](const kernel::KernelOutput& output) {
      return output.start.kind == Start::Kind::copy &&
             std::ranges::find(call.reads, root(output.start.source)) != call.reads.end();
    });
  }

  /// The loop keeps what else it does.
  void drop(const Bringing& bringing) {
    Kernel& kernel = kernel_at(bringing.step());
    std::vector<Statement>& statements = kernel.stages[0].statements;
    const auto [load, store] = std::pair(bringing.transfer.origin, bringing.transfer.store);
    const BufferId to = statements[store].buffer;
    statements.erase(statements.begin() + std::max(load, store));
    statements.erase(statements.begin() + std::min(load, store));
    if (statements.empty()) kernel.stages.clear();
    const bool still_writes = any_statement(kernel, [&](const Statement& s) { return s.is_write() && s.buffer == to; });
    std::erase_if(kernel.outputs, [&](const kernel::KernelOutput& output) {
      return output.buffer == to && output.start.kind == Start::Kind::keep && !still_writes;
    });
    steps().changed(bringing.step(), {bringing.transfer.source, to});
  }

  KernelProgram& program_;
  LoopPassContext& context_;
  IdMap<BufferId, int> names_;
  IdMap<BufferId, std::optional<bool>> writes_follow_;  // by destination
  IdMap<BufferId, StepId> loaded_by_;                   // of what is named twice: the kernel of one loop that loads it
  std::vector<StepId> borders_;                         // of bodies
  std::vector<StepId> calls_;                           // in order: none passes another
  std::optional<MovingSteps> steps_;
};

}  // namespace

KernelProgram place_results(KernelProgram program, LoopPassContext& context) {
  const bool calls =
      std::ranges::any_of(program.steps, [](const Step& step) { return std::holds_alternative<LibraryCall>(step); });
  if (calls) ResultPlacer(program, context).run();
  return program;
}

}  // namespace inlay::transform
