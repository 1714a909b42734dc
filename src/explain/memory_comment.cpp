#include "explain/memory_comment.h"

#include <algorithm>
#include <filesystem>

#include "support/ascii.h"
#include "support/comment.h"
#include "support/error.h"

namespace inlay::explain {
namespace {

constexpr std::string_view kTitle = "/* The plan of memory, which inlay explain reads from this file.\n";
constexpr std::string_view kStorage =
    "   storage: s0 is storage 0 of working memory; out0 and in0 are the arrays of slot 0 of outputs and of params.\n";
constexpr std::string_view kLives =
    "   lives: from a tick until before another. Step s, from 0, reads at tick 2s and writes at 2s + 1.\n\n";
constexpr std::string_view kMap = "\nmemory: ", kEnd = "*/";

/// A line ends where another begins, and a column where two blanks are.
void make_cell(std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_space = is_blank(c) || static_cast<unsigned char>(c) < ' ';
    if (!is_space) out += c;
    if (is_space && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  text = comment_text(out);
}

}  // namespace

std::string memory_comment(MemoryTable map) {
  bool has_numbers = false, has_offsets = false;
  for (MemoryRow& row : map.rows) {
    for (std::string* cell : {&row.step, &row.value, &row.type, &row.storage, &row.at, &row.bytes, &row.reason}) {
      make_cell(*cell);
      if (cell->empty() && cell != &row.reason) *cell = "?";
    }
    (row.at.starts_with('+') ? has_offsets : has_numbers) = true;
  }
  for (std::string& note : map.notes) make_cell(note);
  std::erase(map.notes, "");
  map.rest = comment_text(map.rest);
  std::string at;
  if (has_numbers) at = str("bytes from the beginning of ", map.num_segments > 1 ? "its segment" : "working memory");
  if (has_offsets) {
    at += str(at.empty() ? "" : "; ", "with +, bytes from the beginning of the storage",
              map.arena_bytes ? "" : ": of s0 that is InlayCall.offsets[0]");
  }
  return str(kTitle, kStorage, at.empty() ? "" : str("   at: ", at, ".\n"), kLives, text(map), kEnd);
}

MemoryTable read_memory_comment(std::string_view text, const std::string& file_name) {
  const std::string_view title = kTitle.substr(0, kTitle.size() - 1);  // its line may end otherwise in a file
  const std::size_t begin = text.find(title);
  if (begin == std::string_view::npos) {
    throw Error(ErrorCode::invalid_file, {file_name}, "this has no plan of memory, as headers of inlay export have");
  }
  const auto line_of = [&](std::size_t at) {
    return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
  };
  const std::size_t end = text.find(kEnd, begin), map = text.find(kMap, begin);
  if (end == std::string_view::npos || map == std::string_view::npos || map > end) {
    throw Error(ErrorCode::invalid_file, {str(file_name, ":", line_of(begin))}, "the plan of memory is cut off");
  }
  return read_memory_table(text.substr(map + 1, end - map - 1), file_name, line_of(map + 1));
}

std::string exported_header(const std::string& path) {
  const std::filesystem::path file = path;
  const std::string ending = file.extension().string();
  if (ending == ".h") return path;
  if (ending != ".c" && ending != ".o" && ending != ".so") return "";
  std::string name = file.stem().string();
  if (ending == ".so" && name.starts_with("lib")) name.erase(0, 3);
  return (file.parent_path() / (name + ".h")).string();
}

}  // namespace inlay::explain
