#include "backend/llvm/parts.h"

namespace inlay::llvm_backend {
namespace {

constexpr uint64_t kSlotBytes = 16;  // of the largest number

}  // namespace

Part::Part(FunctionEmitter& caller, Frame::Kind kind) : caller_(caller), f_(caller, kind) {
  caller_.frame.begin_step();
  f_.copied_math = caller_.copied_math;
  if (caller_.ends.is_writing()) f_.ends.begin_writing();
}

Value* Part::slot_of(FunctionEmitter& f, Value* slots, std::size_t i) {
  return f.b.CreateConstGEP1_64(f.b.getInt8Ty(), slots, i * kSlotBytes);
}

Value* Part::load(FunctionEmitter& f, BufferId root, Value* slot) {
  if (!f.places.is_scalar(root)) return f.b.CreateLoad(f.b.getPtrTy(), slot);
  const DType dtype = f.program.buffers[root].dtype;
  return from_memory(f.b, f.b.CreateLoad(memory_type(f.b, dtype), slot), dtype);
}

void Part::store(FunctionEmitter& f, BufferId root, Value* slot) {
  Value* value = f.places.value(root);
  f.b.CreateStore(f.places.is_scalar(root) ? to_memory(f.b, value, f.program.buffers[root].dtype) : value, slot);
}

void Part::take(const kernel::StepAccess& access) {
  const auto take_one = [&](BufferId buffer) {
    const BufferId root = kernel::root_of(f_.program, buffer);
    if (f_.program.buffers[root].role == kernel::Role::literal) {
      f_.places.value(root) = caller_.places.address(root);  // one copy in the module
      return;
    }
    if (!f_.places.is_value(root) || has_taken(root) || written_.contains(root)) return;
    if (!caller_.places.value(root)) return;
    const llvm::IRBuilder<>::InsertPointGuard guard(f_.b);
    f_.frame.go_to_entry();
    f_.b.SetInsertPoint(f_.b.GetInsertBlock()->getTerminator());
    taken_[root] = f_.places.value(root) = load(f_, root, slot_of(f_, f_.frame.passed_argument(), passed_.size()));
    passed_.push_back(root);
  };
  for (const BufferId buffer : access.reads) take_one(buffer);
  for (const BufferId buffer : access.writes) {
    take_one(buffer);
    written_.insert(kernel::root_of(f_.program, buffer));
  }
}

void Part::close(llvm::function_ref<bool(BufferId root)> is_read_later) {
  const std::size_t num_given = passed_.size();
  std::vector<std::pair<BufferId, std::size_t>> back;  // with their slots
  for (const BufferId root : written_) {
    if (!f_.places.is_value(root)) continue;
    Value* value = f_.places.value(root);
    const auto taken = taken_.find(root);
    const bool is_new = value && (taken == taken_.end() || taken->second != value);
    if (!is_new || !is_read_later(root)) continue;
    back.emplace_back(root, passed_.size());
    passed_.push_back(root);
  }
  for (const auto& [root, slot] : back) store(f_, root, slot_of(f_, f_.frame.passed_argument(), slot));
  f_.frame.finish();

  Value* slots = stored_slots(num_given);
  caller_.ends.return_unless_ok(caller_.b.CreateCall(f_.frame.function(), {caller_.frame.call_argument(), slots}));
  for (const auto& [root, slot] : back) caller_.places.value(root) = load(caller_, root, slot_of(caller_, slots, slot));
  caller_.copied_math = f_.copied_math;
  if (f_.ends.is_writing()) caller_.ends.begin_writing();
}

/// In the caller's scratch, with what it has by now of those that the part is given.
Value* Part::stored_slots(std::size_t num_given) {
  if (passed_.empty()) return llvm::ConstantPointerNull::get(caller_.b.getPtrTy());
  Value* slots = caller_.frame.scratch(passed_.size() * kSlotBytes);
  for (std::size_t i = 0; i < num_given; ++i) store(caller_, passed_[i], slot_of(caller_, slots, i));
  return slots;
}

Value* Part::close_blocks() {
  f_.frame.finish();
  caller_.copied_math = f_.copied_math;
  if (f_.ends.is_writing()) caller_.ends.begin_writing();
  return stored_slots(passed_.size());
}

OpenFunctions::OpenFunctions(FunctionEmitter& entry)
    : entry_(entry),
      spans_(kernel::regions_of(entry.program)),
      entry_regions_(entry, spans_),
      reads_(entry.program.buffers.size()) {
  for (const kernel::Step& step : entry.program.steps) access_.push_back(kernel::access_of(entry.program, step));
  for (uint32_t i = 0; i < access_.size(); ++i) {
    for (const BufferId buffer : access_[i].reads) {
      Reads& reads = reads_[kernel::root_of(entry.program, buffer).index];
      reads.first = std::min(reads.first, i);
      reads.last = i;
    }
  }
}

void OpenFunctions::begin_step(kernel::StepId id) {
  const kernel::Step& step = entry_.program.steps[id.index];
  const bool is_whole = !kernel::is_border(step) || kernel::opens_body(step);
  const bool ends_part = !is_whole || function().is_large();
  if (!open_.empty() && !regions().is_in_region() && ends_part) close(id);
  if (is_whole && function().is_large()) {
    open_.push_back(std::make_unique<Open>(function(), id, spans_));
  }
  take(id);
}

/// What a region touches is there before it begins: where its paths meet, each has a value.
void OpenFunctions::take(kernel::StepId step) {
  const bool opens = kernel::opens_body(entry_.program.steps[step.index]);
  const uint32_t last = opens ? kernel::region_at(spans_, step).end.index : step.index;
  for (uint32_t i = step.index; i <= last; ++i) {
    for (const auto& open : open_) open->part.take(access_[i]);
  }
}

void OpenFunctions::begin_finding() {
  regions().begin_finding();
  if (!open_.empty()) open_.back()->finds = true;
}

void OpenFunctions::close(kernel::StepId next) {
  const std::unique_ptr<Open> closed = std::move(open_.back());
  open_.pop_back();
  closed->part.close([&](BufferId root) {
    const Reads& reads = reads_[root.index];
    const bool is_local = closed->begin.index <= reads.first && reads.last < next.index;
    return closed->part.has_taken(root) || !is_local;
  });
  if (!closed->finds) return;
  begin_finding();
  function().frame.move_spine();
}

void OpenFunctions::end() {
  while (!open_.empty()) close(kernel::StepId(entry_.program.steps.size()));
}

}  // namespace inlay::llvm_backend
