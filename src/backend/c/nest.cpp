#include "backend/c/nest.h"

#include <algorithm>

#include "kernel/live.h"

namespace inlay::c_backend {

using kernel::Statement;
using Kind = Statement::Kind;

NestText::NestText(ProgramText& program, Text& text, NameTable free_names, const kernel::Kernel& in,
                   const kernel::Stage& of, const KernelPlace& at)
    : p(program),
      out(text),
      names(std::move(free_names)),
      kernel(in),
      stage(of),
      place(at),
      loops(kernel::loop_nest(p.program, in, of, [&](std::size_t i) { return writes_unread(i); })),
      wanted_names_(static_cast<std::size_t>(of.num_registers)),
      values_(static_cast<std::size_t>(of.num_registers)) {
  std::vector<bool> live;
  for (const kernel::NestStatement& found : loops.statements) {
    facts.push_back({found});
    live.push_back(found.live);
  }
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i].accumulates = facts[i].accumulates && is_alone(i);
  needed_ = kernel::read_registers(stage, live);
  name_points();
  name_values();
}

/// A scalar that nobody reads. Of a fold all states are, or none: they are written at once.
bool NestText::writes_unread(std::size_t i) const {
  return std::ranges::all_of(states_with(stage, i), [&](const Statement& s) {
    return s.is_write() && !s.result.valid() && p.is_unread_scalar(s.buffer);
  });
}

/// Does no other statement touch the element? Then nobody sees whether memory or a variable holds what it is meanwhile.
bool NestText::is_alone(std::size_t i) const {
  for (std::size_t k = 0; k < stage.statements.size(); ++k) {
    const bool meets = statement(k).has_place() && p.root(statement(k).buffer) == p.root(statement(i).buffer);
    if (k != i && meets && !is_apart(i, k)) return false;
  }
  return true;
}

/// Are they so far from each other in one buffer wherever the loops are?
bool NestText::is_apart(std::size_t i, std::size_t k) const {
  const kernel::LinearMap &a = facts[i].place, &b = facts[k].place;
  if (statement(i).buffer != statement(k).buffer || !a.indices.empty() || !b.indices.empty()) return false;
  const Dim distance = a.base - b.base;
  return a.axes == b.axes && distance.is_constant() && !distance.is(0);
}

/// A loop over several axes has all their names.
void NestText::name_points() {
  const std::size_t first = place.points.size();
  place.points.resize(first + stage.axes.size(), "0");
  for (const kernel::NestLoop& loop : loops.loops) {
    if (loop.is_tile) continue;
    const auto name = [&](int axis) { return stage.axes[static_cast<std::size_t>(axis) - first].name; };
    place.points[static_cast<std::size_t>(loop.axis)] =
        names.take(str(join(loop.merged, "", name), name(loop.axis)), "i");
  }
}

bool NestText::is_computed(kernel::RegisterId r) const {
  const Statement* made = kernel::maker_of(stage, r);
  return made && (made->kind == Kind::op || made->kind == Kind::cast);
}

/// A value is called as what it is loaded from or stored to; else as its op.
void NestText::name_values() {
  for (std::size_t i = 0; i < stage.statements.size(); ++i) {
    const Statement& s = statement(i);
    if (s.sets() && is_computed(s.operands[0])) {
      wanted_names_[s.operands[0].index] = str(p.name(s.buffer), "_", s.operands[0].index);
    }
    if (!s.result.valid()) continue;
    std::string& wanted = wanted_names_[s.result.index];
    if (s.kind == Kind::load) wanted = p.name(s.buffer);
    if (s.kind == Kind::fold) wanted = str(p.name(s.buffer), "_now");
    if (s.kind == Kind::op) wanted = inlay::facts(s.op).name;
    if (s.kind == Kind::cast) wanted = dtype_name(s.dtype);
    wanted += str("_", s.result.index);
  }
}

void NestText::define(const Statement& s, const std::string& text) {
  use_type(p.needs, s.dtype);
  std::string& name = values_[s.result.index] = names.take(wanted_names_[s.result.index]);
  out.line("const ", value_type(s.dtype), " ", name, " = ", text, ";");
}

/// Where we are on an axis; in a buffer of which each tile has its own, from where the tile begins.
std::string NestText::point(int axis, bool in_tile) const {
  const std::string& at = place.points[static_cast<std::size_t>(axis)];
  if (!in_tile || axis != kernel.tiled_axis()) return at;
  return str("(", at, " - ", place.tile_begin, ")");
}

std::string NestText::wrapped(const kernel::IndexTerm& index) {
  if (index.bounds == kernel::Bounds::proved)
    return str(dtype(index.index) == DType::u64 ? "(int64_t)" : "", value(index.index));
  for (const auto& [known, name] : wrapped_) {
    if (known.index == index.index && known.extent == index.extent) return name;
  }
  const std::string name = names.take(str(value(index.index), "_at"), "at");
  const std::string extent = p.size(index.extent);
  out.line("int64_t ", name, " = ", dtype(index.index) == DType::u64 ? "(int64_t)" : "", value(index.index), ";");
  if (index.bounds == kernel::Bounds::checked_before) {
    out.line("if (", name, " < 0) ", name, " += ", extent, ";");
  } else {
    const std::vector<std::string> numbers = {value(index.index), extent};
    const std::string test = str(p.needs.use("is_outside"), "(&", name, ", ", p.size(index.num_points()), ")");
    out.fail_if(test, p.failure(index.site, numbers));
  }
  wrapped_.emplace_back(index, name);
  return name;
}

/// A term of a sum, with its sign.
static void add_term(std::string& sum, std::string term, bool minus = false) {
  if (sum.empty()) {
    sum = (minus ? "-" : "") + std::move(term);
  } else {
    sum += (minus ? " - " : " + ") + std::move(term);
  }
}

std::string NestText::index_text(std::size_t i) {
  const bool in_tile = kernel.is_tiled() && kernel.is_local(statement(i).buffer);
  std::string sum;
  const auto add = [&](const Dim& stride, const std::string& what) {
    if (stride.is(1) || stride.is(-1)) return add_term(sum, what, stride.is(-1));
    if (stride.is_constant() && stride.constant() < 0) return add_term(sum, str(-stride.constant(), " * ", what), true);
    add_term(sum, str(p.factor(stride), " * ", what));
  };
  const kernel::LinearMap& map = facts[i].place;
  for (const auto& [axis, stride] : map.axes) {
    const std::string at = point(axis, in_tile);
    if (at != "0") add(stride, at);
  }
  for (const auto& [index, stride] : map.indices) add(stride, wrapped(index));
  if (map.base.is(0)) return sum.empty() ? "0" : sum;
  if (sum.empty()) return p.size(map.base);
  if (map.base.is_constant()) {
    const int64_t base = map.base.constant();
    return str(sum, base < 0 ? " - " : " + ", base < 0 ? -base : base);
  }
  return str(p.size(map.base), sum.starts_with("-") ? " - " : " + ", sum.starts_with("-") ? sum.substr(1) : sum);
}

std::string NestText::element(std::size_t i) {
  const BufferId buffer = statement(i).buffer;
  const std::string index = index_text(i);
  p.use(buffer);
  if (!p.is_scalar(buffer)) return str(p.name(buffer), "[", index, "]");
  if (std::ranges::count(place.by_address, p.root(buffer)) == 0) return p.name(buffer);
  const bool has_parts = is_complex(p.program.buffers[buffer].dtype);  // .re of what it points at
  return str(has_parts ? "(*" : "*", p.name(buffer), has_parts ? ")" : "");
}

}  // namespace inlay::c_backend
