#include "compiler/origins.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <regex>

#include "explain/memory_map.h"
#include "support/str.h"

namespace inlay {
namespace {

using kernel::BufferId;
using kernel::StepId;

/// Returns the file and the line of a location such as "Exp #7 alpha, model.py:41" or "model.inlay:3:9"; nothing if it
/// has none.
std::optional<std::pair<std::string, int64_t>> line_of(const std::string& location) {
  static const std::regex kPlace(R"(([^\s,:]+):([0-9]{1,9})(:[0-9]+)?$)");
  std::smatch found;
  if (!std::regex_search(location, found, kPlace)) return std::nullopt;
  return std::pair{found[1].str(), int64_t{std::stoi(found[2].str())}};
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
