#include "backend/llvm/emit_blocks.h"

#include "backend/llvm/emit_stage.h"
#include "backend/llvm/fold_registers.h"
#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

constexpr int64_t kLineBytes = 64;

Value* field(llvm::IRBuilder<>& b, Value* record, std::size_t offset_bytes) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), record, offset_bytes);
}

Value* load_field(llvm::IRBuilder<>& b, Value* record, std::size_t offset_bytes, llvm::Type* type) {
  return b.CreateLoad(type, field(b, record, offset_bytes));
}

/// Calls emit(first element, how many) for elements that make whole vectors, and then for the others one by one.
void for_each_vector(FunctionEmitter& f, int64_t elements, int width,
                     llvm::function_ref<void(Value* first, int count)> emit) {
  const int64_t whole = elements / width * width;
  const auto pass = [&](int64_t begin, int64_t end, int step) {
    if (begin == end) return;
    if (end - begin == step) return emit(f.i64(begin), step);
    const Loop loop = open_loop(f.b, f.i64(begin), {});
    emit(loop.point, step);
    close_loop(f.b, loop, f.i64(step), f.i64(end), {});
  };
  pass(0, whole, width);
  pass(whole, elements, 1);
}

llvm::Type* type_in_memory(FunctionEmitter& f, DType dtype, int width) {
  llvm::Type* element = memory_type(f.b, dtype);
  return width == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
}

Value* load_elements(FunctionEmitter& f, DType dtype, Value* address, int width) {
  return from_memory(f.b, f.b.CreateAlignedLoad(type_in_memory(f, dtype, width), address, alignment_of(dtype)), dtype);
}

void store_elements(FunctionEmitter& f, DType dtype, Value* value, Value* address) {
  f.b.CreateAlignedStore(to_memory(f.b, value, dtype), address, alignment_of(dtype));
}

}  // namespace

BlocksEmitter::BlocksEmitter(FunctionEmitter& caller, const kernel::Kernel& kernel, const Cut& cut)
    : caller_(caller), kernel_(kernel), cut_(cut), part_(caller, Frame::Kind::blocks), f_(part_.function()) {
  part_.take(kernel::access_of(caller.program, kernel));
  lay_out_tables();
  if (cut.in_workspace) is_alone_ = is_one_block(f_);
  redirect_buffers();
  if (cut.keeps_tree) is_end_ = f_.b.CreateICmpSLT(f_.frame.block_argument(), f_.i64(0));
}

/// First what is short, with the sums by lanes: one block alone has it on the stack.
void BlocksEmitter::lay_out_tables() {
  const auto add = [&](Table& table) {
    for (std::size_t k = 0; k < table.fold->buffers.size(); ++k) {
      table.offsets.push_back(state_bytes_);
      state_bytes_ += static_cast<uint64_t>(table.fold->bytes(k));
    }
  };
  for (const BlockFold& fold : cut_.folds) {
    tables_.push_back({&fold, {}, cut_.in_workspace && !caller_.places.is_scalar(fold.buffers[0])});
    if (!tables_.back().is_direct) add(tables_.back());
  }
  lanes_offset_ = state_bytes_;
  state_bytes_ += static_cast<uint64_t>(cut_.lane_bytes);
  short_bytes_ = state_bytes_;
  for (Table& table : tables_) {
    if (table.is_direct) add(table);
  }
}

/// How many points of the cut loop a block has, but for the last.
Value* BlocksEmitter::length_of_block(FunctionEmitter& f) {
  llvm::IRBuilder<>& b = f.b;
  const auto minimum = [&](Value* x, Value* y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  const auto maximum = [&](Value* x, Value* y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); };
  const auto rounded_up = [&](Value* x, Value* by) {
    return b.CreateSDiv(b.CreateAdd(x, b.CreateSub(by, f.i64(1))), by);
  };
  Value* blocks = b.CreateSDiv(f.sizes.of(cut_.cost), f.i64(cut_.cost_of_block));
  blocks = maximum(minimum(blocks, f.i64(cut_.most_blocks)), f.i64(1));
  Value* length = maximum(rounded_up(f.sizes.of(cut_.extent), blocks), f.i64(1));
  Value* steps = rounded_up(length, f.i64(cut_.step));
  if (!cut_.keeps_tree) return b.CreateMul(steps, f.i64(cut_.step));
  Value* zeros = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, b.CreateSub(steps, f.i64(1)), b.getFalse());
  return b.CreateShl(f.i64(cut_.step), b.CreateSub(f.i64(64), zeros));
}

/// Where the last block ends.
Value* BlocksEmitter::end_of_blocks(FunctionEmitter& f) {
  Value* end = f.sizes.of(cut_.extent);
  return cut_.keeps_tree ? f.b.CreateAnd(end, f.i64(-cut_.left_over_of)) : end;
}

Value* BlocksEmitter::is_one_block(FunctionEmitter& f) {
  return f.b.CreateICmpSGE(length_of_block(f), end_of_blocks(f));
}

Range BlocksEmitter::block() {
  llvm::IRBuilder<>& b = f_.b;
  Value* length = length_of_block(f_);
  Value *end = end_of_blocks(f_), *begin = b.CreateMul(f_.frame.block_argument(), length);
  const Range block = {begin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(begin, length), end)};
  if (!is_end_) return block;
  return {b.CreateSelect(is_end_, end, block.begin), b.CreateSelect(is_end_, f_.sizes.of(cut_.extent), block.end)};
}

Value* BlocksEmitter::lane_states(Value* states) {
  return cut_.keeps_tree ? field(f_.b, states, lanes_offset_) : nullptr;
}

void BlocksEmitter::emit_stage(const kernel::Stage& stage, const StagePlan& plan, llvm::ArrayRef<Value*> outer_points) {
  const Range range = block();
  Value* lanes = lane_states(f_.frame.states_argument());
  StageEmitter emitter(f_, kernel_, stage, plan, {outer_points, {}, cut_.level, range, lanes, is_end_});
  llvm::IRBuilder<>& b = f_.b;
  const Branch branch = open_if(b, is_end_ ? b.CreateNot(is_end_) : b.getTrue());
  open_states();
  if (lanes) emitter.emit_no_lane_states(lanes);
  close_if(b, branch, {}, {});
  emitter.emit();
  if (!lanes) return;
  if (cut_.in_workspace) {
    INLAY_CHECK(emitter.lane_state_bytes() <= static_cast<uint64_t>(cut_.lane_bytes), "lanes of more bytes than known");
  } else {
    short_bytes_ = state_bytes_ += emitter.lane_state_bytes();
  }
  merge_lanes_ = [&stage, plan, this](FunctionEmitter& f, Value* into, Value* later) {
    const std::vector<Value*> points(kernel_.outer.size(), f.i64(0));
    StageEmitter(f, kernel_, stage, plan, {points, {}})
        .emit_merge(field(f.b, into, lanes_offset_), field(f.b, later, lanes_offset_));
  };
}

/// A block folds into states of its own.
void BlocksEmitter::redirect_buffers() {
  for (const Table& table : tables_) {
    for (std::size_t k = 0; k < table.fold->buffers.size(); ++k) {
      const BufferId buffer = table.fold->buffers[k];
      Value* own = place(f_, table, k, f_.frame.states_argument(), f_.i64(0));
      if (table.is_direct) own = f_.b.CreateSelect(is_alone_, f_.places.address(buffer), own);
      f_.places.redirect(buffer, own);
    }
  }
}

/// Emits what several blocks do with the states of a table, and one alone does not.
void BlocksEmitter::unless_alone(FunctionEmitter& f, const Table& table, Value* is_alone,
                                 llvm::function_ref<void()> emit) {
  if (!table.is_direct) return emit();
  const Branch branch = open_if(f.b, f.b.CreateNot(is_alone));
  emit();
  close_if(f.b, branch, {}, {});
}

void BlocksEmitter::open_states() {
  for (const Table& table : tables_) {
    unless_alone(f_, table, is_alone_, [&] { open_states(table); });
  }
}

void BlocksEmitter::open_states(const Table& table) {
  const BlockFold& fold = *table.fold;
  Value* states = f_.frame.states_argument();
  for_each_vector(f_, fold.pitch(), fold.width(), [&](Value* first, int width) {
    std::vector<Value*> nothing;
    if (facts(fold.fold).has_one_state()) {
      const Literal exact = exact_identity_of(combine_of(fold.fold, 0), fold.dtypes[0]);
      nothing = {splat(f_, constant(f_.b, exact), width)};
    } else {
      nothing = states_of_nothing(f_, fold.fold, fold.dtypes, width);
    }
    for (std::size_t k = 0; k < fold.buffers.size(); ++k) {
      store_elements(f_, fold.dtypes[k], nothing[k], place(f_, table, k, states, first));
    }
  });
}

void BlocksEmitter::keep_locals() {
  for (const kernel::KernelOutput& output : kernel_.outputs) {
    if (!output.is_local || f_.places.is_scalar(output.buffer)) continue;
    const BufferId root = kernel::root_of(f_.program, output.buffer);
    Value* of_call = f_.places.address(root);
    Value* memory = f_.frame.memory_argument();
    Value* own = f_.b.CreateGEP(f_.b.getInt8Ty(), memory, f_.sizes.of(memory_bytes_));
    f_.places.redirect(root, f_.b.CreateSelect(f_.b.CreateIsNull(memory), of_call, own));
    memory_bytes_ = memory_bytes_ + ceil_div(size_bytes(f_.program.buffers[root]), kLineBytes) * Dim(kLineBytes);
  }
}

Value* BlocksEmitter::place(FunctionEmitter& f, const Table& table, std::size_t state, Value* states, Value* element) {
  return element_address(f, table.fold->dtypes[state], field(f.b, states, table.offsets[state]), element);
}

std::vector<Value*> BlocksEmitter::loaded(FunctionEmitter& f, const Table& table, Value* states, Value* element,
                                          int width) {
  std::vector<Value*> out;
  for (std::size_t k = 0; k < table.fold->buffers.size(); ++k) {
    out.push_back(load_elements(f, table.fold->dtypes[k], place(f, table, k, states, element), width));
  }
  return out;
}

/// InlayBlocks::merge.
llvm::Function* BlocksEmitter::merge_function() {
  FunctionEmitter f(caller_, Frame::Kind::merge);
  f.copied_math = caller_.copied_math;
  Value *states = f.frame.function()->getArg(2), *later = f.frame.function()->getArg(3);
  for (const Table& table : tables_) {
    for_each_vector(f, table.fold->pitch(), table.fold->width(), [&](Value* first, int width) {
      const BlockFold& fold = *table.fold;
      const std::vector<Value*> both = merged_states(f, fold.fold, fold.dtypes, loaded(f, table, states, first, width),
                                                     loaded(f, table, later, first, width));
      for (std::size_t k = 0; k < fold.buffers.size(); ++k) {
        store_elements(f, fold.dtypes[k], both[k], place(f, table, k, states, first));
      }
    });
  }
  if (merge_lanes_) merge_lanes_(f, states, later);
  f.frame.finish();
  caller_.copied_math = f.copied_math;
  return f.frame.function();
}

/// int32_t run_blocks(InlayCall*, const InlayBlocks*), once in a module: by the call's pool, or one after the other.
llvm::Function* BlocksEmitter::run_function() {
  constexpr const char* kName = "run_blocks";
  if (llvm::Function* known = caller_.module.getFunction(kName)) return known;
  llvm::IRBuilder<> b(caller_.module.getContext());
  llvm::Type *pointer = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(i32, {pointer, pointer}, false);
  llvm::Function* function = caller_.frame.helper_function(type, kName);
  Value *call = function->getArg(0), *blocks = function->getArg(1);
  auto* run_type = llvm::FunctionType::get(i32, {pointer, pointer, i64, pointer, pointer}, false);
  auto* merge_type = llvm::FunctionType::get(i32, {pointer, pointer, pointer, pointer}, false);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  Value* pool = load_field(b, call, offsetof(InlayCall, run_blocks), pointer);
  Value* count = load_field(b, blocks, offsetof(InlayBlocks, count), i64);
  Value* run = load_field(b, blocks, offsetof(InlayBlocks, run), pointer);
  Value* merge = load_field(b, blocks, offsetof(InlayBlocks, merge), pointer);
  Value* passed = load_field(b, blocks, offsetof(InlayBlocks, passed), pointer);
  Value* states = load_field(b, blocks, offsetof(InlayBlocks, states), pointer);
  Value* state_bytes = load_field(b, blocks, offsetof(InlayBlocks, state_bytes), i64);
  const auto leave_with = [&](Value* condition, llvm::function_ref<Value*()> result) {
    llvm::BasicBlock *leave = new_block(b, "leave"), *go_on = new_block(b, "go_on");
    b.CreateCondBr(condition, leave, go_on);
    b.SetInsertPoint(leave);
    b.CreateRet(result());
    b.SetInsertPoint(go_on);
  };
  Value* is_one = b.CreateICmpEQ(count, b.getInt64(1));
  leave_with(b.CreateNot(b.CreateOr(is_one, b.CreateIsNull(pool))),
             [&] { return b.CreateCall(type, pool, {call, blocks}); });

  // Parts lie one behind the other, so the last two are merged at the end of them: `later` begins with the last.
  const Loop loop = open_loop(b, b.getInt64(0), {states});
  Value* code = b.CreateCall(run_type, run,
                             {call, passed, loop.point, loop.carried[0], llvm::ConstantPointerNull::get(b.getPtrTy())});
  leave_with(b.CreateICmpNE(code, b.getInt32(INLAY_OK)), [&] { return code; });
  Value* later = loop.carried[0];
  Value* is_last = b.CreateICmpEQ(b.CreateAdd(loop.point, b.getInt64(1)), count);
  Value* ones = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b.CreateNot(loop.point), b.getFalse());
  Value* merges = b.CreateSelect(is_last, b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, loop.point), ones);
  Value* folds = b.CreateIsNotNull(merge);
  merges = b.CreateSelect(folds, merges, b.getInt64(0));
  const Branch branch = open_if(b, b.CreateICmpSGT(merges, b.getInt64(0)));
  const Loop parts = open_loop(b, b.getInt64(0), {later});
  Value* before = b.CreateGEP(b.getInt8Ty(), parts.carried[0], b.CreateNeg(state_bytes));
  b.CreateCall(merge_type, merge, {call, passed, before, parts.carried[0]});
  close_loop(b, parts, b.getInt64(1), merges, {before});
  Value* merged = close_if(b, branch, {before}, {later})[0];
  Value* next = b.CreateSelect(folds, b.CreateGEP(b.getInt8Ty(), merged, state_bytes), merged);
  close_loop(b, loop, b.getInt64(1), count, {next});
  b.CreateRet(b.getInt32(INLAY_OK));
  return function;
}

void BlocksEmitter::close() {
  llvm::IRBuilder<>& b = caller_.b;
  Value* passed = part_.close_blocks();
  Value* null = llvm::ConstantPointerNull::get(b.getPtrTy());
  Value *merge = null, *states = null;
  if (state_bytes_ > 0) {
    merge = merge_function();
    states = caller_.frame.sum_stack(cut_.in_workspace ? short_bytes_ : INLAY_BLOCK_STATES * state_bytes_);
  }
  Value* is_alone = cut_.in_workspace ? is_one_block(caller_) : nullptr;
  if (is_alone) states = b.CreateSelect(is_alone, states, caller_.places.address(kernel_.workspace));
  Value* length = length_of_block(caller_);
  Value* end = end_of_blocks(caller_);
  Value* count = b.CreateSDiv(b.CreateAdd(end, b.CreateSub(length, caller_.i64(1))), length);
  count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, caller_.i64(1));
  Value* blocks = caller_.frame.stack(b.getInt8Ty(), sizeof(InlayBlocks));
  const auto set = [&](std::size_t offset, Value* value) { b.CreateStore(value, field(b, blocks, offset)); };
  set(offsetof(InlayBlocks, run), f_.frame.function());
  set(offsetof(InlayBlocks, merge), merge);
  set(offsetof(InlayBlocks, passed), passed);
  set(offsetof(InlayBlocks, count), count);
  set(offsetof(InlayBlocks, state_bytes), caller_.i64(static_cast<int64_t>(state_bytes_)));
  set(offsetof(InlayBlocks, states), states);
  set(offsetof(InlayBlocks, memory_bytes), caller_.sizes.of(memory_bytes_));
  Value* call = caller_.frame.call_argument();
  caller_.ends.return_unless_ok(b.CreateCall(run_function(), {call, blocks}));
  if (is_end_) {
    Value* end = caller_.i64(-1);
    caller_.ends.return_unless_ok(b.CreateCall(f_.frame.function(), {call, passed, end, states, null}));
  }
  for (const Table& table : tables_) {
    unless_alone(caller_, table, is_alone, [&] { merge_into_buffers(table, states); });
  }
}

/// What the buffers held before, and what all blocks have folded.
void BlocksEmitter::merge_into_buffers(const Table& table, Value* states) {
  for_each_vector(caller_, table.fold->elements, table.fold->width(),
                  [&](Value* first, int width) { merge_elements(table, states, first, width); });
}

void BlocksEmitter::merge_elements(const Table& table, Value* states, Value* first, int width) {
  const BlockFold& fold = *table.fold;
  std::vector<Value*> before, places;
  for (std::size_t k = 0; k < fold.buffers.size(); ++k) {
    const bool in_register = caller_.places.is_scalar(fold.buffers[k]) && !caller_.places.is_spilled(fold.buffers[k]);
    places.push_back(in_register
                         ? nullptr
                         : element_address(caller_, fold.dtypes[k], caller_.places.address(fold.buffers[k]), first));
    before.push_back(in_register ? caller_.places.scalar(fold.buffers[k])
                                 : load_elements(caller_, fold.dtypes[k], places[k], width));
  }
  const std::vector<Value*> now =
      merged_states(caller_, fold.fold, fold.dtypes, before, loaded(caller_, table, states, first, width));
  for (std::size_t k = 0; k < fold.buffers.size(); ++k) {
    if (places[k]) {
      store_elements(caller_, fold.dtypes[k], now[k], places[k]);
    } else {
      caller_.places.set_scalar(fold.buffers[k], now[k]);
    }
  }
}

}  // namespace inlay::llvm_backend
