#pragma once
// Programs made from a seed: elementwise kernels, joins, updates, scatters and copies of vectors of n and 2*n elements,
// some of them returned.
#include <random>
#include <string>
#include <vector>

#include "support/str.h"

namespace inlay::memory::testing {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  std::string text() {
    const int steps = 2 + below(7);
    std::string body;
    for (int s = 0; s < steps; ++s) body += step(s);
    // Everything that is still there is summed up, so that it must have survived.
    for (const auto& [name, size] : values_) {
      if (below(3) == 0) continue;
      body += str("  kernel @u", num_used_, " {\n    out u", num_used_, " start fill 0.0\n    stage (i < ", size,
                  ") {\n      %0 = load ", name, "[i] : f64\n      fold add u", num_used_, "[] %0 : f64\n    }\n  }\n");
      buffers_ += str(", u", num_used_++, ": f64 scalar");
    }
    return str("program @main(x: f64[n] param 0, g: i64[n] param 1", buffers_, ") symbols n = x.0 {\n", body,
               "  sites { #0 index-out-of-bounds \"\" }\n}");
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  using Value = std::pair<std::string, std::string>;  // name, size

  const Value& any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }

  std::string fresh(const std::string& size) {
    const std::string name = str("b", num_buffers_++);
    buffers_ += str(", ", name, ": f64[", size, "] ", below(4) == 0 ? str("output ", num_outputs_++) : "temporary");
    made_.emplace_back(name, size);
    return name;
  }

  /// A load of something of size n, or of a slice, a flip or a gather of it; in register `r` (and r + 1).
  std::string load(int r, const std::string& size) {
    std::vector<Value> fitting;
    for (const Value& v : values_) {
      if (v.second == size || (size == "n" && v.second == "2*n")) fitting.push_back(v);
    }
    if (fitting.empty() || below(5) == 0) return str("      %", r, " = literal 1.5 : f64\n");
    const Value& from = fitting[static_cast<std::size_t>(below(static_cast<int>(fitting.size())))];
    const bool is_double = from.second != size;
    switch (below(6)) {
      case 0: return str("      %", r, " = load ", from.first, "[-1 + ", size, " - i] : f64\n");
      case 1:
        if (size != "n") break;
        return str("      %", r + 50, " = load g[i] : i64\n      %", r, " = load ", from.first, "[wrap(%", r + 50, ", ",
                   from.second, ") checked #0] : f64\n");
      case 2:
        if (is_double) return str("      %", r, " = load ", from.first, "[n + i] : f64\n");
        break;
      default: break;
    }
    return str("      %", r, " = load ", from.first, "[i] : f64\n");
  }

  std::string stage(const std::string& size, const std::string& stores, int loads) {
    std::string out = str("    stage (i < ", size, ") {\n");
    for (int r = 0; r < loads; ++r) out += load(r, size);
    return out + stores + "    }\n";
  }

  std::string step(int s) {
    made_.clear();
    std::string out;
    switch (values_.empty() ? 0 : below(6)) {
      case 0: {  // elementwise, one or two results
        const std::string size = below(3) ? "n" : "2*n";
        std::string stores;
        const int count = 1 + below(2);
        for (int k = 0; k < count; ++k) stores += str("      store ", fresh(size), "[i] set %", k, "\n");
        out = str("  kernel @k", s, " {\n", stage(size, stores, 2), "  }\n");
        break;
      }
      case 1: {  // a join of two halves, plain or computed
        const std::string name = fresh("2*n");
        out = str("  kernel @k", s, " {\n", stage("n", str("      store ", name, "[i] set %0\n"), 1),
                  stage("n", str("      store ", name, "[n + i] set %", below(2), "\n"), 2), "  }\n");
        break;
      }
      case 2:
      case 3: {  // an update of a slice, a scatter
        const Value base = any();
        const std::string name = fresh(base.second);
        const std::string store = below(2) && base.second == "n" ? str("      %90 = load g[i] : i64\n      store ",
                                                                       name, "[wrap(%90, n) checked #0] add %0\n")
                                                                 : str("      store ", name, "[i] set %0\n");
        out = str("  kernel @k", s, " {\n    out ", name, " start ", below(3) ? str("copy ", base.first) : "fill 0.0",
                  "\n", stage("n", store, 2), "  }\n");
        break;
      }
      case 4: {  // the same register twice, once into a part
        const std::string a = fresh("n"), b = fresh("2*n");
        out = str("  kernel @k", s, " {\n",
                  stage("n", str("      store ", a, "[i] set %0\n      store ", b, "[n + i] set %0\n"), 1),
                  stage("n", str("      store ", b, "[i] set %0\n"), 1), "  }\n");
        break;
      }
      default: {  // a whole copy
        const Value from = any();
        const std::string name = fresh(from.second);
        out = str("  copy ", from.first, " -> ", name, " \"because\"\n");
      }
    }
    values_.insert(values_.end(), made_.begin(), made_.end());
    if (values_.size() > 3 && below(2)) values_.erase(values_.begin() + below(static_cast<int>(values_.size())));
    return out;
  }

  std::mt19937 random_;
  std::string buffers_;
  std::vector<Value> values_, made_;
  int num_buffers_ = 0, num_outputs_ = 0, num_used_ = 0;
};

}  // namespace inlay::memory::testing
