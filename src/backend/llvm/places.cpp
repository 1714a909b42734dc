// Where a buffer's bytes are, or the register that is the buffer.
#include "backend/llvm/function.h"
#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Role;
using memory::Owner;

Value* FunctionEmitter::address(BufferId buffer) {
  const BufferId root = kernel::root_of(program, buffer);
  const kernel::Buffer& facts = program.buffers[root];
  if (facts.role == Role::scalar) {
    INLAY_CHECK(spilled_[root.index], facts.name, " is in a register");
    return slots_[root.index];
  }
  if (is_host_handle(buffer)) return scalar(buffer);
  Value*& known = addresses_[root.index];
  if (known) return known;

  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(spine_);
  const auto entry_of = [&](size_t table, int slot) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), call_field(table, b.getPtrTy()), slot));
  };
  const memory::Placement& placement = plan.sharing.placements[root];
  const bool is_moved = placement.storage.valid() && plan.sharing.storages[placement.storage].owner != Owner::param;
  if (facts.role == Role::param && !is_moved) {
    known = entry_of(offsetof(InlayCall, params), facts.slot);
  } else if (facts.role == Role::literal) {
    known = literal_address(facts);
  } else if (placement.storage.valid()) {
    known = place_of_storage(placement);
  } else if (facts.role == Role::output) {
    known = entry_of(offsetof(InlayCall, outputs), facts.slot);
  }
  INLAY_CHECK(known, facts.name, " (", kernel::role_name(facts.role), ") has no place");
  return known;
}

Value* FunctionEmitter::place_of_storage(const memory::Placement& placement) {
  const memory::SharedStorage& storage = plan.sharing.storages[placement.storage];
  Value* offset = size(placement.offset_bytes);
  Value* base = nullptr;
  if (storage.owner != Owner::arena) {
    const bool in_output = storage.owner == Owner::output;
    Value* table = call_field(in_output ? offsetof(InlayCall, outputs) : offsetof(InlayCall, params), b.getPtrTy());
    base = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), table, storage.slot));
  } else {
    Value* segments = call_field(offsetof(InlayCall, segments), b.getPtrTy());
    base = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), segments, storage.segment));
    Value* start = nullptr;
    if (plan.is_static) {
      start = i64(plan.layouts[static_cast<size_t>(storage.segment)].offset_bytes[placement.storage.index]);
    } else {
      Value* offsets = call_field(offsetof(InlayCall, offsets), b.getPtrTy());
      start = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, placement.storage.index));
    }
    offset = b.CreateAdd(start, offset);
  }
  return b.CreateGEP(b.getInt8Ty(), base, offset);
}

Value* FunctionEmitter::literal_address(const kernel::Buffer& buffer) {
  std::vector<llvm::Constant*> elements;
  for (const Literal& element : buffer.elements) elements.push_back(memory_constant(element));
  auto* type = llvm::ArrayType::get(memory_type(buffer.dtype), elements.size());
  auto* global = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantArray::get(type, elements));
  global->setAlignment(llvm::Align(64));
  global->setDSOLocal(true);
  return global;
}

bool FunctionEmitter::same_place(BufferId a, BufferId b) const {
  const BufferId left = kernel::root_of(program, a), right = kernel::root_of(program, b);
  if (left == right) return true;
  const memory::Placement& first = plan.sharing.placements[left];
  const memory::Placement& second = plan.sharing.placements[right];
  return first.storage.valid() && first.storage == second.storage && first.offset_bytes == second.offset_bytes;
}

bool FunctionEmitter::is_scalar(BufferId buffer) const {
  return program.buffers[kernel::root_of(program, buffer)].role == Role::scalar;
}

bool FunctionEmitter::is_host_handle(BufferId buffer) const {
  const kernel::Buffer& facts = program.buffers[kernel::root_of(program, buffer)];
  return facts.role == Role::host && kernel::is_handle(facts);
}

bool FunctionEmitter::is_spilled(BufferId buffer) const { return spilled_[kernel::root_of(program, buffer).index]; }

Value* FunctionEmitter::scalar(BufferId buffer) const {
  const BufferId root = kernel::root_of(program, buffer);
  INLAY_CHECK(!spilled_[root.index], program.buffers[root].name, " is in memory");
  // Kernels of a file may have run, and have no value where a loop comes to no steps.
  if (!scalars_[root.index]) {
    const std::string& name = program.buffers[root].name;
    throw Error(ErrorCode::invalid_program, {}, str(name, " is read, and a loop of no steps has not written it"));
  }
  return scalars_[root.index];
}

void FunctionEmitter::set_scalar(BufferId buffer, Value* value) {
  scalars_[kernel::root_of(program, buffer).index] = value;
}

void FunctionEmitter::spill_scalar(BufferId buffer) {
  const BufferId root = kernel::root_of(program, buffer);
  if (spilled_[root.index]) return;
  const DType dtype = program.buffers[root].dtype;
  if (!slots_[root.index]) slots_[root.index] = stack(memory_type(dtype));
  if (Value* value = scalars_[root.index]) b.CreateStore(to_memory(value, dtype), slots_[root.index]);
  spilled_[root.index] = true;
}

void FunctionEmitter::reload_scalar(BufferId buffer) {
  const BufferId root = kernel::root_of(program, buffer);
  const DType dtype = program.buffers[root].dtype;
  scalars_[root.index] = from_memory(b.CreateLoad(memory_type(dtype), slots_[root.index]), dtype);
  spilled_[root.index] = false;
}

}  // namespace inlay::llvm_backend
