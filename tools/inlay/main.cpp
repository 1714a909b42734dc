// inlay: run, test, look into programs in text form.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "backend/llvm/backend.h"
#include "compare.h"
#include "explain.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "npy.h"
#include "test_program.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

/// A program test is a program too: what follows its first directive is not.
Graph read_graph(const std::string& path) { return parse(parse_test_file(read_file(path), path).graph_text, path); }

Options options_of(const std::string& fuse) {
  Options options;
  options.fuse = fuse == "none" ? fuse::Mode::none : fuse::Mode::all;
  return options;
}

// inlay run

struct RunCommand {
  std::string file;
  std::vector<std::string> arguments;
  std::string directory;
  std::string evaluator = "llvm";
};

/// "%x: f64[n], %i: i64[m]"
std::string parameters_text(const Graph& graph) {
  return join(graph.params, ", ", [&](const Param& param) {
    return str(graph.value_text(param.value), ": ", graph.type_text(graph.type(param.value)));
  });
}

/// "x=a.npy", by the parameter's name.
std::vector<Tensor> read_arguments(const Graph& graph, const std::vector<std::string>& arguments) {
  std::map<std::string, Tensor> given;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::wrong_argument_count, {}, str("`", argument, "`: expected parameter=file.npy"));
    }
    const std::string name = argument.substr(0, equals);
    if (!given.emplace(name, read_npy(argument.substr(equals + 1))).second) {
      throw Error(ErrorCode::duplicate_name, {}, str("%", name, " is given twice"));
    }
  }
  std::vector<Tensor> inputs;
  for (const Param& param : graph.params) {
    const auto found = given.find(graph.values[param.value].name);
    if (found == given.end()) {
      throw Error(ErrorCode::wrong_argument_count, {}, str("no file for ", graph.value_text(param.value)))
          .note("parameter", graph.describe(param.value))
          .help(str("takes ", parameters_text(graph), "; each as NAME=FILE.npy"));
    }
    inputs.push_back(std::move(found->second));
    given.erase(found);
  }
  if (!given.empty()) {
    throw Error(ErrorCode::unknown_name, {}, str("the program has no parameter %", given.begin()->first))
        .help(str("it takes ", parameters_text(graph)));
  }
  return inputs;
}

/// The output's own name, that of its value, or its position.
std::string output_name(const Graph& graph, std::size_t i) {
  const Output& output = graph.outputs[i];
  if (!output.name.empty()) return output.name;
  const std::string& name = graph.values[output.value].name;
  return name.empty() ? str("output", i) : name;
}

int run(const RunCommand& command) {
  const Graph graph = read_graph(command.file);
  const std::vector<Tensor> inputs = read_arguments(graph, command.arguments);
  const Judge judge =
      command.evaluator == "reference" ? reference_judge(graph) : make_judges(graph).named(command.evaluator);
  const std::vector<Tensor> outputs = judge.run(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (command.directory.empty()) {
      std::cout << output_name(graph, i) << " = " << tensor_text(outputs[i]) << "\n";
    } else {
      fs::create_directories(command.directory);
      write_npy((fs::path(command.directory) / (output_name(graph, i) + ".npy")).string(), outputs[i]);
    }
  }
  return 0;
}

// inlay test

struct TestCommand {
  std::vector<std::string> paths;
  bool update = false;
  std::string fuse = "all";
  uint64_t seed = 1;
};

/// Files as they are; of folders every *.inlay below them, sorted.
std::vector<std::string> test_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".inlay") inside.push_back(entry.path().string());
    }
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

int test(const TestCommand& command) {
  ProgramTestOptions options{.seed = command.seed, .update = command.update ? Update::yes : Update::no};
  options.compile = options_of(command.fuse);
  int failed = 0, runs = 0;
  const std::vector<std::string> files = test_files(command.paths);
  for (const std::string& path : files) {
    const std::string text = read_file(path);
    const ProgramTestResult result = run_program_test(text, path, options);
    runs += result.runs;
    if (command.update && result.updated != text) {
      write_file(path, result.updated);
      std::cout << "updated " << path << "\n";
    }
    for (const std::string& failure : result.failures) std::cout << failure << "\n";
    if (!result.failures.empty()) ++failed;
  }
  std::cout << files.size() - failed << " of " << files.size() << " program tests passed (" << runs << " runs, seed "
            << command.seed << ")\n";
  if (files.empty()) std::cout << "no program test was found\n";
  return failed || files.empty() ? 1 : 0;
}

// inlay opt, inlay explain

struct LookCommand {
  std::string file;
  std::string fuse = "all";
  bool rewrite = false;
  bool json = false;
};

int opt(const LookCommand& command) {
  const Graph graph = read_graph(command.file);
  for (const Diagnostic& diagnostic : verify(graph)) throw Error(diagnostic);
  std::cout << print(command.rewrite ? lower(graph).graph : graph);
  return 0;
}

int explain_file(const LookCommand& command) {
  const Graph graph = read_graph(command.file);
  const Options options = options_of(command.fuse);
  const Lowered program = llvm_backend::has_code_generator() ? compile_program(graph, options) : lower(graph, options);
  std::cout << (command.json ? explain_json(program) : explain(program));
  return 0;
}

int main_checked(int argc, char** argv) {
  CLI::App app{"Array programs as planned, fused native functions"};
  app.require_subcommand(1);

  RunCommand run_command;
  CLI::App* run_app = app.add_subcommand("run", "Run a program in text form on .npy files");
  run_app->add_option("file", run_command.file, "the program")->required();
  run_app->add_option("arguments", run_command.arguments, "parameter=file.npy, one for each parameter");
  run_app->add_option("-o,--output", run_command.directory,
                      "write the results as .npy files into this folder, instead of printing them");
  run_app->add_option("--evaluator", run_command.evaluator,
                      "llvm, kernel/greedy, kernel/naive, kernel, rewritten, reference");

  TestCommand test_command;
  CLI::App* test_app = app.add_subcommand("test", "Judge program tests");
  test_app->add_option("paths", test_command.paths, "files, or folders of *.inlay")->required();
  test_app->add_flag("--update", test_command.update, "rewrite what follows a directive to what was found");
  test_app->add_option("--fuse", test_command.fuse, "`none`: every op a kernel of its own")
      ->check(CLI::IsMember({"all", "none"}));
  test_app->add_option("--seed", test_command.seed, "of the random elements");

  LookCommand look;
  CLI::App* opt_app = app.add_subcommand("opt", "Read a program, check it, print it");
  opt_app->add_option("file", look.file, "the program")->required();
  opt_app->add_flag("--rewrite", look.rewrite, "print what the rewriting passes made of it");

  CLI::App* explain_app = app.add_subcommand("explain", "Show how a program is compiled: graph, kernels, memory, time");
  explain_app->add_option("file", look.file, "the program")->required();
  explain_app->add_option("--fuse", look.fuse, "`none`: every op a kernel of its own")
      ->check(CLI::IsMember({"all", "none"}));
  explain_app->add_flag("--json", look.json, "one JSON object instead of text");

  CLI11_PARSE(app, argc, argv);
  if (*run_app) return run(run_command);
  if (*test_app) return test(test_command);
  return *opt_app ? opt(look) : explain_file(look);
}

}  // namespace
}  // namespace inlay::tool

int main(int argc, char** argv) {
  try {
    return inlay::tool::main_checked(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
