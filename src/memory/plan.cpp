#include "memory/plan.h"

#include <algorithm>

#include "memory/sharing.h"

namespace inlay::memory {

using kernel::KernelProgram;

namespace {

/// A size that wraps around would be a small arena for large writes.
class CheckedSize {
 public:
  explicit CheckedSize(std::span<const int64_t> symbols) : symbols_(symbols) {}

  int64_t operator()(const Dim& dim) const {
    int64_t total = dim.constant_part();
    for (const Dim::Term& term : dim.terms()) {
      int64_t product = term.coefficient;
      for (const Dim::Atom& atom : term.factors) require(!__builtin_mul_overflow(product, value_of(atom), &product));
      require(!__builtin_add_overflow(total, product, &total));
    }
    return total;
  }

 private:
  static void require(bool fits) {
    if (!fits) throw Error(ErrorCode::size_overflow, {}, "the size of a temporary does not fit in 64 bits");
  }

  int64_t value_of(const Dim::Atom& atom) const {
    using Kind = Dim::Atom::Kind;
    if (atom.kind == Kind::symbol) return symbols_[atom.symbol.index];
    const int64_t a = (*this)(atom.operands->first), b = (*this)(atom.operands->second);
    if (atom.kind == Kind::floor_div) return floor_div(Dim(a), Dim(b)).constant();
    return atom.kind == Kind::min ? std::min(a, b) : std::max(a, b);
  }

  std::span<const int64_t> symbols_;
};

}  // namespace

bool has_static_arena(const Sharing& sharing) {
  return std::ranges::all_of(sharing.storages, [](const SharedStorage& storage) {
    return storage.owner != Owner::arena || storage.size_bytes.is_constant();
  });
}

MemoryPlan plan_memory(const KernelProgram& program, const PlannerOptions& options) {
  MemoryPlan out{.sharing = decide_sharing(program)};
  out.is_static = has_static_arena(out.sharing);
  for (int segment = 0; out.is_static && segment < out.sharing.num_segments(); ++segment) {
    out.layouts.push_back(plan(options.planner, storages_of_segment(out.sharing, segment, {})));
  }
  return out;
}

int64_t MemoryPlan::arena_bytes() const {
  int64_t total = 0;
  for (const Layout& layout : layouts) total = add_bytes(total, layout.arena_bytes);
  return total;
}

int64_t MemoryPlan::lower_bound_bytes() const {
  int64_t total = 0;
  for (const Layout& layout : layouts) total = add_bytes(total, layout.lower_bound_bytes);
  return total;
}

std::vector<Storage> storages_of_segment(const Sharing& sharing, int segment, std::span<const int64_t> symbols) {
  const CheckedSize size_of(symbols);
  std::vector<Storage> out;
  for (const SharedStorage& storage : sharing.storages) {
    const bool is_here = storage.owner == Owner::arena && storage.segment == segment;
    // n - 1 with n = 0 is not an error here: the program's own checks fail before anybody writes.
    const int64_t size = is_here ? std::max<int64_t>(size_of(storage.size_bytes), 0) : 0;
    out.push_back({storage.owner, storage.live, size, storage.alignment_bytes});
  }
  return out;
}

}  // namespace inlay::memory
