#include "ir/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace inlay::text {
namespace {

/// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// Are they the same but for two neighbours that have changed places?
bool is_swapped(std::string_view a, std::string_view b) {
  const auto [at, other] = std::ranges::mismatch(a, b);
  if (a.size() != b.size() || std::distance(at, a.end()) < 2) return false;
  return at[0] == other[1] && at[1] == other[0] && std::equal(at + 2, a.end(), other + 2);
}

constexpr std::pair<std::string_view, std::string_view> kNumpyWords[] = {
    {"float64", "f64"},
    {"float32", "f32"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"double", "f64"},
    {"float", "f64"},
    {"int64", "i64"},
    {"int32", "i32"},
    {"int16", "i16"},
    {"int8", "i8"},
    {"int", "i64"},
    {"uint64", "u64"},
    {"uint32", "u32"},
    {"uint16", "u16"},
    {"uint8", "u8"},
    {"bool_", "bool"},
    {"boolean", "bool"},
    {"complex64", "c64"},
    {"complex128", "c128"},
    {"subtract", "sub"},
    {"multiply", "mul"},
    {"divide", "div"},
    {"true_divide", "div"},
    {"floor_divide", "floor_div"},
    {"remainder", "mod"},
    {"power", "pow"},
    {"negative", "neg"},
    {"absolute", "abs"},
    {"fabs", "abs"},
    {"rint", "round"},
    {"asin", "arcsin"},
    {"acos", "arccos"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"gammaln", "lgamma"},
    {"expit", "sigmoid"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"equal", "eq"},
    {"not_equal", "ne"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"logical_and", "and"},
    {"logical_or", "or"},
    {"logical_xor", "xor"},
    {"logical_not", "not"},
    {"bitwise_and", "and"},
    {"bitwise_or", "or"},
    {"bitwise_xor", "xor"},
    {"invert", "not"},
    {"bitwise_not", "not"},
    {"shift_left", "left_shift"},
    {"shift_right", "right_shift"},
    {"bitwise_left_shift", "left_shift"},
    {"bitwise_right_shift", "right_shift"},
    {"astype", "cast"},
    {"broadcast_to", "broadcast"},
    {"cumsum", "cumulative add"},
    {"cumprod", "cumulative mul"},
    {"take", "gather"},
    {"arange", "iota"},
    {"concatenate", "concat"},
    {"dot", "matmul"},
    {"ln", "log"},
    {"average", "mean"},
    {"vstack", "concat"},
    {"hstack", "concat"},
    {"ravel", "reshape"},
    {"flatten", "reshape"},
};

constexpr std::pair<std::string_view, std::string_view> kWaysToCombine[] = {
    {"sum", "add"},      {"plus", "add"},    {"inc", "add"},     {"prod", "mul"}, {"product", "mul"}, {"times", "mul"},
    {"multiply", "mul"}, {"amax", "max"},    {"maximum", "max"}, {"amin", "min"}, {"minimum", "min"}, {"all", "and"},
    {"any", "or"},       {"replace", "set"}, {"assign", "set"},  {"put", "set"},
};

template <std::size_t N>
std::optional<std::string> translated(std::string_view name,
                                      const std::pair<std::string_view, std::string_view> (&words)[N]) {
  for (const auto& [theirs, ours] : words) {
    if (theirs == name) return std::string(ours);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> word_for_numpy(std::string_view name) { return translated(name, kNumpyWords); }

std::optional<std::string> way_for_numpy(std::string_view name) { return translated(name, kWaysToCombine); }

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t minimum = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    if (longer - shorter >= minimum) continue;  // at least so many edits
    const std::size_t distance = is_swapped(word, candidate) ? 1 : edit_distance(word, candidate);
    if (distance < minimum) {
      minimum = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace inlay::text
