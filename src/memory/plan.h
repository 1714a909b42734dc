#pragma once
// Memory plans: where the bytes of a program live. Only this part knows that two values may share bytes.
//
// Sharing is decided once per program, symbolically: every buffer lies in one storage at one byte offset, with the
// reason. A layout is one offset per storage for one tuple of sizes. Planners see storages only, so each preserves all
// sharing.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/summary.h"
#include "memory/layout.h"

namespace inlay::memory {

/// A storage before sizes are known.
struct SharedStorage {
  std::string name;  // of the buffer that it was made for
  Owner owner = Owner::arena;
  int slot = -1;    // of an output or of a donated parameter
  int segment = 0;  // the segment whose block holds it, and at whose start its size is known
  Lifetime live;    // from the first write of any buffer in it to the last use of any
  Dim size_bytes;
  int64_t alignment_bytes = 64;
};

/// Why a buffer lies where it does.
enum class Reason : uint8_t {
  own,          // the storage was made for it
  in_place,     // took the bytes of an operand whose live range ends where its own begins
  destination,  // is computed in the region of the larger buffer that it is written to, or in the buffer of the next
                // value
  view,         // has its root's bytes under other dims
  none,         // has no bytes: a scalar in a register, a literal, a parameter, host memory, an opaque value
};
std::string_view reason_name(Reason reason);

struct Placement {
  StorageId storage;  // none for scalars, literals, params, host memory
  Dim offset_bytes;   // from the storage's beginning
  Reason reason = Reason::none;
  kernel::BufferId took_over;  // of in_place, destination and view: the buffer whose bytes it shares
};

/// Two buffers that the rule allows to share bytes, as a SharingFunction is asked about them.
struct SharingCandidate {
  std::string step;     // the step where one takes over the other's bytes: "@k1", "cholesky", "a copy"
  std::string value;    // the value that takes over the operand's bytes, or in whose bytes the operand is made
  std::string operand;  // named as in the memory map
  bool operator==(const SharingCandidate&) const = default;
};

/// A `copy` start or Copy step that really moves bytes.
struct PlannedCopy {
  kernel::StepId step;
  kernel::BufferId source, destination;
  std::string reason;    // "o is also read by @k3"
  kernel::StepId about;  // the step in the reason: @k3; may be none
  std::string help;      // what who wrote the program can do so that nothing is copied; may be empty
};

struct Sharing {
  IdMap<kernel::BufferId, Placement> placements;
  IdMap<StorageId, SharedStorage> storages;
  std::vector<PlannedCopy> copies;
  std::vector<SharingCandidate> kept_apart;  // pairs that the caller kept apart

  // A size that only a step of the program finds starts a new segment: see segment_of.
  std::vector<kernel::StepId> segment_starts;  // segment k begins before step segment_starts[k]
  IdMap<SymbolId, int> symbol_segments;        // the segment since which a symbol is known

  int num_segments() const { return static_cast<int>(segment_starts.size()); }
};

/// A program with its sharing, and the caller's choice, so that a pass that changes the program can decide the sharing
/// again.
struct SharedProgram {
  kernel::KernelProgram program;  // with elided copies marked: Note [Elided] in kernel/kernel.h
  Sharing sharing;
  SharingFunction may_share;  // none: by the rule
};

/// Returns the first segment at whose beginning the size is known.
int segment_of(const Sharing& sharing, const Dim& size);
int segment_of(const Sharing& sharing, std::span<const Dim> dims);

/// May the two buffers alias? no: proved that they share no byte for any sizes; a backend may tell its optimizer so.
/// yes: some element of one is an element of the other. Parameters and host memory alias no other buffer (two of them
/// may be one array, but nothing writes to them).
Answer shares_bytes(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId a,
                    kernel::BufferId b);

/// Returns the slot of the donated parameter that shares the bytes of this output, or -1. The caller passes both at one
/// address.
int param_in_output(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId output);

/// Returns the known alignment of a buffer's address: 64 at the beginning of a storage in the arena, the element's own
/// alignment for memory of the caller and for regions.
int64_t alignment_bytes(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId buffer);

/// Are all sizes in the arena constants?
bool has_static_arena(const Sharing& sharing);

struct MemoryPlan {
  Sharing sharing;
  bool is_static = false;       // sizes have no symbols, or upper bounds are given: `layouts` holds the only layouts
  std::vector<Layout> layouts;  // by segment, when static
  IdMap<SymbolId, int64_t> upper_bounds;  // the limits of calls; -1: no limit. Empty: none were given
  double planning_seconds = 0;            // the time of making the layouts
  int64_t arena_bytes() const;            // of a static plan: all segments together
  int64_t lower_bound_bytes() const;      // of a static plan: the sum over segments
};

/// Where the bytes of a buffer are during a call: at an offset from an entry of one of the call's tables.
struct Place {
  enum class Table : uint8_t { literals, params, outputs, segments };  // of literals: the backend's own
  Table table = Table::literals;
  int slot = -1;
  int64_t start_bytes = 0;  // of the storage in its segment, if the plan knows it; else
  StorageId storage;        // the call's offset table has it under this number
  Dim offset_bytes = 0;     // from the storage's start
};
/// Returns the place of a buffer that has bytes, so no scalar in a register and no memory of the host.
Place place_of(const kernel::KernelProgram& program, const MemoryPlan& plan, kernel::BufferId buffer);

/// Do both begin at the same byte, so that no copy from one to the other is needed?
bool same_place(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId a, kernel::BufferId b);

/// Sizes by the names of symbols.
using Sizes = std::vector<std::pair<std::string, int64_t>>;

struct PlannerOptions {
  Planner planner = Planner::search;
  PlannerFunction custom;  // if set, used instead of `planner`
  /// If set, one layout for all sizes up to these is made in advance, instead of one for each tuple of sizes.
  Sizes upper_bounds;
};

/// A program with its plan applied.
struct PlannedProgram {
  kernel::KernelProgram program;  // with the marks of its sharing
  MemoryPlan plan;
};

/// Plans the memory of a program. Throws Error: unknown-name for a bound of an unknown symbol, upper-bound if a size of
/// the arena depends on a symbol without one, wrong-plan if a custom planner's layout is wrong.
PlannedProgram plan_memory(SharedProgram shared, const PlannerOptions& options = {});
PlannedProgram plan_memory(kernel::KernelProgram program, const PlannerOptions& options = {});  // shared by the rule

/// Returns the storages of one segment with their sizes for `symbols`; storages of other segments have size 0. Symbols
/// that a later segment binds are not read. Throws Error(size-overflow) if a size does not fit in 64 bits.
std::vector<Storage> storages_of_segment(const Sharing& sharing, int segment, std::span<const int64_t> symbols);

/// Returns the storages with their maximum sizes where no symbol is larger than its bound (-1: it has none, and no size
/// depends on it). A size may shrink as a symbol grows: the maximum of n - m is that of n.
std::vector<Storage> storages_up_to(const Sharing& sharing, int segment, std::span<const int64_t> upper_bounds);

/// Returns the sizes by symbol; -1 if `sizes` has none. Throws Error(unknown-name).
IdMap<SymbolId, int64_t> sizes_by_symbol(const kernel::KernelProgram& program, const Sizes& sizes);

/// Returns the first symbol that a size of the arena depends on but `sizes` (by symbol, -1: none) lacks, with the name
/// of that storage; nothing if none is missing.
struct MissingSize {
  SymbolId symbol;
  std::string storage;
};
std::optional<MissingSize> missing_size(const Sharing& sharing, const IdMap<SymbolId, int64_t>& sizes);

/// Makes a layout with the chosen planner, or the custom one.
Layout plan(const PlannerOptions& options, std::span<const Storage> storages, int64_t budget_ms = -1);

}  // namespace inlay::memory
