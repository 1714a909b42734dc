#pragma once
// What `inlay run`, `test`, `opt`, `explain`, `compile`, `export`, `plan`, `cache` and `list` do once main.cpp has read
// the command line. Each returns the exit code; what goes wrong is thrown.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/options.h"
#include "network_flags.h"

namespace inlay::tool {

// Exit codes, by the kind of what went wrong.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;      // a program or a file is wrong, a call failed, a test did not pass
inline constexpr int kWrongUsage = 2;  // the command line itself
inline constexpr int kOurMistake = 3;  // a promise inside inlay was broken

/// Options of a compilation, as the command line says them.
struct CompileFlags {
  std::string fuse;                // empty: as the environment says
  std::string planner;             // likewise
  std::string order;               // likewise
  std::string cpu;                 // likewise
  std::vector<std::string> upper;  // "n=4096"
  std::vector<std::string> no_inplace;
  std::vector<std::string> rewrite_off;
  int64_t bisect = -1;  // below 0: all rewrites
  bool single_precision = false;
  NetworkFlags network;

  bool operator==(const CompileFlags&) const = default;
  Options options() const;
};

/// "n=4096", as `option` has it; and several, each of another size.
std::pair<std::string, int64_t> named_size(const char* option, const std::string& text);
std::vector<std::pair<std::string, int64_t>> named_sizes(const char* option, const std::vector<std::string>& texts);

struct RunCommand {
  std::string file;
  std::vector<std::string> arguments;
  std::string directory;
  std::string evaluator;           // empty: the backend, or kernel/greedy where there is none
  bool profile = false;            // what the steps take, instead of the results
  std::vector<std::string> sizes;  // "n=4096": of a profile's parameters without a file
  int threads = 1;                 // on how many the backend may run it
  CompileFlags compile;
};
int run(const RunCommand& command);

struct TestCommand {
  std::vector<std::string> paths;
  bool update = false;
  uint64_t seed = 1;
  CompileFlags compile;
};
int test(const TestCommand& command);

struct OptCommand {
  std::string file;
  std::string stage = "read";  // read, rewrite, fuse or memory
  std::string stop_after;      // a pass, or fuse: what the program is then; empty: as `stage` says
  std::string pass;            // this one alone; empty: as `stage` says
  CompileFlags compile;
};
int opt(const OptCommand& command);

struct ExplainCommand {
  std::string file;
  bool json = false;
  std::string memory;  // a file for the picture of the memory; empty: none
  CompileFlags compile;
};
int explain_file(const ExplainCommand& command);

struct CompileCommand {
  std::string file;
  std::string emit = "c";
  std::string output;  // empty: the terminal
  std::string name = "inlay_entry";
  CompileFlags compile;
};
int compile(const CompileCommand& command);

struct ExportCommand {
  std::string file;
  std::string kind;                // c, object or shared; empty: as the ending of `output` says, else c
  std::string output;              // a folder, or the file of the code
  std::string name;                // empty: as `file` is called
  std::vector<std::string> sizes;  // "n=919"
  std::vector<std::string> bound;  // "w=w.npy"
  bool freestanding = false;
  bool blas = false;
  std::string section;
  bool json = false;
  CompileFlags compile;
};
int export_file(const ExportCommand& command);

struct PlanCommand {
  std::string file;
  std::vector<std::string> capacities;  // "BYTES", or "POOL=BYTES"
  std::string planner = "search";
  int64_t budget_ms = -1;  // below 0: the planner's own
  bool json = false;
  std::string html;  // a file for the picture of the plan; empty: none
};
int plan_file(const PlanCommand& command);

struct CacheCommand {
  bool clear = false;
};
int cache(const CacheCommand& command);

struct ListCommand {
  std::string what;  // ops, rules, passes, errors
  bool json = false;
};
int list(const ListCommand& command);

}  // namespace inlay::tool
