#include "backend/c/freestanding.h"

#include <algorithm>
#include <set>

#include "backend/c/math_items.h"
#include "support/error.h"

namespace inlay::c_backend {
namespace {

using kernel::KernelProgram;

/// d: a number; i: int, p: double*, q: int*. The result comes first.
struct Declared {
  std::string_view name, types;
};
constexpr Declared kDeclared[] = {
    {"acos", "dd"},   {"acosh", "dd"},   {"asin", "dd"},      {"asinh", "dd"},      {"atan", "dd"},  {"atan2", "ddd"},
    {"atanh", "dd"},  {"cbrt", "dd"},    {"ceil", "dd"},      {"copysign", "ddd"},  {"cos", "dd"},   {"cosh", "dd"},
    {"erf", "dd"},    {"erfc", "dd"},    {"exp", "dd"},       {"exp2", "dd"},       {"expm1", "dd"}, {"fabs", "dd"},
    {"floor", "dd"},  {"fma", "dddd"},   {"fmax", "ddd"},     {"fmin", "ddd"},      {"fmod", "ddd"}, {"frexp", "ddq"},
    {"hypot", "ddd"}, {"ldexp", "ddi"},  {"lgamma", "dd"},    {"log", "dd"},        {"log10", "dd"}, {"log1p", "dd"},
    {"log2", "dd"},   {"modf", "ddp"},   {"nearbyint", "dd"}, {"nextafter", "ddd"}, {"pow", "ddd"},  {"rint", "dd"},
    {"round", "dd"},  {"scalbn", "ddi"}, {"sin", "dd"},       {"sinh", "dd"},       {"sqrt", "dd"},  {"tan", "dd"},
    {"tanh", "dd"},   {"tgamma", "dd"},  {"trunc", "dd"}};

/// Those that many a CPU has an instruction for. A compiler that is told of no hosted library takes the names for any
/// function's, unless they are its own.
constexpr std::string_view kInstructions[] = {"ceil", "copysign", "fabs", "floor", "fma", "nearbyint", "sqrt", "trunc"};

std::string type_of(char letter, std::string_view real) {
  switch (letter) {
    case 'd': return std::string(real);
    case 'i': return "int";
    case 'p': return str(real, "*");
    case 'q': return "int*";
    default: break;
  }
  INLAY_CHECK(false, "no type is called ", letter);
}

std::string declaration(const Declared& function, std::string_view real, std::string_view ending) {
  std::vector<std::string> params;
  for (const char letter : function.types.substr(1)) params.push_back(type_of(letter, real));
  const std::string name = str(function.name, ending);
  std::string out = str(type_of(function.types[0], real), " ", name, "(", join(params, ", "), ");\n");
  if (std::ranges::find(kInstructions, function.name) == std::end(kInstructions)) return out;
  const std::string names = std::string("x, y, z").substr(0, 3 * function.types.size() - 5);
  return str(out, "#ifdef __GNUC__\n#define ", name, "(", names, ") __builtin_", name, "(", names, ")\n#endif\n");
}

std::string without_comments(std::string_view code) {
  std::string out;
  while (!code.empty()) {
    const std::size_t begin = std::min(code.find("/*"), code.size());
    out += code.substr(0, begin);
    const std::size_t end = code.find("*/", begin);
    code.remove_prefix(end == std::string_view::npos ? code.size() : end + 2);
  }
  return out;
}

constexpr std::string_view kMemory = R"(void* memcpy(void* restrict, const void* restrict, size_t);
void* memset(void*, int, size_t);
#ifdef __GNUC__
#define memcpy(to, from, size) __builtin_memcpy(to, from, size)
#define memset(to, byte, size) __builtin_memset(to, byte, size)
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#else
#define INFINITY ((float)(1e308 * 10))
#define NAN (INFINITY - INFINITY)
#endif
#define isnan(x) ((x) != (x))
#define isfinite(x) ((x) - (x) == 0)
#define isinf(x) ((x) == (x) && (x) - (x) != 0)
)";

/// What all sizes and places are to be within, with room for a block behind a loop's end.
constexpr int64_t kMostPoints = int64_t(1) << 28;

bool is_small(const Dim& dim) {
  return dim.is_constant() && dim.constant() < kMostPoints && dim.constant() > -kMostPoints;
}

/// The sum of what its terms are at most, without their signs.
bool is_small(const kernel::LinearMap& place, const std::vector<Dim>& extents) {
  if (!is_small(place.base)) return false;
  int64_t most = std::abs(place.base.constant());
  const auto add = [&](const Dim& stride, const Dim& extent) {
    if (!is_small(stride) || !is_small(extent)) return false;
    most += std::abs(stride.constant()) * std::max<int64_t>(extent.constant(), 1);
    return most < kMostPoints;
  };
  return std::ranges::all_of(
             place.axes,
             [&](const auto& term) { return add(term.second, extents[static_cast<std::size_t>(term.first)]); }) &&
         std::ranges::all_of(place.indices, [&](const auto& term) { return add(term.second, term.first.extent); });
}

bool is_small(const KernelProgram& program, const kernel::Kernel& kernel, const kernel::Stage& stage) {
  std::vector<Dim> extents;
  int64_t points = 1;
  for (const Dim& extent : axis_extents(kernel, stage)) {
    extents.push_back(extent);
    if (!is_small(extent)) return false;
    points *= std::max<int64_t>(extent.constant(), 1);
    if (points >= kMostPoints) return false;
  }
  return std::ranges::all_of(stage.statements, [&](const kernel::Statement& s) {
    if (!s.has_place()) return true;
    return is_small(kernel::linearize(s.map, program.buffers[s.buffer].dims), extents);
  });
}

}  // namespace

std::string freestanding_head(std::string_view code) {
  const std::string text = without_comments(code);
  const std::vector<std::string> words = words_of(text);
  const std::set<std::string, std::less<>> used(words.begin(), words.end());
  std::string out = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
  out += kMemory;
  if (used.contains("_Complex")) out += "#ifndef __GNUC__\n#define __extension__\n#endif\n";
  for (const Declared& function : kDeclared) {
    if (used.contains(function.name)) out += declaration(function, "double", "");
    if (used.contains(str(function.name, "f"))) out += declaration(function, "float", "f");
    if (used.contains(str(function.name, "l"))) out += declaration(function, "long double", "l");
  }
  return out;
}

bool counts_in_32_bits(const KernelProgram& program) {
  if (program.symbols.size() > 0) return false;
  const auto is_small_buffer = [&](const kernel::Buffer& buffer) { return is_small(num_elements(buffer)); };
  if (!std::ranges::all_of(program.buffers, is_small_buffer)) return false;
  return std::ranges::all_of(program.steps, [&](const kernel::Step& step) {
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    return !kernel ||
           (kernel->tile < kMostPoints &&
            std::ranges::all_of(kernel->stages, [&](const auto& stage) { return is_small(program, *kernel, stage); }));
  });
}

}  // namespace inlay::c_backend
