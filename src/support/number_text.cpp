#include "support/number_text.h"

#include <algorithm>
#include <limits>

#include "support/float_environment.h"

namespace inlay {
namespace {

/// Is a number beyond the range of f64 too large, rather than too small?
bool is_large(std::string_view digits) {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  std::string_view written = digits.substr(std::min(exponent_at + 1, digits.size()));
  const bool negative = written.starts_with('-');
  if (negative || written.starts_with('+')) written.remove_prefix(1);
  constexpr int64_t kBeyond = int64_t{1} << 60;
  int64_t exponent = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), exponent);
  exponent = read.ec == std::errc::result_out_of_range ? kBeyond : std::min(exponent, kBeyond);
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const auto point = static_cast<int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<int64_t>(std::min(mantissa.find_first_not_of("0."), mantissa.size()));
  return point - first + (negative ? -exponent : exponent) > 0;
}

}  // namespace

std::optional<double> number_of(std::string_view text) {
  const DefaultFloatEnvironment environment;  // some libraries' from_chars rounds by it
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (failure == std::errc()) return value;
  const bool negative = text.starts_with('-');
  const double magnitude = is_large(text.substr(negative)) ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

std::string fixed_text(double value, int places) {
  char text[400];  // 1e308 has 309 digits
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, places);
  return {text, written.ptr};
}

}  // namespace inlay
