#include "memory/page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/str.h"

namespace inlay::memory {
namespace {

constexpr double kWidth = 1000, kHeight = 480;

constexpr const char* kHead = R"(<style>
  body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1060px; padding: 0 1em; color: #222; background: #fff }
  svg { width: 100%; border-left: 1px solid #888; border-bottom: 1px solid #888 }
  svg rect { stroke: #fff; stroke-width: 1; vector-effect: non-scaling-stroke }
  svg rect.on { stroke: #000; stroke-width: 2 }
  svg line { stroke: #c00; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke }
  .times { display: flex; justify-content: space-between; color: #666 }
  #over { min-height: 3.2em; padding: .4em 0 }
  table { border-collapse: collapse }
  th, td { text-align: left; padding: .15em 1.2em .15em 0 }
  td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
  @media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } svg rect { stroke: #1b1b1b } svg rect.on { stroke: #fff } }
</style>
)";

// Shows what the mouse is over, and marks all that lies in its storage.
constexpr const char* kScript = R"(<script>
  const over = document.getElementById('over'), all = [...document.querySelectorAll('rect[data-name]')], idle = over.innerHTML;
  const put = (label, text) => { if (!text) return; const b = document.createElement('b'); b.textContent = label + ' ';
    over.append(b, text + '  '); };
  for (const one of all) {
    const d = one.dataset;
    one.addEventListener('mouseenter', () => {
      over.replaceChildren();
      put('', d.name); put('type', d.type); put('bytes', d.bytes); put('at', d.offset); put('lives', d.lives);
      put('in', d.storage); put('why', d.reason);
      for (const other of all) other.classList.toggle('on', other === one || (d.storage && other.dataset.storage === d.storage));
    });
    one.addEventListener('mouseleave', () => { over.innerHTML = idle; for (const other of all) other.classList.remove('on'); });
  }
</script>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// To a hundredth; the same in every locale.
std::string coordinate(double value) {
  const long long hundredths = std::llround(value * 100);
  const std::string rest = std::to_string(hundredths % 100);
  return str(hundredths / 100, ".", rest.size() < 2 ? "0" : "", rest);
}

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

class Writer {
 public:
  explicit Writer(const Page& page) : page_(page), peak_(peak_of(page)) {
    begin_ = INT64_MAX;
    end_ = INT64_MIN;
    for (const PageBuffer& buffer : page.buffers) {
      begin_ = std::min(begin_, buffer.begin);
      end_ = std::max(end_, buffer.end);
    }
    if (page.buffers.empty()) begin_ = end_ = 0;
  }

  std::string html() const {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += str("<title>", escaped(page_.title), "</title>\n", kHead, "</head>\n<body>\n");
    out += str("<h1>", escaped(page_.title), "</h1>\n<p>", summary(), "</p>\n", picture());
    out += str("<div class=\"times\"><span>", time_text(begin_), "</span><span>", time_text(end_), "</span></div>\n");
    out += "<div id=\"over\">Time goes across, bytes go up. Move the mouse over a buffer.</div>\n";
    return str(out, peak_table(), kScript, "</body>\n</html>\n");
  }

 private:
  std::string summary() const {
    std::string out = str(page_.buffers.size(), " buffers in ", page_.arena_bytes, " bytes; no layout needs less than ",
                          page_.lower_bound_bytes, ".");
    if (page_.arena_bytes == page_.lower_bound_bytes) out += " This one is as small as can be.";
    return out;
  }

  std::string time_text(int64_t time) const {
    if (page_.steps.empty() || time < 0) return std::to_string(time);
    const auto step = std::min(static_cast<std::size_t>(time / 2), page_.steps.size() - 1);
    return str(time, " (", escaped(page_.steps[step]), ")");
  }

  double x(int64_t time) const {
    return end_ == begin_ ? 0
                          : kWidth * (static_cast<double>(time) - static_cast<double>(begin_)) /
                                (static_cast<double>(end_) - static_cast<double>(begin_));
  }
  double height(int64_t bytes) const {
    return page_.arena_bytes == 0 ? 0 : kHeight * static_cast<double>(bytes) / static_cast<double>(page_.arena_bytes);
  }

  std::string picture() const {
    std::string out = str("<svg viewBox=\"0 0 ", kWidth, " ", kHeight, "\" preserveAspectRatio=\"none\" height=\"",
                          kHeight, "\" role=\"img\" aria-label=\"memory over time\">\n");
    for (std::size_t b = 0; b < page_.buffers.size(); ++b) out += rectangle(page_.buffers[b], b);
    if (!page_.buffers.empty()) {
      const std::string at = coordinate((x(peak_.time) + x(peak_.time + 1)) / 2);
      out += str("<line id=\"peak\" x1=\"", at, "\" y1=\"0\" x2=\"", at, "\" y2=\"", kHeight, "\"><title>the peak, at ",
                 time_text(peak_.time), "</title></line>\n");
    }
    return out + "</svg>\n";
  }

  std::string rectangle(const PageBuffer& buffer, std::size_t index) const {
    const std::string lives = str("[", buffer.begin, ", ", buffer.end, ")");
    std::string out = str("<rect x=\"", coordinate(x(buffer.begin)), "\" y=\"",
                          coordinate(kHeight - height(buffer.offset + buffer.bytes)), "\" width=\"",
                          coordinate(x(buffer.end) - x(buffer.begin)), "\" height=\"", coordinate(height(buffer.bytes)),
                          "\" fill=\"hsl(", index * 47 % 360, ",55%,", 55 + index % 3 * 8, "%)\"");
    const auto data = [&](const char* name, const std::string& value) {
      if (!value.empty()) out += str(" data-", name, "=\"", escaped(value), "\"");
    };
    data("name", buffer.name);
    data("type", buffer.type);
    data("bytes", std::to_string(buffer.bytes));
    data("offset", std::to_string(buffer.offset));
    data("lives", lives);
    data("storage", buffer.storage);
    data("reason", buffer.reason);
    return str(out, "><title>", escaped(buffer.name), ", ", buffer.bytes, " bytes, ", lives, "</title></rect>\n");
  }

  std::string peak_table() const {
    std::vector<const PageBuffer*> live;
    for (const PageBuffer& buffer : page_.buffers) {
      if (is_live_at(buffer, peak_.time) && buffer.bytes > 0) live.push_back(&buffer);
    }
    std::stable_sort(live.begin(), live.end(),
                     [](const PageBuffer* a, const PageBuffer* b) { return a->bytes > b->bytes; });
    std::string out = str("<h2>At the peak: ", peak_.bytes, " bytes at ", time_text(peak_.time), "</h2>\n");
    out +=
        "<table id=\"live\">\n<tr><th>buffer</th><th>type</th><th class=\"number\">bytes</th><th "
        "class=\"number\">at</th>"
        "<th>lives</th><th>storage</th><th>why</th></tr>\n";
    for (const PageBuffer* buffer : live) {
      out += str("<tr><td>", escaped(buffer->name), "</td><td>", escaped(buffer->type), "</td><td class=\"number\">",
                 buffer->bytes, "</td><td class=\"number\">", buffer->offset, "</td><td>[", buffer->begin, ", ",
                 buffer->end, ")</td><td>", escaped(buffer->storage), "</td><td>", escaped(buffer->reason),
                 "</td></tr>\n");
    }
    return out + "</table>\n";
  }

  const Page& page_;
  const Peak peak_;
  int64_t begin_ = 0, end_ = 0;
};

}  // namespace

Peak peak_of(const Page& page) {
  std::map<int64_t, int64_t> changes;
  for (const PageBuffer& buffer : page.buffers) {
    changes[buffer.begin] += buffer.bytes;
    changes[buffer.end] -= buffer.bytes;
  }
  std::vector<std::pair<int64_t, int64_t>> sums;  // the most first: what shares bytes counts twice, so none needs more
  int64_t live = 0;
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

}  // namespace inlay::memory
