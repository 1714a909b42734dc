#pragma once
// What a backend returns: relocatable bytes and everything a caller must know to run them. Plain data, the same whether
// it was just generated, comes from a cache, or is written to disk.
#include <cstddef>
#include <string>
#include <vector>

#include "ops/facts.h"
#include "runtime/size_expr.h"
#include "support/error.h"

namespace inlay::runtime {

struct TensorSpec {
  std::string name;   // as the user knows it
  std::string dtype;  // "f64", ...; "opaque"
  int64_t element_bytes = 8;
  std::vector<SizeExpr> dims;          // over symbols
  std::vector<std::string> dim_texts;  // for errors: "n + 1"
  bool bound = false;                  // of a parameter: set once for all calls
  Facts facts;                         // of a bound parameter: what the code trusts
  bool donated = false;                // of a parameter: the call may overwrite it
  int taken_param = -1;                // of an output: the parameter that must lie at its address; -1: none
  bool written_last = false;           // of an output: nothing can fail once a byte of it is written
  int segment = 0;                     // of an output: the segment at whose start its size is known
};

/// A symbol's value is axis `axis` of parameter `param`; param < 0: the program sets it during the run.
struct SymbolSpec {
  std::string name;
  int param = -1;
  int axis = 0;
  int64_t upper_bound = -1;  // a call with a larger size fails before it runs; -1: no bound
};

/// A place where a call can fail. {0}, {1}, ... in the message are the numbers of the failed run.
struct SiteSpec {
  ErrorCode code = ErrorCode::index_out_of_bounds;
  std::string message;
  std::vector<std::pair<std::string, std::string>> notes;
  Location location;
};

struct HostCallSpec {
  std::string name;
  int function = -1;
  std::vector<TensorSpec> operands, results;
  Location location;
};

/// If static, offsets are constants in the code. Otherwise the runtime asks for them, see Executable::layout.
struct ArenaSpec {
  bool is_static = true;
  std::vector<int64_t> segment_bytes;  // of a static arena, by segment; its size is the number of segments always
  int num_storages = 0;

  /// A storage in the arena: what a planner must know of it.
  struct Storage {
    int number = 0;  // of num_storages
    std::string name;
    SizeExpr bytes;
    int64_t alignment_bytes = 64;
    int segment = 0;
    int32_t begin = 0, end = 0;  // the ticks at which it holds a needed byte (memory/layout.h)
  };
  std::vector<Storage> storages;
};

struct Object {
  std::vector<std::byte> code;  // a relocatable ELF object
  std::string entry;            // its function, see inlay/runtime.h
  std::vector<TensorSpec> params, outputs;
  std::vector<SymbolSpec> symbols;
  std::vector<SiteSpec> sites;
  std::vector<HostCallSpec> host_calls;  // by function
  ArenaSpec arena;
};

}  // namespace inlay::runtime
