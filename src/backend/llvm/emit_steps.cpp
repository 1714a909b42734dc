#include "backend/llvm/scalar.h"
#include "backend/llvm/steps.h"
#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

/// The address of a whole buffer for somebody else's function; a scalar in a register gets a place on the stack.
Value* operand_address(FunctionEmitter& f, BufferId buffer) {
  if (!f.places.is_scalar(buffer)) return f.places.address(buffer);
  const DType dtype = f.program.buffers[buffer].dtype;
  Value* place = f.frame.stack(memory_type(f.b, dtype));
  f.b.CreateStore(to_memory(f.b, f.places.scalar(buffer), dtype), place);
  return place;
}

Value* array_entry(FunctionEmitter& f, llvm::Type* type, Value* array, std::size_t i) {
  return f.b.CreateConstGEP1_64(type, array, i);
}

/// A table on the stack of the shapes of `buffers`, one after the other.
Value* stack_of_dims(FunctionEmitter& f, const std::vector<BufferId>& buffers) {
  std::size_t count = 0;
  for (BufferId buffer : buffers) count += f.program.buffers[buffer].dims.size();
  return f.frame.stack(f.b.getInt64Ty(), std::max<std::size_t>(count, 1));
}

/// A graph checks that no size is negative; kernels that somebody wrote may not, and below 0 memset has 2^64 bytes.
Value* at_least_0(FunctionEmitter& f, Value* count) {
  const bool is_known = llvm::isa<llvm::Constant>(count);  // and is that of a verified program
  return is_known ? count : f.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, f.i64(0));
}

}  // namespace

void emit_segment_begin(FunctionEmitter& f, int segment) {
  llvm::IRBuilder<>& b = f.b;
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty()}, false);
  Value* function = f.frame.call_field(offsetof(InlayCall, begin_segment), b.getPtrTy());
  f.ends.return_unless_ok(
      b.CreateCall(type, function, {f.frame.call_argument(), b.getInt32(static_cast<uint32_t>(segment))}));
  f.frame.move_spine();  // its places are known from here on
}

void emit_fill(FunctionEmitter& f, BufferId buffer, const Literal& value) {
  if (f.places.is_scalar(buffer) && !f.places.is_spilled(buffer)) {
    return f.places.set_scalar(buffer, constant(f.b, value));
  }
  llvm::IRBuilder<>& b = f.b;
  const kernel::Buffer& facts = f.program.buffers[buffer];
  const llvm::Align align = alignment_of(facts.dtype);
  llvm::Constant* element = memory_constant(b, value);
  Value* address = f.places.address(buffer);
  Value* count = at_least_0(f, f.sizes.of(num_elements(facts)));
  if (element->isNullValue() || size_bytes(facts.dtype) == 1) {
    Value* byte = element->isNullValue() ? b.getInt8(0) : element;
    b.CreateMemSet(address, byte, b.CreateMul(count, f.i64(size_bytes(facts.dtype))), align);
    return;
  }
  // Vectors of it, then one by one.
  const int width =
      is_complex(facts.dtype) ? 1 : f.engine.facts().vector_bytes / static_cast<int>(size_bytes(facts.dtype));
  const auto fill = [&](Value* begin, Value* end, int lanes) {
    const Branch branch = open_if(b, b.CreateICmpSLT(begin, end));
    const Loop loop = open_loop(b, begin, {});
    b.CreateAlignedStore(splat(f, element, lanes), b.CreateGEP(element->getType(), address, loop.point), align);
    close_loop(b, loop, f.i64(lanes), end, {});
    close_if(b, branch, {}, {});
  };
  Value* whole = b.CreateAnd(count, f.i64(-width));
  fill(f.i64(0), whole, width);
  fill(whole, count, 1);
}

void emit_transfer(FunctionEmitter& f, BufferId source, BufferId destination) {
  llvm::IRBuilder<>& b = f.b;
  const kernel::Buffer& from = f.program.buffers[source];
  const DType dtype = from.dtype;
  if (kernel::is_handle(from)) {
    Value* handle = f.places.address(source);
    const kernel::Buffer& to = f.program.buffers[destination];
    if (to.role == kernel::Role::output) {
      Value* outputs = f.frame.call_field(offsetof(InlayCall, outputs), b.getPtrTy());
      b.CreateStore(handle, array_entry(f, b.getPtrTy(), outputs, static_cast<std::size_t>(to.slot)));
    }
    return f.places.set_host_address(destination, handle);
  }
  if (f.places.is_scalar(source) && !f.places.is_spilled(source)) {
    Value* value = f.places.scalar(source);
    if (f.places.is_scalar(destination) && !f.places.is_spilled(destination)) {
      return f.places.set_scalar(destination, value);
    }
    b.CreateStore(to_memory(b, value, dtype), f.places.address(destination));
    return;
  }
  if (f.places.is_scalar(destination) && !f.places.is_spilled(destination)) {
    return f.places.set_scalar(destination,
                               from_memory(b, b.CreateLoad(memory_type(b, dtype), f.places.address(source)), dtype));
  }
  if (memory::same_place(f.program, f.plan.sharing, source, destination)) return;
  const auto align = llvm::Align(1);
  b.CreateMemCpy(f.places.address(destination), align, f.places.address(source), align,
                 at_least_0(f, f.sizes.of(size_bytes(from))));
}

void emit_copy(FunctionEmitter& f, const kernel::Copy& copy) {
  if (!copy.elided) emit_transfer(f, copy.source, copy.destination);
}

void emit_size_check(FunctionEmitter& f, const kernel::SizeCheck& check) {
  Value *left = f.sizes.of(check.left), *right = f.sizes.of(check.right);
  const bool equal = check.relation == DimCheck::Relation::equal;
  Value* bad = equal ? f.b.CreateICmpNE(left, right) : f.b.CreateICmpSGT(left, right);
  f.ends.fail_if(bad, check.site, {left, right});
}

void emit_bind_size(FunctionEmitter& f, const kernel::BindSize& bind) {
  llvm::IRBuilder<>& b = f.b;
  Value* number = f.places.scalar(bind.value);
  f.ends.fail_if(b.CreateICmpSLT(number, f.i64(0)), bind.site, {number});
  f.sizes.set_symbol(bind.symbol, number);
  Value* symbols = f.frame.call_field(offsetof(InlayCall, symbols), b.getPtrTy());
  b.CreateStore(number, array_entry(f, b.getInt64Ty(), symbols, bind.symbol.index));
  f.frame.move_spine();  // sizes of what was bound are computed from here on
}

void emit_host_call(FunctionEmitter& f, const kernel::HostCall& call) {
  llvm::IRBuilder<>& b = f.b;
  const auto table_of = [&](std::size_t count) { return f.frame.stack(b.getPtrTy(), std::max<std::size_t>(count, 1)); };
  Value* operands = table_of(call.operands.size());
  Value* operand_dims = stack_of_dims(f, call.operands);
  std::size_t at = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    b.CreateStore(operand_address(f, call.operands[i]), array_entry(f, b.getPtrTy(), operands, i));
    for (const Dim& dim : f.program.buffers[call.operands[i]].dims) {
      b.CreateStore(f.sizes.of(dim), array_entry(f, b.getInt64Ty(), operand_dims, at++));
    }
  }
  Value* results = table_of(call.results.size());
  Value* result_dims = stack_of_dims(f, call.results);
  auto* type = llvm::FunctionType::get(
      b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false);
  Value* function = f.frame.call_field(offsetof(InlayCall, host_call), b.getPtrTy());
  f.ends.return_unless_ok(b.CreateCall(type, function,
                                       {f.frame.call_argument(), b.getInt32(static_cast<uint32_t>(call.function)),
                                        operands, operand_dims, results, result_dims}));

  // The shapes that came: some name the symbols of what follows, the others must be what was promised.
  Value* symbols = f.frame.call_field(offsetof(InlayCall, symbols), b.getPtrTy());
  std::vector<std::vector<Value*>> dims;
  at = 0;
  for (BufferId result : call.results) {
    std::vector<Value*>& shape = dims.emplace_back();
    for (std::size_t axis = 0; axis < f.program.buffers[result].dims.size(); ++axis) {
      shape.push_back(b.CreateLoad(b.getInt64Ty(), array_entry(f, b.getInt64Ty(), result_dims, at++)));
    }
  }
  for (const kernel::HostCall::Binding& binding : call.bindings) {
    Value* dim = dims[static_cast<std::size_t>(binding.result)][static_cast<std::size_t>(binding.axis)];
    f.sizes.set_symbol(binding.symbol, dim);
    b.CreateStore(dim, array_entry(f, b.getInt64Ty(), symbols, binding.symbol.index));
  }
  call.bindings.empty() ? f.frame.begin_step() : f.frame.move_spine();  // sizes of what was bound: from here on
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    f.places.set_host_address(call.results[i], b.CreateLoad(b.getPtrTy(), array_entry(f, b.getPtrTy(), results, i)));
    const std::vector<Dim>& promised = f.program.buffers[call.results[i]].dims;
    for (std::size_t axis = 0; axis < promised.size(); ++axis) {
      Value* came = dims[i][axis];
      Value* expected = f.sizes.of(promised[axis]);
      if (came == expected) continue;
      f.ends.fail_if(b.CreateICmpNE(came, expected), call.site,
                     {came, expected, f.i64(static_cast<int64_t>(i)), f.i64(static_cast<int64_t>(axis))});
    }
  }
}

namespace {

/// Where the first element of a library call's operand or result is.
Value* first_element(FunctionEmitter& f, const kernel::CallArray& array) {
  llvm::IRBuilder<>& b = f.b;
  Value* address = operand_address(f, array.buffer);
  const bool at_begin = array.offset.is(0) && !array.index.valid();
  if (at_begin) return address;
  Value* element = f.sizes.of(array.offset);
  if (array.index.valid()) {
    element = b.CreateAdd(element, b.CreateMul(f.places.scalar(array.index), f.sizes.of(array.index_stride)));
  }
  const int64_t element_bytes = size_bytes(f.program.buffers[array.buffer].dtype);
  return b.CreateGEP(b.getInt8Ty(), address, b.CreateMul(element, f.i64(element_bytes)));
}

/// Tables on the stack: where the arrays begin, and three strides for each.
struct ArrayTables {
  Value *begins, *strides;
};
ArrayTables stack_of_arrays(FunctionEmitter& f, const std::vector<kernel::CallArray>& arrays) {
  llvm::Type *pointer = f.b.getPtrTy(), *i64 = f.b.getInt64Ty();
  const ArrayTables out = {f.frame.stack(pointer, arrays.size()), f.frame.stack(i64, 3 * arrays.size())};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    f.b.CreateStore(first_element(f, arrays[i]), array_entry(f, pointer, out.begins, i));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      f.b.CreateStore(f.sizes.of(arrays[i].strides[axis]), array_entry(f, i64, out.strides, 3 * i + axis));
    }
  }
  return out;
}

}  // namespace

// int32_t inlay_l_NAME_DTYPE(operands, operand_strides, results, result_strides, sizes, options, workspace, failure,
// call, stop): see library/library.h.
void emit_library_call(FunctionEmitter& f, const kernel::LibraryCall& call) {
  llvm::IRBuilder<>& b = f.b;
  llvm::Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty(), *i32 = b.getInt32Ty();
  const ArrayTables operands = stack_of_arrays(f, call.operands), results = stack_of_arrays(f, call.results);
  Value* sizes = f.frame.stack(i64, call.sizes.size());
  for (std::size_t s = 0; s < call.sizes.size(); ++s) {
    b.CreateStore(f.sizes.of(call.sizes[s]), array_entry(f, i64, sizes, s));
  }
  Value* workspace =
      call.workspace.valid() ? f.places.address(call.workspace) : llvm::ConstantPointerNull::get(b.getPtrTy());
  Value* failure = f.frame.stack(i64, 2);
  const DType dtype = f.program.buffers[call.operands[0].buffer].dtype;
  auto* type = llvm::FunctionType::get(
      i32, {pointer, pointer, pointer, pointer, pointer, i32, pointer, pointer, pointer, pointer}, false);
  const auto function =
      f.module.getOrInsertFunction(str("inlay_l_", facts(call.op).name, "_", dtype_name(dtype)), type);
  Value* status = b.CreateCall(
      function, {operands.begins, operands.strides, results.begins, results.strides, sizes, b.getInt32(call.options),
                 workspace, failure, f.frame.call_argument(), f.ends.stop_flag()});
  f.ends.end_if_interrupted(status);
  for (std::size_t site = 0; site < call.sites.size(); ++site) {
    Value* numbers[] = {b.CreateLoad(i64, failure), b.CreateLoad(i64, array_entry(f, i64, failure, 1))};
    f.ends.fail_if(b.CreateICmpEQ(status, b.getInt32(static_cast<uint32_t>(site + 1))), call.sites[site], numbers);
  }
}

}  // namespace inlay::llvm_backend
