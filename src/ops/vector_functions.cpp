#include "ops/vector_functions.h"

#include <algorithm>
#include <string_view>

namespace inlay {
namespace {

constexpr std::string_view kNames[] = {
#define OF_DOUBLES(name) #name,
#define OF_FLOATS(name)
#include "ops/vector_functions.def"
#undef OF_FLOATS
#undef OF_DOUBLES
};

}  // namespace

bool has_vector_form(ScalarOp op, DType dtype) {
  if (!is_float(dtype) || facts(op).cost <= kCostOfRoot) return false;
  return std::ranges::find(kNames, facts(op).name) != std::end(kNames);
}

}  // namespace inlay
