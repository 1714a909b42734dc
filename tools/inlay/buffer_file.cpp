#include "buffer_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ir/nearest.h"
#include "npy.h"

namespace inlay::tool {
namespace {

using memory::pools::Buffer;

enum class Column : uint8_t { id, lower, upper, size, alignment, offset, base, pool, cost, entry };
constexpr std::array<std::string_view, 10> kColumns = {"id",     "lower", "upper", "size", "alignment",
                                                       "offset", "base",  "pool",  "cost", "entry"};
constexpr std::size_t kRequired = 4;
constexpr std::string_view kHeaderHelp =
    "the first line names the columns: id,lower,upper,size, and if wanted alignment, offset, base, pool, cost and "
    "entry";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

class BufferFileReader {
 public:
  BufferFileReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  BufferFile read() {
    if (!next_line()) throw wrong(1, "the file is empty").help(std::string(kHeaderHelp));
    read_header();
    BufferFile out{.path = path_};
    while (next_line()) {
      out.buffers.push_back(row());
      out.lines.push_back(line_);
    }
    return out;
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
    const bool has_return = take('\r');
    if (!take('\n') && !has_return && !rest_.empty()) throw wrong(line_, "a field goes on behind its closing quote");
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

  Buffer row() {
    if (fields_.size() != num_columns_)
      throw wrong(line_, str(fields_.size(), " fields, but the header has ", num_columns_));
    Buffer out{.name = field(Column::id)};
    out.lower = number(Column::lower);
    out.upper = number(Column::upper);
    out.size = number(Column::size);
    out.alignment = number_if(Column::alignment).value_or(1);
    out.offset = number_if(Column::offset);
    out.base = field(Column::base);
    for (std::string_view rest = field(Column::pool); !rest.empty();) {
      const std::size_t end = rest.find('|');
      out.pools.emplace_back(trimmed(rest.substr(0, end)));
      if (out.pools.back().empty() || end + 1 == rest.size()) throw wrong(line_, "a pool has no name");
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    out.cost = number_if(Column::cost);
    out.entry = field(Column::entry);
    return out;
  }

  std::optional<int64_t> number_if(Column column) const {
    return field(column).empty() ? std::nullopt : std::optional(number(column));
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

}  // namespace

BufferFile parse_buffers(std::string_view text, const std::string& path) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // the mark that some editors put first
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '['))
    return parse_json_buffers(text, path);
  if (text.substr(0, 8).ends_with("TFL3"))
    throw Error(ErrorCode::invalid_file, {path}, "this is a network for TensorFlow Lite")
        .help("inlay.tflite in Python plans it: inlay.tflite.plan(\"net.tflite\", \"planned.tflite\")");
  return BufferFileReader(text, path).read();
}

void check(const BufferFile& file, const std::vector<memory::pools::Pool>& pools) {
  const auto mistake = find_mistake(file.buffers, pools);
  if (!mistake) return;
  const std::size_t b = mistake->buffer;
  if (file.lines.empty())
    throw Error(ErrorCode::invalid_file, {file.path}, str("buffers[", b, "]: ", mistake->message));
  throw Error(ErrorCode::invalid_file, {str(file.path, ":", file.lines[b])}, mistake->message);
}

BufferFile read_buffers(const std::string& path) { return parse_buffers(read_file(path), path); }

}  // namespace inlay::tool
