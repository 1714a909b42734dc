// Reductions, copies and transposes: loops that are bound by memory, at sizes that lie in the first cache's
// neighbourhood, in the second cache, and beyond it; and STREAM's triad on as many elements.
#include "harness.h"

extern "C" {
void triad_clang(size_t n, double scalar, const double* b, const double* c, double* a);
void triad_gcc(size_t n, double scalar, const double* b, const double* c, double* a);
}

namespace inlay::bench {
namespace {

struct Work {
  const char* name;
  const char* text;
};

// Matrices have n rows of m elements.
constexpr Work kWorks[] = {
    {"sum",
     "graph @main(%x: f64[n, m]) {\n  %v = reshape %x : f64[n * m]\n  %r = reduce add %v [0] : f64\n  return %r\n}"},
    {"max",
     "graph @main(%x: f64[n, m]) {\n  %v = reshape %x : f64[n * m]\n  %r = reduce max %v [0] : f64\n  return %r\n}"},
    {"sum_of_rows", "graph @main(%x: f64[n, m]) {\n  %r = reduce add %x [1] : f64\n  return %r\n}"},
    {"sum_of_columns", "graph @main(%x: f64[n, m]) {\n  %r = reduce add %x [0] : f64\n  return %r\n}"},
    {"copy", "graph @main(%x: f64[n, m]) {\n  return %x\n}"},
    {"transpose", "graph @main(%x: f64[n, m]) {\n  %r = transpose %x [1, 0]\n  return %r\n}"},
};

void triad(benchmark::State& state, decltype(&triad_clang) peer, size_t size) {
  Array a(size), b(size), c(size);
  for (auto _ : state) {
    peer(size, 3.0, b.data(), c.data(), a.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace

void add_movement() {
  for (const int64_t side : {100, 316, 1000}) {
    const size_t size = side * side;
    const auto name = [&](std::string_view work, std::string_view who) {
      return str("movement_", work, "_", side, "/", who);
    };
    for (const Work& work : kWorks) {
      add(name(work.name, "inlay").c_str(), [=](benchmark::State& state) {
        run_program(state, work.text, 1, 1, size, {}, Begins::at_line, {side, side});
      });
    }
    add(name("triad", "clang").c_str(), [=](benchmark::State& state) { triad(state, triad_clang, size); });
    add(name("triad", "gcc").c_str(), [=](benchmark::State& state) { triad(state, triad_gcc, size); });
  }
}

}  // namespace inlay::bench
