#pragma once
// Transfers: what brings each element of a temporary to its place in a region of another buffer: a slot of a concat, a
// slice of an update, an output.
//
// A value that is brought unchanged can be computed there, and the transfer would write what is there already. One from
// whose elements others are made, one from one, can lie there until they are written over it.
#include <optional>
#include <span>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Element (i, j, ...) of the source comes to lie at offset + sum(strides * (i, j, ...)) of the destination. Both are
/// in elements.
struct Transfer {
  BufferId source, destination;  // roots
  Dim offset;
  std::vector<Dim> strides;    // by dim of the source, as a loop sees it (strides_by_dim); of a Copy none
  bool keeps_order = true;     // are they those of the source itself? Then the region has no gaps
  StepId step;                 // a Copy, or a kernel with
  int stage = -1, store = -1;  // this store
  int origin = -1;             // of the same stage: the load of the source, or the store of the same register to it
};

/// Returns the transfer that a store of a stage makes of what the statement `origin` loads, or also stores, to a
/// temporary; none if it is no transfer. Whether the register that is stored is the one that was loaded, or was made of
/// it, is for the caller to ask.
std::optional<Transfer> transfer_of(const KernelProgram& program, StepId step, int stage, int origin, int store);

/// Returns all transfers, in program order.
std::vector<Transfer> find_transfers(const KernelProgram& program);

/// Which accesses of statements are asked for.
enum class Access : uint8_t { reads, writes, all };

/// Can the step touch the region that the transfer fills, other than by the transfer itself? What is not a kernel can
/// where it names the destination. What a kernel's outputs start with does not count.
bool may_touch(const KernelProgram& program, StepId step, const Transfer& transfer, Access access);

/// Is each place where one of these kernels writes to the buffer behind the one before? Then no two of them touch the
/// same element, which takes a proof for each, not for each pair. (Other steps may be among them.)
bool writes_follow_each_other(const KernelProgram& program, BufferId root, std::span<const StepId> steps);

}  // namespace inlay::kernel
