#pragma once
// Verifies, dumps, times and counts passes: here once, and in no pass.
//
//   Instrument run(options);
//   const Graph graph = run.passes(graph_passes(), source);
//   kernel::KernelProgram kernels = run.stage("fuse", [&] { return fuse(graph, ...); });
//   kernels = run.passes(loop_passes(), std::move(kernels), of, run.caps());
//
// A pass's name in the table names its dump file, its timer and its counters, and errors inside it. With a dump
// directory, each step that changed something writes one text file, whose name begins with the number of the step:
// 00-source.inlay, NN-simplify.inlay, ... NN-fuse.decisions, NN-fuse.bodies, NN-fuse.kernels, NN-join-regions.kernels,
// ... NN-memory.plan, NN-emit.ll, NN-emit.s (or NN-emit.c). A new pass changes the numbers, so pages and tests name a
// file by the rest of its name: *-fuse.kernels. The kernels of a pass are those that --stop-after prints; what the
// passes made of the bodies of loops and conds before, each by itself, stands in *-fuse.bodies.
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/backends.h"
#include "compiler/options.h"
#include "compiler/passes.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "memory/plan.h"
#include "support/fork_gate.h"
#include "support/stop.h"

namespace inlay {

using StageSeconds = std::vector<std::pair<std::string, double>>;  // in the order of running

struct PassCounts {
  std::string pass;
  std::vector<std::pair<std::string, int64_t>> counts;  // "dropped", or the name of a rule
};

class Instrument {
 public:
  explicit Instrument(const Options& options);
  explicit Instrument(const Options&&) = delete;  // it keeps a reference

  /// The backend that the options choose, found once, and its capabilities, with what the options say of them.
  const Backend& backend() const { return backend_; }
  const kernel::BackendCaps& caps() const { return caps_; }

  /// Runs each pass on the result of the previous one, on bodies before the graphs around them. `source` must outlive
  /// this.
  Graph passes(std::span<const GraphPass> list, const Graph& source);

  /// Takes kernels that a user wrote or changed: errors in them are the user's, not inlay's.
  kernel::KernelProgram given(const kernel::KernelProgram& kernels);

  /// Runs each pass that the chosen fusion mode includes on the result of the previous one. `of` says what the program
  /// is; what they make of a body goes to the file of the enclosing program's stage.
  kernel::KernelProgram passes(std::span<const LoopPass> list, kernel::KernelProgram program, LoopPass::Of of,
                               const kernel::BackendCaps& caps);

  /// Runs `make`, timed, and returns its result; a KernelProgram and a plan are verified and dumped, and so are the
  /// texts of an emitted object that has `texts`.
  template <class Make>
  auto stage(const std::string& name, Make make) {
    auto result = timed(name, make);
    ++step_;
    look_at(name, result);
    if (!decisions_.empty()) dump(name, "decisions", std::exchange(decisions_, {}));
    if (!bodies_.empty()) dump(name, "bodies", std::exchange(bodies_, {}));
    return result;
  }

  /// Runs `make`, which makes the kernels of a body, timed; they are verified, and go to the dump of the next stage.
  template <class Make>
  kernel::KernelProgram body_stage(const std::string& name, Make make) {
    kernel::KernelProgram body = timed(name, make);
    look_at_body(name, body);
    return body;
  }

  /// Are dumps written? (The texts of machine code take time to make.)
  bool dumps() const { return !directory_.empty(); }

  /// Returns where the fuser writes its decisions, also those for bodies, for the dump of the next stage; null if there
  /// are no dumps.
  std::string* decisions() { return dumps() ? &decisions_ : nullptr; }

  const StageSeconds& seconds() const { return seconds_; }
  const std::vector<PassCounts>& counts() const { return counts_; }
  const std::string& last_rewrite() const { return last_rewrite_; }       // the rule that fired last, over all passes
  std::optional<memory::Sharing>& sharing() { return sharing_; }          // LoopPass::Context
  const std::string& order_gain() const { return order_gain_; }           // LoopPass::Context
  const std::vector<std::string>& refusals() const { return refusals_; }  // of graph passes

 private:
  template <class Make>
  auto timed(const std::string& name, Make& make) {
    checkpoint();
    const auto begin = std::chrono::steady_clock::now();
    const auto stop = [&] {
      add_seconds(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    };
    try {
      auto result = make();
      stop();
      return result;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::internal) throw;
      report_broken(name, error.diagnostic());
    }
  }

  template <class Result>
  void look_at(const std::string& name, const Result& result) {
    if constexpr (requires { result.texts; }) {
      --step_;
      for (const auto& [extension, text] : result.texts) {
        ++step_;
        if (!text.empty()) dump(name, extension, text);
      }
    }
  }
  void look_at(const std::string& name, const kernel::KernelProgram& program);
  void look_at(const std::string& name, const memory::PlannedProgram& planned);
  void look_at_body(const std::string& name, const kernel::KernelProgram& body);

  /// Not inlined: tests/growth counts instructions from one call of it to the next.
  [[gnu::noinline]] void add_seconds(const std::string& name, double seconds);
  /// Runs one pass; nothing if it leaves the graph as it is.
  std::optional<Graph> pass(const GraphPass& pass, const Graph& graph);
  kernel::KernelProgram pass(const LoopPass& pass, kernel::KernelProgram program, LoopPass::Of of,
                             const kernel::BackendCaps& caps);
  /// Records the counts and refusals of a pass.
  void note(const std::string& name, const PassContext& context);
  enum class Whose : uint8_t { ours, the_users };
  void require_sound(const std::string& name, const std::vector<Diagnostic>& diagnostics, Whose whose = Whose::ours);
  /// Throws an error that names the pass and a file that reproduces the failure.
  [[noreturn]] void report_broken(const std::string& name, Diagnostic diagnostic);
  void dump(const std::string& name, const std::string& extension, const std::string& text);

  const ForkGate::Inside inside_;
  const Options& options_;
  const Backend& backend_;
  const kernel::BackendCaps caps_;
  PassOptions rewrite_;  // max_rewrites: what is left of it
  bool verify_ = false;
  std::string directory_;  // where this program's files go; empty: nowhere
  int step_ = 0;
  const Graph* source_ = nullptr;
  const Graph* input_ = nullptr;  // of the current pass
  std::optional<memory::Sharing> sharing_;
  StageSeconds seconds_;
  std::vector<PassCounts> counts_;
  std::string last_rewrite_, order_gain_;
  std::string kernels_text_;                    // of the last dump of kernels
  std::string decisions_, bodies_, body_text_;  // body_text_: what was added to bodies_ last
  std::vector<std::string> refusals_;
};

}  // namespace inlay
