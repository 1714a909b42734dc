#pragma once
// The origins of a step: the places in the user's source that the front end gave to the nodes it computes.
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "explain/memory_map.h"

namespace inlay {

class Origins {
 public:
  explicit Origins(const Lowered& program);

  /// Returns the locations of the nodes between what the step reads from memory and what it writes, the results' first;
  /// each once. Steps in bodies of loops and conditions have none.
  std::vector<std::string> of(kernel::StepId step) const;

 private:
  const Lowered& program_;
  IdMap<ValueId, bool> is_stored_;  // by a step other than 0-d arithmetic
};

/// Returns the texts of a program's memory picture that are not in the plan.
explain::PageWords page_words(const Lowered& program, std::string title);

/// Returns the source lines that occur in most of the locations, `model.py:7, 12`; at most three.
std::string source_lines(const std::vector<std::string>& locations);

}  // namespace inlay
