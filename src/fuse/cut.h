#pragma once
// A graph while it is cut into pieces: what there is of them so far. Each family of values has a file that adds its
// own. Inside fuse/ only.
#include <vector>

#include "fuse/buffer_maker.h"
#include "fuse/cut_graph.h"

namespace inlay::fuse {

struct Cut {
  const Graph& graph;
  const Decisions& decisions;
  kernel::KernelProgram& program;
  BufferMaker buffers;
  IdMap<ValueId, Home> homes;
  IdMap<PieceId, Piece> pieces;
  std::vector<PieceId> before_host_call;  // the last host call, and the asserts since

  Cut(const Graph& graph, const Decisions& decisions, kernel::KernelProgram& program);

  /// Where the value is for those who read it.
  BufferId new_home(ValueId v);
  /// One more piece that writes the value.
  PieceId add(ValueId v, Piece piece);
  /// What `v`, a number or stored, is made along with, if that is such an op.
  const Node* made_with(ValueId v, Op op) const;
};

/// `buffer`[every point of the loop] = v.
Piece over(Loop loop, ValueId v, BufferId buffer, bool defines);
/// `buffer`[every element of v] = v.
Piece elementwise(const Graph& graph, ValueId v, BufferId buffer, bool defines);

// cut_folds.cpp: reductions and running folds
void cut_reduction(Cut& cut, const Node& node);
void cut_cumulative(Cut& cut, ValueId v, const Node& node);

// cut_sizes.cpp: what binds a size
void cut_as_size(Cut& cut, ValueId v, const Node& node);
void cut_compress(Cut& cut, const Node& node);

// cut_updates.cpp: updates and concatenations, region by region

/// One operand of a concat, and where its elements are in the whole.
struct ConcatPart {
  ValueId value;
  Loop loop;  // over the part
  AccessMap in_whole;
};
std::vector<ConcatPart> parts_of(const Graph& graph, const Node& concat);
/// A value that is written region by region, and the bases below it that nothing else reads.
void cut_regions(Cut& cut, ValueId v);

// cut_calls.cpp: calls of library functions and of the host
void cut_library_call(Cut& cut, const Node& node);
void cut_host_call(Cut& cut, const Node& node);
/// A piece that makes all results of a node.
void add_call(Cut& cut, const Node& node, Piece piece);

// cut_bodies.cpp: conds and loops
void cut_cond(Cut& cut, const FusedBodies& bodies, const Node& node);
void cut_loop(Cut& cut, const FusedBodies& bodies, const Node& node);

}  // namespace inlay::fuse
