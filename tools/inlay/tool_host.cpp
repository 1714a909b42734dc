#include "tool_host.h"

#include <algorithm>
#include <cstring>

#include "support/counted.h"

namespace inlay::tool {

using reference::Tensor;

DType dtype_of(const runtime::TensorSpec& spec) {
  const auto dtype = dtype_from_name(spec.dtype);
  INLAY_CHECK(dtype, "no dtype is called ", spec.dtype);
  return *dtype;
}

void check_arguments(const runtime::Object& object, std::span<const Tensor> inputs) {
  if (inputs.size() != object.params.size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("the program takes ", counted(object.params.size(), "argument"), ", not ", inputs.size()));
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

int32_t ToolHost::host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                            int64_t* result_dims) {
  const auto at = static_cast<std::size_t>(function);
  const runtime::HostCallSpec& spec = spec_of(function);
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

Error ToolHost::named(const Error& error) const {
  if (error.code() != ErrorCode::host_call_failed) return error;
  return Error(error.code(), {}, str(last_called_, ": the host call failed"));
}

int64_t ToolHost::output_bytes(int slot, std::span<const int64_t> dims) const {
  int64_t bytes = object_.outputs[static_cast<std::size_t>(slot)].element_bytes;
  for (int64_t dim : dims) bytes *= dim;
  return bytes;
}

const runtime::HostCallSpec& ToolHost::spec_of(int function) const {
  const auto found = std::ranges::find(object_.host_calls, function, &runtime::HostCallSpec::function);
  INLAY_CHECK(found != object_.host_calls.end(), "no host call ", function);
  return *found;
}

}  // namespace inlay::tool
