#pragma once
// The sizes that a step computes with, besides the dims of the buffers that it names.
#include <concepts>
#include <type_traits>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

template <class T, class... Kinds>
concept AnyOf = (std::same_as<std::remove_const_t<T>, Kinds> || ...);

/// Calls visit(size) with the extents of axes, the parts of offsets, and the extents that indices are checked against.
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

/// These steps compute with no size besides the dims of buffers.
template <AnyOf<Copy, HostCall, BindSize, LoopEnd, CondBegin, CondElse, CondEnd> T, class Visit>
void for_each_size(T&, Visit) {}

/// Returns, by step, the sizes that a backend must test before it, and end the call with INLAY_SIZE_OVERFLOW if one
/// does not fit in 64 bits: sizes that are compared, and those that are values, extents or offsets. (Sizes of memory
/// are tested where the memory is laid out; in machine code a number wraps around.) Sizes that always fit are left out.
/// Each is tested once, as early as its symbols are known: before bytes of the caller are written, and in a loop or
/// branch only if one of its symbols is found there, since the memory of a branch that is not taken is laid out too.
/// Size checks at the beginning of a program come first, since their errors say more.
std::vector<std::vector<Dim>> sizes_to_test(const KernelProgram& program);

}  // namespace inlay::kernel
