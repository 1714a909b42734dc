#include "ir/mistakes.h"

#include <utility>

namespace inlay {

Error undefined_size(Location location, std::string_view size) {
  return Error(ErrorCode::unknown_name, std::move(location), str("nothing says how large ", size, " is"))
      .help(str("a parameter or a result of a host call has it as a dim of its own, as in f64[", size,
                "], or as_size makes it"));
}

Error negative_position(const GraphDraft& draft, ErrorCode code, std::string message, ValueId x, std::size_t axis,
                        const Dim& position) {
  Error error = draft.error(code, std::move(message)).note("operand", draft.graph().describe(x));
  const Dim from_the_start = draft.type(x).dims[axis] + position;
  if (from_the_start.is_constant() && from_the_start.constant() < 0) return error;
  return std::move(error).help(str("a negative number does not count from the end here: write `",
                                   from_the_start.to_text(draft.graph().symbol_names()), "`"));
}

}  // namespace inlay
