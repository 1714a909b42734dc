// What the generated code costs: compile time and run time of a few kernels, CPU time, the least of many runs.
// Not a test: `bin/inlay_bench_code [case...]`, built with INLAY_BENCH=ON.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "backend/llvm/compiled_test.h"
#include "cpu_seconds.h"

namespace inlay::llvm_backend::testing {
namespace {

using bench::cpu_seconds;

/// Arguments of a program at fixed addresses, called as a door would.
struct Call {
  std::vector<Array> arrays;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> params;
  std::vector<void*> outputs, segments;
  std::vector<int64_t> symbols, offsets;
  InlayCall call{};

  Call(const Compiled& compiled, std::vector<Array> given) : arrays(std::move(given)) {
    const KernelProgram& program = compiled.program();
    symbols = kernel::bind_symbols(program, arrays);
    for (Array& array : arrays) params.push_back(aligned(array.bytes));
    for (BufferId output : program.outputs) {
      outputs.push_back(aligned(
          std::vector<std::byte>(static_cast<std::size_t>(size_bytes(program.buffers[output]).evaluate(symbols)))));
    }
    const memory::MemoryPlan& plan = compiled.plan();
    for (int segment = 0; segment < plan.sharing.num_segments(); ++segment) {
      const auto layout =
          memory::plan(memory::Planner::greedy, memory::storages_of_segment(plan.sharing, segment, symbols));
      offsets = layout.offset_bytes;
      segments.push_back(aligned(std::vector<std::byte>(static_cast<std::size_t>(layout.arena_bytes))));
    }
    call.params = params.data();
    call.outputs = outputs.data();
    call.symbols = symbols.data();
    call.segments = segments.data();
    call.offsets = offsets.data();
  }
  void* aligned(const std::vector<std::byte>& bytes) {
    std::vector<std::byte>& block = memory.emplace_back(bytes.size() + 128);
    auto* at = block.data() + (64 - reinterpret_cast<uintptr_t>(block.data()) % 64) % 64;
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    return at;
  }
};

double microseconds_per_call(const Compiled& compiled, Call& call) {
  double minimum = 1e9;
  const InlayEntry entry = compiled.entry();
  double start = cpu_seconds();
  entry(&call.call);
  const int repeats = std::clamp(static_cast<int>(2e-3 / (cpu_seconds() - start + 1e-7)), 1, 2000);
  for (int round = 0; round < 60; ++round) {
    start = cpu_seconds();
    for (int i = 0; i < repeats; ++i) entry(&call.call);
    minimum = std::min(minimum, (cpu_seconds() - start) / repeats);
  }
  return minimum * 1e6;
}

double milliseconds_to_emit(const KernelProgram& kernels, const EmitOptions& options) {
  const auto [program, plan] = memory::plan_memory(kernels);
  double minimum = 1e9;
  for (int round = 0; round < 15; ++round) {
    const double start = cpu_seconds();
    emit(program, plan, options);
    minimum = std::min(minimum, cpu_seconds() - start);
  }
  return minimum * 1e3;
}

void measure(const char* name, const std::string& text, const std::vector<Array>& params, double elements,
             EmitOptions options = {}) {
  const char* dump = std::getenv("MEASURE_DUMP");
  options.keep_assembly = options.keep_ir = dump != nullptr;
  const Compiled compiled(text, options);
  if (dump) {
    std::ofstream(str(dump, "/", name, ".s")) << compiled.emitted().assembly;
    std::ofstream(str(dump, "/", name, ".ll")) << compiled.emitted().ir;
  }
  options.keep_assembly = options.keep_ir = false;
  Call call(compiled, params);
  const double run = microseconds_per_call(compiled, call);
  const double compile = milliseconds_to_emit(compiled.program(), options);
  std::printf("%-28s run %9.3f us  %7.3f ns/element   emit %6.2f ms  object %6zu bytes\n", name, run,
              run * 1e3 / elements, compile, compiled.emitted().object.size());
  std::fflush(stdout);
}

std::string elementwise(std::string_view body) {
  return str(
      "program @main(x: f64[n] param 0, y: f64[n] param 1, z: f64[n] param 2, r: f64[n] output 0) symbols n = x.0 {"
      " kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = load y[i] : f64 %2 = load z[i] : f64 ",
      body, " } } }");
}

std::string radon_text() {
  return R"(program @main(q: f64[175] param 0, county: i64[919] param 1 bound {min 0, max 84, sorted}, floor: f64[919] param 2 bound,
      y: f64[919] param 3 bound, logp: f64 output 0, grad: f64[175] output 1,
      sa: f64 scalar, sb: f64 scalar, sy: f64 scalar, iy: f64 scalar, alpha: f64[85] temporary, beta: f64[85] temporary,
      ga: f64[85] temporary, gb: f64[85] temporary, ll: f64 scalar, ss: f64 scalar, pa: f64 scalar, pb: f64 scalar,
      ta: f64 scalar, tb: f64 scalar, ua: f64 scalar, ub: f64 scalar, ls: f64 scalar) {
    scalar { %0 = load q[1] : f64  %1 = exp %0 : f64  store sa[] set %1
             %2 = load q[3] : f64  %3 = exp %2 : f64  store sb[] set %3
             %4 = load q[174] : f64  %5 = exp %4 : f64  store sy[] set %5  %6 = log %5 : f64  store ls[] set %6 }
    kernel @k0 {
      out pa start fill 0.0
      out pb start fill 0.0
      stage (i < 85) {
        %0 = load q[4 + i] : f64  %1 = load q[89 + i] : f64  %2 = load sa[] : f64  %3 = load sb[] : f64
        %4 = mul %0, %2 : f64  %5 = load q[0] : f64  %6 = add %5, %4 : f64  store alpha[i] set %6
        %7 = mul %1, %3 : f64  %8 = load q[2] : f64  %9 = add %8, %7 : f64  store beta[i] set %9
        %10 = square %0 : f64  %11 = literal -0.5 : f64  %12 = mul %10, %11 : f64  fold add pa[] %12 : f64
        %13 = square %1 : f64  %14 = mul %13, %11 : f64  fold add pb[] %14 : f64 } }
    kernel @k1 {
      out ga start fill 0.0
      out gb start fill 0.0
      out ll start fill 0.0
      out ss start fill 0.0
      stage (i < 919) {
        %0 = load county[i] : i64  %1 = load alpha[wrap(%0, 85) CHECKED] : f64  %2 = load beta[wrap(%0, 85) CHECKED] : f64
        %3 = load floor[i] : f64  %4 = mul %2, %3 : f64  %5 = add %1, %4 : f64  %6 = load y[i] : f64  %7 = sub %6, %5 : f64
        %8 = load sy[] : f64  %9 = div %7, %8 : f64  %10 = square %9 : f64  %11 = literal -0.5 : f64  %12 = mul %10, %11 : f64
        %13 = literal -0.91893853 : f64  %14 = add %12, %13 : f64  %15 = load ls[] : f64  %16 = sub %14, %15 : f64
        %17 = literal 0.0 : f64  %18 = gt %8, %17 : bool  %19 = literal -inf : f64  %20 = select %18, %16, %19 : f64
        fold add ll[] %20 : f64
        %21 = div %9, %8 : f64  store ga[wrap(%0, 85) CHECKED] add %21
        %22 = mul %9, %3 : f64  %23 = div %22, %8 : f64  store gb[wrap(%0, 85) CHECKED] add %23
        %24 = mul %9, %7 : f64  fold add ss[] %24 : f64 } }
    kernel @k2 {
      out ta start fill 0.0
      out tb start fill 0.0
      out ua start fill 0.0
      out ub start fill 0.0
      stage (i < 85) {
        %0 = load ga[i] : f64  fold add ta[] %0 : f64  %1 = load gb[i] : f64  fold add tb[] %1 : f64
        %2 = load q[4 + i] : f64  %3 = load q[89 + i] : f64  %4 = mul %0, %2 : f64  fold add ua[] %4 : f64
        %5 = mul %1, %3 : f64  fold add ub[] %5 : f64  %6 = load sa[] : f64  %7 = mul %0, %6 : f64  %8 = sub %7, %2 : f64
        store grad[4 + i] set %8  %9 = load sb[] : f64  %10 = mul %1, %9 : f64  %11 = sub %10, %3 : f64
        store grad[89 + i] set %11 } }
    scalar { %0 = load ll[] : f64  %1 = load pa[] : f64  %2 = add %0, %1 : f64  %3 = load pb[] : f64  %4 = add %2, %3 : f64
             store logp[] set %4
             %5 = load ta[] : f64  store grad[0] set %5  %6 = load ua[] : f64  store grad[1] set %6
             %7 = load tb[] : f64  store grad[2] set %7  %8 = load ub[] : f64  store grad[3] set %8
             %9 = load ss[] : f64  %10 = load sy[] : f64  %11 = square %10 : f64  %12 = div %9, %11 : f64  store grad[174] set %12 }
    sites { #0 index-out-of-bounds "" } })";
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

Array sorted_index(std::mt19937_64& random, int64_t n, int64_t groups, bool sorted) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(groups)));
  if (sorted) std::sort(out.begin(), out.end());
  return array_of(DType::i64, {n}, out);
}

/// The first use in a process: the JIT library is mapped, LLVM set up, the math parsed.
void measure_cold() {
  const auto [program, plan] = memory::plan_memory(kernel::parse(replaced(radon_text(), "CHECKED", "checked #0")));
  for (const char* what : {"first emit of a process", "second"}) {
    const double start = cpu_seconds();
    const EmitResult result = emit(program, plan);
    const double emitted = cpu_seconds();
    const runtime::LoadedCode code = runtime::load_elf(result.object, resolve);
    std::printf("%-28s emit %6.2f ms  load %6.3f ms\n", what, (emitted - start) * 1e3, (cpu_seconds() - emitted) * 1e3);
  }
}

int run(int argc, char** argv) {
  measure_cold();
  std::mt19937_64 random(5);
  const auto wanted = [&](const char* name) {
    for (int i = 1; i < argc; ++i) {
      if (std::string_view(name).find(argv[i]) != std::string_view::npos) return true;
    }
    return argc == 1;
  };
  const auto vectors = [&](int64_t n, int count) {
    std::vector<Array> out;
    for (int k = 0; k < count; ++k) out.push_back(random_array(random, DType::f64, {n}, -1, 1));
    return out;
  };
  const auto go = [&](const char* name, const std::string& text, const std::vector<Array>& params, double elements,
                      EmitOptions options = {}) {
    if (wanted(name)) measure(name, text, params, elements, options);
  };
  const std::string exp =
      elementwise("%3 = exp %0 : f64 %4 = mul %3, %1 : f64 %5 = add %4, %2 : f64 store r[i] set %5");
  go("exp-1e3", exp, vectors(1000, 3), 1e3);
  go("exp-1e5", exp, vectors(100000, 3), 1e5);
  go("triad-1e3", elementwise("%3 = literal 3.0 : f64 %4 = mul %3, %1 : f64 %5 = add %4, %0 : f64 store r[i] set %5"),
     vectors(1000, 3), 1e3);
  go("triad-1e5", elementwise("%3 = literal 3.0 : f64 %4 = mul %3, %1 : f64 %5 = add %4, %0 : f64 store r[i] set %5"),
     vectors(100000, 3), 1e5);
  const std::string sum =
      "program @main(x: f64[n] param 0, s: f64 output 0) symbols n = x.0 { kernel @k0 { out s start fill 0.0 "
      "stage (i < n) { %0 = load x[i] : f64 fold add s[] %0 : f64 } } }";
  go("sum-1e4", sum, vectors(10000, 1), 1e4);
  const std::string dot =
      "program @main(x: f64[n] param 0, y: f64[n] param 1, s: f64 output 0) symbols n = x.0 { kernel @k0 { out s start "
      "fill 0.0 "
      "stage (i < n) { %0 = load x[i] : f64 %1 = load y[i] : f64 %2 = mul %0, %1 : f64 fold add s[] %2 : f64 } } }";
  go("dot-1e4", dot, vectors(10000, 2), 1e4);
  for (bool sorted : {true, false}) {
    std::vector<Array> params = vectors(919, 3);
    params.insert(params.begin() + 1, sorted_index(random, 919, 85, sorted));
    params[0] = random_array(random, DType::f64, {175}, -0.5, 0.5);
    const std::string kind = sorted ? "sorted" : "random";
    EmitOptions plain;
    plain.scatter = LanePrivate::off;
    go(str("radon-checked-", kind).c_str(), replaced(radon_text(), "CHECKED", "checked #0"), params, 919);
    go(str("radon-proved-", kind).c_str(), replaced(radon_text(), "CHECKED", "proved"), params, 919);
    go(str("radon-in-order-", kind).c_str(), replaced(radon_text(), "CHECKED", "proved"), params, 919, plain);
    const std::string scatter =
        "program @main(x: f64[n] param 0, g: i64[n] param 1, r: f64[85] output 0) symbols n = x.0 { kernel @k0 { "
        "out r start fill 0.0 stage (i < n) { %0 = load x[i] : f64 %1 = load g[i] : i64 store r[wrap(%1, 85) proved] "
        "add %0 } } }";
    const std::vector<Array> scattered = {random_array(random, DType::f64, {100000}, 0, 1),
                                          sorted_index(random, 100000, 85, sorted)};
    go(str("scatter-1e5-", kind).c_str(), scatter, scattered, 1e5);
    go(str("scatter-in-order-1e5-", kind).c_str(), scatter, scattered, 1e5, plain);
    const std::string gather =
        "program @main(x: f64[85] param 0, g: i64[n] param 1, r: f64[n] output 0) symbols n = g.0 { kernel @k0 { "
        "stage (i < n) { %1 = load g[i] : i64 %2 = load x[wrap(%1, 85) checked #0] : f64 store r[i] set %2 } } sites { "
        "#0 index-out-of-bounds \"\" } }";
    const std::vector<Array> gathered = {random_array(random, DType::f64, {85}, 0, 1),
                                         sorted_index(random, 100000, 85, sorted)};
    go(str("gather-1e5-", kind).c_str(), gather, gathered, 1e5);
  }
  const std::string softmax =
      R"(program @main(x: f64[n, m] param 0, r: f64[n, m] output 0, t: f64[n] temporary, u: f64[n] temporary)
      symbols n = x.0, m = x.1 { kernel @k0 { outer (i < n)
          out t start fill -inf
          out u start fill 0.0
          stage (j < m) { %0 = load x[i, j] : f64  fold max t[i] %0 : f64 }
          stage (j < m) { %0 = load x[i, j] : f64  %1 = load t[i] : f64  %2 = sub %0, %1 : f64  %3 = exp %2 : f64
            store r[i, j] set %3  fold add u[i] %3 : f64 }
          stage (j < m) { %0 = load r[i, j] : f64  %1 = load u[i] : f64  %2 = div %0, %1 : f64  store r[i, j] set %2 } } })";
  go("softmax-1000x1000", softmax, {random_array(random, DType::f64, {1000, 1000}, -1, 1)}, 1e6);
  // One exp in 20 ops, one after the other; values stay near 1.
  const auto chain = [](int first, int ops) {
    std::string body;
    for (int k = first; k < first + ops; ++k) {
      body += k % 20 == 10 ? str("%", k, " = sigmoid %", k - 1, " : f64 ")
                           : str("%", k, k % 2 ? " = sub %" : " = add %", k - 1, ", %", k % 3, " : f64 ");
    }
    return body;
  };
  for (int ops : {10, 100, 400, 1000}) {
    go(str("body-", ops).c_str(), elementwise(str(chain(3, ops), "store r[i] set %", 2 + ops)), vectors(1000, 3), 1e3);
    const std::string scalars =
        str("program @main(x: f64[3] param 0, r: f64 output 0) { scalar { %0 = load x[0] : f64 "
            "%1 = load x[1] : f64 %2 = load x[2] : f64 ",
            chain(3, ops), " store r[] set %", 2 + ops, " } }");
    go(str("scalars-", ops).c_str(), scalars, vectors(3, 1), 1);
  }
  std::string kernels;
  for (int k = 0; k < 10; ++k) {
    kernels += str("kernel @k", k, " { stage (i < n) { %0 = load ", k ? "r" : "x",
                   "[i] : f64 %1 = load y[i] : f64 %2 = load z[i] : f64 ", chain(3, 100), " store r[i] set %102 } } ");
  }
  go("1000-ops-in-10-bodies",
     str("program @main(x: f64[n] param 0, y: f64[n] param 1, z: f64[n] param 2, r: f64[n] output 0)"
         " symbols n = x.0 { ",
         kernels, " }"),
     vectors(1000, 3), 1e3);
  for (const char* op : {"exp", "log", "log1p", "expm1", "sigmoid", "softplus", "tanh", "log1mexp", "sin", "erf",
                         "erfc", "lgamma", "digamma"}) {
    const bool positive = std::string_view(op) != "log1mexp";
    const std::string text =
        str("program @main(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 { kernel @k0 { stage (i < n) {"
            " %0 = load x[i] : f64 %1 = ",
            op, " %0 : f64 store r[i] set %1 } } }");
    go(str("op-", op).c_str(), text,
       {random_array(random, DType::f64, {10000}, positive ? 0.1 : -5, positive ? 5 : -0.1)}, 1e4);
  }
  return 0;
}

}  // namespace
}  // namespace inlay::llvm_backend::testing

int main(int argc, char** argv) { return inlay::llvm_backend::testing::run(argc, argv); }
