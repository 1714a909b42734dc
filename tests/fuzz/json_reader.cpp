#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

#include "readers.h"

extern "C" {
#include "json.h"
}

namespace inlay::fuzz {
namespace {

/// What is asked for: numbers of rank 0, 1 and 2 by their names.
struct Wanted {
  std::vector<int64_t> dims;
  std::vector<double> numbers;
};

using AllWanted = std::map<std::string, Wanted, std::less<>>;

AllWanted nothing_read() {
  constexpr double kUnread = -12345;
  return {{"a", {{}, {kUnread}}},
          {"b.1", {{2}, std::vector(2, kUnread)}},
          {"é\n", {{2, 3}, std::vector(6, kUnread)}},
          {"", {{0}, {kUnread}}}};
}

JsonArray array_of(void* context, const char* name, size_t length) {
  auto& wanted = *static_cast<AllWanted*>(context);
  const auto found = wanted.find(std::string_view(name, length));
  if (found == wanted.end()) return {nullptr, nullptr, 0};
  Wanted& w = found->second;
  return {w.numbers.data(), w.dims.data(), static_cast<int>(w.dims.size())};
}

/// By another reader. False: it does not understand it.
bool read_elsewhere(const nlohmann::json& value, Wanted& w, std::size_t axis, int64_t element, int64_t step) {
  if (axis == w.dims.size()) {
    if (value.is_number()) w.numbers[static_cast<std::size_t>(element)] = value.get<double>();
    return value.is_number();
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != w.dims[axis]) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto at = element + static_cast<int64_t>(i) * step;
    if (!read_elsewhere(value[i], w, axis + 1, at, step * w.dims[axis])) return false;
  }
  return true;
}

bool read_elsewhere(const std::string& text, AllWanted& all) {
  const nlohmann::json read = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return false;
  for (auto& [name, wanted] : all)
    if (read.contains(name) && !read_elsewhere(read[name], wanted, 0, 0, 1)) return false;
  return true;
}

}  // namespace

std::string try_json(std::string_view bytes) {
  const std::string text(bytes.substr(0, bytes.find('\0')));  // it reads to the first of them
  AllWanted ours = nothing_read(), others = nothing_read();
  std::array<char, 40> why;
  why.fill('x');
  if (read_json(text.c_str(), array_of, &ours, why.data(), why.size()) != 0) {
    const bool is_said = why[0] != '\0' && std::find(why.begin(), why.end(), '\0') != why.end();
    return is_said ? "" : "it is refused, and nothing says why";
  }
  if (!read_elsewhere(text, others)) return "";  // ours reads "NaN" and "1", too
  for (const auto& [name, wanted] : ours)
    if (wanted.numbers != others[name].numbers) return "another reader of JSON finds other numbers for " + name;
  return "";
}

}  // namespace inlay::fuzz
