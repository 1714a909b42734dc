#pragma once
// What sizes a step needs to know before it runs, beside the dims of the buffers that it names.
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// visit(size) with the extents of axes, what places are computed from, and what indices are checked against.
template <class Visit>
void for_each_size(const Stage& stage, Visit visit) {
  for (const Axis& axis : stage.axes) visit(axis.extent);
  for (const Statement& statement : stage.statements) {
    visit(statement.size);
    for (const Subscript& subscript : statement.map.subscripts) {
      visit(subscript.base);
      for (const AxisTerm& term : subscript.axes) visit(term.step);
      if (subscript.index) visit(subscript.index->extent);
    }
  }
}

template <class Visit>
void for_each_size(const Kernel& kernel, Visit visit) {
  for (const Axis& axis : kernel.outer) visit(axis.extent);
  for (const Stage& stage : kernel.stages) for_each_size(stage, visit);
}

template <class Visit>
void for_each_size(const CallArray& array, Visit visit) {
  visit(array.offset);
  visit(array.index_stride);
  for (const Dim& stride : array.strides) visit(stride);
}

template <class Visit>
void for_each_size(const LibraryCall& call, Visit visit) {
  for (const Dim& size : call.sizes) visit(size);
  for_each_array(call, [&](const CallArray& array, const CoreAxes&) { for_each_size(array, visit); });
}

/// By step: what a backend must test before it, and leave with INLAY_SIZE_OVERFLOW where one does not fit in 64 bits:
/// sizes that are compared, that are values, extents or places. (Those of memory are tested by whoever lays it out; in
/// machine code a number wraps around.) Without those that fit in any case. Each is tested once, and as soon as its
/// symbols are known: before bytes of the caller's are written, and in no loop or branch, as the memory of a branch
/// that is not taken is laid out too. Size checks that a program begins with come first, since they say more.
std::vector<std::vector<Dim>> sizes_to_test(const KernelProgram& program);

}  // namespace inlay::kernel
