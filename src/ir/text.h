#pragma once
// The text form of a Graph: what dumps hold, what program tests are written in, and what `inlay run` reads.
//
//   graph @main(%o: f64[n], %x: f64[m], %g: i64[n] bound {min 0, max 84, sorted}) assume n == m + 1 {
//     %e = exp %x
//     %r = update set %o[1:n], %e
//     return %r
//   }
//
// print -> parse -> print is the identity, so a dump can be fed back. docs/text.md has the grammar.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace inlay {

enum class Show : uint8_t { no, yes };

struct PrintOptions {
  Show types = Show::yes;     // after each statement, for the reader; the parser checks them
  Show locations = Show::no;  // `at "model.py:41"` after each statement
};

/// One statement to a line. Values with a name that is theirs alone print as %name, others as a number, counted in the
/// order of the text: the same graph gives the same text wherever it was built.
std::string print(const Graph& graph, const PrintOptions& options = {});

/// What was read, and everything that is wrong with it, in the order of the text.
struct ParseResult {
  std::optional<Graph> graph;           // only when nothing is wrong
  std::vector<Diagnostic> diagnostics;  // locations are file:line:column
};
ParseResult parse_all(std::string_view text, std::string_view file_name);

/// Sizes by name.
using FixedSizes = std::vector<std::pair<std::string, int64_t>>;

/// The graph, or throws the first thing that is wrong. Each of `sizes` is this number wherever the text has its name:
/// the graph is the one of the text with numbers in it, and has no such symbol. Throws Error(unsupported) for one that
/// a statement finds.
Graph parse(std::string_view text, std::string_view file_name = "<text>", const FixedSizes& sizes = {});

}  // namespace inlay
