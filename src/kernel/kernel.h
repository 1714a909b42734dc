#pragma once
// The loop programs that fuse makes, memory places, and backends emit.
//
// A KernelProgram is symbols, buffers and a list of steps. A Kernel is a sequence of stages over shared outer axes; a
// stage is one loop nest with loads, scalar ops, stores and folds. The contract:
//   1. Within a stage no point loads a byte that another point stores, except through a fold or an accumulating store.
//      So points may run as vectors, blocks and threads.
//   2. A later stage may load what an earlier one stored at the same outer point. A kernel without outer axes has one
//      outer point: there a stage may load all that an earlier one stored.
//      Where the last outer axis is tiled, an outer point is a tile: every stage runs over the points in it.
//      Stages that run once come first, and all others may load what they stored.
//   3. `set` through an index keeps the order: the last wins.
//   4. Axis order and the vector axis (the last) are fixed here. A backend blocks and unrolls within a stage; it
//      never permutes.
// Buffers are row-major. Everything is plain data.
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "kernel/access_map.h"
#include "kernel/stored.h"
#include "ops/fold.h"
#include "ops/library_strides.h"

namespace inlay::kernel {

using BufferId = Id<struct BufferTag>;
using StepId = Id<struct StepTag>;

/// Where a buffer's bytes come from.
enum class Role : uint8_t {
  param,      // an argument of the call (slot: position among the parameters); no step writes it
  output,     // a result of the call (slot: position among the outputs)
  temporary,  // memory of the call; the plan places it
  scalar,     // one element that lives in a register of the entry function: no bytes
  literal,    // known at compile time
  host,       // the result of a host call, in the host's memory until its last use
};
std::string_view role_name(Role role);

struct Buffer {
  std::string name;  // of its parameter or value: `alpha`, or `$2` if that has no name
  DType dtype = DType::f64;
  std::vector<Dim> dims;
  Role role = Role::temporary;
  int slot = -1;                  // of param and output
  std::vector<Literal> elements;  // of literal
  BufferId view_of;      // none, or the buffer whose bytes it shows under other dims (a reshape); it has no storage
  bool bound = false;    // a parameter that is set once for all calls
  bool donated = false;  // a parameter whose bytes may be reused once it is no longer needed
  Facts facts;           // of a bound parameter
  ValueId value;         // the graph value that it holds, for reasons and maps; may be none
  Stored stored;         // of a temporary: why it is stored
};

struct Axis {
  std::string name;  // i, j, k, ...
  Dim extent;
  bool operator==(const Axis&) const = default;
};

// Note [Elided]
// A store that sets, a start that copies and a Copy step can be `elided`: the plan places buffers so that the bytes
// that they would write are there already (memory/sharing.h says which). The program still says what is computed: on
// other memory everything is executed; on the memory of its plan a backend leaves out what is marked. A mark is a
// claim, which memory/verify proves, and belongs to one plan: a new plan sets new marks.

/// One thing that happens at a point. Registers are single assignment within the stage.
struct Statement {
  enum class Kind : uint8_t {
    load,     // result = buffer[map]
    literal,  // result = literal
    axis,     // result = the point's coordinate on axis `axis` (i64 or `dtype`)
    size,     // result = the value of `size`, a Dim (i64)
    op,       // result = op(operands)
    cast,     // result = operands[0] as dtype
    store,    // buffer[map] = operands[0], or what its fold makes of both; with a predicate: only where it holds
    fold,     // buffer[map] = what its fold makes of both, where map leaves out the axes that are folded; with a
              // result, the points that fold into one element come in row-major order, and result = what the element is
              // then: a running sum
    check,    // operands[0] (bool) must hold, else error `site` with the other operands (i64) as its numbers; or,
              // without operands, the index in the one subscript of `map` must lie within its extent
  };
  Kind kind = Kind::load;
  RegisterId result;         // none: store, check; may be none: fold
  DType dtype = DType::f64;  // of the result; of the element for store and fold
  ScalarOp op = ScalarOp::add_;
  SmallVector<RegisterId, 4> operands;
  RegisterId predicate;  // of a store that sets: a bool; none: always
  BufferId buffer;
  AccessMap map;
  // Of a fold its row (ops/folds.def), of a store that accumulates one of one state; none: the store sets. A fold of
  // several states is one statement for each stored state, all at the same place and in the order of the row: this one
  // makes state `state`. Hidden states live while the stage runs, so such a fold covers all points of a kernel without
  // outer axes.
  Fold fold = Fold::none;
  int state = 0;
  Literal literal;
  int axis = 0;
  Dim size;
  SiteId site;          // of check; an op that is undefined for some operands comes after a check of them
  bool elided = false;  // of a store that sets: Note [Elided]

  bool is_write() const { return kind == Kind::store || kind == Kind::fold; }
  bool has_place() const { return is_write() || kind == Kind::load; }
  /// Can it end the call: is it a check, or is its index checked?
  bool can_fail() const;
  /// Returns the index of a check of an index, else null.
  const IndexTerm* index_to_check() const {
    const bool has_index = kind == Kind::check && operands.empty() && map.rank() == 1 && map.subscripts[0].index;
    return has_index ? &*map.subscripts[0].index : nullptr;
  }
  /// Is it the first statement of a fold?
  bool opens_fold() const { return kind == Kind::fold && state == 0; }
  bool has_several_states() const { return accumulates() && !facts(fold).has_one_state(); }
  bool has_hidden_states() const { return accumulates() && facts(fold).has_hidden(); }
  /// Of a write that accumulates: its own state, and of the last one of a fold the hidden ones too.
  std::size_t num_states() const {
    const FoldFacts& row = facts(fold);
    return static_cast<std::size_t>(state) + 1 < row.num_stored ? 1 : 1 + row.states.size() - row.num_stored;
  }
  /// Is it a write that reads what it changes?
  bool accumulates() const { return fold != Fold::none; }
  bool sets() const { return kind == Kind::store && !accumulates(); }
  /// Does it set its element at every point?
  bool always_sets() const { return sets() && !predicate.valid(); }
  Combine combine() const { return combine_of(fold, state); }
};

/// Returns the check that the index lies within its extent.
Statement check_of(IndexTerm index);

struct Stage {
  std::vector<Axis> axes;  // inner axes, outermost first; the last is the vector axis
  std::vector<Statement> statements;
  int num_registers = 0;
  std::size_t tile_at = 0;  // in a tiled kernel: the loop over the points of a tile comes before axes[tile_at]
  /// Runs once, before the kernel's outer loops begin, though these may have no point: there the outer axes, which it
  /// does not use, are of length 1. Only the first stages of a kernel with outer axes do.
  bool once = false;
};

/// Returns all statements of the fold that statement `i` belongs to; for any other statement just that one.
inline std::span<const Statement> states_with(const Stage& stage, std::size_t i) {
  const Statement& s = stage.statements[i];
  if (!s.accumulates()) return {&s, 1};
  return {&s - s.state, facts(s.fold).num_stored};
}

/// What an output of a Kernel holds before its first stage.
struct Start {
  enum class Kind : uint8_t { keep, fill, copy };
  Kind kind = Kind::keep;
  Literal value;        // of fill
  BufferId source;      // of copy: same dims and dtype
  SiteId required;      // of copy: none, or the error if the plan moves these bytes
  bool elided = false;  // of copy: Note [Elided]
};

struct KernelOutput {
  BufferId buffer;
  Start start;
  /// A temporary that each outer point (each tile, if the kernel is tiled) has for itself: a scalar, or rows, of which
  /// short ones stay in the cache. It starts anew at each of them, not before the first stage, and only this kernel
  /// uses it.
  bool is_local = false;
};

struct Kernel {
  std::string name;  // k0, k1, ...; empty for 0-d arithmetic
  std::vector<Axis> outer;
  int64_t tile = 1;  // the last outer axis is split into tiles of this many points; the last tile may be shorter
  std::vector<KernelOutput> outputs;  // every buffer that a stage stores to or folds into, in order of first write
  std::vector<Stage> stages;
  /// Scratch memory, u8, for what blocks of its loops fold (kernel/blocks.h), whoever runs them; none: they need none,
  /// or there are none. What it holds before and after does not matter.
  BufferId workspace;
  bool is_local(BufferId buffer) const;
  bool is_tiled() const { return tile > 1; }
  /// The outer axis that is tiled. A local counts its points from the beginning of the tile.
  int tiled_axis() const { return static_cast<int>(outer.size()) - 1; }
  /// How many stages, from the first on, run once.
  std::size_t num_once() const;
  /// 0-d arithmetic: no axes, and no start that would be a loop over an output. It lives in registers of the entry
  /// function and is not counted as a kernel.
  bool is_scalar() const;
};

/// Sets `outputs` to all buffers that the stages write, in order of first write, with the starts that they have there;
/// then come those that only have a start.
void list_outputs(Kernel& kernel);

/// Does it hold for any statement of any stage?
template <class Holds>
bool any_statement(const Kernel& kernel, Holds holds) {
  for (const Stage& stage : kernel.stages) {
    for (const Statement& statement : stage.statements) {
      if (std::invoke(holds, statement)) return true;
    }
  }
  return false;
}

/// A batch of matrices or rows in memory, as a library function reads or writes it: the offset of the first element,
/// and the strides. Both are in elements of the buffer, which are numbered row by row.
struct CallArray {
  BufferId buffer;
  Dim offset;
  LibraryStrides<Dim> strides;
  BufferId index;    // none, or an i64 scalar, such as a loop's step; the offset is `offset` plus its value
  Dim index_stride;  // times `index_stride`, and the elements are proved to exist
};

/// A call of a library function.
struct LibraryCall {
  LibraryOp op = LibraryOp::matmul;
  LibraryOptions options = 0;
  std::vector<CallArray> operands;  // unchanged, unless a result takes the bytes of one
  std::vector<CallArray> results;
  std::vector<Dim> sizes;     // of the batch, then by the letters of the op's signature
  BufferId workspace;         // scratch memory of the call, u8; none if the function needs none
  std::vector<SiteId> sites;  // status k > 0 of the function fails at sites[k - 1] (LibraryStatus)
};

/// Returns the array that begins at the buffer's start, row-major, for an operand or result with these axes of the
/// call's signature.
CallArray row_major_array(const LibraryCall& call, const CoreAxes& axes, BufferId buffer);
bool is_row_major(const LibraryCall& call, const CoreAxes& axes, const CallArray& array);
/// Calls visit(array, its core axes) with each operand, then each result.
template <class Call, class Visit>
void for_each_array(Call& call, Visit visit) {
  const LibrarySignature& signature = facts(call.op).signature;
  for (std::size_t i = 0; i < call.operands.size(); ++i) visit(call.operands[i], signature.operands[i]);
  for (std::size_t r = 0; r < call.results.size(); ++r) visit(call.results[r], signature.results[r]);
}

/// What a library function returns when it fails; 0 is success.
enum class LibraryStatus : int32_t {
  too_large = 1,  // a size does not fit in the 32-bit integers of BLAS and LAPACK
  failed = 2,     // the site's numbers say what was found, and in which matrix of the batch
};

struct HostCall {
  std::string name;
  int function = -1;  // index into the table of host functions
  std::vector<BufferId> operands;
  std::vector<BufferId> results;  // Role::host
  struct Binding {
    SymbolId symbol;
    int result = 0;
    int axis = 0;
  };
  std::vector<Binding> bindings;  // symbols that the results' shapes bind
  SiteId site;
};

/// Is it an opaque value? The program has only its handle.
inline bool is_handle(const Buffer& buffer) { return buffer.dtype == DType::opaque; }

/// Copies all of `source` to all of `destination`, which has the same number of elements and the same dtype. Of an
/// opaque value it copies the handle, also if its memory is the host's.
struct Copy {
  BufferId source, destination;
  std::string reason;
  bool elided = false;  // Note [Elided]
};

/// Checks that sizes agree; comes as early as its symbols are known.
struct SizeCheck {
  Dim left, right;
  DimCheck::Relation relation = DimCheck::Relation::equal;
  SiteId site;
};

/// Sets `symbol` to the element of `value`, an i64 scalar, for all steps that follow. A negative one fails, with itself
/// as number {0}.
struct BindSize {
  BufferId value;
  SymbolId symbol;
  SiteId site;
};

// Note [Flat regions]
// A body lies between two markers in the list of steps. So a step's number is its position there, in a body too, and
// the live range of what lives in a body is a range of numbers. (kernel/regions.h finds the ends of all regions.)

/// Runs the steps up to its LoopEnd `count` times.
struct LoopBegin {
  BufferId step;  // a scalar of i64: 0, 1, ..., count - 1
  Dim count;
};
struct LoopEnd {
  BufferId go_on;  // none, or a 0-d bool: if it is false after an iteration, the loop ends
};

/// Runs the steps up to its CondElse if the 0-d bool holds, else those between CondElse and CondEnd.
struct CondBegin {
  BufferId condition;
};
struct CondElse {};
struct CondEnd {};

using Step = std::variant<Kernel, LibraryCall, HostCall, Copy, SizeCheck, BindSize, LoopBegin, LoopEnd, CondBegin,
                          CondElse, CondEnd>;

/// Returns the symbols whose values are known only after the step.
std::vector<SymbolId> symbols_bound_by(const Step& step);

/// A place where a call can fail, with the text of its error. The machine code only knows its number.
struct Site {
  ErrorCode code = ErrorCode::index_out_of_bounds;
  std::string
      message;  // "gather: index {0} is out of bounds for axis 0 of %alpha with size {1}": {k} are the run's numbers
  std::vector<std::pair<std::string, std::string>> notes;
  Location location;
};

struct KernelProgram {
  std::string name = "main";
  IdMap<SymbolId, Symbol> symbols;        // as in the graph
  std::vector<BufferId> params, outputs;  // by slot
  IdMap<BufferId, Buffer> buffers;
  std::vector<Step> steps;
  IdMap<SiteId, Site> sites;
  std::vector<std::string> refusals;  // other refusals, with reasons: `%p stays a matmul: ...`

  IdMap<SymbolId, std::string> symbol_names() const;
};

/// Returns the type of a buffer as text: `f64[n, 3]`.
std::string type_text(const KernelProgram& program, const Buffer& buffer);
Dim num_elements(const Buffer& buffer);
Dim size_bytes(const Buffer& buffer);

/// Returns the extents of all axes of a stage: the kernel's outer ones, then its own. (Of a stage that runs once the
/// outer ones are 1.)
std::vector<Dim> axis_extents(const Kernel& kernel, const Stage& stage);

/// Returns the buffer that owns the bytes of `buffer`: itself, or what it is a view of.
BufferId root_of(const KernelProgram& program, BufferId buffer);

/// The roots of the buffers that a step reads and writes, each once, in order of first use. A kernel that accumulates
/// reads what it writes only if the start is `keep` (then it is in both lists); a `copy` start reads its source. What a
/// stage loads after the same kernel wrote it is not in `reads`. Likewise the sites at which it checks an index, and
/// those at which one that it takes for checked was checked, here or in an earlier step.
struct StepAccess {
  std::vector<BufferId> reads, writes;
  std::vector<SiteId> checks, checked_before;
  bool names(BufferId root) const;
};
StepAccess access_of(const KernelProgram& program, const Step& step);

}  // namespace inlay::kernel
