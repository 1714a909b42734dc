#include "export/export.h"

#include <algorithm>

#include "backend/c/backend.h"
#include "compiler/compile.h"
#include "export/cpp_words.h"
#include "export/header.h"
#include "ir/nearest.h"
#include "ir/region.h"
#include "ir/verify.h"

namespace inlay {
namespace {

constexpr std::pair<std::string_view, ExportKind> kKinds[] = {
    {"c", ExportKind::c}, {"object", ExportKind::object}, {"shared", ExportKind::shared}};

std::string shape_text(const std::vector<int64_t>& dims) { return str("[", join(dims, ", "), "]"); }

/// The arrays of the bound parameters, in their order.
std::vector<BoundArray> in_order(const Graph& graph, const std::vector<BoundArray>& given) {
  std::vector<BoundArray> out;
  std::vector<std::string> names;
  for (const Param& param : graph.params) {
    if (!param.bound) continue;
    const std::string& name = names.emplace_back(graph.name_text(param.value));
    const auto found = std::ranges::find(given, name, &BoundArray::name);
    if (found == given.end()) {
      throw Error(ErrorCode::wrong_argument_count, {}, str("no array for the bound parameter %", name));
    }
    out.push_back(*found);
  }
  for (const BoundArray& array : given) {
    if (std::ranges::find(names, array.name) != names.end()) continue;
    throw Error(ErrorCode::unknown_name, {},
                str("the program has no bound parameter %", array.name,
                    names.empty() ? ": it has none" : str(", but ", join(names, ", "))));
  }
  return out;
}

/// The sizes of one graph that are known.
class KnownSizes {
 public:
  KnownSizes(const Graph& graph, const FixedSizes& asked) : graph_(graph) {
    for (const SymbolId s : ids<SymbolId>(graph.symbols.size())) {
      const auto found = std::ranges::find(asked, graph.symbols[s].name, &FixedSizes::value_type::first);
      numbers_.push_back(found == asked.end() ? Dim::symbol(s) : Dim(found->second));
    }
  }

  /// `dim` is this number: what a symbol is, if it is none yet.
  bool learn(const Dim& dim, const Dim& is) {
    const Dim number = is.substitute(numbers_);
    if (!dim.is_symbol() || numbers_[dim.as_symbol()].is_constant()) return false;
    if (!number.is_constant() || number.constant() < 0) return false;
    numbers_[dim.as_symbol()] = number;
    return true;
  }

  FixedSizes all() const {
    FixedSizes out;
    for (const SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      if (numbers_[s].is_constant()) out.emplace_back(graph_.symbols[s].name, numbers_[s].constant());
    }
    return out;
  }

 private:
  const Graph& graph_;
  IdMap<SymbolId, Dim> numbers_;
};

void require_sizes(const Graph& graph, const FixedSizes& asked) {
  std::vector<std::string> names;
  for (const Symbol& symbol : graph.symbols) names.push_back(symbol.name);
  for (const auto& [name, number] : asked) {
    if (number < 0) throw Error(ErrorCode::negative_size, {}, str("the size ", name, " is ", number));
    if (std::ranges::find(names, name) != names.end()) continue;
    Error error(ErrorCode::unknown_name, {}, str("the program has no size ", name));
    const auto guess = text::nearest(name, names);
    throw std::move(error).help(guess           ? str("did you mean ", *guess, "?")
                                : names.empty() ? "all its sizes are fixed"
                                                : str("it has ", join(names, ", ")));
  }
}

/// The sizes that are asked for, those that bound arrays have, and those that the program assumes to follow.
FixedSizes fixed_sizes(const Graph& graph, const FixedSizes& asked, const std::vector<BoundArray>& bound) {
  require_sizes(graph, asked);
  KnownSizes sizes(graph, asked);
  auto array = bound.begin();
  for (const Param& param : graph.params) {
    if (!param.bound) continue;
    const std::vector<Dim>& dims = given_dims(graph, param);
    for (std::size_t axis = 0; axis < std::min(dims.size(), array->dims.size()); ++axis) {
      sizes.learn(dims[axis], array->dims[axis]);
    }
    ++array;
  }
  for (bool more = true; more;) {
    more = false;
    for (const auto& [left, right] : graph.assumptions) more |= sizes.learn(left, right) || sizes.learn(right, left);
  }
  return sizes.all();
}

/// Does the array fit, and is what the program says of its elements so?
void check(const Graph& graph, const Param& param, const BoundArray& array) {
  const TensorType& type = graph.type(param.value);
  if (array.dtype != type.dtype) {
    throw Error(
        ErrorCode::wrong_dtype, {},
        str(array.name, ": an array of ", dtype_name(array.dtype), " where ", dtype_name(type.dtype), " is expected"));
  }
  const std::vector<Dim>& dims = given_dims(graph, param);
  const bool fits = std::ranges::equal(dims, array.dims, [](const Dim& dim, int64_t n) { return dim.is(n); });
  if (!fits) {
    throw Error(ErrorCode::shape_mismatch, {},
                str(array.name, ": an array of shape ", shape_text(array.dims), " where ",
                    graph.type_text({type.dtype, dims}), " is expected"));
  }
  check_facts(param.facts, array.dtype, array.elements, product(dims).constant(), str("%", array.name));
}

void check_all(const Graph& graph, const std::vector<BoundArray>& bound) {
  auto array = bound.begin();
  for (const Param& param : graph.params) {
    if (param.bound) check(graph, param, *array++);
  }
}

std::vector<c_backend::BoundElements> elements_of(const Graph& graph, const std::vector<BoundArray>& bound) {
  std::vector<c_backend::BoundElements> out;
  auto array = bound.begin();
  for (std::size_t slot = 0; slot < graph.params.size(); ++slot) {
    if (!graph.params[slot].bound) continue;
    const int64_t count = product(graph.type(graph.params[slot].value).dims).constant();
    out.push_back({static_cast<int>(slot), array->elements, count});
    ++array;
  }
  return out;
}

/// Throws where code calls what is in no file.
void require_complete(const Graph& graph, const std::vector<c_backend::NeededFunction>& needed,
                      std::string_view file_name) {
  std::vector<std::string> absent;
  for (const auto& [name, what] : needed) absent.push_back(str(what, " is a call of ", name));
  for_each_node(graph, [&](const Node& node) {
    if (node.op == Op::host_call) absent.push_back(str("\"", node.text, "\" is a function of the host"));
  });
  for (const Param& param : graph.params) {
    if (graph.type(param.value).dtype == DType::opaque) {
      absent.push_back(str(graph.value_text(param.value), " is an opaque value"));
    }
  }
  if (absent.empty()) return;
  throw Error(ErrorCode::unsupported, {},
              str(file_name, " cannot be exported, as C has not all that it uses: ", join(absent, ", ")))
      .help("inlay compile --emit=c writes C that declares the functions, for whoever defines them");
}

/// What a program computes and nobody reads, a compiler leaves out: it is not to warn whoever builds the file.
constexpr std::string_view kNoWarnings = R"(#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#endif
)";

std::string bytes_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ExportKind export_kind_named(std::string_view name) {
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
  }
  throw Error(ErrorCode::unknown_name, {}, str("there is no kind of export ", name)).help("c, object or shared");
}

std::string wrong_export_name(const std::string& name) {
  if (std::ranges::find(kCppWords, name) != std::end(kCppWords)) return str("`", name, "` is a word of C++");
  return c_backend::wrong_entry_name(name);
}

Exported exported(std::string_view text, std::string_view file_name, const ExportRequest& request) {
  if (const std::string wrong = wrong_export_name(request.name); !wrong.empty()) {
    throw Error(ErrorCode::unknown_name, {}, str("an exported function cannot have this name: ", wrong));
  }
  const Graph as_written = parse(text, file_name);
  const std::vector<BoundArray> bound = in_order(as_written, request.bound);
  const Graph graph = parse(text, file_name, fixed_sizes(as_written, request.sizes, bound));
  check_all(graph, bound);
  for (const Diagnostic& diagnostic : verify(graph)) throw Error(diagnostic);

  Options options = request.options;
  options.backend = "c";
  const Lowered made = lower(graph, options);
  const Interface interface(made, request.name);
  const std::string header_name = request.name + ".h";
  const std::string header = interface.header();
  const bool is_source = request.kind == ExportKind::c;
  const c_backend::Source source = c_backend::source_of(
      made.kernels, made.plan,
      {.entry = interface.entry(),
       .declarations = str(is_source ? str("#include \"", header_name, "\"\n") : header, kNoWarnings),
       .taken = interface.names(),
       .layout = interface.layout(),
       .supplies = true,
       .bound = elements_of(graph, bound)});
  require_complete(graph, source.needed, file_name);
  const std::string code = source.text + interface.functions();
  const ExportedFile header_file{header_name, header};
  if (is_source) return {header_file, {request.name + ".c", code}};
  const bool is_shared = request.kind == ExportKind::shared;
  const auto product = is_shared ? c_backend::Product::shared : c_backend::Product::object;
  const std::string name = is_shared ? str("lib", request.name, ".so") : request.name + ".o";
  return {header_file, {name, bytes_text(c_backend::compiled(code, product))}};
}

}  // namespace inlay
