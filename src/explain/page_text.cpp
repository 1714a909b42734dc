#include "explain/page_text.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "support/number_text.h"
#include "support/str.h"

namespace inlay::explain {

const char* const kPageHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n";

// Boxes are light in either scheme and on paper, so that their words are dark.
const char* const kPageStyle = R"(<style>
  body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em; color: #222; background: #fff }
  svg { width: 100%; height: auto; font-size: 11px }
  svg text { fill: currentColor }
  svg text.name, svg text.bytes { fill: #111 }
  svg text.bytes { fill: #444 }
  svg text.tick, svg text.unit, svg text.end { text-anchor: end }
  svg text.step { text-anchor: middle }
  svg text.unit, svg text.heading { font-style: italic }
  svg text.does { font-family: ui-monospace, monospace; font-size: 10px }
  svg text.peak { fill: #c00 }
  line.grid { stroke: #888; stroke-opacity: .25 }
  #peak, i.peak { stroke: #c00; stroke-width: 1.5; stroke-dasharray: 4 3 }
  rect, i { stroke: #fff; stroke-width: .7; -webkit-print-color-adjust: exact; print-color-adjust: exact }
  rect.band { fill: none; stroke: #333; stroke-width: 1.2; pointer-events: none }
  rect.on { stroke: #c00; stroke-width: 2 }
  .kernel { fill: #a6cee3; background: #a6cee3 } .call { fill: #fdd49e; background: #fdd49e }
  .work { fill: #e0d4c4; background: #e0d4c4 } .host { fill: #f4b6c8; background: #f4b6c8 }
  .copy { fill: #c7e6b5; background: #c7e6b5 } .other { fill: #c9c5e6; background: #c9c5e6 }
  .row { fill: #bbb; background: #bbb }
  #legend span { display: inline-block; margin-right: 1.6em }
  #legend i { display: inline-block; width: 1.4em; height: .8em; border: 1px solid #888 }
  #legend i.taken { border: 2px solid #333; background: linear-gradient(90deg, #a6cee3 50%, #fdd49e 50%) }
  #legend i.peak { border: 0; border-left: 2px dashed #c00; width: 0 }
  #over { min-height: 3.2em; padding: .4em 0 }
  table { border-collapse: collapse }
  th, td { text-align: left; vertical-align: top; padding: .15em 1.2em .15em 0 }
  td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
  td.code { font-family: ui-monospace, monospace; font-size: 12px; overflow-wrap: anywhere }
  @media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } rect.band { stroke: #eee } svg text.peak { fill: #f66 } }
  @media print { body { margin: 0; max-width: none; color: #000; background: #fff } #over { display: none }
    h1 { font-size: 16px; margin: 0 } svg { max-height: 145mm; break-inside: avoid } tr { break-inside: avoid } rect.band { stroke: #333 } }
  @page { size: landscape; margin: 12mm }
</style>
)";

const char* const kPageScript = R"(<script>
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

namespace {

// Marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm, U+061C to U+2069: a name that has one
// would turn the words that stand behind it.
constexpr std::string_view kTurning[] = {"\xD8\x9C",     "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xAA",
                                         "\xE2\x80\xAB", "\xE2\x80\xAC", "\xE2\x80\xAD", "\xE2\x80\xAE",
                                         "\xE2\x81\xA6", "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9"};
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string without_turns(std::string text) {
  for (const std::string_view turning : kTurning) {
    for (std::size_t at = 0; (at = text.find(turning, at)) != std::string::npos; at += kReplacement.size())
      text.replace(at, turning.size(), kReplacement);
  }
  return text;
}

/// But white space. As the pages that Python writes have it (python/inlay/hypertext.py).
bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code == 0x7f || (code < 0x20 && c != '\t' && c != '\n' && c != '\r');
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : without_turns(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: is_control(c) ? out += kReplacement : out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  const long long hundredths = std::llround(value * 100);
  const std::string rest = std::to_string(std::abs(hundredths) % 100);
  return str(hundredths < 0 ? "-" : "", std::abs(hundredths) / 100, ".", rest.size() < 2 ? "0" : "", rest);
}

std::string bytes_text(int64_t bytes) {
  constexpr int64_t kKibi = 1024;
  if (bytes < kKibi) return str(bytes, bytes == 1 ? " byte" : " bytes");
  double number = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (number < 1024) break;
    number /= 1024;
    unit = larger;
  }
  std::string text = fixed_text(number, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return str(text, " ", unit);
}

std::string exact_bytes(int64_t bytes) {
  const std::string text = bytes_text(bytes);
  return text.ends_with("iB") ? str(text, " (", bytes, " bytes)") : text;
}

std::vector<int64_t> byte_ticks(int64_t most) {
  if (most <= 0) return {0};
  int64_t step = 1;
  while (step <= most / 6) step *= 2;
  std::vector<int64_t> out = {0};
  while (out.back() <= most - step) out.push_back(out.back() + step);
  // The end stands for itself where its words have room.
  if (most - out.back() > step / 2) out.push_back(most);
  return out;
}

std::vector<int64_t> number_ticks(int64_t begin, int64_t end) {
  const auto apart = [](int64_t from, int64_t to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); };
  const uint64_t step = std::max<uint64_t>(apart(begin, end) / 10 + (apart(begin, end) % 10 > 0 ? 1 : 0), 1);
  std::vector<int64_t> out = {begin};
  while (apart(out.back(), end) >= step) out.push_back(out.back() + static_cast<int64_t>(step));
  return out;
}

std::size_t characters_in(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string first_characters(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && seen++ == count) break;
  }
  return text.substr(0, end);
}

}  // namespace inlay::explain
