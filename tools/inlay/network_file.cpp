#include "network_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "commands.h"
#include "network/network.h"
#include "npy.h"

namespace inlay::tool {
namespace {

/// As the network keeps it.
onnx::Tensor tensor_of(const reference::Tensor& from) {
  return {"", onnx::type_of_dtype(from.dtype), from.dims, onnx::kept(from.data)};
}

/// One number, of the input's dtype; one vector of a single element where the input is one.
reference::Tensor number(const std::string& text, const onnx::Declared& input) {
  const std::optional<DType> dtype = onnx::dtype_of_type(input.element_type);
  const std::optional<Literal> literal = dtype ? Literal::of_text(*dtype, text) : std::nullopt;
  if (!literal) {
    throw Error(ErrorCode::syntax, {},
                str("--fixed=", input.name, "=", text, ": that is neither a .npy file nor a number of type ",
                    onnx::type_name(input.element_type)));
  }
  const std::size_t rank = input.dims ? input.dims->size() : 0;
  reference::Tensor out = reference::Tensor::zeros(*dtype, std::vector<int64_t>(rank, 1));
  literal->store(out.data.data());
  return out;
}

onnx::ImportOptions options_of(const onnx::Model& model, const NetworkFlags& flags) {
  onnx::ImportOptions out;
  out.stores_windows = !flags.no_windows;
  out.donated.insert(flags.donated.begin(), flags.donated.end());
  for (const std::string& text : flags.fixed) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
      throw Error(ErrorCode::syntax, {}, str("--fixed=", text, " names no input: write --fixed rate=16000"));
    }
    const std::string name = text.substr(0, at), value = text.substr(at + 1);
    if (out.fixed.contains(name) || out.sizes.contains(name))
      throw Error(ErrorCode::duplicate_name, {}, str("--fixed: ", name, " is given twice"));
    const auto input = std::ranges::find(model.graph.inputs, name, &onnx::Declared::name);
    if (input == model.graph.inputs.end()) {
      out.sizes.insert(named_size("--fixed", text));
      continue;
    }
    out.fixed[name] = tensor_of(value.ends_with(".npy") ? read_npy(value) : number(value, *input));
  }
  return out;
}

template <class Result>
Result read(const std::string& path, const NetworkFlags& flags,
            Result (*prepare)(const onnx::Model&, const onnx::ImportOptions&)) {
  const onnx::Model model = onnx::read_model(path);
  try {
    return prepare(model, options_of(model, flags));
  } catch (const onnx::NeedsFixed& needs) {
    throw Error(needs).help(str("--fixed ", needs.names().front(), "=... says what it is in all calls"));
  }
}

}  // namespace

bool is_network(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".onnx") return true;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(2, ' ');
  return file.read(begin.data(), 2) && looks_like_network(begin);
}

bool looks_like_network(std::string_view bytes) {
  constexpr char kVersion = 8, kNewest = 31;  // the field of the version of the format, and a version
  return bytes.size() >= 2 && bytes[0] == kVersion && bytes[1] > 0 && bytes[1] <= kNewest;
}

onnx::Network read_network(const std::string& path, const NetworkFlags& flags) {
  return read(path, flags, network::prepare);
}

Graph read_network_graph(const std::string& path, const NetworkFlags& flags) {
  return read(path, flags, network::prepared_graph);
}

reference::Tensor array_of(const onnx::Tensor& weight) {
  const auto bytes = weight.data.bytes;
  return {*onnx::dtype_of_type(weight.type), weight.dims, {bytes.begin(), bytes.end()}};
}

}  // namespace inlay::tool
