#pragma once
// Graph -> KernelProgram: partition an array program into fused loops so that few bytes move.
//
// Values are pulled, not pushed. A value that must exist in memory (an output, an operand of a call, what is folded or
// scattered) is *stored* and written by one or more Pieces: loop axes and what is stored or folded there.
// Everything else is computed where a piece asks for it: a view changes the access map of the question, an elementwise
// op asks its operands at the same point, a gather asks its index and then its base at what was loaded. So slices,
// gathers, scatters and concat slots need no cases of their own, and the first question for a value at a point is the
// only one that computes.
//
//   cone.cpp            what is computed along with a value, and when that is too much for one loop
//   decide.cpp          what becomes of each value: one decision, with its reason
//   selection.cpp       ... what of a selection is computed where the mask is read
//   library_operand.cpp ... what a library function reads for an operand, and how it lies
//   backwards.cpp       loops that pass an axis from its end
//   decide_regions.cpp  ... how what is written region by region begins
//   left_over.cpp       ... what updates leave of their base
//   in_place.cpp        updates that must not copy their base
//   piece.cpp           loops, and what is written at their points
//   buffer_maker.cpp    the buffers of what lives in memory
//   cut.cpp             a graph while it is cut: the pieces that there are so far
//   cut_graph.cpp       the pieces that write each buffer; by op:
//   cut_bodies.cpp      ... conds and loops
//   cut_calls.cpp       ... calls of library and host functions
//   cut_folds.cpp       ... reductions and running folds
//   cut_sizes.cpp       ... sizes that are found on the way, and selections
//   cut_updates.cpp     ... updates, scatters and concatenations
//   view_maps.cpp       which element of its operand each point of a view reads
//   region_steps.cpp    the steps of conds and loops around those of their bodies
//   points.cpp          the points at which values are asked for, each access map once
//   affine_index.cpp    index arrays that are arithmetic on places
//   stage_writer.cpp    answers the questions of a piece with statements
//   examine.cpp         what a piece asks for, kept while it is decided what is stored
//   split_loops.cpp     a loop whose array may have length 1 when the program runs is two
//   schedule.cpp        pieces over the same axes that do not wait for each other share a stage
//   unread_checks.cpp   checks of elements that nothing reads
//
// What becomes of the kernels is the list of loop passes (compiler/passes.cpp).
#include <string_view>
#include <unordered_map>

#include "ir/graph.h"
#include "kernel/caps.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// How much is fused. `full`: what the cost model says (docs/fusion.md). The others are to see what that buys, for
/// tests that count, and for finding a wrong fusion. `greedy`: a value that has one reader is computed there, any other
/// is stored; what goes over the same axes shares a loop. `none`: every op is a kernel of its own.
enum class Mode : uint8_t { full, greedy, none };

/// What every body in a graph has been fused to.
using FusedBodies = std::unordered_map<const Graph*, kernel::KernelProgram>;

/// "full", "greedy", "none"; an Error names them when `name` is no mode. `setting`: who says so, "--fuse".
Mode mode_named(std::string_view name, std::string_view setting);
std::string_view mode_name(Mode mode);

/// `bodies` has the kernels of each body of the graph's conds and loops. `rounds`: if given, gets the table of what was
/// decided in each round (fuse/decide.h).
kernel::KernelProgram fuse(const Graph& graph, const kernel::BackendCaps& caps, Mode mode, const FusedBodies& bodies,
                           std::string* rounds = nullptr);

}  // namespace inlay::fuse
