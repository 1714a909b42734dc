#pragma once
// Which f64 values of a graph are computed from f32 values and become f32 again: the analysis of single_precision.h.
#include <string>
#include <vector>

#include "ir/graph.h"

namespace inlay::rewrite {

/// f64 and c128: those that single precision is half of.
bool is_wide(DType dtype);
/// f32 for f64, c64 for c128; any other dtype is its own.
DType narrowed(DType dtype);
/// Is it a cast of a wide value to a float or complex dtype that is none?
bool is_end_of_wide(const Graph& graph, const Node& node);

/// The largest set of nodes that can change together. A node leaves it where an operand has no f32 form or a reader
/// needs the f64; then its neighbours are asked again.
class NarrowRegions {
 public:
  enum class Part : uint8_t {
    outside,
    start,   // of f32 values, or a number that f32 has as well: costs nothing to have in both
    inside,  // takes wide values, or makes them
    end,     // a cast to f32
    choice,  // makes bools of bools: chooses, in the end, between numbers that are rounded anyway
  };

  explicit NarrowRegions(const Graph& graph);

  Part operator[](NodeId n) const { return parts_[n]; }
  /// Is there anything to change?
  bool any() const;
  bool has_reader_inside(ValueId v) const;
  bool has_reader_outside(ValueId v) const;
  /// Why a value that is no part of a region is none, for a refusal.
  std::string reason(ValueId v) const;

 private:
  struct Why {
    ValueId value;
    const char* is = "";
  };

  void classify(NodeId n);
  Part part_of(const Node& node, Why& why);
  Part part_of_cast(const Node& node, Why& why) const;
  Part part_of_scalar(const Node& node, Why& why) const;
  Part part_of_literal(const Node& node, Why& why) const;
  bool is_count(const Node& node) const;
  bool is_exact(const Node& node) const;

  void shrink();
  bool may_stay(NodeId n, Why& why) const;
  bool reads_as_f32(NodeId reader, ValueId v) const;
  Part part_of_maker(ValueId v) const;

  const Graph& graph_;
  IdMap<NodeId, Part> parts_;
  IdMap<NodeId, Why> why_;                       // of those that are outside
  IdMap<ValueId, bool> is_count_;                // integers that sizes make: f32 has them but for rounding
  IdMap<ValueId, bool> is_exact_;                // the f32 form is the same number
  IdMap<ValueId, bool> is_result_;               // of the graph
  IdMap<ValueId, std::vector<NodeId>> readers_;  // one that reads it twice may stand there twice
};

}  // namespace inlay::rewrite
