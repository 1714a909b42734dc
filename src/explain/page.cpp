#include "explain/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "explain/page_text.h"
#include "support/str.h"

namespace inlay::explain {
namespace {

// In units of the picture, which are pixels where it is as wide as the page.
constexpr double kLeft = 170, kTop = 26, kWidth = 1000, kHeight = 440, kRow = 18, kFont = 11, kCharacter = 6.3;
constexpr double kRight = 20, kAxis = 20, kStepLabel = 230;
constexpr std::size_t kMostRows = 16;

double text_width(std::size_t characters) { return kCharacter * static_cast<double>(characters); }

/// As much of the text as fits, with ... where something is missing; empty where that would say nothing.
std::string fitted(const std::string& text, double width) {
  const std::size_t length = characters_in(text);
  if (text_width(length) <= width) return text;
  const auto room = static_cast<std::size_t>(std::max(width / kCharacter, 0.0));
  constexpr std::size_t kLeast = 4;  // a letter and three points
  return room < kLeast ? "" : first_characters(text, room - 3) + "...";
}

/// Holds the sum of all bytes, of which many may lie in the same place.
__extension__ using Wide = __int128;

bool is_live_at(const PageBuffer& buffer, int64_t time) { return buffer.begin <= time && time < buffer.end; }

int64_t bytes_at(const Page& page, int64_t time) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const PageBuffer& buffer : page.buffers) {
    if (is_live_at(buffer, time)) ranges.emplace_back(buffer.offset, buffer.offset + buffer.bytes);
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t total = 0, end = 0;
  for (const auto& [first, last] : ranges) {
    total += std::max<int64_t>(last - std::max(first, end), 0);
    end = std::max(end, last);
  }
  return total;
}

/// Where times lie across: each step that is shown is a column, the others have no width.
class TimeAxis {
 public:
  explicit TimeAxis(const Page& page) {
    for (const PageStep& step : page.steps) {
      before_.push_back(columns_);
      is_shown_.push_back(step.is_shown);
      columns_ += step.is_shown ? 1 : 0;
    }
    begin_ = INT64_MAX;
    end_ = INT64_MIN;
    for (const PageBuffer& buffer : page.buffers) {
      begin_ = std::min(begin_, buffer.begin);
      end_ = std::max(end_, buffer.end);
    }
    if (page.buffers.empty()) begin_ = end_ = 0;
  }

  bool has_steps() const { return columns_ > 0; }
  int64_t columns() const { return columns_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  double column_width() const { return kWidth / static_cast<double>(std::max<int64_t>(columns_, 1)); }
  /// The column of a step that is shown.
  int64_t column(std::size_t step) const { return before_[step]; }

  double at(int64_t time) const {
    if (has_steps()) return kLeft + column_width() * position(time);
    if (end_ == begin_) return kLeft;
    return kLeft + kWidth * (static_cast<double>(time) - static_cast<double>(begin_)) /
                       (static_cast<double>(end_) - static_cast<double>(begin_));
  }

 private:
  double position(int64_t time) const {
    if (time < 0) return 0;
    const auto step = static_cast<std::size_t>(time / 2);
    if (step >= before_.size()) return static_cast<double>(columns_);
    return static_cast<double>(before_[step]) + (is_shown_[step] && time % 2 == 1 ? 0.5 : 0.0);
  }

  std::vector<int64_t> before_;
  std::vector<bool> is_shown_;
  int64_t columns_ = 0, begin_ = 0, end_ = 0;
};

/// Boxes that share bytes: `whole` of them one behind the other, `parts` within.
struct Band {
  int64_t offset = 0, bytes = 0, begin = 0, end = 0;
  std::vector<const PageBuffer*> whole, parts;
};

std::vector<Band> bands_of(const Page& page) {
  std::vector<Band> bands;
  std::map<std::string, std::size_t> by_storage;
  for (const PageBuffer& buffer : page.buffers) {
    std::size_t at = bands.size();
    if (!buffer.storage.empty()) at = by_storage.emplace(buffer.storage, at).first->second;
    if (at == bands.size()) bands.push_back({buffer.offset, 0, buffer.begin, buffer.end, {}, {}});
    Band& band = bands[at];
    const int64_t top = std::max(band.offset + band.bytes, buffer.offset + buffer.bytes);
    band.offset = std::min(band.offset, buffer.offset);
    band.bytes = top - band.offset;
    band.begin = std::min(band.begin, buffer.begin);
    band.end = std::max(band.end, buffer.end);
    band.whole.push_back(&buffer);
  }
  for (Band& band : bands) {
    const auto is_part = [&](const PageBuffer* b) { return b->bytes < band.bytes; };
    std::ranges::copy_if(band.whole, std::back_inserter(band.parts), is_part);
    std::erase_if(band.whole, is_part);
    std::ranges::stable_sort(band.whole, {}, &PageBuffer::begin);
  }
  return bands;
}

/// "step 3, matmul"; "before step 1" and "after step 3" where the step has no column.
std::string time_text(const Page& page, int64_t time) {
  if (page.steps.empty() || time < 0) return str("time ", time);
  const auto step = std::min(static_cast<std::size_t>(time / 2), page.steps.size() - 1);
  const PageStep& it = page.steps[step];
  const auto number = std::count_if(page.steps.begin(), page.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1,
                                    [](const PageStep& each) { return each.is_shown; });
  if (it.is_shown) return str("step ", number, it.name.empty() ? "" : ", " + it.name);
  return number == 0 ? "before step 1" : str("after step ", number);
}

std::string lives_text(const Page& page, const PageBuffer& buffer) {
  if (page.steps.empty()) return str("[", buffer.begin, ", ", buffer.end, ")");
  const std::string first = time_text(page, buffer.begin), last = time_text(page, buffer.end - 1);
  return first == last ? first : str(first, " to ", last);
}

class Picture {
 public:
  Picture(const Page& page, const Peak& peak) : page_(page), peak_(peak), times_(page) {}

  std::string svg() const {
    const double bottom = kTop + kHeight;
    const std::vector<PageRow> rows = shown_rows();
    double height = bottom + kAxis;
    std::string labels = times_.has_steps() ? step_labels(bottom) : number_labels(bottom);
    if (times_.has_steps()) height += label_height();
    std::string below;
    if (!rows.empty()) {
      below += text(kLeft, height + 12, "heading", "in the caller's memory");
      height += 20;
      for (const PageRow& row : rows) below += row_picture(row, std::exchange(height, height + kRow));
    }
    const double width = kLeft + kWidth + kRight;
    std::string out = str("<svg viewBox=\"0 0 ", width, " ", coordinate(height + 8),
                          "\" role=\"img\" aria-label=\"memory over ", "time\">\n", byte_axis(), columns(bottom));
    std::string words;
    for (const Band& band : bands_of(page_)) out += band_picture(band, words);
    return str(out, peak_line(), words, labels, below, "</svg>\n");
  }

  /// What the colours mean that are there, and the lines.
  std::string legend() const {
    std::vector<std::pair<std::string, std::string>> entries;
    const auto add = [&](const char* style, const char* words) { entries.emplace_back(style, words); };
    for (const auto& [made_by, style, words] : kColours) {
      if (std::ranges::any_of(page_.buffers, [&, m = made_by](const PageBuffer& b) { return b.made_by == m; }))
        add(style, words);
    }
    if (std::ranges::any_of(bands_of(page_), [](const Band& b) { return b.whole.size() + b.parts.size() > 1; }))
      add("taken", "one frame: the later value takes over the bytes of the earlier one, in place");
    if (!page_.rows.empty()) add("row", "an argument or a result");
    if (!page_.buffers.empty()) add("peak", "the peak");
    std::string out = "<p id=\"legend\">";
    for (const auto& [style, words] : entries) out += str("<span><i class=\"", style, "\"></i> ", words, "</span>\n");
    return out + "</p>\n";
  }

 private:
  struct Colour {
    const char* made_by;
    const char* style;
    const char* words;
  };
  static constexpr Colour kColours[] = {{"kernel", "kernel", "made by a kernel"},
                                        {"library call", "call", "made by a library function"},
                                        {"workspace", "work", "working memory of a step"},
                                        {"host call", "host", "made by Python"},
                                        {"copy", "copy", "a copy"},
                                        {"", "other", "a buffer"}};

  static const char* style_of(const PageBuffer& buffer) {
    for (const auto& [made_by, style, words] : kColours) {
      if (buffer.made_by == made_by) return style;
    }
    return "other";
  }

  static std::string text(double x, double y, const char* style, const std::string& words, const char* more = "") {
    if (words.empty()) return "";
    return str("<text class=\"", style, "\" x=\"", coordinate(x), "\" y=\"", coordinate(y), "\"", more, ">",
               escaped(words), "</text>\n");
  }

  static std::string rectangle(const char* style, double x, double y, double width, double height,
                               const std::string& more) {
    return str("<rect class=\"", style, "\" x=\"", coordinate(x), "\" y=\"", coordinate(y), "\" width=\"",
               coordinate(width), "\" height=\"", coordinate(height), "\"", more);
  }

  double y(int64_t bytes) const {
    const double share =
        page_.arena_bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(page_.arena_bytes);
    return kTop + kHeight * (1 - share);
  }

  std::string byte_axis() const {
    std::string out = text(kLeft - 8, kTop - 12, "unit", "bytes of working memory");
    for (const int64_t tick : byte_ticks(page_.arena_bytes)) {
      out += str("<line class=\"grid\" x1=\"", kLeft, "\" x2=\"", kLeft + kWidth, "\" y1=\"", coordinate(y(tick)),
                 "\" y2=\"", coordinate(y(tick)), "\"/>\n");
      out += text(kLeft - 8, y(tick) + 4, "tick", bytes_text(tick));
    }
    return out;
  }

  /// A thin line where each column ends.
  std::string columns(double bottom) const {
    std::string out;
    constexpr double kTooNarrow = 4;
    if (!times_.has_steps() || times_.column_width() < kTooNarrow) return out;
    for (int64_t c = 0; c <= times_.columns(); ++c) {
      const std::string x = coordinate(kLeft + times_.column_width() * static_cast<double>(c));
      out += str("<line class=\"grid\" x1=\"", x, "\" x2=\"", x, "\" y1=\"", kTop, "\" y2=\"", coordinate(bottom),
                 "\"/>\n");
    }
    return out;
  }

  bool has_room_for_labels() const { return times_.column_width() >= kFont + 2; }
  double label_height() const { return has_room_for_labels() ? kStepLabel : 0; }

  /// The number of each step, as the table below has it, and what it computes, upright.
  std::string step_labels(double bottom) const {
    std::string out = text(kLeft - 8, bottom + 17, "unit", "step");
    const auto every = static_cast<int64_t>(std::ceil(text_width(4) / times_.column_width()));
    for (std::size_t s = 0; s < page_.steps.size(); ++s) {
      if (!page_.steps[s].is_shown) continue;
      const int64_t column = times_.column(s);
      const double x = kLeft + times_.column_width() * (static_cast<double>(column) + 0.5);
      if (column % every == 0) out += text(x, bottom + 17, "step", std::to_string(column + 1));
      if (!has_room_for_labels()) continue;
      out += upright(x, bottom + kAxis + 4, page_.steps[s]);
    }
    return out;
  }

  /// What a step computes, with the user's line behind it, or in a line of its own where the column has room for two.
  std::string upright(double x, double top, const PageStep& step) const {
    const std::string what = step.computes.empty() ? step.name : step.computes[0];
    const std::string lines = step.lines.empty() ? "" : str("[", step.lines, "]");
    constexpr double kRoom = kStepLabel - 8, kTwoLines = 2 * (kFont + 2);
    const auto turned = [&](double at, const std::string& words) {
      const std::string place = str(" transform=\"rotate(90 ", coordinate(at), " ", coordinate(top), ")\"");
      return text(at, top, "does", fitted(words, kRoom), place.c_str());
    };
    if (lines.empty()) return turned(x - 4, what);
    if (times_.column_width() >= kTwoLines) return turned(x + 1, what) + turned(x - 4 - kFont + 2, lines);
    const double rest = kRoom - text_width(characters_in(lines) + 1);
    return turned(x - 4, str(fitted(what, std::max(rest, kRoom / 2)), " ", lines));
  }

  std::string number_labels(double bottom) const {
    std::string out = text(kLeft - 8, bottom + 17, "unit", "time");
    if (page_.buffers.empty()) return out;
    for (const int64_t time : number_ticks(times_.begin(), times_.end()))
      out += text(times_.at(time), bottom + 17, "step", std::to_string(time));
    return out;
  }

  std::string data_of(const PageBuffer& buffer) const {
    std::string out;
    const auto data = [&](const char* name, const std::string& value) {
      if (!value.empty()) out += str(" data-", name, "=\"", escaped(value), "\"");
    };
    data("name", buffer.name);
    data("type", buffer.type);
    data("bytes", std::to_string(buffer.bytes));
    data("offset", std::to_string(buffer.offset));
    data("lives", lives_text(page_, buffer));
    data("storage", buffer.storage);
    data("reason", buffer.reason);
    return str(out, "><title>", escaped(buffer.name), ", ", bytes_text(buffer.bytes), "</title></rect>\n");
  }

  /// A value's box ends where the next one takes its bytes over.
  std::string band_picture(const Band& band, std::string& words) const {
    std::string boxes;
    for (std::size_t i = 0; i < band.whole.size(); ++i) {
      const PageBuffer& buffer = *band.whole[i];
      const int64_t end = i + 1 < band.whole.size() ? std::min(band.whole[i + 1]->begin, buffer.end) : buffer.end;
      add_box(buffer, end, boxes, words);
    }
    for (const PageBuffer* part : band.parts) add_box(*part, part->end, boxes, words);
    const double x = times_.at(band.begin), top = y(band.offset + band.bytes);
    return str(boxes, rectangle("band", x, top, times_.at(band.end) - x, y(band.offset) - top, "/>\n"));
  }

  void add_box(const PageBuffer& buffer, int64_t end, std::string& boxes, std::string& words) const {
    const double x = times_.at(buffer.begin), width = times_.at(end) - x;
    const double top = y(buffer.offset + buffer.bytes), height = y(buffer.offset) - top;
    boxes += rectangle(style_of(buffer), x, top, width, height, data_of(buffer));
    constexpr double kPadding = 4, kLine = kFont + 3;
    if (height < kLine) return;
    const double room = width - 2 * kPadding;
    const std::string bytes = bytes_text(buffer.bytes), both = str(buffer.name, "  ", bytes);
    if (text_width(characters_in(both)) <= room) {
      words += text(x + kPadding, top + kFont + 1, "name", both);
    } else {
      words += text(x + kPadding, top + kFont + 1, "name", fitted(buffer.name, room));
      if (height >= 2 * kLine && text_width(bytes.size()) <= room)
        words += text(x + kPadding, top + kFont + 1 + kLine, "bytes", bytes);
    }
  }

  std::string peak_line() const {
    if (page_.buffers.empty()) return "";
    const double x = (times_.at(peak_.time) + times_.at(peak_.time + 1)) / 2;
    const std::string at = coordinate(x), words = "peak " + bytes_text(peak_.bytes);
    const bool is_right = x + text_width(words.size()) > kLeft + kWidth;
    return str("<line id=\"peak\" x1=\"", at, "\" y1=\"", kTop - 12, "\" x2=\"", at, "\" y2=\"", kTop + kHeight,
               "\"/>\n", text(is_right ? x - 4 : x + 4, kTop - 6, is_right ? "peak end" : "peak", words));
  }

  /// The largest ones, in their order.
  std::vector<PageRow> shown_rows() const {
    std::vector<PageRow> rows = page_.rows;
    if (rows.size() <= kMostRows) return rows;
    std::vector<int64_t> sizes;
    for (const PageRow& row : rows) sizes.push_back(row.bytes.value_or(INT64_MAX));
    std::ranges::sort(sizes, std::greater());
    const int64_t minimum = sizes[kMostRows - 1];
    std::erase_if(rows, [&](const PageRow& row) { return row.bytes.value_or(INT64_MAX) < minimum; });
    rows.resize(std::min(rows.size(), kMostRows));
    return rows;
  }

  std::string row_picture(const PageRow& row, double top) const {
    const std::string size = row.bytes ? bytes_text(*row.bytes) : row.type;
    const std::string label = fitted(str(row.name, "  ", size), kLeft - 12);
    constexpr double kLeast = 3;  // of a row that single numbers alone make, which have no column
    const double x = std::min(times_.at(row.begin), kLeft + kWidth - kLeast);
    const double width = std::max(times_.at(row.end) - x, kLeast);
    return str(text(kLeft - 8, top + kFont + 2, "tick", label),
               rectangle("row", x, top + 3, width, kRow - 6,
                         str("><title>", row.is_result ? "result " : "argument ", escaped(row.name), ": ",
                             escaped(row.type), "</title></rect>\n")));
  }

  const Page& page_;
  const Peak& peak_;
  const TimeAxis times_;
};

class Writer {
 public:
  explicit Writer(const Page& page) : page_(page), peak_(peak_of(page)) {}

  std::string html() const {
    const Picture picture(page_, peak_);
    return str(kPageHead, "<title>", escaped(page_.title), "</title>\n", kPageStyle, "</head>\n<body>\n<h1>",
               escaped(page_.title), "</h1>\n<p>", summary(), "</p>\n", picture.svg(), picture.legend(),
               "<div id=\"over\">Move the mouse over a box to see what it is.</div>\n", step_table(), peak_table(),
               lists(), kPageScript, "</body>\n</html>\n");
  }

 private:
  std::string summary() const {
    const std::string count = page_.buffers.size() == 1 ? "1 value" : str(page_.buffers.size(), " values");
    const bool is_minimum = page_.arena_bytes == page_.lower_bound_bytes;
    return str(count, " in ", exact_bytes(page_.arena_bytes), " of working memory",
               is_minimum ? ", the minimum that a layout can have." : "; no layout can have less than ",
               is_minimum ? "" : str(exact_bytes(page_.lower_bound_bytes), "."));
  }

  std::string step_table() const {
    if (page_.steps.empty()) return "";
    std::string out =
        "<h2>Steps</h2>\n<table id=\"steps\">\n<tr><th class=\"number\">step</th><th>what runs</th><th>computes</th>"
        "<th>from</th></tr>\n";
    int number = 0;
    for (const PageStep& step : page_.steps) {
      if (!step.is_shown) continue;
      out += str("<tr><td class=\"number\">", ++number, "</td><td>", escaped(step.name), "</td><td class=\"code\">",
                 join(step.computes, "<br>", [](const std::string& formula) { return escaped(formula); }), "</td><td>",
                 escaped(step.lines), "</td></tr>\n");
    }
    return out + "</table>\n";
  }

  std::string peak_table() const {
    std::vector<const PageBuffer*> live;
    for (const PageBuffer& buffer : page_.buffers) {
      if (is_live_at(buffer, peak_.time) && buffer.bytes > 0) live.push_back(&buffer);
    }
    std::ranges::stable_sort(live, std::greater(), &PageBuffer::bytes);
    std::string out =
        str("<h2 id=\"at-peak\">At the peak: ", exact_bytes(peak_.bytes), " at ", escaped(time_text(page_, peak_.time)),
            "</h2>\n",
            "<table id=\"live\">\n<tr><th>value</th><th>type</th><th class=\"number\">bytes</th><th class=\"number\">"
            "at</th><th>lives</th><th>storage</th><th>why</th></tr>\n");
    for (const PageBuffer* buffer : live) {
      out += str("<tr><td>", escaped(buffer->name), "</td><td>", escaped(buffer->type), "</td><td class=\"number\">",
                 buffer->bytes, "</td><td class=\"number\">", buffer->offset, "</td><td>",
                 escaped(lives_text(page_, *buffer)), "</td><td>", escaped(buffer->storage), "</td><td>",
                 escaped(buffer->reason), "</td></tr>\n");
    }
    return out + "</table>\n";
  }

  std::string lists() const {
    std::string out;
    for (const PageList& list : page_.lists) {
      out += str("<h2>", escaped(list.heading), "</h2>\n<ul>\n");
      for (const std::string& line : list.lines) out += str("<li>", escaped(line), "</li>\n");
      out += "</ul>\n";
    }
    return out;
  }

  const Page& page_;
  const Peak peak_;
};

}  // namespace

Peak peak_of(const Page& page) {
  std::map<int64_t, Wide> changes;
  for (const PageBuffer& buffer : page.buffers) {
    changes[buffer.begin] += buffer.bytes;
    changes[buffer.end] -= buffer.bytes;
  }
  std::vector<std::pair<Wide, int64_t>> sums;  // the most first: what shares bytes counts twice, so none needs more
  Wide live = 0;
  for (const auto& [time, change] : changes) sums.emplace_back(-(live += change), time);
  std::sort(sums.begin(), sums.end());
  Peak out;
  for (const auto& [sum, time] : sums) {
    if (-sum < out.bytes) break;
    const int64_t bytes = bytes_at(page, time);
    if (bytes > out.bytes || (bytes == out.bytes && bytes > 0 && time < out.time)) out = {time, bytes};
  }
  return out;
}

std::string page_html(const Page& page) { return Writer(page).html(); }

}  // namespace inlay::explain
