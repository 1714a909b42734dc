#include "saved_function.h"

#include <span>

#include <nlohmann/json.hpp>

#include "compiler/saved.h"
#include "runtime/type_of.h"
#include "support/counted.h"
#include "support/table.h"

namespace inlay::tool {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string tensors_text(const std::vector<runtime::TensorSpec>& specs) {
  return join(specs, ", ", [](const runtime::TensorSpec& spec) {
    return str(spec.name, ": ", runtime::type_text(spec.dtype, spec.dim_texts), spec.bound ? " bound" : "",
               spec.donated ? " donated" : "");
  });
}

nlohmann::ordered_json tensors_json(const std::vector<runtime::TensorSpec>& specs) {
  nlohmann::ordered_json out = nlohmann::json::array();
  for (const runtime::TensorSpec& spec : specs) {
    out.push_back({{"name", spec.name},
                   {"dtype", spec.dtype},
                   {"dims", spec.dim_texts},
                   {"bound", spec.bound},
                   {"donated", spec.donated}});
  }
  return out;
}

/// What whoever compiled it has chosen, or what went for a choice.
std::string choices_text(const file::FunctionFile& file) {
  std::string out = str("fuse=", file.fuse, ", planner=", file.planner);
  if (!file.cpu_features.empty()) out += str(", cpu=", file.cpu_features);
  if (is_single_precision(file)) out += ", single_precision";
  for (const auto& [name, number] : file.upper_bounds) out += str(", ", name, " <= ", number);
  return out;
}

std::string runs_text(const file::FunctionFile& file) {
  const std::string why_not = why_not_here(file);
  return why_not.empty() ? "as it is" : str("after its kernels are compiled once more: ", why_not);
}

std::vector<std::string> host_calls(const file::FunctionFile& file) {
  std::vector<std::string> out;
  for (const runtime::HostCallSpec& call : file.object.host_calls) out.push_back(call.name);
  return out;
}

}  // namespace

bool is_saved_function(std::string_view bytes) { return file::begins_as_one(as_bytes(bytes)); }

file::FunctionFile saved_function(std::string_view bytes, const std::string& path) {
  return file::read(as_bytes(bytes), path);
}

std::string file_table(const file::FunctionFile& file) {
  std::vector<std::vector<std::string>> rows = {
      {"format", str(file.format, ", by inlay ", file.inlay)},
      {"code", str(file.object.code.size(), " bytes, by ", file.backend, ", for ", file.target)},
      {"needs", join(file.needs, ", ")},
      {"runs here", runs_text(file)},
      {"compiled with", choices_text(file)},
      {"parameters", tensors_text(file.object.params)},
      {"results", tensors_text(file.object.outputs)},
      {"can fail", str("at ", counted(file.object.sites.size(), "place"))},
      {"texts", str(file.graph.size(), " bytes of the graph, ", file.kernels.size(), " of the kernels")},
  };
  if (!file.object.host_calls.empty()) rows.push_back({"host calls", join(host_calls(file), ", ")});
  for (const file::Section& section : file.sections) {
    rows.push_back({str("section ", section.name), str(section.bytes.size(), " bytes")});
  }
  return table(rows);
}

nlohmann::ordered_json file_json(const file::FunctionFile& file) {
  nlohmann::ordered_json bounds = nlohmann::json::object(), sections = nlohmann::json::object();
  for (const auto& [name, number] : file.upper_bounds) bounds[name] = number;
  for (const file::Section& section : file.sections) sections[section.name] = section.bytes.size();
  return {{"format", file.format},
          {"inlay", file.inlay},
          {"code_bytes", file.object.code.size()},
          {"backend", file.backend},
          {"target", file.target},
          {"needs", file.needs},
          {"why_not_here", why_not_here(file)},
          {"fuse", file.fuse},
          {"planner", file.planner},
          {"cpu", file.cpu_features},
          {"single_precision", is_single_precision(file)},
          {"upper_bounds", bounds},
          {"parameters", tensors_json(file.object.params)},
          {"results", tensors_json(file.object.outputs)},
          {"sites", file.object.sites.size()},
          {"host_calls", host_calls(file)},
          {"sections", sections}};
}

}  // namespace inlay::tool
