#include "compiler/instrument.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "compiler/sample_sizes.h"
#include "explain/memory_map.h"
#include "ir/region.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "memory/verify.h"
#include "support/ascii.h"
#include "support/whole_file.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;

/// NN-name.extension, as dump() names its files.
bool is_dump_file(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.size() < 4 || !is_digit(name[0]) || !is_digit(name[1]) || name[2] != '-') return false;
  for (const char* extension : {".inlay", ".decisions", ".bodies", ".kernels", ".plan", ".ll", ".s", ".c"}) {
    if (path.extension() == extension) return true;
  }
  return false;
}

/// The first program of a process uses `directory` for its files, the next ones have folders 2, 3, ... in it. Files of
/// an earlier run are removed: unchanged passes write none, so they would be mixed with new ones.
std::string fresh_directory(const std::string& directory) {
  static std::atomic<int> programs = 0;
  const int number = ++programs;
  const fs::path path = number == 1 ? fs::path(directory) : fs::path(directory) / std::to_string(number);
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure)
    throw Error(ErrorCode::invalid_file, {},
                str("cannot make the folder ", path.string(), " for the dumps: ", failure.message()))
        .help("INLAY_DUMP, or the option dump_directory, names a folder that can be written");
  std::vector<fs::path> old;
  for (fs::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code unknown;  // for a file that may not be read: not ours
    if (at->is_regular_file(unknown) && is_dump_file(at->path())) old.push_back(at->path());
  }
  for (const fs::path& file : old) fs::remove(file, failure);
  return path.string();
}

kernel::BackendCaps caps_of(const Backend& backend, const Options& options) {
  kernel::BackendCaps caps = backend.caps();
  if (options.tile_of_columns > 0) caps.tile_of_columns = caps.wide_tile = options.tile_of_columns;
  if (caps.blocks.cost > 0) caps.blocks = blocks_of(options, caps.blocks);
  return caps;
}

}  // namespace

Instrument::Instrument(const Options& options)
    : options_(options),
      backend_(backend_of(options)),
      caps_(caps_of(backend_, options)),
      rewrite_(options.rewrite),
      verify_(options.verify) {
  rewrite_.max_short_side = caps_.max_short_side;
  rewrite_.moments_in_one_pass = caps_.moments_in_one_pass;
  if (!options.dump_directory.empty()) directory_ = fresh_directory(options.dump_directory);
}

Graph Instrument::passes(std::span<const GraphPass> list, const Graph& source) {
  source_ = input_ = &source;
  if (dumps()) dump("source", "inlay", print(source));
  if (verify_) require_sound("source", inlay::verify(source));
  Graph graph = source;
  for (const GraphPass& one : list) {
    if (one.in == PassIn::full_fusion && options_.fuse != fuse::Mode::full) continue;
    if (one.in == PassIn::single_precision && !rewrite_.single_precision) continue;
    if (std::ranges::find(rewrite_.disabled_rules, one.name) != rewrite_.disabled_rules.end()) continue;
    if (std::optional<Graph> changed = pass(one, graph)) graph = std::move(*changed);
  }
  input_ = source_;
  return graph;
}

kernel::KernelProgram Instrument::given(const kernel::KernelProgram& kernels) {
  if (verify_) require_sound("kernels", kernel::verify(kernels), Whose::the_users);
  return stage("kernels", [&] { return kernels; });
}

kernel::KernelProgram Instrument::passes(std::span<const LoopPass> list, kernel::KernelProgram program, LoopPass::Of of,
                                         const kernel::BackendCaps& caps) {
  for (const LoopPass& one : list) {
    if (one.in == LoopPass::In::full_fusion && options_.fuse != fuse::Mode::full) continue;
    if (one.of == LoopPass::Of::whole && of != LoopPass::Of::whole) continue;
    program = pass(one, std::move(program), of, caps);
  }
  return program;
}

namespace {

/// Runs the pass on every body of a cond or a loop, then on the enclosing graph. Nothing: nothing has changed.
std::optional<Graph> run_inside_out(const GraphPass& pass, const Graph& graph, PassContext& context) {
  std::optional<Graph> changed;
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    const std::size_t num_bodies = graph.nodes[n].region.bodies.size();
    for (std::size_t i = 0; i < num_bodies; ++i) {
      std::optional<Graph> body = run_inside_out(pass, *graph.nodes[n].region.bodies[i], context);
      if (!body) continue;
      if (!changed) changed = graph;
      changed->nodes[n].region.bodies[i] = std::make_shared<const Graph>(std::move(*body));
    }
  }
  std::optional<Graph> whole = pass.run(changed ? *changed : graph, context);
  return whole ? std::move(whole) : std::move(changed);
}

}  // namespace

void Instrument::note(const std::string& name, const PassContext& context) {
  rewrite_.max_rewrites = context.rewrites_left();
  counts_.push_back({name, context.counts()});
  if (!context.last_rewrite().empty()) last_rewrite_ = context.last_rewrite();
  refusals_.insert(refusals_.end(), context.refusals().begin(), context.refusals().end());
}

void Instrument::add_seconds(const std::string& name, double seconds) {
  const auto found = std::ranges::find(seconds_, name, &StageSeconds::value_type::first);
  if (found != seconds_.end()) {
    found->second += seconds;
  } else {
    seconds_.emplace_back(name, seconds);
  }
}

std::optional<Graph> Instrument::pass(const GraphPass& pass, const Graph& graph) {
  ++step_;
  input_ = &graph;
  PassContext context(rewrite_);
  const auto run = [&] { return run_inside_out(pass, graph, context); };
  std::optional<Graph> changed = timed(pass.name, run);
  note(pass.name, context);
  if (!changed) return changed;
  if (dumps()) {
    const std::string text = print(*changed);
    if (text != print(graph)) dump(pass.name, "inlay", text);
  }
  if (verify_) require_sound(pass.name, inlay::verify(*changed));
  return changed;
}

kernel::KernelProgram Instrument::pass(const LoopPass& pass, kernel::KernelProgram program, LoopPass::Of of,
                                       const kernel::BackendCaps& caps) {
  PassContext counts(rewrite_);
  LoopPass::Context context{{pass.name, caps, counts}, options_, sharing_, ""};
  const auto run = [&] { return pass.run(std::move(program), context); };
  kernel::KernelProgram result = timed(pass.name, run);
  note(pass.name, counts);
  if (!context.order_gain.empty()) order_gain_ = std::move(context.order_gain);
  if (of == LoopPass::Of::whole) {
    ++step_;
    look_at(pass.name, result);
  } else {
    look_at_body(pass.name, result);
  }
  return result;
}

void Instrument::look_at(const std::string& name, const kernel::KernelProgram& program) {
  if (verify_) require_sound(name, kernel::verify(program));
  if (!dumps()) return;
  std::string text = kernel::print(program);
  if (text != kernels_text_) dump(name, "kernels", text);
  kernels_text_ = std::move(text);
}

void Instrument::look_at_body(const std::string& name, const kernel::KernelProgram& body) {
  if (verify_) require_sound(name, kernel::verify(body, kernel::SizesFrom::outside));
  if (!dumps()) return;
  std::string text = kernel::print(body);
  if (text != body_text_) bodies_ += str(bodies_.empty() ? "" : "\n", "# after ", name, "\n", text);
  body_text_ = std::move(text);
}

namespace {
// A second or two, and 2 GiB: a replay holds a number for each byte.
constexpr memory::ReplayLimits kLimits = {.accesses = 1 << 26, .bytes = 1 << 28};
constexpr int64_t kMostBytesOfUpperBounds = 1 << 26;
}  // namespace

void Instrument::look_at(const std::string& name, const memory::PlannedProgram& planned) {
  const auto& [program, plan] = planned;
  look_at(name, program);
  if (dumps()) dump(name, "plan", explain::memory_map(program, plan));
  if (!verify_) return;
  // Kernels of a file may read what they have not written, for sizes that were never run.
  const Whose whose = source_ ? Whose::ours : Whose::the_users;
  for (const std::vector<int64_t>& symbols : sample_sizes(program)) {
    const bool within = std::ranges::equal(symbols, plan.upper_bounds,
                                           [](int64_t size, int64_t bound) { return bound < 0 || size <= bound; });
    const bool has_bounds = plan.upper_bounds.size() > 0;
    // A replay holds more than the arena's bytes, and small sizes in an arena for huge ones need none of them.
    const bool too_large = has_bounds && plan.arena_bytes() > kMostBytesOfUpperBounds;
    if (!plan.is_static || too_large) {
      require_sound(name, memory::verify(program, plan, symbols, memory::Planner::search, kLimits), whose);
    } else if (within || !has_bounds) {
      require_sound(name, memory::verify(program, plan, plan.layouts, symbols, kLimits), whose);
    }
  }
}

void Instrument::require_sound(const std::string& name, const std::vector<Diagnostic>& diagnostics, Whose whose) {
  if (diagnostics.empty()) return;
  Diagnostic first = diagnostics[0];
  if (whose == Whose::the_users) {
    first.code = ErrorCode::invalid_program;
    throw Error(std::move(first));
  }
  first.code = ErrorCode::internal;
  first.message = str("the verifier rejects what ", name, " made: ", first.message);
  if (diagnostics.size() > 1) first.notes.emplace_back("more", str(diagnostics.size() - 1, " other complaints"));
  report_broken(name, std::move(first));
}

void Instrument::report_broken(const std::string& name, Diagnostic diagnostic) {
  static std::atomic<int> failures = 0;
  diagnostic.notes.emplace_back("pass", name);
  if (input_) {
    std::error_code none;  // then it goes to the working directory
    const fs::path folder = dumps() ? fs::path(directory_) : fs::temp_directory_path(none);
    const fs::path path = folder / str("inlay-reproducer-", getpid(), "-", ++failures, "-", name, ".inlay");
    const std::error_code failure = write_whole_file(
        path, str("# `inlay opt` or `inlay run` of this graph failed in the pass ", name, ".\n", print(*input_)));
    const std::string said =
        failure ? str("cannot be written to ", path.string(), ": ", failure.message()) : path.string();
    diagnostic.notes.emplace_back("reproducer", said);
  }
  diagnostic.help = str("please report it, with the ", input_ ? "reproducer" : "file");
  throw Error(std::move(diagnostic));
}

void Instrument::dump(const std::string& name, const std::string& extension, const std::string& text) {
  if (!dumps()) return;
  const fs::path path = fs::path(directory_) / str(step_ < 10 ? "0" : "", step_, "-", name, ".", extension);
  if (const std::error_code failure = write_whole_file(path, text)) {
    throw Error(ErrorCode::invalid_file, {}, str("cannot write the dump ", path.string(), ": ", failure.message()));
  }
}

}  // namespace inlay
