#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace inlay::c_backend {

/// A relocatable object of C source, by $CC (which may have flags: "ccache gcc") or cc, with $INLAY_CFLAGS behind our
/// own flags. In a folder of its own below $TMPDIR that is removed again, whatever happens.
std::vector<std::byte> object_of(const std::string& source);

}  // namespace inlay::c_backend
