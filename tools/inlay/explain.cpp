#include "explain.h"

#include <cstdio>

#include "ir/text.h"
#include "kernel/text.h"

namespace inlay::tool {
namespace {

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.3f ms", seconds * 1e3);
  return text;
}

}  // namespace

std::string explain(const Program& program) {
  std::string out =
      str("# the graph, rewritten\n", print(program.graph), "\n# the kernels\n", kernel::print(program.kernels),
          "\n# the memory\n", memory::memory_map(program.kernels, program.plan));
  if (!program.kernels.refusals.empty()) {
    out += str("\n# not fused\n", join(program.kernels.refusals, "\n"), "\n");
  }
  out += "\n# the time\n";
  double total = 0;
  for (const auto& [stage, seconds] : program.seconds) {
    out += str(milliseconds(seconds), "  ", stage, "\n");
    total += seconds;
  }
  return str(out, milliseconds(total), "  all\n");
}

}  // namespace inlay::tool
