// tests/python/test_export_sizes.py compares what is told of exported code with other programs.
#include "export/sizes.h"

#include <string>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

namespace inlay {
namespace {

constexpr const char* kCalls = R"ci(graph: { title: "f.c"
node: { title: "f.c:kernel" label: "kernel\nf.c:3:22\n96 bytes (static)" }
node: { title: "f.c:short" label: "short\nf.c:9:22\n8 bytes (static)\n0 dynamic objects" }
node: { title: "f_entry" label: "f_entry\nf.c:12:9\n16 bytes (static)" }
edge: { sourcename: "f_entry" targetname: "f.c:short" label: "f.c:14:1" }
edge: { sourcename: "f_entry" targetname: "f.c:kernel" label: "f.c:15:1" }
edge: { sourcename: "f.c:kernel" targetname: "exp" label: "f.c:4:1" }
node: { title: "exp" label: "exp\n<built-in>" shape : ellipse }
node: { title: "f" label: "f\nf.c:20:9\n112 bytes (dynamic,bounded)" }
edge: { sourcename: "f" targetname: "f_entry" label: "f.c:24:3" }
edge: { sourcename: "f" targetname: "f.c:short" label: "f.c:25:3" }
node: { title: "any" label: "any\nf.c:30:9\n48 bytes (dynamic)" }
node: { title: "above" label: "above\nf.c:31:9\n48 bytes (static)" }
edge: { sourcename: "above" targetname: "any" label: "f.c:32:3" }
node: { title: "odd" label: "odd\nf.c:40:9\n48 bytes (static)" }
node: { title: "even" label: "even\nf.c:41:9\n48 bytes (static)" }
edge: { sourcename: "odd" targetname: "even" label: "f.c:42:3" }
edge: { sourcename: "even" targetname: "odd" label: "f.c:43:3" }
node: { title: "f.c:pointed" label: "pointed\nf.c:50:22\n40 bytes (static)" }
node: { title: "through" label: "through\nf.c:51:9\n8 bytes (static)" }
edge: { sourcename: "through" targetname: "__indirect_call" label: "f.c:52:3" }
node: { title: "__indirect_call" label: "Indirect Call Placeholder" shape : ellipse }
}
)ci";

TEST(StackBytes, AreThoseOfTheDeepestChain) {
  EXPECT_EQ(stack_bytes(kCalls, "f"), 112 + 16 + 96);
  EXPECT_EQ(stack_bytes(kCalls, "f_entry"), 16 + 96);
}

TEST(StackBytes, OfACallThroughAPointerAreThoseOfWhatNobodyCallsByName) {
  EXPECT_EQ(stack_bytes(kCalls, "through"), 8 + 40);
}

/// Of a machine whose calls push nothing: functions that call none and keep all in registers.
TEST(StackBytes, MayBeNone) {
  constexpr const char* kLeaves = R"ci(graph: { title: "f.c"
node: { title: "f" label: "f\nf.c:3:9\n0 bytes (static)" }
node: { title: "above" label: "above\nf.c:4:9\n8 bytes (static)" }
edge: { sourcename: "above" targetname: "f" label: "f.c:5:3" }
}
)ci";
  EXPECT_EQ(stack_bytes(kLeaves, "f"), 0);
  EXPECT_EQ(stack_bytes(kLeaves, "above"), 8);
}

TEST(StackBytes, AreNoneWhereThereIsNoMost) {
  for (const char* name : {"any", "above", "odd", "even"}) EXPECT_EQ(stack_bytes(kCalls, name), std::nullopt) << name;
}

TEST(StackBytes, AreNoneWhereNothingIsTold) {
  EXPECT_EQ(stack_bytes("", "f"), std::nullopt);
  EXPECT_EQ(stack_bytes(kCalls, "g"), std::nullopt);
  EXPECT_EQ(stack_bytes(kCalls, "exp"), std::nullopt);
}

/// A file of the 32 bits of a small machine, with a section of each use and some that are not loaded.
std::vector<std::byte> small_file() {
  constexpr std::string_view kNames("\0.text\0.weights\0.bss\0.names", 27);
  std::vector<Elf32_Shdr> sections = {
      {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = 100},
      {.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_size = 20},
      {.sh_name = 16, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_size = 5},
      {.sh_type = SHT_PROGBITS, .sh_size = 1000},
      {.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_size = 1000},
      {.sh_name = 21, .sh_type = SHT_STRTAB, .sh_size = kNames.size()}};
  Elf32_Ehdr header = {};
  const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT};
  std::copy(std::begin(ident), std::end(ident), header.e_ident);
  sections.back().sh_offset = sizeof header;
  header.e_shoff = sizeof header + kNames.size();
  header.e_shentsize = sizeof(Elf32_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = header.e_shnum - 1;
  std::vector<std::byte> out;
  for (const auto part :
       {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(kNames)), std::as_bytes(std::span(sections))}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

TEST(LoadedSections, AreToldByWhatAMachineDoesWithThem) {
  const auto sections = loaded_sections(small_file());
  ASSERT_TRUE(sections && sections->size() == 3);
  const auto expect = [&](std::size_t i, const char* name, Use use, int64_t num_bytes) {
    EXPECT_EQ((*sections)[i].name, name);
    EXPECT_EQ((*sections)[i].use, use);
    EXPECT_EQ((*sections)[i].num_bytes, num_bytes);
  };
  expect(0, ".text", Use::text, 100);
  expect(1, ".weights", Use::rodata, 20);
  expect(2, ".bss", Use::data, 5);
}

TEST(LoadedSections, AreNoneOfWhatIsNoSuchFile) {
  const std::vector<std::byte> whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(loaded_sections(std::span(whole).first(size))) << size;
  std::vector<std::byte> other = whole;
  other[EI_DATA] = std::byte{ELFDATA2MSB};
  EXPECT_FALSE(loaded_sections(other));
  other = whole;
  other[0] = std::byte{0xcf};
  EXPECT_FALSE(loaded_sections(other));
}

TEST(LoadedSections, NamesThatLieOutsideAreEmpty) {
  std::vector<std::byte> file = small_file();
  const std::size_t at = sizeof(Elf32_Ehdr) + 27 + offsetof(Elf32_Shdr, sh_name);
  file[at + 3] = std::byte{0x7f};
  const auto sections = loaded_sections(file);
  ASSERT_TRUE(sections);
  EXPECT_EQ(sections->front().name, "");
}

}  // namespace
}  // namespace inlay
