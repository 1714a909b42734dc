#pragma once
// What is computed along with a value, and when that is too much for one loop.
//
// A value without a place in memory is computed wherever it is asked for, and so is all that it is made of, down to
// what is stored: its cone. Code generation is superlinear in the length of a body, so where a cone grows too large a
// value within it is forced into memory.
#include <span>
#include <string>
#include <vector>

#include "fuse/points.h"
#include "ir/graph.h"
#include "kernel/access_map.h"
#include "kernel/caps.h"

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

/// How often each value is an operand or an output.
IdMap<ValueId, int> count_uses(const Graph& graph);

/// Loop axes over the dims that are longer than 1, and the point that visits them in order.
struct Loop {
  std::vector<Dim> axes;
  kernel::AccessMap at;
};
Loop loop_over(std::span<const Dim> dims);

/// Is every dim 1? Such values live in registers of the entry function.
bool has_one_element(const TensorType& type);

/// Must `v` be written by pieces of its own whoever asks for it?
bool always_stored(const Graph& graph, ValueId v, const kernel::BackendCaps& caps);

/// Scalar ops that answering one question for `v` computes, down to what is stored: a count up to `limit`, and a cost.
struct Cone {
  int ops = 0;
  int cost = 0;
  std::vector<ValueId> values;      // v and what is computed with it
  bool needs_affine_point = false;  // holds an iota or a reshape that cannot be asked through two index arrays
  bool moves_points = false;        // holds a view that asks for another point, so a value may be computed at several
};
Cone cone_of(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const IdMap<ValueId, bool>& forced,
             int limit);

/// Forces values so that no body exceeds the backend's limit.
void cap_bodies(const Graph& graph, const kernel::BackendCaps& caps, Points& points, Forced& forced);

}  // namespace inlay::fuse
