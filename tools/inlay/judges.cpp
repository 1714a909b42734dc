#include "judges.h"

#include <memory>

#include "host_functions.h"
#include "kernel/verify.h"
#include "planned_run.h"

namespace inlay::tool {
namespace {

using reference::HostFunction;
using reference::Tensor;

/// What the judges that run kernels share.
struct Kernels {
  kernel::KernelProgram program;
  memory::MemoryPlan plan;
  std::vector<HostFunction> host_functions;
};

std::shared_ptr<const Kernels> make_kernels(const Graph& graph, const JudgeOptions& options) {
  auto kernels = std::make_shared<Kernels>();
  kernels->program = lower(graph, options);
  for (const Diagnostic& diagnostic : kernel::verify(kernels->program)) throw Error(diagnostic);
  kernels->plan = memory::plan_memory(kernels->program);
  kernels->host_functions = host_functions_of(graph);
  return kernels;
}

Judge planned_judge(const std::string& name, std::shared_ptr<const Kernels> kernels, memory::Planner planner) {
  return {name, [kernels = std::move(kernels), planner](std::span<const Tensor> inputs) {
            return run_planned(kernels->program, kernels->plan, planner, inputs, kernels->host_functions);
          }};
}

}  // namespace

Judge reference_judge(const Graph& graph) {
  return {"reference", [&graph, functions = host_functions_of(graph)](std::span<const Tensor> inputs) {
            return reference::evaluate(graph, inputs, functions);
          }};
}

std::vector<Judge> make_judges(const Graph& graph, const JudgeOptions& options) {
  const auto kernels = make_kernels(graph, options);
  std::vector<Judge> judges = {reference_judge(graph)};
  judges.push_back({"kernel", [kernels](std::span<const Tensor> inputs) {
                      return run_apart(kernels->program, inputs, kernels->host_functions);
                    }});
  judges.push_back(planned_judge("kernel/naive", kernels, memory::Planner::naive));
  judges.push_back(planned_judge("kernel/greedy", kernels, memory::Planner::greedy));
  return judges;
}

}  // namespace inlay::tool
