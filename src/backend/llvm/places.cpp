#include "backend/llvm/places.h"

#include "backend/llvm/types.h"
#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Role;

Places::Places(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, llvm::Module& module,
               llvm::IRBuilder<>& builder, Frame& frame, Sizes& sizes)
    : program_(program),
      plan_(plan),
      module_(module),
      b_(builder),
      frame_(frame),
      sizes_(sizes),
      addresses_(program.buffers.size()),
      scalars_(program.buffers.size()),
      slots_(program.buffers.size()),
      spilled_(program.buffers.size()) {}

Value* Places::address(BufferId buffer) {
  const BufferId root = kernel::root_of(program_, buffer);
  const kernel::Buffer& facts = program_.buffers[root];
  if (facts.role == Role::scalar) {
    INLAY_CHECK(spilled_[root.index], facts.name, " is in a register");
    return slots_[root.index];
  }
  if (is_host_handle(buffer)) return scalar(buffer);
  Value*& known = addresses_[root.index];
  if (known) return known;

  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  frame_.go_to_spine();
  const memory::Place place = memory::place_of(program_, plan_, root);
  known = place.table == memory::Place::Table::literals ? literal_address(facts) : given_address(place);
  return known;
}

Value* Places::given_address(const memory::Place& place) {
  using Table = memory::Place::Table;
  const std::size_t table = place.table == Table::params    ? offsetof(InlayCall, params)
                            : place.table == Table::outputs ? offsetof(InlayCall, outputs)
                                                            : offsetof(InlayCall, segments);
  Value* offset = sizes_.of(place.offset_bytes);
  Value* base = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), frame_.call_field(table, b_.getPtrTy()), place.slot));
  if (place.storage.valid()) {
    Value* offsets = frame_.call_field(offsetof(InlayCall, offsets), b_.getPtrTy());
    Value* start = b_.CreateConstGEP1_64(b_.getInt64Ty(), offsets, place.storage.index);
    offset = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), start), offset);
  } else if (place.start_bytes > 0) {
    offset = b_.CreateAdd(b_.getInt64(place.start_bytes), offset);
  }
  const bool is_at_beginning = place.offset_bytes.is(0) && place.start_bytes == 0 && !place.storage.valid();
  return is_at_beginning ? base : b_.CreateGEP(b_.getInt8Ty(), base, offset);
}

Value* Places::literal_address(const kernel::Buffer& buffer) {
  std::vector<llvm::Constant*> elements;
  for (const Literal& element : buffer.elements) elements.push_back(memory_constant(b_, element));
  auto* type = llvm::ArrayType::get(memory_type(b_, buffer.dtype), elements.size());
  auto* global = new llvm::GlobalVariable(module_, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantArray::get(type, elements));
  global->setAlignment(llvm::Align(64));
  global->setDSOLocal(true);
  return global;
}

bool Places::is_scalar(BufferId buffer) const {
  return program_.buffers[kernel::root_of(program_, buffer)].role == Role::scalar;
}

bool Places::is_host_handle(BufferId buffer) const {
  const kernel::Buffer& facts = program_.buffers[kernel::root_of(program_, buffer)];
  return facts.role == Role::host && kernel::is_handle(facts);
}

bool Places::is_value(BufferId root) const {
  const kernel::Buffer& facts = program_.buffers[root];
  return facts.role == Role::scalar || facts.role == Role::host || kernel::is_handle(facts);
}

bool Places::is_spilled(BufferId buffer) const { return spilled_[kernel::root_of(program_, buffer).index]; }

Value* Places::scalar(BufferId buffer) const {
  const BufferId root = kernel::root_of(program_, buffer);
  INLAY_CHECK(!spilled_[root.index], program_.buffers[root].name, " is in memory");
  // Kernels of a file may have run, and have no value where a loop comes to no steps.
  if (!scalars_[root.index]) {
    const std::string& name = program_.buffers[root].name;
    throw Error(ErrorCode::invalid_program, {}, str(name, " is read, and a loop of no steps has not written it"));
  }
  return scalars_[root.index];
}

void Places::set_scalar(BufferId buffer, Value* value) { scalars_[kernel::root_of(program_, buffer).index] = value; }

void Places::spill_scalar(BufferId buffer) {
  const BufferId root = kernel::root_of(program_, buffer);
  if (spilled_[root.index]) return;
  const DType dtype = program_.buffers[root].dtype;
  if (!slots_[root.index]) slots_[root.index] = frame_.stack(memory_type(b_, dtype));
  if (Value* value = scalars_[root.index]) b_.CreateStore(to_memory(b_, value, dtype), slots_[root.index]);
  spilled_[root.index] = true;
}

void Places::reload_scalar(BufferId buffer) {
  const BufferId root = kernel::root_of(program_, buffer);
  const DType dtype = program_.buffers[root].dtype;
  scalars_[root.index] = from_memory(b_, b_.CreateLoad(memory_type(b_, dtype), slots_[root.index]), dtype);
  spilled_[root.index] = false;
}

void Places::redirect(BufferId root, Value* address) {
  if (is_scalar(root)) {
    slots_[root.index] = address;
    spilled_[root.index] = true;
  } else {
    addresses_[root.index] = address;
  }
}

}  // namespace inlay::llvm_backend
