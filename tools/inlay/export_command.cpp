// inlay export
#include <charconv>
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

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

/// In the order in which they are told; those that are not known are none.
std::vector<std::pair<std::string, std::optional<int64_t>>> by_name(const ExportedSizes& sizes) {
  return {{"text", sizes.text},
          {"rodata", sizes.rodata},
          {"data", sizes.data},
          {"stack", sizes.stack},
          {"arena", sizes.arena}};
}

/// The files, and the sizes: `text 1204, rodata 96, data 0, stack 232, arena 64 bytes`.
std::string text_of(const std::string& header, const std::string& code, const ExportedSizes& sizes) {
  std::vector<std::string> known;
  for (const auto& [name, bytes] : by_name(sizes)) {
    if (bytes) known.push_back(str(name, " ", *bytes));
  }
  return str(header, "\n", code, known.empty() ? "" : "\n", join(known, ", "), known.empty() ? "" : " bytes");
}

std::string json_text(const std::string& header, const std::string& code, const ExportedSizes& sizes) {
  nlohmann::ordered_json out = {{"header", header}, {"code", code}};
  for (const auto& [name, bytes] : by_name(sizes)) {
    if (bytes) out[name + "_bytes"] = *bytes;
  }
  const auto other_bytes = nlohmann::ordered_json::error_handler_t::replace;  // paths may be no UTF-8
  return out.dump(-1, ' ', false, other_bytes);
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
                        .blas = command.blas,
                        .section = command.section};
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
  std::cout << (command.json ? json_text(header, code, made.sizes) : text_of(header, code, made.sizes)) << "\n";
  return kDone;
}

}  // namespace inlay::tool
