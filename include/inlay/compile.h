#pragma once
// From a graph to a function.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inlay/executable.h"
#include "inlay/graph.h"

namespace inlay {

/// What a `host_call` of the graph calls: operands in, results out. An exception fails the call:
/// Error(host_call_failed).
using HostFunction = std::function<std::vector<Array>(std::span<const ArrayRef> operands)>;

/// Working memory that has to lie somewhere in the arena: `size_bytes`, at a multiple of `alignment_bytes`, while the
/// program is at ticks [begin, end).
struct StorageToPlace {
  std::string name;  // of the value that is the first to lie there
  int64_t size_bytes = 0, alignment_bytes = 0;
  int32_t begin = 0, end = 0;
};

/// Where each begins. What it says is proved: Error(wrong_plan) names what overlaps.
using PlannerFunction = std::function<std::vector<int64_t>(std::span<const StorageToPlace> storages)>;

/// May two values share bytes where the rule allows it (docs/memory.md)? never: they are kept apart. even_if_larger:
/// also where the arena might grow by it. Neither makes anything share that would compute wrong numbers.
enum class MayShare : uint8_t { by_rule, never, even_if_larger };

/// `step`: where `value` takes over the bytes of `operand`, or the operand is made in those of the value: "@k1",
/// "cholesky", "a copy"; names as `explain` shows them.
using SharingFunction =
    std::function<MayShare(const std::string& step, const std::string& value, const std::string& operand)>;

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
