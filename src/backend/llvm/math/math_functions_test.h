#pragma once
// What each vector function is compared with: a reference of 80 bits, how far from it a result may be, and where to
// ask.
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace inlay::llvm_backend {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kLargest = std::numeric_limits<double>::max();

/// Arguments low..high, evenly (or in their exponents, so that small ones come up too; then both signs where low < 0).
struct Range {
  double low = 0, high = 0;
  enum { even, exponent } spread = even;
};

struct Function {
  std::string name;
  long double (*reference)(long double) = nullptr;
  double max_ulp = 0;
  std::vector<Range> ranges;
  bool (*domain)(double) = nullptr;  // where it must be right; everywhere if null
  double unfused_ulp = max_ulp;      // the bound without fused multiply-adds
};

/// Of two operands. Units of the last place are those of max(|f|, floor).
struct FunctionOfTwo {
  const char* name;
  long double (*reference)(long double, long double);
  double max_ulp, floor;
  std::vector<std::pair<Range, Range>> boxes;
};

const std::vector<Function>& functions();
const std::vector<FunctionOfTwo>& functions_of_two();

}  // namespace inlay::llvm_backend
