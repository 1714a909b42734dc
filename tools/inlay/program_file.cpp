#include "program_file.h"

#include "host_functions.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "network_file.h"
#include "npy.h"
#include "planned_run.h"
#include "saved_function.h"
#include "test_file.h"

namespace inlay::tool {
namespace {

/// The first word that is not in a comment.
std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    if (text[0] != '#') return text.substr(0, text.find_first_of(" \t\r\n@"));
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return {};
}

}  // namespace

std::string program_text(const std::string& path) {
  const std::string bytes = read_file(path);
  if (is_saved_function(bytes)) {
    throw Error(ErrorCode::unsupported, {}, str(path, " is a compiled function, not the text of a program"))
        .help(
            "inlay explain shows what it has, inlay.load in Python and Executable::load in C++ make a function of it");
  }
  return parse_test_file(bytes, path).graph_text;
}

bool holds_kernels(std::string_view text) { return first_word(text) == "program"; }

// inlay's own kernels are sound: those of a file are somebody's, or were changed. So what is wrong with them is no
// mistake of inlay.
kernel::KernelProgram kernels_of(std::string_view text, const std::string& path) {
  kernel::KernelProgram kernels = kernel::parse(text, path);
  for (Diagnostic wrong : kernel::verify(kernels)) {
    wrong.code = ErrorCode::invalid_program;
    if (wrong.location.empty()) wrong.location.text = path;
    throw Error(std::move(wrong));
  }
  return kernels;
}

std::vector<Tensor> run_kernels_of(const std::string& path, const kernel::KernelProgram& kernels,
                                   std::span<const Tensor> inputs) {
  try {
    return run_apart(kernels, inputs, host_functions_of(kernels));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::internal) throw;
    const std::string& message = error.diagnostic().message;  // "broken promise inside inlay: ..."
    throw Error(ErrorCode::invalid_program, {path}, message.substr(message.find(": ") + 2));
  }
}

namespace {

ProgramFile read_text(const std::string& path, const NetworkFlags& flags) {
  if (flags != NetworkFlags{}) {
    throw Error(ErrorCode::unsupported, {},
                str("--fixed, --donated and --no-windows are for networks, and ", path, " holds a program"));
  }
  const std::string text = program_text(path);
  if (looks_like_network(text)) {
    throw Error(ErrorCode::unsupported, {}, str(path, " holds a network, which is read from a file alone"));
  }
  if (holds_kernels(text)) return kernels_of(text, path);
  Graph graph = parse(text, path);
  for (const Diagnostic& diagnostic : verify(graph)) throw Error(diagnostic);
  return graph;
}

}  // namespace

ProgramFile read_program(const std::string& path, const NetworkFlags& flags) {
  if (is_network(path)) return read_network_graph(path, flags);
  return read_text(path, flags);
}

LoadedProgram load_program(const std::string& path, const NetworkFlags& flags) {
  if (!is_network(path)) return {read_text(path, flags), {}};
  onnx::Network network = read_network(path, flags);
  return {std::move(network.graph), std::move(network.weights)};
}

}  // namespace inlay::tool
