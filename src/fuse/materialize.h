#pragma once
// Which values live in memory, and the pieces that write them.
#include "fuse/fuse.h"
#include "fuse/piece.h"

namespace inlay::fuse {

/// Values that must be materialised beyond those that the graph itself asks for, with the reason.
struct Forced {
  IdMap<ValueId, bool> values;
  std::vector<std::string> reasons;
  void add(ValueId v, std::string reason) {
    values[v] = true;
    reasons.push_back(std::move(reason));
  }
};

/// Cuts the graph into pieces and makes their buffers in `program` (whose symbols are set).
Pieces cut(const Graph& graph, const kernel::BackendCaps& caps, const Forced& forced, kernel::KernelProgram& program);

/// Is every dim 1? Such values live in registers of the entry function.
bool has_one_element(const TensorType& type);

/// Must `v` be written by pieces of its own whoever asks for it?
bool always_stored(const Graph& graph, ValueId v, const kernel::BackendCaps& caps);

/// Scalar ops that answering one question for `v` computes, down to what is stored: a count up to `limit`, and a cost.
struct Cone {
  int ops = 0;
  int cost = 0;
  std::vector<ValueId> values;  // v and what is computed with it
  bool needs_affine_point = false;  // holds an iota or a reshape that cannot be asked through two index arrays
  bool moves_points = false;        // holds a view that asks for another point, so a value may be computed at several
};
Cone cone_of(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const IdMap<ValueId, bool>& forced, int limit);

/// Forces values so that no body exceeds the backend's limit.
void cap_bodies(const Graph& graph, const kernel::BackendCaps& caps, Forced& forced);

}  // namespace inlay::fuse
