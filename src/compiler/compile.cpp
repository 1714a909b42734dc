// The table of contents of inlay: a program's whole route, from Graph to machine code.
#include "compiler/compile.h"

#include <algorithm>

#include "compiler/backends.h"
#include "compiler/layout_cache.h"
#include "compiler/object.h"
#include "memory/checks_first.h"
#include "memory/required.h"
#include "rewrite/common_values.h"
#include "rewrite/dead_values.h"
#include "rewrite/light_loops.h"
#include "rewrite/short_matmul.h"
#include "rewrite/simplify.h"
#include "support/float_environment.h"

namespace inlay {
namespace {

constexpr GraphPass kGraphPasses[] = {
    {"common-values", "one value for equal expressions", rewrite::share_common_values},
    {"simplify", "one spelling for one meaning; fold, cancel, stabilize", rewrite::simplify},
    {"short-matmul", "a dot with a short static side is a product and a sum", rewrite::expand_short_matmul},
    {"light-loops", "what no step of a loop has to do leaves its body", rewrite::lighten_loops},
    {"common-values-again", "what rules have made, and what loops have in common", rewrite::share_common_values},
    {"dead-values", "drop what nothing needs", rewrite::drop_dead_values},
};

runtime::Executable load(const kernel::KernelProgram& kernels, const memory::MemoryPlan& plan, Emitted emitted,
                         const Options& options) {
  runtime::LayoutFunction layout;
  if (!plan.is_static) layout = layout_function(plan.sharing, options.planning());
  return runtime::Executable(make_object(kernels, plan, std::move(emitted.object), std::move(emitted.entry)),
                             backend_of(options).find_external, std::move(layout));
}

/// Verifying, dumping, timing and counting happen in `run`: here once, in no pass.
kernel::BackendCaps caps_of(const Options& options) {
  kernel::BackendCaps caps = backend_of(options).caps();
  if (options.tile_of_columns > 0) caps.tile_of_columns = options.tile_of_columns;
  return caps;
}

memory::MemoryPlan plan_memory(Instrument& run, const kernel::KernelProgram& kernels, const Options& options) {
  auto plan = run.stage("memory", [&] { return memory::plan_memory(kernels, options.planning()); });
  memory::require_in_place(kernels, plan.sharing);
  return plan;
}

Lowered lower(Instrument& run, const Graph& source, const Options& options) {
  Graph graph = run.passes(kGraphPasses, source);
  const kernel::BackendCaps caps = caps_of(options);
  auto kernels = run.stage("fuse", [&] { return fuse::fuse(graph, caps, options.fuse); });
  kernels.refusals.insert(kernels.refusals.begin(), run.refusals().begin(), run.refusals().end());
  if (std::ranges::any_of(kernels.buffers, &kernel::Buffer::donated)) {
    kernels = run.stage("checks-first", [&] { return memory::check_first(std::move(kernels), options.eligible); });
  }
  auto ordered = run.stage("order", [&] { return memory::order_steps(std::move(kernels), options.order); });
  auto plan = plan_memory(run, ordered.program, options);
  return {std::move(graph),
          std::move(ordered.program),
          std::move(ordered.gain),
          std::move(plan),
          run.seconds(),
          run.counts(),
          run.last_rewrite(),
          options.fuse,
          caps};
}

Lowered lower(Instrument& run, const kernel::KernelProgram& source, const Options& options) {
  auto kernels = run.stage("kernels", [&] { return source; });
  auto plan = plan_memory(run, kernels, options);
  return {Graph(), std::move(kernels), "", std::move(plan), run.seconds(), {}, {}, options.fuse, caps_of(options)};
}

Program finish(Instrument& run, Lowered lowered, const Options& options) {
  auto emitted = run.stage("emit", [&] {
    return backend_of(options).emit(lowered.kernels, lowered.plan, options,
                                    run.dumps() ? KeepTexts::yes : KeepTexts::no);
  });
  auto executable = run.stage("load", [&] { return load(lowered.kernels, lowered.plan, std::move(emitted), options); });
  lowered.seconds = run.seconds();
  return {std::move(lowered), std::move(executable)};
}

}  // namespace

Lowered lower(const Graph& source, const Options& options) {
  const DefaultFloatEnvironment environment;
  Instrument run(options);
  return lower(run, source, options);
}

Program compile_program(const Graph& source, const Options& options) {
  const DefaultFloatEnvironment environment;
  Instrument run(options);
  return finish(run, lower(run, source, options), options);
}

Lowered lower(const kernel::KernelProgram& kernels, const Options& options) {
  const DefaultFloatEnvironment environment;
  Instrument run(options);
  return lower(run, kernels, options);
}

Program compile_program(const kernel::KernelProgram& kernels, const Options& options) {
  const DefaultFloatEnvironment environment;
  Instrument run(options);
  return finish(run, lower(run, kernels, options), options);
}

}  // namespace inlay
