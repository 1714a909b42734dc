#pragma once
// What a backend can fuse, and how large a body may get: the fuser and the loop passes ask this, not which backend it
// is.
#include "kernel/blocks.h"
#include "ops/scalar_op.h"

namespace inlay::kernel {

/// How a backend computes a scalar op on many elements.
enum class Support : uint8_t {
  vector,    // whole vectors at a time
  per_lane,  // a function called for each element: the backend's own, or one from inlay's libraries
};

inline std::string_view support_text(Support support) { return support == Support::vector ? "vector" : "per lane"; }

struct BackendCaps {
  Support (*support)(ScalarOp op, DType dtype) = [](ScalarOp, DType) { return Support::vector; };
  int cost_of_call = 20;   // of one call for one element, whatever it computes (ScalarOpFacts::cost)
  int max_body_ops = 100;  // limits a stage's body_length, and a cone's ops: code generation is superlinear past that
  int64_t max_short_side = 16;  // a dot whose summed or result side is at most this may join a loop
  // Stages that share rows or columns (transform/share_rows.cpp). A stage is vectorized along its remaining axes: rows
  // known to be shorter than a vector leave it half empty, which loops over whole arrays avoid.
  int64_t short_row = 16;
  int64_t tile_of_rows = 16;  // values computed once per row are vectorized over these rows; of known length over
                              // as many as have elements_of_tile, from half of these to twice as many
  int64_t elements_of_tile = 2048;
  int64_t tile_of_numbers = 64;  // if rows, maybe short, leave only scalars: a tile's ends cost as much as some rows
  int64_t tile_of_columns = 64;  // a few vectors, so that each cache line is used up while it is there, and the columns
                                 // of a thousand rows stay in the second-level cache
  int64_t wide_tile = 2048;      // for columns whose rows are traversed once: long parts of each, with a sum or two of
                                 // them, stay in the first-level cache
  // A sum of squares about the mean is folded in one pass with the sum (Fold::moments). This pays if the backend folds
  // in lanes, each with its own mean; in order it takes longer than two passes.
  bool moments_in_one_pass = true;
  BlockRule blocks;  // of the loops that are cut, for threads
  // A producer of at most this cost is recomputed instead of stored.
  int max_inline_cost = kCostOfDivision;

  /// Returns the cost of one element of `op` here, in the unit of ScalarOpFacts::cost.
  int cost(ScalarOp op, DType dtype) const {
    return facts(op).cost + (support(op, dtype) == Support::per_lane ? cost_of_call : 0);
  }
};

}  // namespace inlay::kernel
