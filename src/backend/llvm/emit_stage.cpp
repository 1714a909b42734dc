#include <algorithm>

#include "backend/llvm/stage.h"
#include "kernel/stopping.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;
using Kind = Statement::Kind;

namespace {

constexpr int64_t kLineBytes = 64;  // of the cache

}  // namespace

StageEmitter::StageEmitter(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
                           llvm::ArrayRef<Value*> outer_points, Range tile)
    : nest_(f, kernel, stage, std::move(plan), outer_points, tile),
      f_(f),
      b_(f.b),
      plan_(nest_.plan),
      access_(nest_),
      scatter_(nest_),
      divisions_(nest_),
      sums_(nest_),
      squares_(nest_, sums_),
      folds_(nest_, access_, sums_, squares_) {}

void StageEmitter::emit() {
  const auto has_effect = [](const kernel::NestStatement& statement) { return statement.live; };
  if (std::ranges::none_of(plan_.statements, has_effect)) return;
  // What is hoisted may read memory that only a point that exists is sure to have: nothing runs when a loop is empty.
  Value* any_point = b_.getTrue();
  for (const kernel::NestLoop& loop : plan_.loops) {
    any_point = b_.CreateAnd(b_.CreateICmpSGT(f_.size(loop.extent), f_.i64(0)), any_point);
  }
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(any_point); known && known->isZero()) return;
  const std::vector<Value*> before = f_.scalars();
  const Branch branch = f_.open_if(any_point);
  scatter_.open_tables();
  emit_level(0);
  scatter_.close_tables();
  std::vector<Value*>& after = f_.scalars();
  std::vector<Value*> changed, was;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    changed.push_back(after[i]);
    // A scalar that an empty stage would have made has no value; nothing may read it then.
    was.push_back(before[i] ? before[i] : llvm::Constant::getNullValue(after[i]->getType()));
  }
  changed = f_.close_if(branch, changed, was);
  for (std::size_t i = 0, k = 0; i < after.size(); ++i) {
    if (after[i] != before[i]) after[i] = changed[k++];
  }
}

void StageEmitter::emit_level(int level) {
  emit_uniform(level);
  if (level == plan_.innermost()) return;
  if (level != plan_.block_level) return emit_loop(level);
  Value* end = f_.size(plan_.vector_extent());
  Value* is_long = b_.CreateICmpSGT(end, f_.i64(StagePlan::kOneBlock));
  block_points_ = b_.CreateSelect(is_long, f_.i64(plan_.block), end);
  const Loop blocks = f_.open_loop(f_.i64(0), {});
  nest_.block = blocks.point;
  emit_loop(level);
  f_.close_loop(blocks, block_points_, end, {});
}

/// The loop that opens at `level`, and what is in it.
void StageEmitter::emit_loop(int level) {
  folds_.open_sums(level);
  const int axis = plan_.loop(level).axis;
  if (level + 2 == plan_.innermost())
    divisions_.prepare_column_divisors(axis, [&](std::size_t i, Lanes& lanes) { emit_statement(i, lanes); });
  if (level + 1 == plan_.innermost()) {
    emit_vector_axis();
  } else if (level + 2 == plan_.innermost() && plan_.by_columns) {
    emit_columns(level);
  } else {
    std::vector<std::size_t> carried;
    std::vector<Value*> values;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      if (plan_.statements[sums_.statement_of(k)].opened > level) continue;
      carried.push_back(k);
      values.push_back(sums_[k]);
    }
    const Range range = nest_.range_of(level);
    const Loop loop = f_.open_loop(range.begin, values);
    nest_.point_of(axis) = loop.point;
    for (std::size_t k = 0; k < carried.size(); ++k) sums_[carried[k]] = loop.carried[k];
    if (level + 2 == plan_.innermost() && !kernel::is_short(nest_.kernel)) f_.checkpoint();
    emit_level(level + 1);
    for (std::size_t k = 0; k < carried.size(); ++k) values[k] = sums_[carried[k]];
    f_.close_loop(loop, f_.i64(1), range.end, values);
  }
  folds_.finish_sums(level);
}

/// Everything at `level` but the vector loop; at the innermost level only where there is no loop at all.
void StageEmitter::emit_uniform(int level) {
  if (level == plan_.innermost() && !plan_.loops.empty()) return;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (!facts.live) continue;
    for (const auto& [index, stride] : facts.place.indices) {
      if (plan_.register_levels[index.index.index] == level) access_.wrapped(index, nest_.uniform);
    }
    if (facts.level == level) emit_statement(i, nest_.uniform);
  }
}

/// `unroll` vectors, the points of one and of the next `apart` from each other. Returns their sets of sums.
std::vector<Value*> StageEmitter::emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets) {
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

/// From `begin` to `end`, a multiple of what is passed at a time: `unroll` vectors, the points of one vector and of the
/// next `apart` from each other. (Sums of squares go by turns.)
void StageEmitter::emit_vectors(Value* begin, Value* end, int64_t apart) {
  Value* has_any = b_.CreateICmpSGT(end, begin);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(has_any); known && known->isZero()) return;
  const Branch branch = f_.open_if(has_any);
  const std::vector<Value*> before = sums_.values;
  std::vector<Value*> sums = sums_.sets();
  // Around the loop over vectors may stand one over pages, or over so many points that a look between them costs
  // nothing.
  const bool by_pages = apart != plan_.width;
  const int64_t pass = plan_.width * plan_.unroll;
  const int64_t stretch = by_pages ? apart * plan_.unroll : kernel::kPointsBetweenLooks / pass * pass;
  const bool by_stretches = by_pages || nest_.may_be_long();
  Value* loop_end = end;
  Loop stretches;
  if (by_stretches) {
    stretches = f_.open_loop(begin, sums);
    sums.assign(stretches.carried.begin(), stretches.carried.end());
    if (nest_.may_be_long()) f_.checkpoint();
    loop_end = b_.CreateNSWAdd(stretches.point, f_.i64(by_pages ? apart : stretch));
    if (!by_pages) loop_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, loop_end, end);
  }
  const Loop loop = f_.open_loop(by_stretches ? stretches.point : begin, sums);
  const std::vector<Value*> next = emit_vectors_at(loop.point, f_.i64(apart), loop.carried);
  f_.close_loop(loop, f_.i64(by_pages ? plan_.width : pass), loop_end, next);
  if (by_stretches) f_.close_loop(stretches, f_.i64(stretch), end, next);
  folds_.merge_sets(next);
  sums_.values = f_.close_if(branch, sums_.values, before);
}

/// So many points tell how large the numbers are.
constexpr int kLookAhead = 128;

/// The greatest of the first points, before any is summed: without that each of the first vectors has a greater one.
/// (What an outer loop sums over too is summed in part when its next row begins.)
void StageEmitter::look_ahead(Value* begin, Value* end) {
  std::vector<std::size_t> greatest;  // numbers of sums
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const bool begins_here = plan_.statements[sums_.statement_of(k)].opened + 1 == plan_.innermost();
    if (sums_.follows_exponentials(k) && begins_here) greatest.push_back(k);
  }
  const auto must_run_once = [&](std::size_t i) {
    const bool runs_on = nest_.statement(i).result.valid();  // a running sum
    const bool writes = nest_.statement(i).is_write() && (runs_on || !plan_.statements[i].accumulates);
    return plan_.statements[i].live && (nest_.statement(i).can_fail() || writes);
  };
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    if (must_run_once(i)) greatest.clear();
  }
  if (greatest.empty()) return;
  Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b_.CreateNSWAdd(begin, f_.i64(kLookAhead)));
  first = b_.CreateAnd(first, f_.i64(-plan_.width));
  const Branch branch = f_.open_if(b_.CreateICmpSGT(first, begin));
  std::vector<Value*> before, values;
  for (std::size_t k : greatest) before.push_back(sums_[k]);
  const Loop loop = f_.open_loop(begin, before);
  Lanes lanes = nest_.lanes_at(loop.point);
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (facts.live && facts.level == plan_.innermost() && !facts.accumulates) emit_statement(i, lanes);
  }
  for (std::size_t n = 0; n < greatest.size(); ++n) {
    const Statement& other = sums_.fold_of(greatest[n]);
    Value* x = folds_.folded(other, lanes);
    Value* is_greater = emit_op(f_, ScalarOp::gt_, other.dtype, {x, loop.carried[n]}, nullptr);
    values.push_back(select(f_, is_greater, x, loop.carried[n]));
  }
  f_.close_loop(loop, f_.i64(plan_.width), first, values);
  for (std::size_t n = 0; n < greatest.size(); ++n) {
    const Statement& other = sums_.fold_of(greatest[n]);
    values[n] = splat(f_, reduce_lanes(f_, Combine::max, other.dtype, values[n]), plan_.width);
  }
  values = f_.close_if(branch, values, before);
  for (std::size_t n = 0; n < greatest.size(); ++n) sums_[greatest[n]] = values[n];
}

/// Whole vectors, `unroll` at a time; then the rest under a mask.
void StageEmitter::emit_vector_axis() {
  // A block of its own before the loop, so that what the loop turns out to need can still be put there.
  llvm::BasicBlock* first = f_.new_block("points");
  nest_.hoist = b_.CreateBr(first);
  b_.SetInsertPoint(first);

  auto [begin, end] = nest_.range_of(plan_.innermost() - 1);
  if (nest_.block) {  // a multiple of a chunk, or the first: so it begins at one
    begin = nest_.block;
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateNSWAdd(nest_.block, block_points_), end);
  }
  look_ahead(begin, end);
  if (plan_.by_turns) return emit_summing(begin, end);
  if (plan_.page > 0) {
    Value* pages = b_.CreateAnd(end, f_.i64(-plan_.page * plan_.unroll));
    Value* is_long = b_.CreateICmpSGE(f_.size(plan_.num_points()), f_.i64(plan_.pages_from));
    pages = b_.CreateSelect(is_long, pages, begin);
    emit_vectors(begin, pages, plan_.page);
    begin = pages;
  }
  if (plan_.aligned_store) return emit_aligned(begin, end);
  Value* whole = b_.CreateAnd(end, f_.i64(-plan_.width * plan_.unroll));
  emit_vectors(begin, whole, plan_.width);
  emit_masked(whole, end);
}

/// A loop whose sums are trees.
void StageEmitter::emit_summing(Value* begin, Value* end) {
  const std::vector<Value*> before = sums_.values;
  sums_.values = sums_.emptied(sums_.values);
  squares_.begin_row(begin, before);
  emit_masked(emit_turns(begin, end), end);
  std::vector<std::size_t> of_rows;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sums_.statement_of(k)].opened + 1 < plan_.innermost()) of_rows.push_back(k);
  }
  if (of_rows.empty()) return;
  const std::vector<Value*> all = put_together(before, sums_.values);
  for (std::size_t k : of_rows) sums_[k] = all[k];
}

/// The points that no longer fill what is passed at a time.
void StageEmitter::emit_masked(Value* begin, Value* end) {
  Value* has_rest = b_.CreateICmpSLT(begin, end);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(has_rest); known && known->isZero()) return;
  const Branch branch = f_.open_if(has_rest);
  const std::vector<Value*> before = sums_.values;
  const auto masked_pass = [&](Value* point) {
    Lanes lanes = nest_.lanes_before(end, point);
    emit_body(lanes, sums_.values);
  };
  if (plan_.unroll == 1) {
    masked_pass(begin);
  } else {
    const Loop loop = f_.open_loop(begin, sums_.values);
    sums_.values.assign(loop.carried.begin(), loop.carried.end());
    masked_pass(loop.point);
    f_.close_loop(loop, f_.i64(plan_.width), end, sums_.values);
  }
  sums_.values = f_.close_if(branch, sums_.values, before);
}

/// First the points before a line of the cache, so that no store of a whole vector is split between two. It is the same
/// code twice, at first without whole vectors: a stage is long enough to compile as it is.
void StageEmitter::emit_aligned(Value* begin, Value* end) {
  const Statement& store = nest_.statement(*plan_.aligned_store);
  Lanes at_begin = nest_.lanes_at(begin);
  Value* address = b_.CreatePtrToInt(access_.place(*plan_.aligned_store, at_begin).start, b_.getInt64Ty());
  const int64_t element = size_bytes(store.dtype);
  const int64_t line = std::min<int64_t>(kLineBytes, plan_.width * element);
  Value* before_line = b_.CreateUDiv(b_.CreateAnd(b_.CreateNeg(address), f_.i64(line - 1)), f_.i64(element));
  Value* is_long = b_.CreateICmpSGE(b_.CreateSub(end, begin), f_.i64(StagePlan::kWorthAligning));
  before_line = b_.CreateSelect(is_long, before_line, f_.i64(0));
  Value* first = b_.CreateAdd(begin, before_line);

  Value* is_at_line = b_.CreateICmpEQ(before_line, f_.i64(0));
  const Loop parts = f_.open_loop(b_.CreateZExt(is_at_line, b_.getInt64Ty()), {});
  Value* is_start = b_.CreateICmpEQ(parts.point, f_.i64(0));
  Value* whole = b_.CreateAdd(first, b_.CreateAnd(b_.CreateSub(end, first), f_.i64(-plan_.width)));
  whole = b_.CreateSelect(is_start, begin, whole);
  emit_vectors(b_.CreateSelect(is_start, begin, first), whole, plan_.width);
  emit_masked(whole, b_.CreateSelect(is_start, first, end));
  f_.close_loop(parts, f_.i64(1), f_.i64(2), {});
}

void StageEmitter::emit_body(Lanes& lanes, std::vector<Value*>& sums) {
  for (std::size_t i = 0, sum = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (!facts.live || facts.level != plan_.innermost()) continue;
    if (facts.accumulates) {
      folds_.add_to_sum(sum, lanes, sums);
      sum += sums_.num_states(i);
    } else {
      emit_statement(i, lanes);
    }
  }
}

}  // namespace inlay::llvm_backend
