// Every scalar op that has vector code, alone in a loop, beside what two C compilers make of its expression.
#include "harness.h"

extern "C" {
#define SCALAR(op, expression, from, to)                            \
  void scalar_##op##_clang(size_t n, const double* x, double* out); \
  void scalar_##op##_gcc(size_t n, const double* x, double* out);
#include "scalars.def"
#undef SCALAR
}

namespace inlay::bench {
namespace {

void ours(benchmark::State& state, const std::string& op, double from, double to) {
  run_program(state, str("graph @main(%x: f64[n]) {\n  %r = ", op, " %x\n  return %r\n}"), 1, 1, kElements, {from, to});
}

using Peer = void (*)(size_t n, const double* x, double* out);

void theirs(benchmark::State& state, Peer peer, double from, double to) {
  Array x(kElements, {from, to}), out(kElements);
  for (auto _ : state) {
    peer(kElements, x.data(), out.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace

void add_scalars() {
#define SCALAR(op, expression, from, to)                                                                      \
  add("scalar_" #op "/inlay", [](benchmark::State& state) { ours(state, #op, from, to); });                   \
  add("scalar_" #op "/clang", [](benchmark::State& state) { theirs(state, scalar_##op##_clang, from, to); }); \
  add("scalar_" #op "/gcc", [](benchmark::State& state) { theirs(state, scalar_##op##_gcc, from, to); });
#include "scalars.def"
#undef SCALAR
}

}  // namespace inlay::bench
