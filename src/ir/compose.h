#pragma once
// The compositions: what NumPy has as one function and inlay as a few nodes.
//
// A composition is a function that makes nodes (ir/compose_*.h say what each means). The table here gives it a name and
// names to its arguments, for the text form and for Python's graph builder: `%s = softmax %x, axes = [1]`. The printer
// prints the nodes.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/builder.h"

namespace inlay {

/// What was written behind a composition's name.
struct ComposeArgument {
  std::vector<Dim> sizes;  // `1`, `[n, 3]`
  bool is_list = false;
  std::string word;  // `reflect`, `f64`
};
using NamedArguments = std::map<std::string, ComposeArgument, std::less<>>;

/// The nodes of `name` applied to `operands`.
///
/// Errors: unknown-op; wrong-arity of operands; unknown-name of an argument; wrong-dtype of what stands for one; and
/// the composition's own.
std::vector<ValueId> compose(GraphBuilder& b, std::string_view name, const std::vector<ValueId>& operands,
                             const NamedArguments& named);

bool is_composition(std::string_view name);
std::vector<std::string> composition_names();

}  // namespace inlay
