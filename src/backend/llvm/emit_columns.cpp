// The loop of a stage that folds rows: each lane has the states of a column in registers, for as many rows as a block
// has. So memory is read and written once in a block, and n rows make a tree of three levels, whose order depends on
// their number alone: a group of kRowsOfGroup rows, the groups of a block, the blocks one after the other.
//
// A strip is so many columns as are passed at a time. It passes all rows of a block before the next strip does, so the
// order of the points is another one than the stage's (StagePlan::by_columns says where that may be).
#include "backend/llvm/emit_columns.h"

#include <algorithm>

#include "kernel/stopping.h"

namespace inlay::llvm_backend {

constexpr int kRowsOfGroup = 16, kRowsOfBlock = 64;

void ColumnEmitter::emit_columns(int level) {
  const Range rows = nest_.range_of(level), columns = nest_.range_of(level + 1);
  Value* whole = b_.CreateAnd(columns.end, f_.i64(-plan_.width * plan_.unroll));
  const Loop blocks = open_loop(b_, rows.begin, {});
  Value* block_end = b_.CreateNSWAdd(blocks.point, f_.i64(kRowsOfBlock));
  block_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, block_end, rows.end);
  emit_strips(level, {blocks.point, block_end}, {columns.begin, whole}, /*masked=*/false);
  emit_strips(level, {blocks.point, block_end}, {whole, columns.end}, /*masked=*/true);
  close_loop(b_, blocks, f_.i64(kRowsOfBlock), rows.end, {});
}

/// Of a block of rows. What does not fill a strip is passed by single vectors, under a mask.
void ColumnEmitter::emit_strips(int level, Range rows, Range columns, bool masked) {
  Value* has_any = b_.CreateICmpSLT(columns.begin, columns.end);
  if (never_holds(has_any)) return;
  const Branch branch = open_if(b_, has_any);
  const Loop strips = open_loop(b_, columns.begin, {});
  if (kernel::looks_in_rows(nest_.kernel)) f_.ends.checkpoint();
  const int vectors = masked ? 1 : plan_.unroll;
  std::vector<Lanes> strip;
  for (int u = 0; u < vectors; ++u) {
    Value* point = u == 0 ? strips.point : b_.CreateNSWAdd(strips.point, f_.i64(u * plan_.width));
    strip.push_back(masked ? nest_.lanes_before(columns.end, point) : nest_.lanes_at(point));
  }
  const Lanes outside = nest_.uniform;
  const std::vector<Value*> states = fold_rows(level, rows, strip);
  nest_.hoist = nullptr;
  for (std::size_t u = 0; u < strip.size(); ++u) {
    folds_.merge_parts_into_memory(llvm::ArrayRef(states).slice(u * sums_.size(), sums_.size()), strip[u]);
  }
  // What is known of these loops holds in no others.
  nest_.leave_vectors(outside);
  access_.forget_starts();
  divisions_.forget_divisors();
  close_loop(b_, strips, f_.i64(vectors * plan_.width), columns.end, {});
  close_if(b_, branch, {}, {});
}

/// The states that the rows of a block make of each vector of a strip.
std::vector<Value*> ColumnEmitter::fold_rows(int level, Range rows, llvm::ArrayRef<Lanes> strip) {
  std::vector<Value*> nothing;
  for (std::size_t n = 0; n < strip.size() * sums_.size(); ++n) nothing.push_back(sums_.nothing_of(n % sums_.size()));
  const Loop groups = open_loop(b_, rows.begin, nothing);
  Value* group_end = b_.CreateNSWAdd(groups.point, f_.i64(kRowsOfGroup));
  group_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, group_end, rows.end);
  const Loop loop = open_loop(b_, groups.point, nothing);
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
  close_loop(b_, loop, f_.i64(1), group_end, group);
  const std::vector<Value*> so_far(groups.carried.begin(), groups.carried.end());
  std::vector<Value*> block;
  for (std::size_t n = 0; n < group.size(); n += sums_.size()) {
    const auto of_vector = [&](llvm::ArrayRef<Value*> all) { return all.slice(n, sums_.size()); };
    const std::vector<Value*> both = folds_.merged_parts(of_vector(so_far), of_vector(group));
    block.insert(block.end(), both.begin(), both.end());
  }
  close_loop(b_, groups, f_.i64(kRowsOfGroup), rows.end, block);
  return block;
}

}  // namespace inlay::llvm_backend
