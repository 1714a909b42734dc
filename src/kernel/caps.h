#pragma once
// What a backend can fuse, and how large a body may get: the fuser and the loop passes ask this, not which backend it
// is.
#include "ops/scalar_op.h"

namespace inlay::kernel {

/// How a backend computes a scalar op on many elements.
enum class Support : uint8_t {
  vector,    // whole vectors at a time
  per_lane,  // a function called for each element: the backend's own, or one that inlay's libraries bring
};

inline std::string_view support_text(Support support) { return support == Support::vector ? "vector" : "per lane"; }

struct BackendCaps {
  Support (*support)(ScalarOp op, DType dtype) = [](ScalarOp, DType) { return Support::vector; };
  int cost_of_call = 20;        // of a function called for each element, whatever it computes (ScalarOpFacts::cost)
  int max_body_ops = 100;       // a stage's body_length, and a cone's ops: code generation is superlinear past that
  int64_t max_short_side = 16;  // a dot whose summed or result side is at most this joins a loop
  // Stages that share rows or columns (transform/share_rows.cpp). A stage's vectors run along what is left of its axes:
  // rows known to be shorter leave them half empty, and loops over whole arrays do not.
  int64_t short_row = 16;
  int64_t tile_of_rows = 8;      // what is made once for each row runs in vectors over them
  int64_t tile_of_numbers = 64;  // where rows that may be short leave nothing but numbers: what begins and ends a tile
                                 // weighs as much as some rows
  int64_t tile_of_columns = 64;  // some vectors, so that each line of memory is used up while it is there, and the
                                 // columns of a thousand rows stay in the second cache
  int64_t wide_tile = 2048;  // of columns whose rows are passed once: long parts of each, and a sum or two of them stay
                             // in the first cache
  // A sum of squares about the mean and the sum are folded in one pass (Fold::moments): for who folds in lanes,
  // each with a mean of its own. In order it takes longer than two passes.
  bool moments_in_one_pass = true;
  // A producer at most this expensive is computed again rather than stored.
  int max_inline_cost = kCostOfDivision;

  /// What one element of `op` takes here, in the unit of ScalarOpFacts::cost.
  int cost(ScalarOp op, DType dtype) const {
    return facts(op).cost + (support(op, dtype) == Support::per_lane ? cost_of_call : 0);
  }
};

}  // namespace inlay::kernel
