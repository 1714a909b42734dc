#pragma once
// How many bytes of a machine's memory compiled code takes: exported code, and what tools/devices.py compiles.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inlay {

enum class Use : uint8_t {
  text,    // is run
  rodata,  // is read: constants, bound arrays, texts of messages
  data,    // is written: of a library the places of what it calls
};

/// A part of an object or a library that is in memory where that is used.
struct LoadedSection {
  std::string name;
  Use use = Use::text;
  int64_t num_bytes = 0;
};

/// None where it is no ELF file of a little-endian machine, of 32 or 64 bits.
std::optional<std::vector<LoadedSection>> loaded_sections(std::span<const std::byte> elf);

/// The most bytes that a call of the function has on the stack, by the graph of calls that gcc writes. Functions that
/// lie elsewhere (libm) count as 0, and so do those of the caller. None where the graph does not have the function, or
/// where it has no most: what a function takes depends on its arguments, or it calls itself.
std::optional<int64_t> stack_bytes(std::string_view calls, std::string_view function);

}  // namespace inlay
