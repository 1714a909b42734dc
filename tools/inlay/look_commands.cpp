// inlay opt, inlay explain and inlay compile
#include <algorithm>
#include <charconv>
#include <iostream>

#include "backend/c/backend.h"
#include "commands.h"
#include "compiler/backends.h"
#include "compiler/origins.h"
#include "compiler/saved.h"
#include "explain.h"
#include "explain/memory_comment.h"
#include "explain/memory_map.h"
#include "exported_header.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "network_file.h"
#include "npy.h"
#include "program_file.h"
#include "saved_function.h"
#include "terminal.h"

namespace inlay::tool {
namespace {

std::string text_of(const Graph& graph, const OptCommand& command) {
  if (!command.pass.empty()) return print(run_pass(graph, command.pass, command.compile.options()));
  if (!command.stop_after.empty()) {
    const auto print_it = [](const auto& program) { return print(program); };
    return std::visit(print_it, lower_until(graph, command.stop_after, command.compile.options()));
  }
  if (command.stage == "read") return print(graph);
  const Lowered made = lower(graph, command.compile.options());
  if (command.stage == "rewrite") return print(made.graph);
  return command.stage == "fuse" ? kernel::print(made.kernels) : explain::memory_map(made.kernels, made.plan);
}

std::string text_of(const kernel::KernelProgram& kernels, const OptCommand& command) {
  if (!command.pass.empty()) return kernel::print(run_pass(kernels, command.pass, command.compile.options()));
  if (!command.stop_after.empty()) {
    throw Error(ErrorCode::unsupported, {},
                str(command.file, " holds kernels: it is not known what has run before ", command.stop_after))
        .help("--pass runs one pass alone");
  }
  if (command.stage == "read") return kernel::print(kernels);
  if (command.stage != "memory") {
    throw Error(ErrorCode::unsupported, {},
                str(command.file, " holds kernels: --stage=", command.stage, " lies before"));
  }
  const Lowered made = lower(kernels, command.compile.options());
  return explain::memory_map(made.kernels, made.plan);
}

template <class Source>
Lowered compiled(const Source& source, const Options& options) {
  if (options.backend.empty() && !backend_of(options).is_available()) return lower(source, options);
  return compile_program(source, options);
}

}  // namespace

std::pair<std::string, int64_t> named_size(const char* option, const std::string& text) {
  const std::size_t at = text.find('=');
  int64_t number = -1;
  const char* end = text.data() + text.size();
  const bool is_number =
      at != std::string::npos && std::from_chars(text.data() + at + 1, end, number) == std::from_chars_result{end, {}};
  if (!is_number || number < 0) throw Error(ErrorCode::syntax, {}, str(option, "=", text, " is no size: write n=4096"));
  return {text.substr(0, at), number};
}

std::vector<std::pair<std::string, int64_t>> named_sizes(const char* option, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string& text : texts) {
    sizes.push_back(named_size(option, text));
    const std::string& name = sizes.back().first;
    const auto first = std::ranges::find(sizes, name, &std::pair<std::string, int64_t>::first);
    if (first != sizes.end() - 1)
      throw Error(ErrorCode::duplicate_name, {}, str(option, ": the size ", name, " is given twice"));
  }
  return sizes;
}

Options CompileFlags::options() const {
  Options options;
  if (!fuse.empty()) options.fuse = fuse::mode_named(fuse, "--fuse");
  if (!planner.empty()) options.planning.planner = memory::planner_named(planner, "--planner");
  if (!order.empty()) options.order = memory::step_order_named(order, "--order");
  options.cpu_features = cpu;
  options.planning.upper_bounds = named_sizes("--upper", upper);
  if (!no_inplace.empty()) {
    options.may_share = [names = no_inplace](const std::string& step, const std::string& value,
                                             const std::string& operand) {
      const bool is_named = std::ranges::any_of(
          names, [&](const std::string& name) { return name == step || name == value || name == operand; });
      return is_named ? MayShare::never : MayShare::by_rule;
    };
  }
  for (const std::string& rule : rewrite_off) require_rewrite(rule);
  std::vector<std::string>& disabled = options.rewrite.disabled_rules;  // with those of the environment
  disabled.insert(disabled.end(), rewrite_off.begin(), rewrite_off.end());
  if (bisect >= 0) options.rewrite.max_rewrites = bisect;
  options.rewrite.single_precision = single_precision;
  return options;
}

int opt(const OptCommand& command) {
  const ProgramFile program = read_program(command.file, command.compile.network);
  std::cout << std::visit([&](const auto& source) { return text_of(source, command); }, program);
  return kDone;
}

namespace {

int show(const Lowered& made, const file::FunctionFile* file, const ExplainCommand& command) {
  if (!command.memory.empty())
    write_file(command.memory,
               explain::page_html(explain::memory_page(made.kernels, made.plan, page_words(made, command.file))));
  std::cout << (command.json ? explain_json(made, file) : explain(made, file));
  return kDone;
}

/// Of a file that was compiled.
void require_no_choices(const ExplainCommand& command) {
  if (command.compile == CompileFlags{}) return;
  throw Error(ErrorCode::unsupported, {}, str(command.file, " is compiled already"))
      .help("options of a compilation are for the text of a program; a file of it shows how it was compiled");
}

int show_exported(const ExplainCommand& command) {
  const explain::MemoryTable map = exported_plan(command.file);
  require_no_choices(command);
  if (!command.memory.empty()) write_file(command.memory, explain::page_html(explain::memory_page(map, command.file)));
  std::cout << (command.json ? memory_json(map) : memory_text(map));
  return kDone;
}

}  // namespace

int explain_file(const ExplainCommand& command) {
  if (!explain::exported_header(command.file).empty()) return show_exported(command);
  if (const std::string bytes = is_network(command.file) ? "" : read_file(command.file); is_saved_function(bytes)) {
    const file::FunctionFile file = saved_function(bytes, command.file);
    require_no_choices(command);
    return show(inlay::read_program(file), &file, command);
  }
  const ProgramFile program = read_program(command.file, command.compile.network);
  const Options options = command.compile.options();
  const Lowered made = std::visit(
      [&](const auto& source) {
        const Progress progress(str("compiling ", command.file));
        return compiled(source, options);
      },
      program);
  return show(made, nullptr, command);
}

namespace {

/// A C file that calls what it has not compiles, and fails only when it is linked.
void foretell_link_errors(const c_backend::Source& source) {
  if (source.needed.empty()) return;
  std::cout.flush();
  std::cerr << "note: the C file does not link alone: it calls functions of inlay (`inlay export --c` writes those "
               "that have a C source)\n";
  for (const auto& [name, what] : source.needed) std::cerr << "  " << name << ": " << what << "\n";
}

}  // namespace

int compile(const CompileCommand& command) {
  Options options = command.compile.options();
  options.backend = command.emit;
  const ProgramFile program = read_program(command.file, command.compile.network);
  const Lowered made = std::visit([&](const auto& source) { return lower(source, options); }, program);
  const c_backend::Source source = c_backend::source_of(made.kernels, made.plan, {.entry = command.name});
  if (command.output.empty()) {
    std::cout << source.text;
  } else {
    write_file(command.output, source.text);
  }
  foretell_link_errors(source);
  return kDone;
}

}  // namespace inlay::tool
