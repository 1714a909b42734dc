#include "kernel/transfers.h"

#include <algorithm>

#include "kernel/visit.h"

namespace inlay::kernel {
namespace {

/// Visits each store that always sets, with each other load or store of the stage that uses its register.
template <class Visit>
void for_each_pair(const Stage& stage, Visit visit) {
  std::vector<std::vector<int>> of_register(stage.num_registers);  // its loads and stores
  for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
    const Statement& s = stage.statements[i];
    if (s.kind == Statement::Kind::load) of_register[s.result.index].push_back(i);
    if (s.always_sets()) of_register[s.operands[0].index].push_back(i);
  }
  for (int i = 0; i < static_cast<int>(stage.statements.size()); ++i) {
    if (!stage.statements[i].always_sets()) continue;
    for (int origin : of_register[stage.statements[i].operands[0].index]) {
      if (origin != i) visit(origin, i);
    }
  }
}

}  // namespace

std::optional<Transfer> transfer_of(const KernelProgram& program, StepId step, int stage_index, int origin_index,
                                    int store_index) {
  const auto& kernel = std::get<Kernel>(program.steps[step.index]);
  const Stage& stage = kernel.stages[stage_index];
  const Statement &origin = stage.statements[origin_index], &store = stage.statements[store_index];
  if (!store.always_sets()) return std::nullopt;
  const BufferId source = root_of(program, origin.buffer), destination = root_of(program, store.buffer);
  const Buffer &from = program.buffers[origin.buffer], &to = program.buffers[store.buffer];
  if (source == destination || from.role != Role::temporary) return std::nullopt;
  // A register of another dtype would have rounded the value.
  if (from.dtype != to.dtype || origin.dtype != from.dtype || store.dtype != to.dtype) return std::nullopt;
  // Elements of a local are counted from the beginning of the tile, those of other buffers from the beginning of the
  // array.
  if (kernel.is_tiled() && kernel.is_local(origin.buffer) != kernel.is_local(store.buffer)) return std::nullopt;
  const std::vector<Dim> extents = axis_extents(kernel, stage);
  LinearMap place = linearize(store.map, to.dims);
  auto strides = strides_by_dim(origin.map, extents, from.dims, place);
  if (!strides) return std::nullopt;
  const bool keeps_order = same_strides(linearize(origin.map, from.dims), place, extents);
  return Transfer{
      .source = source,
      .destination = destination,
      .offset = std::move(place.base),
      .strides = *std::move(strides),
      .keeps_order = keeps_order,
      .step = step,
      .stage = stage_index,
      .store = store_index,
      .origin = origin_index,
  };
}

std::vector<Transfer> find_transfers(const KernelProgram& program) {
  std::vector<Transfer> out;
  for (StepId step : ids<StepId>(program.steps.size())) {
    if (const auto* copy = std::get_if<Copy>(&program.steps[step.index])) {
      out.push_back({root_of(program, copy->source), root_of(program, copy->destination), 0, {}, true, step});
    }
    const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
    for (int stage = 0; kernel && stage < static_cast<int>(kernel->stages.size()); ++stage) {
      for_each_pair(kernel->stages[stage], [&](int origin, int store) {
        if (auto found = transfer_of(program, step, stage, origin, store)) out.push_back(*std::move(found));
      });
    }
  }
  return out;
}

bool may_touch(const KernelProgram& program, StepId step, const Transfer& transfer, Access access) {
  const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
  const auto* home = std::get_if<Kernel>(&program.steps[transfer.step.index]);
  if (!kernel || !home) {
    bool names = false;
    for_each_buffer(program.steps[step.index],
                    [&](BufferId b) { names |= root_of(program, b) == transfer.destination; });
    return names && step != transfer.step;
  }
  const Stage& brings = home->stages[transfer.stage];
  const Statement& store = brings.statements[transfer.store];
  const std::vector<Dim> filled = axis_extents(*home, brings);
  const auto meets = [&](const Stage& stage, const Statement& s) {
    const bool counts = s.is_write() ? access != Access::reads : access != Access::writes && s.has_place();
    if (!counts || &s == &store || root_of(program, s.buffer) != transfer.destination) return false;
    const std::vector<Dim> extents = axis_extents(*kernel, stage);
    return !always_disjoint({s.map, extents, program.buffers[s.buffer].dims},
                            {store.map, filled, program.buffers[store.buffer].dims});
  };
  return std::ranges::any_of(kernel->stages, [&](const Stage& stage) {
    return std::ranges::any_of(stage.statements, [&](const Statement& s) { return meets(stage, s); });
  });
}

bool writes_follow_each_other(const KernelProgram& program, BufferId root, std::span<const StepId> steps) {
  std::vector<std::vector<Dim>> extents;
  std::vector<Touched> places;
  const auto add = [&](const Kernel& kernel, const Stage& stage, const Statement& s) {
    extents.push_back(axis_extents(kernel, stage));
    places.push_back({s.map, extents.back(), program.buffers[s.buffer].dims});
    return std::ranges::equal(places.back().dims, places.front().dims);
  };
  for (StepId step : steps) {
    const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
    for (std::size_t stage = 0; kernel && stage < kernel->stages.size(); ++stage) {
      for (const Statement& s : kernel->stages[stage].statements) {
        const bool writes = s.is_write() && root_of(program, s.buffer) == root;
        if (writes && !add(*kernel, kernel->stages[stage], s)) return false;
      }
    }
  }
  return follow_each_other(places);
}

}  // namespace inlay::kernel
