#pragma once
#include <filesystem>
#include <string_view>
#include <system_error>

namespace inlay {

/// Makes the bytes all that the file holds, or says why not; then what was there before still is: the bytes go into a
/// file beside it, which takes its name when it is whole. (What no file can be put in the place of, a pipe or a device,
/// is written to as it is.)
std::error_code write_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace inlay
