#include "readers.h"

#include <algorithm>

#include "buffer_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "memory/layout.h"
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

/// The rows as a file that says the same, every id in quotes.
std::string csv_of(const std::vector<tool::BufferRow>& rows) {
  std::string out = "id,lower,upper,size,alignment,offset\n";
  for (const tool::BufferRow& row : rows) {
    out += '"';
    for (char c : row.id) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    out += str("\",", row.lower, ",", row.upper, ",", row.size, ",", row.alignment, ",",
               row.offset < 0 ? "" : str(row.offset), "\n");
  }
  return out;
}

bool same_row(const tool::BufferRow& a, const tool::BufferRow& b) {
  return a.id == b.id && a.lower == b.lower && a.upper == b.upper && a.size == b.size && a.alignment == b.alignment &&
         a.offset == b.offset;
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
    const std::vector<tool::BufferRow> rows = tool::parse_buffers(bytes, "fuzz");
    const std::string text = csv_of(rows);
    if (!std::ranges::equal(tool::parse_buffers(text, "written"), rows, same_row))
      return str("written and read again it differs:\n", text);
    const std::vector<memory::Storage> storages = tool::storages_of(rows);
    const std::vector<Diagnostic> wrong = memory::verify(memory::plan(memory::Planner::greedy, storages), storages);
    return wrong.empty() ? "" : str("a wrong plan: ", wrong[0].to_text());
  });
}

}  // namespace inlay::fuzz
