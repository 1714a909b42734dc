#include "program_file.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "npy.h"
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

bool holds_kernels(std::string_view text) { return first_word(text) == "program"; }

ProgramFile read_program(const std::string& path) {
  const std::string text = parse_test_file(read_file(path), path).graph_text;
  if (holds_kernels(text)) {
    kernel::KernelProgram kernels = kernel::parse(text, path);
    // inlay's own kernels are sound: this text is somebody's, or was changed.
    for (Diagnostic wrong : kernel::verify(kernels)) {
      wrong.code = ErrorCode::invalid_program;
      if (wrong.location.empty()) wrong.location.text = path;
      throw Error(std::move(wrong));
    }
    return kernels;
  }
  Graph graph = parse(text, path);
  for (const Diagnostic& diagnostic : verify(graph)) throw Error(diagnostic);
  return graph;
}

}  // namespace inlay::tool
