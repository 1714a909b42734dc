#include "backend/c/fold.h"

#include <algorithm>
#include <array>

#include "backend/c/functions.h"
#include "backend/c/scalar.h"
#include "ops/fold_merge.h"

namespace inlay::c_backend {

using kernel::Statement;

void FoldText::open_variables(int level) {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (opens_at(i, level)) open_sum(i);
    if (level == 0 && facts_[i].live && opens_hidden(i)) open_hidden(i);
  }
}

void FoldText::close_variables(int level) {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (opens_at(i, level)) close_sum(i);
  }
}

Dim FoldText::points_of_sum(std::size_t i) const {
  Dim points = 1;
  for (int level = facts_[i].opened; level < nest_.innermost(); ++level)
    points = points * nest_.loops.loop(level).extent;
  return points;
}

/// Is it a sum of floats over more points than one after the other loses little in?
bool FoldText::is_long_sum(std::size_t i) const {
  const Statement& s = nest_.statement(i);
  const bool is_real = s.dtype == DType::f32 || s.dtype == DType::f64;
  const bool adds = s.fold == Fold::add || (s.fold == Fold::log_sum_exp && s.opens_fold());
  if (!is_real || !adds || s.result.valid()) return false;
  const Dim points = points_of_sum(i);
  return !points.is_constant() || points.constant() > kBlockInOrder;
}

void FoldText::open_sum(std::size_t i) {
  const Statement& s = nest_.statement(i);
  facts_[i].sum = nest_.names.take(str(p_.name(s.buffer), "_so_far"));
  use_type(p_.needs, s.dtype);
  if (!is_long_sum(i)) return out_.line(memory_type(s.dtype), " ", facts_[i].sum, " = ", nest_.element(i), ";");
  // Exponentials are less of the maximum so far: what was summed before the loop stays with them.
  const bool begins_anew = s.fold != Fold::log_sum_exp;
  out_.line(memory_type(s.dtype), " ", facts_[i].sum, " = ", begins_anew ? "0" : nest_.element(i), ";");
  facts_[i].parts = nest_.names.take(str(p_.name(s.buffer), "_parts"));
  p_.needs.most_points = max(p_.needs.most_points, points_of_sum(i));
  const std::string type = str("parts_", suffix(s.dtype));
  out_.line(p_.needs.use(type), " ", facts_[i].parts, ";");
  const std::string& parts = facts_[i].parts;
  // The first part too: a compiler may think that one is read before there are any.
  out_.line(parts, ".parts[0] = ", parts, ".height = ", parts, ".count = ", parts, ".points = 0;");
}

void FoldText::close_sum(std::size_t i) {
  const NestText::Facts& facts = facts_[i];
  if (facts.parts.empty()) return out_.line(nest_.element(i), " = ", facts.sum, ";");
  const std::string all = p_.needs.use(str("all_", suffix(nest_.statement(i).dtype)));
  const bool began_anew = nest_.statement(i).fold != Fold::log_sum_exp;
  out_.line(nest_.element(i), began_anew ? " += " : " = ", all, "(&", facts.parts, ", ", facts.sum, ");");
}

void FoldText::open_hidden(std::size_t i) {
  const Statement& s = nest_.statement(i);
  const FoldFacts& fold = facts(s.fold);
  const std::vector<DType> dtypes = state_dtypes(s.fold, std::vector(fold.num_stored, s.dtype));
  for (std::size_t k = fold.num_stored; k < fold.states.size(); ++k) {
    use_type(p_.needs, dtypes[k]);
    const std::string& name =
        facts_[i].hidden.emplace_back(nest_.names.take(str(p_.name(s.buffer), "_", fold.states[k].name, "_so_far")));
    const Literal nothing = identity_of(fold.states[k].combine, dtypes[k]);
    out_.line(value_type(dtypes[k]), " ", name, " = ", constant(p_.needs, nothing), ";");
  }
}

void FoldText::fold_states(std::size_t i) {
  nest_.statement(i).fold == Fold::log_sum_exp ? add_exponential(i) : merge_states(i);
}

/// How FoldMerge computes with the texts of values.
struct FoldText::Texts {
  Needs& needs;
  std::string number(const Literal& literal) { return constant(needs, literal); }
  std::string op(ScalarOp op, DType dtype, std::span<const std::string> operands) {
    return str("(", op_text(needs, op, dtype, operands), ")");
  }
  std::string cast(const std::string& x, DType from, DType to) { return cast_text(needs, x, from, to); }
};

/// All states of what was met so far and of this point, then what they were becomes that.
void FoldText::merge_states(std::size_t i) {
  const FoldFacts& fold = facts(nest_.statement(i).fold);
  std::vector<DType> dtypes;
  std::vector<std::string> now, x, targets;
  for (std::size_t k = i; k < i + fold.num_stored; ++k) {
    dtypes.push_back(nest_.statement(k).dtype);
    x.push_back(nest_.value(nest_.statement(k).operands[0]));
    targets.push_back(facts_[k].accumulates ? facts_[k].sum : nest_.element(k));
    now.push_back(dtypes.back() == DType::boolean ? str("(", targets.back(), " != 0)") : targets.back());
  }
  dtypes = state_dtypes(nest_.statement(i).fold, dtypes);
  Texts emit{p_.needs};
  FoldMerge<std::string, Texts> merge(nest_.statement(i).fold, dtypes, emit);
  std::vector<std::string> hidden = facts_[i].hidden;
  if (nest_.loops.loops.empty()) {  // of one point
    const std::vector<std::string> nothing = merge.nothing();
    hidden.assign(nothing.begin() + static_cast<std::ptrdiff_t>(fold.num_stored), nothing.end());
  }
  now.insert(now.end(), hidden.begin(), hidden.end());
  const std::vector<std::string> next = merge.merged(now, merge.lifted(x));
  targets.insert(targets.end(), facts_[i].hidden.begin(), facts_[i].hidden.end());
  std::vector<std::string> names;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    use_type(p_.needs, dtypes[k]);
    names.push_back(nest_.names.take(str(p_.name(nest_.statement(i).buffer), "_", fold.states[k].name)));
    out_.line("const ", value_type(dtypes[k]), " ", names.back(), " = ", next[k], ";");
  }
  for (std::size_t k = 0; k < targets.size(); ++k) out_.line(targets[k], " = ", names[k], ";");
}

/// What merge_states does in one exponential and mostly no product, with the sum in parts (is_long_sum): what was
/// summed is made smaller where a greater number comes, before the maximum knows of it. (What is -inf adds nothing, be
/// it the maximum so far.)
void FoldText::add_exponential(std::size_t i) {
  const Statement& sums = nest_.statement(i);
  const Statement& maximum = nest_.statement(i + 1);
  const auto state = [&](std::size_t k) { return facts_[k].accumulates ? facts_[k].sum : nest_.element(k); };
  const std::string sum = state(i), was = state(i + 1), x = nest_.value(sums.operands[0]);
  const auto exponential = [&](const std::string& a, const std::string& b) {
    const std::string difference = op_text(p_.needs, ScalarOp::sub_, maximum.dtype, std::array{a, b});
    const std::string exponential = op_text(p_.needs, ScalarOp::exp_, maximum.dtype, std::array{difference});
    return cast_text(p_.needs, exponential, maximum.dtype, sums.dtype);
  };
  const std::string nothing = constant(p_.needs, identity_of(Combine::max, maximum.dtype));
  out_.open("if (", x, " > ", was, ")");
  std::string factor = exponential(was, x);
  if (const std::string& parts = facts_[i].parts; !parts.empty()) {
    const std::string name = nest_.names.take(str(sum, "_factor"));
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

void FoldText::combine_into(const std::string& place, const Statement& s) {
  const std::string& added = nest_.value(s.operands[0]);
  const bool is_plain =
      s.dtype == DType::f32 || s.dtype == DType::f64 || s.dtype == DType::u32 || s.dtype == DType::u64;
  const Combine combine = s.combine();
  if (is_plain && (combine == Combine::add || combine == Combine::mul)) {
    return out_.line(place, combine == Combine::add ? " += " : " *= ", added, ";");
  }
  const std::vector<std::string> operands = {s.dtype == DType::boolean ? str("(", place, " != 0)") : place, added};
  out_.line(place, " = ", op_text(p_.needs, combine_op(combine), s.dtype, operands), ";");
}

}  // namespace inlay::c_backend
