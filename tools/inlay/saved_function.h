#pragma once
// A compiled function that `inlay.save` or Executable::save wrote, for a reader.
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "file/function_file.h"

namespace inlay::tool {

/// Does a file with these bytes claim to be one? What is wrong with it, file::read says.
bool is_saved_function(std::string_view bytes);

/// The function that a file's bytes hold. Throws Error(invalid-file).
file::FunctionFile saved_function(std::string_view bytes, const std::string& path);

/// What the file has, a line each: versions, the code and whether it runs here, what was chosen when it was compiled,
/// parameters, results, sections.
std::string file_table(const file::FunctionFile& file);
nlohmann::ordered_json file_json(const file::FunctionFile& file);

}  // namespace inlay::tool
