#pragma once
// The parser of graphs: one class, whose rules have a file for each family. Inside ir/ only.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/compose.h"
#include "ir/cursor.h"
#include "ir/text.h"

namespace inlay::text {

/// A statement that uses a value whose own statement is wrong: nothing more to say about it.
struct FollowUpError {};

/// `%x` or `%3 "as the user calls it"`, where a value is made.
struct Definition {
  Token label;
  std::string name;
};

constexpr int kDeepest = 100;  // sizes within sizes, bodies within bodies

class Parser {
 public:
  explicit Parser(text::Tokens tokens) : in_(std::move(tokens)) {}

  ParseResult run();

 private:
  // parse.cpp: the whole, parameters, names

  enum class NewSymbols : uint8_t { no, yes };

  /// For as long as it lives one more is around what is read.
  class Deeper {
   public:
    Deeper(const Parser& parser, int& around, std::string_view what) : around_(around) {
      if (around_ == kDeepest) {
        throw Error(ErrorCode::unsupported, parser.in_.location(parser.in_.peek()),
                    str(what, " is nested more than ", kDeepest, " deep"));
      }
      ++around_;
    }
    ~Deeper() { --around_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& around_;
  };

  void graph();
  void statements();

  /// Items between commas up to `close`; there may be none.
  template <class Item>
  void list(std::string_view close, Item item) {
    if (in_.accept(close)) return;
    do item();
    while (in_.accept(","));
    in_.expect(close);
  }

  void assumption();
  void outputs();
  void output();
  void check_symbols();
  void param();
  ValueId param(const std::string& name, const TensorType& type);
  void fact(Facts& facts);
  Definition definition();
  void define(const Definition& made, ValueId v);
  ValueId value();

  template <class Map>
  static std::vector<std::string> keys(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : map) names.push_back(name);
    return names;
  }

  Error unknown(const Token& token, std::string_view what, std::string_view sign, const std::vector<std::string>& known,
                ErrorCode code = ErrorCode::unknown_name) const;

  // parse_sizes.cpp: sizes and types

  Dim symbol(const Token& token, NewSymbols allowed);
  Dim dim(NewSymbols allowed = NewSymbols::no);
  Dim dim_product(NewSymbols allowed);
  Dim nested_dim(NewSymbols allowed);
  Dim dim_factor(NewSymbols allowed);

  template <class T>
  T integer(std::string_view sign) {
    const Token& token = in_.expect(Token::Kind::integer, "an integer");
    const std::string digits = str(sign, token.text);
    T result = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (failure != std::errc() || end != digits.data() + digits.size()) {
      throw Error(ErrorCode::syntax, in_.location(token), str(digits, " does not fit 64 bits"));
    }
    return result;
  }

  int64_t signed_integer();
  DType dtype();
  TensorType type(NewSymbols allowed);

  // parse_statement.cpp: a statement, its operands and its index

  void recovering_statement();
  Location statement_location() const;
  void statement(std::vector<Definition>& made);
  Error no_op() const;
  void check_type(const Token& op, ValueId v);
  bool same_dims(std::span<const Dim> a, std::span<const Dim> b) const;
  std::vector<ValueId> right_side(const Token& op);
  static std::vector<std::string> known_ops();
  static bool is_op(const std::string& name);

  using Rule = ValueId (Parser::*)();

  static const std::map<std::string, Rule, std::less<>>& rules();
  std::vector<ValueId> composition(const Token& op);
  ComposeArgument argument();
  std::vector<ValueId> operands();
  void expect_no_value() const;
  std::vector<int> axes();
  Combine combine(std::string_view op, const std::vector<std::string>& ways);
  std::vector<IndexItem> index_of(ValueId x);
  IndexItem index_item(ValueId x, std::size_t axis);
  void require_begin(ValueId x, std::size_t axis, const Dim& start) const;

  // parse_ops.cpp: one rule for each op, in the order of `Op`

  /// A number as it is written: where, and with its sign.
  struct Number {
    Token token;
    std::string text;
  };

  Number number();
  std::vector<Number> element();
  ValueId literal();
  Literal literal(DType dtype, const std::vector<Number>& written) const;
  Literal literal(DType dtype, const Number& number) const;
  static std::optional<int64_t> fitting_integer(DType dtype, const std::string& text);
  ValueId cast();

  /// Ops whose line ends in the result's dtype, or in its whole type.
  template <class Make>
  ValueId declared_result(const char* op, const Token& start, Make make) {
    const TensorType declared = type(NewSymbols::no);
    const bool whole = !declared.dims.empty();
    const ValueId v = make(declared);
    if (!whole || same_dims(declared.dims, builder_.type(v).dims)) return v;
    const bool rank = declared.rank() != builder_.type(v).rank();
    throw Error(rank ? ErrorCode::wrong_rank : ErrorCode::shape_mismatch, in_.location(start),
                str(op, ": the result is ", builder_.graph().type_text(builder_.type(v)), ", not ",
                    builder_.graph().type_text(declared)));
  }

  ValueId broadcast();
  ValueId reshape();
  ValueId to_dims(const char* op, ValueId (GraphBuilder::*make)(ValueId, std::vector<Dim>));
  ValueId transpose();
  ValueId flip();
  ValueId diagonal();
  ValueId slice();
  ValueId gather();
  ValueId update();
  ValueId scatter();
  ValueId write(const char* op,
                ValueId (GraphBuilder::*make)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace));
  ValueId reduce();
  std::vector<ValueId> fold();
  ValueId cumulative();
  ValueId concat();
  ValueId iota();
  ValueId size();
  ValueId as_size();
  std::vector<ValueId> compress();
  Dim bound_symbol();
  ValueId einsum();
  std::vector<ValueId> library_call(LibraryOp op);
  Error no_option(LibraryOp op, const Token& word) const;
  static std::vector<std::string> words(std::string_view text);
  std::vector<ValueId> host_call();

  // parse_regions.cpp: conds, loops, asserts. A body is closed: it has names of its own

  /// `(%a = %x, %b = %y)`: names inside, values outside.
  struct Captured {
    std::vector<Definition> inside;
    std::vector<ValueId> outside;
  };

  void captured(std::string_view word, Captured& out);

  /// What the parser knows of one graph.
  struct Scope {
    GraphBuilder builder;
    std::map<std::string, ValueId, std::less<>> values;
    std::map<std::string, Location, std::less<>> definitions;
    Location location;
  };

  /// `{ statements return ... }` with these parameters. `finish` reads what is returned.
  template <class Finish>
  Graph body(const Definition* step, const Dim& count, const Captured& captured, Finish finish) {
    const Deeper deeper(*this, bodies_around_, "a body");
    Scope outer{std::move(builder_), std::move(values_), std::move(definitions_), location_};
    const auto leave = [&] {
      builder_ = std::move(outer.builder);
      values_ = std::move(outer.values);
      definitions_ = std::move(outer.definitions);
      location_ = outer.location;
    };
    const std::size_t mistakes = in_.diagnostics().size();
    in_.end_line();
    try {
      builder_ = outer.builder.body();
      values_.clear();
      definitions_.clear();
      builder_.at(location_);
      if (step) {
        expect_new(*step);
        define(*step, builder_.step(step->name, count));
      }
      for (std::size_t i = 0; i < captured.inside.size(); ++i) {
        const Definition& made = captured.inside[i];
        expect_new(made);
        define(made, builder_.param(made.name, outer.builder.type(captured.outside[i])));
      }
      statements();
      in_.expect_name("return");
      finish();
      in_.expect("}");
      if (in_.diagnostics().size() > mistakes) throw FollowUpError();
      Graph graph = std::move(builder_).finish();
      leave();
      return graph;
    } catch (...) {
      leave();
      throw;
    }
  }

  void expect_new(const Definition& made) const;
  int returned();
  void accept_origin();
  std::vector<ValueId> cond();
  std::vector<ValueId> loop();
  ValueId assert_that();
  ErrorCode error_code();

  struct SymbolEntry {
    Dim dim;
    Location location;
  };

  Cursor in_;
  GraphBuilder builder_;
  struct Equated {
    ValueId param;
    std::vector<Dim> dims;
    Location location;
  };
  std::vector<Equated> equated_;                        // parameters whose dims have other names than given
  Location location_;                                   // of the statement
  std::map<std::string, ValueId, std::less<>> values_;  // none: its statement is wrong
  std::map<std::string, Location, std::less<>> definitions_;
  std::map<std::string, SymbolEntry, std::less<>> symbols_;
  int num_host_calls_ = 0;
  int sizes_around_ = 0, bodies_around_ = 0;  // what is read now
};

}  // namespace inlay::text
