// The table of contents of inlay: a program's whole route, from Graph to machine code.
#include "compiler/compile.h"

#include "compiler/object.h"
#include "compiler/passes.h"
#include "memory/required.h"
#include "support/float_environment.h"

namespace inlay {
namespace {

memory::PlannedProgram plan_memory(Instrument& run, kernel::KernelProgram kernels, const Options& options) {
  auto planned = run.stage("memory", [&] {
    return memory::plan_memory(shared(std::move(kernels), run.sharing(), options), options.planning);
  });
  memory::require_in_place(planned.program, planned.plan.sharing);
  return planned;
}

/// Fuses a graph and runs the loop passes, up to the one called `last`. Its bodies have gone through all of theirs by
/// then, since their steps become some of the enclosing program's (Note [Flat regions]).
kernel::KernelProgram fuse_and_transform(Instrument& run, const Graph& graph, const kernel::BackendCaps& caps,
                                         const Options& options, std::string_view last = {}) {
  fuse::FusedBodies bodies;
  for (const Node& node : graph.nodes) {
    for (const auto& body : node.region.bodies) {
      bodies.emplace(body.get(), fuse_and_transform(run, *body, caps, options));
    }
  }
  const auto fuse = [&] { return fuse::fuse(graph, caps, options.fuse, bodies, run.decisions()); };
  const auto of = graph.is_body ? LoopPass::Of::bodies_too : LoopPass::Of::whole;
  auto kernels = graph.is_body ? run.body_stage("fuse", fuse) : run.stage("fuse", [&] {
    kernel::KernelProgram whole = fuse();
    whole.refusals.insert(whole.refusals.begin(), run.refusals().begin(), run.refusals().end());
    return whole;
  });
  if (last == "fuse") return kernels;
  return run.passes(up_to(last, loop_passes()), std::move(kernels), of, caps);
}

/// `run` verifies, dumps, times and counts: here once, in no pass.
Lowered lower(Instrument& run, const Graph& source, const Options& options) {
  Graph graph = run.passes(graph_passes(), source);
  auto [kernels, plan] = plan_memory(run, fuse_and_transform(run, graph, run.caps(), options), options);
  return {std::move(graph), std::move(kernels), run.order_gain(), std::move(plan), run.seconds(),
          run.counts(),     run.last_rewrite(), options.fuse,     run.caps()};
}

Lowered lower(Instrument& run, const kernel::KernelProgram& source, const Options& options) {
  auto [kernels, plan] = plan_memory(run, run.given(source), options);
  return {Graph(), std::move(kernels), "", std::move(plan), run.seconds(), {}, {}, options.fuse, run.caps()};
}

Program finish(Instrument& run, Lowered lowered, const Options& options) {
  auto emitted = run.stage("emit", [&] {
    return run.backend().emit(lowered.kernels, lowered.plan, options, run.dumps() ? KeepTexts::yes : KeepTexts::no);
  });
  const std::string backend(run.backend().name);
  std::string target = std::move(emitted.target);
  std::vector<std::string> needs = std::move(emitted.needs);
  auto executable = run.stage("load", [&] {
    runtime::Object object =
        make_object(lowered.kernels, lowered.plan, std::move(emitted.object), std::move(emitted.entry));
    return load(std::move(object), run.backend(), options.planning);
  });
  executable.set_threads(options.threads);
  lowered.seconds = run.seconds();
  return {{std::move(lowered), backend, std::move(target), std::move(needs), options.planning, options.cpu_features,
           !options.may_share, options.rewrite.single_precision},
          std::move(executable)};
}

/// `what`: "graphs" or "kernels".
Error not_of(std::string_view pass, const char* what) {
  if (pass == "fuse") {
    return Error(ErrorCode::unsupported, {}, "the pass fuse does not run alone: it makes kernels of a rewritten graph")
        .help("inlay opt --stop-after=fuse prints the kernels that it makes of a graph");
  }
  return Error(ErrorCode::unsupported, {}, str("the pass ", pass, " is none of ", what))
      .help("inlay list passes says what each is of");
}

}  // namespace

kernel::KernelProgram kernels_of(const Graph& graph, const kernel::BackendCaps& caps, const Options& options) {
  const DefaultFloatEnvironment environment;
  Instrument run(options);
  return fuse_and_transform(run, graph, caps, options);
}

std::variant<Graph, kernel::KernelProgram> lower_until(const Graph& source, std::string_view last,
                                                       const Options& options) {
  const DefaultFloatEnvironment environment;
  require_pass(last);
  Instrument run(options);
  Graph graph = run.passes(up_to(last, graph_passes()), source);
  if (!only(last, graph_passes()).empty()) return graph;
  return fuse_and_transform(run, graph, run.caps(), options, last);
}

Graph run_pass(const Graph& graph, std::string_view pass, const Options& options) {
  const DefaultFloatEnvironment environment;
  require_pass(pass);
  const std::span<const GraphPass> one = only(pass, graph_passes());
  if (one.empty()) throw not_of(pass, "graphs");
  Options asked = options;  // who names the pass asks for it
  asked.rewrite.single_precision |= one[0].in == PassIn::single_precision;
  return Instrument(asked).passes(one, graph);
}

kernel::KernelProgram run_pass(const kernel::KernelProgram& kernels, std::string_view pass, const Options& options) {
  const DefaultFloatEnvironment environment;
  require_pass(pass);
  if (only(pass, loop_passes()).empty()) throw not_of(pass, "kernels");
  Instrument run(options);
  return run.passes(only(pass, loop_passes()), run.given(kernels), LoopPass::Of::whole, run.caps());
}

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
