#pragma once
// What is computed along with a value, and when that is too much for one loop.
//
// A value without a place in memory is computed wherever it is asked for, and so is all that it is made of, down to
// what is stored: its cone. Code generation is superlinear in the length of a body, so where a cone grows too large a
// value within it is forced into memory.
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuse/points.h"
#include "ir/graph.h"
#include "ir/traits.h"
#include "kernel/access_map.h"
#include "kernel/caps.h"
#include "kernel/stored.h"

namespace inlay::fuse {

/// Values that must be stored beyond those that the graph itself asks for, with the reason of each.
struct Forced {
  IdMap<ValueId, bool> values;
  std::unordered_map<ValueId, kernel::Stored> reasons;
  void add(ValueId v, kernel::Stored reason) {
    values[v] = true;
    reasons.emplace(v, std::move(reason));
  }
};

/// Scalar ops that answering one question for a value computes, down to what is stored: a count, up to the backend's
/// limit for a body, and a cost.
struct Cone {
  int ops = 0;
  int cost = 0;
  bool needs_affine_point = false;  // holds an iota or a reshape that cannot be asked through two index arrays
  bool moves_points = false;        // holds a view that asks for another point, so a value may be computed at several
};

/// The cones of a graph's values. What they need to know of the nodes lies side by side, since cones are looked at
/// again and again and nodes are large.
class Cones {
 public:
  Cones(const Graph& graph, const kernel::BackendCaps& caps);

  /// Must `v` be written by pieces of its own whoever asks for it?
  bool always_stored(ValueId v) const { return parts_[v].always_stored; }

  /// Has it one element, that no literal says?
  bool in_register(ValueId v) const { return parts_[v].in_register; }

  /// Can what is gathered from `base` not be computed where it is read: through an index?
  bool is_read_by_position(ValueId base, const IdMap<ValueId, bool>& forced) {
    return of(base, forced).needs_affine_point;
  }

  /// What of `v` is computed when what is `forced` is stored; if asked for, also which values: v and those computed
  /// with it.
  Cone of(ValueId v, const IdMap<ValueId, bool>& forced, std::vector<ValueId>* values = nullptr);

 private:
  /// One value as a part of cones.
  struct Part {
    bool always_stored = false;
    bool in_register = false;
    bool moves_points = false;
    bool needs_affine_point = false;
    int ops = 0, cost = 0;
    int terms = -1;  // of a reduce that is written out at the point
    uint32_t first_operand = 0, last_operand = 0;
  };
  Part part_of(const Graph& graph, ValueId v, const kernel::BackendCaps& caps);
  Cone of(ValueId v, const IdMap<ValueId, bool>& forced, std::vector<ValueId>* values, std::size_t depth);

  int max_ops_;
  IdMap<ValueId, Part> parts_;
  std::vector<ValueId> operands_;
  struct Visit {
    IdMap<ValueId, uint32_t> seen;  // the last question that came by
    std::vector<ValueId> todo;
  };
  std::deque<Visit> visits_;  // by the number of written out reduces that a cone lies within
  uint32_t question_ = 0;
};

/// Forces values so that no body exceeds the backend's limit.
void cap_bodies(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, Points& points, Forced& forced);

}  // namespace inlay::fuse
