#pragma once
// The first few of a sorted axis, without sorting it.
#include "ir/compose_sort.h"

namespace inlay::onnx {

/// top_k of a known, small count: each step reads the axis once and takes what comes next, which for few elements is
/// less work than a sort. Otherwise the sort.
ValuesAndPlaces first_in_order(GraphBuilder& b, ValueId x, const Dim& count, int axis, Extreme extreme);

}  // namespace inlay::onnx
