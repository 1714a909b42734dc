// The C++ interface: include/inlay/onnx.h.
#include "compiler/strided.h"
#include "inlay/onnx.h"
#include "network/network.h"
#include "support/counted.h"

namespace inlay {
namespace {

onnx::Tensor tensor_of(const std::string& name, const ArrayRef& array) {
  if (!array.strides.empty()) {
    throw Error(ErrorCode::unsupported, {}, str("the fixed input `", name, "` is to be row-major, without strides"));
  }
  require_address(
      ErrorCode::shape_mismatch, [&] { return str("the fixed input `", name, "`"); }, array.dims, array.data);
  onnx::Tensor out{name, onnx::type_of_dtype(array.dtype), array.dims, {}};
  const auto size = static_cast<std::size_t>(out.num_elements() * size_bytes(array.dtype));
  const auto* begin = static_cast<const std::byte*>(array.data);
  out.data = onnx::kept({begin, begin + size});
  return out;
}

}  // namespace

OnnxNetwork read_onnx(const std::filesystem::path& path, const OnnxOptions& inputs) {
  onnx::ImportOptions options;
  options.sizes = inputs.sizes;
  options.donated = inputs.donated;
  options.stores_windows = inputs.stores_windows;
  for (const auto& [name, array] : inputs.fixed) options.fixed[name] = tensor_of(name, array);
  auto network = std::make_shared<onnx::Network>(network::prepare(onnx::read_model(path.string()), options));
  OnnxNetwork out{std::move(network->graph), {}, network};
  std::size_t next = 0;
  for (const Param& param : out.graph.params) {
    if (!param.bound) continue;
    const onnx::Tensor& weight = network->weights[next++];
    out.weights.emplace(out.graph.values[param.value].name,
                        ArrayRef(*onnx::dtype_of_type(weight.type), weight.dims, weight.data.bytes.data()));
  }
  return out;
}

OnnxFunction::OnnxFunction(const OnnxNetwork& network, const CompileOptions& options)
    : executable_(compile(network.graph, options)), owner_(network.owner) {
  for (const TensorInfo& param : executable_.params()) {
    if (param.bound) {
      weights_.push_back(network.weights.at(param.name));
    } else {
      params_.push_back(param);
    }
  }
}

std::vector<ArrayRef> OnnxFunction::with_weights(std::span<const ArrayRef> arguments) const {
  if (arguments.size() != params_.size()) {
    throw Error(ErrorCode::wrong_argument_count, {},
                str("the network takes ", counted(params_.size(), "argument"), ", not ", arguments.size()));
  }
  std::vector<ArrayRef> all;
  std::size_t given = 0, weight = 0;
  for (const TensorInfo& param : executable_.params()) {
    all.push_back(param.bound ? weights_[weight++] : arguments[given++]);
  }
  return all;
}

std::vector<Array> OnnxFunction::operator()(std::span<const ArrayRef> arguments) const {
  return executable_(with_weights(arguments));
}

void OnnxFunction::into(std::span<const ArrayRef> arguments, std::span<const ArrayOut> results) const {
  executable_.into(with_weights(arguments), results);
}

OnnxFunction compile_onnx(const std::filesystem::path& path, const OnnxOptions& inputs, const CompileOptions& options) {
  return {read_onnx(path, inputs), options};
}

}  // namespace inlay
