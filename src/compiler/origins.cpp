#include "compiler/origins.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "explain/memory_map.h"
#include "support/str.h"

namespace inlay {
namespace {

using kernel::BufferId;
using kernel::StepId;

/// Takes `:41` from the end of the text, and returns the number; nothing if the text ends otherwise.
std::optional<int64_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const char* const end = text.data() + text.size();
  int64_t number = 0;
  const auto [read_to, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || read_to != end || number < 0) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

/// Takes the node of "Exp #7 alpha, model.py:41" from the begin of the text: what ends at the first comma and blank
/// behind its number. The name of the file may have some too.
void take_node(std::string_view& text) {
  const std::size_t number = text.find(" #");
  if (number == std::string_view::npos) return;
  const std::size_t end = text.find(", ", number);
  if (end != std::string_view::npos) text.remove_prefix(end + 2);
}

/// Returns the file and the line of a location such as "Exp #7 alpha, model.py:41" or "model.inlay:3:9"; nothing if it
/// has none.
std::optional<std::pair<std::string, int64_t>> line_of(std::string_view location) {
  std::optional<int64_t> line = take_number(location);
  if (!line) return std::nullopt;
  if (const auto before = take_number(location)) {
    line = before;  // it was a column, as texts of programs have
  } else {
    take_node(location);
  }
  if (location.empty()) return std::nullopt;
  return std::pair{std::string(location), *line};
}

bool is_numbers(const kernel::Step& step) {
  const auto* kernel = std::get_if<kernel::Kernel>(&step);
  return kernel != nullptr && kernel->is_scalar();
}

}  // namespace

Origins::Origins(const Lowered& program) : program_(program), is_stored_(program.graph.values.size(), false) {
  for (const kernel::Step& step : program.kernels.steps) {
    if (is_numbers(step)) continue;
    for (BufferId b : kernel::access_of(program.kernels, step).writes) {
      const ValueId value = program.kernels.buffers[b].value;
      if (value.valid() && value.index < is_stored_.size()) is_stored_[value] = true;
    }
  }
}

std::vector<std::string> Origins::of(StepId step) const {
  std::vector<std::string> out;
  std::vector<ValueId> next;
  for (BufferId b : kernel::access_of(program_.kernels, program_.kernels.steps[step.index]).writes) {
    const ValueId value = program_.kernels.buffers[b].value;
    if (value.valid() && value.index < is_stored_.size()) next.push_back(value);
  }
  IdMap<ValueId, bool> seen(is_stored_.size(), false);
  const std::size_t num_written = next.size();
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Node* node = program_.graph.node_of(next[i]);
    if (node == nullptr || seen[next[i]] || (i >= num_written && is_stored_[next[i]])) continue;
    seen[next[i]] = true;
    if (!node->location.empty() && std::ranges::find(out, node->location.text) == out.end())
      out.push_back(node->location.text);
    next.insert(next.end(), node->operands.begin(), node->operands.end());
  }
  return out;
}

explain::PageWords page_words(const Lowered& program, std::string title) {
  explain::PageWords out{std::move(title), kernel::named_parts(program.kernels, program.graph), {}};
  const Origins origins(program);
  for (StepId step : ids<StepId>(program.kernels.steps.size())) out.lines.push_back(source_lines(origins.of(step)));
  return out;
}

std::string source_lines(const std::vector<std::string>& locations) {
  std::map<std::pair<std::string, int64_t>, int> counts;
  for (const std::string& location : locations) {
    if (const auto line = line_of(location)) ++counts[*line];
  }
  std::vector<std::pair<std::pair<std::string, int64_t>, int>> most(counts.begin(), counts.end());
  std::ranges::stable_sort(most, std::greater(), &decltype(most)::value_type::second);
  constexpr std::size_t kShown = 3;
  most.resize(std::min(most.size(), kShown));
  std::ranges::sort(most);
  std::string out, file;
  for (const auto& [line, count] : most) {
    out += line.first == file ? str(", ", line.second) : str(out.empty() ? "" : "; ", line.first, ":", line.second);
    file = line.first;
  }
  return out;
}

}  // namespace inlay
