#pragma once
// The map of memory as a comment of C, in the header of an exported program: people read it, and `inlay explain` does.
#include <string>
#include <string_view>

#include "explain/memory_table.h"

namespace inlay::explain {

/// With what its columns mean. What a name has that a comment or a row cannot have is replaced.
std::string memory_comment(MemoryTable map);

/// The map in a text that has a memory_comment. Throws Error(invalid-file), with the line where it is known, for a text
/// that has none, or a damaged one.
MemoryTable read_memory_comment(std::string_view text, const std::string& file_name);

/// The header of an exported program, by the path of one of its files: itself, or for .c, .o and .so the one beside
/// it, by whose name it goes, softmax.h beside libsoftmax.so. Empty for another file.
std::string exported_header(const std::string& path);

}  // namespace inlay::explain
