// The loop of a stage that folds rows: each lane has the states of a column in registers, for as many rows as a group
// has; what the groups of a block have lies on the stack, and memory is read and written once in a block. So n rows
// make a tree of three levels, whose order depends on their number alone: the rows of a group, the groups of a block,
// the blocks one after the other.
//
// A strip is so many columns as are passed at a time. It passes all rows of a group before the next strip does, and a
// chunk of columns all groups of a block, so the order of the points is another one than the stage's
// (StagePlan::by_columns says where that may be). A group is no larger, since what is fetched ahead follows so many
// rows at a time, and where they are a power of 2 apart their lines meet in one place of a cache (256 x 65 536 doubles,
// ms: groups of 8 rows 7.0, of 16 9.0, of 32 11.9, of 64 13.5).
#include "backend/llvm/emit_columns.h"

#include <algorithm>

#include "kernel/stopping.h"

namespace inlay::llvm_backend {

constexpr int kRowsOfGroup = 8, kRowsOfBlock = 64;
constexpr int kVectorsOfChunk = 256;  // 8 KB of doubles by four lanes: they stay in the first cache

void ColumnEmitter::emit_columns(int level) {
  const Range rows = nest_.range_of(level), columns = nest_.range_of(level + 1);
  if (never_holds(b_.CreateICmpSLT(columns.begin, columns.end))) return;  // of 0 columns, as is known
  const int64_t columns_of_chunk = kVectorsOfChunk * plan_.width;
  const Loop blocks = open_loop(b_, rows.begin, {});
  const Range block = {blocks.point, end_of(blocks.point, kRowsOfBlock, rows.end)};
  const Loop chunks = open_loop(b_, columns.begin, {});
  chunk_ = {chunks.point, end_of(chunks.point, columns_of_chunk, columns.end)};
  const Loop vectors = open_loop(b_, chunk_.begin, {});
  set_states(places_of(vectors.point), nothing(1));
  close_loop(b_, vectors, f_.i64(plan_.width), chunk_.end, {});
  const Loop groups = open_loop(b_, block.begin, {});
  fold_rows(level, {groups.point, end_of(groups.point, kRowsOfGroup, block.end)});
  close_loop(b_, groups, f_.i64(kRowsOfGroup), block.end, {});
  for_each_strip({1}, [&](llvm::MutableArrayRef<Lanes> strip) {
    folds_.merge_parts_into_memory(states(places_of(strip[0].point)), strip[0]);
  });
  close_loop(b_, chunks, f_.i64(columns_of_chunk), columns.end, {});
  close_loop(b_, blocks, f_.i64(kRowsOfBlock), rows.end, {});
}

Value* ColumnEmitter::end_of(Value* begin, int64_t most, Value* end) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateNSWAdd(begin, f_.i64(most)), end);
}

/// Calls visit(vectors) in a loop for each number of them that are passed at a time, each for as many columns of the
/// chunk as are left, and then for the last columns, under a mask.
void ColumnEmitter::for_each_strip(llvm::ArrayRef<int> numbers_of_vectors,
                                   llvm::function_ref<void(llvm::MutableArrayRef<Lanes>)> visit) {
  Value* begin = chunk_.begin;
  const auto pass = [&](int vectors, Value* end, bool masked) {
    Value* has_any = b_.CreateICmpSLT(begin, end);
    if (never_holds(has_any)) return;
    const Branch branch = open_if(b_, has_any);
    const Loop strips = open_loop(b_, begin, {});
    std::vector<Lanes> strip;
    for (int u = 0; u < vectors; ++u) {
      Value* point = u == 0 ? strips.point : b_.CreateNSWAdd(strips.point, f_.i64(u * plan_.width));
      strip.push_back(masked ? nest_.lanes_before(end, point) : nest_.lanes_at(point));
    }
    const Lanes outside = nest_.uniform;
    visit(strip);
    // What is known of these loops holds in no others.
    nest_.leave_vectors(outside);
    access_.forget_starts();
    divisions_.forget_divisors();
    close_loop(b_, strips, f_.i64(vectors * plan_.width), end, {});
    close_if(b_, branch, {}, {});
    begin = end;
  };
  for (int vectors : numbers_of_vectors) {
    Value* whole = b_.CreateAnd(b_.CreateNSWSub(chunk_.end, begin), f_.i64(-plan_.width * vectors));
    pass(vectors, b_.CreateNSWAdd(begin, whole), /*masked=*/false);
  }
  pass(1, chunk_.end, /*masked=*/true);
}

/// The chunk's states take in those of a group of rows. (One vector alone waits for its own last addition.)
void ColumnEmitter::fold_rows(int level, Range rows) {
  std::vector<int> vectors = {plan_.unroll};
  if (plan_.unroll > 2) vectors.push_back(2);
  for_each_strip(vectors, [&](llvm::MutableArrayRef<Lanes> strip) {
    if (kernel::looks_in_rows(nest_.kernel)) f_.ends.checkpoint();
    const std::vector<Value*> group = states_of_rows(level, rows, strip);
    nest_.hoist = nullptr;
    for (std::size_t u = 0; u < strip.size(); ++u) {
      const auto newer = llvm::ArrayRef(group).slice(u * sums_.size(), sums_.size());
      const std::vector<Value*> places = places_of(strip[u].point);
      set_states(places, folds_.merged_parts(states(places), newer));
    }
  });
}

/// Of so many vectors.
std::vector<Value*> ColumnEmitter::nothing(std::size_t vectors) const {
  std::vector<Value*> out;
  for (std::size_t n = 0; n < vectors * sums_.size(); ++n) out.push_back(sums_.nothing_of(n % sums_.size()));
  return out;
}

/// The states that rows make of each vector of a strip.
std::vector<Value*> ColumnEmitter::states_of_rows(int level, Range rows, llvm::MutableArrayRef<Lanes> strip) {
  nest_.enter_vectors("strip");
  for (Lanes& vector : strip) {
    for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
      if (plan_.is_made_before_rows(i)) statements_.emit_statement(i, vector);
    }
  }
  const Loop loop = open_loop(b_, rows.begin, nothing(strip.size()));
  nest_.point_of(plan_.loop(level).axis) = loop.point;
  statements_.emit_uniform(level + 1);
  nest_.enter_vectors("columns");
  std::vector<Value*> group;
  for (const Lanes& vector : strip) {
    const auto begin = loop.carried.begin() + static_cast<std::ptrdiff_t>(group.size());
    std::vector<Value*> states(begin, begin + static_cast<std::ptrdiff_t>(sums_.size()));
    Lanes lanes = vector;
    passes_.emit_body(lanes, states);
    group.insert(group.end(), states.begin(), states.end());
  }
  close_loop(b_, loop, f_.i64(1), rows.end, group);
  return group;
}

/// Where the chunk has the states of the vector at `point`: each state of all vectors lies together.
std::vector<Value*> ColumnEmitter::places_of(Value* point) {
  const llvm::DataLayout& layout = f_.module.getDataLayout();
  Value* number = b_.CreateExactSDiv(b_.CreateNSWSub(point, chunk_.begin), f_.i64(plan_.width));
  uint64_t all = 0;
  std::vector<Value*> offsets;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const uint64_t bytes = layout.getTypeAllocSize(sums_.nothing_of(k)->getType()).getFixedValue();
    Value* of_vector = b_.CreateMul(number, f_.i64(static_cast<int64_t>(bytes)));
    offsets.push_back(b_.CreateAdd(of_vector, f_.i64(static_cast<int64_t>(all))));
    all += llvm::alignTo(bytes * kVectorsOfChunk, 64);
  }
  Value* stack = f_.frame.sum_stack(all);
  for (Value*& offset : offsets) offset = b_.CreateGEP(b_.getInt8Ty(), stack, offset);
  return offsets;
}

std::vector<Value*> ColumnEmitter::states(llvm::ArrayRef<Value*> places) {
  std::vector<Value*> out;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    out.push_back(b_.CreateLoad(sums_.nothing_of(k)->getType(), places[k]));
  }
  return out;
}

void ColumnEmitter::set_states(llvm::ArrayRef<Value*> places, llvm::ArrayRef<Value*> states) {
  for (std::size_t k = 0; k < sums_.size(); ++k) b_.CreateStore(states[k], places[k]);
}

}  // namespace inlay::llvm_backend
