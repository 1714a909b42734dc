#pragma once
// What the headers that a C file includes call their own: <math.h>, <stdint.h>, <stdbool.h> and <string.h> as C99, C23,
// POSIX and GNU have them. A compiler that is given no -std shows all of these to a file that needs the first alone.
#include <string_view>

namespace inlay::c_backend {

/// A macro takes the name from variables, too.
bool is_macro_of_headers(std::string_view name);

/// In capitals, of which there are several: most names of macros are, in any header. And those of <stdio.h>, which some
/// libraries define as other than themselves.
bool is_named_as_macros(std::string_view name);

/// A macro, a type or a function: no function of another file can have the name.
bool is_of_headers(std::string_view name);

/// inlay/runtime.h has such names.
bool is_of_runtime(std::string_view name);

/// What the other headers of C99 have: no function of a program that includes one of these can have the name. And the
/// names of headers themselves: a file beside them would be taken for one.
bool is_of_library(std::string_view name);

}  // namespace inlay::c_backend
