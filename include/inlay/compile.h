#pragma once
// From a graph to a function.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inlay/executable.h"
#include "inlay/graph.h"
#include "inlay/planning.h"

namespace inlay {

/// What a `host_call` of the graph calls: operands in, results out. An exception fails the call:
/// Error(host_call_failed).
using HostFunction = std::function<std::vector<Array>(std::span<const ArrayRef> operands)>;

struct CompileOptions {
  std::vector<HostFunction> host_functions;  // by the number that GraphBuilder::host_call was given
  bool keep_every_bit = false;               // only rewrites that change no bit of a result
  std::string backend;                       // "llvm" or "c"; empty: as INLAY_BACKEND says, else what works here
  std::string planner;             // "naive", "greedy", "search", "max"; empty: as INLAY_PLANNER says, else search
  std::string order;               // "given", "memory" (docs/memory.md); empty: as INLAY_ORDER says, else memory
  PlannerFunction custom_planner;  // in the place of `planner`, if there is one
  std::map<std::string, int64_t> upper_bounds;  // of sizes, by name: the arena is laid out once, for all calls up to
                                                // them; a call beyond is Error(upper_bound)
  SharingFunction may_share;                    // a say in what is computed in place; none: whatever the rule allows
  std::string dump_directory;                   // what every stage made, as files; empty: as INLAY_DUMP says
  bool verify = false;                          // check every stage's result (also by INLAY_VERIFY)
};

/// Throws Error where the program is wrong, or no code generator was found.
Executable compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace inlay
