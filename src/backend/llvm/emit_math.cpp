// Elementary functions: a vector at a time where there is code for that, else floats as doubles, and doubles by a C
// function for each lane.
#include "backend/llvm/scalar.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

/// The first `width` lanes of `value`, or `value` repeated to fill them.
Value* resize(FunctionEmitter& f, Value* value, int width) {
  const int from = width_of(value);
  if (from == width) return value;
  if (from == 1) return splat(f, value, width);
  if (width == 1) return f.b.CreateExtractElement(value, uint64_t{0});
  llvm::SmallVector<int, 16> lanes;
  for (int i = 0; i < width; ++i) lanes.push_back(i % from);
  return f.b.CreateShuffleVector(value, lanes);
}

Value* slice(FunctionEmitter& f, Value* value, int first, int width) {
  llvm::SmallVector<int, 16> lanes;
  for (int i = 0; i < width; ++i) lanes.push_back(first + i);
  return f.b.CreateShuffleVector(value, lanes);
}

Value* join(FunctionEmitter& f, Value* low, Value* high) {
  llvm::SmallVector<int, 32> lanes;
  for (int i = 0; i < 2 * width_of(low); ++i) lanes.push_back(i);
  return f.b.CreateShuffleVector(low, high, lanes);
}

/// What `compute` makes of the lower half of the lanes, and of the upper one.
Value* by_halves(FunctionEmitter& f, llvm::ArrayRef<Value*> operands, Value* active,
                 llvm::function_ref<Value*(llvm::ArrayRef<Value*>, Value*)> compute) {
  const int width = width_of(operands[0]) / 2;
  Value* halves[2];
  for (int half = 0; half < 2; ++half) {
    llvm::SmallVector<Value*, 2> part;
    for (Value* operand : operands) part.push_back(slice(f, operand, half * width, width));
    halves[half] = compute(part, active ? slice(f, active, half * width, width) : nullptr);
  }
  return join(f, halves[0], halves[1]);
}

/// inlay_s_<name>, a C function of one or two doubles (or i64s).
Value* call_scalar(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 2> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(types[0], types, false);
  llvm::FunctionCallee callee = f.module.getOrInsertFunction(str("inlay_s_", name), type);
  llvm::CallInst* call = f.b.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  call->setFastMathFlags(llvm::FastMathFlags());
  return call;
}

/// inlay_lanes8_<name>: the C function for each of eight lanes, in a small loop over lanes in memory. Eight calls in a
/// row would be eight times as long, and no faster; and a loop like this in each place that needs one is slow to
/// compile.
llvm::Function* lanes_function(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands) {
  llvm::Type* type = operands[0]->getType();
  const std::string full_name = str("inlay_lanes", width_of(operands[0]), "_", name);
  if (llvm::Function* known = f.module.getFunction(full_name)) return known;
  const llvm::SmallVector<llvm::Type*, 2> types(operands.size(), type);
  llvm::Function* function = f.frame.helper_function(llvm::FunctionType::get(type, types, false), full_name);

  llvm::LLVMContext& context = f.module.getContext();
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(context, "entry", function);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "lane", function);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", function);
  llvm::IRBuilder<>& b = f.b;
  const llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(entry);
  llvm::SmallVector<llvm::AllocaInst*, 2> lanes;
  for (llvm::Argument& argument : function->args()) {
    lanes.push_back(b.CreateAlloca(type));
    b.CreateAlignedStore(&argument, lanes.back(), lanes.back()->getAlign());
  }
  b.CreateBr(body);

  b.SetInsertPoint(body);
  llvm::PHINode* lane = b.CreatePHI(b.getInt64Ty(), 2);
  lane->addIncoming(f.i64(0), entry);
  llvm::SmallVector<Value*, 2> arguments;
  const auto place = [&](llvm::AllocaInst* of) { return b.CreateGEP(type->getScalarType(), of, lane); };
  for (llvm::AllocaInst* of : lanes) arguments.push_back(b.CreateLoad(type->getScalarType(), place(of)));
  b.CreateStore(call_scalar(f, name, arguments), place(lanes[0]));
  Value* next = b.CreateAdd(lane, f.i64(1));
  lane->addIncoming(next, body);
  b.CreateCondBr(b.CreateICmpULT(next, f.i64(width_of(operands[0]))), body, done);

  b.SetInsertPoint(done);
  b.CreateRet(b.CreateAlignedLoad(type, lanes[0], lanes[0]->getAlign()));
  return function;
}

Value* for_each_lane(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands) {
  if (width_of(operands[0]) == 1) return call_scalar(f, name, operands);
  llvm::CallInst* call = f.b.CreateCall(lanes_function(f, name, operands), operands);
  if (call->getType()->isFPOrFPVectorTy()) call->setFastMathFlags(llvm::FastMathFlags());
  return call;
}

/// What the copies of math in one module may come to, in instructions; beyond it long ones are called (vector_code.h).
/// One number alone spills nothing around a call, and so has copies of short ones only. By four lanes or two a copy
/// takes as long to compile and saves half as much or less (instructions of compiling a logistic and a survival model
/// by four, million: 600 282 and 371, 200 217 and 291; the first's gradient 125 us with each).
constexpr std::size_t kManyCopies = 600, kManyCopiesOfFew = 200, kShortFunction = 30, kShortForOne = 10;

Value* apply(FunctionEmitter& f, const llvm::Function& function, llvm::ArrayRef<Value*> operands, int width) {
  const std::size_t size = function.getEntryBlock().size();
  const std::size_t many_copies = f.engine.math().doubles() == 8 ? kManyCopies : kManyCopiesOfFew;
  const bool is_called = width == 1 ? size > kShortForOne : size >= kShortFunction && f.copied_math > many_copies;
  if (is_called) {
    const auto code = f.module.getOrInsertFunction(function.getName(), function.getFunctionType());
    llvm::CallInst* call = f.b.CreateCall(code, operands);
    call->setDoesNotThrow();
    call->setFastMathFlags(llvm::FastMathFlags());
    return call;
  }
  f.copied_math += size;
  return stamp(f.b, function, operands);
}

/// Whole vectors, of which `width` lanes are wanted, by a copy of the vector code; where lanes are outside of its
/// domain, `elsewhere` computes all, in a cold block.
Value* whole_vector(FunctionEmitter& f, const llvm::Function& function, const llvm::Function* domain,
                    llvm::ArrayRef<Value*> operands, int width, Value* active, llvm::function_ref<Value*()> elsewhere) {
  llvm::IRBuilder<>& b = f.b;
  Value* result = apply(f, function, operands, width);
  if (!domain) return result;
  Value* inside = stamp(b, *domain, operands);
  auto* lanes_type = llvm::FixedVectorType::get(b.getInt1Ty(), static_cast<unsigned>(width_of(operands[0])));
  inside = inside->getType()->isVectorTy() ? b.CreateTrunc(inside, lanes_type) : b.CreateBitCast(inside, lanes_type);
  Value* outside = b.CreateNot(inside);
  if (active) outside = b.CreateAnd(outside, active);
  llvm::BasicBlock* hot = b.GetInsertBlock();
  llvm::BasicBlock* cold = new_block(b, "outside");
  llvm::BasicBlock* go_on = new_block(b, "inside");
  b.CreateCondBr(any_lane(f, outside), cold, go_on, unlikely(b));
  b.SetInsertPoint(cold);
  Value* corrected = b.CreateSelect(outside, elsewhere(), result);
  llvm::BasicBlock* cold_end = b.GetInsertBlock();
  b.CreateBr(go_on);
  b.SetInsertPoint(go_on);
  llvm::PHINode* phi = b.CreatePHI(result->getType(), 2);
  phi->addIncoming(result, hot);
  phi->addIncoming(corrected, cold_end);
  return phi;
}

/// Up to as many doubles as the function takes; lanes outside of the domain by the C function.
Value* one_vector(FunctionEmitter& f, const char* name, const llvm::Function& function, llvm::ArrayRef<Value*> operands,
                  Value* active) {
  const int width = width_of(operands[0]), whole = f.engine.math().doubles();
  llvm::SmallVector<Value*, 2> all;
  for (Value* operand : operands) all.push_back(resize(f, operand, whole));
  Value* lanes = active ? resize(f, active, whole) : nullptr;
  const auto elsewhere = [&] { return resize(f, for_each_lane(f, name, operands), whole); };
  const llvm::Function* domain = f.engine.math().domain_of(function);
  return resize(f, whole_vector(f, function, domain, all, width, lanes, elsewhere), width);
}

/// Where there is a function of vectors it is the one for all widths: a value that two loops compute, or one number
/// alone, is the same number in all.
Value* in_doubles(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands, Value* active) {
  const llvm::Function* function = f.engine.math().of_doubles(name);
  if (!function) return for_each_lane(f, name, operands);
  const int width = width_of(operands[0]);
  if (width <= f.engine.math().doubles()) return one_vector(f, name, *function, operands, active);
  return by_halves(f, operands, active,
                   [&](llvm::ArrayRef<Value*> half, Value* lanes) { return in_doubles(f, name, half, lanes); });
}

Value* through_doubles(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands, Value* active) {
  llvm::Type* type = operands[0]->getType();
  llvm::SmallVector<Value*, 2> wide;
  for (Value* operand : operands) wide.push_back(f.b.CreateFPExt(operand, type->getWithNewType(f.b.getDoubleTy())));
  return f.b.CreateFPTrunc(in_doubles(f, name, wide, active), type);
}

Value* in_floats(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands, Value* active) {
  const llvm::Function* function = f.engine.math().of_floats(name);
  if (!function) return through_doubles(f, name, operands, active);
  const int width = width_of(operands[0]), whole = f.engine.math().floats();
  if (width > whole) {
    return by_halves(f, operands, active,
                     [&](llvm::ArrayRef<Value*> half, Value* lanes) { return in_floats(f, name, half, lanes); });
  }
  llvm::SmallVector<Value*, 2> all;
  for (Value* operand : operands) all.push_back(resize(f, operand, whole));
  Value* lanes = active ? resize(f, active, whole) : nullptr;
  const auto elsewhere = [&] { return resize(f, through_doubles(f, name, operands, active), whole); };
  return resize(f, whole_vector(f, *function, f.engine.math().domain_of(*function), all, width, lanes, elsewhere),
                width);
}

}  // namespace

Value* emit_math(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands, Value* active) {
  llvm::Type* type = operands[0]->getType();
  if (!type->isFPOrFPVectorTy()) return for_each_lane(f, name, operands);
  return type->getScalarType()->isDoubleTy() ? in_doubles(f, name, operands, active)
                                             : in_floats(f, name, operands, active);
}

Value* emit_complex_math(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& b = f.b;
  llvm::Type* type = operands[0]->getType();
  llvm::Type* one = b.getDoubleTy();
  llvm::SmallVector<Value*, 4> wide;
  for (Value* operand : operands) wide.push_back(b.CreateFPExt(operand, type->getWithNewType(one)));
  llvm::SmallVector<llvm::Type*, 5> types(operands.size(), one);
  types.push_back(b.getPtrTy());
  llvm::FunctionCallee callee =
      f.module.getOrInsertFunction(str("inlay_s_", name), llvm::FunctionType::get(one, types, false));
  const auto call = [&](llvm::SmallVector<Value*, 5> arguments, Value* imaginary) {
    arguments.push_back(imaginary);
    llvm::CallInst* result = b.CreateCall(callee, arguments);
    result->setDoesNotThrow();
    result->setFastMathFlags(llvm::FastMathFlags());
    return result;
  };
  Value *re = nullptr, *im = nullptr;
  if (width_of(operands[0]) == 1) {
    re = call(llvm::SmallVector<Value*, 5>(wide.begin(), wide.end()), f.frame.lane_array(0));
    im = b.CreateLoad(one, f.frame.lane_array(0));
  } else {
    for (std::size_t i = 0; i < wide.size(); ++i) b.CreateAlignedStore(wide[i], f.frame.lane_array(i), llvm::Align(64));
    const Loop loop = open_loop(b, f.i64(0), {});
    const auto lane_of = [&](std::size_t i) { return b.CreateGEP(one, f.frame.lane_array(i), loop.point); };
    llvm::SmallVector<Value*, 5> arguments;
    for (std::size_t i = 0; i < wide.size(); ++i) arguments.push_back(b.CreateLoad(one, lane_of(i)));
    b.CreateStore(call(arguments, lane_of(1)), lane_of(0));
    close_loop(b, loop, f.i64(1), f.i64(width_of(operands[0])), {});
    re = b.CreateAlignedLoad(wide[0]->getType(), f.frame.lane_array(0), llvm::Align(64));
    im = b.CreateAlignedLoad(wide[0]->getType(), f.frame.lane_array(1), llvm::Align(64));
  }
  return complex_of(f, b.CreateFPTrunc(re, type), b.CreateFPTrunc(im, type));
}

}  // namespace inlay::llvm_backend
