#pragma once
// C types and constants of dtypes.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ir/dim.h"
#include "ops/literal.h"

namespace inlay::c_backend {

/// What a piece of C needs to stand before it.
struct Needs {
  std::set<std::string> functions;  // of functions.h

  /// A function that whoever links the file supplies.
  struct External {
    std::string declaration;
    std::string op;
    std::set<std::string> values;  // that it makes, where it makes whole arrays
  };
  std::map<std::string, External> externals;  // by name

  bool in_singles = false;      // of floats: no double between, where functions/single.c has a way
  bool calls_blas = false;      // library ops are those of functions/blas.c, where that has them
  bool folds_in_lanes = false;  // the macro IN_LANES
  Dim most_points = 0;          // of a long sum

  std::string_view lanes() {
    folds_in_lanes = true;
    return "IN_LANES";
  }
  /// `name`, which is noted.
  const std::string& use(const std::string& name) { return *functions.insert(name).first; }
};

/// Of an element in memory: uint8_t for bool, bits for f16 and bf16, void for opaque.
std::string_view memory_type(DType dtype);
/// Of a named value: bool for bool.
std::string_view value_type(DType dtype);
/// How the functions of functions/*.c end: "f64".
std::string suffix(DType dtype);

/// A complex number of its parts. In parentheses: what takes it may be a macro, to which a comma ends an argument.
std::string complex_text(DType dtype, std::string_view re, std::string_view im);

/// A constant of value_type, that reads as the same number.
std::string constant(Needs& needs, const Literal& literal);
/// For tables in memory.
std::string memory_constant(Needs& needs, const Literal& literal);

/// Notes the types of complex numbers.
void use_type(Needs& needs, DType dtype);

}  // namespace inlay::c_backend
