#pragma once
// What sizes a step needs to know before it runs, beside the dims of the buffers that it names.
#include <concepts>
#include <type_traits>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

template <class T, class... Kinds>
concept AnyOf = (std::same_as<std::remove_const_t<T>, Kinds> || ...);

/// visit(size) with the extents of axes, what places are computed from, and what indices are checked against.
template <AnyOf<Stage> T, class Visit>
void for_each_size(T& stage, Visit visit) {
  for (auto& axis : stage.axes) visit(axis.extent);
  for (auto& statement : stage.statements) {
    visit(statement.size);
    for (auto& subscript : statement.map.subscripts) {
      visit(subscript.base);
      for (auto& term : subscript.axes) visit(term.step);
      if (subscript.index) visit(subscript.index->extent);
    }
  }
}

template <AnyOf<Kernel> T, class Visit>
void for_each_size(T& kernel, Visit visit) {
  for (auto& axis : kernel.outer) visit(axis.extent);
  for (auto& stage : kernel.stages) for_each_size(stage, visit);
}

template <AnyOf<CallArray> T, class Visit>
void for_each_size(T& array, Visit visit) {
  visit(array.offset);
  visit(array.index_stride);
  for (auto& stride : array.strides) visit(stride);
}

template <AnyOf<LibraryCall> T, class Visit>
void for_each_size(T& call, Visit visit) {
  for (auto& size : call.sizes) visit(size);
  for_each_array(call, [&](auto& array, const CoreAxes&) { for_each_size(array, visit); });
}

template <AnyOf<SizeCheck> T, class Visit>
void for_each_size(T& check, Visit visit) {
  visit(check.left);
  visit(check.right);
}

template <AnyOf<LoopBegin> T, class Visit>
void for_each_size(T& loop, Visit visit) {
  visit(loop.count);
}

/// These compute none that is not a buffer's.
template <AnyOf<Copy, HostCall, BindSize, LoopEnd, CondBegin, CondElse, CondEnd> T, class Visit>
void for_each_size(T&, Visit) {}

/// By step: what a backend must test before it, and leave with INLAY_SIZE_OVERFLOW where one does not fit in 64 bits:
/// sizes that are compared, that are values, extents or places. (Those of memory are tested by whoever lays it out; in
/// machine code a number wraps around.) Without those that fit in any case. Each is tested once, and as soon as its
/// symbols are known: before bytes of the caller's are written, and in no loop or branch but where one of its symbols
/// is found there, as the memory of a branch that is not taken is laid out too. Size checks that a program begins with
/// come first, since they say more.
std::vector<std::vector<Dim>> sizes_to_test(const KernelProgram& program);

}  // namespace inlay::kernel
