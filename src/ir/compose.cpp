#include "ir/compose.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/compose_diagonal.h"
#include "ir/compose_fill.h"
#include "ir/compose_pad.h"
#include "ir/compose_reduce.h"
#include "ir/compose_shape.h"
#include "ir/compose_sort.h"
#include "ir/nearest.h"

namespace inlay {
namespace {

using Values = std::vector<ValueId>;

/// One call: its operands, and its arguments as what the composition takes them for.
class Call {
 public:
  Call(GraphBuilder& b, std::string_view name, const Values& operands, const NamedArguments& named)
      : b(b), operands(operands), name_(name), named_(named) {}

  ValueId x(std::size_t i = 0) const { return operands[i]; }

  bool has(std::string_view argument) const { return named_.contains(argument); }

  std::vector<Dim> sizes(std::string_view argument) const { return given(argument).sizes; }

  Dim size(std::string_view argument, std::optional<Dim> missing = std::nullopt) const {
    if (missing && !has(argument)) return *missing;
    const ComposeArgument& found = given(argument);
    if (found.sizes.size() != 1 || found.is_list) throw wrong(argument, "one size");
    return found.sizes[0];
  }

  int64_t integer(std::string_view argument, std::optional<int64_t> missing = std::nullopt) const {
    const Dim found = size(argument, missing ? std::optional<Dim>(*missing) : std::nullopt);
    if (!found.is_constant()) throw wrong(argument, "an integer");
    return found.constant();
  }

  Axes axes() const { return has("axes") ? integers("axes") : all_axes(b, x()); }

  std::vector<int64_t> integers(std::string_view argument) const {
    std::vector<int64_t> out;
    for (const Dim& number : given(argument).sizes) {
      if (!number.is_constant()) throw wrong(argument, "integers");
      out.push_back(number.constant());
    }
    return out;
  }

  Keep keep() const { return flag("keep") ? Keep::yes : Keep::no; }

  bool flag(std::string_view argument) const {
    if (!has(argument)) return false;
    const std::string& word = given(argument).word;
    if (word != "true" && word != "false") throw wrong(argument, "`true` or `false`");
    return word == "true";
  }

  DType dtype(std::string_view argument, DType missing) const {
    if (!has(argument)) return missing;
    if (const auto found = dtype_from_name(given(argument).word)) return *found;
    throw wrong(argument, "a dtype");
  }

  PadMode pad_mode() const {
    if (!has("mode")) return PadMode::constant;
    constexpr std::string_view kNames[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    const auto* const found = std::ranges::find(kNames, std::string_view(given("mode").word));
    if (found == std::end(kNames)) throw wrong("mode", "one of constant, edge, reflect, symmetric, wrap");
    return static_cast<PadMode>(found - kNames);
  }

  GraphBuilder& b;
  const Values& operands;

 private:
  const ComposeArgument& given(std::string_view argument) const {
    const auto found = named_.find(argument);
    if (found != named_.end()) return found->second;
    throw b.error(ErrorCode::wrong_arity, str(name_, ": the argument `", argument, "` is missing"));
  }
  Error wrong(std::string_view argument, std::string_view wanted) const {
    return b.error(ErrorCode::wrong_dtype, str(name_, ": `", argument, "` is not ", wanted));
  }

  std::string_view name_;
  const NamedArguments& named_;
};

struct Composition {
  std::string_view name;
  std::size_t fewest, most;    // operands
  std::string_view arguments;  // names between spaces
  Values (*make)(const Call& c);
};

constexpr std::size_t kAny = ~std::size_t{0};

constexpr Composition kCompositions[] = {
    // shape
    {"expand_dims", 1, 1, "axes", [](const Call& c) { return Values{expand_dims(c.b, c.x(), c.integers("axes"))}; }},
    {"squeeze", 1, 1, "axes", [](const Call& c) { return Values{squeeze(c.b, c.x(), c.axes())}; }},
    {"moveaxis", 1, 1, "from to",
     [](const Call& c) { return Values{move_axis(c.b, c.x(), c.integer("from"), c.integer("to"))}; }},
    {"swapaxes", 1, 1, "first second",
     [](const Call& c) { return Values{swap_axes(c.b, c.x(), c.integer("first"), c.integer("second"))}; }},
    {"split", 1, 1, "sizes axis",
     [](const Call& c) { return split(c.b, c.x(), c.sizes("sizes"), c.integer("axis", 0)); }},
    {"stack", 1, kAny, "axis", [](const Call& c) { return Values{stack(c.b, c.operands, c.integer("axis", 0))}; }},
    {"tile", 1, 1, "times", [](const Call& c) { return Values{tile(c.b, c.x(), c.sizes("times"))}; }},
    {"repeat", 1, 1, "count axis",
     [](const Call& c) { return Values{repeat(c.b, c.x(), c.size("count"), c.integer("axis", 0))}; }},
    {"stretch", 1, 1, "shape", [](const Call& c) { return Values{stretch(c.b, c.x(), c.sizes("shape"))}; }},
    {"roll", 1, 1, "shift axis",
     [](const Call& c) { return Values{roll(c.b, c.x(), c.integer("shift"), c.integer("axis", 0))}; }},
    {"outer", 2, 2, "", [](const Call& c) { return Values{outer(c.b, c.x(0), c.x(1))}; }},
    {"pad", 1, 2, "before after mode",
     [](const Call& c) {
       const ValueId value = c.operands.size() == 2 ? c.x(1) : constant(c.b, c.b.type(c.x()).dtype, 0);
       return Values{pad(c.b, c.x(), c.sizes("before"), c.sizes("after"), c.pad_mode(), value)};
     }},
    // fill
    {"full", 1, 1, "shape", [](const Call& c) { return Values{full(c.b, c.x(), c.sizes("shape"))}; }},
    {"eye", 0, 0, "rows columns offset dtype",
     [](const Call& c) {
       return Values{eye(c.b, c.size("rows"), c.size("columns", c.size("rows")), c.size("offset", 0),
                         c.dtype("dtype", DType::f64))};
     }},
    {"tri", 0, 0, "rows columns offset",
     [](const Call& c) {
       return Values{tri(c.b, c.size("rows"), c.size("columns", c.size("rows")), c.size("offset", 0))};
     }},
    {"tril", 1, 1, "offset", [](const Call& c) { return Values{tril(c.b, c.x(), c.size("offset", 0))}; }},
    {"triu", 1, 1, "offset", [](const Call& c) { return Values{triu(c.b, c.x(), c.size("offset", 0))}; }},
    {"where", 3, 3, "", [](const Call& c) { return Values{where(c.b, c.x(0), c.x(1), c.x(2))}; }},
    // diagonals
    {"extract_diag", 1, 1, "offset first second",
     [](const Call& c) {
       return Values{
           extract_diagonal(c.b, c.x(), c.integer("offset", 0), c.integer("first", 0), c.integer("second", 1))};
     }},
    {"trace", 1, 1, "offset first second",
     [](const Call& c) {
       return Values{trace(c.b, c.x(), c.integer("offset", 0), c.integer("first", 0), c.integer("second", 1))};
     }},
    {"alloc_diag", 1, 1, "offset first second",
     [](const Call& c) {
       return Values{
           alloc_diagonal(c.b, c.x(), c.integer("offset", 0), c.integer("first", -2), c.integer("second", -1))};
     }},
    {"set_diag", 2, 2, "offset",
     [](const Call& c) { return Values{set_diagonal(c.b, c.x(0), c.x(1), c.integer("offset", 0))}; }},
    {"fill_diagonal", 2, 2, "wrap",
     [](const Call& c) { return Values{fill_diagonal(c.b, c.x(0), c.x(1), c.flag("wrap") ? Wrap::yes : Wrap::no)}; }},
    // reductions
    {"sum", 1, 1, "axes keep", [](const Call& c) { return Values{sum(c.b, c.x(), c.axes(), c.keep())}; }},
    {"prod", 1, 1, "axes keep", [](const Call& c) { return Values{prod(c.b, c.x(), c.axes(), c.keep())}; }},
    {"mean", 1, 1, "axes keep", [](const Call& c) { return Values{mean(c.b, c.x(), c.axes(), c.keep())}; }},
    {"var", 1, 1, "axes ddof keep",
     [](const Call& c) { return Values{var(c.b, c.x(), c.axes(), c.integer("ddof", 0), c.keep())}; }},
    {"std", 1, 1, "axes ddof keep",
     [](const Call& c) { return Values{stddev(c.b, c.x(), c.axes(), c.integer("ddof", 0), c.keep())}; }},
    {"all", 1, 1, "axes keep", [](const Call& c) { return Values{all_of(c.b, c.x(), c.axes(), c.keep())}; }},
    {"any", 1, 1, "axes keep", [](const Call& c) { return Values{any_of(c.b, c.x(), c.axes(), c.keep())}; }},
    {"argmax", 1, 1, "axes keep", [](const Call& c) { return Values{argmax(c.b, c.x(), c.axes(), c.keep())}; }},
    {"argmin", 1, 1, "axes keep", [](const Call& c) { return Values{argmin(c.b, c.x(), c.axes(), c.keep())}; }},
    {"max_and_argmax", 1, 1, "axes keep",
     [](const Call& c) {
       const DType dtype = c.b.type(c.x()).dtype;
       return Values{reduce(c.b, Fold::max, c.x(), c.axes(), dtype, c.keep(), "max_and_argmax"),
                     argmax(c.b, c.x(), c.axes(), c.keep())};
     }},
    // along a sorted axis
    {"take_along_axis", 2, 2, "axis",
     [](const Call& c) { return Values{take_along_axis(c.b, c.x(0), c.x(1), c.integer("axis", -1))}; }},
    {"top_k", 1, 1, "count axis smallest",
     [](const Call& c) {
       const Extreme extreme = c.flag("smallest") ? Extreme::smallest : Extreme::largest;
       const ValuesAndPlaces found = top_k(c.b, c.x(), c.size("count"), c.integer("axis", -1), extreme);
       return Values{found.values, found.places};
     }},
    // exponentials
    {"logsumexp", 1, 1, "axes keep", [](const Call& c) { return Values{logsumexp(c.b, c.x(), c.axes(), c.keep())}; }},
    {"softmax", 1, 1, "axes", [](const Call& c) { return Values{softmax(c.b, c.x(), c.axes())}; }},
    {"log_softmax", 1, 1, "axes", [](const Call& c) { return Values{log_softmax(c.b, c.x(), c.axes())}; }},
};

const Composition* composition(std::string_view name) {
  const auto* const found = std::ranges::find(kCompositions, name, &Composition::name);
  return found == std::end(kCompositions) ? nullptr : found;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void check_names(const GraphBuilder& b, const Composition& row, const NamedArguments& named) {
  const std::vector<std::string> known = words(row.arguments);
  for (const auto& [name, argument] : named) {
    if (std::ranges::find(known, name) != known.end()) continue;
    Error error = b.error(ErrorCode::unknown_name, str(row.name, ": there is no argument `", name, "`"));
    const auto guess = text::nearest(name, known);
    throw guess ? std::move(error).help(str("did you mean ", *guess, "?")) : error;
  }
}

}  // namespace

std::vector<ValueId> compose(GraphBuilder& b, std::string_view name, const std::vector<ValueId>& operands,
                             const NamedArguments& named) {
  const Composition* row = composition(name);
  if (!row) throw b.error(ErrorCode::unknown_op, str("there is no composition ", name));
  if (operands.size() < row->fewest || operands.size() > row->most) {
    const std::string most = row->most == kAny ? " or more" : row->most == row->fewest ? "" : str(" to ", row->most);
    throw b.error(ErrorCode::wrong_arity,
                  str(name, ": takes ", row->fewest, most, row->fewest == 1 && most.empty() ? " operand" : " operands",
                      ", not ", operands.size()));
  }
  check_names(b, *row, named);
  return row->make(Call(b, name, operands, named));
}

bool is_composition(std::string_view name) { return composition(name) != nullptr; }

std::vector<std::string> composition_names() {
  std::vector<std::string> names;
  for (const Composition& row : kCompositions) names.emplace_back(row.name);
  return names;
}

}  // namespace inlay
