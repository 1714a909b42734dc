#pragma once
// What a file needs that includes no header of a hosted C: the few of a freestanding one, and declarations.
#include <string>
#include <string_view>

#include "kernel/kernel.h"

namespace inlay::c_backend {

/// Includes, and declarations of what of the C library the code calls. It is the same functions that it calls
/// otherwise: those of libm, which are linked where there are any, and memcpy and memset, which a C compiler calls by
/// itself, so that every environment has them.
std::string freestanding_head(std::string_view code);

/// Are all sizes fixed, and all numbers of points and elements, and all places of elements, far within 32 bits?
bool counts_in_32_bits(const kernel::KernelProgram& program);

}  // namespace inlay::c_backend
