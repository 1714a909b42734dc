#include "export/export.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "backend/c/backend.h"
#include "compiler/compile.h"
#include "export/cpp_words.h"
#include "export/header.h"
#include "export/sizes.h"
#include "ir/nearest.h"
#include "ir/region.h"
#include "ir/verify.h"

namespace inlay {
namespace {

constexpr std::pair<std::string_view, ExportKind> kKinds[] = {
    {"c", ExportKind::c}, {"object", ExportKind::object}, {"shared", ExportKind::shared}};

std::string shape_text(const std::vector<int64_t>& dims) { return str("[", join(dims, ", "), "]"); }

/// Throws where two have one name: the caller cannot mean both.
template <class Named, class Name>
void require_once(std::string_view what, const std::vector<Named>& given, Name name) {
  for (auto at = given.begin(); at != given.end(); ++at) {
    if (std::ranges::find(given.begin(), at, std::invoke(name, *at), name) == at) continue;
    throw Error(ErrorCode::duplicate_name, {}, str("the ", what, " ", std::invoke(name, *at), " is given twice"));
  }
}

/// The arrays of the bound parameters, in their order.
std::vector<BoundArray> in_order(const Graph& graph, const std::vector<BoundArray>& given) {
  require_once("array of the bound parameter", given, &BoundArray::name);
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
  require_once("size", asked, &FixedSizes::value_type::first);
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

std::vector<BoundArray> checked_arrays(std::string_view text, std::string_view file_name,
                                       const ExportRequest& request) {
  if (const std::string wrong = wrong_export_name(request.name); !wrong.empty()) {
    throw Error(ErrorCode::unknown_name, {}, str("an exported function cannot have this name: ", wrong));
  }
  if (request.section.empty()) return in_order(parse(text, file_name), request.bound);
  if (const std::string wrong = c_backend::wrong_section_name(request.section); !wrong.empty()) {
    throw Error(ErrorCode::unknown_name, {}, str("arrays cannot lie in this section: ", wrong));
  }
  return in_order(parse(text, file_name), request.bound);
}

Graph checked_graph(std::string_view text, std::string_view file_name, const FixedSizes& sizes,
                    const std::vector<BoundArray>& bound) {
  Graph graph = parse(text, file_name, fixed_sizes(parse(text, file_name), sizes, bound));
  check_all(graph, bound);
  for (const Diagnostic& diagnostic : verify(graph)) throw Error(diagnostic);
  return graph;
}

/// As the user wrote them; empty where nothing has a name. Rewriting may return another value.
std::vector<std::string> result_names(const Graph& graph) {
  std::vector<std::string> out;
  for (const Output& output : graph.outputs) {
    out.push_back(output.name.empty() ? graph.values[output.value].name : output.name);
  }
  return out;
}

Lowered lowered_for_c(const Graph& graph, Options options) {
  options.backend = "c";
  return lower(graph, options);
}

/// A program as its C file has it: sizes are fixed, arrays are there.
struct Prepared {
  Prepared(std::string_view text, std::string_view file_name, const ExportRequest& request)
      : bound(checked_arrays(text, file_name, request)),
        graph(checked_graph(text, file_name, request.sizes, bound)),
        made(lowered_for_c(graph, request.options)),
        interface(made, request.name, result_names(graph)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  /// `taken`: names that the file has beside those of the header.
  std::string code(const std::string& declarations, const std::vector<c_backend::BoundElements>& elements,
                   const std::vector<std::string>& taken, std::string_view file_name,
                   const ExportRequest& request) const {
    std::vector<std::string> names = interface.names();
    names.insert(names.end(), taken.begin(), taken.end());
    const c_backend::Source source = c_backend::source_of(made.kernels, made.plan,
                                                          {.entry = interface.entry(),
                                                           .declarations = declarations + std::string(kNoWarnings),
                                                           .taken = names,
                                                           .layout = interface.layout(),
                                                           .supplies = true,
                                                           .freestanding = request.freestanding,
                                                           .blas = request.blas,
                                                           .section = request.section,
                                                           .bound = elements});
    require_complete(graph, source.needed, file_name);
    return source.text + interface.functions();
  }

  const std::vector<BoundArray> bound;
  const Graph graph;
  const Lowered made;
  const Interface interface;
};

std::vector<c_backend::BoundElements> elements_of(const Prepared& program) {
  std::vector<c_backend::BoundElements> out;
  auto array = program.bound.begin();
  for (std::size_t slot = 0; slot < program.graph.params.size(); ++slot) {
    const Param& param = program.graph.params[slot];
    if (!param.bound) continue;
    const int64_t count = product(program.graph.type(param.value).dims).constant();
    out.push_back({static_cast<int>(slot), array->elements, count, {}});
    ++array;
  }
  return out;
}

void add_sizes(const c_backend::Measured& made, const Interface& interface, const std::string& name,
               ExportedSizes& sizes) {
  if (const auto sections = loaded_sections(made.code)) {
    const auto sum_of = [&](Use use) {
      int64_t sum = 0;
      for (const LoadedSection& section : *sections) sum += section.use == use ? section.num_bytes : 0;
      return sum;
    };
    sizes.text = sum_of(Use::text);
    sizes.rodata = sum_of(Use::rodata);
    sizes.data = sum_of(Use::data);
  }
  sizes.stack = stack_bytes(made.calls, interface.is_typed() ? name : interface.entry());
}

/// The functions that follow are for this library alone.
constexpr std::string_view kHidden = "#ifdef __GNUC__\n#pragma GCC visibility push(hidden)\n#endif\n";
constexpr std::string_view kSeen = "#ifdef __GNUC__\n#pragma GCC visibility pop\n#endif\n";

/// Arrays that parts of a library read, each of them once, by names that all parts know.
class SharedTables {
 public:
  void take(const Prepared& program, std::vector<c_backend::BoundElements>& elements) {
    for (c_backend::BoundElements& each : elements) {
      const DType dtype = program.graph.type(program.graph.params[static_cast<std::size_t>(each.slot)].value).dtype;
      const auto num_bytes = static_cast<std::size_t>(each.count * size_bytes(dtype));
      std::string bytes = num_bytes == 0 ? "" : std::string(static_cast<const char*>(each.elements), num_bytes);
      const auto found = std::ranges::find(contents_, bytes);
      each.table = name(static_cast<std::size_t>(found - contents_.begin()));
      if (found == contents_.end()) contents_.push_back(std::move(bytes));
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < contents_.size(); ++i) out.push_back(name(i));
    return out;
  }

  /// The file that defines them: as words of 8 bytes, whatever they are elsewhere.
  std::string text() const {
    std::string out = str("#include <stdint.h>\n", kHidden);
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      std::vector<std::string> words;
      for (std::size_t at = 0; at < contents_[i].size(); at += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, contents_[i].data() + at, std::min(sizeof word, contents_[i].size() - at));
        words.push_back(str("UINT64_C(", word, ")"));
      }
      if (words.empty()) words.emplace_back("0");
      const std::string array = str("const uint64_t ", name(i), "[", words.size(), "]");
      out += str("extern ", array, ";\n", array, " = {", join(words, ", "), "};\n");
    }
    return out;
  }

 private:
  static std::string name(std::size_t i) { return str("inlay_array_", i); }

  std::vector<std::string> contents_;
};

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
  const Prepared program(text, file_name, request);
  const std::string header_name = request.name + ".h";
  const std::string header = program.interface.header();
  const bool is_source = request.kind == ExportKind::c;
  const std::string code = program.code(is_source ? str("#include \"", header_name, "\"\n") : header,
                                        elements_of(program), {}, file_name, request);
  const ExportedFile header_file{header_name, header};
  ExportedSizes sizes{.arena = program.interface.arena_bytes()};
  if (is_source) return {header_file, {request.name + ".c", code}, sizes};
  const bool is_shared = request.kind == ExportKind::shared;
  const auto product = is_shared ? c_backend::Product::shared : c_backend::Product::object;
  const std::string name = is_shared ? str("lib", request.name, ".so") : request.name + ".o";
  const c_backend::Measured made = c_backend::measured(code, product);
  add_sizes(made, program.interface, request.name, sizes);
  return {header_file, {name, bytes_text(made.code)}, sizes};
}

std::string exported_library(const LibraryRequest& request) {
  std::vector<c_backend::SourceFile> files;
  for (const ExportedFile& file : request.code) files.push_back({file.name, file.bytes});
  SharedTables tables;
  for (const LibraryRequest::Part& part : request.parts) {
    const ExportRequest as_one{.name = part.name, .bound = part.bound, .options = request.options};
    const Prepared program(part.text, part.file_name, as_one);
    if (!program.interface.is_typed()) {
      throw Error(ErrorCode::unsupported, {},
                  str(part.file_name, " cannot be exported: some sizes are known only when it runs"));
    }
    std::vector<c_backend::BoundElements> elements = elements_of(program);
    tables.take(program, elements);
    files.push_back({part.name + ".h", str(kHidden, program.interface.header(), kSeen)});
    files.push_back({part.name + ".c", program.code(str(kHidden, "#include \"", part.name, ".h\"\n"), elements,
                                                    tables.names(), part.file_name, as_one)});
  }
  files.push_back({"inlay_arrays.c", tables.text()});
  return bytes_text(c_backend::compiled(files, c_backend::Product::shared));
}

}  // namespace inlay
