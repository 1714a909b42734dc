#pragma once
// Where a result goes that the caller has given memory for, whichever door it is given at.
#include <span>

#include "runtime/bytes.h"
#include "runtime/object.h"

namespace inlay::runtime {

/// Says why a result is not written at its `place` while the code runs, but computed elsewhere and copied there at the
/// end; null if it is: a call that fails changes no byte there, and nothing is read there after it was written.
/// `arguments`: of the call. `taken`: the one among them whose bytes the result takes over; null if it takes none of
/// theirs. `some_are_late`: some place is for a result whose size is found while the code runs, and may not fit then.
/// The place is row-major.
const char* why_not_written_at(const Bytes& place, const TensorSpec& result, std::span<const Bytes> arguments,
                               const Bytes* taken, bool some_are_late);

}  // namespace inlay::runtime
