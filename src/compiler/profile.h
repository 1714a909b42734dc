#pragma once
// Profiles: what the steps of a program that was compiled with clocks (Options::time_steps) have taken, and what the
// memory of this machine can do.
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/compile.h"
#include "explain/profile.h"
#include "runtime/step_times.h"

namespace inlay {

/// A profile is of calls for so long, and of so many at least. One call before them does not count: it meets memory
/// that nobody has touched.
inline constexpr double kProfiledSeconds = 0.2;
inline constexpr int64_t kLeastProfiledCalls = 3;

/// Throws Error(unsupported) where the code of `backend` has no clocks. `function`: what was compiled, for the error.
void require_clocks(std::string_view function, std::string_view backend);

/// What calls take from outside.
struct CallTimes {
  int64_t calls = 0;
  double seconds = 0;  // all together
  double least = 0;    // of the quickest
};

/// `times`: of these calls alone, at the sizes of the last.
explain::Profile profile_of(const Lowered& program, const runtime::StepTimes& times, std::string name,
                            const CallTimes& calls);

/// Returns the GB/s (10^9 bytes) that one thread of this machine moves to and from memory: the best of some runs of
/// b + a*c on arrays that no cache holds, by inlay's own code. Measured when it is first asked for, once in a process.
double machine_bandwidth();

}  // namespace inlay
