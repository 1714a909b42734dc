#pragma once
#include <string>
#include <vector>

namespace inlay::tool {

/// How a network is read.
struct NetworkFlags {
  std::vector<std::string> fixed;    // "rate=16000"
  std::vector<std::string> donated;  // names of inputs
  bool no_windows = false;           // convolutions store none

  bool operator==(const NetworkFlags&) const = default;
};

}  // namespace inlay::tool
