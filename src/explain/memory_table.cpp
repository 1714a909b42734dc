#include "explain/memory_table.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "support/ascii.h"
#include "support/error.h"
#include "support/table.h"

namespace inlay::explain {
namespace {

constexpr std::string_view kStatic = "memory: arena ", kLowerBound = " bytes, lower bound ";
constexpr std::string_view kSymbolic = "memory: an arena for each tuple of sizes, ";

using Cells = std::vector<std::string>;

/// Of which the last one, which says why, has no name.
Cells columns(int num_segments) {
  Cells out = {"step", "value", "type", "storage"};
  if (num_segments > 1) out.emplace_back("segment");
  for (const char* name : {"at", "bytes", "lives"}) out.emplace_back(name);
  return out;
}

Cells cells_of(const MemoryRow& row, int num_segments) {
  Cells out = {row.step, row.value, row.type, row.storage};
  if (num_segments > 1) out.push_back(str(row.segment));
  out.insert(out.end(), {row.at, row.bytes, str("[", row.begin, ", ", row.end, ")"), row.reason});
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The texts that two or more blanks keep apart.
Cells split(std::string_view line) {
  Cells out;
  for (std::string_view rest = trimmed(line); !rest.empty();) {
    const std::size_t end = std::min(rest.find("  "), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest = trimmed(rest.substr(end));
  }
  return out;
}

/// Takes a number from the front.
bool take_number(std::string_view& text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// Of bytes, or of what is counted: none where the text is another, or the number is negative.
std::optional<int64_t> count(std::string_view text) {
  int64_t out = 0;
  return take_number(text, out) && text.empty() && out >= 0 ? std::optional(out) : std::nullopt;
}

bool is_storage(std::string_view text) {
  return (take(text, "s") || take(text, "out") || take(text, "in")) && count(text).has_value();
}

/// Of a table in text.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file_name, int first_line)
      : rest_(text), file_name_(file_name), line_(first_line - 1) {}

  MemoryTable read() {
    if (!next_line() || !read_head()) throw wrong("the memory map does not say how large the arena is");
    bool has_line = next_line();
    if (has_line && read_columns()) {
      while ((has_line = next_line()) && split(text_).size() > 1) out_.rows.push_back(row());
    }
    for (; has_line; has_line = next_line()) {
      if (split(text_).size() > 1) throw wrong("behind the rows of the memory map are notes alone");
      out_.notes.emplace_back(text_);
    }
    return std::move(out_);
  }

 private:
  bool next_line() {
    do {
      if (rest_.empty()) return false;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      text_ = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
    } while (text_.empty());
    if (std::ranges::any_of(text_, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
      throw wrong("a line of the memory map has a character that is no part of a text");
    return true;
  }

  Error wrong(std::string message) const {
    return {ErrorCode::invalid_file, {str(file_name_, ":", line_)}, std::move(message)};
  }

  bool read_head() {
    std::string_view text = text_;
    if (take(text, kSymbolic)) {
      out_.rest = text;
      return true;
    }
    if (!take(text, kStatic)) return false;
    int64_t arena = 0, lower_bound = 0;
    if (!take_number(text, arena) || !take(text, kLowerBound) || !take_number(text, lower_bound)) return false;
    out_.arena_bytes = arena;
    out_.lower_bound_bytes = lower_bound;
    out_.rest = text;
    return arena >= 0 && lower_bound >= 0;
  }

  /// Whether the line is their names.
  bool read_columns() {
    const Cells names = split(text_);
    constexpr int kSeveral = 2;  // how many there are the rows say
    if (names == columns(kSeveral)) {
      out_.num_segments = kSeveral;
      return true;
    }
    if (names.size() > 1 && names != columns(1)) throw wrong("these are not the columns of a memory map");
    return names.size() > 1;
  }

  MemoryRow row() {
    Cells cells = split(text_);
    const std::size_t expected = columns(out_.num_segments).size();
    if (cells.size() != expected && cells.size() != expected + 1)
      throw wrong(str("a row of the memory map has ", cells.size(), " fields, where ", expected, " are expected"));
    cells.resize(expected + 1);
    auto cell = cells.begin();
    MemoryRow out{.step = *cell++, .value = *cell++, .type = *cell++, .storage = *cell++};
    if (!is_storage(out.storage)) throw wrong(str("`", out.storage, "` is no storage"));
    if (out_.num_segments > 1) {
      const std::optional<int64_t> segment = count(*cell);
      if (!segment || segment >= INT32_MAX) throw wrong(str("`", *cell, "` is no segment"));
      out.segment = static_cast<int>(*segment);
      out_.num_segments = std::max(out_.num_segments, out.segment + 1);
      ++cell;
    }
    out.at = *cell++;
    out.bytes = *cell++;
    read_lives(*cell++, out);
    out.reason = *cell;
    check_place(out);
    return out;
  }

  void read_lives(std::string_view text, MemoryRow& row) const {
    const std::string_view whole = text;
    const bool is_read = take(text, "[") && take_number(text, row.begin) && take(text, ", ") &&
                         take_number(text, row.end) && text == ")";
    if (!is_read || row.end < row.begin) throw wrong(str("`", whole, "` are no ticks"));
  }

  /// Where it is a number, it is one within the arena, which has room for all segments.
  void check_place(const MemoryRow& row) {
    const std::optional<int64_t> at = count(row.at), bytes = count(row.bytes);
    if (!at && !row.at.starts_with('+')) throw wrong(str("`", row.at, "` is no offset"));
    if (!at || !bytes) return;
    int64_t room = out_.arena_bytes.value_or(0);
    for (const auto& [segment, end_bytes] : ends_) room -= segment == row.segment ? 0 : end_bytes;
    if (!out_.arena_bytes || *at > room || *bytes > room - *at)
      throw wrong(str(row.value, " does not lie in the arena"));
    ends_[row.segment] = std::max(ends_[row.segment], *at + *bytes);
  }

  std::string_view rest_, text_;
  const std::string& file_name_;
  int line_;
  MemoryTable out_;
  std::map<int, int64_t> ends_;  // by segment, of what is known to lie there
};

}  // namespace

std::string text(const MemoryTable& map) {
  std::string out = !map.arena_bytes
                        ? str(kSymbolic, map.rest, '\n')
                        : str(kStatic, *map.arena_bytes, kLowerBound, *map.lower_bound_bytes, map.rest, '\n');
  std::vector<Cells> rows = {columns(map.num_segments)};
  for (const MemoryRow& row : map.rows) rows.push_back(cells_of(row, map.num_segments));
  if (!map.rows.empty()) out += table(rows);
  for (const std::string& note : map.notes) out += str("  ", note, '\n');
  return out;
}

MemoryTable read_memory_table(std::string_view text, const std::string& file_name, int first_line) {
  return Reader(text, file_name, first_line).read();
}

Error depends_on_sizes() {
  return Error(ErrorCode::unsupported, {}, "the memory of this program depends on sizes that are symbols")
      .help("give its parameters static sizes, or the symbols upper bounds, to see a picture");
}

/// The blocks of segments stand one above the other.
Page memory_page(const MemoryTable& map, std::string title) {
  if (!map.arena_bytes) throw depends_on_sizes();
  Page out{.title = std::move(title), .arena_bytes = *map.arena_bytes, .lower_bound_bytes = *map.lower_bound_bytes};
  std::map<int, int64_t> ends;  // by segment
  const auto in_arena = [](const MemoryRow& row) { return row.storage.starts_with('s'); };
  for (const MemoryRow& row : map.rows) {
    int64_t& end = ends[row.segment];
    const std::optional<int64_t> at = count(row.at), bytes = count(row.bytes);
    if (in_arena(row) && at && bytes) end = std::max(end, *at + *bytes);
  }
  for (const MemoryRow& row : map.rows) {
    const std::optional<int64_t> at = count(row.at), bytes = count(row.bytes);
    if (!in_arena(row)) {
      out.rows.push_back({row.value, row.type, bytes, row.storage.starts_with("out"), row.begin, row.end});
    } else if (at && bytes && *bytes > 0) {
      int64_t below = 0;
      for (const auto& [segment, end] : ends) below += segment < row.segment ? end : 0;
      out.buffers.push_back({.name = row.value,
                             .type = row.type,
                             .storage = row.storage,
                             .reason = row.reason,
                             .bytes = *bytes,
                             .offset = below + *at,
                             .begin = row.begin,
                             .end = row.end});
    }
  }
  return out;
}

}  // namespace inlay::explain
