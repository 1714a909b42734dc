#include "compiler/saved.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "backend/llvm/cpu.h"
#include "compiler/backends.h"
#include "compiler/object.h"
#include "inlay/runtime.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "support/cpu_features.h"
#include "support/float_environment.h"

namespace inlay {
namespace {

constexpr std::string_view kTexts = "the file";  // where errors in its texts are

// Sections: of how many threads a call may use, where none says that it is one; and, where it is there, that f64 which
// is rounded to f32 was computed in f32.
constexpr const char* kThreads = "threads";
constexpr const char* kSinglePrecision = "single_precision";

/// What is no number of them, which only another writer has written, is one.
int threads_of(const file::FunctionFile& file) {
  const file::Section* section = file::find_section(file, kThreads);
  if (!section) return 1;
  const std::string text(reinterpret_cast<const char*>(section->bytes.data()), section->bytes.size());
  int out = 1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc() && end == text.data() + text.size() ? std::max(out, 1) : 1;
}

/// `options`, with what the file says.
Options options_of(const file::FunctionFile& file, Options options = Options::without_environment()) {
  options.backend = file.backend;
  options.fuse = fuse::mode_named(file.fuse, "fuse");
  options.planning = {.planner = memory::planner_named(file.planner, "planner"), .upper_bounds = file.upper_bounds};
  options.cpu_features = file.cpu_features;
  options.threads = threads_of(file);
  return options;
}

/// Those by which a file is compiled once more: what it was told of the CPU holds on the same architecture, and where
/// this CPU has that level.
Options options_here(const file::FunctionFile& file) {
  Options options = options_of(file, Options());
  const bool is_for_this = std::ranges::find(file.needs, llvm_backend::architecture()) != file.needs.end();
  if (!is_for_this) options.cpu_features.clear();
  try {
    llvm_backend::chosen_features(options.cpu_features);
  } catch (const Error&) {
    options.cpu_features.clear();
  }
  return options;
}

/// Keeps what the texts of graph and kernels do not say, and explanations need.
void keep_names(const EmittedProgram& program, file::FunctionFile& out) {
  const Graph& graph = program.graph;
  for (const Node& node : graph.nodes) out.locations.push_back(node.location.text);
  for (const kernel::Buffer& buffer : program.kernels.buffers) {
    const bool is_value = buffer.value.valid() && buffer.value.index < graph.values.size();
    out.buffers.push_back(buffer.name);
    out.values_of_buffers.push_back(is_value ? graph.value_text(buffer.value) : "");
  }
}

/// What the texts of a file say.
struct Texts {
  Graph graph;
  kernel::KernelProgram kernels;
};

Texts texts_of(const file::FunctionFile& file) {
  Texts out{{}, kernel::parse(file.kernels, kTexts)};
  if (file.graph.empty()) return out;  // a program of kernels, which has no values
  try {
    out.graph = parse(file.graph, kTexts);
  } catch (const Error&) {
    return out;  // sizes that no call can have, as an assumption that every call breaks: explained without its graph
  }
  auto location = file.locations.begin();
  for (Node& node : out.graph.nodes) {
    if (location != file.locations.end()) node.location.text = *location++;
  }
  std::unordered_map<std::string, ValueId> values;
  for (ValueId v : ids<ValueId>(out.graph.values.size())) values.emplace(out.graph.value_text(v), v);
  std::unordered_map<uint32_t, ValueId> sources;  // the values that sizes are those of, as the text was read
  for (kernel::BufferId b : ids<kernel::BufferId>(out.kernels.buffers.size())) {
    if (b.index >= file.buffers.size() || b.index >= file.values_of_buffers.size()) break;
    kernel::Buffer& buffer = out.kernels.buffers[b];
    const auto value = values.find(file.values_of_buffers[b.index]);
    const ValueId was = std::exchange(buffer.value, value == values.end() ? ValueId() : value->second);
    buffer.name = file.buffers[b.index];
    if (was.valid() && buffer.value.valid()) sources.emplace(was.index, buffer.value);
  }
  for (Symbol& symbol : out.kernels.symbols) {
    if (!symbol.source.valid()) continue;
    if (const auto source = sources.find(symbol.source.index); source != sources.end()) symbol.source = source->second;
  }
  return out;
}

}  // namespace

file::FunctionFile file_of(const EmittedProgram& program, const runtime::Executable& executable) {
  if (program.planning.custom || !program.shares_by_rule) {
    throw Error(ErrorCode::unsupported, {},
                str("a file cannot hold the function that ",
                    program.planning.custom ? "lays out the memory" : "chose what shares bytes"))
        .help(program.planning.custom ? "compile it with a planner by name" : "compile it without may_share");
  }
  file::FunctionFile out;
  out.inlay = INLAY_VERSION;
  out.object = executable.object();
  out.code_abi = INLAY_CODE_ABI;
  out.backend = program.backend;
  out.target = program.target;
  out.needs = program.needs;
  out.cpu_features = program.cpu_features;
  out.planner = memory::planner_name(program.planning.planner);
  out.upper_bounds = program.planning.upper_bounds;
  out.fuse = fuse::mode_name(program.fuse);
  out.order_gain = program.order_gain;
  out.graph = program.graph.outputs.empty() ? "" : print(program.graph);
  out.kernels = print(program.kernels);
  keep_names(program, out);
  keep_threads(out, executable);
  if (program.single_precision) out.sections.push_back({kSinglePrecision, {std::byte{1}}});
  return out;
}

bool is_single_precision(const file::FunctionFile& file) {
  return file::find_section(file, kSinglePrecision) != nullptr;
}

std::string why_not_here(const file::FunctionFile& file) {
  if (file.code_abi != INLAY_CODE_ABI) return str("its code is for inlay ", file.inlay);
  // What this process is told to do without (INLAY_CPU_FEATURES) it does without in a file's code too, unless its own
  // choice went before that when it was compiled.
  const bool has_choice = !file.cpu_features.empty();
  const std::vector<std::string> there = has_choice ? cpu_features() : backend_named(file.backend).instruction_sets();
  std::vector<std::string> lacking;
  std::ranges::set_difference(file.needs, there, std::back_inserter(lacking));
  return lacking.empty() ? "" : str("this CPU has no ", join(lacking, ", "));
}

void set_sections(file::FunctionFile& file, const std::vector<file::Section>& sections) {
  const auto is_of_others = [](const file::Section& section) { return section.name != kSinglePrecision; };
  std::erase_if(file.sections, is_of_others);
  std::ranges::copy_if(sections, std::back_inserter(file.sections), is_of_others);
}

void keep_threads(file::FunctionFile& file, const runtime::Executable& executable) {
  std::erase_if(file.sections, [](const file::Section& section) { return section.name == kThreads; });
  if (executable.threads() == 1) return;
  const std::string text = std::to_string(executable.threads());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  file.sections.push_back({kThreads, {bytes, bytes + text.size()}});
}

runtime::Executable load_code(const file::FunctionFile& file) {
  if (std::string why_not = why_not_here(file); !why_not.empty()) {
    throw Error(ErrorCode::unsupported, {}, str("the code of the file cannot run here: ", why_not));
  }
  runtime::Executable out = load(file.object, backend_named(file.backend), options_of(file).planning);
  out.set_threads(threads_of(file));
  return out;
}

EmittedProgram read_program(const file::FunctionFile& file) {
  const DefaultFloatEnvironment environment;
  const Options options = options_of(file);
  Texts texts = texts_of(file);
  EmittedProgram out{lower(texts.kernels, options), file.backend, file.target, file.needs, options.planning,
                     options.cpu_features};
  out.graph = std::move(texts.graph);
  out.order_gain = file.order_gain;
  out.single_precision = is_single_precision(file);
  return out;
}

Program emit_again(const file::FunctionFile& file) {
  Texts texts = texts_of(file);
  Program out = compile_program(texts.kernels, options_here(file));
  out.graph = std::move(texts.graph);
  out.order_gain = file.order_gain;
  out.single_precision = is_single_precision(file);
  return out;
}

}  // namespace inlay
