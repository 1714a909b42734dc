#include "runtime/host_result.h"

#include "runtime/type_of.h"

namespace inlay::runtime {

void require_host_functions(const Object& object, const std::function<bool(std::size_t)>& is_given) {
  for (const HostCallSpec& call : object.host_calls) {
    if (call.function < 0 || is_given(static_cast<std::size_t>(call.function))) continue;
    throw Error(ErrorCode::unknown_name, call.location,
                str("host call \"", call.name, "\": no host function ", call.function, " was given"));
  }
}

std::optional<Error> wrong_host_result(const HostCallSpec& call, std::size_t i, std::string_view dtype,
                                       std::span<const int64_t> dims) {
  const TensorSpec& wanted = call.results[i];
  const auto wrong = [&](ErrorCode code) {
    return Error(code, call.location,
                 str(call.name, ": result ", i, " is ", type_text(dtype, dims), ", not ",
                     type_text(wanted.dtype, wanted.dim_texts)));
  };
  if (dtype != wanted.dtype) return wrong(ErrorCode::wrong_dtype);
  if (dims.size() != wanted.dims.size()) return wrong(ErrorCode::wrong_rank);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const SizeExpr& dim = wanted.dims[axis];
    if (dim.is_constant() && dim.items[0].number != dims[axis]) return wrong(ErrorCode::shape_mismatch);
  }
  return std::nullopt;
}

Error wrong_host_results(const HostCallSpec& call, std::string_view came) {
  const std::size_t count = call.results.size();
  std::string declared = str(count == 0 ? "none" : str(count), count < 2 ? " is" : " are", " declared");
  const auto types =
      join(call.results, ", ", [](const TensorSpec& spec) { return type_text(spec.dtype, spec.dim_texts); });
  if (count > 0) declared += str(": ", types);
  return Error(ErrorCode::wrong_argument_count, call.location,
               str("host function `", call.name, "` returned ", came, "; ", declared));
}

}  // namespace inlay::runtime
