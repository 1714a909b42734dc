#include <algorithm>

#include "kernel/verify_kernel.h"

namespace inlay::kernel {
namespace {

/// Do both accumulate in the same way, so that the order of their points does not matter?
bool commute(const Statement& a, const Statement& b) {
  return a.is_write() && b.is_write() && a.accumulates() && a.fold == b.fold && a.state == b.state;
}

/// One access of the kernel, and where it is.
struct Access {
  const Statement* statement = nullptr;
  std::size_t stage = 0;
  std::vector<Dim> extents;
};

class ContractVerifier {
 public:
  ContractVerifier(const KernelProgram& program, const Kernel& kernel, const Complain& complain)
      : program_(program), kernel_(kernel), complain_(complain) {}

  void run() {
    std::vector<Access> accesses;
    for (std::size_t s = 0; s < kernel_.stages.size(); ++s) {
      for (const Statement& statement : kernel_.stages[s].statements) {
        if (!statement.has_place()) continue;
        accesses.push_back({&statement, s, axis_extents(kernel_, kernel_.stages[s])});
        if (!kernel_.is_local(statement.buffer)) continue;
        // An outer point runs alone there; with a tiled axis, a tile.
        std::vector<Dim>& extents = accesses.back().extents;
        std::fill_n(extents.begin(), kernel_.outer.size(), Dim(1));
        if (kernel_.is_tiled())
          extents[static_cast<std::size_t>(kernel_.tiled_axis())] = min(kernel_.outer.back().extent, Dim(kernel_.tile));
      }
    }
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (accesses[i].statement->is_write()) verify_write(accesses[i]);
      for (std::size_t k = 0; k < i; ++k) verify_pair(accesses[k], accesses[i]);
    }
  }

 private:
  /// Returns sizes known to be at least 0 where the kernel runs: extents and dims, however they are computed (the part
  /// of a concat between two others has no negative length, also where a call makes it there), and what the earlier
  /// size checks guarantee.
  const std::vector<Dim>& sizes() {
    if (!sizes_.empty()) return sizes_;
    add_size(1);
    for (const Buffer& buffer : program_.buffers) {
      for (const Dim& dim : buffer.dims) add_size(dim);
    }
    bool before = true;
    for (const Step& step : program_.steps) {
      const auto* kernel = std::get_if<Kernel>(&step);
      const auto* check = std::get_if<SizeCheck>(&step);
      before = before && kernel != &kernel_;
      if (kernel != nullptr) add_extents(*kernel);
      if (const auto* call = std::get_if<LibraryCall>(&step)) add_extents(*call);
      if (check == nullptr || !before) continue;
      add_size(check->right - check->left);
      if (check->relation == DimCheck::Relation::equal) add_size(check->left - check->right);
    }
    return sizes_;
  }

  void add_extents(const Kernel& kernel) {
    for (const Axis& axis : kernel.outer) add_size(axis.extent);
    for (const Stage& stage : kernel.stages) {
      for (const Axis& axis : stage.axes) add_size(axis.extent);
    }
  }

  void add_extents(const LibraryCall& call) {
    for_each_array(call, [&](const CallArray&, const CoreAxes& axes) {
      std::ranges::for_each(library_extents(call.op, axes, call.sizes), [&](const Dim& size) { add_size(size); });
    });
  }

  void add_size(const Dim& size) {
    if (std::ranges::find(sizes_, size) == sizes_.end()) sizes_.push_back(size);
  }

  std::string text(const Access& access) const {
    return str("`", print_statement(program_, kernel_, kernel_.stages[access.stage], *access.statement), "`");
  }
  std::string where(const Access& access) const { return str("kernel @", kernel_.name, ", stage ", access.stage); }

  /// Verifies a plain set: which of several points wins is undefined, unless an index keeps the order.
  void verify_write(const Access& access) {
    const Statement& s = *access.statement;
    if (s.accumulates() || s.map.has_index()) return;
    for (std::size_t axis = 0; axis < access.extents.size(); ++axis) {
      const Dim& extent = access.extents[axis];
      const bool one_point = extent.is(0) || extent.is(1);
      if (!one_point && !s.map.uses_axis(static_cast<int>(axis))) {
        return complain_(str(where(access), ", ", text(access), ": several points set one element"));
      }
    }
    if (is_injective(s.map, access.extents) == Answer::no) {
      complain_(str(where(access), ", ", text(access), ": several points set one element"));
    }
  }

  void verify_pair(const Access& first, const Access& second) {
    const Statement &a = *first.statement, &b = *second.statement;
    if (!a.is_write() && !b.is_write()) return;
    if (root_of(program_, a.buffer) != root_of(program_, b.buffer) || commute(a, b)) return;
    if (first.stage == second.stage ? at_same_point(first, second) : at_same_outer_point(first, second)) return;
    if (a.buffer == b.buffer) {
      const auto apart = [&](std::span<const Dim> sizes) {
        return regions_overlap(a.map, first.extents, b.map, second.extents, sizes) == Answer::no;
      };
      if (apart({}) || apart(sizes())) return;
    }
    const char* what =
        a.is_write() && b.is_write() ? "write one element at different " : "meet in one element at different ";
    complain_(str(where(second), ", ", text(second), " and ", text(first), " may ", what,
                  first.stage == second.stage ? "points" : "outer points"));
  }

  static bool has_one_point(std::span<const Dim> extents) {
    return std::ranges::all_of(extents, [](const Dim& extent) { return extent.is(1); });
  }

  static bool at_same_point(const Access& first, const Access& second) {
    if (has_one_point(first.extents)) return true;
    const Statement &a = *first.statement, &b = *second.statement;
    return a.buffer == b.buffer && same_element_only(a.map, b.map, first.extents);
  }

  /// Is each outer axis of more than one point determined by one subscript, the same in both accesses, that depends on
  /// nothing else?
  bool at_same_outer_point(const Access& first, const Access& second) const {
    if (kernel_.stages[first.stage].once) return true;  // it is done before any outer point
    const Statement &a = *first.statement, &b = *second.statement;
    for (std::size_t axis = 0; axis < kernel_.outer.size(); ++axis) {
      if (kernel_.outer[axis].extent.is(1)) continue;
      if (a.buffer != b.buffer) return false;
      if (kernel_.is_local(a.buffer)) continue;
      bool told = false;
      for (std::size_t d = 0; d < a.map.subscripts.size(); ++d) {
        const Subscript& subscript = a.map.subscripts[d];
        told = told || (subscript.is_told_by(static_cast<int>(axis)) && subscript == b.map.subscripts[d]);
      }
      if (!told) return false;
    }
    return true;
  }

  const KernelProgram& program_;
  const Kernel& kernel_;
  const Complain& complain_;
  std::vector<Dim> sizes_;  // empty: not asked for yet
};

}  // namespace

void verify_contract(const KernelProgram& program, const Kernel& kernel, const Complain& complain) {
  ContractVerifier(program, kernel, complain).run();
}

}  // namespace inlay::kernel
