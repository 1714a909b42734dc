#pragma once
// What sizes a step needs to know before it runs, beside the dims of the buffers that it names.
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

}  // namespace inlay::kernel
