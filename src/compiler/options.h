#pragma once
// The options of a compilation. The defaults suit everyone who is not debugging.
#include <cstdlib>
#include <sstream>
#include <string>

#include "fuse/fuse.h"
#include "memory/plan.h"
#include "memory/step_order.h"
#include "support/pass_context.h"

namespace inlay {

inline std::string from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}
inline bool is_set(const char* variable) {
  const std::string value = from_environment(variable);
  return !value.empty() && value != "0";
}

/// INLAY_FUSE=none|greedy|full, to see what fusing gains.
inline fuse::Mode fuse_from_environment() {
  const std::string name = from_environment("INLAY_FUSE");
  return name.empty() ? fuse::Mode::full : fuse::mode_named(name, "INLAY_FUSE");
}

/// INLAY_PLANNER=naive|greedy|search|max, to see what a better memory layout gains, and to find a mistake in one.
inline memory::Planner planner_from_environment() {
  const std::string name = from_environment("INLAY_PLANNER");
  return name.empty() ? memory::Planner::search : memory::planner_named(name, "INLAY_PLANNER");
}

/// INLAY_ORDER=given|memory, to see what another order of steps saves.
inline memory::StepOrder order_from_environment() {
  const std::string name = from_environment("INLAY_ORDER");
  return name.empty() ? memory::StepOrder::memory : memory::step_order_named(name, "INLAY_ORDER");
}

/// Throws Error(unknown-name), with the nearest name, if no rewrite rule and no pass has that name, and
/// Error(unsupported) if the pass cannot be switched off.
void require_rewrite(const std::string& name);

/// INLAY_REWRITE_OFF=NAME,NAME: runs without these rules and passes, to find the one that is wrong.
inline PassOptions rewrites_from_environment() {
  PassOptions out;
  std::istringstream names(from_environment("INLAY_REWRITE_OFF"));
  for (std::string name; std::getline(names, name, ',');) {
    require_rewrite(name);
    out.disabled_rules.push_back(name);
  }
  return out;
}

struct Options {
  /// Where nothing is compiled: no variable, right or wrong, says anything then.
  static Options without_environment();

  PassOptions rewrite = rewrites_from_environment();  // closeness, disabled rules, how many rewrites
  fuse::Mode fuse = fuse_from_environment();
  memory::StepOrder order = order_from_environment();
  memory::PlannerOptions planning = {.planner = planner_from_environment()};
  SharingFunction may_share;                                // what may share bytes; empty: all that the rule allows
  std::string backend = from_environment("INLAY_BACKEND");  // empty: the first that works here (backends.h)
  std::string cpu_features;                                 // of llvm: "avx2", "-avx512f" (backend/llvm/cpu.h)

  int threads = 1;  // on how many a call may run; 1: the code is for one

  bool smallest_blocks = false;  // loops are cut however short they are: for tests
  bool time_steps =
      false;  // the code reports when a step begins, for runtime/step_times.h; by a backend that has_clocks
  int64_t tile_of_columns =
      0;  // also replaces wide_tile: for arrays that do not fill the backend's tiles (BackendCaps); 0: the backend's

  // To find a mistake of inlay. A program that is compiled while another's dump is in the directory gets a folder of
  // its own in it: 2, 3, ...
  std::string dump_directory = from_environment("INLAY_DUMP");  // empty: nothing is written
  bool verify = is_set("INLAY_VERIFY");                         // after every pass and stage
};

inline Options Options::without_environment() {
  return {.rewrite = {},
          .fuse = fuse::Mode::full,
          .order = memory::StepOrder::memory,
          .planning = {},
          .backend = {},
          .dump_directory = {},
          .verify = false};
}

}  // namespace inlay
