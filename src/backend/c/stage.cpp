#include "backend/c/stage.h"

#include <algorithm>
#include <array>

#include "backend/c/scalar.h"
#include "kernel/live.h"
#include "kernel/stopping.h"
#include "kernel/text.h"
#include "ops/fold_merge.h"
#include "support/error.h"

namespace inlay::c_backend {

using kernel::Statement;
using Kind = Statement::Kind;

/// So many numbers are added one after the other; where there are more, by blocks.
constexpr int kBlockInOrder = 32;

StageText::StageText(ProgramText& p, Text& out, NameTable names, const kernel::Kernel& kernel,
                     const kernel::Stage& stage, const Place& place)
    : p_(p),
      out_(out),
      names_(std::move(names)),
      kernel_(kernel),
      stage_(stage),
      place_(place),
      nest_(kernel::loop_nest(p.program, kernel, stage, [&](std::size_t i) { return writes_unread(i); })),
      wanted_names_(static_cast<std::size_t>(stage.num_registers)),
      values_(static_cast<std::size_t>(stage.num_registers)) {
  std::vector<bool> live;
  for (const kernel::NestStatement& facts : nest_.statements) {
    facts_.push_back({facts});
    live.push_back(facts.live);
  }
  for (std::size_t i = 0; i < facts_.size(); ++i) facts_[i].accumulates = facts_[i].accumulates && is_alone(i);
  needed_ = kernel::read_registers(stage_, live);
  name_points();
  name_values();
}

// ---- what stands where

/// A loop over several axes has all their names.
void StageText::name_points() {
  const std::size_t first = place_.points.size();
  place_.points.resize(first + stage_.axes.size(), "0");
  for (const kernel::NestLoop& loop : nest_.loops) {
    if (loop.is_tile) continue;
    const auto name = [&](int axis) { return stage_.axes[static_cast<std::size_t>(axis) - first].name; };
    place_.points[static_cast<std::size_t>(loop.axis)] =
        names_.take(str(join(loop.merged, "", name), name(loop.axis)), "i");
  }
}

/// Does no other statement touch the element? Then nobody sees whether memory or a variable holds what it is meanwhile.
bool StageText::is_alone(std::size_t i) const {
  for (std::size_t k = 0; k < stage_.statements.size(); ++k) {
    const bool meets = statement(k).has_place() && p_.root(statement(k).buffer) == p_.root(statement(i).buffer);
    if (k != i && meets && !is_apart(i, k)) return false;
  }
  return true;
}

/// Are they so far from each other in one buffer wherever the loops are?
bool StageText::is_apart(std::size_t i, std::size_t k) const {
  const kernel::LinearMap &a = facts_[i].place, &b = facts_[k].place;
  if (statement(i).buffer != statement(k).buffer || !a.indices.empty() || !b.indices.empty()) return false;
  const Dim distance = a.base - b.base;
  return a.axes == b.axes && distance.is_constant() && !distance.is(0);
}

/// A scalar that nobody reads. Of a fold all states are, or none: they are written at once.
bool StageText::writes_unread(std::size_t i) const {
  return std::ranges::all_of(states_with(stage_, i), [&](const Statement& s) {
    return s.is_write() && !s.result.valid() && p_.is_unread_scalar(s.buffer);
  });
}

bool StageText::is_computed(kernel::RegisterId r) const {
  const auto made = std::ranges::find(stage_.statements, r, &Statement::result);
  return made != stage_.statements.end() && (made->kind == Kind::op || made->kind == Kind::cast);
}

/// A value is called as what it is loaded from or stored to; else as its op.
void StageText::name_values() {
  for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
    const Statement& s = statement(i);
    if (s.kind == Kind::store && s.combine == Combine::set && is_computed(s.operands[0])) {
      wanted_names_[s.operands[0].index] = str(p_.name(s.buffer), "_", s.operands[0].index);
    }
    if (!s.result.valid()) continue;
    std::string& wanted = wanted_names_[s.result.index];
    if (s.kind == Kind::load) wanted = p_.name(s.buffer);
    if (s.kind == Kind::fold) wanted = str(p_.name(s.buffer), "_now");
    if (s.kind == Kind::op) wanted = facts(s.op).name;
    if (s.kind == Kind::cast) wanted = dtype_name(s.dtype);
    wanted += str("_", s.result.index);
  }
}

// ---- loops

/// Outside of a loop may stand what only a point that exists is sure to have: nothing runs when a loop is empty.
std::string StageText::guard() {
  bool reads = false;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Facts& facts = facts_[i];
    const bool outside = facts.live && (facts.accumulates || facts.level < innermost());
    reads = reads || (outside && (statement(i).has_place() || statement(i).can_fail()));
  }
  std::vector<std::string> conditions;
  for (const kernel::NestLoop& loop : nest_.loops) {
    const bool has_points = loop.is_tile || (loop.extent.is_constant() && loop.extent.constant() > 0);
    if (reads && !has_points) conditions.push_back(str(p_.size(loop.extent), " > 0"));
  }
  return join(conditions, " && ");
}

/// Of a loop that folds floats: the clauses that let a C compiler fold in lanes, in another order. Empty where a point
/// may wait for another, or leave.
std::string StageText::lanes() {
  std::string clauses;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Statement& s = statement(i);
    if (!facts_[i].live || facts_[i].level != innermost()) continue;
    const bool is_plain_store = s.kind == Kind::store && s.combine == Combine::set && !s.predicate.valid();
    if (s.can_fail() || s.fold != Fold::none || (s.is_write() && (s.map.has_index() || s.result.valid()))) return "";
    if (!s.is_write() || is_plain_store) continue;
    const bool is_real = s.dtype == DType::f32 || s.dtype == DType::f64;
    if (!is_real || !facts_[i].accumulates) return "";
    const std::string combine = s.combine == Combine::add   ? "+"
                                : s.combine == Combine::mul ? "*"
                                                            : str(combine_name(s.combine), "_", suffix(s.dtype));
    clauses += str(clauses.empty() ? "" : " ", "reduction(", combine, " : ", facts_[i].sum, ")");
  }
  return clauses;
}

bool StageText::names_values_outside() const {
  if (nest_.loops.empty()) return true;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Facts& facts = facts_[i];
    const bool opens_variables = facts.accumulates || opens_hidden(i);
    if (facts.live && (facts.level == 0 || (opens_variables && facts.opened == 0))) return true;
  }
  return false;
}

void StageText::write() {
  const auto has_no_point = [](const kernel::NestLoop& loop) { return loop.extent.is(0); };
  if (std::ranges::none_of(facts_, &Facts::live) || std::ranges::any_of(nest_.loops, has_no_point)) return;
  const std::string condition = guard();
  if (condition.empty() && !names_values_outside()) return write_level(0);
  condition.empty() ? out_.open("") : out_.open("if (", condition, ")");
  write_level(0);
  out_.close();
}

void StageText::write_level(int level) {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (facts_[i].live && facts_[i].level == level) write_statement(i);
  }
  if (level == innermost()) return;
  const auto opens_here = [&](std::size_t i) {
    return facts_[i].live && facts_[i].accumulates && facts_[i].opened == level;
  };
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (opens_here(i)) open_sum(i);
    if (level == 0 && facts_[i].live && opens_hidden(i)) open_hidden(i);
  }
  write_loop(level);
  for (std::size_t k = 0; k < facts_.size(); ++k) {
    if (opens_here(k)) close_sum(k);
  }
}

void StageText::write_loop(int level) {
  const kernel::NestLoop& loop = nest_.loop(level);
  const std::string& i = place_.points[static_cast<std::size_t>(loop.axis)];
  const std::string begin = loop.is_tile ? place_.tile_begin : "0";
  const std::string end = loop.is_tile ? place_.tile_end : p_.size(loop.extent);
  if (level + 1 == innermost()) return write_innermost(loop, begin, end);
  out_.open("for (int64_t ", i, " = ", begin, "; ", i, " < ", end, "; ++", i, ")");
  if (level + 2 == innermost() && !kernel::is_short(kernel_)) out_.line(p_.look_up());
  const std::size_t wrapped_before = wrapped_.size();
  write_level(level + 1);
  wrapped_.resize(wrapped_before);
  out_.close();
}

/// Is it a loop of its own, around which nobody looks, and long?
bool StageText::looks_within() const {
  const auto has_loop = [](const kernel::Axis& axis) { return !axis.extent.is(1); };
  return innermost() == 1 && std::ranges::none_of(kernel_.outer, has_loop) && !kernel::is_short(kernel_);
}

/// Long sums go by blocks, so that their error grows with the logarithm of their length. A block is added up in lanes,
/// or one point after the other: 16 numbers a lane, as NumPy does, in the 32 bytes that compilers vectorize for
/// unasked. A loop that looks goes by blocks too, so that its points stay in lanes.
void StageText::write_innermost(const kernel::NestLoop& loop, const std::string& begin, const std::string& end) {
  constexpr int kNumbersOfLane = 16, kBytesOfLanes = 32;
  const std::string& i = place_.points[static_cast<std::size_t>(loop.axis)];
  const std::string clauses = lanes();
  std::vector<std::size_t> sums;
  int64_t widest = 1;
  for (std::size_t k = 0; k < facts_.size(); ++k) {
    if (facts_[k].parts.empty()) continue;
    sums.push_back(k);
    widest = std::max(widest, size_bytes(statement(k).dtype));
  }
  const bool looks = looks_within(), by_blocks = looks || !sums.empty();
  const std::string block = str(sums.empty()      ? kernel::kPointsBetweenLooks
                                : clauses.empty() ? kBlockInOrder
                                                  : kBytesOfLanes / widest * kNumbersOfLane);
  std::string from = begin, to = end;
  if (by_blocks) {
    from = names_.take(str(i, "_block"));
    out_.open("for (int64_t ", from, " = ", begin, "; ", from, " < ", end, "; ", from, " += ", block, ")");
    if (looks) {
      out_.line(p_.look_up(sums.empty() ? "" : str(from, " % ", kernel::kPointsBetweenLooks, " == 0")));
    }
    to = names_.take(str(i, "_end"));
    out_.line("const int64_t ", to, " = ", p_.needs.use("min_i64"), "(", from, " + ", block, ", ", end, ");");
  }
  if (!clauses.empty()) out_.line(p_.needs.lanes(), "(", clauses, ")");
  out_.open("for (int64_t ", i, " = ", from, "; ", i, " < ", to, "; ++", i, ")");
  const std::size_t wrapped_before = wrapped_.size();
  write_level(innermost());
  wrapped_.resize(wrapped_before);
  out_.close();
  for (std::size_t k : sums) {
    const std::string put = p_.needs.use(str("put_", suffix(statement(k).dtype)));
    const bool spans_loops = facts_[k].opened + 1 < innermost();  // whose rows may be short
    out_.line(put, "(&", facts_[k].parts, ", &", facts_[k].sum, ", ", to, " - ", from, ", ",
              spans_loops ? str(kBlockInOrder) : block, ");");
  }
  if (by_blocks) out_.close();
}

/// Is it a sum of floats over more points than one after the other loses little in?
bool StageText::is_long_sum(std::size_t i) const {
  const Statement& s = statement(i);
  const bool is_real = s.dtype == DType::f32 || s.dtype == DType::f64;
  const bool adds =
      s.combine == Combine::add && (s.fold == Fold::none || (s.fold == Fold::log_sum_exp && s.opens_fold()));
  if (!is_real || !adds || s.result.valid()) return false;
  Dim points = 1;
  for (int level = facts_[i].opened; level < innermost(); ++level) points = points * nest_.loop(level).extent;
  return !points.is_constant() || points.constant() > kBlockInOrder;
}

void StageText::open_sum(std::size_t i) {
  const Statement& s = statement(i);
  facts_[i].sum = names_.take(str(p_.name(s.buffer), "_so_far"));
  use_type(p_.needs, s.dtype);
  if (!is_long_sum(i)) return out_.line(memory_type(s.dtype), " ", facts_[i].sum, " = ", element(i), ";");
  // Exponentials are less of what is greatest so far: what was summed before the loop stays with them.
  const bool begins_anew = s.fold != Fold::log_sum_exp;
  out_.line(memory_type(s.dtype), " ", facts_[i].sum, " = ", begins_anew ? "0" : element(i), ";");
  facts_[i].parts = names_.take(str(p_.name(s.buffer), "_parts"));
  const std::string type = str("parts_", suffix(s.dtype));
  out_.line(p_.needs.use(type), " ", facts_[i].parts, ";");
  const std::string& parts = facts_[i].parts;
  // The first part too: a compiler may think that one is read before there are any.
  out_.line(parts, ".parts[0] = ", parts, ".height = ", parts, ".count = ", parts, ".points = 0;");
}

void StageText::close_sum(std::size_t i) {
  const Facts& facts = facts_[i];
  if (facts.parts.empty()) return out_.line(element(i), " = ", facts.sum, ";");
  const std::string all = p_.needs.use(str("all_", suffix(statement(i).dtype)));
  const bool began_anew = statement(i).fold != Fold::log_sum_exp;
  out_.line(element(i), began_anew ? " += " : " = ", all, "(&", facts.parts, ", ", facts.sum, ");");
}

// ---- statements

void StageText::define(const Statement& s, const std::string& text) {
  use_type(p_.needs, s.dtype);
  std::string& name = values_[s.result.index] = names_.take(wanted_names_[s.result.index]);
  out_.line("const ", value_type(s.dtype), " ", name, " = ", text, ";");
}

void StageText::write_statement(std::size_t i) {
  const Statement& s = statement(i);
  switch (s.kind) {
    case Kind::load:
    case Kind::literal:
    case Kind::axis:
    case Kind::size:
    case Kind::op:
    case Kind::cast: return write_value(s, i);
    case Kind::store:
    case Kind::fold: return write_store(i);
    case Kind::check: return write_check(s);
  }
}

void StageText::write_value(const Statement& s, std::size_t i) {
  std::string& name = values_[s.result.index];
  switch (s.kind) {
    case Kind::load:
      if (p_.is_constant(s.buffer)) {
        name = constant(p_.needs, p_.root_buffer(s.buffer).elements[0]);
        index_text(i);  // which may be checked
        return;
      }
      if (!needed_[s.result.index]) return static_cast<void>(index_text(i));
      if (is_unchanging(s)) {
        name = element(i);
        return;
      }
      return define(s, str(element(i), s.dtype == DType::boolean ? " != 0" : ""));
    case Kind::literal: name = constant(p_.needs, s.literal); return;
    case Kind::axis:
      name = point(s.axis, false);
      if (s.dtype != DType::i64) define(s, cast_text(p_.needs, name, DType::i64, s.dtype));
      return;
    case Kind::size:
      name = p_.factor(s.size);
      if (s.dtype != DType::i64) define(s, cast_text(p_.needs, name, DType::i64, s.dtype));
      return;
    case Kind::op:
    case Kind::cast: {
      std::vector<std::string> operands;
      for (kernel::RegisterId r : s.operands) operands.push_back(value(r));
      const DType dtype = nest_.register_dtypes[s.operands.back().index];
      if (s.kind == Kind::cast) return define(s, cast_text(p_.needs, operands[0], dtype, s.dtype));
      return define(s, op_text(p_.needs, s.op, dtype, operands));
    }
    case Kind::store:
    case Kind::fold:
    case Kind::check: break;
  }
  INLAY_CHECK(false, "a statement without a value");
}

/// A 0-d value that stays as it is in this kernel is its own name.
bool StageText::is_unchanging(const Statement& load) const {
  return p_.is_scalar(load.buffer) && load.dtype != DType::boolean && !load.can_fail() &&
         std::ranges::count(place_.written, p_.root(load.buffer)) == 0;
}

void StageText::write_check(const Statement& s) {
  if (const kernel::IndexTerm* index = s.index_to_check()) return void(wrapped(*index));
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i < s.operands.size(); ++i) numbers.push_back(value(s.operands[i]));
  out_.fail_if(str("!", value(s.operands[0])), p_.failure(s.site, numbers));
}

/// How FoldMerge computes with the texts of values.
struct StageText::Texts {
  Needs& needs;
  std::string number(const Literal& literal) { return constant(needs, literal); }
  std::string op(ScalarOp op, DType dtype, std::span<const std::string> operands) {
    return str("(", op_text(needs, op, dtype, operands), ")");
  }
  std::string cast(const std::string& x, DType from, DType to) { return cast_text(needs, x, from, to); }
};

/// All states of what was met so far and of this point, then what they were becomes that.
void StageText::fold_states(std::size_t i) {
  const FoldFacts& fold = facts(statement(i).fold);
  std::vector<DType> dtypes;
  std::vector<std::string> now, x, targets;
  for (std::size_t k = i; k < i + fold.num_stored; ++k) {
    dtypes.push_back(statement(k).dtype);
    x.push_back(value(statement(k).operands[0]));
    targets.push_back(facts_[k].accumulates ? facts_[k].sum : element(k));
    now.push_back(dtypes.back() == DType::boolean ? str("(", targets.back(), " != 0)") : targets.back());
  }
  dtypes = state_dtypes(statement(i).fold, dtypes);
  Texts emit{p_.needs};
  FoldMerge<std::string, Texts> merge(statement(i).fold, dtypes, emit);
  std::vector<std::string> hidden = facts_[i].hidden;
  if (nest_.loops.empty()) {  // of one point
    const std::vector<std::string> nothing = merge.nothing();
    hidden.assign(nothing.begin() + static_cast<std::ptrdiff_t>(fold.num_stored), nothing.end());
  }
  now.insert(now.end(), hidden.begin(), hidden.end());
  const std::vector<std::string> next = merge.merged(now, merge.lifted(x));
  targets.insert(targets.end(), facts_[i].hidden.begin(), facts_[i].hidden.end());
  std::vector<std::string> names;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    use_type(p_.needs, dtypes[k]);
    names.push_back(names_.take(str(p_.name(statement(i).buffer), "_", fold.states[k].name)));
    out_.line("const ", value_type(dtypes[k]), " ", names.back(), " = ", next[k], ";");
  }
  for (std::size_t k = 0; k < targets.size(); ++k) out_.line(targets[k], " = ", names[k], ";");
}

/// What fold_states does in one exponential and mostly no product, with the sum in parts (is_long_sum): what was summed
/// is made smaller where a greater number comes, before the greatest knows of it. (What is -inf adds nothing, be it the
/// greatest so far.)
void StageText::add_exponential(std::size_t i) {
  const Statement& sums = statement(i);
  const Statement& greatest = statement(i + 1);
  const auto state = [&](std::size_t k) { return facts_[k].accumulates ? facts_[k].sum : element(k); };
  const std::string sum = state(i), was = state(i + 1), x = value(sums.operands[0]);
  const auto exponential = [&](const std::string& a, const std::string& b) {
    const std::string difference = op_text(p_.needs, ScalarOp::sub_, greatest.dtype, std::array{a, b});
    const std::string exponential = op_text(p_.needs, ScalarOp::exp_, greatest.dtype, std::array{difference});
    return cast_text(p_.needs, exponential, greatest.dtype, sums.dtype);
  };
  const std::string nothing = constant(p_.needs, identity_of(Combine::max, greatest.dtype));
  out_.open("if (", x, " > ", was, ")");
  std::string factor = exponential(was, x);
  if (const std::string& parts = facts_[i].parts; !parts.empty()) {
    const std::string name = names_.take(str(sum, "_factor"));
    out_.line("const ", value_type(sums.dtype), " ", name, " = ", factor, ";");
    out_.line(p_.needs.use(str("scale_", suffix(sums.dtype))), "(&", parts, ", ", name, ");");
    factor = name;
  }
  out_.line(sum, " = ", sum, " * ", factor, " + ", constant(p_.needs, Literal::of(sums.dtype, 1)), ";");
  out_.close();
  out_.open("else if (", x, " != ", nothing, ")");
  out_.line(sum, " += ", exponential(x, was), ";");
  out_.close();
}

void StageText::open_hidden(std::size_t i) {
  const Statement& s = statement(i);
  const FoldFacts& fold = facts(s.fold);
  const std::vector<DType> dtypes = state_dtypes(s.fold, std::vector(fold.num_stored, s.dtype));
  for (std::size_t k = fold.num_stored; k < fold.states.size(); ++k) {
    use_type(p_.needs, dtypes[k]);
    const std::string& name =
        facts_[i].hidden.emplace_back(names_.take(str(p_.name(s.buffer), "_", fold.states[k].name, "_so_far")));
    const Literal nothing = identity_of(fold.states[k].combine, dtypes[k]);
    out_.line(value_type(dtypes[k]), " ", name, " = ", constant(p_.needs, nothing), ";");
  }
}

void StageText::write_store(std::size_t i) {
  const Statement& s = statement(i);
  if (s.fold != Fold::none) {
    if (s.opens_fold()) return s.fold == Fold::log_sum_exp ? add_exponential(i) : fold_states(i);
    if (s.fold != Fold::log_sum_exp) return;  // done with the first
  }
  const std::size_t wrapped_before = wrapped_.size();
  if (s.predicate.valid()) out_.open("if (", value(s.predicate), ")");
  const std::string place = facts_[i].accumulates ? facts_[i].sum : element(i);
  if (s.combine == Combine::set) {
    out_.line(place, " = ", value(s.operands[0]), ";");
  } else {
    combine_into(place, s);
  }
  if (s.predicate.valid()) {
    out_.close();
    wrapped_.resize(wrapped_before);
  }
  if (s.result.valid()) define(s, str(place, s.dtype == DType::boolean ? " != 0" : ""));
}

void StageText::combine_into(const std::string& place, const Statement& s) {
  const std::string& added = value(s.operands[0]);
  const bool is_plain =
      s.dtype == DType::f32 || s.dtype == DType::f64 || s.dtype == DType::u32 || s.dtype == DType::u64;
  if (is_plain && (s.combine == Combine::add || s.combine == Combine::mul)) {
    return out_.line(place, s.combine == Combine::add ? " += " : " *= ", added, ";");
  }
  const std::vector<std::string> operands = {s.dtype == DType::boolean ? str("(", place, " != 0)") : place, added};
  out_.line(place, " = ", op_text(p_.needs, combine_op(s.combine), s.dtype, operands), ";");
}

// ---- places

std::string StageText::element(std::size_t i) {
  const BufferId buffer = statement(i).buffer;
  const std::string index = index_text(i);
  p_.use(buffer);
  if (!p_.is_scalar(buffer)) return str(p_.name(buffer), "[", index, "]");
  if (std::ranges::count(place_.by_address, p_.root(buffer)) == 0) return p_.name(buffer);
  const bool has_parts = is_complex(p_.program.buffers[buffer].dtype);  // .re of what it points at
  return str(has_parts ? "(*" : "*", p_.name(buffer), has_parts ? ")" : "");
}

/// A term of a sum, with its sign.
static void add_term(std::string& sum, std::string term, bool minus = false) {
  if (sum.empty()) {
    sum = (minus ? "-" : "") + std::move(term);
  } else {
    sum += (minus ? " - " : " + ") + std::move(term);
  }
}

std::string StageText::index_text(std::size_t i) {
  const bool in_tile = kernel_.is_tiled() && kernel_.is_local(statement(i).buffer);
  std::string sum;
  const auto add = [&](const Dim& stride, const std::string& what) {
    if (stride.is(1) || stride.is(-1)) return add_term(sum, what, stride.is(-1));
    if (stride.is_constant() && stride.constant() < 0) return add_term(sum, str(-stride.constant(), " * ", what), true);
    add_term(sum, str(p_.factor(stride), " * ", what));
  };
  const kernel::LinearMap& place = facts_[i].place;
  for (const auto& [axis, stride] : place.axes) {
    const std::string at = point(axis, in_tile);
    if (at != "0") add(stride, at);
  }
  for (const auto& [index, stride] : place.indices) add(stride, wrapped(index));
  if (place.base.is(0)) return sum.empty() ? "0" : sum;
  if (sum.empty()) return p_.size(place.base);
  if (place.base.is_constant()) {
    const int64_t base = place.base.constant();
    return str(sum, base < 0 ? " - " : " + ", base < 0 ? -base : base);
  }
  return str(p_.size(place.base), sum.starts_with("-") ? " - " : " + ", sum.starts_with("-") ? sum.substr(1) : sum);
}

/// Where we are on an axis; in a buffer of which each tile has its own, from where the tile begins.
std::string StageText::point(int axis, bool in_tile) {
  const std::string& at = place_.points[static_cast<std::size_t>(axis)];
  if (!in_tile || axis != kernel_.tiled_axis()) return at;
  return str("(", at, " - ", place_.tile_begin, ")");
}

/// An index that counts from the front, and is in its bounds. The same with the same extent is looked at once.
std::string StageText::wrapped(const kernel::IndexTerm& index) {
  if (index.bounds == kernel::Bounds::proved)
    return str(nest_.register_dtypes[index.index.index] == DType::u64 ? "(int64_t)" : "", value(index.index));
  for (const auto& [known, name] : wrapped_) {
    if (known.index == index.index && known.extent == index.extent) return name;
  }
  const std::string name = names_.take(str(value(index.index), "_at"), "at");
  const std::string extent = p_.size(index.extent);
  out_.line("int64_t ", name, " = ", nest_.register_dtypes[index.index.index] == DType::u64 ? "(int64_t)" : "",
            value(index.index), ";");
  if (index.bounds == kernel::Bounds::checked_before) {
    out_.line("if (", name, " < 0) ", name, " += ", extent, ";");
  } else {
    const std::vector<std::string> numbers = {value(index.index), extent};
    out_.fail_if(str(p_.needs.use("is_outside"), "(&", name, ", ", extent, ")"), p_.failure(index.site, numbers));
  }
  wrapped_.emplace_back(index, name);
  return name;
}

}  // namespace inlay::c_backend
