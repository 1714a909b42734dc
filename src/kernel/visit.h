#pragma once
// Visitors of everything that a statement or a step names, one loop for each kind.
#include <type_traits>
#include <utility>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Calls `visit` with each index of a subscript of the statement's map.
template <class AnyStatement, class Visit>
void for_each_index(AnyStatement& statement, Visit visit) {
  for (auto& subscript : statement.map.subscripts) {
    if (subscript.index) visit(*subscript.index);
  }
}

/// Calls `visit` with each register that the statement reads: its operands, its predicate, its indices.
template <class AnyStatement, class Visit>
void for_each_register(AnyStatement& statement, Visit visit) {
  for (auto& r : statement.operands) visit(r);
  if (statement.predicate.valid()) visit(statement.predicate);
  for_each_index(statement, [&](auto& index) { visit(index.index); });
}

/// Calls `visit` with each buffer that the step names.
template <class AnyStep, class Visit>
void for_each_buffer(AnyStep& step, Visit visit) {
  const auto all = [&](auto& list) {
    for (auto& b : list) visit(b);
  };
  std::visit(
      [&](auto& it) {
        using T = std::decay_t<decltype(it)>;
        if constexpr (std::is_same_v<T, Kernel>) {
          for (auto& output : it.outputs) {
            visit(output.buffer);
            if (output.start.source.valid()) visit(output.start.source);
          }
          for (auto& stage : it.stages) {
            for (auto& s : stage.statements) {
              if (s.buffer.valid()) visit(s.buffer);
            }
          }
          if (it.workspace.valid()) visit(it.workspace);
        } else if constexpr (std::is_same_v<T, LibraryCall>) {
          for_each_array(it, [&](auto& array, const CoreAxes&) {
            visit(array.buffer);
            if (array.index.valid()) visit(array.index);
          });
          if (it.workspace.valid()) visit(it.workspace);
        } else if constexpr (std::is_same_v<T, HostCall>) {
          all(it.operands);
          all(it.results);
        } else if constexpr (std::is_same_v<T, Copy>) {
          visit(it.source);
          visit(it.destination);
        } else if constexpr (std::is_same_v<T, BindSize>) {
          visit(it.value);
        } else if constexpr (std::is_same_v<T, LoopBegin>) {
          visit(it.step);
        } else if constexpr (std::is_same_v<T, LoopEnd>) {
          if (it.go_on.valid()) visit(it.go_on);
        } else if constexpr (std::is_same_v<T, CondBegin>) {
          visit(it.condition);
        } else {
          constexpr bool names_none =
              std::is_same_v<T, SizeCheck> || std::is_same_v<T, CondElse> || std::is_same_v<T, CondEnd>;
          static_assert(names_none, "the buffers of another kind of step");
        }
      },
      step);
}

/// Calls `visit` with each site that the step names.
template <class AnyStep, class Visit>
void for_each_site(AnyStep& step, Visit visit) {
  const auto see = [&](auto& site) {
    if (site.valid()) visit(site);
  };
  std::visit(
      [&](auto& it) {
        using T = std::decay_t<decltype(it)>;
        if constexpr (std::is_same_v<T, Kernel>) {
          for (auto& output : it.outputs) see(output.start.required);
          for (auto& stage : it.stages) {
            for (auto& s : stage.statements) {
              see(s.site);
              for_each_index(s, [&](auto& index) { see(index.site); });
            }
          }
        } else if constexpr (std::is_same_v<T, LibraryCall>) {
          for (auto& site : it.sites) see(site);
        } else if constexpr (requires { it.site; }) {
          see(it.site);
        }
      },
      step);
}

/// Calls `visit` with each symbol whose size the step finds.
template <class AnyStep, class Visit>
void for_each_symbol(AnyStep& step, Visit visit) {
  if (auto* call = std::get_if<HostCall>(&step)) {
    for (auto& binding : call->bindings) visit(binding.symbol);
  } else if (auto* bind = std::get_if<BindSize>(&step)) {
    visit(bind->symbol);
  }
}

/// Returns how many steps use each buffer or a view of it; for a view itself 0.
inline IdMap<BufferId, int> count_users(const KernelProgram& program) {
  IdMap<BufferId, int> users(program.buffers.size(), 0);
  IdMap<BufferId, const Step*> last(program.buffers.size(), nullptr);
  for (const Step& step : program.steps) {
    for_each_buffer(step, [&](BufferId b) {
      const BufferId root = root_of(program, b);
      if (std::exchange(last[root], &step) != &step) ++users[root];
    });
  }
  return users;
}

/// Calls `visit` with each `elided` mark of the step (Note [Elided]).
template <class AnyStep, class Visit>
void for_each_elidable(AnyStep& step, Visit visit) {
  if (auto* copy = std::get_if<Copy>(&step)) visit(copy->elided);
  auto* kernel = std::get_if<Kernel>(&step);
  if (!kernel) return;
  for (auto& output : kernel->outputs) {
    if (output.start.kind == Start::Kind::copy) visit(output.start.elided);
  }
  for (auto& stage : kernel->stages) {
    for (auto& s : stage.statements) {
      if (s.kind == Statement::Kind::store) visit(s.elided);
    }
  }
}

/// Returns how often steps and views name each buffer.
inline IdMap<BufferId, int> count_names(const KernelProgram& program) {
  IdMap<BufferId, int> names(program.buffers.size(), 0);
  for (const Step& step : program.steps) for_each_buffer(step, [&](BufferId b) { ++names[b]; });
  for (const Buffer& buffer : program.buffers) {
    if (buffer.view_of.valid()) ++names[buffer.view_of];
  }
  return names;
}

}  // namespace inlay::kernel
