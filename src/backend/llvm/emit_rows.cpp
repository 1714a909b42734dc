// The loop over rows that have fewer points than one pass of several whole vectors, as only their length tells when it
// runs: what is done once for a row is most of the time that it takes. So the mask of what does not fill a vector is
// made once for all rows, nothing is prepared for long ones, and who asks for the end is looked for once in many rows.
// Rows of no more than one vector go by four, whose lanes become four numbers side by side. The order in which a row is
// summed is that of emit_turns.cpp: its vectors one after the other, then their lanes by halves.
#include "backend/llvm/emit_rows.h"

#include "kernel/stopping.h"

namespace inlay::llvm_backend {

constexpr int kRowsAtOnce = 4;
constexpr int64_t kRowsBetweenLooks = 256;

Range RowEmitter::emit_short_rows(int level) {
  const Range rows = nest_.range_of(level), columns = nest_.range_of(level + 1);
  Value* is_short = b_.CreateICmpSLT(columns.end, f_.i64(plan_.width * plan_.unroll));
  if (never_holds(is_short)) return rows;
  const Branch branch = open_if(b_, is_short);
  Value* first = rows.begin;
  if (lie_side_by_side(level)) {
    Value* is_vector = b_.CreateICmpSLE(columns.end, f_.i64(plan_.width));
    Value* count = b_.CreateAnd(b_.CreateNSWSub(rows.end, rows.begin), f_.i64(-kRowsAtOnce));
    first = b_.CreateSelect(is_vector, b_.CreateNSWAdd(rows.begin, count), rows.begin);
    const Lanes vector = nest_.lanes_before(columns.end, f_.i64(0));
    pass_rows(level, {rows.begin, first}, kRowsAtOnce, [&] { emit_rows_at_once(level, vector); });
  }
  Value* whole = b_.CreateAnd(columns.end, f_.i64(-plan_.width));
  const Lanes rest = nest_.lanes_before(columns.end, whole);
  Value* has_rest = b_.CreateICmpSLT(whole, columns.end);
  pass_rows(level, {first, rows.end}, 1, [&] { emit_row(level, whole, rest, has_rest); });
  close_if(b_, branch, {}, {});
  return {b_.CreateSelect(is_short, rows.end, rows.begin), rows.end};
}

void RowEmitter::pass_rows(int level, Range rows, int step, llvm::function_ref<void()> row) {
  const Branch branch = open_if(b_, b_.CreateICmpSLT(rows.begin, rows.end));
  const Loop stretches = open_loop(b_, rows.begin, {});
  if (kernel::looks_in_rows(nest_.kernel)) f_.ends.checkpoint();
  Value* end = b_.CreateNSWAdd(stretches.point, f_.i64(kRowsBetweenLooks));
  end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, rows.end);
  const Loop loop = open_loop(b_, stretches.point, {});
  nest_.point_of(plan_.loop(level).axis) = loop.point;
  row();
  close_loop(b_, loop, f_.i64(step), end, {});
  close_loop(b_, stretches, f_.i64(kRowsBetweenLooks), rows.end, {});
  close_if(b_, branch, {}, {});
}

/// What is prepared for the points of the row stands at its beginning.
void RowEmitter::begin_row(int level) {
  statements_.emit_uniform(level + 1);
  folds_.open_sums(level + 1);
  nest_.enter_vectors("row");
}

/// What is known of a row holds in no other.
void RowEmitter::leave_row(const Lanes& outside) {
  nest_.hoist = nullptr;
  nest_.leave_vectors(outside);
  access_.forget_starts();
  divisions_.forget_divisors();
}

void RowEmitter::emit_row(int level, Value* end_of_whole, const Lanes& rest, Value* has_rest) {
  const Lanes outside = nest_.uniform;
  begin_row(level);
  const auto pass = [&](Lanes lanes) { passes_.emit_body(lanes, sums_.values); };

  std::vector<Value*> before = sums_.values;
  const Branch has_whole = open_if(b_, b_.CreateICmpSGT(end_of_whole, f_.i64(0)));
  const Loop loop = open_loop(b_, f_.i64(0), before);
  sums_.values.assign(loop.carried.begin(), loop.carried.end());
  pass(nest_.lanes_at(loop.point));
  close_loop(b_, loop, f_.i64(plan_.width), end_of_whole, sums_.values);
  sums_.values = close_if(b_, has_whole, sums_.values, before);

  before = sums_.values;
  const Branch branch = open_if(b_, has_rest);
  pass(rest);
  sums_.values = close_if(b_, branch, sums_.values, before);
  folds_.finish_sums(level + 1);
  leave_row(outside);
}

/// Are the elements that rows make neighbours in memory?
bool RowEmitter::lie_side_by_side(int level) const {
  const auto makes_neighbours = [&](std::size_t sum) {
    const kernel::LinearMap& place = plan_.statements[sums_.statement_of(sum)].place;
    const kernel::Statement& fold = sums_.fold_of(sum);
    return place.stride_of(plan_.loop(level).axis).is(1) && place.indices.empty() && !is_complex(fold.dtype) &&
           !f_.places.is_scalar(fold.buffer);
  };
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (!makes_neighbours(k)) return false;
  }
  return plan_.width > kRowsAtOnce && plan_.loop(level).merged.empty();
}

/// The lanes of each row as one number, by halves as in reduce_lanes, of all rows in one vector as soon as they fit it.
static Value* reduce_rows(FunctionEmitter& f, Combine combine, DType dtype, std::vector<Value*> rows) {
  const int count = static_cast<int>(rows.size());
  const auto both = [&](Value* first, Value* second) { return emit_combine(f, combine, dtype, first, second); };
  for (Value*& row : rows) row = by_halves(f, combine, dtype, row, count);
  for (int length = count; rows.size() > 1; length /= 2) {  // of a row's lanes
    llvm::SmallVector<int, 16> first, second;
    for (int lane = 0; lane < 2 * count; ++lane) (lane % length < length / 2 ? first : second).push_back(lane);
    for (std::size_t pair = 0; pair < rows.size() / 2; ++pair) {
      Value *a = rows[2 * pair], *b = rows[2 * pair + 1];
      rows[pair] = both(f.b.CreateShuffleVector(a, b, first), f.b.CreateShuffleVector(a, b, second));
    }
    rows.resize(rows.size() / 2);
  }
  return rows[0];
}

void RowEmitter::emit_rows_at_once(int level, const Lanes& vector) {
  const Lanes outside = nest_.uniform;
  Value*& point = nest_.point_of(plan_.loop(level).axis);
  Value* begin = point;
  std::vector<std::vector<Value*>> rows(sums_.size());
  for (int u = 0; u < kRowsAtOnce; ++u) {
    if (u > 0) point = b_.CreateNSWAdd(begin, f_.i64(u));
    begin_row(level);
    Lanes lanes = vector;
    passes_.emit_body(lanes, sums_.values);
    for (std::size_t k = 0; k < sums_.size(); ++k) rows[k].push_back(sums_[k]);
    leave_row(outside);
  }
  point = begin;
  Lanes lanes = outside;
  lanes.width = kRowsAtOnce;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const kernel::Statement& fold = sums_.fold_of(k);
    Place place = access_.place(sums_.statement_of(k), nest_.uniform);
    place.shape = Place::Shape::contiguous;
    Value* now = reduce_rows(f_, fold.combine(), fold.dtype, rows[k]);
    now = emit_combine(f_, fold.combine(), fold.dtype, load(f_, place, fold.dtype, lanes), now);
    store(f_, place, fold.dtype, now, lanes);
  }
}

}  // namespace inlay::llvm_backend
