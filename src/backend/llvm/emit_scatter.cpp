// Accumulating through an index that differs from lane to lane: lanes may meet in one element.
//
// Lane after lane loads, combines and stores. Where neighbours hit the same element (a sorted index: groups of
// observations) each waits for the store before it. So where the table is small each lane has a copy of its own on the
// stack, filled with what changes nothing, and the copies are summed up behind the loop. Then no two lanes meet, and
// where the CPU gathers well eight loads and stores become a gather and a scatter. But a gather waits long for the
// scatter before it, so where there are many points to an element a vector of which all lanes hit one element, as with
// a sorted index, is summed up first and added as one number (1e5 doubles into 85, sorted, us: 107, so 24).
#include "backend/llvm/emit_scatter.h"

#include <algorithm>
#include <utility>

namespace inlay::llvm_backend {

using kernel::Statement;

namespace {

constexpr int64_t kMostTableBytes = 32 * 1024;  // of all tables of a stage: about what stays in the first cache

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

}  // namespace

bool ScatterEmitter::wants_table(std::size_t i) const {
  const kernel::NestStatement& facts = plan_.statements[i];
  const Statement& s = nest_.statement(i);
  if (f_.options.scatter == LanePrivate::off || !facts.live || !facts.index_varies || !s.accumulates()) return false;
  if (s.kind != Statement::Kind::store && s.kind != Statement::Kind::fold) return false;
  // Complex: one lane after the other is as fast. f16 and bf16: every addition rounds, and so their order shows.
  if (is_complex(s.dtype) || is_half(s.dtype)) return false;
  const Dim elements = kernel::num_elements(f_.program.buffers[s.buffer]);
  if (!elements.is_constant() || elements.constant() == 0) return false;
  // Stages with outer axes would clear it and sum it up again at each of their points.
  if (!nest_.kernel.outer.empty() && !nest_.stage.once) return false;
  // Clearing and summing up takes some two passes over the table; the loop must be worth it.
  const Dim points = plan_.num_points();
  if (points.is_constant() && points.constant() < 2 * elements.constant()) return false;
  // Another write to the same buffer must keep its order with this one.
  for (std::size_t k = 0; k < plan_.statements.size(); ++k) {
    const Statement& other = nest_.statement(k);
    if (k != i && plan_.statements[k].live && other.buffer.valid() &&
        kernel::root_of(f_.program, other.buffer) == kernel::root_of(f_.program, s.buffer)) {
      return false;
    }
  }
  return true;
}

void ScatterEmitter::open_tables() {
  int64_t total = 0;
  std::vector<int64_t> offsets;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    if (!wants_table(i)) continue;
    const Statement& s = nest_.statement(i);
    const int64_t elements = kernel::num_elements(f_.program.buffers[s.buffer]).constant();
    const int64_t pitch = round_up(elements, plan_.width);
    const int64_t bytes = pitch * plan_.width * size_bytes(s.dtype);
    if (total + bytes > kMostTableBytes) continue;
    tables_.push_back({.statement = i, .elements = elements, .pitch = pitch});
    offsets.push_back(total);
    total += round_up(bytes, 64);
  }
  if (tables_.empty()) return;
  Value* block = f_.frame.scratch(static_cast<uint64_t>(total));
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    PrivateTable& table = tables_[t];
    const Statement& s = nest_.statement(table.statement);
    table.table = b_.CreateConstGEP1_64(b_.getInt8Ty(), block, static_cast<uint64_t>(offsets[t]));
    table.meets_often = meets_often(table.elements);
    Value* nothing = splat(f_, memory_constant(b_, exact_identity_of(s.combine(), s.dtype)), plan_.width);
    const Loop loop = open_loop(b_, f_.i64(0), {});
    b_.CreateAlignedStore(nothing, element_address(f_, s.dtype, table.table, loop.point), llvm::Align(64));
    close_loop(b_, loop, f_.i64(plan_.width), f_.i64(table.pitch * plan_.width), {});
  }
  // Two vectors at a time are asked as one.
  constexpr std::size_t kShortBody = 16;
  if (plan_.unroll == 1 && !plan_.points_wait && !plan_.by_turns && nest_.stage.statements.size() <= kShortBody &&
      passes_long_tables())
    plan_.unroll = 2;
}

/// Do so many points come to an element that, were the index sorted, whole vectors would hit one? Where they are fewer,
/// vectors hit one element now and then, which no branch predictor foresees.
Value* ScatterEmitter::meets_often(int64_t elements) {
  constexpr int64_t kManyPoints = 64;
  Value* points = f_.i64(1);
  for (const kernel::NestLoop& loop : plan_.loops) points = b_.CreateMul(points, f_.sizes.of(loop.extent));
  return b_.CreateICmpSGE(points, f_.i64(kManyPoints * elements));
}

void ScatterEmitter::scatter(std::size_t i, const Place& place, Value* value, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  const auto table = std::ranges::find(tables_, i, &PrivateTable::statement);
  if (table == tables_.end()) return scatter_lane_by_lane(i, place, 0, value, lanes);

  // As far into the table as place.start lies in the buffer.
  Value* begin = f_.places.address(s.buffer);
  Value* shift = place.start == begin ? f_.i64(0) : b_.CreatePtrDiff(b_.getInt8Ty(), place.start, begin);
  const Place mine{.shape = Place::Shape::lanes,
                   .start = element_address(f_, DType::u8, table->table, shift),
                   .offsets = place.offsets,
                   .index = place.index};
  if (lanes.active || !table->may_meet()) return scatter_into_copies(i, mine, table->pitch, value, lanes);
  table->waiting.push_back({mine, value});
  if (table->waiting.size() == static_cast<std::size_t>(plan_.unroll)) scatter_together(*table, lanes);
}

/// The vectors of a pass, as one number if all their lanes hit one element.
void ScatterEmitter::scatter_together(PrivateTable& table, Lanes& lanes) {
  const Statement& s = nest_.statement(table.statement);
  const std::vector<PrivateTable::Waiting> waiting = std::exchange(table.waiting, {});
  Value* element = b_.CreateExtractElement(waiting[0].place.offsets, uint64_t{0});
  Value* differs = nullptr;
  Value* all = nullptr;
  for (const auto& [place, value] : waiting) {
    Value* elsewhere = b_.CreateICmpNE(place.offsets, splat(f_, element, lanes.width));
    differs = differs ? b_.CreateOr(differs, elsewhere) : elsewhere;
    all = all ? emit_combine(f_, s.combine(), s.dtype, all, value) : value;
  }
  Value* same = b_.CreateNot(b_.CreateOrReduce(differs));
  Branch branch = open_if(b_, b_.CreateAnd(same, table.meets_often));
  const Place met{.start = element_address(f_, s.dtype, waiting[0].place.start, element)};
  Lanes one;
  Value* together =
      emit_combine(f_, s.combine(), s.dtype, load(f_, met, s.dtype, one), reduce_lanes(f_, s.combine(), s.dtype, all));
  store(f_, met, s.dtype, together, one);
  open_else(b_, branch);
  for (const auto& [place, value] : waiting) scatter_into_copies(table.statement, place, table.pitch, value, lanes);
  close_if(b_, branch, {}, {});
}

/// Each lane into its own copy, which lies `pitch` elements behind the one before.
void ScatterEmitter::scatter_into_copies(std::size_t i, Place mine, int64_t pitch, Value* value, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  if (!f_.engine.facts().hardware_gather || size_bytes(s.dtype) < 4) {
    return scatter_lane_by_lane(i, mine, pitch, value, lanes);
  }
  std::vector<llvm::Constant*> copies;
  for (int lane = 0; lane < lanes.width; ++lane) copies.push_back(f_.i64(lane * pitch));
  mine.offsets = b_.CreateAdd(mine.offsets, llvm::ConstantVector::get(copies));
  store(f_, mine, s.dtype, emit_combine(f_, s.combine(), s.dtype, load(f_, mine, s.dtype, lanes), value), lanes);
}

/// In order. Lane l's element lies l * pitch further.
void ScatterEmitter::scatter_lane_by_lane(std::size_t i, const Place& place, int64_t pitch, Value* value,
                                          Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  llvm::Type* type = memory_type(b_, s.dtype);
  // Lanes that do not count work on an element of nobody's.
  Value* nowhere = lanes.active ? f_.frame.lane_array(0) : nullptr;
  if (nowhere) b_.CreateStore(llvm::Constant::getNullValue(type), nowhere);
  Lanes one;
  for (int lane = 0; lane < lanes.width; ++lane) {
    Place where{.start = b_.CreateGEP(type, place.start, access_.lane_offset(i, place, lane))};
    where.start = element_address(f_, s.dtype, where.start, f_.i64(lane * pitch));
    if (nowhere) {
      Value* counts = b_.CreateExtractElement(lanes.active, static_cast<uint64_t>(lane));
      where.start = b_.CreateSelect(counts, where.start, nowhere);
    }
    Value* mine = lane_of(f_, value, f_.i64(lane));
    if (s.accumulates()) mine = emit_combine(f_, s.combine(), s.dtype, load(f_, where, s.dtype, one), mine);
    store(f_, where, s.dtype, mine, one);
  }
}

/// By the instruction where there is one: it is as fast where the elements are in a cache, and faster where they are
/// not (1e6 doubles on a Zen 5, us: 1560, lane by lane 2080).
void ScatterEmitter::set(std::size_t i, const Place& place, Value* value, Lanes& lanes) {
  const bool lane_by_lane = place.shape == Place::Shape::lanes && plan_.statements[i].index_varies && !lanes.active &&
                            !f_.engine.facts().hardware_gather;
  if (lane_by_lane) return scatter_lane_by_lane(i, place, 0, value, lanes);
  store(f_, place, nest_.statement(i).dtype, value, lanes);
}

/// Adds the copies up, a vector of elements at a time, and the sum to the buffer.
void ScatterEmitter::close_tables() {
  for (const PrivateTable& table : tables_) {
    const Statement& s = nest_.statement(table.statement);
    llvm::Type* element = memory_type(b_, s.dtype);
    auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(plan_.width));
    Value* begin = f_.places.address(s.buffer);
    const auto add_up = [&](Value* first, Lanes& lanes) {
      Value* sum = nullptr;
      for (int lane = 0; lane < plan_.width; ++lane) {
        Value* at = b_.CreateConstGEP1_64(element, table.table, static_cast<uint64_t>(lane * table.pitch));
        Value* bytes = b_.CreateAlignedLoad(vector, element_address(f_, s.dtype, at, first), alignment_of(s.dtype));
        Value* copy = from_memory(b_, bytes, s.dtype);
        sum = sum ? emit_combine(f_, s.combine(), s.dtype, sum, copy) : copy;
      }
      const Place target{.shape = Place::Shape::contiguous, .start = element_address(f_, s.dtype, begin, first)};
      store(f_, target, s.dtype, emit_combine(f_, s.combine(), s.dtype, load(f_, target, s.dtype, lanes), sum), lanes);
    };
    const int64_t whole = table.elements / plan_.width * plan_.width;
    if (whole > 0) {
      const Loop loop = open_loop(b_, f_.i64(0), {});
      Lanes lanes = nest_.lanes_at(loop.point);
      add_up(loop.point, lanes);
      close_loop(b_, loop, f_.i64(plan_.width), f_.i64(whole), {});
    }
    if (whole == table.elements) continue;
    Lanes lanes = nest_.lanes_at(f_.i64(whole));
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < plan_.width; ++lane) active.push_back(b_.getInt1(whole + lane < table.elements));
    lanes.active = llvm::ConstantVector::get(active);
    add_up(f_.i64(whole), lanes);
  }
}

}  // namespace inlay::llvm_backend
