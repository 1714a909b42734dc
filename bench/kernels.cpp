// What the generated loops cost by themselves: called with memory given, beside C compilers on the same arrays.
//
// Prints Google Benchmark's report; run.py reads its JSON and takes the minimum CPU time of the repetitions.
#include "harness.h"

extern "C" {
void exp_mul_add_clang(size_t n, const double* x, const double* y, const double* z, double* out);
void exp_mul_add_gcc(size_t n, const double* x, const double* y, const double* z, double* out);
void triad_clang(size_t n, double scalar, const double* b, const double* c, double* a);
void triad_gcc(size_t n, double scalar, const double* b, const double* c, double* a);
}

namespace inlay::bench {
namespace {

void exp_mul_add_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%x: f64[n], %y: f64[n], %z: f64[n]) {
    %e = exp %x
    %m = mul %e, %y
    %r = add %m, %z
    return %r
  })",
              3, 1, kElements);
}

void triad_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%b: f64[n], %c: f64[n]) {
    %three = literal 3.0 : f64
    %m = mul %c, %three
    %r = add %b, %m
    return %r
  })",
              2, 1, kElements);
}

void slice_write_exp_inlay(benchmark::State& state) {
  constexpr size_t kLong = 1'000'000;
  run_program(state, R"(graph @main(%x: f64[n]) {
    %one = literal 1.0 : f64
    %ones = broadcast %one : f64[n + 1]
    %e = exp %x
    %r = update set %ones[1:n + 1], %e
    return %r
  })",
              1, 1, kLong + 1, {}, Begins::at_line, {kLong});
}

// The work of the Python row `call`, whose cost is what that row takes above this: on arrays that lie as NumPy's do.
template <size_t size>
void five_in_two_out_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%a: f64[n], %b: f64[n], %c: f64[n], %d: f64[n], %e: f64[n]) {
    %p = mul %a, %b
    %q = mul %c, %d
    %r = add %p, %e
    %s = add %q, %e
    return %r, %s
  })",
              5, 2, size, {}, Begins::as_malloc);
}

template <auto function>
void exp_mul_add_peer(benchmark::State& state) {
  Array x(kElements), y(kElements), z(kElements), out(kElements);
  for (auto _ : state) {
    function(kElements, x.data(), y.data(), z.data(), out.data());
    benchmark::ClobberMemory();
  }
}

template <auto function>
void triad_peer(benchmark::State& state) {
  Array a(kElements), b(kElements), c(kElements);
  for (auto _ : state) {
    function(kElements, 3.0, b.data(), c.data(), a.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace
}  // namespace inlay::bench

int main(int argc, char** argv) {
  using namespace inlay::bench;
  add("exp_mul_add/inlay", exp_mul_add_inlay);
  add("exp_mul_add/clang", exp_mul_add_peer<exp_mul_add_clang>);
  add("exp_mul_add/gcc", exp_mul_add_peer<exp_mul_add_gcc>);
  add("triad/inlay", triad_inlay);
  add("triad/clang", triad_peer<triad_clang>);
  add("triad/gcc", triad_peer<triad_gcc>);
  add("slice_write_exp/inlay", slice_write_exp_inlay);
  add("five_in_two_out_8/inlay", five_in_two_out_inlay<8>);
  add("five_in_two_out_919/inlay", five_in_two_out_inlay<919>);
  add_scalars();
  add_movement();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
