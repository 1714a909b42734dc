#pragma once
// Compiles a graph to an executable function.
#include <map>
#include <string>
#include <vector>

#include "inlay/executable.h"
#include "inlay/graph.h"
#include "inlay/planning.h"

namespace inlay {

struct CompileOptions {
  std::vector<HostFunction> host_functions;  // by the number that GraphBuilder::host_call was given
  bool keep_every_bit = false;               // allow only rewrites that change no bit of a result
  bool single_precision = false;             // what is computed in f64 only to be rounded to f32 is computed in f32
  std::string backend;                       // "llvm" or "c"; empty: INLAY_BACKEND, else the first that works here
  std::string cpu;                 // of llvm: "avx512", "avx2", "sse2", "neon", or features as "-avx512f"; empty:
                                   // INLAY_CPU_FEATURES, else all that the CPU has
  std::string planner;             // "naive", "greedy", "search", "max"; empty: INLAY_PLANNER, else "search"
  std::string order;               // "given", "memory" (docs/memory.md); empty: INLAY_ORDER, else "memory"
  PlannerFunction custom_planner;  // if set, used instead of `planner`
  std::map<std::string, int64_t> upper_bounds;  // of sizes, by name: the arena is laid out once, for all calls up to
                                                // them; a call with a larger size throws Error(upper_bound)
  SharingFunction may_share;   // decides what may be computed in place; empty: all that the rule allows
  std::string dump_directory;  // every stage writes its result there; empty: INLAY_DUMP
  int threads = 1;             // on how many a call may run; the results are the same for any number
  bool verify = false;         // check every stage's result (also by INLAY_VERIFY)
};

/// Compiles the graph. Throws Error if the program is wrong or no code generator is found.
Executable compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace inlay
