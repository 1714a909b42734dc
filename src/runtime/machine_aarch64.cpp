// An instruction has four bytes, with an immediate of 12 to 26 bits: a distance in words or pages of 4 KB, or an offset
// within a page.
#include <cstring>
#include <limits>

#include <elf.h>

#include "runtime/machine.h"
#include "support/str.h"

namespace inlay::runtime {
namespace {

Helper helper(uint32_t type) {
  switch (type) {
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC: return Helper::slot;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: return Helper::jump;
    default: return Helper::none;
  }
}

uint64_t width(uint32_t type) {
  return type == R_AARCH64_NONE ? 0 : type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4;
}

/// The position of an immediate in an instruction.
struct Field {
  int low = 0, bits = 0;
};

void set(std::byte* bytes, Field field, uint64_t value) {
  uint32_t instruction;
  std::memcpy(&instruction, bytes, sizeof(instruction));
  const uint32_t mask = ((uint32_t{1} << field.bits) - 1) << field.low;
  instruction = (instruction & ~mask) | ((static_cast<uint32_t>(value) << field.low) & mask);
  std::memcpy(bytes, &instruction, sizeof(instruction));
}

bool fits(int64_t value, int bits) { return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1); }

/// Writes a distance in words into a field.
void set_words(const Relocation& r, std::byte* bytes, Field field, int64_t distance, std::string_view most) {
  if (distance % 4 != 0) unsupported_by_loader(str("the jump into an instruction of ", r.name));
  if (!fits(distance / 4, field.bits)) too_far(r, most);
  set(bytes, field, static_cast<uint64_t>(distance / 4));
}

/// adrp: writes the distance in pages, whose last two bits are apart from the others.
void set_pages(const Relocation& r, std::byte* bytes, uint64_t to) {
  const int64_t pages = static_cast<int64_t>((to & ~uint64_t{4095}) - (r.place & ~uint64_t{4095})) / 4096;
  if (!fits(pages, 21)) too_far(r, "4 GB");
  set(bytes, {29, 2}, static_cast<uint64_t>(pages));
  set(bytes, {5, 19}, static_cast<uint64_t>(pages) >> 2);
}

/// Writes the offset within the page, in units of what is loaded or stored.
void set_offset(const Relocation& r, std::byte* bytes, uint64_t to, int log_size) {
  if (to % (uint64_t{1} << log_size) != 0) {
    unsupported_by_loader(str("the reference to ", r.name, ", which is not aligned to ", 1 << log_size, " bytes"));
  }
  set(bytes, {10, 12}, (to & 4095) >> log_size);
}

void set_distance(const Relocation& r, std::byte* bytes) {
  const int64_t distance = r.distance_to(r.symbol);
  if (!fits(distance, 32)) too_far(r, "2 GB");
  const auto word = static_cast<int32_t>(distance);
  std::memcpy(bytes, &word, sizeof(word));
}

void set_32(const Relocation& r, std::byte* bytes) {
  if (r.absolute() > std::numeric_limits<uint32_t>::max())
    unsupported_by_loader(str("the 32-bit reference to ", r.name));
  const auto word = static_cast<uint32_t>(r.absolute());
  std::memcpy(bytes, &word, sizeof(word));
}

void set_64(std::byte* bytes, uint64_t value) { std::memcpy(bytes, &value, sizeof(value)); }

void set_call(const Relocation& r, std::byte* bytes) {
  const int64_t near = r.distance_to(r.symbol);
  set_words(r, bytes, {0, 26}, fits(near, 28) || r.jump == 0 ? near : r.distance_to(r.jump), "128 MB");
}

void relocate(const Relocation& r, std::byte* bytes) {
  switch (r.type) {
    case R_AARCH64_NONE: break;
    case R_AARCH64_ABS64: return set_64(bytes, r.absolute());
    case R_AARCH64_PREL64: return set_64(bytes, static_cast<uint64_t>(r.distance_to(r.symbol)));
    case R_AARCH64_ABS32: return set_32(r, bytes);
    case R_AARCH64_PREL32: return set_distance(r, bytes);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: return set_call(r, bytes);
    case R_AARCH64_CONDBR19: return set_words(r, bytes, {5, 19}, r.distance_to(r.symbol), "1 MB");
    case R_AARCH64_TSTBR14: return set_words(r, bytes, {5, 14}, r.distance_to(r.symbol), "32 KB");
    case R_AARCH64_ADR_PREL_PG_HI21: return set_pages(r, bytes, r.absolute());
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return set_offset(r, bytes, r.absolute(), 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return set_offset(r, bytes, r.absolute(), 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return set_offset(r, bytes, r.absolute(), 2);
    case R_AARCH64_LDST64_ABS_LO12_NC: return set_offset(r, bytes, r.absolute(), 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return set_offset(r, bytes, r.absolute(), 4);
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      if (r.addend != 0) unsupported_relocation(r);  // of the slot of another address
      return r.type == R_AARCH64_ADR_GOT_PAGE ? set_pages(r, bytes, r.slot) : set_offset(r, bytes, r.slot, 3);
    default: unsupported_relocation(r);
  }
}

/// ldr x16, #8; br x16; then the address. A call may change x16.
Jump jump_to(uint64_t target) {
  Jump code = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6};
  std::memcpy(code.data() + 8, &target, sizeof(target));
  return code;
}

}  // namespace

const Machine kAarch64 = {EM_AARCH64, "aarch64", helper, width, relocate, jump_to};

}  // namespace inlay::runtime
