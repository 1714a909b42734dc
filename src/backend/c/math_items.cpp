#include "backend/c/math_items.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "support/ascii.h"
#include "support/error.h"

namespace inlay::c_backend {
namespace {

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

struct Word {
  std::string_view in_lanes, alone;
};
/// The definitions of the first column are left out.
constexpr Word kOneLane[] = {
    {"vd", "double"}, {"vi", "int64_t"}, {"vf", "float"},      {"vfi", "int32_t"},
    {"Lanes", "int"}, {"LanesF", "int"}, {"INLAY_LANES", "1"}, {"INLAY_INLINE", "static inline"}};

std::string in_one_lane(std::string_view text) {
  return with_words(text, [](std::string_view word) {
    const auto found = std::ranges::find(kOneLane, word, &Word::in_lanes);
    return std::string(found == std::end(kOneLane) ? word : found->alone);
  });
}

/// Functions and types get a name that leaves short words to the program: math_scale.
void set_names_apart(std::vector<Part>& parts) {
  std::unordered_set<std::string_view> taken;
  for (const Part& part : parts) {
    const bool is_constant = part.name.size() > 1 && part.name[0] == 'k' && !is_lower(part.name[1]);
    if (part.text.front() != '#' && !is_constant) taken.insert(part.name);
  }
  const auto apart = [&](std::string_view word) { return str(taken.contains(word) ? "math_" : "", word); };
  std::vector<Part> renamed;
  for (const Part& part : parts) renamed.push_back({apart(part.name), with_words(part.text, apart)});
  parts = std::move(renamed);
}

std::string name_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  if (text.front() == '#') {
    const std::size_t at = text.find(kDefine);
    return at == std::string_view::npos ? "" : words_of(text.substr(at + kDefine.size())).front();
  }
  if (text.starts_with("typedef")) return words_of(text).back();
  return words_of(text.substr(0, text.find_first_of("([="))).back();
}

/// How many of the lines are one part: up to the end of a macro, of an #if or of what braces enclose.
std::size_t length_of_part(std::span<const std::string_view> lines) {
  const bool is_choice = lines[0].starts_with("#if");
  int depth = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (is_choice) {
      depth += line.starts_with("#if") ? 1 : line.starts_with("#endif") ? -1 : 0;
      if (depth == 0) return i + 1;
    } else if (lines[0].front() == '#') {
      if (!line.ends_with('\\')) return i + 1;
    } else {
      depth += static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
      if (depth == 0 && (line.ends_with(';') || line.ends_with('}'))) return i + 1;
    }
  }
  return lines.size();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // What stands behind code, and what clang alone knows, is for readers and for the vectors.
    const std::string_view line = text.substr(0, std::min(text.find("  //"), end));
    const bool was_comment = line.empty() && end > 0;
    if (!line.starts_with("#pragma") && !line.starts_with("//") && !was_comment) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string with_words(std::string_view text, const std::function<std::string(std::string_view)>& instead) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    out += instead(text.substr(i, end - i));
    if (end < text.size()) out += text[end++];
    i = end;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.emplace_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

std::vector<Part> math_parts(std::string_view source) {
  const std::vector<std::string_view> lines = lines_of(source);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].empty()) {
      ++i;
      continue;
    }
    const std::size_t end = i + length_of_part(std::span(lines).subspan(i));
    std::string text;
    for (; i < end; ++i) text += std::string(lines[i]) + "\n";
    text.pop_back();
    const std::string name = name_of(text);  // none: an #include, or a choice of them
    const bool is_lane_type = std::ranges::find(kOneLane, name, &Word::in_lanes) != std::end(kOneLane);
    if (!name.empty() && !is_lane_type) parts.push_back({name, in_one_lane(text)});
  }
  set_names_apart(parts);
  return parts;
}

}  // namespace inlay::c_backend
