#include "judges.h"

#include <optional>

#include "compare.h"
#include "compiler/backends.h"
#include "compiler/object.h"
#include "compiler/saved.h"
#include "host_functions.h"
#include "kernel/text.h"
#include "native_run.h"
#include "planned_run.h"
#include "runtime/pool.h"

namespace inlay::tool {
namespace {

using reference::HostFunction;
using reference::Tensor;

/// What the judges of one compilation share; they may outlive whoever made them.
struct Compiled {
  std::shared_ptr<const Lowered> program;
  std::shared_ptr<const runtime::Executable> executable;            // none where there is no backend
  std::shared_ptr<const runtime::Executable> loaded;                // the same through a file
  std::shared_ptr<const runtime::Executable> for_one, for_several;  // threads: the same kernels in the smallest blocks
  std::string backend;
  std::vector<HostFunction> host_functions;
};

/// The program as a file has it: its code, and texts from which the same kernels are read.
std::shared_ptr<const runtime::Executable> through_file(const Program& program) {
  if (program.planning.custom || !program.shares_by_rule) return nullptr;
  const file::FunctionFile file = file::read(file::write(file_of(program, program.executable)), "the file");
  const std::string before = kernel::print(program.kernels), after = kernel::print(read_program(file).kernels);
  INLAY_CHECK(before == after, "the kernels of a file are\n", after, "where they were\n", before);
  return std::make_shared<const runtime::Executable>(load_code(file));
}

constexpr int kMostThreads = 7;

std::shared_ptr<const runtime::Executable> code_of(const Lowered& program, const Backend& backend,
                                                   const Options& options) {
  Emitted emitted = backend.emit(program.kernels, program.plan, options, KeepTexts::no);
  runtime::Object object =
      make_object(program.kernels, program.plan, std::move(emitted.object), std::move(emitted.entry));
  return std::make_shared<const runtime::Executable>(load(std::move(object), backend, options.planning));
}

/// Code whose loops are cut into the smallest blocks, for one thread and for several: the same kernels, but for the
/// memory that blocks need. Null: the backend cuts none.
template <class Source>
std::pair<std::shared_ptr<const runtime::Executable>, std::shared_ptr<const runtime::Executable>> in_blocks(
    const Source& source, const Backend& backend, Options options) {
  if (backend.caps().blocks.cost == 0) return {};
  runtime::set_max_threads(std::max(runtime::max_threads(), kMostThreads));
  options.smallest_blocks = true;
  options.threads = kMostThreads;
  const Lowered program = lower(source, options);
  auto for_several = code_of(program, backend, options);
  options.threads = 1;
  return {code_of(program, backend, options), std::move(for_several)};
}

/// What a call gave, or how it failed.
struct Outcome {
  std::vector<Tensor> outputs;
  std::optional<Error> error;
  std::string error_text() const { return error ? std::string(error->what()) : "no error"; }
};

Outcome outcome_of(const std::function<std::vector<Tensor>()>& call) {
  try {
    return {call(), std::nullopt};
  } catch (const Error& error) {
    return {{}, error};
  }
}

/// By the code for one thread, and by that for several on one and on others: the same bytes, or the same error. (Code
/// that is cut in blocks may give a nan of another sign than code that is not: there each nan is as good as another.)
std::vector<Tensor> run_on_threads(const runtime::Executable& for_one, const runtime::Executable& for_several,
                                   std::span<const Tensor> inputs, std::span<const HostFunction> functions) {
  const auto run = [&](const runtime::Executable& executable, int threads) {
    return outcome_of([&] { return run_native(executable, inputs, functions, threads); });
  };
  const Outcome uncut = run(for_one, 1), alone = run(for_several, 1);
  INLAY_CHECK(alone.error_text() == uncut.error_text(), "in blocks: ", alone.error_text(),
              ", without: ", uncut.error_text());
  for (std::size_t i = 0; i < alone.outputs.size(); ++i) {
    INLAY_CHECK(are_same_but_for_nan(alone.outputs[i], uncut.outputs[i]), "output ", i,
                " has other bytes in blocks than without");
  }
  for (const int threads : {2, 3, 4, kMostThreads, 64}) {
    const Outcome together = run(for_several, threads);
    INLAY_CHECK(together.error_text() == alone.error_text(), "on ", threads, " threads: ", together.error_text(),
                ", on one: ", alone.error_text());
    INLAY_CHECK(together.outputs == alone.outputs, threads, " threads make other bytes than one");
  }
  if (alone.error) throw *alone.error;
  return alone.outputs;
}

/// `source`: a Graph, or a KernelProgram.
template <class Source>
Compiled compile_for_judges(const Source& source, const Options& options) {
  const Backend& backend = backend_of(options);
  if (options.backend.empty() && !backend.is_available())
    return {std::make_shared<const Lowered>(lower(source, options)),
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            "",
            host_functions_of(source)};
  const auto program = std::make_shared<const Program>(compile_program(source, options));
  auto [for_one, for_several] = in_blocks(source, backend, options);
  return {program,
          {program, &program->executable},
          through_file(*program),
          std::move(for_one),
          std::move(for_several),
          std::string(backend.name),
          host_functions_of(source)};
}

Judge planned_judge(const Compiled& compiled, memory::Planner planner) {
  return {str("kernel/", memory::planner_name(planner)), [compiled, planner](std::span<const Tensor> inputs) {
            return run_planned(compiled.program->kernels, compiled.program->plan, planner, inputs,
                               compiled.host_functions);
          }};
}

/// The tool is no door that owns such values, and nobody could compare them.
void refuse_opaque_outputs(const kernel::KernelProgram& program) {
  for (kernel::BufferId b : program.outputs) {
    const kernel::Buffer& output = program.buffers[b];
    if (output.dtype != DType::opaque) continue;
    throw Error(ErrorCode::unsupported, {}, str("output ", output.slot, " is opaque: only its owner can take it"));
  }
}

/// What runs kernels. `planner`: of the compilation.
void add_kernel_judges(const Compiled& compiled, memory::Planner planner, std::vector<Judge>& list) {
  refuse_opaque_outputs(compiled.program->kernels);
  list.push_back({"kernel", [compiled](std::span<const Tensor> inputs) {
                    return run_apart(compiled.program->kernels, inputs, compiled.host_functions);
                  }});
  list.push_back(planned_judge(compiled, memory::Planner::naive));
  list.push_back(planned_judge(compiled, memory::Planner::greedy));
  // (By `search` the backend's judges run.)
  if (planner == memory::Planner::max) list.push_back(planned_judge(compiled, planner));
  if (!compiled.executable) return;
  list.push_back({compiled.backend, [compiled](std::span<const Tensor> inputs) {
                    return run_native(*compiled.executable, inputs, compiled.host_functions);
                  }});
  list.push_back({compiled.backend + "/guarded", [compiled](std::span<const Tensor> inputs) {
                    return run_guarded(*compiled.executable, compiled.program->plan.sharing, inputs,
                                       compiled.host_functions);
                  }});
  if (compiled.for_several) {
    list.push_back({compiled.backend + "/threads", [compiled](std::span<const Tensor> inputs) {
                      return run_on_threads(*compiled.for_one, *compiled.for_several, inputs, compiled.host_functions);
                    }});
  }
  if (!compiled.loaded) return;
  list.push_back({compiled.backend + "/file", [compiled](std::span<const Tensor> inputs) {
                    return run_native(*compiled.loaded, inputs, compiled.host_functions);
                  }});
}

}  // namespace

const Judge& Judges::named(const std::string& name) const {
  for (const Judge& judge : list) {
    if (judge.name == name) return judge;
  }
  throw Error(ErrorCode::unknown_name, {}, str("there is no evaluator ", name))
      .help(str("there are ", join(list, ", ", [](const Judge& judge) { return judge.name; })));
}

Judge reference_judge(const Graph& graph) {
  return {"reference", [&graph, functions = host_functions_of(graph)](std::span<const Tensor> inputs) {
            return reference::evaluate(graph, inputs, functions);
          }};
}

Judges make_judges(const Graph& graph, Options options) {
  options.verify = true;
  const Compiled compiled = compile_for_judges(graph, options);
  Judges judges = {compiled.program, {reference_judge(graph)}};
  judges.list.push_back({"rewritten", [compiled](std::span<const Tensor> inputs) {
                           return reference::evaluate(compiled.program->graph, inputs, compiled.host_functions);
                         }});
  add_kernel_judges(compiled, options.planning.planner, judges.list);
  return judges;
}

Judges make_judges(const kernel::KernelProgram& kernels, Options options) {
  options.verify = true;
  const Compiled compiled = compile_for_judges(kernels, options);
  Judges judges = {compiled.program, {}};
  add_kernel_judges(compiled, options.planning.planner, judges.list);
  return judges;
}

}  // namespace inlay::tool
