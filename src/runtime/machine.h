#pragma once
// What an object's processor means to the loader: how its relocations change bytes, and a jump to anywhere.
//
// Every build has all of them, so that each is tested on every processor; an object is loaded for the one at hand.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::runtime {

/// What a relocation may need beside its symbol: a slot that holds the symbol's address, or, where the symbol is
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
  std::string_view section;  // that the bytes are in

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
  /// Throws Error(unsupported) for a type that is unknown, and for what lies too far away.
  void (*relocate)(const Relocation& relocation, std::byte* bytes) = nullptr;
  Jump (*jump_to)(uint64_t target) = nullptr;  // lies anywhere
};

extern const Machine kX86, kAarch64;

const Machine& this_machine();

[[noreturn]] void unsupported_by_loader(const std::string& what);
[[noreturn]] void unsupported_relocation(const Relocation& relocation);
[[noreturn]] void too_far(const Relocation& relocation, std::string_view most);  // "2 GB"

}  // namespace inlay::runtime
