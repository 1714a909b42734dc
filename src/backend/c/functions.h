#pragma once
// The C99 functions that generated code brings with it, and those of the C library that it calls.
//
// The sources lie in functions/*.c: each is a C file that compiles by itself. Of them a program has what it uses.
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.h"

namespace inlay::c_backend {

struct Function {  // or a type
  std::string name;
  std::string text;
  std::vector<std::string> needs;  // others of these, by name
};

/// In an order in which they can stand in one file.
const std::vector<Function>& functions();

/// So many numbers are added one after the other; where there are more, by blocks.
constexpr int kBlockInOrder = 32;

/// What a program makes of types.
struct TypeChoices {
  std::string_view index = "int64_t";  // in which sums are counted
  int sum_parts = 48;
  bool freestanding = false;  // _Complex is no type of such a C, but an extension of the compilers that have it
};
/// Each block has kBlockInOrder points or more, and n blocks have log2(n) + 1 parts at most.
int most_parts(const Dim& most_points);

/// The text of `names` and of what they need.
std::string text_of(const std::set<std::string>& names, const TypeChoices& types = {});
/// Those of a BLAS or a LAPACK that they call: dgemm_.
std::vector<std::string> blas_calls(const std::set<std::string>& names);
bool needs_complex_header(const std::set<std::string>& names);

/// Names of the C library that generated code, or the C compiler in its place, calls.
std::span<const std::string_view> standard_functions();
/// The address of one of them; null where the name is another.
void* find_standard_function(std::string_view name);
}  // namespace inlay::c_backend
