// inlay run
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "commands.h"
#include "compare.h"
#include "compiler/backends.h"
#include "compiler/profile.h"
#include "host_functions.h"
#include "ir/nearest.h"
#include "judges.h"
#include "network_file.h"
#include "npy.h"
#include "profiled_run.h"
#include "program_file.h"
#include "random_inputs.h"
#include "support/number_text.h"
#include "terminal.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

/// What the doors of a program are called.
struct Signature {
  struct Parameter {
    std::string name, type;                // alpha; f64[n]
    std::optional<DType> number;           // of a 0-d one
    const onnx::Tensor* weight = nullptr;  // of a network
  };
  std::vector<Parameter> params;
  std::vector<std::string> outputs;
};

/// An output's own name, that of its value, or its position.
std::string output_name(const std::string& own, const std::string& of_value, std::size_t i) {
  if (!own.empty()) return own;
  return of_value.empty() ? str("output", i) : of_value;
}

std::optional<DType> number_of(const std::vector<Dim>& dims, DType dtype) {
  return dims.empty() ? std::optional(dtype) : std::nullopt;
}

Signature signature_of(const Graph& graph) {
  Signature out;
  for (const Param& param : graph.params) {
    const TensorType& type = graph.type(param.value);
    out.params.push_back({graph.values[param.value].name, graph.type_text(type), number_of(type.dims, type.dtype)});
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Output& output = graph.outputs[i];
    out.outputs.push_back(output_name(output.name, graph.values[output.value].name, i));
  }
  return out;
}

/// The bound parameters of a network have their arrays.
Signature with_weights(Signature signature, const ProgramFile& program, const std::vector<onnx::Tensor>& weights) {
  if (weights.empty()) return signature;
  const Graph& graph = std::get<Graph>(program);
  std::size_t next = 0;
  for (std::size_t i = 0; i < graph.params.size(); ++i) {
    if (graph.params[i].bound) signature.params[i].weight = &weights[next++];
  }
  return signature;
}

Signature signature_of(const kernel::KernelProgram& program) {
  Signature out;
  for (kernel::BufferId b : program.params) {
    const kernel::Buffer& buffer = program.buffers[b];
    const auto dims = join(buffer.dims, ", ", [&](const Dim& dim) { return dim.to_text(program.symbol_names()); });
    out.params.push_back({buffer.name, str(dtype_name(buffer.dtype), buffer.dims.empty() ? "" : str("[", dims, "]")),
                          number_of(buffer.dims, buffer.dtype)});
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    out.outputs.push_back(output_name(program.buffers[program.outputs[i]].name, "", i));
  }
  return out;
}

/// "%x: f64[n], %i: i64[m]"
std::string parameters_text(const Signature& signature) {
  std::vector<Signature::Parameter> given;
  std::ranges::copy_if(signature.params, std::back_inserter(given), [](const auto& param) { return !param.weight; });
  return join(given, ", ", [](const Signature::Parameter& param) { return str("%", param.name, ": ", param.type); });
}

const Signature::Parameter& parameter(const Signature& signature, const std::string& name) {
  std::vector<std::string> known;
  for (const Signature::Parameter& param : signature.params) {
    if (param.weight) continue;
    if (param.name == name) return param;
    known.push_back(param.name);
  }
  const auto guess = text::nearest(name, known);
  throw Error(ErrorCode::unknown_name, {}, str("the program has no parameter %", name))
      .help(str(guess ? str("did you mean %", *guess, "? ") : "", "it takes ", parameters_text(signature)));
}

/// A file, or the number itself for a parameter that is one.
Tensor read_argument(const Signature::Parameter& param, const std::string& text) {
  const auto number = param.number ? Literal::of_text(*param.number, text) : std::nullopt;
  if (!number && param.number && inlay::number_of(text)) {
    throw Error(ErrorCode::wrong_dtype, {},
                str("%", param.name, ": ", text, " does not fit ", dtype_name(*param.number)));
  }
  if (!number) return read_npy(text);
  Tensor out = Tensor::zeros(*param.number, {});
  number->store(out.element(0));
  return out;
}

/// "x=a.npy", "k=3", by the parameter's name.
std::map<std::string, Tensor> read_files(const Signature& signature, const std::vector<std::string>& arguments) {
  std::map<std::string, Tensor> given;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
      throw Error(ErrorCode::wrong_argument_count, {},
                  str("`", argument, "`: expected parameter=file.npy, or parameter=number"));
    }
    const std::string name = argument.substr(0, equals);
    const Signature::Parameter& param = parameter(signature, name);
    if (!given.emplace(name, read_argument(param, argument.substr(equals + 1))).second) {
      throw Error(ErrorCode::duplicate_name, {}, str("%", name, " is given twice"));
    }
  }
  return given;
}

std::vector<Tensor> read_arguments(const Signature& signature, const std::vector<std::string>& arguments) {
  std::map<std::string, Tensor> given = read_files(signature, arguments);
  std::vector<Tensor> inputs;
  for (const Signature::Parameter& param : signature.params) {
    if (param.weight) {
      inputs.push_back(array_of(*param.weight));
      continue;
    }
    const auto found = given.find(param.name);
    if (found == given.end()) {
      throw Error(ErrorCode::wrong_argument_count, {}, str("no argument for %", param.name))
          .note("parameter", str("%", param.name, "  ", param.type))
          .help(str("takes ", parameters_text(signature), "; each as NAME=FILE.npy, a number also as NAME=NUMBER"));
    }
    inputs.push_back(std::move(found->second));
  }
  return inputs;
}

Judge judge_of(const Graph& graph, const std::string& evaluator, const Options& options) {
  return evaluator == "reference" ? reference_judge(graph) : make_judges(graph, options).named(evaluator);
}

Judge judge_of(const kernel::KernelProgram& kernels, const std::string& evaluator, const Options& options) {
  return make_judges(kernels, options).named(evaluator);
}

/// A network may have any name for an output: none leads out of the folder.
std::string file_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name + ".npy";
}

void write_or_print(const RunCommand& command, const Signature& signature, const std::vector<Tensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (command.directory.empty()) {
      std::cout << signature.outputs[i] << " = " << tensor_text(outputs[i]) << "\n";
    } else {
      std::error_code failure;
      fs::create_directories(command.directory, failure);
      if (failure) {
        throw Error(ErrorCode::invalid_file, {},
                    str(command.directory, ": the folder cannot be made: ", failure.message()));
      }
      write_npy((fs::path(command.directory) / file_name(signature.outputs[i])).string(), outputs[i]);
    }
  }
}

/// Machine code reaches wherever kernels tell it to. inlay's own are right; of those in a file only their sizes and
/// indices show whether they are, so the evaluator, which looks at each access, runs them first.
void require_in_bounds(const Graph&, const std::string&, std::span<const Tensor>) {}
void require_in_bounds(const kernel::KernelProgram& kernels, const std::string& file, std::span<const Tensor> inputs) {
  (void)run_kernels_of(file, kernels, inputs);
}

Options options_of(const RunCommand& command) {
  Options options = command.compile.options();
  options.threads = command.threads;
  return options;
}

std::vector<Tensor> outputs_of(const RunCommand& command, const ProgramFile& program, const Signature& signature) {
  Progress progress(str("compiling ", command.file));
  Options options = options_of(command);
  const auto is_named = [&](const Backend& backend) { return backend.name == command.evaluator; };
  if (std::ranges::any_of(backends(), is_named)) options.backend = command.evaluator;
  const Backend& backend = backend_of(options);
  const std::string native(backend.is_available() ? backend.name : "kernel/greedy");
  const std::string& evaluator = command.evaluator.empty() ? native : command.evaluator;
  const std::vector<Tensor> inputs = read_arguments(signature, command.arguments);
  std::visit([&](const auto& source) { require_in_bounds(source, command.file, inputs); }, program);
  const Judge judge = std::visit([&](const auto& source) { return judge_of(source, evaluator, options); }, program);
  progress.now(str("running ", command.file, " by ", evaluator));
  return judge.run(inputs);
}

std::vector<Tensor> inputs_of_profile(const RunCommand& command, const Graph& graph, const Signature& signature) {
  Given given = {.values = read_files(signature, command.arguments), .all_sizes = true};
  for (const Signature::Parameter& param : signature.params) {
    if (param.weight) given.values[param.name] = array_of(*param.weight);
  }
  for (const auto& size : named_sizes("--size", command.sizes)) given.sizes.insert(size);
  constexpr uint64_t kSeed = 1;
  Random random(kSeed);
  try {
    return random_inputs(graph, given, random);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::wrong_argument_count) throw;
    throw Error(error).help("give a file of the parameter, x=x.npy, or --size n=1000");
  }
}

/// What kernels read at which index is no part of their text: random elements could be anything.
std::vector<Tensor> inputs_of_profile(const RunCommand& command, const kernel::KernelProgram& kernels,
                                      const Signature& signature) {
  if (!command.sizes.empty()) {
    throw Error(ErrorCode::unsupported, {}, str(command.file, " holds kernels: --size is for graphs"))
        .help("give a file for each parameter");
  }
  std::vector<Tensor> inputs = read_arguments(signature, command.arguments);
  require_in_bounds(kernels, command.file, inputs);
  return inputs;
}

/// "shift.inlay, n = 1000, m = 20": the sizes of the parameters.
std::string profile_name(const std::string& file, const Program& program, std::span<const Tensor> inputs) {
  std::string out = file;
  for (const runtime::SymbolSpec& symbol : program.executable.object().symbols) {
    if (symbol.param >= 0) out += str(", ", symbol.name, " = ", inputs[symbol.param].dims[symbol.axis]);
  }
  return out;
}

explain::Profile profile_of(const RunCommand& command, const ProgramFile& file, const Signature& signature) {
  Progress progress(str("compiling ", command.file));
  Options options = options_of(command);
  options.time_steps = true;
  require_clocks(command.file, backend_of(options).name);
  return std::visit(
      [&](const auto& source) {
        const std::vector<Tensor> inputs = inputs_of_profile(command, source, signature);
        const Program program = compile_program(source, options);
        progress.now(str("profiling ", command.file));
        return run_profiled(program, profile_name(command.file, program, inputs), inputs, host_functions_of(source));
      },
      file);
}

}  // namespace

int run(const RunCommand& command) {
  const auto [program, weights] = load_program(command.file, command.compile.network);
  const Signature signature =
      with_weights(std::visit([](const auto& source) { return signature_of(source); }, program), program, weights);
  if (command.profile) {
    std::cout << explain::table(profile_of(command, program, signature));
    return kDone;
  }
  write_or_print(command, signature, outputs_of(command, program, signature));
  return kDone;
}

}  // namespace inlay::tool
