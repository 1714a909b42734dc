#include <cstring>
#include <limits>

#include <elf.h>

#include "runtime/machine.h"
#include "support/str.h"

namespace inlay::runtime {
namespace {

Helper helper(uint32_t type) {
  switch (type) {
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return Helper::slot;
    case R_X86_64_PLT32: return Helper::jump;
    default: return Helper::none;
  }
}

uint64_t width(uint32_t type) {
  return type == R_X86_64_NONE ? 0 : type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

bool fits_32(int64_t value) { return value == static_cast<int32_t>(value); }

void relocate(const Relocation& r, std::byte* bytes) {
  const auto write = [&](auto value) { std::memcpy(bytes, &value, sizeof(value)); };
  const auto write_32 = [&](int64_t value) {
    if (!fits_32(value)) too_far(r, "2 GB");
    write(static_cast<int32_t>(value));
  };
  switch (r.type) {
    case R_X86_64_NONE: break;
    case R_X86_64_64: write(r.absolute()); break;
    case R_X86_64_PC64: write(r.distance_to(r.symbol)); break;
    case R_X86_64_PC32: write_32(r.distance_to(r.symbol)); break;
    case R_X86_64_PLT32: {
      const int64_t near = r.distance_to(r.symbol);
      write_32(fits_32(near) || r.jump == 0 ? near : r.distance_to(r.jump));
      break;
    }
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: write_32(r.distance_to(r.slot)); break;
    case R_X86_64_32:
      if (r.absolute() > std::numeric_limits<uint32_t>::max()) {
        unsupported_by_loader(str("the 32-bit reference to ", r.name));
      }
      write(static_cast<uint32_t>(r.absolute()));
      break;
    case R_X86_64_32S: write_32(static_cast<int64_t>(r.absolute())); break;
    default: unsupported_relocation(r);
  }
}

/// jmp *0(%rip), then the address.
Jump jump_to(uint64_t target) {
  Jump code = {0xff, 0x25};
  std::memcpy(code.data() + 6, &target, sizeof(target));
  return code;
}

}  // namespace

const Machine kX86 = {EM_X86_64, "x86-64", helper, width, relocate, jump_to};

}  // namespace inlay::runtime
