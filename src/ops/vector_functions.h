#pragma once
// Which functions are the vector math's, in every backend: of eight lanes or of one, they are made of one source.
#include "ops/dtype.h"
#include "ops/scalar_op.h"

namespace inlay {

/// Does the vector math compute `op` of such elements, not instructions or a function of ops/scalar_functions.h? That
/// function, where there is one, is for arguments outside of the domain, and for the oracles: its last bits are others.
bool has_vector_form(ScalarOp op, DType dtype);

}  // namespace inlay
