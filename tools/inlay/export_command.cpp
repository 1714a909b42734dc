// inlay export
#include <charconv>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "export/export.h"
#include "ir/text.h"
#include "network_file.h"
#include "npy.h"
#include "program_file.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

/// `w=w.npy`
std::pair<std::string, std::string> at_equals(const char* option, const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw Error(ErrorCode::syntax, {}, str(option, "=", text, " names nothing: write ", option, " NAME=..."));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

FixedSizes sizes_of(const ExportCommand& command) {
  FixedSizes sizes;
  for (const std::string& text : command.sizes) sizes.push_back(named_size("--size", text));
  return sizes;
}

/// Where a file is named instead of a folder: its ending says the kind.
std::string kind_of(const std::string& ending) {
  return ending == ".c" ? "c" : ending == ".o" ? "object" : ending == ".so" ? "shared" : "";
}

std::string name_of(const ExportCommand& command) {
  if (!command.name.empty()) return command.name;
  const std::string name = fs::path(command.file).stem().string();
  const std::string wrong = wrong_export_name(name);
  if (wrong.empty()) return name;
  throw Error(ErrorCode::unknown_name, {}, str("the function cannot be called as its file: ", wrong))
      .help("--name=NAME says how it is called");
}

/// Of a file that holds a network; else an empty one.
onnx::Network network_of(const ExportCommand& command) {
  return is_network(command.file) ? read_network(command.file, command.compile.network) : onnx::Network();
}

}  // namespace

int export_file(const ExportCommand& command) {
  const fs::path output = command.output;
  const std::string kind_of_file = kind_of(output.extension().string());
  const bool is_file = !kind_of_file.empty() && !fs::is_directory(output);
  const std::string kind = !command.kind.empty() ? command.kind : is_file ? kind_of_file : "c";
  if (is_file && kind != kind_of_file) {
    throw Error(ErrorCode::syntax, {}, str("--kind=", kind, " does not fit -o ", command.output));
  }
  const onnx::Network network = network_of(command);
  const std::string text = is_network(command.file) ? print(network.graph) : program_text(command.file);
  if (holds_kernels(text))
    throw Error(ErrorCode::unsupported, {}, str(command.file, " holds kernels: export takes a graph"));

  ExportRequest request{.name = name_of(command),
                        .kind = export_kind_named(kind),
                        .sizes = sizes_of(command),
                        .freestanding = command.freestanding,
                        .blas = command.blas};
  request.options = command.compile.options();
  std::vector<Tensor> arrays;
  arrays.reserve(command.bound.size());
  for (const std::string& given : command.bound) {
    const auto [name, path] = at_equals("--bound", given);
    const Tensor& array = arrays.emplace_back(read_npy(path));
    request.bound.push_back({name, array.dtype, array.dims, array.data.data()});
  }
  for (std::size_t i = 0, next = 0; i < network.graph.params.size(); ++i) {
    const Param& param = network.graph.params[i];
    if (!param.bound) continue;
    const onnx::Tensor& weight = network.weights[next++];
    request.bound.push_back({network.graph.values[param.value].name, *onnx::dtype_of_type(weight.type), weight.dims,
                             weight.data.bytes.data()});
  }
  const Exported made = exported(text, command.file, request);
  const fs::path folder = is_file ? output.parent_path() : output;
  if (!folder.empty()) fs::create_directories(folder);
  const std::string code = (is_file ? output : folder / made.code.name).string();
  const std::string header = (folder / made.header.name).string();
  write_file(header, made.header.bytes);
  write_file(code, made.code.bytes);
  std::cout << header << "\n" << code << "\n";
  return kDone;
}

}  // namespace inlay::tool
