#include "compiler/profile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include <unistd.h>

#include "compiler/backends.h"
#include "compiler/origins.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "support/str.h"

namespace inlay {
namespace {

using explain::Amount;
using explain::ProfileRow;

/// The sizes of the last call; -1 where one is not known, or another one in each pass of a loop.
std::vector<int64_t> sizes_of(const kernel::KernelProgram& program, const runtime::StepTimes& times) {
  std::vector<int64_t> sizes = times.sizes();
  sizes.resize(program.symbols.size(), -1);
  int depth = 0;
  for (const kernel::Step& step : program.steps) {
    if (std::holds_alternative<kernel::LoopBegin>(step)) ++depth;
    if (std::holds_alternative<kernel::LoopEnd>(step)) --depth;
    if (depth == 0) continue;
    for (SymbolId symbol : kernel::symbols_bound_by(step)) sizes[symbol.index] = -1;
  }
  return sizes;
}

/// Does the kernel only put elements elsewhere?
bool only_moves(const kernel::Kernel& kernel) {
  return !kernel.is_scalar() && !kernel::any_statement(kernel, [](const kernel::Statement& s) {
    const bool moves = s.kind == kernel::Statement::Kind::load || s.always_sets();
    return !moves || s.map.has_index();
  });
}

/// What the formula of a step does not say: that it copies, and why.
std::string note_of(const Lowered& program, kernel::StepId id) {
  const kernel::Step& step = program.kernels.steps[id.index];
  if (std::holds_alternative<kernel::HostCall>(step)) return "host call";
  const auto* kernel = std::get_if<kernel::Kernel>(&step);
  const kernel::Names names(program.kernels);
  std::string out;
  for (const memory::PlannedCopy& copy : program.plan.sharing.copies) {
    if (copy.step != id) continue;
    const std::string what = kernel == nullptr ? "" : str("copies ", names.buffers[copy.source], ": ");
    out += str(out.empty() ? "" : "; ", what, copy.reason);
  }
  return out.empty() && kernel != nullptr && only_moves(*kernel) ? "a copy" : out;
}

class Amounts {
 public:
  Amounts(const kernel::KernelProgram& program, const runtime::StepTimes& times)
      : names_(program.symbol_names()), sizes_(sizes_of(program, times)) {}

  /// Of `passes` passes, of which each has so much.
  Amount of(const Dim& each, double passes) const {
    if (passes == 0) return int64_t{0};
    const auto is_known = [&](SymbolId symbol) { return sizes_[symbol.index] >= 0; };
    if (!std::ranges::all_of(each.symbols(), is_known)) return each.to_text(names_);
    return int64_t{std::llround(static_cast<double>(each.evaluate(sizes_)) * passes)};
  }

  /// Those that are known, by name.
  std::vector<std::pair<std::string, int64_t>> sizes() const {
    std::vector<std::pair<std::string, int64_t>> out;
    for (const SymbolId symbol : ids<SymbolId>(sizes_.size())) {
      if (sizes_[symbol.index] >= 0) out.emplace_back(names_[symbol], sizes_[symbol.index]);
    }
    return out;
  }

 private:
  IdMap<SymbolId, std::string> names_;
  std::vector<int64_t> sizes_;
};

constexpr const char* kTriad = R"(graph @triad(%a: f64, %b: f64[n], %c: f64[n]) {
  %p = mul %a, %c
  %s = add %b, %p
  return %s
})";

/// What the system says of itself; 0 where it does not.
int64_t of_system(int name) { return std::max<int64_t>(sysconf(name), 0); }

/// Of each array: four times the last cache, and not so much that memory would be short.
int64_t triad_bytes() {
  constexpr int64_t kLeast = int64_t{16} << 20, kMost = int64_t{1} << 30;
  int64_t cache = kLeast;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = std::max({cache, of_system(_SC_LEVEL2_CACHE_SIZE), of_system(_SC_LEVEL3_CACHE_SIZE)});
#endif
  const int64_t memory = of_system(_SC_PAGESIZE) * of_system(_SC_PHYS_PAGES);
  return std::min({4 * cache, kMost, std::max(memory / 16, kLeast)});
}

double measured_bandwidth() {
  const Program triad = compile_program(parse(kTriad, "triad"), Options::without_environment());
  const auto n = static_cast<std::size_t>(triad_bytes()) / sizeof(double);
  const double a = 3;
  const std::vector<double> b(n, 1.0), c(n, 1.0);
  std::vector<double> result(n, 1.0);
  const std::array<const void*, 3> params = {&a, b.data(), c.data()};
  double least = std::numeric_limits<double>::infinity();
  constexpr int kRuns = 6;
  for (int i = 0; i < kRuns; ++i) {
    std::array<void*, 1> results = {result.data()};
    auto size = static_cast<int64_t>(n);
    runtime::Executable::Failure failure;
    const auto begin = std::chrono::steady_clock::now();
    const int32_t code = triad.executable.run(params.data(), results.data(), &size, nullptr, failure);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (code != INLAY_OK) throw triad.executable.error_of(code, failure);
    least = std::min(least, seconds.count());
  }
  return 3 * sizeof(double) * static_cast<double>(n) / least / 1e9;
}

}  // namespace

void require_clocks(std::string_view function, std::string_view backend) {
  if (backend_named(backend).has_clocks) return;
  std::vector<std::string> with_clocks;
  for (const Backend& one : backends()) {
    if (one.has_clocks) with_clocks.push_back(str('"', one.name, '"'));
  }
  throw Error(
      ErrorCode::unsupported, {},
      str(function, " was compiled by the backend \"", backend, "\", whose code has no clocks around its steps"))
      .help(str("backends that have them: ", join(with_clocks, ", ")));
}

explain::Profile profile_of(const Lowered& program, const runtime::StepTimes& times, std::string name,
                            const CallTimes& calls) {
  const auto number = static_cast<double>(calls.calls);
  explain::Profile out = {
      .name = std::move(name), .calls = calls.calls, .total = calls.seconds / number, .least = calls.least};
  const std::vector<runtime::StepTimes::Row> rows = times.rows();
  const Amounts amounts(program.kernels, times);
  out.sizes = amounts.sizes();
  const Origins origins(program);
  std::vector<kernel::StepSummary> steps =
      kernel::summaries(program.kernels, kernel::named_parts(program.kernels, program.graph));
  for (kernel::StepId id : ids<kernel::StepId>(steps.size())) {
    kernel::StepSummary& step = steps[id.index];
    // A loop, or a condition, has steps that have rows.
    if (step.kind.empty() || step.kind == "loop" || step.kind == "condition") continue;
    ProfileRow row = {.step = id, .note = note_of(program, id), .origins = origins.of(id)};
    row.lines = source_lines(row.origins);
    row.seconds = rows[id.index].seconds / number;
    row.least_seconds = rows[id.index].least_seconds;
    row.passes = static_cast<double>(rows[id.index].passes) / number;
    row.threads = rows[id.index].threads;
    if (row.threads > 1 && row.seconds > 0)
      row.balance = rows[id.index].busy_seconds / number / row.seconds / row.threads;
    row.read_bytes = amounts.of(step.read_bytes, row.passes);
    row.written_bytes = amounts.of(step.written_bytes, row.passes);
    if (step.flops) row.flops = amounts.of(*step.flops, row.passes);
    row.summary = std::move(step);
    out.rows.push_back(std::move(row));
  }
  return out;
}

double machine_bandwidth() {
  static std::atomic<double> known =
      0;  // two threads that measure at once do no harm; one that waits, in a fork, would
  double found = known;
  if (found == 0) known = found = measured_bandwidth();
  return found;
}

}  // namespace inlay
