#include "kernel/flops.h"

#include <algorithm>

#include "kernel/visit.h"

namespace inlay::kernel {
namespace {

int64_t flops_of(ScalarOp op, DType result) {
  if (!is_float(result) && !is_complex(result)) return 0;
  switch (op) {
    case ScalarOp::select_:
    case ScalarOp::real_:
    case ScalarOp::imag_:
    case ScalarOp::complex_: return 0;
    case ScalarOp::add_:
    case ScalarOp::sub_: return is_complex(result) ? 2 : 1;
    case ScalarOp::mul_:
    case ScalarOp::square_: return is_complex(result) ? 6 : 1;
    default: return 1;
  }
}

/// Of one point, in all states of its fold: of those after the first, nothing more.
int64_t flops_of_write(const Stage& stage, std::size_t i) {
  const Statement& s = stage.statements[i];
  if (!s.accumulates() || s.state != 0) return 0;
  if (!s.has_several_states()) return flops_of(combine_op(s.combine()), s.dtype);
  return is_float(states_with(stage, i).back().dtype) ? facts(s.fold).flops : 0;
}

/// Does an earlier stage make what is loaded, at each outer point anew?
bool is_made_in(const Kernel& kernel, BufferId buffer) {
  return std::ranges::find(kernel.outputs, buffer, &KernelOutput::buffer) != kernel.outputs.end();
}

/// The loops of a stage, by their depth: how many of them there are, from the outermost on. A tiled kernel has a loop
/// over tiles, and where the stage passes the points of a tile one over these.
class Loops {
 public:
  Loops(const Kernel& kernel, const Stage& stage) : depths_(kernel.outer.size() + stage.axes.size()) {
    const std::vector<Dim> extents = axis_extents(kernel, stage);
    const std::size_t num_outer = kernel.outer.size();
    Dim runs = 1;  // without the tiled axis
    Dim tiled = 1;
    const auto begin = [&](std::size_t axis) {
      runs_.push_back(runs * tiled);
      depths_[axis] = depth();
    };
    for (std::size_t axis = 0; axis <= extents.size(); ++axis) {
      if (kernel.is_tiled() && !stage.once && axis == num_outer + stage.tile_at) {
        tiled = extents[num_outer - 1];
        begin(num_outer - 1);
      }
      if (axis == extents.size()) break;
      const bool is_tiled = kernel.is_tiled() && !stage.once && axis + 1 == num_outer;
      (is_tiled ? tiled : runs) = is_tiled ? ceil_div(extents[axis], kernel.tile) : runs * extents[axis];
      begin(axis);
    }
  }

  int depth() const { return static_cast<int>(runs_.size()) - 1; }
  /// Returns the depth at which elements of the map change.
  int depth_of(const AccessMap& map) const {
    int out = 0;
    for (std::size_t axis = 0; axis < depths_.size(); ++axis) {
      if (map.uses_axis(static_cast<int>(axis))) out = std::max(out, depths_[axis]);
    }
    return out;
  }
  int depth_of(int axis) const { return depths_[static_cast<std::size_t>(axis)]; }
  /// Returns how often the body of so many loops runs.
  const Dim& runs(int depth) const { return runs_[static_cast<std::size_t>(depth)]; }

 private:
  std::vector<int> depths_;  // by axis
  std::vector<Dim> runs_ = {1};
};

}  // namespace

Dim flops(const Kernel& kernel) {
  Dim out = 0;
  for (const Stage& stage : kernel.stages) {
    const Loops loops(kernel, stage);
    std::vector<int> depths(static_cast<std::size_t>(stage.num_registers), 0);
    for (std::size_t i = 0; i < stage.statements.size(); ++i) {
      const Statement& s = stage.statements[i];
      int depth = s.is_write() ? loops.depth() : 0;
      for_each_register(s, [&](RegisterId r) { depth = std::max(depth, depths[r.index]); });
      if (s.kind == Statement::Kind::axis) depth = loops.depth_of(s.axis);
      if (s.kind == Statement::Kind::load) {
        depth = std::max(depth, loops.depth_of(s.map));
        if (is_made_in(kernel, s.buffer)) depth = std::max(depth, static_cast<int>(kernel.outer.size()));
      }
      if (s.result.valid()) depths[s.result.index] = depth;
      const int64_t each = s.kind == Statement::Kind::op ? flops_of(s.op, s.dtype) : flops_of_write(stage, i);
      if (each > 0) out = out + loops.runs(depth) * each;
    }
  }
  return out;
}

namespace {

Dim cube(const Dim& n) { return n * n * n; }
Dim thirds(int64_t count, const Dim& of) { return floor_div(of * count, 3); }

/// Householder's reflections of a matrix, of which there are p.
Dim flops_of_reflections(const Dim& m, const Dim& n, const Dim& p) { return p * m * n * 2 - thirds(2, cube(p)); }
/// The orthogonal factor with so many columns that p reflections make.
Dim flops_of_columns(const Dim& m, const Dim& columns, const Dim& p) {
  return m * columns * p * 4 - (m + columns) * p * p * 2 + thirds(4, cube(p));
}

/// Of one matrix of real numbers.
std::optional<Dim> flops_of_each(LibraryOp op, std::span<const Dim> sizes) {
  const Dim &m = sizes.front(), &n = sizes.back();  // the same where the matrix is square
  const auto p = [&] { return min(m, n); };
  switch (op) {
    case LibraryOp::matmul:
    case LibraryOp::row_dots:
    case LibraryOp::weighted_rows: return sizes[0] * sizes[1] * sizes[2] * 2;
    case LibraryOp::cholesky: return thirds(1, cube(m));
    case LibraryOp::solve_triangular: return m * m * n;  // n columns
    case LibraryOp::solve: return thirds(2, cube(m)) + m * m * n * 2;
    case LibraryOp::lu_factor: return p() * m * n - thirds(1, cube(p()));
    case LibraryOp::tridiagonal_lu_factor: return m * 3;
    case LibraryOp::tridiagonal_lu_solve: return m * n * 5;
    case LibraryOp::qr:
    case LibraryOp::qr_pivoted: return flops_of_reflections(m, n, p()) + flops_of_columns(m, p(), p());
    case LibraryOp::qr_complete:
    case LibraryOp::qr_complete_pivoted: return flops_of_reflections(m, n, p()) + flops_of_columns(m, m, p());
    case LibraryOp::qr_r:
    case LibraryOp::qr_raw:
    case LibraryOp::qr_raw_pivoted: return flops_of_reflections(m, n, p());
    case LibraryOp::sylvester: return m * n * (m + n);
    case LibraryOp::pivots_to_permutation:
    case LibraryOp::sort:
    case LibraryOp::argsort:
    case LibraryOp::searchsorted: return Dim(0);
    case LibraryOp::schur:
    case LibraryOp::qz:
    case LibraryOp::svd:
    case LibraryOp::svd_full:
    case LibraryOp::singular_values:
    case LibraryOp::eigh:
    case LibraryOp::eigvalsh:
    case LibraryOp::eig:
    case LibraryOp::eigvals:
    case LibraryOp::expm: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dim> flops(const KernelProgram& program, const LibraryCall& call) {
  const std::optional<Dim> each = flops_of_each(call.op, std::span(call.sizes).subspan(1));
  if (!each) return std::nullopt;
  constexpr int64_t kOfComplex = 4;  // a product and a sum: 8, where those of real numbers are 2
  const bool is_of_complex = is_complex(program.buffers[call.operands[0].buffer].dtype);
  return call.sizes[0] * *each * (is_of_complex ? kOfComplex : 1);
}

}  // namespace inlay::kernel
