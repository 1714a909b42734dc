#pragma once
#include <string>
#include <vector>

namespace inlay::tool {

/// What is said of a network's inputs.
struct NetworkFlags {
  std::vector<std::string> fixed;    // "rate=16000"
  std::vector<std::string> donated;  // their names

  bool operator==(const NetworkFlags&) const = default;
};

}  // namespace inlay::tool
