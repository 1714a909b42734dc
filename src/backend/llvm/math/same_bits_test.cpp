// The bits of every vector function, whatever the width and the architecture: same_bits.txt has a hash of the results
// of some thousand arguments, a row for each function, a column for each set of arguments. All that a test makes of
// them is whole numbers and exact, so the arguments are the same everywhere.
//
// INLAY_UPDATE_MATH_BITS=1 writes the file anew, by the last width that this machine can run and that has fused
// multiply-adds.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/llvm/math/vector_loops_test.h"
#include "support/str.h"

namespace inlay::llvm_backend {
namespace {

constexpr const char* kFile = INLAY_MATH_DIR "/same_bits.txt";

/// splitmix64: the numbers of a seed are those of its definition.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

/// Numbers of [0, 2^exponent), of [-2^exponent, 2^exponent), of 32 binades of both signs, or any bits at all.
double argument(Random& random, std::size_t set) {
  const uint64_t bits = random.next();
  const auto positive = [&](int exponent) { return std::ldexp(static_cast<double>(bits >> 11), exponent - 53); };
  const auto any_sign = [&](int exponent) {
    return std::ldexp(static_cast<double>(static_cast<int64_t>(bits) >> 10), exponent - 53);
  };
  switch (set) {
    case 0: return positive(0);
    case 1: return any_sign(2);
    case 2: return any_sign(10);
    case 3: return std::bit_cast<double>((bits & 0x81ffffffffffffff) | 0x3e00000000000000);
    default: return std::bit_cast<double>(bits);
  }
}
constexpr std::size_t kSets = 5, kArguments = 8192;

/// FNV-1a. A nan is one of many, and which one nobody says.
class Hash {
 public:
  void add(double x) { add_bits(std::isnan(x) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(x)); }
  void add(float x) { add_bits(std::isnan(x) ? 0x7fc00000 : std::bit_cast<uint32_t>(x)); }
  uint64_t value() const { return value_; }

 private:
  void add_bits(uint64_t bits) {
    for (int i = 0; i < 8; ++i, bits >>= 8) value_ = (value_ ^ (bits & 255)) * 0x100000001b3;
  }
  uint64_t value_ = 0xcbf29ce484222325;
};

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

/// Are these operands in the function's domain? Elsewhere its value is nobody's.
bool in_domain(const InlayVectorFunction& f, double x, double y) {
  if (!f.domain) return true;
  std::vector<double> xs(8, x), ys(8, y);
  return f.domain(xs.data(), ys.data()) != 0;
}

std::string row_of(const InlayVectorFunction& f) {
  std::string row;
  for (std::size_t set = 0; set < kSets; ++set) {
    Random random(set + 1);
    std::vector<double> x(kArguments), y(kArguments), out(kArguments);
    for (double& v : x) v = argument(random, set);
    for (double& v : y) v = argument(random, set);
    if (f.loop) {
      f.loop(x.data(), out.data(), kArguments);
    } else {
      f.loop2(x.data(), y.data(), out.data(), kArguments);
    }
    Hash hash;
    for (std::size_t i = 0; i < kArguments; ++i) {
      if (in_domain(f, x[i], y[i])) hash.add(out[i]);
    }
    row += str(" ", hex(hash.value()));
  }
  return row;
}

/// Sets are eighths of all floats: both signs of four ranges of exponents.
std::string row_of(const InlayFloatFunction& f) {
  constexpr uint64_t kEighth = uint64_t{1} << 29, kStep = 20011;
  std::string row;
  for (uint64_t set = 0; set < 8; ++set) {
    std::vector<float> x;
    for (uint64_t bits = set * kEighth; bits < (set + 1) * kEighth; bits += kStep) {
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    x.resize(x.size() / 16 * 16);
    std::vector<float> out(x.size());
    f.loop(x.data(), out.data(), static_cast<long>(x.size()));
    Hash hash;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!f.domain || f.domain(x[i]) != 0) hash.add(out[i]);
    }
    row += str(" ", hex(hash.value()));
  }
  return row;
}

/// By the name of the function: "f64 exp".
std::map<std::string, std::string> rows_of(const VectorWidth& width) {
  std::map<std::string, std::string> rows;
  for (const InlayVectorFunction* f = width.loops->functions; f->name; ++f) rows[str("f64 ", f->name)] = row_of(*f);
  for (const InlayFloatFunction* f = width.loops->float_functions; f->name; ++f)
    rows[str("f32 ", f->name)] = row_of(*f);
  return rows;
}

std::map<std::string, std::string> recorded() {
  std::ifstream in(kFile);
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(in, line);) {
    const std::size_t end_of_name = line.find(' ', 4);
    if (end_of_name != std::string::npos) rows[line.substr(0, end_of_name)] = line.substr(end_of_name);
  }
  return rows;
}

class SameBits : public testing::TestWithParam<VectorWidth> {};

TEST_P(SameBits, AreThoseOfEveryWidthAndArchitecture) {
  if (!GetParam().can_run) GTEST_SKIP() << kCannotRun;
  if (!GetParam().is_fused) GTEST_SKIP() << "without fused multiply-adds the bits are others";
  const std::map<std::string, std::string> rows = rows_of(GetParam());
  const char* update = std::getenv("INLAY_UPDATE_MATH_BITS");
  if (update && std::string(update) == "1") {
    std::ofstream out(kFile);
    for (const auto& [name, row] : rows) out << name << row << "\n";
  }
  const std::map<std::string, std::string> expected = recorded();
  ASSERT_EQ(rows.size(), expected.size());
  for (const auto& [name, row] : rows) EXPECT_EQ(row, expected.contains(name) ? expected.at(name) : "") << name;
}

INSTANTIATE_TEST_SUITE_P(All, SameBits, testing::ValuesIn(kVectorWidths),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace inlay::llvm_backend
