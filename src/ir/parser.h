#pragma once
// The parser of graphs: what its rules share. A rule is a function of the parser, and has its place in the table of
// parse_ops.cpp by the name of its op. Inside ir/ only.
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/parse_sizes.h"
#include "text/cursor.h"

namespace inlay::text {

/// A statement that uses a value whose own statement is wrong: nothing more to say about it.
struct FollowUpError {};

/// `%x` or `%3 "as the user calls it"`, where a value is made.
struct Definition {
  Token label;
  std::string name;
};

/// What is known of one graph. A body is closed: it has a scope of its own.
struct Scope {
  GraphBuilder builder;
  std::map<std::string, ValueId, std::less<>> values;  // none: its statement is wrong
  std::map<std::string, Location, std::less<>> definitions;
  Location location;  // of the statement
};

class Parser {
 public:
  explicit Parser(Tokens tokens) : in(std::move(tokens)), sizes(in, scope.builder) {}

  GraphBuilder& builder() { return scope.builder; }
  const GraphBuilder& builder() const { return scope.builder; }
  const TensorType& type(ValueId v) const { return builder().type(v); }

  /// `{ statements`, up to `return`. What is wrong is noted, and reading goes on behind it.
  void statements();
  Definition label(std::string_view what);
  /// A label that nothing has yet.
  Definition definition();
  void define(const Definition& made, ValueId v);
  ValueId value();
  std::vector<ValueId> operands();
  void expect_no_value() const;
  std::vector<int> axes();
  /// `at "model.py:41"`
  void accept_origin();

  Cursor in;
  Scope scope;
  Sizes sizes;
  int num_host_calls = 0;
  int bodies_around = 0;  // what is read now
};

/// Equal for all sizes that the assumptions of the graph leave.
bool same_dims(const Graph& graph, std::span<const Dim> a, std::span<const Dim> b);

// parse_ops.cpp

/// What stands behind the name of an op, and what it makes.
std::vector<ValueId> results_of(Parser& p, const Token& op);
bool is_op(const std::string& name);

// Rules that have a file of their own.

ValueId literal(Parser& p);
/// `[0:n, 3, %i]` of x.
std::vector<IndexItem> index_of(Parser& p, ValueId x);
std::vector<ValueId> cond(Parser& p);
std::vector<ValueId> loop(Parser& p);

}  // namespace inlay::text
