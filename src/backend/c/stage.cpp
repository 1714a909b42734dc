#include "backend/c/stage.h"

#include <algorithm>

#include "backend/c/functions.h"
#include "kernel/stopping.h"

namespace inlay::c_backend {

using kernel::Statement;
using Kind = Statement::Kind;

StageText::StageText(ProgramText& p, Text& out, NameTable names, const kernel::Kernel& kernel,
                     const kernel::Stage& stage, const KernelPlace& place)
    : nest_(p, out, std::move(names), kernel, stage, place),
      p_(p),
      out_(out),
      facts_(nest_.facts),
      folds_(nest_),
      statements_(nest_, folds_),
      scatter_(nest_, folds_, statements_) {}

/// Outside of a loop may stand what only a point that exists is sure to have: nothing runs when a loop is empty.
std::string StageText::guard() {
  bool reads = false;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const NestText::Facts& facts = facts_[i];
    const bool outside = facts.live && (facts.accumulates || facts.level < nest_.innermost());
    reads = reads || (outside && (nest_.statement(i).has_place() || nest_.statement(i).can_fail()));
  }
  std::vector<std::string> conditions;
  for (const kernel::NestLoop& loop : nest_.loops.loops) {
    const bool has_points = loop.is_tile || (loop.extent.is_constant() && loop.extent.constant() > 0);
    if (reads && !has_points) conditions.push_back(str(p_.size(loop.extent), " > 0"));
  }
  return join(conditions, " && ");
}

/// Of the innermost loop without what waits: the clauses that let a C compiler fold floats in lanes, in another order.
/// None where a point may wait for another, or leave.
std::optional<std::string> StageText::lanes() {
  std::string clauses;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Statement& s = nest_.statement(i);
    if (!facts_[i].live || facts_[i].level != nest_.innermost() || scatter_.waits(i)) continue;
    const bool is_plain_store = s.always_sets();
    if (s.can_fail() || s.has_several_states() || (s.is_write() && (s.map.has_index() || s.result.valid()))) return {};
    if (!s.is_write() || is_plain_store) continue;
    const bool is_real = s.dtype == DType::f32 || s.dtype == DType::f64;
    if (!is_real || !facts_[i].accumulates) return {};
    const std::string combine = s.fold == Fold::add   ? "+"
                                : s.fold == Fold::mul ? "*"
                                                      : str(combine_name(s.combine()), "_", suffix(s.dtype));
    clauses += str(clauses.empty() ? "" : " ", "reduction(", combine, " : ", facts_[i].sum, ")");
  }
  return clauses;
}

bool StageText::names_values_outside() const {
  if (nest_.loops.loops.empty()) return true;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const NestText::Facts& facts = facts_[i];
    const bool opens_variables = facts.accumulates || folds_.opens_hidden(i);
    if (facts.live && (facts.level == 0 || (opens_variables && facts.opened == 0))) return true;
  }
  return false;
}

void StageText::write() {
  const auto has_no_point = [](const kernel::NestLoop& loop) { return loop.extent.is(0); };
  if (std::ranges::none_of(facts_, &NestText::Facts::live) || std::ranges::any_of(nest_.loops.loops, has_no_point))
    return;
  const std::string condition = guard();
  if (condition.empty() && !names_values_outside()) return write_level(0);
  condition.empty() ? out_.open("") : out_.open("if (", condition, ")");
  write_level(0);
  out_.close();
}

void StageText::write_level(int level) {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (facts_[i].live && facts_[i].level == level && !scatter_.waits(i)) statements_.write_statement(i);
  }
  if (level == nest_.innermost()) return;
  folds_.open_variables(level);
  write_loop(level);
  folds_.close_variables(level);
}

void StageText::write_loop(int level) {
  const kernel::NestLoop& loop = nest_.loops.loop(level);
  const std::string& i = nest_.point_of(loop);
  const std::string begin = loop.is_tile ? nest_.place.tile_begin : "0";
  const std::string end = loop.is_tile ? nest_.place.tile_end : p_.size(loop.extent);
  if (level + 1 == nest_.innermost()) return write_innermost(loop, begin, end);
  out_.open("for (", p_.index_type(), " ", i, " = ", begin, "; ", i, " < ", end, "; ++", i, ")");
  if (level + 2 == nest_.innermost() && kernel::looks_in_rows(nest_.kernel)) out_.line(p_.look_up());
  const std::size_t wrapped_before = nest_.num_wrapped();
  write_level(level + 1);
  nest_.forget_wrapped(wrapped_before);
  out_.close();
}

/// Long sums go by blocks, so that their error grows with the logarithm of their length. A block is added up in lanes,
/// or one point after the other: 16 numbers a lane, as NumPy does, in the 32 bytes that compilers vectorize for
/// unasked.
int64_t StageText::points_of_block(const std::vector<std::size_t>& sums, bool in_lanes) const {
  constexpr int64_t kNumbersOfLane = 16, kBytesOfLanes = 32;
  if (scatter_.any_waits()) return kBlockInOrder;
  if (sums.empty()) return kernel::kPointsBetweenLooks;
  if (!in_lanes) return kBlockInOrder;
  int64_t widest = 1;
  for (std::size_t k : sums) widest = std::max(widest, size_bytes(nest_.statement(k).dtype));
  return kBytesOfLanes / widest * kNumbersOfLane;
}

/// A loop that looks goes by blocks too, so that its points stay in lanes; and one of which writes wait.
void StageText::write_innermost(const kernel::NestLoop& loop, const std::string& begin, const std::string& end) {
  const std::string& i = nest_.point_of(loop);
  const std::optional<std::string> clauses = lanes();
  if (!clauses) scatter_.give_up();
  const bool waits = scatter_.any_waits(), in_lanes = clauses && (waits || !clauses->empty());
  std::vector<std::size_t> sums;
  for (std::size_t k = 0; k < facts_.size(); ++k) {
    if (!facts_[k].parts.empty()) sums.push_back(k);
  }
  const bool looks = kernel::looks_within(nest_.kernel, nest_.stage, nest_.loops);
  const bool by_blocks = looks || waits || !sums.empty();
  const int64_t block = points_of_block(sums, in_lanes);
  std::string from = begin, to = end;
  if (by_blocks) {
    from = nest_.names.take(str(i, "_block"));
    out_.open("for (", p_.index_type(), " ", from, " = ", begin, "; ", from, " < ", end, "; ", from, " += ", block,
              ")");
    const bool at_each = block == kernel::kPointsBetweenLooks;
    if (looks) out_.line(p_.look_up(at_each ? "" : str(from, " % ", kernel::kPointsBetweenLooks, " == 0")));
    to = nest_.names.take(str(i, "_end"));
    out_.line("const ", p_.index_type(), " ", to, " = ", p_.min_of_indices(), "(", from, " + ", block, ", ", end, ");");
  }
  if (waits) scatter_.open_block(block);
  if (in_lanes) out_.line(p_.needs.lanes(), "(", *clauses, ")");
  out_.open("for (", p_.index_type(), " ", i, " = ", from, "; ", i, " < ", to, "; ++", i, ")");
  const std::size_t wrapped_before = nest_.num_wrapped();
  write_level(nest_.innermost());
  if (waits) scatter_.leave_point(i, from);
  nest_.forget_wrapped(wrapped_before);
  out_.close();
  if (waits) scatter_.write_block(i, from, to);
  for (std::size_t k : sums) {
    const std::string put = p_.needs.use(str("put_", suffix(nest_.statement(k).dtype)));
    const bool spans_loops = facts_[k].opened + 1 < nest_.innermost();  // whose rows may be short
    out_.line(put, "(&", facts_[k].parts, ", &", facts_[k].sum, ", ", to, " - ", from, ", ",
              spans_loops ? kBlockInOrder : block, ");");
  }
  if (by_blocks) out_.close();
}

}  // namespace inlay::c_backend
