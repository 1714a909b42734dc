#include "kernel/formula.h"

#include <algorithm>
#include <map>
#include <optional>

#include "kernel/visit.h"

namespace inlay::kernel {
namespace {

using Binds = Expression::Binds;
using Kind = Statement::Kind;

constexpr int kFewOps = 4;            // the most ops of a scalar that is shown where it is read
constexpr int kLongEnoughToName = 2;  // ops of a value that is used more than once

Expression atom(std::string text) { return {std::move(text), Binds::atom, 0}; }

std::string within(const Expression& e, Binds at_least) { return e.binds < at_least ? str("(", e.text, ")") : e.text; }

Expression infix(const Expression& a, std::string_view sign, const Expression& b, Binds binds, bool is_associative) {
  const auto next = static_cast<Binds>(static_cast<int>(binds) + 1);
  const int ops = a.ops + b.ops + 1;
  const bool adds = sign == " + ", subtracts = sign == " - ";
  if ((adds && b.text[0] == '-') || (subtracts && b.text[0] == '-' && b.binds >= Binds::product))
    return {str(within(a, binds), adds ? " - " : " + ", b.text.substr(1)), binds, ops};
  // Python parses `a & b == c` in another order.
  const Binds minimum = binds == Binds::logic ? Binds::sum : binds;
  return {str(within(a, minimum), sign, within(b, is_associative ? minimum : std::max(next, minimum))), binds, ops};
}

std::string literal_text(const Literal& literal) {
  if (literal.dtype == DType::f64 || literal.dtype == DType::f32) return str(literal.f);
  return literal.to_text();
}

/// The ops that have a sign of their own, between two operands.
struct Sign {
  ScalarOp op;
  std::string_view text;
  Binds binds;
  bool is_associative;
};
constexpr Sign kSigns[] = {
    {ScalarOp::add_, " + ", Binds::sum, true},           {ScalarOp::sub_, " - ", Binds::sum, false},
    {ScalarOp::mul_, "*", Binds::product, true},         {ScalarOp::div_, "/", Binds::product, false},
    {ScalarOp::floor_div_, "//", Binds::product, false}, {ScalarOp::mod_, "%", Binds::product, false},
    {ScalarOp::pow_, "**", Binds::power, false},         {ScalarOp::eq_, " == ", Binds::comparison, false},
    {ScalarOp::ne_, " != ", Binds::comparison, false},   {ScalarOp::lt_, " < ", Binds::comparison, false},
    {ScalarOp::le_, " <= ", Binds::comparison, false},   {ScalarOp::gt_, " > ", Binds::comparison, false},
    {ScalarOp::ge_, " >= ", Binds::comparison, false},   {ScalarOp::and_, " & ", Binds::logic, true},
    {ScalarOp::or_, " | ", Binds::logic, false},         {ScalarOp::xor_, " ^ ", Binds::logic, false},
};

Expression applied(ScalarOp op, const std::vector<Expression>& x) {
  for (const Sign& sign : kSigns) {
    if (sign.op == op) return infix(x[0], sign.text, x[1], sign.binds, sign.is_associative);
  }
  switch (op) {
    case ScalarOp::neg_: return {"-" + within(x[0], Binds::sign), Binds::sign, x[0].ops + 1};
    case ScalarOp::not_: return {"~" + within(x[0], Binds::atom), Binds::sign, x[0].ops + 1};
    case ScalarOp::square_: return {within(x[0], Binds::atom) + "**2", Binds::power, x[0].ops + 1};
    case ScalarOp::reciprocal_: return infix(atom("1"), "/", x[0], Binds::product, false);
    default: break;
  }
  int ops = 1;
  for (const Expression& e : x) ops += e.ops;
  const std::string_view name = op == ScalarOp::select_ ? "where" : facts(op).name;
  return {str(name, "(", join(x, ", ", [](const Expression& e) { return e.text; }), ")"), Binds::atom, ops};
}

/// Returns the text of a literal buffer: its one number, or its first ones.
std::string elements_text(const Buffer& buffer) {
  const std::vector<Literal>& all = buffer.elements;
  if (all.empty()) return "[]";
  if (std::ranges::all_of(all, [&](const Literal& each) { return each == all[0]; })) return literal_text(all[0]);
  constexpr std::size_t kShown = 2;
  const std::span<const Literal> shown(all.data(), std::min(all.size(), kShown));
  return str("[", join(shown, ", ", literal_text), all.size() > kShown ? ", ...]" : "]");
}

template <class Visit>
void for_each_stage(const KernelProgram& program, Visit visit) {
  for (const Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (kernel == nullptr) continue;
    for (const Stage& stage : kernel->stages) visit(*kernel, stage);
  }
}

/// The formulas of one stage. For 0-d arithmetic, where `num_named` is null, each value is shown in full up to a few
/// operations, and beyond that by the name that it is stored under.
class StageFormulas {
 public:
  StageFormulas(const Vocabulary& words, const Kernel& kernel, const Stage& stage, int* num_named)
      : words_(words), kernel_(kernel), stage_(stage), num_named_(num_named) {
    const auto count = static_cast<std::size_t>(stage.num_registers);
    registers_.resize(count);
    uses_.assign(count, 0);
    stored_by_.assign(count, nullptr);
    made_at_.assign(count, 0);
    for (const Statement& s : stage.statements) look_at(s);
  }

  std::vector<std::string> formulas() {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& s = stage_.statements[i];
      if (s.kind == Kind::check) continue;
      if (!s.is_write()) {
        define(s.result, value(s));
      } else if (s.kind == Kind::store && stored_by_[s.operands[0].index] == &s) {
        continue;  // it was shown where its value was made
      } else {
        write(s, states_with(stage_, i).back());
      }
    }
    return std::move(lines_);
  }

  /// Returns the expression of the register that the stage's one store sets.
  const Expression& at(RegisterId r) const { return registers_[r.index]; }

 private:
  void look_at(const Statement& s) {
    if (s.kind == Kind::check) return;
    for_each_register(s, [&](RegisterId r) { ++uses_[r.index]; });
    if (s.result.valid()) made_at_[s.result.index] = ++num_made_;
    if (!s.always_sets() || stored_by_[s.operands[0].index] != nullptr) return;
    const bool is_place_known = std::ranges::none_of(s.map.subscripts, [&](const Subscript& subscript) {
      return subscript.index && made_at_[subscript.index->index.index] > made_at_[s.operands[0].index];
    });
    if (is_place_known) stored_by_[s.operands[0].index] = &s;
  }

  Expression place(const Statement& s) const {
    return place_text(words_, kernel_, stage_, s.buffer, s.map, [this](RegisterId r) { return at(r); });
  }

  Expression value(const Statement& s) const {
    switch (s.kind) {
      case Kind::load: return load(s);
      case Kind::literal: return number(literal_text(s.literal));
      case Kind::axis: return atom(words_.names().axes(kernel_, stage_)[static_cast<std::size_t>(s.axis)]);
      case Kind::size: return {s.size.to_text(words_.names().symbols), Binds::sum, 0};
      case Kind::cast: return at(s.operands[0]);
      case Kind::op: {
        std::vector<Expression> operands;
        for (RegisterId r : s.operands) operands.push_back(at(r));
        return applied(s.op, operands);
      }
      case Kind::store:
      case Kind::fold:
      case Kind::check: break;
    }
    return {};
  }

  static Expression number(std::string text) {
    const Binds binds = text[0] == '-' ? Binds::sign : Binds::atom;
    return {std::move(text), binds, 0};
  }

  Expression load(const Statement& s) const {
    const Buffer& buffer = words_.program().buffers[s.buffer];
    if (buffer.role == Role::scalar) return words_.number(s.buffer);
    if (buffer.role != Role::literal || !words_.name(s.buffer).starts_with('$')) return place(s);
    const bool is_one =
        s.map.rank() == 1 && s.map.subscripts[0].is_constant() && s.map.subscripts[0].base.is_constant();
    if (is_one)
      return number(literal_text(buffer.elements[static_cast<std::size_t>(s.map.subscripts[0].base.constant())]));
    return number(elements_text(buffer));
  }

  /// Defines the register: by a name if it is stored, or used more than once and not short.
  void define(RegisterId r, Expression e) {
    const Statement* store = stored_by_[r.index];
    const bool is_named = num_named_ == nullptr ? e.ops > kFewOps : uses_[r.index] > 1 && e.ops > 0;
    if (store != nullptr) {
      const Expression target = place(*store);
      if (!stands_where_read(*store)) line(target.text, " = ", e.text);
      if (is_named) e = target;
    } else if (is_named && num_named_ != nullptr && e.ops >= kLongEnoughToName) {
      const std::string name = free_name();
      line(name, " = ", e.text);
      e = atom(name);
    }
    registers_[r.index] = std::move(e);
  }

  /// Is it shown by its readers, so that it needs no formula in a kernel?
  bool stands_where_read(const Statement& s) const {
    return !kernel_.is_scalar() && s.always_sets() && words_.stands_where_read(s.buffer);
  }

  void write(const Statement& s, const Statement& last_state) {
    if (stands_where_read(s)) return;
    const Expression& e = at(s.operands[0]);
    const Expression target = place(s);
    if (s.kind == Kind::fold) return fold(s, last_state, target.text);
    const std::string condition = s.predicate.valid() ? " where " + at(s.predicate).text : "";
    if (s.sets()) return line(target.text, " = ", e.text + condition);
    const Combine combine = s.combine();
    line(target.text,
         combine == Combine::add   ? " += "
         : combine == Combine::mul ? " *= "
                                   : " = ",
         (combine == Combine::add || combine == Combine::mul
              ? e.text
              : str(combine_name(combine), "(", target.text, ", ", e.text, ")")) +
             condition);
  }

  /// A state that is not the fold's first is shown as what it is by itself.
  void fold(const Statement& s, const Statement& last_state, const std::string& target) {
    const Fold shown = s.opens_fold() ? s.fold : fold_by(s.combine());
    const std::string of[] = {at((s.opens_fold() ? last_state : s).operands[0]).text};
    line(target, s.map.has_index() ? " += " : " = ",
         str(s.result.valid() ? "running " : "", with_numbers(facts(shown).formula, of)));
    if (s.result.valid()) registers_[s.result.index] = atom(target);
  }

  void line(const std::string& left, std::string_view sign, const std::string& right) {
    if (left != right) lines_.push_back(str(left, sign, right));
  }

  std::string free_name() {
    for (;;) {
      std::string name = str("t", ++*num_named_);
      if (!words_.is_taken(name)) return name;
    }
  }

  const Vocabulary& words_;
  const Kernel& kernel_;
  const Stage& stage_;
  int* num_named_;  // over all stages of the kernel
  std::vector<Expression> registers_;
  std::vector<int> uses_;
  std::vector<int> made_at_;  // their order
  int num_made_ = 0;
  std::vector<const Statement*> stored_by_;  // the first store that sets it, if its element is known by then
  std::vector<std::string> lines_;
};

/// The elements that a subscript names: `length` from `first` on; nothing if the number depends on sizes.
struct Extent {
  Dim first;
  int64_t length = 1;
};
std::optional<Extent> extent_of(const Subscript& s, std::span<const Dim> extents) {
  Extent out = {.first = s.base};
  for (const auto& [axis, step] : s.axes) {
    const Dim& extent = extents[static_cast<std::size_t>(axis)];
    if (!step.is_constant() || !extent.is_constant() || extent.constant() < 1) return std::nullopt;
    const int64_t reach = step.constant() * (extent.constant() - 1);
    if (reach < 0) out.first = out.first + reach;
    out.length += std::abs(reach);
  }
  if (!s.index) return out;
  if (s.index->step != 1 || !s.index->extent.is_constant()) return std::nullopt;
  out.length += s.index->extent.constant() - 1;
  return out;
}

/// Do the axes cover `dim` contiguous elements, the last axis the fastest?
bool passes_all(const Subscript& s, std::span<const Dim> extents, const Dim& dim) {
  if (s.index || !s.base.is(0)) return false;
  Dim step = 1;
  for (std::size_t i = s.axes.size(); i-- > 0;) {
    if (!(step == s.axes[i].step)) return false;
    step = step * extents[static_cast<std::size_t>(s.axes[i].axis)];
  }
  return step == dim;
}

class PlaceText {
 public:
  PlaceText(const Vocabulary& words, const Kernel& kernel, const Stage& stage,
            const std::function<Expression(RegisterId)>& index)
      : words_(words), extents_(axis_extents(kernel, stage)), axes_(words.names().axes(kernel, stage)), index_(index) {}

  Expression text(BufferId buffer, const AccessMap& map) const {
    std::string name = words_.name(buffer);
    std::vector<Dim> dims = words_.program().buffers[buffer].dims;
    if (words_.program().buffers[buffer].role == Role::scalar) return atom(name);
    std::vector<Subscript> subscripts = map.subscripts;
    if (map.rank() == 1) {
      const auto touched = extent_of(subscripts[0], extents_);
      if (const NamedPart* part = touched ? words_.part(buffer, touched->first, touched->length) : nullptr) {
        name = part->name;
        dims[0] = part->length.is_constant() ? part->length : touched->length;
        subscripts[0].base = subscripts[0].base - part->first;
      }
    }
    std::vector<std::string> texts;
    for (std::size_t d = 0; d < subscripts.size(); ++d) texts.push_back(subscript(subscripts[d], dims[d]));
    const bool is_all = std::ranges::all_of(texts, [](const std::string& t) { return t == ":"; });
    if (is_all) return atom(name + (is_transposed(subscripts) ? ".T" : ""));
    return atom(str(name, "[", join(texts, ", "), "]"));
  }

 private:
  static bool is_transposed(const std::vector<Subscript>& s) {
    const bool has_two = s.size() == 2 && s[0].axes.size() == 1 && s[1].axes.size() == 1;
    return has_two && s[0].axes[0].axis > s[1].axes[0].axis;
  }

  std::string subscript(const Subscript& s, const Dim& dim) const {
    const auto text = [&](const Dim& d) { return d.to_text(words_.names().symbols); };
    if (s.is_constant()) return dim.is(1) ? ":" : text(s.base);
    if (s.axes.size() > 1 && passes_all(s, extents_, dim)) return ":";
    if (!s.index && s.axes.size() == 1 && s.axes[0].step.is_constant()) {
      const int axis = s.axes[0].axis;
      const int64_t step = s.axes[0].step.constant();
      const Dim& extent = extents_[static_cast<std::size_t>(axis)];
      if (step == 1 && s.base.is(0)) return extent == dim ? ":" : ":" + text(extent);
      if (step == 1) return str(text(s.base), ":", s.base + extent == dim ? "" : text(s.base + extent));
      if (step == -1) return s.base == extent - 1 && extent == dim ? "::-1" : str(text(s.base), "::-1");
      return str(s.base.is(0) ? "" : text(s.base), "::", step);
    }
    std::string sum;
    const auto add = [&](const std::string& term) { sum += sum.empty() ? term : " + " + term; };
    if (!s.base.is(0)) add(text(s.base));
    for (const AxisTerm& term : s.axes) {
      const std::string step = term.step.is(1) ? "" : term.step.to_factor_text(words_.names().symbols) + "*";
      add(step + axes_[static_cast<std::size_t>(term.axis)]);
    }
    if (s.index) add(str(s.index->step == 1 ? "" : str(s.index->step, "*"), index_(s.index->index).text));
    return sum;
  }

  const Vocabulary& words_;
  std::vector<Dim> extents_;
  std::vector<std::string> axes_;
  const std::function<Expression(RegisterId)>& index_;
};

}  // namespace

Vocabulary::Vocabulary(const KernelProgram& program, const std::vector<NamedPart>& parts)
    : program_(program), names_(program), parts_(parts), num_writers_(program.buffers.size(), 0) {
  for (const Step& step : program.steps) {
    for (BufferId b : access_of(program, step).writes) ++num_writers_[b];
  }
  find_numbers();
  name_by_places();
}

/// Is it a scalar that has no name of the user's, and that only one step makes?
bool Vocabulary::is_made_once(BufferId scalar) const {
  return program_.buffers[scalar].role == Role::scalar && num_writers_[scalar] == 1 &&
         names_.buffers[scalar].starts_with('$');
}

void Vocabulary::find_numbers() {
  numbers_ = IdMap<BufferId, Expression>(program_.buffers.size());
  for_each_stage(program_, [&](const Kernel& kernel, const Stage& stage) {
    if (!axis_extents(kernel, stage).empty()) return;
    StageFormulas values(*this, kernel, stage, nullptr);
    values.formulas();
    for (const Statement& s : stage.statements) {
      const bool is_told = s.always_sets() && is_made_once(s.buffer);
      // A scalar with a name of the user's is shown by it; others as their expression.
      if (is_told && values.at(s.operands[0]).ops <= kFewOps) numbers_[s.buffer] = values.at(s.operands[0]);
    }
  });
}

/// A scalar that is the only value stored to a named place, unchanged, gets the name of that place.
void Vocabulary::name_by_places() {
  std::map<std::string, BufferId> numbers;
  for (BufferId b : ids<BufferId>(program_.buffers.size())) {
    if (is_made_once(b)) numbers.emplace(names_.buffers[b], b);
  }
  std::map<std::string, std::optional<BufferId>>
      comes_to;  // by the name of the place; nothing: something else is stored there, too
  for (const Step& step : program_.steps) {
    if (std::holds_alternative<Kernel>(step)) continue;
    for (BufferId b : access_of(program_, step).writes) comes_to[name(b)].reset();
  }
  for_each_stage(program_, [&](const Kernel& kernel, const Stage& stage) {
    const bool has_numbers = axis_extents(kernel, stage).empty();
    StageFormulas values(*this, kernel, stage, nullptr);
    if (has_numbers) values.formulas();
    for (const Statement& s : stage.statements) {
      if (!s.is_write()) continue;
      const std::string place =
          place_text(*this, kernel, stage, s.buffer, s.map, [](RegisterId) { return Expression(); }).text;
      const auto number = has_numbers && s.always_sets() ? numbers.find(values.at(s.operands[0]).text) : numbers.end();
      const auto from = number == numbers.end() ? std::nullopt : std::optional(number->second);
      const auto [known, is_new] = comes_to.emplace(place.substr(0, place.find('[')), from);
      if (!is_new && known->second != from) known->second.reset();
      if (place.find('[') != std::string::npos) known->second.reset();
    }
  });
  bool any = false;
  for (const auto& [place, number] : comes_to) {
    if (!number || place.starts_with('$') || !names_.buffers[*number].starts_with('$')) continue;
    names_.buffers[*number] = place;
    any = true;
  }
  if (any) find_numbers();
}

std::string Vocabulary::name(BufferId buffer) const {
  const Buffer& it = program_.buffers[buffer];
  const std::string& name = names_.buffers[buffer];
  return it.role == Role::output && name.starts_with('$') ? str("result_", it.slot) : name;
}

Expression Vocabulary::number(BufferId scalar) const {
  return numbers_[scalar].text.empty() ? atom(name(scalar)) : numbers_[scalar];
}

const NamedPart* Vocabulary::part(BufferId buffer, const Dim& first, int64_t length) const {
  for (const NamedPart& part : parts_) {
    const Dim from = first - part.first;
    if (part.buffer != buffer || !from.is_constant() || from.constant() < 0) continue;
    // A slice whose length depends on sizes is known by its first element.
    const bool lies_within =
        part.length.is_constant() ? from.constant() + length <= part.length.constant() : from.is(0);
    if (lies_within) return &part;
  }
  return nullptr;
}

bool Vocabulary::is_taken(const std::string& name) const {
  return std::ranges::find(names_.buffers, name) != names_.buffers.end() ||
         std::ranges::any_of(parts_, [&](const NamedPart& part) { return part.name == name; });
}

std::vector<std::string> formulas(const Vocabulary& vocabulary, const Kernel& kernel) {
  std::vector<std::string> out;
  for (const KernelOutput& output : kernel.outputs) {
    if (output.start.kind != Start::Kind::copy) continue;
    out.push_back(str(vocabulary.name(output.buffer), " = ", vocabulary.name(output.start.source),
                      output.start.elided ? ", in place" : ""));
  }
  int num_named = 0;
  for (const Stage& stage : kernel.stages) {
    for (std::string& line : StageFormulas(vocabulary, kernel, stage, &num_named).formulas())
      out.push_back(std::move(line));
  }
  return out;
}

Expression place_text(const Vocabulary& vocabulary, const Kernel& kernel, const Stage& stage, BufferId buffer,
                      const AccessMap& map, const std::function<Expression(RegisterId)>& index) {
  return PlaceText(vocabulary, kernel, stage, index).text(buffer, map);
}

}  // namespace inlay::kernel
