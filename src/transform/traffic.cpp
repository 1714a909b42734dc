#include "transform/traffic.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "kernel/visit.h"

namespace inlay::transform {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Stage;
using kernel::Statement;

namespace {

// Sizes that are known only when the program runs are taken to be such that the loop with the most axes has this many
// points: too many for the second cache, while those of all axes but one fit.
constexpr double kPoints = 1 << 21;
constexpr double kCacheBytes = 1 << 19, kLineBytes = 64;
// A byte that vectors go across, and one whose line has to come again for each of its elements, compared with one of
// those that lie side by side. A line that comes again is rarely as far away as the first time. With these weights the
// estimate agrees with most of the times of 190 random programs in two versions each.
constexpr double kGathered = 1.5, kScattered = 3, kGatheredAgain = 4, kScatteredAgain = 8;
// What is estimated to move less by so little moves as much.
constexpr double kAsMuch = 0.9;

int64_t any_size(const KernelProgram& program) {
  std::size_t axes = 3;
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (const Stage& stage : kernel->stages) axes = std::max(axes, kernel->outer.size() + stage.axes.size());
  }
  return std::llround(std::pow(kPoints, 1.0 / static_cast<double>(axes)));
}

/// Temporaries that a loop reads where it writes something else of their size: they can lie in the bytes of that. Which
/// do is decided by `memory`, of the kernels that become of the program: here they are versions of which one is taken.
IdMap<BufferId, bool> find_in_place(const KernelProgram& program) {
  IdMap<BufferId, bool> out(program.buffers.size(), false);
  const auto lies_in = [&](const Statement& read, const Statement& write) {
    if (!write.is_write() || write.buffer == read.buffer || write.map != read.map) return false;
    const Buffer &from = program.buffers[read.buffer], &to = program.buffers[write.buffer];
    return to.dims == from.dims && size_bytes(to.dtype) == size_bytes(from.dtype);
  };
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (const Stage& stage : kernel->stages) {
      for (const Statement& s : stage.statements) {
        if (s.kind != Statement::Kind::load || program.buffers[s.buffer].role != Role::temporary) continue;
        if (std::ranges::any_of(stage.statements, [&](const Statement& w) { return lies_in(s, w); }))
          out[s.buffer] = true;
      }
    }
  }
  return out;
}

bool has_bytes(const Buffer& buffer) { return buffer.role != Role::scalar && buffer.role != Role::literal; }

/// The estimate for one program.
class Estimate {
 public:
  explicit Estimate(const KernelProgram& program)
      : program_(program),
        sizes_(program.symbols.size(), any_size(program)),
        num_users_(kernel::count_users(program)),
        is_in_place_(find_in_place(program)),
        seen_in_(program.buffers.size(), 0) {}

  Traffic operator()(const Kernel& kernel) {
    Traffic out;
    out.kernels = kernel.is_scalar() ? 0 : 1;
    ++kernel_;
    for (const Stage& stage : kernel.stages) {
      const std::vector<Loop> loops = loops_of(kernel, stage);
      for (std::size_t i = 0; i < stage.statements.size(); ++i) {
        const Statement& s = stage.statements[i];
        const auto is_same = [&](const Statement& other) {
          return other.has_place() && other.is_write() == s.is_write() && other.buffer == s.buffer &&
                 other.map == s.map;
        };
        const auto before = std::span(stage.statements).first(i);
        if (!s.has_place() || !has_bytes(program_.buffers[s.buffer]) || std::ranges::any_of(before, is_same)) continue;
        add(kernel, loops, s, out);
      }
    }
    return out;
  }

 private:
  struct Loop {
    int axis = 0;
    double count = 1;
    bool is_outer = false;
  };

  double estimate(const Dim& size) const { return size.estimate(sizes_); }

  /// The loops around a point, outermost first. A tiled axis has two: over the tiles, and over the points of one.
  std::vector<Loop> loops_of(const Kernel& kernel, const Stage& stage) const {
    std::vector<Loop> out;
    double tile = 1;
    for (std::size_t i = 0; i < kernel.outer.size(); ++i) {
      const int axis = static_cast<int>(i);
      double count = estimate(kernel.outer[i].extent);
      if (stage.once) count = 1;
      if (kernel.is_tiled() && !stage.once && axis == kernel.tiled_axis()) {
        tile = std::min(count, static_cast<double>(kernel.tile));
        count /= tile;
      }
      out.push_back({axis, count, /*is_outer=*/true});
    }
    for (std::size_t i = 0; i <= stage.axes.size(); ++i) {
      if (kernel.is_tiled() && !stage.once && i == stage.tile_at) out.push_back({kernel.tiled_axis(), tile});
      if (i == stage.axes.size()) break;
      out.push_back({static_cast<int>(kernel.outer.size() + i), estimate(stage.axes[i].extent)});
    }
    return out;
  }

  /// What a statement reads or writes, in bytes; and in elements the steps at which it goes.
  struct Touched {
    double element = 0;
    double bytes = element;           // of all of its points, as often as they come from memory
    double footprint = element;       // at different places
    double of_outer_point = element;  // ... in one pass of the outer loops
    double along_vectors = -1;        // the step of the innermost loop of more than one point; -1: there is none
    double nearest = 0;               // the shortest step of a loop
    double lines_inside = 1;          // places between two points of that loop

    bool uses_up_lines() const { return nearest * element < kLineBytes && lines_inside * kLineBytes <= kCacheBytes; }
  };

  Touched touched_by(const std::vector<Loop>& loops, const Statement& s) const {
    const Buffer& buffer = program_.buffers[s.buffer];
    const kernel::LinearMap map = linearize(s.map, buffer.dims);
    Touched out{.element = static_cast<double>(size_bytes(buffer.dtype))};
    for (const Loop& loop : loops | std::views::reverse) {
      const double step = std::abs(estimate(map.stride_of(loop.axis)));
      if (loop.count == 1) continue;
      if (out.along_vectors < 0) out.along_vectors = step;
      if (step == 0 && map.indices.empty()) {
        if (out.footprint > kCacheBytes) out.bytes *= loop.count;  // it comes from memory each time
        continue;
      }
      if (out.nearest == 0 || step < out.nearest) {
        out.nearest = step;
        out.lines_inside = out.footprint / out.element;
      }
      out.bytes *= loop.count;
      out.footprint *= loop.count;
      if (!loop.is_outer) out.of_outer_point *= loop.count;
    }
    return out;
  }

  bool is_temporary(const Statement& s) const { return program_.buffers[s.buffer].role == Role::temporary; }

  bool is_local(const Kernel& kernel, const Statement& s) const {
    return is_temporary(s) && num_users_[root_of(program_, s.buffer)] == 1 && !kernel.outer.empty();
  }

  /// Of a temporary that is touched for the first time, the bytes that it has.
  double held(const Kernel& kernel, const Statement& s, const Touched& touched) const {
    if (is_local(kernel, s)) return touched.of_outer_point;
    return is_temporary(s) && !is_in_place_[s.buffer] ? touched.footprint : 0;
  }

  static double moved(const Statement& s, const Touched& touched) {
    if (!touched.uses_up_lines()) return touched.bytes * (s.is_write() ? kScatteredAgain : kGatheredAgain);
    const double across = touched.along_vectors <= 1 ? 1 : s.is_write() ? kScattered : kGathered;
    return touched.bytes * across * std::max(touched.nearest, 1.0);
  }

  void add(const Kernel& kernel, const std::vector<Loop>& loops, const Statement& s, Traffic& out) {
    const Touched touched = touched_by(loops, s);
    const int last = std::exchange(seen_in_[root_of(program_, s.buffer)], kernel_);
    if (last == 0) out.held += held(kernel, s, touched);
    const bool stays = !kernel.outer.empty() && touched.of_outer_point <= kCacheBytes;
    if (stays && (is_local(kernel, s) || last == kernel_)) return;
    out.moved += moved(s, touched);
  }

  const KernelProgram& program_;
  const std::vector<int64_t> sizes_;
  const IdMap<BufferId, int> num_users_;
  const IdMap<BufferId, bool> is_in_place_;
  IdMap<BufferId, int> seen_in_;  // the last kernel that touched it
  int kernel_ = 0;
};

/// Buffers, of which some are written by one kernel in one version or another.
class Parts {
 public:
  explicit Parts(std::size_t num_buffers) : in_(num_buffers) {
    for (BufferId b : ids<BufferId>(num_buffers)) in_[b] = b;
  }
  BufferId find(BufferId b) {
    while (in_[b] != b) b = in_[b] = in_[in_[b]];
    return b;
  }
  void add(const Kernel& kernel) {
    for (const kernel::KernelOutput& output : kernel.outputs) in_[find(output.buffer)] = find(kernel.outputs[0].buffer);
  }

 private:
  IdMap<BufferId, BufferId> in_;
};

}  // namespace

bool Traffic::moves_less_than(const Traffic& other) const { return moved < kAsMuch * other.moved; }

bool Traffic::is_less_than(const Traffic& other) const {
  if (moves_less_than(other) || other.moves_less_than(*this)) return moved < other.moved;
  return kernels != other.kernels ? kernels < other.kernels : held < other.held;
}

std::vector<Traffic> traffic_of(const KernelProgram& program) {
  std::vector<Traffic> out(program.steps.size());
  Estimate estimate(program);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto* kernel = std::get_if<Kernel>(&program.steps[i])) out[i] = estimate(*kernel);
  }
  return out;
}

std::vector<TrafficByBuffer> traffic_by_part(std::span<const KernelProgram> versions) {
  const auto for_each_kernel = [](const KernelProgram& program, auto visit) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const auto* kernel = std::get_if<Kernel>(&program.steps[i]);
      if (kernel && !kernel->outputs.empty()) visit(*kernel, i);
    }
  };
  const std::size_t num_buffers = versions.front().buffers.size();
  Parts parts(num_buffers);
  for (const KernelProgram& program : versions) {
    for_each_kernel(program, [&](const Kernel& kernel, std::size_t) { parts.add(kernel); });
  }
  std::vector<TrafficByBuffer> out;
  for (const KernelProgram& program : versions) {
    TrafficByBuffer& by_buffer = out.emplace_back(num_buffers, Traffic());
    const std::vector<Traffic> by_step = traffic_of(program);
    for_each_kernel(program, [&](const Kernel& kernel, std::size_t i) {
      Traffic& sum = by_buffer[parts.find(kernel.outputs[0].buffer)];
      sum.kernels += by_step[i].kernels;
      sum.moved += by_step[i].moved;
      sum.held += by_step[i].held;
    });
    for (BufferId b : ids<BufferId>(num_buffers)) by_buffer[b] = by_buffer[parts.find(b)];
  }
  return out;
}

}  // namespace inlay::transform
