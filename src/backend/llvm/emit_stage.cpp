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
                           llvm::ArrayRef<Value*> outer_points, Tile tile)
    : f_(f), b_(f.b), kernel_(kernel), stage_(stage), plan_(std::move(plan)), tile_(tile) {
  points_.assign(outer_points.begin(), outer_points.end());
  points_.resize(outer_points.size() + stage.axes.size(), f.i64(0));
  uniform_.registers.resize(plan_.register_levels.size());
  splats_.resize(plan_.register_levels.size());
  starts_.resize(plan_.statements.size());
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    if (!plan_.statements[i].live || !plan_.statements[i].accumulates) continue;
    sum_statements_.insert(sum_statements_.end(), num_states(i), i);
  }
  sums_.resize(sum_statements_.size());
}

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
  open_tables();
  emit_level(0);
  close_tables();
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
  block_ = blocks.point;
  emit_loop(level);
  f_.close_loop(blocks, block_points_, end, {});
}

/// What the loop that opens at `level` passes.
StageEmitter::Range StageEmitter::range_of(int level) {
  const kernel::NestLoop& loop = plan_.loop(level);
  if (loop.is_tile) return {tile_.begin, tile_.end};
  return {f_.i64(0), f_.size(loop.extent)};
}

/// The loop that opens at `level`, and what is in it.
void StageEmitter::emit_loop(int level) {
  open_sums(level);
  const int axis = plan_.loop(level).axis;
  if (level + 2 == plan_.innermost()) prepare_column_divisors(axis);
  if (level + 1 == plan_.innermost()) {
    emit_vector_axis();
  } else if (level + 2 == plan_.innermost() && plan_.by_columns) {
    emit_columns(level);
  } else {
    std::vector<std::size_t> carried;
    std::vector<Value*> values;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      if (plan_.statements[sum_statements_[k]].opened > level) continue;
      carried.push_back(k);
      values.push_back(sums_[k]);
    }
    const Range range = range_of(level);
    const Loop loop = f_.open_loop(range.begin, values);
    points_[static_cast<std::size_t>(axis)] = loop.point;
    for (std::size_t k = 0; k < carried.size(); ++k) sums_[carried[k]] = loop.carried[k];
    if (level + 2 == plan_.innermost() && !kernel::is_short(kernel_)) f_.checkpoint();
    emit_level(level + 1);
    for (std::size_t k = 0; k < carried.size(); ++k) values[k] = sums_[carried[k]];
    f_.close_loop(loop, f_.i64(1), range.end, values);
  }
  finish_sums(level);
}

/// Everything at `level` but the vector loop; at the innermost level only where there is no loop at all.
void StageEmitter::emit_uniform(int level) {
  if (level == plan_.innermost() && !plan_.loops.empty()) return;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (!facts.live) continue;
    for (const auto& [index, stride] : facts.place.indices) {
      if (plan_.register_levels[index.index.index] == level) wrapped(index, uniform_);
    }
    if (facts.level == level) emit_statement(i, uniform_);
  }
}

StageEmitter::Lanes StageEmitter::lanes_at(Value* point) const {
  Lanes out;
  out.width = plan_.width;
  out.point = point;
  out.registers.resize(plan_.register_levels.size());
  return out;
}

/// Those of them that stand before `end` count.
StageEmitter::Lanes StageEmitter::lanes_before(Value* end, Value* point) const {
  Lanes out = lanes_at(point);
  out.num_active = b_.CreateSub(end, point);
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < plan_.width; ++lane) numbers.push_back(f_.i64(lane));
  out.active = b_.CreateICmpSLT(llvm::ConstantVector::get(numbers), splat(f_, out.num_active, plan_.width));
  return out;
}

/// One set of sums for each vector of a pass: they do not wait for each other.
std::vector<Value*> StageEmitter::sets_of_sums() {
  std::vector<Value*> sums = sums_;
  for (int u = 1; u < plan_.unroll; ++u) {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      // What is the greatest so far may be met again. Squares have begun anew.
      const bool same = follows_exponentials(k) || statement(sum_statements_[k]).fold == Fold::moments;
      sums.push_back(same ? sums_[k] : nothing_of(k));
    }
  }
  return sums;
}

/// `unroll` vectors, the points of one and of the next `apart` from each other. Returns their sets of sums.
std::vector<Value*> StageEmitter::emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets) {
  std::vector<Value*> next;
  for (int u = 0; u < plan_.unroll; ++u) {
    const auto first_sum = sets.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(u) * sums_.size());
    std::vector<Value*> mine(first_sum, first_sum + static_cast<std::ptrdiff_t>(sums_.size()));
    u == 0 ? count_for_squares(mine) : follow_first_set(next, mine);
    if (u > 0) point = b_.CreateNSWAdd(point, apart);
    Lanes lanes = lanes_at(point);
    emit_body(lanes, mine);
    next.insert(next.end(), mine.begin(), mine.end());
  }
  return next;
}

void StageEmitter::merge_sets(const std::vector<Value*>& sets) {
  for (std::size_t k = 0; k < sums_.size(); k += num_states(sum_statements_[k])) {
    const Statement& fold = statement(sum_statements_[k]);
    if (fold.fold == Fold::moments) {
      merge_squares(k, sets);
    } else if (fold.fold == Fold::none) {
      sums_[k] = merged(k, sets);
    } else if (fold.opens_fold()) {
      merge_states_of_sets(k, sets);
    }
  }
}

/// Is the vector axis more than one look at the stop flag is good for? (A tile and a block are not. Nor is a row, whose
/// loop looks: looking within each of its stages as well makes half as much code again.)
bool StageEmitter::may_be_long() const {
  if (block_ || plan_.vectors_pass_tile() || plan_.innermost() > 1) return false;
  if (std::ranges::any_of(kernel_.outer, [](const kernel::Axis& axis) { return !axis.extent.is(1); })) return false;
  const Dim& extent = plan_.vector_extent();
  return !extent.is_constant() || extent.constant() > kernel::kPointsBetweenLooks;
}

/// From `begin` to `end`, a multiple of what is passed at a time: `unroll` vectors, the points of one vector and of the
/// next `apart` from each other. (Sums of squares go by turns.)
void StageEmitter::emit_vectors(Value* begin, Value* end, int64_t apart) {
  Value* has_any = b_.CreateICmpSGT(end, begin);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(has_any); known && known->isZero()) return;
  const Branch branch = f_.open_if(has_any);
  const std::vector<Value*> before = sums_;
  std::vector<Value*> sums = sets_of_sums();
  // Around the loop over vectors may stand one over pages, or over so many points that a look between them costs
  // nothing.
  const bool by_pages = apart != plan_.width;
  const int64_t pass = plan_.width * plan_.unroll;
  const int64_t stretch = by_pages ? apart * plan_.unroll : kernel::kPointsBetweenLooks / pass * pass;
  const bool by_stretches = by_pages || may_be_long();
  Value* loop_end = end;
  Loop stretches;
  if (by_stretches) {
    stretches = f_.open_loop(begin, sums);
    sums.assign(stretches.carried.begin(), stretches.carried.end());
    if (may_be_long()) f_.checkpoint();
    loop_end = b_.CreateNSWAdd(stretches.point, f_.i64(by_pages ? apart : stretch));
    if (!by_pages) loop_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, loop_end, end);
  }
  const Loop loop = f_.open_loop(by_stretches ? stretches.point : begin, sums);
  const std::vector<Value*> next = emit_vectors_at(loop.point, f_.i64(apart), loop.carried);
  f_.close_loop(loop, f_.i64(by_pages ? plan_.width : pass), loop_end, next);
  if (by_stretches) f_.close_loop(stretches, f_.i64(stretch), end, next);
  merge_sets(next);
  sums_ = f_.close_if(branch, sums_, before);
}

/// Whole vectors, `unroll` at a time; then the rest under a mask.
void StageEmitter::emit_vector_axis() {
  // A block of its own before the loop, so that what the loop turns out to need can still be put there.
  llvm::BasicBlock* first = f_.new_block("points");
  hoist_ = b_.CreateBr(first);
  b_.SetInsertPoint(first);

  auto [begin, end] = range_of(plan_.innermost() - 1);
  if (block_) {  // a multiple of a chunk, or the first: so it begins at one
    begin = block_;
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateNSWAdd(block_, block_points_), end);
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
  const std::vector<Value*> before = sums_;
  sums_ = emptied(sums_);
  row_begin_ = begin;
  for (std::size_t k : sums_of_squares()) {
    Value* count = lane_of(f_, before[k + 2], f_.i64(0));
    squares_are_new_[k] = b_.CreateFCmpOEQ(count, number_like(count, 0));
  }
  emit_masked(emit_turns(begin, end), end);
  const auto is_row = [&](std::size_t i) { return plan_.statements[i].opened + 1 < plan_.innermost(); };
  if (std::ranges::none_of(sum_statements_, is_row)) return;
  const std::vector<Value*> all = put_together(before, sums_);
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (is_row(sum_statements_[k])) sums_[k] = all[k];
  }
}

/// The points that no longer fill what is passed at a time.
void StageEmitter::emit_masked(Value* begin, Value* end) {
  Value* has_rest = b_.CreateICmpSLT(begin, end);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(has_rest); known && known->isZero()) return;
  const Branch branch = f_.open_if(has_rest);
  const std::vector<Value*> before = sums_;
  const auto masked_pass = [&](Value* point) {
    Lanes lanes = lanes_before(end, point);
    emit_body(lanes, sums_);
  };
  if (plan_.unroll == 1) {
    masked_pass(begin);
  } else {
    const Loop loop = f_.open_loop(begin, sums_);
    sums_.assign(loop.carried.begin(), loop.carried.end());
    masked_pass(loop.point);
    f_.close_loop(loop, f_.i64(plan_.width), end, sums_);
  }
  sums_ = f_.close_if(branch, sums_, before);
}

/// First the points before a line of the cache, so that no store of a whole vector is split between two. It is the same
/// code twice, at first without whole vectors: a stage is long enough to compile as it is.
void StageEmitter::emit_aligned(Value* begin, Value* end) {
  const Statement& store = statement(*plan_.aligned_store);
  Lanes at_begin = lanes_at(begin);
  Value* address = b_.CreatePtrToInt(place(*plan_.aligned_store, at_begin).start, b_.getInt64Ty());
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
      add_to_sum(sum, lanes, sums);
      sum += num_states(i);
    } else {
      emit_statement(i, lanes);
    }
  }
}

Value* StageEmitter::hoisted(llvm::function_ref<Value*()> emit) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  if (hoist_) b_.SetInsertPoint(hoist_);
  return emit();
}

Value* StageEmitter::operand(kernel::RegisterId r, Lanes& lanes) {
  if (Value* here = lanes.registers[r.index]) return here;
  Value* uniform = uniform_.registers[r.index];
  INLAY_CHECK(uniform, "register %", r.index, " is used before it is computed");
  if (lanes.width == 1) return uniform;
  Value*& known = splats_[r.index];
  if (!known) known = hoisted([&] { return splat(f_, uniform, lanes.width); });
  return known;
}

/// Where the lanes are on the vector axis.
Value* StageEmitter::lane_points(Lanes& lanes) {
  if (lanes.width == 1) return lanes.point;
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes.width; ++lane) steps.push_back(f_.i64(lane));
  return b_.CreateAdd(splat(f_, lanes.point, lanes.width), llvm::ConstantVector::get(steps));
}

void StageEmitter::emit_statement(std::size_t i, Lanes& lanes) {
  const Statement& s = statement(i);
  switch (s.kind) {
    case Kind::load:
    case Kind::literal:
    case Kind::axis:
    case Kind::size:
    case Kind::op:
    case Kind::cast: lanes.registers[s.result.index] = emit_value(s, i, lanes); return;
    case Kind::store:
    case Kind::fold: emit_store(i, lanes); return;
    case Kind::check: emit_check(s, lanes); return;
  }
}

Value* StageEmitter::emit_value(const Statement& s, std::size_t i, Lanes& lanes) {
  switch (s.kind) {
    case Kind::load: return emit_load(i, lanes);
    case Kind::literal: return splat(f_, f_.constant(s.literal), lanes.width);
    case Kind::axis: {
      const bool runs_here = s.axis == plan_.vector_axis() && lanes.point;
      Value* point = runs_here ? lane_points(lanes) : splat(f_, points_[static_cast<std::size_t>(s.axis)], lanes.width);
      return emit_cast(f_, point, DType::i64, s.dtype);
    }
    case Kind::size: return emit_cast(f_, splat(f_, f_.size(s.size), lanes.width), DType::i64, s.dtype);
    case Kind::op:
    case Kind::cast: return emit_operation(s, lanes);
    case Kind::store:
    case Kind::fold:
    case Kind::check: break;
  }
  INLAY_CHECK(false, "a statement without a value");
  return nullptr;
}

/// The square root's instruction takes twice as long as its function, but runs beside what others multiply. Is there
/// too little of that?
bool StageEmitter::roots_wait() const {
  std::size_t roots = 0, instructions = 0;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const Statement& s = statement(i);
    if (!plan_.statements[i].live || plan_.statements[i].level < plan_.innermost() || s.kind != Kind::op) continue;
    if (s.op == ScalarOp::sqrt_) {
      ++roots;
    } else {
      const llvm::Function* function = f_.engine.math().find(facts(s.op).name, 8);
      instructions += function ? function->getEntryBlock().size() : 1;
    }
  }
  constexpr std::size_t kBesideARoot = 30;  // the exponential has 18, the logarithm 27
  return instructions < roots * kBesideARoot;
}

Value* StageEmitter::emit_operation(const Statement& s, Lanes& lanes) {
  llvm::SmallVector<Value*, 3> operands;
  for (kernel::RegisterId r : s.operands) operands.push_back(operand(r, lanes));
  const DType dtype = plan_.register_dtypes[s.operands.back().index];
  if (s.kind == Kind::cast) return emit_cast(f_, operands[0], dtype, s.dtype);

  if (s.op == ScalarOp::sqrt_ && dtype == DType::f64 && lanes.width % 8 == 0 && f_.engine.math().find("sqrt", 8) &&
      roots_wait()) {
    return emit_math(f_, "sqrt", operands, lanes.active);
  }

  if (s.op == ScalarOp::div_) {
    if (Value* quotient = divide_by_prepared(s, operands, lanes)) return quotient;
  }
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  if (s.op != ScalarOp::mul_ && s.op != ScalarOp::square_) b_.clearFastMathFlags();
  return emit_op(f_, s.op, dtype, operands, lanes.active);
}

void StageEmitter::emit_check(const Statement& s, Lanes& lanes) {
  if (const kernel::IndexTerm* index = s.index_to_check()) return void(wrapped(*index, lanes));
  Value* bad = b_.CreateNot(operand(s.operands[0], lanes));
  if (lanes.active) bad = b_.CreateAnd(bad, lanes.active);
  llvm::BasicBlock* leave = f_.new_block("fail");
  llvm::BasicBlock* go_on = f_.new_block("checked");
  b_.CreateCondBr(any_lane(f_, bad), leave, go_on, f_.unlikely());
  b_.SetInsertPoint(leave);
  llvm::SmallVector<Value*, 4> numbers;
  for (std::size_t i = 1; i < s.operands.size(); ++i)
    numbers.push_back(of_first_lane(bad, operand(s.operands[i], lanes)));
  f_.fail(s.site, numbers);
  b_.SetInsertPoint(go_on);
}

}  // namespace inlay::llvm_backend
