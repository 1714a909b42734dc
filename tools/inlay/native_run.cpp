#include "native_run.h"

#include <cstring>
#include <deque>

#include "guarded_block.h"

namespace inlay::tool {
namespace {

using reference::Tensor;

DType dtype_of(const runtime::TensorSpec& spec) {
  const auto dtype = dtype_from_name(spec.dtype);
  INLAY_CHECK(dtype, "no dtype is called ", spec.dtype);
  return *dtype;
}

/// Memory for results, and the host functions.
class ToolHost final : public runtime::Host {
 public:
  ToolHost(const runtime::Object& object, std::span<const reference::HostFunction> functions)
      : object_(object), functions_(functions), outputs_(object.outputs.size()) {}

  void* allocate_output(int slot, std::span<const int64_t> dims) override {
    Output& output = outputs_[static_cast<std::size_t>(slot)];
    output.dims.assign(dims.begin(), dims.end());
    int64_t bytes = object_.outputs[slot].element_bytes;
    for (int64_t dim : dims) bytes *= dim;
    return output.blocks.emplace_back(bytes).begin();
  }

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override {
    const auto at = static_cast<std::size_t>(function);
    const runtime::HostCallSpec& spec = *spec_of(function);
    last_called_ = spec.name;
    if (at >= functions_.size() || !functions_[at]) return INLAY_HOST_CALL_FAILED;
    std::vector<Tensor> arguments;
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const auto rank = spec.operands[i].dims.size();
      Tensor argument = Tensor::zeros(dtype_of(spec.operands[i]), {operand_dims, operand_dims + rank});
      if (!argument.data.empty()) std::memcpy(argument.data.data(), operands[i], argument.data.size());
      arguments.push_back(std::move(argument));
      operand_dims += rank;
    }
    try {
      std::vector<Tensor> made = functions_[at](arguments);
      for (std::size_t i = 0; i < spec.results.size(); ++i) {
        kept_.push_back(std::move(made.at(i)));
        results[i] = kept_.back().data.data();
        result_dims = std::copy(kept_.back().dims.begin(), kept_.back().dims.end(), result_dims);
      }
    } catch (const Error&) {
      return INLAY_HOST_CALL_FAILED;
    }
    return INLAY_OK;
  }

  const std::string& last_called() const { return last_called_; }

  std::vector<Tensor> outputs() {
    std::vector<Tensor> tensors;
    for (std::size_t slot = 0; slot < outputs_.size(); ++slot) {
      Output& output = outputs_[slot];
      INLAY_CHECK(output.blocks.size() == 1, "output ", slot, " was asked for ", output.blocks.size(), " times");
      output.blocks[0].check(str("output ", slot));
      Tensor tensor = Tensor::zeros(dtype_of(object_.outputs[slot]), output.dims);
      if (!tensor.data.empty()) std::memcpy(tensor.data.data(), output.blocks[0].begin(), tensor.data.size());
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  struct Output {
    std::vector<int64_t> dims;
    std::deque<GuardedBlock> blocks;
  };

  const runtime::HostCallSpec* spec_of(int function) const {
    for (const runtime::HostCallSpec& spec : object_.host_calls) {
      if (spec.function == function) return &spec;
    }
    INLAY_CHECK(false, "no host call ", function);
    return nullptr;
  }

  const runtime::Object& object_;
  std::span<const reference::HostFunction> functions_;
  std::vector<Output> outputs_;
  std::string last_called_;
  std::deque<Tensor> kept_;
};

void check_arguments(const runtime::Object& object, std::span<const Tensor> inputs) {
  if (inputs.size() != object.params.size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("takes ", object.params.size(), " arguments, not ", inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const runtime::TensorSpec& spec = object.params[i];
    if (dtype_name(inputs[i].dtype) != spec.dtype) {
      throw Error(ErrorCode::wrong_dtype, {},
                  str("%", spec.name, ": dtype is ", dtype_name(inputs[i].dtype), ", not ", spec.dtype));
    }
    if (inputs[i].dims.size() != spec.dims.size()) {
      throw Error(ErrorCode::wrong_rank, {},
                  str("%", spec.name, ": rank is ", inputs[i].dims.size(), ", not ", spec.dims.size()));
    }
  }
}

}  // namespace

std::vector<Tensor> run_native(const runtime::Executable& executable, std::span<const Tensor> inputs,
                               std::span<const reference::HostFunction> host_functions) {
  check_arguments(executable.object(), inputs);
  std::vector<Tensor> arguments(inputs.begin(), inputs.end());
  std::vector<runtime::TensorRef> refs;
  for (Tensor& argument : arguments) refs.push_back({argument.data.data(), argument.dims.data()});
  ToolHost host(executable.object(), host_functions);
  const auto check_unchanged = [&] {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      INLAY_CHECK(arguments[i].data == inputs[i].data, "argument ", i, " was changed");
  };
  try {
    executable.call(refs, host);
  } catch (const Error& error) {
    check_unchanged();
    if (error.code() != ErrorCode::host_call_failed) throw;
    throw Error(error.code(), {},
                str(host.last_called(), ": the host call failed"));  // the runtime leaves this to the door
  }
  check_unchanged();
  return host.outputs();
}

}  // namespace inlay::tool
