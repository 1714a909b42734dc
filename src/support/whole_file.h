#pragma once
#include <filesystem>
#include <string_view>
#include <system_error>

namespace inlay {

/// Replaces the contents of a file, or returns why that failed, and then the old contents are still there: the bytes go
/// into a file next to it, of the same rights, which takes its name when it is complete. A link is followed. (What
/// cannot be replaced by a file, such as a pipe or a device, is written directly.)
std::error_code write_whole_file(const std::filesystem::path& path, std::string_view bytes);

/// The same for a file that a user asked for; throws Error(invalid-file).
void save_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace inlay
