#include "transform/place_results.h"

#include <algorithm>
#include <optional>

#include "kernel/library_layout.h"
#include "kernel/regions.h"
#include "kernel/sizes.h"
#include "kernel/steps.h"
#include "kernel/transfers.h"
#include "kernel/visit.h"
#include "transform/join.h"

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
  std::size_t step() const { return transfer.step.index; }
};

class ResultPlacer {
 public:
  ResultPlacer(KernelProgram& program, LoopPassContext& context)
      : program_(program), context_(context), names_(count_names(program)), writes_follow_(program.buffers.size()) {}

  void run() {
    // What one placement makes of the steps before it may let another be.
    for (bool placed = true; placed;) {
      placed = false;
      for (std::size_t step = 0; step < program_.steps.size();) {
        const bool here = place_one_of(step);
        placed |= here;
        step += here ? 0 : 1;
      }
    }
    std::erase_if(program_.steps, [](const Step& step) {
      const auto* kernel = std::get_if<Kernel>(&step);
      return kernel && kernel->stages.empty() && kernel->outputs.empty();
    });
  }

 private:
  BufferId root(BufferId b) const { return kernel::root_of(program_, b); }
  LibraryCall& call_at(std::size_t step) { return std::get<LibraryCall>(program_.steps[step]); }

  /// Is a result of the call at this step placed, that was not before? (The call may stand elsewhere then.)
  bool place_one_of(std::size_t step) {
    const auto* call = std::get_if<LibraryCall>(&program_.steps[step]);
    for (std::size_t r = 0; call && r < call->results.size(); ++r) {
      const BufferId made = call->results[r].buffer;
      const kernel::Buffer& buffer = program_.buffers[made];
      const bool is_own = buffer.role == kernel::Role::temporary && !buffer.view_of.valid() && names_[made] == 2;
      auto bringing = is_own ? find_bringing(step, made) : std::nullopt;
      const auto array = bringing ? array_of(*call, r, *bringing) : std::nullopt;
      if (!array) continue;
      bringing->symbols = symbols_of(*array);
      const auto begin = start_before(step, *bringing);
      const auto behind = begin ? std::optional(step) : place_behind(step, *bringing);
      if (!behind || !context_.fires()) continue;
      drop(*bringing);
      call_at(step).results[r] = *array;
      kernel::Buffer& place = program_.buffers[root(array->buffer)];
      if (place.role == kernel::Role::temporary) kernel::offer(place.stored, program_.buffers[made].stored);
      names_[made] = 0;
      if (begin) {
        bring_start(*begin, array->buffer, step);
      } else {
        const auto first = program_.steps.begin() + static_cast<std::ptrdiff_t>(step);
        std::rotate(first, first + 1, program_.steps.begin() + static_cast<std::ptrdiff_t>(*behind) + 1);
      }
      return true;
    }
    return false;
  }

  /// Within the same body: elsewhere it is done another number of times.
  std::optional<Bringing> find_bringing(std::size_t call, BufferId made) const {
    for (std::size_t step = call + 1; step < program_.steps.size(); ++step) {
      if (is_border(program_.steps[step])) return std::nullopt;
      const auto* kernel = std::get_if<Kernel>(&program_.steps[step]);
      if (!kernel || kernel->stages.size() != 1) continue;
      const std::vector<Statement>& statements = kernel->stages[0].statements;
      for (std::size_t i = 0; i < statements.size(); ++i) {
        if (statements[i].kind == Statement::Kind::load && statements[i].buffer == made) {
          return bringing_of(*kernel, step, static_cast<int>(i));
        }
      }
    }
    return std::nullopt;
  }

  /// Of what this load loads, which nothing else asks for.
  std::optional<Bringing> bringing_of(const Kernel& kernel, std::size_t step, int load) const {
    const Stage& stage = kernel.stages[0];
    int store = -1;
    for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
      bool is_asked = false;
      for_each_register(stage.statements[i],
                        [&](kernel::RegisterId r) { is_asked |= r == stage.statements[load].result; });
      if (is_asked && store >= 0) return std::nullopt;
      if (is_asked) store = i;
    }
    if (store < 0 || !kernel.outer.empty() || stage.axes.empty()) return std::nullopt;
    auto transfer = transfer_of(program_, StepId(step), 0, load, store);
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
  bool binds_place(std::size_t step, const Bringing& bringing) const {
    return std::ranges::any_of(symbols_bound_by(program_.steps[step]), [&](SymbolId s) {
      return std::ranges::find(bringing.symbols, s) != bringing.symbols.end();
    });
  }

  /// The step whose start of the place can come before the call, so that the call may stay; none: nothing starts there,
  /// or it cannot.
  std::optional<std::size_t> start_before(std::size_t call, const Bringing& bringing) const {
    const BufferId to = bringing.transfer.destination;
    std::size_t begin = call;
    while (begin <= bringing.step() && !start_at(begin, to)) ++begin;
    if (begin > bringing.step()) return std::nullopt;
    const Start& start = *start_at(begin, to);
    for (std::size_t step = call; step <= begin; ++step) {
      if (binds_place(step, bringing)) return std::nullopt;
      if (step == begin) break;
      const kernel::StepAccess access = access_of(program_, program_.steps[step]);
      if (access.names(to)) return std::nullopt;
      if (start.kind == Start::Kind::copy && access.names(root(start.source))) return std::nullopt;
    }
    for (std::size_t later = begin; later <= bringing.step(); ++later) {
      if (meets_at(later, bringing.transfer) || (later != begin && start_at(later, to))) return std::nullopt;
    }
    return begin;
  }

  const Start* start_at(std::size_t step, BufferId buffer) const {
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step]);
    return kernel ? start_of(program_, *kernel, root(buffer)) : nullptr;
  }

  const Statement& store_of(const Bringing& bringing) const {
    return std::get<Kernel>(program_.steps[bringing.step()]).stages[0].statements[bringing.transfer.store];
  }

  /// Moves the start of `buffer` from the kernel at `from` to a kernel of its own before `to`.
  void bring_start(std::size_t from, BufferId buffer, std::size_t to) {
    auto& kernel = std::get<Kernel>(program_.steps[from]);
    const auto output = std::ranges::find_if(kernel.outputs, [&](const kernel::KernelOutput& o) {
      return o.start.kind != Start::Kind::keep && root(o.buffer) == root(buffer);
    });
    Kernel begins{.outputs = {*output}};
    output->start = {};
    const bool writes =
        any_statement(kernel, [&](const Statement& s) { return s.is_write() && s.buffer == output->buffer; });
    if (!writes) kernel.outputs.erase(output);
    program_.steps.insert(program_.steps.begin() + static_cast<std::ptrdiff_t>(to), std::move(begins));
  }

  /// The step behind which the call must stand, itself where it may stay: behind what its place begins with, what is
  /// written there or read from there before, and where its size is found. None: it cannot pass what stands between.
  std::optional<std::size_t> place_behind(std::size_t call, const Bringing& bringing) const {
    std::size_t behind = call;
    for (std::size_t step = call + 1; step <= bringing.step(); ++step) {
      if (must_come_first(step, bringing) || binds_place(step, bringing)) behind = step;
    }
    const kernel::StepAccess of_call = access_of(program_, program_.steps[call]);
    const BufferId made = bringing.transfer.source;
    for (std::size_t step = call + 1; step <= behind; ++step) {
      if (!may_pass(program_.steps[step], of_call, made, std::get<LibraryCall>(program_.steps[call]))) {
        return std::nullopt;
      }
    }
    return behind;
  }

  bool must_come_first(std::size_t step, const Bringing& bringing) const {
    const BufferId to = bringing.transfer.destination;
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step]);
    if (start_at(step, to)) return true;
    const bool copies = kernel && std::ranges::any_of(kernel->outputs, [&](const kernel::KernelOutput& output) {
                          return output.start.kind == Start::Kind::copy && root(output.start.source) == to;
                        });
    // That the loop that brings it does nothing else there was asked when it was found.
    return copies || (step != bringing.step() && meets_at(step, bringing.transfer));
  }

  /// Does the step reach what is brought, other than by bringing it?
  bool meets_at(std::size_t step, const Transfer& transfer) const {
    std::optional<bool>& follow = writes_follow_[transfer.destination];  // they still do when some are dropped
    if (!follow) follow = writes_follow_each_other(program_, transfer.destination);
    return may_touch(program_, StepId(step), transfer, *follow ? kernel::Access::reads : kernel::Access::all);
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
    auto& kernel = std::get<Kernel>(program_.steps[bringing.step()]);
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
  }

  KernelProgram& program_;
  LoopPassContext& context_;
  IdMap<BufferId, int> names_;
  mutable IdMap<BufferId, std::optional<bool>> writes_follow_;  // by destination
};

}  // namespace

KernelProgram place_results(KernelProgram program, LoopPassContext& context) {
  const bool calls =
      std::ranges::any_of(program.steps, [](const Step& step) { return std::holds_alternative<LibraryCall>(step); });
  if (calls) ResultPlacer(program, context).run();
  return program;
}

}  // namespace inlay::transform
