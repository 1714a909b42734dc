#include "backend/llvm/emit_pass.h"

#include <algorithm>

#include "kernel/stopping.h"

namespace inlay::llvm_backend {

using kernel::Statement;

void PassEmitter::emit_body(Lanes& lanes, std::vector<Value*>& sums) {
  for (std::size_t i = 0, sum = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (!facts.live || facts.level != plan_.innermost() || plan_.is_made_before_rows(i)) continue;
    if (facts.accumulates) {
      folds_.add_to_sum(sum, lanes, sums);
      sum += sums_.fold_of(sum).num_states();
    } else {
      statements_.emit_statement(i, lanes);
    }
  }
}

std::vector<Value*> PassEmitter::emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets) {
  std::vector<Value*> next;
  for (int u = 0; u < plan_.unroll; ++u) {
    const auto first_sum = sets.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(u) * sums_.size());
    std::vector<Value*> mine(first_sum, first_sum + static_cast<std::ptrdiff_t>(sums_.size()));
    u == 0 ? squares_.count(mine) : squares_.follow_first_set(next, mine);
    if (u > 0) point = b_.CreateNSWAdd(point, apart);
    Lanes lanes = nest_.lanes_at(point);
    emit_body(lanes, mine);
    next.insert(next.end(), mine.begin(), mine.end());
  }
  return next;
}

void PassEmitter::emit_vectors(Value* begin, Value* end, int64_t apart) {
  Value* has_any = b_.CreateICmpSGT(end, begin);
  if (never_holds(has_any)) return;
  const Branch branch = open_if(b_, has_any);
  const std::vector<Value*> before = sums_.values;
  std::vector<Value*> sums = sums_.sets();
  // Around the loop over vectors may stand one over pages, or over so many points that a look between them costs
  // nothing.
  const bool by_pages = apart != plan_.width;
  const int64_t pass = plan_.width * plan_.unroll;
  const int64_t stretch = by_pages ? apart * plan_.unroll : kernel::kPointsBetweenLooks / pass * pass;
  const bool looks = kernel::looks_within(nest_.kernel, nest_.stage, plan_), by_stretches = by_pages || looks;
  Value* loop_end = end;
  Loop stretches;
  if (by_stretches) {
    stretches = open_loop(b_, begin, sums);
    sums.assign(stretches.carried.begin(), stretches.carried.end());
    if (looks) f_.ends.checkpoint();
    loop_end = b_.CreateNSWAdd(stretches.point, f_.i64(by_pages ? apart : stretch));
    if (!by_pages) loop_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, loop_end, end);
  }
  const Loop loop = open_loop(b_, by_stretches ? stretches.point : begin, sums);
  const std::vector<Value*> next = emit_vectors_at(loop.point, f_.i64(apart), loop.carried);
  close_loop(b_, loop, f_.i64(by_pages ? plan_.width : pass), loop_end, next);
  if (by_stretches) close_loop(b_, stretches, f_.i64(stretch), end, next);
  folds_.merge_sets(next);
  sums_.values = close_if(b_, branch, sums_.values, before);
}

void PassEmitter::emit_masked(Value* begin, Value* end) {
  Value* has_rest = b_.CreateICmpSLT(begin, end);
  if (never_holds(has_rest)) return;
  const Branch branch = open_if(b_, has_rest);
  const std::vector<Value*> before = sums_.values;
  const auto masked_pass = [&](Value* point) {
    Lanes lanes = nest_.lanes_before(end, point);
    emit_body(lanes, sums_.values);
  };
  if (plan_.unroll == 1) {
    masked_pass(begin);
  } else {
    const Loop loop = open_loop(b_, begin, sums_.values);
    sums_.values.assign(loop.carried.begin(), loop.carried.end());
    masked_pass(loop.point);
    close_loop(b_, loop, f_.i64(plan_.width), end, sums_.values);
  }
  sums_.values = close_if(b_, branch, sums_.values, before);
}

/// The maxima of log-sum-exps that begin with this loop, unless something in it must run once. (What an outer
/// loop sums over too is summed in part when its next row begins.)
std::vector<std::size_t> PassEmitter::sums_that_look_ahead() const {
  std::vector<std::size_t> maximum;  // numbers of sums
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const bool begins_here = plan_.statements[sums_.statement_of(k)].opened + 1 == plan_.innermost();
    if (sums_.follows_exponentials(k) && begins_here) maximum.push_back(k);
  }
  const auto must_run_once = [&](std::size_t i) {
    const bool runs_on = nest_.statement(i).result.valid();  // a running sum
    const bool writes = nest_.statement(i).is_write() && (runs_on || !plan_.statements[i].accumulates);
    return plan_.statements[i].live && (nest_.statement(i).can_fail() || writes);
  };
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    if (must_run_once(i)) return {};
  }
  return maximum;
}

void PassEmitter::look_ahead(Value* begin, Value* end) {
  constexpr int kLookAhead = 128;  // so many points tell how large the numbers are
  const std::vector<std::size_t> maximum = sums_that_look_ahead();
  if (maximum.empty()) return;
  Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b_.CreateNSWAdd(begin, f_.i64(kLookAhead)));
  first = b_.CreateAnd(first, f_.i64(-plan_.width));
  const Branch branch = open_if(b_, b_.CreateICmpSGT(first, begin));
  std::vector<Value*> before, values;
  for (std::size_t k : maximum) before.push_back(sums_[k]);
  const Loop loop = open_loop(b_, begin, before);
  Lanes lanes = nest_.lanes_at(loop.point);
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (facts.live && facts.level == plan_.innermost() && !facts.accumulates) statements_.emit_statement(i, lanes);
  }
  for (std::size_t n = 0; n < maximum.size(); ++n) {
    const Statement& other = sums_.fold_of(maximum[n]);
    Value* x = folds_.folded(other, lanes);
    Value* is_greater = emit_op(f_, ScalarOp::gt_, other.dtype, {x, loop.carried[n]}, nullptr);
    values.push_back(select(f_, is_greater, x, loop.carried[n]));
  }
  close_loop(b_, loop, f_.i64(plan_.width), first, values);
  for (std::size_t n = 0; n < maximum.size(); ++n) {
    const Statement& other = sums_.fold_of(maximum[n]);
    values[n] = splat(f_, reduce_lanes(f_, Combine::max, other.dtype, values[n]), plan_.width);
  }
  values = close_if(b_, branch, values, before);
  for (std::size_t n = 0; n < maximum.size(); ++n) sums_[maximum[n]] = values[n];
}

}  // namespace inlay::llvm_backend
