#pragma once
// Well-typed random programs over all ops, for tests that compare evaluators.
//
// A program is made for chosen sizes (0 and 1 among them), so that its run-time checks hold: where it fails, it fails
// in one place, on purpose. Its values are chosen so that two right evaluators agree up to rounding: what jumps (floor,
// a comparison, a cast to an integer) is applied only to floats that no rounding has touched.
#include "random_inputs.h"

namespace inlay::fuzz {

struct RandomGraphOptions {
  int most_nodes = 12;
  tool::Elements elements = tool::Elements::plain;
};

struct RandomGraph {
  Graph graph;
  tool::Given given;  // the sizes
};

RandomGraph random_graph(tool::Random& random, const RandomGraphOptions& options = {});

}  // namespace inlay::fuzz
