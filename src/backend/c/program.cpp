#include "backend/c/program.h"

#include <algorithm>

#include "backend/c/freestanding.h"
#include "kernel/text.h"
#include "support/error.h"

namespace inlay::c_backend {

using kernel::Buffer;
using kernel::Role;

ProgramText::ProgramText(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                         const SourceOptions& options)
    : program(program),
      plan(plan),
      options_(options),
      has_short_indices_(options.freestanding && counts_in_32_bits(program)),
      is_read_(program.buffers.size()),
      buffer_names_(program.buffers.size()) {
  needs.in_singles = options.freestanding;
  needs.calls_blas = options.blas;
  names.reserve(options.entry);
  for (const std::string& name : options.taken) names.reserve(name);
  if (!options.layout.empty()) {
    for (const char* parameter : {"segment", "offsets"}) names.reserve(parameter);
  }
  find_read();
  const kernel::Names readable(program);
  for (const std::string& name : readable.symbols) symbol_names_.push_back(names.take(name, "n"));
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    if (root(b) == b) buffer_names_[b] = names.take(readable.buffers[b], "t");
  }
}

void ProgramText::find_read() {
  for (const kernel::Step& step : program.steps) {
    for (BufferId b : access_of(program, step).reads) is_read_[b] = true;
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (!kernel) continue;
    for (const kernel::Stage& stage : kernel->stages) {
      for (const kernel::Statement& s : stage.statements) {
        if (s.kind == kernel::Statement::Kind::load) is_read_[root(s.buffer)] = true;
      }
    }
  }
}

bool ProgramText::is_unread_scalar(BufferId buffer) const {
  return buffer.valid() && is_scalar(buffer) && !is_read_[root(buffer)];
}

template <class Id>
static void note(std::vector<Id>& list, Id id) {
  if (std::ranges::find(list, id) == list.end()) list.push_back(id);
}

void ProgramText::use(BufferId buffer) { note(uses.buffers, root(buffer)); }

const std::string& ProgramText::symbol(SymbolId symbol) {
  note(uses.symbols, symbol);
  return symbol_names_[symbol];
}

/// Of two sizes.
static const char* function_of(const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::floor_div) return "floor_div_i64";
  return atom.kind == Dim::Atom::Kind::min ? "min_i64" : "max_i64";
}

std::string ProgramText::atom(const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::symbol) return symbol(atom.symbol);
  if (atom.kind == Dim::Atom::Kind::sum) return str("(", size(atom.operands->first), ")");
  return str(needs.use(function_of(atom)), "(", size(atom.operands->first), ", ", size(atom.operands->second), ")");
}

std::string ProgramText::size(const Dim& dim) {
  std::string sum;
  for (const Dim::Term& term : dim.terms()) {
    const int64_t times = term.coefficient;
    sum += sum.empty() ? (times < 0 ? "-" : "") : (times < 0 ? " - " : " + ");
    if (times != 1 && times != -1) sum += str(times < 0 ? -times : times, " * ");
    sum += join(term.factors, " * ", [&](const Dim::Atom& factor) { return atom(factor); });
  }
  const int64_t rest = dim.constant_part();
  if (sum.empty()) return rest == INT64_MIN ? "INT64_MIN" : std::to_string(rest);
  if (rest != 0) sum += str(rest < 0 ? " - " : " + ", rest < 0 ? -rest : rest);
  return sum;
}

std::string ProgramText::exact_atom(const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::symbol) return symbol(atom.symbol);
  if (atom.kind == Dim::Atom::Kind::sum) return exact_size(atom.operands->first);
  const auto& [a, b] = *atom.operands;
  const bool divides = atom.kind == Dim::Atom::Kind::floor_div && !b.is_constant();
  return str(needs.use(divides ? "divide_sizes" : function_of(atom)), "(", exact_size(a), ", ", exact_size(b),
             divides ? ", &overflows)" : ")");
}

std::string ProgramText::exact_size(const Dim& dim) {
  std::string sum;
  const auto add = [&](const std::string& term) {
    sum = sum.empty() ? term : str(needs.use("add_sizes"), "(", sum, ", ", term, ", &overflows)");
  };
  if (dim.constant_part() != 0 || dim.terms().empty()) add(size(dim.constant_part()));
  for (const Dim::Term& term : dim.terms()) {
    std::string product = term.coefficient == 1 ? "" : size(term.coefficient);
    for (const Dim::Atom& factor : term.factors) {
      const std::string times = exact_atom(factor);
      product = product.empty() ? times : str(needs.use("multiply_sizes"), "(", product, ", ", times, ", &overflows)");
    }
    add(product);
  }
  return sum;
}

std::string ProgramText::factor(const Dim& dim) {
  const bool is_atom = dim.is_constant() ? dim.constant() >= 0 : dim.is_symbol();
  return is_atom ? size(dim) : str("(", size(dim), ")");
}

bool ProgramText::is_constant(BufferId buffer) const {
  const Buffer& literal = root_buffer(buffer);
  return literal.role == Role::literal && literal.elements.size() == 1;
}

std::string ProgramText::address(BufferId buffer) {
  use(buffer);
  return is_scalar(buffer) ? str("&", name(buffer)) : name(buffer);
}

int ProgramText::segment_of(BufferId buffer) const {
  const memory::Placement& placement = plan.sharing.placements[buffer];
  if (placement.storage.valid()) {
    return std::max(plan.sharing.storages[placement.storage].segment,
                    memory::segment_of(plan.sharing, placement.offset_bytes));
  }
  const Buffer& facts = program.buffers[buffer];
  return facts.role == Role::output ? memory::segment_of(plan.sharing, facts.dims) : 0;
}

std::string ProgramText::place(BufferId buffer) {
  using Table = memory::Place::Table;
  const memory::Place place = memory::place_of(program, plan, buffer);
  if (place.table == Table::literals) return literal_table(buffer);
  if (const BoundElements* elements = bound_elements(buffer)) return bound_table(buffer, *elements);
  const char* table = place.table == Table::params ? "params" : place.table == Table::outputs ? "outputs" : "segments";
  const std::string base = str("call->", table, "[", place.slot, "]");
  std::string at;
  if (place.storage.valid()) at = str(" + call->offsets[", place.storage.index, "]");
  const Dim offset = place.offset_bytes + place.start_bytes;
  if (!offset.is(0)) at += str(" + ", size(offset));
  const bool is_constant = place.table == Table::params && root_buffer(buffer).role != Role::param;
  const char* pointer = is_constant ? "(void*)" : "";
  return at.empty() ? str(pointer, base) : str("(void*)((char*)", pointer, base, at, ")");
}

std::string ProgramText::literal_table(BufferId buffer) {
  std::vector<std::string> elements;
  for (const Literal& element : program.buffers[buffer].elements) elements.push_back(memory_constant(needs, element));
  return table(buffer, elements);
}

const BoundElements* ProgramText::bound_elements(BufferId buffer) const {
  const Buffer& facts = program.buffers[buffer];
  if (facts.role != Role::param) return nullptr;
  const auto found = std::ranges::find(options_.bound, facts.slot, &BoundElements::slot);
  return found == options_.bound.end() ? nullptr : &*found;
}

std::string ProgramText::bound_table(BufferId buffer, const BoundElements& bound) {
  const DType dtype = program.buffers[buffer].dtype;
  if (!bound.table.empty()) {
    use_type(needs, dtype);
    tables.line("extern const ", memory_type(dtype), " ", bound.table, "[];");
    return bound.table;
  }
  const auto* bytes = static_cast<const std::byte*>(bound.elements);
  std::vector<std::string> elements;
  for (int64_t i = 0; i < bound.count; ++i) {
    elements.push_back(memory_constant(needs, Literal::load(dtype, bytes + i * inlay::size_bytes(dtype))));
  }
  return table(buffer, elements);
}

/// Lines of a few numbers, where they are many.
static std::string in_lines(const std::vector<std::string>& elements) {
  constexpr std::size_t kToALine = 8;
  if (elements.size() <= 2 * kToALine) return join(elements, ", ");
  std::string out;
  for (std::size_t i = 0; i < elements.size(); ++i) out += str(i % kToALine == 0 ? "\n    " : " ", elements[i], ",");
  return out + "\n";
}

void ProgramText::begin_tables() {
  if (!options_.section.empty()) {
    tables.comment("Where tables lie. A compiler that has other words for it is told them by -DINLAY_SECTION=...");
    tables.line("#ifndef INLAY_SECTION");
    tables.line("#ifdef __GNUC__");
    tables.line("#define INLAY_SECTION __attribute__((section(\"", options_.section, "\")))");
    tables.line("#else");
    tables.line("#define INLAY_SECTION");
    tables.line("#endif");
    tables.line("#endif");
  }
  tables.comment("Read through volatile pointers: gcc 12.2 copies some known numbers wrongly.");
}

std::string ProgramText::table(BufferId buffer, const std::vector<std::string>& elements) {
  const DType dtype = program.buffers[buffer].dtype;
  const std::string none = is_complex(dtype) ? "{0, 0}" : "0";  // C99 has no empty arrays
  use_type(needs, dtype);
  if (tables.text().empty()) begin_tables();
  const std::string table = names.take(str(name(buffer), "_elements"));
  tables.line("static const ", memory_type(dtype), " ", table, "[]", options_.section.empty() ? "" : " INLAY_SECTION",
              " = {", elements.empty() ? none : in_lines(elements), "};");
  return table;
}

std::string ProgramText::failure(SiteId site, std::span<const std::string> numbers) {
  uses.can_fail = true;
  std::string text = str("return ", needs.use("fail"), "(call, ", site.valid() ? static_cast<int64_t>(site.index) : -1);
  for (std::size_t i = 0; i < 4; ++i) text += str(", ", i < numbers.size() ? numbers[i] : "0");
  return text + ");";
}

std::string ProgramText::stop_flag() {
  uses.can_be_interrupted = true;
  return str("call->", writing ? "stop_while_writing" : "stop");
}

std::string ProgramText::look_up(const std::string& when) {
  return str("if (", when, when.empty() ? "" : " && ", needs.use("ended"), "(call, ", stop_flag(),
             ")) return INLAY_INTERRUPTED;");
}

}  // namespace inlay::c_backend
