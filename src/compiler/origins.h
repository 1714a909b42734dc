#pragma once
// Where what a step computes comes from: the places in the user's source that the door gave to the nodes of the graph.
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "explain/memory_map.h"

namespace inlay {

class Origins {
 public:
  explicit Origins(const Lowered& program);

  /// The locations of the nodes between what the step reads from memory and what it writes, the results' first; each
  /// once. Steps in bodies of loops and conditions have none.
  std::vector<std::string> of(kernel::StepId step) const;

 private:
  const Lowered& program_;
  IdMap<ValueId, bool> is_stored_;  // by a step that is no 0-d arithmetic
};

/// What a picture of the program's memory says beyond the plan.
explain::PageWords page_words(const Lowered& program, std::string title);

/// The source lines in locations, those in most of them: `model.py:7, 12`; at most three.
std::string source_lines(const std::vector<std::string>& locations);

}  // namespace inlay
