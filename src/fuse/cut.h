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
  /// The compress that `v`, a number or stored, is made along with, if any.
  const Node* compress_with(ValueId v) const;
  /// What `v`, a number or stored, is made of part by part, if any.
  ValueId whole_below(ValueId v) const;
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

/// The piece that a loop over a part of a whole begins as.
struct PieceOfWhole {
  PartOfWhole part;
  Loop loop;  // over the part; its point is where that lies in the whole
};
/// Of a concat, which is stored or in parts.
std::vector<PieceOfWhole> parts_of_concat(const Graph& graph, const Node& concat);
/// Of a value that is in parts.
std::vector<PieceOfWhole> parts_of(const Cut& cut, ValueId whole);
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
