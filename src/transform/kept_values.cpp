#include "transform/kept_values.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace inlay::transform {

using kernel::Statement;

bool is_written_in(const kernel::KernelProgram& program, const kernel::Stage& stage, kernel::BufferId buffer) {
  return std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return s.is_write() && root_of(program, s.buffer) == root_of(program, buffer);
  });
}

bool say_the_same(const Statement& a, const Statement& b) {
  const auto parts = [](const Statement& s) {
    return std::tie(s.kind, s.dtype, s.op, s.operands, s.buffer, s.map, s.axis, s.size);
  };
  return parts(a) == parts(b) && (a.kind != Statement::Kind::literal || a.literal == b.literal);
}

KeptPlace add_kept(kernel::KernelProgram& program, kernel::Kernel& kernel, std::string_view what, kernel::StoredFor why,
                   DType dtype, std::span<const KeptAxis> axes, bool is_local) {
  kernel::Buffer buffer{.name = str(what, "_", program.buffers.size()), .dtype = dtype};
  buffer.stored.why = why;
  KeptPlace out;
  for (const KeptAxis& kept : axes) {
    buffer.dims.push_back(kept.extent);
    out.map.subscripts.push_back({0, {}, {}});
    out.map.subscripts.back().axes.push_back({kept.axis, 1});
  }
  out.buffer = program.buffers.push_back(std::move(buffer));
  kernel.outputs.push_back({.buffer = out.buffer, .is_local = is_local});
  return out;
}

}  // namespace inlay::transform
