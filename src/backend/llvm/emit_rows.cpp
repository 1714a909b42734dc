// The loop over rows that have fewer points than one pass of several whole vectors, as only their length tells when it
// runs: what is done once for a row is most of the time that it takes. So the mask of what does not fill a vector is
// made once for all rows, nothing is prepared for long ones, and who asks for the end is looked for once in many rows.
// Rows of no more than one vector go by four, whose lanes become four numbers (or states) side by side. The order in
// which a row is summed is that of emit_turns.cpp: its vectors one after the other, then their lanes by halves.
#include "backend/llvm/emit_rows.h"

#include "kernel/stopping.h"
#include "kernel/tiles.h"

namespace inlay::llvm_backend {

constexpr int kRowsAtOnce = 4;
constexpr int64_t kRowsBetweenLooks = 256;

static std::vector<Value*> flat(const std::vector<std::vector<Value*>>& parts) {
  std::vector<Value*> out;
  for (const std::vector<Value*>& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Range RowEmitter::emit_short_rows(int level) {
  const Range rows = nest_.range_of(level), columns = nest_.range_of(level + 1);
  Value* is_short = b_.CreateICmpSLT(columns.end, f_.i64(plan_.width * plan_.unroll));
  if (never_holds(is_short)) return rows;
  Value* count = b_.CreateAnd(b_.CreateNSWSub(rows.end, rows.begin), f_.i64(-kRowsAtOnce));
  const Branch branch = open_if(b_, is_short);
  Value* first = rows.begin;
  if (lie_side_by_side(level)) {
    Value* is_vector = pass_in_one_loop() ? b_.getTrue() : b_.CreateICmpSLE(columns.end, f_.i64(plan_.width));
    first = b_.CreateSelect(is_vector, b_.CreateNSWAdd(rows.begin, count), rows.begin);
    const Lanes vector = nest_.lanes_before(columns.end, f_.i64(0));
    pass_rows(level, {rows.begin, first}, kRowsAtOnce, [&] { emit_rows_at_once(level, vector, columns.end); });
    if (pass_in_one_loop()) {
      close_if(b_, branch, {}, {});
      Value* count_passed = b_.CreateSelect(is_short, count, f_.i64(0));
      return {b_.CreateNSWAdd(rows.begin, count_passed), rows.end};
    }
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

void RowEmitter::leave_row(const Lanes& outside) {
  nest_.hoist = nullptr;
  forget_row(outside);
}

/// What is known of a row holds in no other.
void RowEmitter::forget_row(const Lanes& outside) {
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
  const auto makes_neighbours = [&](std::size_t i) {
    const kernel::LinearMap& place = plan_.statements[i].place;
    const kernel::Statement& fold = nest_.statement(i);
    return place.stride_of(plan_.loop(level).axis).is(1) && place.indices.empty() && !is_complex(fold.dtype) &&
           !f_.places.is_scalar(fold.buffer);
  };
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (!makes_neighbours(sums_.statement_of(k))) return false;
  }
  return plan_.width >= kRowsAtOnce && plan_.loop(level).merged.empty();
}

/// Each row's first vector, to which nothing is merged, and a loop that all rows have in common for what follows. Where
/// one operation merges, the loop makes the first too: that is less code.
RowEmitter::Rows RowEmitter::states_of_rows(int level, const Lanes& first, Value* end) {
  const bool is_apart = merges_long() || !pass_in_one_loop();
  const Lanes outside = nest_.uniform;
  Value*& point = nest_.point_of(plan_.loop(level).axis);
  Value* begin = point;
  std::vector<Value*> points, states;
  std::vector<Lanes> uniform;
  for (int u = 0; u < kRowsAtOnce; ++u) {
    points.push_back(point = u == 0 ? begin : b_.CreateNSWAdd(begin, f_.i64(u)));
    begin_row(level);
    Lanes lanes = first;
    if (is_apart) passes_.emit_body(lanes, sums_.values);
    states.insert(states.end(), sums_.values.begin(), sums_.values.end());
    uniform.push_back(nest_.uniform);
    leave_row(outside);
  }
  if (pass_in_one_loop()) pass_rest(level, states, points, uniform, is_apart ? plan_.width : 0, end);
  point = begin;
  Rows rows;
  for (std::size_t at = 0; at < states.size(); at += sums_.size()) {
    rows.push_back(llvm::ArrayRef(states).slice(at, sums_.size()).vec());
  }
  return rows;
}

/// From point `passed` on, all rows in one loop.
void RowEmitter::pass_rest(int level, std::vector<Value*>& states, llvm::ArrayRef<Value*> points,
                           llvm::ArrayRef<Lanes> uniform, int64_t passed, Value* end) {
  const Lanes outside = nest_.uniform;
  const std::vector<Value*> before = states;
  const Branch branch = open_if(b_, passed > 0 ? b_.CreateICmpSGT(end, f_.i64(passed)) : b_.getTrue());
  nest_.enter_vectors("rows");
  const Loop loop = open_loop(b_, f_.i64(passed), before);
  const Lanes here = nest_.lanes_before(end, loop.point);
  states.clear();
  for (std::size_t u = 0; u < points.size(); ++u) {
    nest_.point_of(plan_.loop(level).axis) = points[u];
    nest_.uniform = uniform[u];
    const auto of_row = loop.carried.begin() + static_cast<std::ptrdiff_t>(states.size());
    std::vector<Value*> sums(of_row, of_row + static_cast<std::ptrdiff_t>(sums_.size()));
    Lanes lanes = here;
    passes_.emit_body(lanes, sums);
    states.insert(states.end(), sums.begin(), sums.end());
    forget_row(outside);
  }
  close_loop(b_, loop, f_.i64(plan_.width), end, states);
  states = close_if(b_, branch, states, before);
  nest_.hoist = nullptr;
}

/// Several rows: merging takes long, so that they are to share it, or the stage is one of several, whose code adds up.
/// (A sum alone is faster where rows of more than a vector have loops of their own: by four lanes of 1e5 doubles in
/// rows of 16, us, 24, so 16.)
bool RowEmitter::pass_in_one_loop() const { return merges_long() || kernel::folds_rows_again(nest_.kernel); }

/// Does a fold have several states?
bool RowEmitter::merges_long() const {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (sums_.fold_of(k).has_several_states()) return true;
  }
  return false;
}

/// The lanes of each row of the fold with sum k as one, by halves as in states_of_lanes: the halves of two rows fill a
/// vector, until all rows are in one. Where merging takes long, halves that no row has points in are left out: rows of
/// `end` points fill the first lanes.
std::vector<Value*> RowEmitter::reduced(std::size_t k, std::size_t count, const Rows& rows, Value* end) {
  Rows parts;
  for (const std::vector<Value*>& row : rows) parts.push_back(llvm::ArrayRef(row).slice(k, count).vec());
  for (int length = plan_.width; length > 1; length /= 2) {  // of a row's lanes
    const int lanes = width_of(parts[0][0]) * (parts.size() > 1 ? 2 : 1);
    llvm::SmallVector<int, 32> first, second;
    for (int lane = 0; lane < lanes; ++lane) (lane % length < length / 2 ? first : second).push_back(lane);
    const Rows firsts = halves(parts, first);
    Value* has_second = count > 1 ? b_.CreateICmpSGT(end, f_.i64(length / 2)) : b_.getTrue();
    const Branch branch = open_if(b_, has_second);
    const Rows seconds = halves(parts, second);
    for (std::size_t p = 0; p < firsts.size(); ++p) {
      parts[p] = folds_.merged_states(sums_.statement_of(k), firsts[p], seconds[p]);
    }
    parts.resize(firsts.size());
    const std::vector<Value*> now = close_if(b_, branch, flat(parts), flat(firsts));
    for (std::size_t n = 0; n < now.size(); ++n) parts[n / count][n % count] = now[n];
  }
  return parts[0];
}

/// These lanes of each two parts, of all states; or of the only part.
RowEmitter::Rows RowEmitter::halves(const Rows& parts, llvm::ArrayRef<int> lanes) {
  Rows out;
  for (std::size_t at = 0; at < parts.size(); at += 2) {
    const std::vector<Value*>&a = parts[at], &b = parts[std::min(at + 1, parts.size() - 1)];
    std::vector<Value*>& both = out.emplace_back();
    for (std::size_t s = 0; s < a.size(); ++s) both.push_back(b_.CreateShuffleVector(a[s], b[s], lanes));
  }
  return out;
}

void RowEmitter::emit_rows_at_once(int level, const Lanes& vector, Value* end) {
  const Rows rows = states_of_rows(level, vector, end);
  Lanes lanes = nest_.uniform;
  lanes.width = kRowsAtOnce;
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    const std::size_t i = sums_.statement_of(k);
    std::vector<std::optional<Place>> places;
    for (std::size_t s = 0; s < facts(nest_.statement(i).fold).num_stored; ++s) {
      places.push_back(access_.place(i + s, nest_.uniform));
      places.back()->shape = Place::Shape::contiguous;
    }
    folds_.merge_into(i, places, reduced(k, count, rows, end), lanes);
  });
}

}  // namespace inlay::llvm_backend
