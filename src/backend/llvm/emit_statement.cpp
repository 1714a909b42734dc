#include "backend/llvm/emit_statement.h"

#include <algorithm>

#include "kernel/live.h"
#include "kernel/ranges.h"
#include "kernel/tiles.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;
using Kind = Statement::Kind;

void StatementEmitter::emit_uniform(int level) {
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

void StatementEmitter::emit_statement(std::size_t i, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
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

Value* StatementEmitter::emit_value(const Statement& s, std::size_t i, Lanes& lanes) {
  switch (s.kind) {
    case Kind::load: return emit_load(i, lanes);
    case Kind::literal: return splat(f_, constant(b_, s.literal), lanes.width);
    case Kind::axis: {
      const bool runs_here = s.axis == plan_.vector_axis() && lanes.point;
      Value* point = runs_here ? lane_points(f_, lanes) : splat(f_, nest_.point_of(s.axis), lanes.width);
      return emit_cast(f_, point, DType::i64, s.dtype);
    }
    case Kind::size: return emit_cast(f_, splat(f_, f_.sizes.of(s.size), lanes.width), DType::i64, s.dtype);
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
bool StatementEmitter::roots_wait() const {
  std::size_t roots = 0, instructions = 0;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const Statement& s = nest_.statement(i);
    if (!plan_.statements[i].live || plan_.statements[i].level < plan_.innermost() || s.kind != Kind::op) continue;
    if (plan_.is_made_before_rows(i)) continue;
    if (s.op == ScalarOp::sqrt_) {
      ++roots;
    } else {
      const llvm::Function* function = f_.engine.math().of_doubles(facts(s.op).name);
      instructions += function ? function->getEntryBlock().size() : 1;
    }
  }
  constexpr std::size_t kBesideARoot = 30;  // the exponential has 18, the logarithm 27
  return instructions < roots * kBesideARoot;
}

Value* StatementEmitter::emit_operation(const Statement& s, Lanes& lanes) {
  llvm::SmallVector<Value*, 3> operands;
  for (kernel::RegisterId r : s.operands) operands.push_back(nest_.operand(r, lanes));
  const DType dtype = plan_.register_dtypes[s.operands.back().index];
  if (s.kind == Kind::cast) {
    return kernel::casts_within_i32(nest_.stage, s, dtype) ? emit_small_cast(f_, operands[0], s.dtype)
                                                           : emit_cast(f_, operands[0], dtype, s.dtype);
  }

  if (s.op == ScalarOp::sqrt_ && dtype == DType::f64 && lanes.width % 8 == 0 && f_.engine.facts().avx512 &&
      roots_wait()) {
    return emit_math(f_, "sqrt", operands, lanes.active);
  }

  if (s.op == ScalarOp::div_) {
    if (Value* quotient = divisions_.divide_by_prepared(s, operands, lanes)) return quotient;
  }
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  if (s.op != ScalarOp::mul_ && s.op != ScalarOp::square_) b_.clearFastMathFlags();
  return emit_op(f_, s.op, dtype, operands, lanes.active);
}

void StatementEmitter::emit_check(const Statement& s, Lanes& lanes) {
  if (const kernel::IndexTerm* index = s.index_to_check()) return void(access_.wrapped(*index, lanes));
  Value* bad = b_.CreateNot(nest_.operand(s.operands[0], lanes));
  if (lanes.active) bad = b_.CreateAnd(bad, lanes.active);
  llvm::BasicBlock* leave = new_block(b_, "fail");
  llvm::BasicBlock* go_on = new_block(b_, "checked");
  b_.CreateCondBr(any_lane(f_, bad), leave, go_on, unlikely(b_));
  b_.SetInsertPoint(leave);
  llvm::SmallVector<Value*, 4> numbers;
  for (std::size_t i = 1; i < s.operands.size(); ++i)
    numbers.push_back(of_first_lane(f_, bad, nest_.operand(s.operands[i], lanes)));
  f_.ends.fail(s.site, numbers);
  b_.SetInsertPoint(go_on);
}

Value* StatementEmitter::emit_load(std::size_t i, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  const kernel::Buffer& buffer = f_.program.buffers[s.buffer];
  Value* value = nullptr;
  if (access_.is_in_register(s.buffer)) {
    value = splat(f_, f_.places.scalar(s.buffer), lanes.width);
  } else if (buffer.role == kernel::Role::literal && buffer.elements.size() == 1) {
    value = splat(f_, constant(b_, buffer.elements[0]), lanes.width);
  } else {
    const Place from = access_.place(i, lanes);
    fetch_ahead(i, from, lanes);
    value = load(f_, from, buffer.dtype, lanes);
  }
  return emit_cast(f_, value, buffer.dtype, s.dtype);
}

/// Does a stage read what statement `i` here loads, as it passes its vector axis?
bool StatementEmitter::also_reads(const kernel::Stage& stage, std::size_t i) const {
  return &stage != &nest_.stage && std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return s.kind == Statement::Kind::load && s.buffer == nest_.statement(i).buffer;
  });
}

/// Several stages pass a row, a tile: is this the last of them, the next one is brought meanwhile, since the first of
/// them only waits for memory and the last computes. From one element to that in the next row or tile; or 0.
Dim StatementEmitter::to_next_turn(std::size_t i) const {
  if (nest_.kernel.outer.empty() || nest_.stage.once || nest_.statement(i).is_write() ||
      nest_.kernel.is_local(nest_.statement(i).buffer))
    return 0;
  const auto begin = nest_.kernel.stages.data() + nest_.kernel.num_once(), here = &nest_.stage,
             end = nest_.kernel.stages.data() + nest_.kernel.stages.size();
  const auto reads = [&](const kernel::Stage& stage) { return also_reads(stage, i); };
  if (std::none_of(begin, here, reads) || std::any_of(here + 1, end, reads)) return 0;
  return plan_.statements[i].place.stride_of(nest_.kernel.tiled_axis()) * kernel::rows_at_once(nest_.kernel);
}

/// From the place of statement `i` to what a strip of columns comes to later: the same columns some rows ahead, of a
/// narrow tile and, in loads, of rows that are folded group by group; where those are long, a later part of the row.
/// Null: rows are passed whole, or are so short that the CPU fetches the next ones by itself.
Value* StatementEmitter::to_later_rows(std::size_t i) const {
  constexpr int64_t kRowsAhead = 8, kPageBytes = 4096, kBytesOfRowAhead = 1024;
  if (plan_.loops.size() < 2) return nullptr;
  const int64_t element_bytes = size_bytes(nest_.statement(i).dtype);
  const Dim row = plan_.statements[i].place.stride_of(plan_.loop(plan_.innermost() - 2).axis);
  if (row.is(0)) return nullptr;
  if (plan_.vectors_pass_tile() && plan_.vector_extent().constant() * element_bytes < kPageBytes) {
    const bool follow_by_themselves = row.is_constant() && row.constant() * element_bytes < kPageBytes / kRowsAhead;
    return follow_by_themselves ? nullptr : f_.sizes.of(row * Dim(kRowsAhead));
  }
  if (!plan_.by_columns || nest_.statement(i).is_write()) return nullptr;
  const Dim is_short = min(floor_div(Dim(kPageBytes / element_bytes), max(row, Dim(1))), Dim(1));  // 1 or 0
  return f_.sizes.of(is_short * row * Dim(kRowsAhead) + (Dim(1) - is_short) * Dim(kBytesOfRowAhead / element_bytes));
}

/// Where the CPU does not fetch far enough ahead by itself:
/// - The next row or tile, while this one is worked on (log-sum-exp of 1000 rows of 1000, us: 690, so 555).
/// - A tile of columns passes a short part of each row, and fetching ends with the page (log-sum-exp of 1000 x 1000 by
///   columns, us: 1300, with rows fetched ahead 1140), nor are the lines of a result there in time (softmax by columns,
///   us: 1430, so 1270). So does a strip of rows that are folded
///   (docs/codegen.md, "Folds of rows").
/// - The many operations of a gather and a scatter leave no room for the loads of later points (1e5 doubles into 85, at
///   random, us: 60, with 512 bytes fetched ahead 52).
void StatementEmitter::fetch_ahead(std::size_t i, const Place& place, const Lanes& lanes) {
  constexpr int64_t kBytesAhead = 512;
  constexpr int kInSecondCache = 2, kInAllCaches = 3;
  if (place.shape != Place::Shape::contiguous || lanes.active) return;
  const DType dtype = nest_.statement(i).dtype;
  if (const Dim distance = to_next_turn(i); !distance.is(0)) {
    fetch(element_address(f_, dtype, place.start, f_.sizes.of(distance)), kInSecondCache, false);
  }
  Value* elements = to_later_rows(i);
  if (!elements && scatter_.passes_long_tables()) elements = f_.i64(kBytesAhead / size_bytes(dtype));
  if (!elements) return;
  fetch(element_address(f_, dtype, place.start, elements), kInAllCaches, nest_.statement(i).is_write());
}

void StatementEmitter::fetch(Value* address, int locality, bool to_write) {
  constexpr int kData = 1;
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {b_.getPtrTy()},
      {address, b_.getInt32(to_write ? 1 : 0), b_.getInt32(static_cast<uint32_t>(locality)), b_.getInt32(kData)});
}

void StatementEmitter::emit_store(std::size_t i, Lanes& lanes) {
  const Statement& s = nest_.statement(i);
  if (s.has_several_states()) return s.opens_fold() ? folds_.fold_states(i, lanes) : void();  // all with the first
  Value* value =
      emit_cast(f_, nest_.operand(s.operands[0], lanes), plan_.register_dtypes[s.operands[0].index], s.dtype);
  const bool in_register = access_.is_in_register(s.buffer);
  if (s.predicate.valid()) return store_if(nest_.operand(s.predicate, lanes), i, value, lanes);
  if (!s.accumulates()) {
    if (!in_register) {
      const Place to = access_.place(i, lanes);
      fetch_ahead(i, to, lanes);
      return scatter_.set(i, to, value, lanes);
    }
    INLAY_CHECK(lanes.width == 1, "a scalar is set in a loop");
    return f_.places.set_scalar(s.buffer, value);
  }
  if (in_register || !plan_.statements[i].index_varies) return access_.combine_into(i, value, lanes);
  scatter_.scatter(i, access_.place(i, lanes), value, lanes);
}

/// Is the place of a store the number of points so far where its predicate holds? Then lanes go to neighbours.
bool StatementEmitter::packs(std::size_t i) const {
  const Statement& s = nest_.statement(i);
  const kernel::LinearMap& place = plan_.statements[i].place;
  const bool by_index_alone =
      place.indices.size() == 1 && place.indices[0].second.is(1) && place.stride_of(plan_.vector_axis()).is(0);
  if (!by_index_alone) return false;
  const Statement* count = kernel::maker_of(nest_.stage, place.indices[0].first.index);
  if (count->kind != Statement::Kind::fold || count->fold != Fold::add || count->dtype != DType::i64) return false;
  const Statement* one = kernel::maker_of(nest_.stage, count->operands[0]);
  return one->kind == Statement::Kind::cast && one->operands[0] == s.predicate;
}

/// Only where the predicate holds; elsewhere the place may be none at all.
void StatementEmitter::store_if(Value* predicate, std::size_t i, Value* value, Lanes& lanes) {
  const DType dtype = nest_.statement(i).dtype;
  if (lanes.width == 1) {
    const Branch branch = open_if(b_, predicate);
    store(f_, access_.place(i, lanes), dtype, value, lanes);
    close_if(b_, branch, {}, {});
    return;
  }
  Lanes some = lanes;
  some.active = lanes.active ? b_.CreateAnd(lanes.active, predicate) : predicate;
  if (packs(i)) {
    // The first lane's place, or that of the first after it.
    Value* count = nest_.operand(plan_.statements[i].place.indices[0].first.index, lanes);
    Value* holds = b_.CreateZExt(b_.CreateExtractElement(predicate, uint64_t{0}), b_.getInt64Ty());
    Value* first = b_.CreateSub(b_.CreateAdd(b_.CreateExtractElement(count, uint64_t{0}), f_.i64(1)), holds);
    Value* to = element_address(f_, dtype, access_.start_of(i, lanes), first);
    if (is_complex(dtype)) {
      b_.CreateMaskedCompressStore(interleaved(f_, value), to, twice_each(f_, some.active));
    } else {
      b_.CreateMaskedCompressStore(to_memory(b_, value, dtype), to, some.active);
    }
    return;
  }
  const Place where = access_.place(i, lanes);
  INLAY_CHECK(where.shape != Place::Shape::one, "a store of some lanes to one element");
  store(f_, where, dtype, value, some);
}

}  // namespace inlay::llvm_backend
