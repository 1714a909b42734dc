#include "readers.h"

#include <algorithm>

#include "buffer_file.h"
#include "explain/memory_comment.h"
#include "explain/page.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "memory/layout.h"
#include "npy.h"
#include "onnx/import.h"

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

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// The buffers as a file that says the same, every text in quotes.
std::string csv_of(const std::vector<memory::pools::Buffer>& buffers) {
  const auto number = [](const std::optional<int64_t>& n) { return n ? str(*n) : ""; };
  std::string out = "id,lower,upper,size,alignment,offset,base,pool,cost,entry\n";
  for (const memory::pools::Buffer& b : buffers) {
    const std::string pools = join(b.pools, "|", [](const std::string& pool) { return pool; });
    out += str(quoted(b.name), ",", b.lower, ",", b.upper, ",", b.size, ",", b.alignment, ",", number(b.offset), ",",
               quoted(b.base), ",", quoted(pools), ",", number(b.cost), ",", quoted(b.entry), "\n");
  }
  return out;
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

std::string try_csv(std::string_view bytes) {
  return judged([&]() -> std::string {
    const tool::BufferFile file = tool::parse_buffers(bytes, "fuzz");
    const std::string text = csv_of(file.buffers);
    // Texts of JSON may have lines and spaces at their ends, and a pool may have bars in its name.
    if (bytes.find('{') == std::string_view::npos && tool::parse_buffers(text, "written").buffers != file.buffers)
      return str("written and read again it differs:\n", text);
    tool::check(file, file.pools);
    memory::pools::plan(file.buffers, file.pools, memory::pools::planner_of({.planner = memory::Planner::greedy}));
    return "";
  });
}

std::string try_header(std::string_view bytes) {
  return judged([&]() -> std::string {
    const explain::MemoryTable map = explain::read_memory_comment(bytes, "fuzz");
    const std::string text = explain::memory_comment(map);
    const std::string again = explain::memory_comment(explain::read_memory_comment(text, "written"));
    if (again != text) return str("written differently the second time:\n", text, again);
    if (map.arena_bytes) (void)explain::page_html(explain::memory_page(map, "fuzz"));
    return "";
  });
}

std::string try_onnx(std::string_view bytes) {
  return judged([&]() -> std::string {
    const auto kept = std::make_shared<const std::string>(bytes);
    const onnx::Model model =
        onnx::read_model({kept, {reinterpret_cast<const std::byte*>(kept->data()), kept->size()}}, "fuzz", "");
    const onnx::Network network = onnx::import_model(model);
    for (const Diagnostic& wrong : verify(network.graph)) return wrong.to_text() + "\n" + print(network.graph);
    return "";
  });
}

}  // namespace inlay::fuzz
