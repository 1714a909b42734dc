#include "profile.h"

#include <cmath>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "interrupt.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

/// Whole, where a call always runs the step so often.
nb::object passes_of(const explain::ProfileRow& row) {
  return row.passes == std::floor(row.passes) ? nb::cast(static_cast<int64_t>(row.passes)) : nb::cast(row.passes);
}

nb::dict row_dict(const explain::ProfileRow& row, const explain::Profile& profile) {
  const std::optional<double> bandwidth = row.bandwidth();
  nb::dict d;
  d["kind"] = row.summary.kind;
  d["name"] = row.summary.name;
  d["title"] = row.summary.title;
  d["makes"] = row.summary.makes;
  d["computes"] = row.summary.formulas;
  d["note"] = row.note;
  d["loops"] = row.summary.loops;
  d["origins"] = row.origins;
  d["lines"] = row.lines;
  d["depth"] = row.summary.depth;
  d["seconds"] = row.seconds;
  d["least_seconds"] = row.least_seconds;
  d["passes"] = passes_of(row);
  d["bytes_read"] = row.read_bytes;
  d["bytes_written"] = row.written_bytes;
  d["flops"] = row.flops;
  d["bandwidth"] = bandwidth;
  d["share_of_bandwidth"] = bandwidth ? nb::cast(*bandwidth / profile.bandwidth) : nb::none();
  d["flop_rate"] = row.flop_rate();
  d["share"] = row.seconds / profile.total;
  d["threads"] = row.threads;
  d["balance"] = row.balance;
  return d;
}

}  // namespace

nb::dict profile(const EmittedProgram& program, const BoundProgram& bound, const runtime::StepTimes& times,
                 const std::string& name, const CallTimes& calls, double bandwidth, nb::dict notes) {
  explain::Profile made = profile_of(program, times, name, calls);
  made.bandwidth = bandwidth;
  nb::list rows;
  for (explain::ProfileRow& row : made.rows) {
    const auto* host = std::get_if<kernel::HostCall>(&program.kernels.steps[row.step.index]);
    if (host != nullptr && bound.draw(host->function) != nullptr) row.summary.kind = "draw";
    const nb::str kind(row.summary.kind.c_str());
    if (notes.contains(kind)) row.note = nb::cast<std::string>(notes[kind]);
    rows.append(row_dict(row, made));
  }
  nb::dict d;
  nb::dict sizes;
  for (const auto& [symbol, size] : made.sizes) sizes[symbol.c_str()] = size;
  d["rows"] = rows;
  d["sizes"] = sizes;
  d["outside"] = made.outside();
  d["text"] = explain::table(made);
  return d;
}

void bind_profile(nb::module_& m) {
  m.attr("PROFILED_SECONDS") = kProfiledSeconds;
  m.attr("LEAST_PROFILED_CALLS") = kLeastProfiledCalls;
  m.def("short_bytes_text", explain::short_bytes_text, "bytes"_a,
        "Whole up to 10 KiB, where sizes of values are still told apart by their bytes.");
  m.def("time_text", explain::time_text, "seconds"_a, "To three digits, in the unit that fits.");
  m.def("threads_text", explain::threads_text, "threads"_a, "balance"_a, "How many of a step's threads were at work.");
  m.def("three_digits", explain::three_digits, "number"_a, "A number that was measured.");
  m.def(
      "machine_bandwidth",
      [] {
        double found = 0;
        unless_interrupted([&] { found = machine_bandwidth(); });
        return found;
      },
      "GB/s that one thread of this machine moves to and from memory, by inlay's own code. Measured once in a "
      "process.");
}

}  // namespace inlay::python
