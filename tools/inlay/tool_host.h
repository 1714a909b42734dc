#pragma once
// What the tool is to the code that it runs: it has the host functions, and checks arguments before they are passed.
#include <deque>
#include <span>
#include <string>

#include "oracle/reference/evaluate.h"
#include "runtime/executable.h"

namespace inlay::tool {

DType dtype_of(const runtime::TensorSpec& spec);

/// Throws Error(wrong_argument_count, wrong_dtype, wrong_rank).
void check_arguments(const runtime::Object& object, std::span<const reference::Tensor> inputs);

/// Of one call. Where results lie is up to who derives from it.
class ToolHost : public runtime::Host {
 public:
  ToolHost(const runtime::Object& object, std::span<const reference::HostFunction> functions)
      : object_(object), functions_(functions) {}

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override;

  /// What a call has thrown, with the name of the host function that failed: the runtime leaves this to the door.
  Error named(const Error& error) const;

 protected:
  const runtime::Object& object() const { return object_; }
  int64_t output_bytes(int slot, std::span<const int64_t> dims) const;

 private:
  const runtime::HostCallSpec& spec_of(int function) const;

  const runtime::Object& object_;
  std::span<const reference::HostFunction> functions_;
  std::string last_called_;
  std::deque<reference::Tensor> kept_;  // what host functions made
};

}  // namespace inlay::tool
