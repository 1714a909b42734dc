// The C++ interface, include/inlay/export.h, over export.h.
#include "compiler/executable_state.h"
#include "compiler/strided.h"
#include "export/export.h"
#include "ir/text.h"
#include "support/whole_file.h"

namespace inlay {

void Exported::save(const std::filesystem::path& folder) const {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error(ErrorCode::invalid_file, {},
                str("the folder ", folder.string(), " cannot be made: ", failure.message()));
  }
  save_whole_file(folder / header.name, header.bytes);
  save_whole_file(folder / code.name, code.bytes);
}

Exported exported(const Graph& graph, const ExportOptions& options) {
  ExportRequest request{.name = options.name.empty() ? graph.name : options.name,
                        .kind = options.kind,
                        .sizes = {options.sizes.begin(), options.sizes.end()},
                        .freestanding = options.freestanding,
                        .blas = options.blas,
                        .section = options.section,
                        .options = options_of(options.compile)};
  std::vector<ArrayRef> given;
  for (const auto& [name, array] : options.bound) given.push_back(array);
  const RowMajorArguments arrays(given);
  auto array = arrays.get().begin();
  for (const auto& [name, as_given] : options.bound) {
    request.bound.push_back({name, array->dtype, array->dims, array->data});
    ++array;
  }
  // Its text is what sizes are fixed in, and what every other way of exporting takes. A text has no name of a graph
  // with a blank in it; that of the function is one.
  Graph named = graph;
  named.name = request.name;
  return exported(print(named, {.locations = Show::yes}), str("@", graph.name), request);
}

}  // namespace inlay
