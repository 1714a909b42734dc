#pragma once
// Where the bytes of a program live: the only place that knows two values may share them.
//
// Sharing is decided once per program, symbolically: every buffer lies in one storage at one byte offset, with the
// reason. Layout is one offset per storage for one tuple of sizes. Planners see storages only, so each honours every
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
  std::string name;  // of the buffer that began it
  Owner owner = Owner::arena;
  int slot = -1;    // of an output or of a donated parameter
  int segment = 0;  // whose block it lies in: at whose start its size is known
  Lifetime live;    // from the first write of any buffer in it to the last use of any
  Dim size_bytes;
  int64_t alignment_bytes = 64;
};

/// Why a buffer lies where it does.
enum class Reason : uint8_t {
  own,          // began its storage
  in_place,     // took the bytes of an operand that dies where it is born
  destination,  // is computed in the region of the larger buffer that it is written to, or in the buffer that follows
                // it
  view,         // the same bytes under other dims: lies where its root lies
  none,         // has no bytes: a scalar in a register, a literal, a parameter, host memory, an opaque value
};
std::string_view reason_name(Reason reason);

struct Placement {
  StorageId storage;  // none for scalars, literals, params, host memory
  Dim offset_bytes;   // from the storage's beginning
  Reason reason = Reason::none;
  kernel::BufferId took_over;  // of in_place, destination and view: whose bytes these are too
};

/// Two buffers that may share bytes by the rule, as a SharingFunction is asked about them.
struct SharingCandidate {
  std::string step;     // where one takes the other's place: "@k1", "cholesky", "a copy"
  std::string value;    // what takes over the operand's bytes, or in whose bytes the operand is made
  std::string operand;  // by the names that the memory map has
  bool operator==(const SharingCandidate&) const = default;
};

/// A `copy` start or Copy step that stays: bytes really move.
struct PlannedCopy {
  kernel::StepId step;
  kernel::BufferId source, destination;
  std::string reason;    // "o is also read by @k3"
  kernel::StepId about;  // the step that the reason is about: @k3; may be none
};

struct Sharing {
  IdMap<kernel::BufferId, Placement> placements;
  IdMap<StorageId, SharedStorage> storages;
  std::vector<PlannedCopy> copies;
  std::vector<SharingCandidate> kept_apart;  // as the caller asked

  // A size that is known only after a step that binds it cuts the program: see segment_of.
  std::vector<kernel::StepId> segment_starts;  // the step before which segment 0, 1, ... begins
  IdMap<SymbolId, int> symbol_segments;        // since when a symbol is known

  int num_segments() const { return static_cast<int>(segment_starts.size()); }
};

/// A program whose sharing is decided, with the caller's choice, by which whoever changes the program decides it again.
struct SharedProgram {
  kernel::KernelProgram program;  // what need not be moved is marked in it: Note [Elided] in kernel/kernel.h
  Sharing sharing;
  SharingFunction may_share;  // none: by the rule
};

/// The segment at whose beginning a size is known.
int segment_of(const Sharing& sharing, const Dim& size);
int segment_of(const Sharing& sharing, std::span<const Dim> dims);

/// May the two buffers have a byte in common? no: proved that they have none, for all sizes; a backend may tell its
/// optimizer so. yes: an element of one is an element of the other somewhere. Parameters and host memory are nobody
/// else's (two of them may be one array, but nothing writes to them).
Answer shares_bytes(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId a,
                    kernel::BufferId b);

/// The slot of the donated parameter that lies in the bytes of this output; -1: none. The caller has them at one
/// address.
int param_in_output(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId output);

/// What the address of a buffer is known to be a multiple of: 64 at the beginning of a storage in the arena, the
/// element's own alignment for what others give us and for regions.
int64_t alignment_bytes(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId buffer);

/// Are all sizes of what lies in the arena constants?
bool has_static_arena(const Sharing& sharing);

struct MemoryPlan {
  Sharing sharing;
  bool is_static = false;       // no symbol in any size, or upper bounds for them: `layouts` are the only ones
  std::vector<Layout> layouts;  // by segment, when static
  IdMap<SymbolId, int64_t> upper_bounds;  // what no call may go beyond; -1: anything. Empty: none were given
  double planning_seconds = 0;            // what making the layouts took
  int64_t arena_bytes() const;            // of a static plan: all segments together
  int64_t lower_bound_bytes() const;      // likewise
};

/// Where the bytes of a buffer are, as a call finds them: behind what an entry of one of its tables points at.
struct Place {
  enum class Table : uint8_t { literals, params, outputs, segments };  // of literals: the backend's own
  Table table = Table::literals;
  int slot = -1;
  int64_t start_bytes = 0;  // of the storage in its segment, where the plan knows it; otherwise
  StorageId storage;        // the call does, by this number
  Dim offset_bytes = 0;     // from there
};
/// Of a buffer that has bytes: no scalar in a register, no memory of the host.
Place place_of(const kernel::KernelProgram& program, const MemoryPlan& plan, kernel::BufferId buffer);

/// Do both begin at the same byte, so that nothing is to be moved from one to the other?
bool same_place(const kernel::KernelProgram& program, const Sharing& sharing, kernel::BufferId a, kernel::BufferId b);

/// By the name of a symbol.
using Sizes = std::vector<std::pair<std::string, int64_t>>;

struct PlannerOptions {
  Planner planner = Planner::search;
  PlannerFunction custom;  // in its place, if there is one
  /// One layout for all sizes up to these, made beforehand, instead of one for each tuple of sizes.
  Sizes upper_bounds;
};

/// A program with its plan applied.
struct PlannedProgram {
  kernel::KernelProgram program;  // marked as its sharing has it
  MemoryPlan plan;
};

/// Throws Error: unknown-name for a bound of a symbol that is not there, upper-bound for a size of the arena that
/// depends on a symbol without one, wrong-plan for what a custom planner did wrong.
PlannedProgram plan_memory(SharedProgram shared, const PlannerOptions& options = {});
PlannedProgram plan_memory(kernel::KernelProgram program, const PlannerOptions& options = {});  // shared by the rule

/// Storages of one segment with their sizes for `symbols`; storages of other segments have size 0. Symbols that a later
/// segment binds are not looked at. Throws Error(size-overflow) where a size does not fit in 64 bits.
std::vector<Storage> storages_of_segment(const Sharing& sharing, int segment, std::span<const int64_t> symbols);

/// The same with the most that each can have where no symbol is larger than its bound (-1: it has none, and no size
/// depends on it). Sizes need not grow with their symbols: n - m is at most what n is.
std::vector<Storage> storages_up_to(const Sharing& sharing, int segment, std::span<const int64_t> upper_bounds);

/// By symbol; -1: `sizes` has none. Throws Error(unknown-name).
IdMap<SymbolId, int64_t> sizes_by_symbol(const kernel::KernelProgram& program, const Sizes& sizes);

/// The first symbol that a size of the arena depends on and `sizes` (by symbol, -1: none) lacks, and that storage's
/// name; {}: none.
struct MissingSize {
  SymbolId symbol;
  std::string storage;
};
std::optional<MissingSize> missing_size(const Sharing& sharing, const IdMap<SymbolId, int64_t>& sizes);

/// By the planner that was chosen, or by the custom one.
Layout plan(const PlannerOptions& options, std::span<const Storage> storages, int64_t budget_ms = -1);

}  // namespace inlay::memory
