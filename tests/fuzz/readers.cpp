#include "readers.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "npy.h"

namespace inlay::fuzz {
namespace {

/// What `attempt` says, or the Error that no caller can have caused.
template <class Attempt>
std::string judged(Attempt attempt) {
  try {
    return attempt();
  } catch (const Error& error) {
    return error.code() == ErrorCode::internal ? error.what() : "";
  }
}

}  // namespace

std::string try_graph_text(std::string_view bytes) {
  return judged([&]() -> std::string {
    const ParseResult read = parse_all(bytes, "fuzz");
    if (!read.graph) return read.diagnostics.empty() ? "no graph, and no word why" : "";
    if (!verify(*read.graph).empty()) return "the builder made what the verifier rejects";
    const std::string text = print(*read.graph);
    const ParseResult again = parse_all(text, "printed");
    if (!again.graph) return str("what was printed cannot be read: ", again.diagnostics[0].to_text(), "\n", text);
    return print(*again.graph) == text ? "" : str("printed differently the second time:\n", text);
  });
}

std::string try_kernel_text(std::string_view bytes) {
  return judged([&]() -> std::string {
    const kernel::KernelProgram program = kernel::parse(bytes, "fuzz");
    (void)kernel::verify(program);
    const std::string text = kernel::print(program);
    try {
      return kernel::print(kernel::parse(text, "printed")) == text
                 ? ""
                 : str("printed differently the second time:\n", text);
    } catch (const Error& error) {
      return str("what was printed cannot be read: ", error.what(), "\n", text);
    }
  });
}

std::string try_npy(std::string_view bytes) {
  return judged([&]() -> std::string {
    const tool::Tensor tensor = tool::decode_npy(bytes, "fuzz");
    const tool::Tensor again = tool::decode_npy(tool::encode_npy(tensor), "written");
    const bool same = again.dtype == tensor.dtype && again.dims == tensor.dims && again.data == tensor.data;
    return same ? "" : str("written and read again it is ", again.type_text(), ", not ", tensor.type_text());
  });
}

}  // namespace inlay::fuzz
