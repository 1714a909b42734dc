#pragma once
// What the loader must know about an object's processor: how its relocations change bytes, and how to jump to any
// address.
//
// Every build has all processors, so that each is tested on each of them; an object is loaded for the one that runs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::runtime {

/// What a relocation may need besides its symbol: a slot that holds the symbol's address, or, if the symbol is
/// external, a jump to it that lies near.
enum class Helper : uint8_t { none, slot, jump };

/// A relocation whose addresses are known.
struct Relocation {
  uint32_t type = 0;
  uint64_t place = 0;   // the address of the bytes
  uint64_t symbol = 0;  // addresses of the symbol, and of its helpers (0: it has none)
  uint64_t slot = 0, jump = 0;
  uint64_t addend = 0;
  std::string_view name;     // the symbol's
  std::string_view section;  // the one that has the bytes

  uint64_t absolute() const { return symbol + addend; }
  int64_t distance_to(uint64_t to) const { return static_cast<int64_t>(to + addend - place); }
};

constexpr std::size_t kJumpBytes = 16;
using Jump = std::array<unsigned char, kJumpBytes>;

struct Machine {
  uint16_t number = 0;    // Elf64_Ehdr::e_machine
  std::string_view name;  // "x86-64"
  Helper (*helper)(uint32_t type) = nullptr;
  uint64_t (*width)(uint32_t type) = nullptr;  // how many bytes `relocate` reads and writes
  /// Throws Error(unsupported) for an unknown type, and for a target too far away.
  void (*relocate)(const Relocation& relocation, std::byte* bytes) = nullptr;
  Jump (*jump_to)(uint64_t target) = nullptr;  // `target` may be anywhere
};

extern const Machine kX86, kAarch64;

const Machine& this_machine();

[[noreturn]] void unsupported_by_loader(const std::string& what);
[[noreturn]] void unsupported_relocation(const Relocation& relocation);
[[noreturn]] void too_far(const Relocation& relocation, std::string_view most);  // "2 GB"

}  // namespace inlay::runtime
