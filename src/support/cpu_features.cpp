#include "support/cpu_features.h"

#include <algorithm>
#include <cstdint>

#if defined(__aarch64__)
#include <sys/auxv.h>
#else
#include <cpuid.h>
#endif

namespace inlay {
namespace {

#if defined(__aarch64__)

std::vector<std::string> found() {
  std::vector<std::string> out = {"aarch64"};
  const uint64_t words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  for (std::size_t word = 0; word < std::size(words); ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      if (words[word] >> bit & 1) out.push_back((word == 0 ? "hwcap." : "hwcap2.") + std::to_string(bit));
    }
  }
  std::ranges::sort(out);
  return out;
}

#else

enum class Needs : uint8_t { nothing, ymm, zmm };  // registers that the system must save
enum class Register : uint8_t { a, b, c, d };

/// Where CPUID tells of an instruction set: Intel's manual, volume 2A, and AMD's, volume 3, appendix E.
struct Row {
  const char* name;
  uint32_t leaf, subleaf;
  Register in;
  int bit;
  Needs needs = Needs::nothing;
};

constexpr Row kRows[] = {
    {"sse3", 1, 0, Register::c, 0},
    {"pclmul", 1, 0, Register::c, 1},
    {"ssse3", 1, 0, Register::c, 9},
    {"fma", 1, 0, Register::c, 12, Needs::ymm},
    {"cx16", 1, 0, Register::c, 13},
    {"sse4.1", 1, 0, Register::c, 19},
    {"sse4.2", 1, 0, Register::c, 20},
    {"movbe", 1, 0, Register::c, 22},
    {"popcnt", 1, 0, Register::c, 23},
    {"aes", 1, 0, Register::c, 25},
    {"avx", 1, 0, Register::c, 28, Needs::ymm},
    {"f16c", 1, 0, Register::c, 29, Needs::ymm},
    {"bmi", 7, 0, Register::b, 3},
    {"avx2", 7, 0, Register::b, 5, Needs::ymm},
    {"bmi2", 7, 0, Register::b, 8},
    {"avx512f", 7, 0, Register::b, 16, Needs::zmm},
    {"avx512dq", 7, 0, Register::b, 17, Needs::zmm},
    {"adx", 7, 0, Register::b, 19},
    {"avx512ifma", 7, 0, Register::b, 21, Needs::zmm},
    {"avx512cd", 7, 0, Register::b, 28, Needs::zmm},
    {"sha", 7, 0, Register::b, 29},
    {"avx512bw", 7, 0, Register::b, 30, Needs::zmm},
    {"avx512vl", 7, 0, Register::b, 31, Needs::zmm},
    {"avx512vbmi", 7, 0, Register::c, 1, Needs::zmm},
    {"avx512vbmi2", 7, 0, Register::c, 6, Needs::zmm},
    {"gfni", 7, 0, Register::c, 8},
    {"vaes", 7, 0, Register::c, 9, Needs::ymm},
    {"vpclmulqdq", 7, 0, Register::c, 10, Needs::ymm},
    {"avx512vnni", 7, 0, Register::c, 11, Needs::zmm},
    {"avx512bitalg", 7, 0, Register::c, 12, Needs::zmm},
    {"avx512vpopcntdq", 7, 0, Register::c, 14, Needs::zmm},
    {"avx512vp2intersect", 7, 0, Register::d, 8, Needs::zmm},
    {"avx512fp16", 7, 0, Register::d, 23, Needs::zmm},
    {"avxvnni", 7, 1, Register::a, 4, Needs::ymm},
    {"avx512bf16", 7, 1, Register::a, 5, Needs::zmm},
    {"avxifma", 7, 1, Register::a, 23, Needs::ymm},
    {"avxvnniint8", 7, 1, Register::d, 4, Needs::ymm},
    {"avxneconvert", 7, 1, Register::d, 5, Needs::ymm},
    {"avxvnniint16", 7, 1, Register::d, 10, Needs::ymm},
    {"avx10", 7, 1, Register::d, 19, Needs::zmm},
    {"apx", 7, 1, Register::d, 21},
    {"lzcnt", 0x80000001, 0, Register::c, 5},
    {"sse4a", 0x80000001, 0, Register::c, 6},
    {"xop", 0x80000001, 0, Register::c, 11, Needs::ymm},
    {"fma4", 0x80000001, 0, Register::c, 16, Needs::ymm},
    {"tbm", 0x80000001, 0, Register::c, 21},
};

bool has(const Row& row) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(row.leaf, row.subleaf, &registers[0], &registers[1], &registers[2], &registers[3])) {
    return false;
  }
  // That the system saves the registers the compiler's runtime has found out.
  if (row.needs == Needs::ymm && !__builtin_cpu_supports("avx")) return false;
  if (row.needs == Needs::zmm && !__builtin_cpu_supports("avx512f")) return false;
  return registers[static_cast<int>(row.in)] >> row.bit & 1;
}

std::vector<std::string> found() {
  std::vector<std::string> out = {"x86-64"};
  for (const Row& row : kRows) {
    if (has(row)) out.emplace_back(row.name);
  }
  std::ranges::sort(out);
  return out;
}

#endif

}  // namespace

const std::vector<std::string>& cpu_features() {
  // Asked once: in a virtual machine each CPUID is a trap, a microsecond or more, and a file asks for all of them
  // thrice.
  static const std::vector<std::string> features = found();
  return features;
}

}  // namespace inlay
