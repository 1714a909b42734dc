#pragma once
// Where a buffer's bytes are, or the register that is the buffer.
#include <vector>

#include "backend/llvm/sizes.h"
#include "memory/plan.h"

namespace inlay::llvm_backend {

using kernel::BufferId;

class Places {
 public:
  Places(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, llvm::Module& module,
         llvm::IRBuilder<>& builder, Frame& frame, Sizes& sizes);

  /// Of the first byte of a buffer, on the spine. A scalar in a register has one only between spill and reload.
  Value* address(BufferId buffer);
  void set_host_address(BufferId buffer, Value* address) {
    (is_host_handle(buffer) ? scalars_ : addresses_)[kernel::root_of(program_, buffer).index] = address;
  }
  bool is_scalar(BufferId buffer) const;
  bool is_host_handle(BufferId buffer) const;  // a value that may change, as a scalar's
  Value* scalar(BufferId buffer) const;        // its value now
  void set_scalar(BufferId buffer, Value* value);
  void spill_scalar(BufferId buffer);  // to its stack slot, so that loops can change it
  void reload_scalar(BufferId buffer);
  bool is_spilled(BufferId buffer) const;
  /// In this function the buffer is there, a scalar too.
  void redirect(BufferId root, Value* address);
  /// Has it a value that is no place that the caller's tables name: a register's, or an address that a host call gave?
  bool is_value(BufferId root) const;
  Value*& value(BufferId root) { return (is_scalar(root) || is_host_handle(root) ? scalars_ : addresses_)[root.index]; }
  std::vector<Value*>& scalars() { return scalars_; }
  std::vector<Value*>& addresses() { return addresses_; }

 private:
  Value* given_address(const memory::Place& place);
  Value* literal_address(const kernel::Buffer& buffer);

  const kernel::KernelProgram& program_;
  const memory::MemoryPlan& plan_;
  llvm::Module& module_;
  llvm::IRBuilder<>& b_;
  Frame& frame_;
  Sizes& sizes_;
  std::vector<Value*> addresses_;  // by root buffer
  std::vector<Value*> scalars_;    // by root buffer
  std::vector<Value*> slots_;      // by root buffer: of spilled scalars
  std::vector<bool> spilled_;
};

}  // namespace inlay::llvm_backend
