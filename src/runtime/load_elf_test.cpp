#include "runtime/load_elf.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/machine.h"
#include "support/error.h"

namespace inlay::runtime {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> read_object(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(chars.size());
  if (!chars.empty()) std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

double twice(double x) { return 2 * x; }
const double constant = 0.5;

/// A copy of `twice` further from our code than a call's displacement reaches, where the system lets us have one.
void* far_twice() {
  static void* page = [] {
#if defined(__aarch64__)
    const unsigned char code[] = {0x00, 0x28, 0x60, 0x1e, 0xc0, 0x03, 0x5f, 0xd6};  // fadd d0, d0, d0; ret
#else
    // mulsd would need a constant: addsd %xmm0, %xmm0; ret.
    const unsigned char code[] = {0xf2, 0x0f, 0x58, 0xc0, 0xc3};
#endif
    void* hint = reinterpret_cast<void*>(uintptr_t{0x100000000000});
    void* at = mmap(hint, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return at;
    std::memcpy(at, code, sizeof(code));
    __builtin___clear_cache(static_cast<char*>(at), static_cast<char*>(at) + sizeof(code));
    mprotect(at, 4096, PROT_READ | PROT_EXEC);
    return at;
  }();
  return page;
}

void* resolve_near(std::string_view name) {
  if (name == "outside_twice") return reinterpret_cast<void*>(&twice);
  if (name == "outside_constant") return const_cast<double*>(&constant);
  if (name == "memcpy") return reinterpret_cast<void*>(&memcpy);
  return nullptr;
}

void* resolve_far(std::string_view name) { return name == "outside_twice" ? far_twice() : resolve_near(name); }

template <class Function>
Function function(const LoadedCode& code, const char* name) {
  void* address = code.find(name);
  EXPECT_NE(address, nullptr) << name;
  return reinterpret_cast<Function>(address);
}

class LoadElf : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::byte> object_ = read_object(GetParam());
};

TEST_P(LoadElf, RunsWhatItLoads) {
  const LoadedCode code = load_elf(object_, resolve_near);
  EXPECT_EQ(function<double (*)(size_t)>(code, "sample_table")(3), 8.0);
  const auto dispatch = function<double (*)(size_t, double)>(code, "sample_dispatch");
  EXPECT_EQ(dispatch(0, 1.0), 3.0);
  EXPECT_EQ(dispatch(1, 1.5), 6.0);
  EXPECT_EQ(function<double (*)(double)>(code, "sample_outside")(3.0), 6.5);
  EXPECT_EQ(reinterpret_cast<void*>(function<double (*(*)())(double)>(code, "sample_function")()),
            reinterpret_cast<void*>(&twice));
  const auto name = function<const char* (*)(int)>(code, "sample_name");
  EXPECT_STREQ(name(3), "three");
  EXPECT_STREQ(name(4), "four");
  EXPECT_STREQ(name(17), "many");
}

TEST_P(LoadElf, GivesEachLoadItsOwnData) {
  const LoadedCode a = load_elf(object_, resolve_near), b = load_elf(object_, resolve_near);
  const auto count = function<int64_t (*)()>(a, "sample_count");
  EXPECT_EQ(count(), 41);
  EXPECT_EQ(count(), 42);
  EXPECT_EQ(function<int64_t (*)()>(b, "sample_count")(), 41);
}

TEST_P(LoadElf, ReachesFunctionsThatLieFarAway) {
  const LoadedCode code = load_elf(object_, resolve_far);
  ASSERT_NE(far_twice(), MAP_FAILED);
  EXPECT_EQ(function<double (*)(double)>(code, "sample_outside")(4.0), 8.5);
}

TEST_P(LoadElf, StaysWhereItIsWhenMoved) {
  LoadedCode first = load_elf(object_, resolve_near);
  void* at = first.find("sample_table");
  LoadedCode second = std::move(first);
  EXPECT_EQ(second.find("sample_table"), at);
  EXPECT_EQ(function<double (*)(size_t)>(second, "sample_table")(2), 4.0);
  EXPECT_EQ(second.find("no_such_name"), nullptr);
  EXPECT_EQ(second.find("first"), nullptr) << "a local name is nobody's";
}

// W^X: no mapping of ours is both. Read from the kernel's own list.
TEST_P(LoadElf, MakesNoPageWritableAndExecutable) {
  const LoadedCode code = load_elf(object_, resolve_near);
  const auto address = reinterpret_cast<uintptr_t>(code.find("sample_table"));
  const auto data = reinterpret_cast<uintptr_t>(code.find("start"));
  std::ifstream maps("/proc/self/maps");
  bool found_code = false, found_data = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char access[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access) != 3) continue;
    if (begin <= address && address < end) {
      found_code = true;
      EXPECT_STREQ(access, "r-xp");
    }
    if (begin <= data && data < end) {
      found_data = true;
      EXPECT_STREQ(access, "rw-p");
    }
  }
  EXPECT_TRUE(found_code && found_data);
}

std::string message_of(const std::vector<std::byte>& object, const Resolver& resolve = resolve_near) {
  try {
    load_elf(object, resolve);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_P(LoadElf, NamesAllThatNobodyDefines) {
  const auto nobody = [](std::string_view) -> void* { return nullptr; };
  const std::string message = message_of(object_, nobody);
  EXPECT_THAT(message, HasSubstr("error[unknown-name]: the code needs names that nobody defines: "));
  EXPECT_THAT(message, HasSubstr("outside_twice"));
  EXPECT_THAT(message, HasSubstr("outside_constant"));
  EXPECT_THAT(message, testing::Not(HasSubstr("start")));
}

TEST_P(LoadElf, RefusesWhatIsNoObject) {
  EXPECT_EQ(message_of({}), "error[invalid-file]: damaged object: the ELF header lies outside of the object");
  std::vector<std::byte> text(100, std::byte{'x'});
  EXPECT_EQ(message_of(text), "error[invalid-file]: damaged object: it does not begin as an ELF file");
  const Machine& other_machine = &this_machine() == &kX86 ? kAarch64 : kX86;
  std::vector<std::byte> other = object_;
  other[18] = static_cast<std::byte>(other_machine.number);  // e_machine
  EXPECT_EQ(message_of(other), str("error[unsupported]: the loader cannot take anything but a relocatable object for ",
                                   this_machine().name));
}

TEST_P(LoadElf, RefusesEveryTruncation) {
  for (std::size_t size = 0; size < object_.size(); size += 7) {
    const std::vector<std::byte> cut(object_.begin(), object_.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(message_of(cut), "") << size;
  }
}

// What a damaged object means is unknown; that loading it returns or throws, and reads and writes only its own bytes,
// is not. (Run under the address sanitizer this is sharper.)
TEST_P(LoadElf, SurvivesDamage) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const auto seed = given ? static_cast<uint32_t>(std::atol(given)) : std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE("INLAY_FUZZ_SEED=" + std::to_string(seed));
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> bad = object_;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      const std::size_t at = random() % bad.size();
      const unsigned char nasty[] = {0, 1, 0x7f, 0x80, 0xff, static_cast<unsigned char>(random())};
      bad[at] = std::byte{nasty[random() % sizeof(nasty)]};
    }
    refused += message_of(bad).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
}

INSTANTIATE_TEST_SUITE_P(Objects, LoadElf, testing::Values(INLAY_SAMPLE_O2, INLAY_SAMPLE_O0, INLAY_SAMPLE_NOPLT),
                         [](const auto& info) { return str("object", info.index); });

}  // namespace
}  // namespace inlay::runtime
