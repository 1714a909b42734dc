#include "backend/c/functions.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "backend/c/backend.h"
#include "backend/c/library_functions.h"
#include "backend/c/math_items.h"
#include "backend/c/sources.h"
#include "backend/c/standard_functions.h"
#include "support/error.h"

namespace inlay::c_backend {
namespace {

const std::span<const InlayStandardFunction> kStandard(inlay_standard_functions, inlay_num_standard_functions);

/// Without the comments that stand before it.
std::string_view code_of(std::string_view text) {
  while (text.starts_with("/*")) {
    text.remove_prefix(text.find("*/") + 2);
    while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  }
  return text;
}

/// Of `static inline double sigmoid_f64(double x) {...`, `static const double table[] = ...`, `typedef struct {...}
/// c64;`.
std::string name_of(std::string_view code) {
  if (code.starts_with("typedef")) return words_of(code).back();
  return words_of(code.substr(0, code.find_first_of("([="))).back();
}

/// The math in one lane, each part behind those that it needs.
class MathInOrder {
 public:
  std::vector<Function> read() {
    for (Part& part : math_parts(kMath)) {
      const std::string name = part.name;
      parts_.emplace(name, std::move(part));
      names_.push_back(name);
    }
    for (const std::string& name : names_) add(name);
    return std::move(out_);
  }

 private:
  void add(const std::string& name) {
    if (!added_.insert(name).second) return;
    Function function{name, parts_.at(name).text, {}};
    for (std::string& word : words_of(function.text)) {
      if (word != name && parts_.contains(word)) function.needs.push_back(std::move(word));
    }
    for (const std::string& needed : function.needs) add(needed);
    out_.push_back(std::move(function));
  }

  std::unordered_map<std::string, Part> parts_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> added_;
  std::vector<Function> out_;
};

/// A blank line between two things, and none within.
std::vector<Function> written_in(std::string_view source) {
  std::vector<Function> out;
  while (!source.empty()) {
    const std::size_t end = source.find("\n\n");
    const std::string_view text = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 2);
    const std::string_view code = code_of(text);
    if (code.empty() || code.front() == '#') continue;
    out.push_back({name_of(code), std::string(text.substr(0, text.find_last_not_of('\n') + 1)), {}});
  }
  return out;
}

std::vector<Function> read_functions() {
  std::vector<Function> out = MathInOrder().read();
  const std::size_t num_math = out.size();
  const auto add = [&](const std::vector<Function>& more) { out.insert(out.end(), more.begin(), more.end()); };
  for (std::string_view source : kSources) add(written_in(source));
  for (std::string_view source : kMatrixSources) add(for_fields(written_in(source)));
  add(for_reals(written_in(kBlasSource)));
  add(for_ordered(written_in(kRowSource)));
  std::unordered_set<std::string> before;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i >= num_math) {
      for (std::string& word : words_of(out[i].text)) {
        if (before.contains(word)) out[i].needs.push_back(std::move(word));
      }
    }
    before.insert(out[i].name);
  }
  return out;
}

std::set<std::string> with_needs(const std::set<std::string>& names) {
  std::set<std::string> all = names;
  for (const Function& function : functions() | std::views::reverse) {
    if (all.contains(function.name)) all.insert(function.needs.begin(), function.needs.end());
  }
  return all;
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> all = read_functions();
  return all;
}

/// The math's sums in two parts come to nothing where a compiler takes them for what they would be without rounding.
constexpr std::string_view kNoFastMath = R"(#ifdef __FAST_MATH__
#error "leave out -ffast-math, which -Ofast turns on: every rounding counts here"
#endif

)";

int most_parts(const Dim& most_points) {
  if (!most_points.is_constant()) return TypeChoices().sum_parts;
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(most_points.constant()) / kBlockInOrder)));
}

static bool is_c_complex(const Function& function) {
  return function.name == "complex_c128" || function.name == "complex_c64";
}

std::string text_of(const std::set<std::string>& names, const TypeChoices& types) {
  const std::set<std::string> wanted = with_needs(names);
  std::string out;
  if (std::ranges::any_of(wanted, [](std::string_view name) { return name.starts_with("math_"); })) {
    out += kNoFastMath;
  }
  for (const Function& function : functions()) {
    if (!wanted.contains(function.name)) continue;
    if (function.name == "inlay_index") {
      out += str("typedef ", types.index, " inlay_index;\n\n");
    } else if (function.name == "inlay_parts") {
      out += str("enum { inlay_parts = ", types.sum_parts, " };\n\n");
    } else {
      const bool is_extension = types.freestanding && is_c_complex(function);
      out += str(is_extension ? "__extension__ " : "", function.text, "\n\n");
    }
  }
  return out;
}

std::vector<std::string> blas_calls(const std::set<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : with_needs(names)) {
    if (name.ends_with('_')) out.push_back(name);
  }
  return out;
}

bool needs_complex_header(const std::set<std::string>& names) { return with_needs(names).contains("of_parts"); }

std::span<const std::string_view> standard_functions() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const InlayStandardFunction& function : kStandard) out.emplace_back(function.name);
    return out;
  }();
  return names;
}

void* find_standard_function(std::string_view name) {
  const auto found = std::ranges::find(kStandard, name, [](const auto& f) { return std::string_view(f.name); });
  return found == kStandard.end() ? nullptr : found->address;
}

std::string_view runtime_header() { return kRuntimeHeader; }

}  // namespace inlay::c_backend
