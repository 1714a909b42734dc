#pragma once
// What loops move between memory and the caches, as an estimate, and which of several ways to loop moves least.
#include <span>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::transform {

/// What the kernels of a part of a program cost: bytes that they move, and bytes of temporaries: of a local those that
/// it has at a time, of others those that cannot lie where what is made of them does.
struct Traffic {
  int kernels = 0;
  double moved = 0, held = 0;
  /// By more than the estimate may be wrong?
  bool moves_less_than(const Traffic& other) const;
  /// Is less moved; where that is as much, are kernels fewer; where these are as many, is less held?
  bool is_less_than(const Traffic& other) const;
};

/// Returns the estimate for each kernel; 0 for other steps. What a kernel has for itself, or goes over again, costs
/// nothing where the part of one outer point fits in the cache. What is passed across its lines costs whole lines where
/// others want their places before they are used up.
std::vector<Traffic> traffic_of(const kernel::KernelProgram& program);

using TrafficByBuffer = IdMap<kernel::BufferId, Traffic>;

/// Returns for each of these versions of a program, by buffer, the estimate for the part of it that writes the buffer.
/// Passes have made the versions of one program, joining kernels; what is one kernel in any of them is one part in all.
std::vector<TrafficByBuffer> traffic_by_part(std::span<const kernel::KernelProgram> versions);

}  // namespace inlay::transform
