#include "buffer_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "ir/nearest.h"
#include "npy.h"

namespace inlay::tool {
namespace {

enum class Column : uint8_t { id, lower, upper, size, alignment, offset };
constexpr std::array<std::string_view, 6> kColumns = {"id", "lower", "upper", "size", "alignment", "offset"};
constexpr std::size_t kRequired = 4;
constexpr std::string_view kHeaderHelp =
    "the first line names the columns: id,lower,upper,size, and if wanted alignment and offset";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

class BufferFileReader {
 public:
  BufferFileReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // the mark that some editors put first
  }

  std::vector<BufferRow> read() {
    if (!next_line()) throw wrong(1, "the file is empty").help(std::string(kHeaderHelp));
    read_header();
    std::vector<BufferRow> rows;
    std::map<std::string, int> lines;  // by id
    while (next_line()) {
      rows.push_back(row());
      const auto [before, is_new] = lines.emplace(rows.back().id, line_);
      if (!is_new) throw wrong(line_, str("id ", rows.back().id, " stands in line ", before->second, " too"));
    }
    return rows;
  }

  Error wrong(int line, std::string message) const {
    return {ErrorCode::invalid_file, {str(path_, ":", line)}, std::move(message)};
  }

 private:
  /// The next line that is not empty, as its fields.
  bool next_line() {
    while (!rest_.empty()) {
      ++line_;
      fields_.clear();
      read_fields();
      if (fields_.size() > 1 || !fields_[0].empty()) return true;
    }
    return false;
  }

  void read_fields() {
    do {
      fields_.push_back(rest_.starts_with('"') ? quoted_field() : plain_field());
    } while (take(','));
    take('\r');
    if (!take('\n') && !rest_.empty()) throw wrong(line_, "a field goes on behind its closing quote");
  }

  std::string plain_field() {
    const std::string_view field = rest_.substr(0, rest_.find_first_of(",\r\n"));
    rest_.remove_prefix(field.size());
    return std::string(trimmed(field));
  }

  std::string quoted_field() {
    std::string out;
    take('"');
    while (!rest_.empty() && rest_[0] != '\n') {
      if (take('"') && !rest_.starts_with('"')) return out;  // two of them stand for one
      out += rest_[0];
      rest_.remove_prefix(1);
    }
    throw wrong(line_, "a quoted field has no closing quote");
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void read_header() {
    for (const std::string& name : fields_) {
      const auto column = std::ranges::find(kColumns, std::string_view(name));
      if (column == kColumns.end()) {
        const auto guess = text::nearest(name, std::vector<std::string>(kColumns.begin(), kColumns.end()));
        throw wrong(line_, str("there is no column ", name.empty() ? "without a name" : name))
            .help(guess ? str("did you mean ", *guess, "?") : std::string(kHeaderHelp));
      }
      std::optional<std::size_t>& position = position_[static_cast<std::size_t>(column - kColumns.begin())];
      if (position) throw wrong(line_, str("column ", name, " stands there twice"));
      position = static_cast<std::size_t>(&name - fields_.data());
    }
    for (std::size_t c = 0; c < kRequired; ++c) {
      if (!position_[c]) throw wrong(line_, str("column ", kColumns[c], " is missing")).help(std::string(kHeaderHelp));
    }
    num_columns_ = fields_.size();
  }

  BufferRow row() {
    if (fields_.size() != num_columns_)
      throw wrong(line_, str(fields_.size(), " fields, but the header has ", num_columns_));
    BufferRow out{.id = field(Column::id), .line = line_};
    out.lower = number(Column::lower);
    out.upper = number(Column::upper);
    out.size = number(Column::size);
    if (!field(Column::alignment).empty()) out.alignment = number(Column::alignment);
    const bool is_pinned = !field(Column::offset).empty();
    if (is_pinned) out.offset = number(Column::offset);
    check(out, is_pinned);
    return out;
  }

  void check(const BufferRow& row, bool is_pinned) const {
    if (row.upper < row.lower)
      throw wrong(line_, str(row.id, " ends at ", row.upper, ", before it begins at ", row.lower));
    if (row.size < 0) throw wrong(line_, str("size ", row.size, " of ", row.id, " is negative"));
    if (row.alignment < 1) throw wrong(line_, str("alignment ", row.alignment, " of ", row.id, " is less than 1"));
    if (!is_pinned) return;
    if (row.offset < 0) throw wrong(line_, str("offset ", row.offset, " of ", row.id, " is negative"));
    if (row.offset % row.alignment != 0) {
      throw wrong(line_,
                  str("offset ", row.offset, " of ", row.id, " is no multiple of its alignment, ", row.alignment));
    }
    if (row.size > INT64_MAX - row.offset)
      throw wrong(line_, str("offset and size of ", row.id, " do not fit in 63 bits"));
  }

  const std::string& field(Column column) const {
    static const std::string kNone;
    const std::optional<std::size_t> position = position_[static_cast<std::size_t>(column)];
    return position ? fields_[*position] : kNone;
  }

  int64_t number(Column column) const {
    const std::string& text = field(column);
    const std::string_view name = kColumns[static_cast<std::size_t>(column)];
    int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error == std::errc::result_out_of_range) throw wrong(line_, str(name, " ", text, " does not fit in 63 bits"));
    if (error != std::errc() || end != text.data() + text.size())
      throw wrong(line_, text.empty() ? str(name, " is missing") : str(name, " ", text, " is no whole number"));
    return out;
  }

  std::string_view rest_;
  const std::string& path_;
  std::vector<std::string> fields_;
  std::array<std::optional<std::size_t>, kColumns.size()> position_;
  std::size_t num_columns_ = 0;
  int line_ = 0;
};

bool is_pinned(const BufferRow& row) { return row.offset >= 0 && row.size > 0; }

/// Two that must lie on the same bytes at the same time.
void check_pins(const std::vector<BufferRow>& rows, const BufferFileReader& reader) {
  std::vector<const BufferRow*> pinned;
  for (const BufferRow& row : rows) {
    if (!is_pinned(row)) continue;
    for (const BufferRow* other : pinned) {
      const bool live_together = std::max(row.lower, other->lower) < std::min(row.upper, other->upper);
      const bool bytes_meet = row.offset < other->offset + other->size && other->offset < row.offset + row.size;
      if (!live_together || !bytes_meet) continue;
      throw reader.wrong(row.line, str(row.id, " is pinned to [", row.offset, ", ", row.offset + row.size, "), where ",
                                       other->id, " of line ", other->line, " lies at the same time"));
    }
    pinned.push_back(&row);
  }
}

/// What lives together must fit in 63 bits.
void check_sums(const std::vector<BufferRow>& rows, const BufferFileReader& reader) {
  std::vector<std::pair<int64_t, const BufferRow*>> events;  // ends, which go first, are those whose row began before
  for (const BufferRow& row : rows) {
    if (row.lower == row.upper) continue;
    events.emplace_back(row.lower, &row);
    events.emplace_back(row.upper, &row);
  }
  const auto begins = [](const auto& event) { return event.first == event.second->lower; };
  std::ranges::sort(events, [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return begins(a) != begins(b) ? !begins(a) : a.second < b.second;
  });
  int64_t live = 0;
  for (const auto& event : events) {
    const BufferRow& row = *event.second;
    if (!begins(event)) {
      live -= row.size;
    } else if (__builtin_add_overflow(live, row.size, &live)) {
      throw reader.wrong(row.line, str("the sizes of what lives at ", row.lower, " do not fit in 63 bits together"));
    }
  }
}

}  // namespace

std::vector<BufferRow> parse_buffers(std::string_view text, const std::string& path) {
  BufferFileReader reader(text, path);
  std::vector<BufferRow> rows = reader.read();
  check_pins(rows, reader);
  check_sums(rows, reader);
  return rows;
}

std::vector<BufferRow> read_buffers(const std::string& path) { return parse_buffers(read_file(path), path); }

std::vector<memory::Storage> storages_of(const std::vector<BufferRow>& rows) {
  std::vector<int64_t> times;
  for (const BufferRow& row : rows) {
    times.push_back(row.lower);
    times.push_back(row.upper);
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const bool fit = times.empty() || (times.front() >= INT32_MIN / 2 && times.back() <= INT32_MAX / 2);
  const auto tick = [&](int64_t time) {
    return static_cast<int32_t>(fit ? time : std::ranges::lower_bound(times, time) - times.begin());
  };
  std::vector<memory::Storage> out;
  for (const BufferRow& row : rows) {
    out.push_back({.live = {tick(row.lower), tick(row.upper)},
                   .size_bytes = row.lower < row.upper ? row.size : 0,  // what is never needed takes no bytes
                   .alignment_bytes = row.alignment,
                   .pinned_bytes = row.offset});
  }
  return out;
}

}  // namespace inlay::tool
