#include "memory/plan.h"

#include <algorithm>
#include <chrono>

#include "ir/traits.h"
#include "kernel/steps.h"
#include "memory/sharing.h"
#include "memory/upper_bound.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::KernelProgram;
using kernel::Role;

bool has_static_arena(const Sharing& sharing) {
  return std::ranges::all_of(sharing.storages, [](const SharedStorage& storage) {
    return storage.owner != Owner::arena || storage.size_bytes.is_constant();
  });
}

Layout plan(const PlannerOptions& options, std::span<const Storage> storages, int64_t budget_ms) {
  if (options.custom) return plan_custom(options.custom, storages);
  return plan(Effort{.planner = options.planner, .budget_ms = budget_ms}, storages);
}

IdMap<SymbolId, int64_t> sizes_by_symbol(const KernelProgram& program, const Sizes& sizes) {
  IdMap<SymbolId, int64_t> out(program.symbols.size(), -1);
  for (const auto& [name, size] : sizes) {
    const auto found = std::ranges::find(program.symbols, name, &Symbol::name);
    if (found == program.symbols.end()) {
      const auto names = join(program.symbols, ", ", [](const Symbol& symbol) { return symbol.name; });
      throw Error(ErrorCode::unknown_name, {},
                  str("the program has no size called ", name, names.empty() ? ": it has none" : ", but ", names));
    }
    if (size < 0) throw Error(ErrorCode::negative_size, {}, str("the size ", name, " is given as ", size));
    out[SymbolId(static_cast<uint32_t>(found - program.symbols.begin()))] = size;
  }
  return out;
}

std::optional<MissingSize> missing_size(const Sharing& sharing, const IdMap<SymbolId, int64_t>& sizes) {
  for (const SharedStorage& storage : sharing.storages) {
    if (storage.owner != Owner::arena) continue;
    for (SymbolId symbol : storage.size_bytes.symbols()) {
      if (sizes[symbol] < 0) return MissingSize{symbol, storage.name};
    }
  }
  return std::nullopt;
}

namespace {

/// If the size, which is at most `most`, is a sum, bounds each of its symbols.
void bound_parts(const Dim& size, int64_t most, IdMap<SymbolId, int64_t>& bounds) {
  if (!is_sum_of_symbols(size)) return;
  for (const Dim::Term& term : size.terms()) {
    int64_t& bound = bounds[term.factors[0].symbol];
    if (bound < 0) bound = std::max<int64_t>(0, (most - size.constant_part()) / term.coefficient);
  }
}

/// Derives bounds of sizes that have none from the checks before all other steps: if n is at most 10 and n == m + 1,
/// then m is at most 9. The program may use either.
void bound_equal_sizes(const KernelProgram& program, IdMap<SymbolId, int64_t>& bounds) {
  for (const kernel::SizeCheck* check : kernel::entry_checks(program)) {
    if (check->relation != DimCheck::Relation::equal) continue;
    for (const auto& [size, other] : {std::pair(&check->left, &check->right), std::pair(&check->right, &check->left)}) {
      if (!size->is_symbol()) continue;
      int64_t& bound = bounds[size->as_symbol()];
      if (bound >= 0) bound_parts(*other, bound, bounds);
      const auto is_bounded = [&](SymbolId s) { return bounds[s] >= 0; };
      if (bound < 0 && std::ranges::all_of(other->symbols(), is_bounded)) bound = at_most(*other, bounds);
    }
  }
}

}  // namespace

PlannedProgram plan_memory(KernelProgram program, const PlannerOptions& options) {
  return plan_memory(share(std::move(program)), options);
}

PlannedProgram plan_memory(SharedProgram shared, const PlannerOptions& options) {
  const KernelProgram& program = shared.program;
  MemoryPlan out{.sharing = std::move(shared.sharing)};
  if (!options.upper_bounds.empty()) {
    out.upper_bounds = sizes_by_symbol(program, options.upper_bounds);
    bound_equal_sizes(program, out.upper_bounds);
    if (const auto missing = missing_size(out.sharing, out.upper_bounds)) {
      throw Error(ErrorCode::upper_bound, {},
                  str("the size of ", missing->storage, " depends on ", program.symbol_names()[missing->symbol],
                      ", which has no upper bound"))
          .help("give one for each size that working memory depends on, or none at all");
    }
  }
  out.is_static = has_static_arena(out.sharing) || !options.upper_bounds.empty();
  const auto begin = std::chrono::steady_clock::now();
  for (int segment = 0; out.is_static && segment < out.sharing.num_segments(); ++segment) {
    out.layouts.push_back(plan(options, storages_up_to(out.sharing, segment, out.upper_bounds)));
  }
  out.planning_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(shared.program), std::move(out)};
}

int64_t MemoryPlan::arena_bytes() const {
  int64_t total = 0;
  for (const Layout& layout : layouts) total = add_bytes(total, layout.arena_bytes);
  return total;
}

Place place_of(const KernelProgram& program, const MemoryPlan& plan, BufferId buffer) {
  const BufferId root = kernel::root_of(program, buffer);
  const kernel::Buffer& facts = program.buffers[root];
  const Placement& placement = plan.sharing.placements[root];
  const SharedStorage* storage = placement.storage.valid() ? &plan.sharing.storages[placement.storage] : nullptr;
  const bool is_moved = storage && storage->owner != Owner::param;
  if (facts.role == Role::param && !is_moved) return {.table = Place::Table::params, .slot = facts.slot};
  if (facts.role == Role::literal) return {.table = Place::Table::literals};
  if (!storage) {
    INLAY_CHECK(facts.role == Role::output, facts.name, " (", kernel::role_name(facts.role), ") has no place");
    return {.table = Place::Table::outputs, .slot = facts.slot};
  }
  if (storage->owner != Owner::arena) {
    const bool in_output = storage->owner == Owner::output;
    return {.table = in_output ? Place::Table::outputs : Place::Table::params,
            .slot = storage->slot,
            .offset_bytes = placement.offset_bytes};
  }
  Place place{.table = Place::Table::segments, .slot = storage->segment, .offset_bytes = placement.offset_bytes};
  if (plan.is_static) {
    const Layout& layout = plan.layouts[static_cast<std::size_t>(storage->segment)];
    place.start_bytes = layout.offset_bytes[placement.storage.index];
  } else {
    place.storage = placement.storage;
  }
  return place;
}

bool same_place(const KernelProgram& program, const Sharing& sharing, BufferId a, BufferId b) {
  const BufferId left = kernel::root_of(program, a), right = kernel::root_of(program, b);
  if (left == right) return true;
  const Placement &first = sharing.placements[left], &second = sharing.placements[right];
  return first.storage.valid() && first.storage == second.storage && first.offset_bytes == second.offset_bytes;
}

int64_t MemoryPlan::lower_bound_bytes() const {
  int64_t total = 0;
  for (const Layout& layout : layouts) total = add_bytes(total, layout.lower_bound_bytes);
  return total;
}

namespace {

template <class SizeOf>
std::vector<Storage> storages_with(const Sharing& sharing, int segment, const SizeOf& size_of) {
  std::vector<Storage> out;
  for (const SharedStorage& storage : sharing.storages) {
    const bool is_here = storage.owner == Owner::arena && storage.segment == segment;
    // n - 1 with n = 0 is not an error here: the program's own checks fail before anything is written.
    const int64_t size = is_here ? std::max<int64_t>(size_of(storage.size_bytes), 0) : 0;
    out.push_back({storage.owner, storage.live, size, storage.alignment_bytes, -1, storage.name});
  }
  return out;
}

}  // namespace

std::vector<Storage> storages_of_segment(const Sharing& sharing, int segment, std::span<const int64_t> symbols) {
  return storages_with(sharing, segment, [&](const Dim& size) { return size.evaluate(symbols); });
}

std::vector<Storage> storages_up_to(const Sharing& sharing, int segment, std::span<const int64_t> upper_bounds) {
  return storages_with(sharing, segment, [&](const Dim& size) { return at_most(size, upper_bounds); });
}

}  // namespace inlay::memory
