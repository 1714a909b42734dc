#include "backend/llvm/emit_stage.h"

#include <algorithm>

#include "kernel/stopping.h"

namespace inlay::llvm_backend {

using kernel::Statement;

constexpr int64_t kLineBytes = 64;  // of the cache

StageEmitter::StageEmitter(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
                           const StagePart& part)
    : nest_(f, kernel, stage, std::move(plan), part),
      f_(f),
      b_(f.b),
      plan_(nest_.plan),
      access_(nest_),
      scatter_(nest_, access_),
      divisions_(nest_),
      sums_(nest_),
      squares_(nest_, sums_),
      folds_(nest_, access_, sums_, squares_),
      statements_(nest_, access_, scatter_, divisions_, folds_),
      passes_(nest_, statements_, sums_, squares_, folds_),
      turns_(nest_, sums_, squares_, folds_, passes_),
      columns_(nest_, access_, divisions_, statements_, sums_, folds_, passes_),
      rows_(nest_, access_, divisions_, statements_, sums_, folds_, passes_) {}

void StageEmitter::emit() {
  const auto has_effect = [](const kernel::NestStatement& statement) { return statement.live; };
  if (std::ranges::none_of(plan_.statements, has_effect)) return;
  // What is hoisted may read memory that only a point that exists is sure to have: nothing runs when a loop is empty.
  Value* any_point = b_.getTrue();
  for (const kernel::NestLoop& loop : plan_.loops) {
    any_point = b_.CreateAnd(b_.CreateICmpSGT(f_.sizes.of(loop.extent), f_.i64(0)), any_point);
  }
  if (never_holds(any_point)) return;
  const std::vector<Value*> before = f_.places.scalars();
  const Branch branch = open_if(b_, any_point);
  scatter_.open_tables();
  emit_level(0);
  scatter_.close_tables();
  std::vector<Value*>& after = f_.places.scalars();
  std::vector<Value*> changed, was;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    changed.push_back(after[i]);
    // A scalar that an empty stage would have made has no value; nothing may read it then.
    was.push_back(before[i] ? before[i] : llvm::Constant::getNullValue(after[i]->getType()));
  }
  changed = close_if(b_, branch, changed, was);
  for (std::size_t i = 0, k = 0; i < after.size(); ++i) {
    if (after[i] != before[i]) after[i] = changed[k++];
  }
}

void StageEmitter::emit_level(int level) {
  statements_.emit_uniform(level);
  if (level == plan_.innermost()) return;
  if (level != plan_.block_level) return emit_loop(level);
  Value* end = f_.sizes.of(plan_.vector_extent());
  block_points_ = b_.CreateSelect(lines_leave_cache(end), f_.i64(plan_.block), end);
  const Loop blocks = open_loop(b_, f_.i64(0), {});
  nest_.block = blocks.point;
  emit_loop(level);
  close_loop(b_, blocks, block_points_, end, {});
}

/// Do so many lines, `block_step` apart, leave the first cache before they are used up?
Value* StageEmitter::lines_leave_cache(Value* rows) {
  constexpr int64_t kPageBytes = 4096;
  Value* step = b_.CreateOr(f_.sizes.of(plan_.block_step), f_.i64(kPageBytes));
  Value* power_of_2 = b_.CreateAnd(step, b_.CreateNeg(step));
  Value* meet = b_.CreateICmpSGT(b_.CreateMul(rows, power_of_2), f_.i64(StagePlan::kOneBlockBytes));
  return b_.CreateOr(meet, b_.CreateICmpSGT(rows, f_.i64(StagePlan::kOneBlock)));
}

/// The loop that opens at `level`, and what is in it.
void StageEmitter::emit_loop(int level) {
  folds_.open_sums(level);
  Value* lane_states = level == 0 ? nest_.part.lane_states : nullptr;
  if (lane_states) sums_.values = load_lane_states(lane_states);
  Range range = nest_.range_of(level);
  const bool short_rows = plan_.short_rows && level + 2 == plan_.innermost();
  if (short_rows) range = rows_.emit_short_rows(level);
  if (level + 2 == plan_.innermost()) {
    const auto emit_statement = [&](std::size_t i, Lanes& lanes) { statements_.emit_statement(i, lanes); };
    divisions_.prepare_column_divisors(emit_statement);
  }
  if (level + 1 == plan_.innermost()) {
    emit_vector_axis();
  } else if (level + 2 == plan_.innermost() && plan_.by_columns) {
    columns_.emit_columns(level);
  } else if (short_rows) {
    const Branch branch = open_if(b_, b_.CreateICmpSLT(range.begin, range.end));
    emit_plain_loop(level, range);
    close_if(b_, branch, {}, {});
  } else {
    emit_plain_loop(level, range);
  }
  if (!lane_states) return folds_.finish_sums(level);
  store_lane_states(lane_states, sums_.values);
  const Branch branch = open_if(b_, nest_.part.is_end);
  folds_.finish_sums(level);
  close_if(b_, branch, {}, {});
}

/// One after the other, each at a line of the cache; and where the last one ends.
std::vector<uint64_t> StageEmitter::lane_state_offsets() const {
  const llvm::DataLayout& layout = f_.module.getDataLayout();
  std::vector<uint64_t> out = {0};
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const uint64_t bytes = layout.getTypeAllocSize(sums_.nothing_of(k)->getType()).getFixedValue();
    out.push_back(out.back() + llvm::alignTo(bytes, kLineBytes));
  }
  return out;
}

std::vector<Value*> StageEmitter::lane_state_places(Value* states) const {
  const std::vector<uint64_t> offsets = lane_state_offsets();
  std::vector<Value*> out;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    out.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), states, offsets[k]));
  }
  return out;
}

uint64_t StageEmitter::lane_state_bytes() const { return lane_state_offsets().back(); }

std::vector<Value*> StageEmitter::load_lane_states(Value* states) {
  std::vector<Value*> out = lane_state_places(states);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = b_.CreateLoad(sums_.nothing_of(k)->getType(), out[k]);
  return out;
}

void StageEmitter::store_lane_states(Value* states, llvm::ArrayRef<Value*> values) {
  const std::vector<Value*> places = lane_state_places(states);
  for (std::size_t k = 0; k < places.size(); ++k) b_.CreateStore(values[k], places[k]);
}

void StageEmitter::emit_merge(Value* states, Value* later) {
  store_lane_states(states, folds_.merged_parts(load_lane_states(states), load_lane_states(later)));
}

/// What has met no point.
void StageEmitter::emit_no_lane_states(Value* states) {
  std::vector<Value*> nothing;
  for (std::size_t k = 0; k < sums_.size(); ++k) nothing.push_back(sums_.nothing_of(k));
  store_lane_states(states, nothing);
}

/// Sums that were opened outside of it go from one pass to the next.
void StageEmitter::emit_plain_loop(int level, Range range) {
  std::vector<std::size_t> carried;
  std::vector<Value*> values;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sums_.statement_of(k)].opened > level) continue;
    carried.push_back(k);
    values.push_back(sums_[k]);
  }
  const Loop loop = open_loop(b_, range.begin, values);
  nest_.point_of(plan_.loop(level).axis) = loop.point;
  for (std::size_t k = 0; k < carried.size(); ++k) sums_[carried[k]] = loop.carried[k];
  if (level + 2 == plan_.innermost() && kernel::looks_in_rows(nest_.kernel)) f_.ends.checkpoint();
  emit_level(level + 1);
  for (std::size_t k = 0; k < carried.size(); ++k) values[k] = sums_[carried[k]];
  close_loop(b_, loop, f_.i64(1), range.end, values);
}

/// Whole vectors, `unroll` at a time; then the rest under a mask.
void StageEmitter::emit_vector_axis() {
  nest_.enter_vectors("points");
  auto [begin, end] = nest_.range_of(plan_.innermost() - 1);
  if (nest_.block) {  // a multiple of a chunk, or the first: so it begins at one
    begin = nest_.block;
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateNSWAdd(nest_.block, block_points_), end);
  }
  // (All blocks at the same points, so that none is less of another maximum, which would round once more.)
  if (nest_.part.lane_states) {
    passes_.look_ahead(f_.i64(0), f_.sizes.of(plan_.vector_extent()));
  } else {
    passes_.look_ahead(begin, end);
  }
  if (plan_.by_turns) return turns_.emit_summing(begin, end);
  if (plan_.page > 0) {
    Value* pages = b_.CreateAnd(b_.CreateSub(end, begin), f_.i64(-plan_.page * plan_.unroll));
    pages = b_.CreateAdd(begin, pages);
    Value* is_long = b_.CreateICmpSGE(f_.sizes.of(plan_.num_points()), f_.i64(plan_.pages_from));
    pages = b_.CreateSelect(is_long, pages, begin);
    passes_.emit_vectors(begin, pages, plan_.page);
    begin = pages;
  }
  if (plan_.aligned_store) return emit_aligned(begin, end);
  // A tile of rows may begin anywhere (kernel::rows_at_once), other loops do where a pass does.
  Value* points = plan_.vectors_pass_tile() ? b_.CreateNSWSub(end, begin) : end;
  Value* whole = b_.CreateAnd(points, f_.i64(-plan_.width * plan_.unroll));
  if (plan_.vectors_pass_tile()) whole = b_.CreateNSWAdd(begin, whole);
  passes_.emit_vectors(begin, whole, plan_.width);
  passes_.emit_masked(whole, end);
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
  const Loop parts = open_loop(b_, b_.CreateZExt(is_at_line, b_.getInt64Ty()), {});
  Value* is_start = b_.CreateICmpEQ(parts.point, f_.i64(0));
  Value* whole = b_.CreateAdd(first, b_.CreateAnd(b_.CreateSub(end, first), f_.i64(-plan_.width)));
  whole = b_.CreateSelect(is_start, begin, whole);
  passes_.emit_vectors(b_.CreateSelect(is_start, begin, first), whole, plan_.width);
  passes_.emit_masked(whole, b_.CreateSelect(is_start, first, end));
  close_loop(b_, parts, f_.i64(1), f_.i64(2), {});
}

}  // namespace inlay::llvm_backend
