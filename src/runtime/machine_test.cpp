// How relocations of each processor change bytes: of instructions as an assembler makes them, on any processor.
#include "runtime/machine.h"

#include <cstring>

#include <elf.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay::runtime {
namespace {

constexpr uint64_t kPlace = 0x7000'1234'5678;

Relocation relocation(uint32_t type, uint64_t symbol, int64_t addend = 0) {
  Relocation r;
  r.type = type;
  r.place = kPlace;
  r.symbol = symbol;
  r.addend = static_cast<uint64_t>(addend);
  r.name = "there";
  r.section = ".text";
  return r;
}

template <class T>
T relocated(const Machine& machine, const Relocation& r, T bytes) {
  EXPECT_EQ(machine.width(r.type), sizeof(T));
  machine.relocate(r, reinterpret_cast<std::byte*>(&bytes));
  return bytes;
}

std::string message_of(const Machine& machine, const Relocation& r) {
  uint64_t bytes = 0;
  try {
    machine.relocate(r, reinterpret_cast<std::byte*>(&bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// An instruction of aarch64, for `symbol` at `distance` from it.
uint32_t at_distance(uint32_t type, int64_t distance, uint32_t instruction) {
  return relocated(kAarch64, relocation(type, kPlace + static_cast<uint64_t>(distance)), instruction);
}

TEST(Aarch64Relocations, OfCallsAndBranchesAreWords) {
  EXPECT_EQ(at_distance(R_AARCH64_CALL26, 8, 0x94000000), 0x94000002u);   // bl .+8
  EXPECT_EQ(at_distance(R_AARCH64_CALL26, -4, 0x94000000), 0x97ffffffu);  // bl .-4
  EXPECT_EQ(at_distance(R_AARCH64_JUMP26, (1 << 27) - 4, 0x14000000), 0x15ffffffu);
  EXPECT_EQ(at_distance(R_AARCH64_JUMP26, -(1 << 27), 0x14000000), 0x16000000u);
  EXPECT_EQ(at_distance(R_AARCH64_CONDBR19, 16, 0x54000001), 0x54000081u);  // b.ne .+16
  EXPECT_EQ(at_distance(R_AARCH64_TSTBR14, -8, 0x36000000), 0x3607ffc0u);   // tbz w0, #0, .-8
}

TEST(Aarch64Relocations, OfPagesAreTheirDistance) {
  // adrp x1: the place is 0x678 into its page.
  EXPECT_EQ(at_distance(R_AARCH64_ADR_PREL_PG_HI21, 0, 0x90000001), 0x90000001u);
  EXPECT_EQ(at_distance(R_AARCH64_ADR_PREL_PG_HI21, 0x988, 0x90000001), 0xb0000001u);   // the next page: immlo is 1
  EXPECT_EQ(at_distance(R_AARCH64_ADR_PREL_PG_HI21, 0x4000, 0x90000001), 0x90000021u);  // four pages: immhi is 1
  EXPECT_EQ(at_distance(R_AARCH64_ADR_PREL_PG_HI21, -0x679, 0x90000001), 0xf0ffffe1u);  // the page before
}

TEST(Aarch64Relocations, OfOffsetsAreInUnitsOfTheAccess) {
  const auto offset = [](uint32_t type, uint64_t symbol, uint32_t instruction) {
    return relocated(kAarch64, relocation(type, symbol), instruction);
  };
  EXPECT_EQ(offset(R_AARCH64_ADD_ABS_LO12_NC, 0x12345678'9fff, 0x91000000), 0x913ffc00u);  // add x0, x0, #0xfff
  EXPECT_EQ(offset(R_AARCH64_LDST8_ABS_LO12_NC, 0x5123, 0x39400000), 0x39448c00u);         // ldrb w0, [x0, #0x123]
  EXPECT_EQ(offset(R_AARCH64_LDST16_ABS_LO12_NC, 0x5122, 0x79400000), 0x79424400u);        // ldrh w0, [x0, #0x122]
  EXPECT_EQ(offset(R_AARCH64_LDST32_ABS_LO12_NC, 0x5124, 0xb9400000), 0xb9412400u);        // ldr w0, [x0, #0x124]
  EXPECT_EQ(offset(R_AARCH64_LDST64_ABS_LO12_NC, 0x5128, 0xf9400000), 0xf9409400u);        // ldr x0, [x0, #0x128]
  EXPECT_EQ(offset(R_AARCH64_LDST128_ABS_LO12_NC, 0x5130, 0x3dc00000), 0x3dc04c00u);       // ldr q0, [x0, #0x130]
  // What stood there before does not matter: it is set, not added.
  EXPECT_EQ(offset(R_AARCH64_LDST64_ABS_LO12_NC, 0x5128, 0xf97ffc00), 0xf9409400u);
}

TEST(Aarch64Relocations, OfTheTableAreThoseOfTheSlot) {
  Relocation page = relocation(R_AARCH64_ADR_GOT_PAGE, 0x1);
  page.slot = kPlace + 0x988;
  EXPECT_EQ(relocated(kAarch64, page, uint32_t{0x90000000}), 0xb0000000u);
  Relocation load = relocation(R_AARCH64_LD64_GOT_LO12_NC, 0x1);
  load.slot = 0x9'0128;
  EXPECT_EQ(relocated(kAarch64, load, uint32_t{0xf9400000}), 0xf9409400u);
  EXPECT_EQ(kAarch64.helper(R_AARCH64_ADR_GOT_PAGE), Helper::slot);
  EXPECT_EQ(kAarch64.helper(R_AARCH64_LD64_GOT_LO12_NC), Helper::slot);
}

TEST(Aarch64Relocations, OfDataAreAddressesAndDistances) {
  EXPECT_EQ(relocated(kAarch64, relocation(R_AARCH64_ABS64, kPlace, -8), uint64_t{0}), kPlace - 8);
  EXPECT_EQ(relocated(kAarch64, relocation(R_AARCH64_PREL64, kPlace + 24, -8), uint64_t{0}), 16u);
  EXPECT_EQ(relocated(kAarch64, relocation(R_AARCH64_PREL32, kPlace - 16, 8), int32_t{0}), -8);
  EXPECT_EQ(relocated(kAarch64, relocation(R_AARCH64_ABS32, 0xfffffff0, 8), uint32_t{0}), 0xfffffff8u);
}

TEST(Aarch64Relocations, ReachFarFunctionsByAJump) {
  Relocation call = relocation(R_AARCH64_CALL26, kPlace + (uint64_t{1} << 27));
  EXPECT_EQ(kAarch64.helper(call.type), Helper::jump);
  EXPECT_EQ(message_of(kAarch64, call),
            "error[unsupported]: the loader cannot take the reference to there, which lies further away than 128 MB");
  call.jump = kPlace + 0x100;
  EXPECT_EQ(relocated(kAarch64, call, uint32_t{0x94000000}), 0x94000040u);
  call.symbol = kPlace + 0x200;  // near: past the jump
  EXPECT_EQ(relocated(kAarch64, call, uint32_t{0x94000000}), 0x94000080u);

  const Jump jump = kAarch64.jump_to(0x1122334455667788);
  const unsigned char expected[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(std::memcmp(jump.data(), expected, sizeof(expected)), 0);
}

TEST(Aarch64Relocations, SayWhatTheyCannotReach) {
  const auto says = [](uint32_t type, uint64_t symbol, const std::string& what) {
    EXPECT_EQ(message_of(kAarch64, relocation(type, symbol)), "error[unsupported]: the loader cannot take " + what);
  };
  says(R_AARCH64_ADR_PREL_PG_HI21, kPlace + (uint64_t{1} << 32),
       "the reference to there, which lies further away than 4 GB");
  says(R_AARCH64_PREL32, kPlace + (uint64_t{1} << 31), "the reference to there, which lies further away than 2 GB");
  says(R_AARCH64_CONDBR19, kPlace + (1 << 20), "the reference to there, which lies further away than 1 MB");
  says(R_AARCH64_TSTBR14, kPlace + (1 << 15), "the reference to there, which lies further away than 32 KB");
  says(R_AARCH64_ABS32, uint64_t{1} << 32, "the 32-bit reference to there");
  says(R_AARCH64_CALL26, kPlace + 2, "the jump into an instruction of there");
  says(R_AARCH64_LDST64_ABS_LO12_NC, 0x5124, "the reference to there, which is not aligned to 8 bytes");
  says(R_AARCH64_TLSDESC_CALL, kPlace, "relocation 569 (of there in .text)");
}

TEST(X86Relocations, AreDistancesAndAddresses) {
  EXPECT_EQ(relocated(kX86, relocation(R_X86_64_PC32, kPlace + 0x104, -4), int32_t{0}), 0x100);
  EXPECT_EQ(relocated(kX86, relocation(R_X86_64_64, kPlace, 8), uint64_t{0}), kPlace + 8);
  EXPECT_EQ(relocated(kX86, relocation(R_X86_64_PC64, kPlace - 8), int64_t{0}), -8);
  EXPECT_EQ(relocated(kX86, relocation(R_X86_64_32S, uint64_t(-16)), int32_t{0}), -16);
  Relocation load = relocation(R_X86_64_REX_GOTPCRELX, 1, -4);
  load.slot = kPlace + 0x44;
  EXPECT_EQ(relocated(kX86, load, int32_t{0}), 0x40);
  Relocation call = relocation(R_X86_64_PLT32, kPlace + (uint64_t{1} << 32), -4);
  EXPECT_EQ(message_of(kX86, call),
            "error[unsupported]: the loader cannot take the reference to there, which lies further away than 2 GB");
  call.jump = kPlace + 0x24;
  EXPECT_EQ(relocated(kX86, call, int32_t{0}), 0x20);
  EXPECT_EQ(message_of(kX86, relocation(R_X86_64_32, uint64_t{1} << 32)),
            "error[unsupported]: the loader cannot take the 32-bit reference to there");
  EXPECT_EQ(message_of(kX86, relocation(R_X86_64_TPOFF32, 0)),
            "error[unsupported]: the loader cannot take relocation 23 (of there in .text)");
}

}  // namespace
}  // namespace inlay::runtime
