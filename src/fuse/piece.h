#pragma once
// What must be written, before it is known which loop writes it.
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

using kernel::AccessMap;
using kernel::BufferId;
using PieceId = Id<struct PieceTag>;

/// Loop axes over the dims that are longer than 1, and the point that visits them in order.
struct Loop {
  std::vector<Dim> axes;
  AccessMap at;
};
Loop loop_over(std::span<const Dim> dims);
/// The same points, those along this dim from its end on.
void pass_from_end(Loop& loop, std::size_t dim);
/// "i", "j", ... of a loop, from the outer ones.
const char* axis_name(std::size_t axis);

/// A subscript of a write that goes through an index array: the array's element at `at`, times step, is added to the
/// subscript of dim `dim`.
struct WriteIndex {
  int dim = 0;
  ValueId array;
  AccessMap at;
  int64_t step = 1;
  Dim extent;
  BufferId running;  // instead of an array: the running value of the piece's fold into this buffer, known to lie within
};

/// One store or fold at each point of a piece.
struct Write {
  kernel::Statement::Kind kind = kernel::Statement::Kind::store;  // store, fold or check
  Fold fold = Fold::none;                                         // as of a statement
  int state = 0;
  BufferId buffer;
  AccessMap map;                    // the target's affine part
  std::vector<WriteIndex> indices;  // its loaded part
  ValueId value;                    // what is written: this value ...
  AccessMap at;                     // ... at this point
  bool defines = false;             // the write makes `value`: compute it, do not load it
  std::optional<DType> converted;   // a fold's own dtype, where that is not the value's
  ValueId running;                  // of a fold: what it makes at each point, at `at`
  bool runs = false;                // of a fold: its value is used at each point
  std::vector<ValueId> along;       // of the first state of a fold: what the next writes fold, at `at` too
  ValueId onto;       // of a store: not what is there is combined with `value`, but the element of this at the place
  ValueId predicate;  // of a store: where this, asked like `value`, holds
  NodeId selection;   // `value` is asked at points of the mask of this compress, not of what is selected
  ValueId target;     // the value that is written to (or the assert that is checked), for errors

  /// The same but for the buffers?
  bool asks_like(const Write& other) const;
};

/// Of a loop that was split (split_loops.h).
struct Part {
  std::vector<Dim> sizes;  // each 0 or 1: the first part has points only where all are 1
  std::vector<Dim> ends;   // of the first part, along as many axes
  bool is_first = true;
  bool reads = false;  // the other part has all points, and only where one of the sizes is 0
  bool operator==(const Part&) const = default;

  bool is_other_of_reader() const { return reads && !is_first; }
  /// What the sizes are wherever the loop has points, if that is known.
  std::optional<int64_t> known_size() const {
    if (is_first) return 1;
    return reads && sizes.size() == 1 ? std::optional<int64_t>(0) : std::nullopt;
  }
};

/// What a value that is in parts (fuse/decide.h) is at the points of a loop over one of them.
struct PartOfWhole {
  ValueId whole;
  ValueId value;                   // this value ...
  AccessMap at;                    // ... at this point
  Combine combine = Combine::set;  // and what it is combined with, where `whole` is asked for, if it is
  ValueId onto;
  bool operator==(const PartOfWhole&) const = default;
};

/// Loop axes and the writes at each of their points; or one step that is no loop.
struct Piece {
  ValueId value;  // what it helps to store; the one that errors name
  std::vector<Dim> axes;
  std::vector<Write> writes;
  std::vector<kernel::KernelOutput> starts;
  std::vector<kernel::Step> steps;     // LibraryCall, HostCall, Copy or BindSize, or a whole region, instead of a loop
  std::vector<SymbolId> step_symbols;  // of sizes that stand in `steps` and not in an operand
  std::vector<ValueId> step_operands;  // stored values that `steps` and the starts read
  std::vector<PieceId> after;          // pieces of the same value that must come first
  bool only_checks = false;            // what nothing reads (unread_checks.h): nothing waits for it
  std::optional<Part> part;
  std::optional<PartOfWhole> of_whole;
  bool is_loop() const { return steps.empty() && !axes.empty(); }
};

/// Where a value lives.
struct Home {
  BufferId buffer;              // loads come from here; none: computed where it is asked for
  BufferId memory;              // of a one-element value in a register, or one that loops compute from the same bytes
                                // under another shape: where its bytes are, when somebody needs them
  std::vector<PieceId> pieces;  // that write it
  PieceId memory_piece;         // that brings what is in a register to `memory`
  BufferId place() const { return buffer.valid() ? buffer : memory; }
};

/// The graph, cut up.
struct Pieces {
  IdMap<ValueId, Home> homes;
  IdMap<PieceId, Piece> pieces;  // in an order in which they can run: a piece waits for earlier ones only
};

}  // namespace inlay::fuse
