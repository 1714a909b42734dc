#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "ir/builder.h"
#include "ir/compose.h"
#include "ir/lexer.h"
#include "ir/linalg.h"
#include "ir/mistakes.h"
#include "ir/nearest.h"
#include "ir/text.h"
#include "support/counted.h"
#include "support/number_text.h"

namespace inlay {
namespace {

using text::Token;

/// The token stream, with what every rule needs: look, expect, and say what was found instead.
class Cursor {
 public:
  explicit Cursor(text::Tokens tokens) : source_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens()[std::min(at_ + ahead, tokens().size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (token.kind != Token::Kind::end) ++at_;
    return token;
  }
  bool at_punctuation(std::string_view mark, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::punctuation && peek(ahead).text == mark;
  }
  bool at_name(std::string_view name) const { return peek().kind == Token::Kind::name && peek().text == name; }
  bool after_comma() const { return at_ > 0 && tokens()[at_ - 1].text == ","; }
  bool accept(std::string_view mark) { return at_punctuation(mark) && (next(), true); }
  bool accept_name(std::string_view name) { return at_name(name) && (next(), true); }

  void expect(std::string_view mark) {
    if (!accept(mark)) fail_expected(str("`", mark, "`"));
  }
  const Token& expect(Token::Kind kind, std::string_view what) {
    if (peek().kind != kind) fail_expected(what);
    return next();
  }
  void expect_name(std::string_view name) {
    if (!accept_name(name)) fail_expected(str("`", name, "`"));
  }

  Location location(const Token& token) const { return text::location_of(token, source_.file_name); }
  /// On a statement's own line, where that is what goes on too soon.
  Error expected(std::string_view what) const {
    const bool over = line_is_over();
    return {ErrorCode::syntax, over ? end_of_line() : location(peek()),
            str("expected ", what, ", found ", over ? "the end of the line" : text::describe(peek()))};
  }
  [[noreturn]] void fail_expected(std::string_view what) const { throw expected(what); }

  std::size_t position() const { return at_; }

  /// From here to `end_line`, a statement is read that stands on one line.
  void begin_line() { line_start_ = at_; }
  void end_line() { line_start_ = kNoLine; }
  /// Is the line at its end, and the statement not?
  bool line_is_over() const { return line_start_ < at_ && peek().first_on_line; }

  /// On to the first token of the next line.
  void skip_line() {
    do next();
    while (peek().kind != Token::Kind::end && !peek().first_on_line);
  }

  /// On to the first line behind every brace that was opened since `start`.
  void skip_braces_since(std::size_t start) {
    int open = 0;
    for (std::size_t seen = start;; skip_line()) {
      for (; seen < at_; ++seen) {
        if (tokens()[seen].kind != Token::Kind::punctuation) continue;
        open += tokens()[seen].text == "{" ? 1 : tokens()[seen].text == "}" ? -1 : 0;
      }
      if (open <= 0 || peek().kind == Token::Kind::end) return;
    }
  }
  std::vector<Diagnostic>& diagnostics() { return source_.diagnostics; }

 private:
  static constexpr std::size_t kNoLine = std::numeric_limits<std::size_t>::max();

  const std::vector<Token>& tokens() const { return source_.tokens; }

  Location end_of_line() const {
    Token last = tokens()[at_ - 1];
    const bool has_sign = last.kind == Token::Kind::value || last.kind == Token::Kind::global;
    last.column += static_cast<int>(last.text.size()) + (has_sign ? 1 : 0);
    return location(last);
  }

  text::Tokens source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = kNoLine;
};

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

  ParseResult run() {
    ParseResult result;
    try {
      graph();
      check_symbols();
      if (in_.diagnostics().empty()) result.graph = std::move(builder_).finish();
    } catch (const Error& error) {
      in_.diagnostics().push_back(error.diagnostic());
    }
    result.diagnostics = std::move(in_.diagnostics());
    return result;
  }

 private:
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

  // The whole.

  void graph() {
    in_.expect_name("graph");
    builder_ = GraphBuilder(in_.expect(Token::Kind::global, "the graph's name, such as `@main`").text);
    if (in_.accept("[")) {
      list("]", [&] { symbol(in_.expect(Token::Kind::name, "a symbol"), NewSymbols::yes); });
    }
    in_.expect("(");
    list(")", [&] { param(); });
    if (in_.accept_name("assume")) {
      do assumption();
      while (in_.accept(","));
    }
    for (auto& [param, dims] : equated_) builder_.equate_dims(param, std::move(dims));
    statements();
    outputs();
    in_.expect("}");
    if (in_.peek().kind != Token::Kind::end) in_.fail_expected("the end of the text");
  }

  void statements() {
    in_.expect("{");
    while (!in_.at_name("return")) {
      if (in_.at_punctuation("}") || in_.peek().kind == Token::Kind::end) in_.fail_expected("`return`");
      recovering_statement();
    }
  }

  /// Items between commas up to `close`; there may be none.
  template <class Item>
  void list(std::string_view close, Item item) {
    if (in_.accept(close)) return;
    do item();
    while (in_.accept(","));
    in_.expect(close);
  }

  void assumption() {
    builder_.at(in_.location(in_.peek()));
    const Dim left = dim();
    in_.expect("==");
    builder_.assume_equal(left, dim());
  }

  void outputs() {
    in_.expect_name("return");
    if (in_.at_punctuation("}")) return;
    do output();
    while (in_.accept(","));
  }

  void output() {
    std::string name;
    if (in_.at_punctuation("=", 1)) {
      const Token& token = in_.peek();
      if (token.kind != Token::Kind::name && token.kind != Token::Kind::string) in_.fail_expected("the output's name");
      const auto& outputs = builder_.graph().outputs;
      if (!token.text.empty() && std::ranges::find(outputs, token.text, &Output::name) != outputs.end()) {
        throw Error(ErrorCode::duplicate_name, in_.location(token), str("two results are named ", token.text));
      }
      name = in_.next().text;
      in_.expect("=");
    }
    try {
      builder_.output(value(), name);
    } catch (const FollowUpError&) {
    }
  }

  /// After a statement that is wrong, what it would have bound is bound by nothing: that follows from it.
  void check_symbols() {
    if (!in_.diagnostics().empty()) return;
    for (const auto& [name, entry] : symbols_) {
      if (builder_.graph().symbols[entry.dim.as_symbol()].source.valid()) continue;
      throw undefined_size(entry.location, name);
    }
  }

  // Parameters.

  void param() {
    const Definition made = definition();
    in_.expect(":");
    const TensorType declared = type(NewSymbols::yes);
    TensorType given{declared.dtype, {}};
    const bool has_given = in_.accept_name("given");
    if (has_given) {
      in_.expect("[");
      list("]", [&] { given.dims.push_back(dim(NewSymbols::yes)); });
    }
    builder_.at(in_.location(made.label));
    const ValueId v = param(made.name, has_given ? given : declared);
    define(made, v);
    if (has_given) equated_.emplace_back(v, declared.dims);
  }

  ValueId param(const std::string& name, const TensorType& type) {
    if (in_.accept_name("donated")) return builder_.donated(name, type);
    if (!in_.accept_name("bound")) return builder_.param(name, type);
    Facts facts;
    if (in_.accept("{")) list("}", [&] { fact(facts); });
    return builder_.bound(name, type, facts);
  }

  void fact(Facts& facts) {
    if (in_.accept_name("sorted")) {
      facts.sorted = true;
    } else if (in_.accept_name("min")) {
      facts.least = signed_integer();
      in_.expect(",");
      in_.expect_name("max");
      facts.greatest = signed_integer();
      facts.has_range = true;
    } else {
      in_.fail_expected("a fact: `min a, max b` or `sorted`");
    }
  }

  // Names.

  Definition definition() {
    Definition made{in_.expect(Token::Kind::value, "a value's name, such as `%x`"), {}};
    if (text::is_identifier(made.label.text)) made.name = made.label.text;
    if (in_.peek().kind == Token::Kind::string) made.name = in_.next().text;
    if (values_.contains(made.label.text)) {
      throw Error(ErrorCode::duplicate_name, in_.location(made.label), str("%", made.label.text, " is defined twice"))
          .note("first", definitions_[made.label.text].text);
    }
    return made;
  }

  void define(const Definition& made, ValueId v) {
    values_[made.label.text] = v;
    definitions_[made.label.text] = in_.location(made.label);
  }

  ValueId value() {
    if (in_.line_is_over() && !in_.after_comma()) in_.fail_expected("a value, such as `%x`");
    const Token::Kind kind = in_.peek().kind;
    if (kind == Token::Kind::integer || kind == Token::Kind::real || in_.at_punctuation("-")) {
      const std::string number = in_.at_punctuation("-") ? str("-", in_.peek(1).text) : in_.peek().text;
      throw Error(ErrorCode::syntax, in_.location(in_.peek()),
                  str("expected a value, such as `%x`, found `", number, "`"))
          .help(str("a number is a value of its own: `%c = literal ", number, " : f64`"));
    }
    if (in_.at_punctuation("(")) {
      throw in_.expected("a value, such as `%x`").help("operands stand without parentheses: `exp %x`");
    }
    if (kind == Token::Kind::name && is_op(in_.peek().text)) {
      throw in_.expected("a value, such as `%x`")
          .help(str("each op has a line of its own: `%a = ", in_.peek().text, " ...`, and here `%a`"));
    }
    if (kind == Token::Kind::name && values_.contains(in_.peek().text)) {
      throw in_.expected("a value, such as `%x`").help(str("did you mean %", in_.peek().text, "?"));
    }
    const Token token = in_.expect(Token::Kind::value, "a value, such as `%x`");
    const auto found = values_.find(token.text);
    if (found == values_.end()) throw unknown(token, "value", "%", keys(values_));
    if (!found->second.valid()) throw FollowUpError();
    return found->second;
  }

  template <class Map>
  static std::vector<std::string> keys(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : map) names.push_back(name);
    return names;
  }

  Error unknown(const Token& token, std::string_view what, std::string_view sign, const std::vector<std::string>& known,
                ErrorCode code = ErrorCode::unknown_name) const {
    Error error(code, in_.location(token), str("there is no ", what, " ", sign, token.text));
    const auto of_numpy = text::word_for_numpy(token.text);
    const bool fits = of_numpy && std::ranges::find(known, of_numpy->substr(0, of_numpy->find(' '))) != known.end();
    const auto guess = fits ? of_numpy : text::nearest(token.text, known);
    return guess ? std::move(error).help(str("did you mean ", sign, *guess, "?")) : error;
  }

  // Sizes and types.

  Dim symbol(const Token& token, NewSymbols allowed) {
    const auto found = symbols_.find(token.text);
    if (found != symbols_.end()) return found->second.dim;
    if (allowed == NewSymbols::no) throw unknown(token, "symbol", "", keys(symbols_));
    const Dim made = builder_.symbol(token.text);
    symbols_[token.text] = {made, in_.location(token)};
    return made;
  }

  Dim dim(NewSymbols allowed = NewSymbols::no) {
    Dim sum = in_.accept("-") ? Dim(0) - dim_product(allowed) : dim_product(allowed);
    for (;;) {
      if (in_.accept("+")) {
        sum = sum + dim_product(allowed);
      } else if (in_.accept("-")) {
        sum = sum - dim_product(allowed);
      } else {
        return sum;
      }
    }
  }

  Dim dim_product(NewSymbols allowed) {
    Dim result = dim_factor(allowed);
    while (in_.accept("*")) result = result * dim_factor(allowed);
    return result;
  }

  /// A size within a size goes one deeper; a text that nests without end is refused, where it would end the stack.
  Dim nested_dim(NewSymbols allowed) {
    const Deeper deeper(*this, sizes_around_, "a size");
    return dim(allowed);
  }

  Dim dim_factor(NewSymbols allowed) {
    if (in_.peek().kind == Token::Kind::integer) return integer<int64_t>("");
    if (in_.accept("(")) {
      const Dim inner = nested_dim(allowed);
      in_.expect(")");
      return inner;
    }
    const Token token = in_.expect(Token::Kind::name, "a size");
    if (!in_.at_punctuation("(")) return symbol(token, allowed);
    in_.expect("(");
    const Dim a = nested_dim(allowed);
    in_.expect(",");
    const Dim b = nested_dim(allowed);
    in_.expect(")");
    if (token.text == "min") return min(a, b);
    if (token.text == "max") return max(a, b);
    if (token.text != "floordiv") throw unknown(token, "function of sizes", "", {"min", "max", "floordiv"});
    if (b.is_constant() && b.constant() <= 0) {
      throw Error(ErrorCode::syntax, in_.location(token), "floordiv: the divisor is not positive");
    }
    return floor_div(a, b);
  }

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
  int64_t signed_integer() { return integer<int64_t>(in_.accept("-") ? "-" : ""); }

  DType dtype() {
    const Token token = in_.expect(Token::Kind::name, "a dtype");
    if (const auto found = dtype_from_name(token.text)) return *found;
    std::vector<std::string> known;
    for (int i = 0; i < kNumDTypes; ++i) known.emplace_back(dtype_name(static_cast<DType>(i)));
    throw unknown(token, "dtype", "", known);
  }

  TensorType type(NewSymbols allowed) {
    TensorType result{dtype(), {}};
    if (in_.accept("[")) list("]", [&] { result.dims.push_back(dim(allowed)); });
    return result;
  }

  // Statements.

  /// Each on a line of its own, or with `;` between them.
  void recovering_statement() {
    std::vector<Definition> made;
    const std::size_t start = in_.position();
    in_.begin_line();
    try {
      statement(made);
      in_.end_line();
      if (!in_.accept(";") && !in_.peek().first_on_line) in_.fail_expected("the end of the line");
      return;
    } catch (const FollowUpError&) {
    } catch (const Error& error) {
      in_.diagnostics().push_back(error.diagnostic());
    }
    in_.end_line();
    for (const Definition& d : made) define(d, ValueId());
    if (!in_.peek().first_on_line || in_.position() == start) in_.skip_line();
    in_.skip_braces_since(start);  // the whole region
  }

  /// What the line says of its origin, or else its own place.
  Location statement_location() const {
    for (std::size_t i = 1; in_.peek(i).kind != Token::Kind::end && !in_.peek(i).first_on_line; ++i) {
      const bool origin = in_.peek(i).kind == Token::Kind::name && in_.peek(i).text == "at";
      if (origin && in_.peek(i + 1).kind == Token::Kind::string) return {in_.peek(i + 1).text};
    }
    return in_.location(in_.peek());
  }

  void statement(std::vector<Definition>& made) {
    location_ = statement_location();
    if (!in_.at_name("host_call") && !in_.at_name("loop") && !in_.at_name("cond")) {
      do made.push_back(definition());
      while (in_.accept(","));
      in_.expect("=");
    }
    if (in_.peek().kind != Token::Kind::name) throw no_op();
    const Token op = in_.next();
    builder_.at(location_);
    const std::size_t known = builder_.graph().values.size();
    const std::vector<ValueId> results = right_side(op);
    if (results.size() != made.size()) {
      throw Error(ErrorCode::wrong_arity, location_,
                  str(op.text, ": has ", counted(results.size(), "result"), ", and the line names ", made.size()));
    }
    if (!results.empty() && in_.accept(":")) {
      for (std::size_t i = 0; i == 0 || in_.accept(","); ++i) {
        if (i == results.size()) in_.fail_expected("the end of the line");
        check_type(op, results[i]);
      }
    }
    if (in_.accept_name("at")) in_.expect(Token::Kind::string, "where it comes from, in quotes");
    for (std::size_t i = 0; i < results.size(); ++i) {
      define(made[i], results[i]);
      // An op that changes nothing gives its operand, which has a name already.
      if (results[i].index >= known && !made[i].name.empty()) builder_.name(results[i], made[i].name);
    }
  }

  /// An expression or a number stands where an op is expected.
  Error no_op() const {
    static const std::map<std::string, std::string_view, std::less<>> kOps = {
        {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"**", "pow"},        {"//", "floor_div"},
        {"%", "mod"}, {"==", "eq"}, {"!=", "ne"}, {"<", "lt"},  {"<=", "le"},         {">", "gt"},
        {">=", "ge"}, {"&", "and"}, {"|", "or"},  {"^", "xor"}, {"<<", "left_shift"}, {">>", "right_shift"}};
    Error error = in_.expected("an op");
    if (in_.line_is_over()) return error;
    const Token& first = in_.peek();
    const bool is_minus = in_.at_punctuation("-");
    if ((is_minus || in_.at_punctuation("~")) && in_.peek(1).kind == Token::Kind::value) {
      return std::move(error).help(
          str("the op stands before its operands: `", is_minus ? "neg" : "not", " %", in_.peek(1).text, "`"));
    }
    const bool is_doubled = kOps.contains(in_.peek(1).text + in_.peek(2).text);
    const std::string sign = str(in_.peek(1).text, is_doubled ? in_.peek(2).text : "");
    const Token& second = in_.peek(is_doubled ? 3 : 2);
    if (first.kind == Token::Kind::integer || first.kind == Token::Kind::real) {
      return std::move(error).help(str("a number is `literal ", first.text, " : f64`"));
    }
    if (first.kind == Token::Kind::value && in_.at_punctuation("[", 1)) {
      return std::move(error).help(str("a part of %", first.text, " is `slice %", first.text, "[...]`"));
    }
    const auto op = kOps.find(sign);
    if (first.kind == Token::Kind::value && op != kOps.end()) {
      const auto before = str("the op stands before its operands: `", op->second, " %", first.text, ", %");
      if (second.kind == Token::Kind::value) return std::move(error).help(str(before, second.text, "`"));
      if (second.kind == Token::Kind::integer || second.kind == Token::Kind::real) {
        const auto x = values_.find(first.text);
        const bool is_known = x != values_.end() && x->second.valid();
        const DType dtype = is_known ? builder_.type(x->second).dtype : DType::f64;
        return std::move(error).help(str(before, "c`, where a number is a value of its own: `%c = literal ",
                                         second.text, " : ", dtype_name(dtype), "`"));
      }
    }
    return std::move(error).help("a line is one op and its operands: `%z = add %x, %y`");
  }

  void check_type(const Token& op, ValueId v) {
    const Token start = in_.peek();
    const TensorType written = type(NewSymbols::no);
    const TensorType& inferred = builder_.type(v);
    ErrorCode code = ErrorCode::shape_mismatch;
    if (written.dtype != inferred.dtype) {
      code = ErrorCode::wrong_dtype;
    } else if (written.rank() != inferred.rank()) {
      code = ErrorCode::wrong_rank;
    } else if (same_dims(written.dims, inferred.dims)) {
      return;
    }
    throw Error(code, in_.location(start),
                str(op.text, ": the result is ", builder_.graph().type_text(inferred), ", not ",
                    builder_.graph().type_text(written)));
  }

  /// Equal for all sizes that the assumptions leave.
  bool same_dims(std::span<const Dim> a, std::span<const Dim> b) const {
    const auto same = [&](const Dim& left, const Dim& right) {
      if (same_dim(left, right) != Answer::unknown) return left == right;
      for (const auto& [x, y] : builder_.graph().assumptions) {
        if (left - right == x - y || left - right == y - x) return true;
      }
      return false;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  }

  std::vector<ValueId> right_side(const Token& op) {
    if (op.text == "host_call") return host_call();
    if (op.text == "compress") return compress();
    if (op.text == "cond") return cond();
    if (op.text == "loop") return loop();
    const auto rule = rules().find(op.text);
    if (rule != rules().end()) return {(this->*rule->second)()};
    if (is_composition(op.text)) return composition(op);
    if (const auto scalar = scalar_op_from_name(op.text)) return {builder_.scalar(*scalar, operands())};
    if (const auto library = library_op_from_name(op.text)) return library_call(*library);
    const Error error = unknown(op, "op", "", known_ops(), ErrorCode::unknown_op);
    if (values_.contains(op.text)) throw Error(error).help("a line is one op and its operands: `%z = add %x, %y`");
    const Token& behind = in_.peek(1);
    if (!in_.at_punctuation(".") || behind.first_on_line || behind.kind != Token::Kind::name) throw error;
    throw Error(error).help(str("ops are no members of `", op.text, "`: write `", behind.text, "`"));
  }

  static std::vector<std::string> known_ops() {
    std::vector<std::string> known = keys(rules());
    known.insert(known.end(), {"host_call", "compress", "cond", "loop"});
    for (const std::string& name : composition_names()) known.push_back(name);
    for (int i = 0; i < kNumScalarOps; ++i) known.emplace_back(facts(static_cast<ScalarOp>(i)).name);
    for (int i = 0; i < kNumLibraryOps; ++i) known.emplace_back(facts(static_cast<LibraryOp>(i)).name);
    return known;
  }
  static bool is_op(const std::string& name) { return std::ranges::count(known_ops(), name) > 0; }

  using Rule = ValueId (Parser::*)();
  static const std::map<std::string, Rule, std::less<>>& rules() {
    static const std::map<std::string, Rule, std::less<>> kRules = {
        {"literal", &Parser::literal},    {"cast", &Parser::cast},       {"broadcast", &Parser::broadcast},
        {"reshape", &Parser::reshape},    {"flip", &Parser::flip},       {"transpose", &Parser::transpose},
        {"slice", &Parser::slice},        {"gather", &Parser::gather},   {"update", &Parser::update},
        {"scatter", &Parser::scatter},    {"reduce", &Parser::reduce},   {"concat", &Parser::concat},
        {"iota", &Parser::iota},          {"size", &Parser::size},       {"einsum", &Parser::einsum},
        {"assert", &Parser::assert_that}, {"as_size", &Parser::as_size}, {"cumulative", &Parser::cumulative},
        {"diagonal", &Parser::diagonal},
    };
    return kRules;
  }

  /// `softmax %x, axes = [1]`: operands, then named arguments.
  std::vector<ValueId> composition(const Token& op) {
    std::vector<ValueId> values;
    NamedArguments named;
    const auto item = [&] {
      if (in_.peek().kind == Token::Kind::value && named.empty()) {
        values.push_back(value());
        return;
      }
      if (in_.at_punctuation("(")) {
        throw in_.expected("an operand, or the name of an argument")
            .help(str("operands stand without parentheses: `", op.text, " %x`"));
      }
      const Token name = in_.expect(Token::Kind::name, "an operand, or the name of an argument");
      in_.expect("=");
      if (!named.emplace(name.text, argument()).second) {
        throw Error(ErrorCode::duplicate_name, in_.location(name), str(op.text, ": `", name.text, "` is given twice"));
      }
    };
    do item();
    while (in_.accept(","));
    expect_no_value();
    return compose(builder_, op.text, values, named);
  }

  /// `[n, 3]`, a size, or a word.
  ComposeArgument argument() {
    ComposeArgument out;
    if (in_.accept("[")) {
      out.is_list = true;
      list("]", [&] { out.sizes.push_back(dim()); });
      return out;
    }
    const bool word = in_.peek().kind == Token::Kind::name && !in_.at_punctuation("(", 1);
    if (word) out.word = in_.peek().text;
    if (word && !symbols_.contains(out.word)) {
      in_.next();
    } else {
      out.sizes.push_back(dim());
    }
    return out;
  }

  std::vector<ValueId> operands() {
    std::vector<ValueId> values;
    do values.push_back(value());
    while (in_.accept(","));
    expect_no_value();
    return values;
  }

  void expect_no_value() const {
    if (in_.line_is_over() || in_.peek().kind != Token::Kind::value) return;
    throw in_.expected("`,` or the end of the line").help("commas stand between operands: `add %x, %y`");
  }

  std::vector<int> axes() {
    std::vector<int> result;
    in_.expect("[");
    list("]", [&] { result.push_back(static_cast<int>(signed_integer())); });
    return result;
  }

  /// How `op` combines, which is one of `ways`.
  Combine combine(std::string_view op, const std::vector<std::string>& ways) {
    const std::string all = join(ways, ", ");
    const Token token = in_.expect(Token::Kind::name, str("how to combine: ", all));
    if (std::ranges::find(ways, token.text) != ways.end()) return *combine_from_name(token.text);
    const auto of_numpy = text::way_for_numpy(token.text);
    const auto guess = of_numpy ? of_numpy : text::nearest(token.text, ways);
    throw Error(ErrorCode::unknown_name, in_.location(token), str(op, ": there is no way to combine ", token.text))
        .help(str(guess ? str("did you mean ", *guess, "? ") : "", op, " takes ", all));
  }

  /// `[0:n, 3, %i]` of x.
  std::vector<IndexItem> index_of(ValueId x) {
    std::vector<IndexItem> index;
    in_.expect("[");
    list("]", [&] { index.push_back(index_item(x, index.size())); });
    return index;
  }

  IndexItem index_item(ValueId x, std::size_t axis) {
    if (in_.peek().kind == Token::Kind::value) return IndexItem::through(value());
    const bool open_start = in_.at_punctuation(":");
    Dim start = open_start ? Dim(0) : dim();
    if (!in_.accept(":")) return IndexItem::at(start);
    const bool open = in_.at_punctuation(":") || in_.at_punctuation(",") || in_.at_punctuation("]");
    if ((open || open_start) && axis >= builder_.type(x).dims.size()) {
      throw Error(ErrorCode::wrong_rank, location_,
                  str("an index for axis ", axis, " of a rank ", builder_.type(x).rank(), " value"))
          .note("operand", builder_.graph().describe(x));
    }
    Dim stop = open ? builder_.type(x).dims[axis] : dim();
    const int64_t step = in_.accept(":") ? signed_integer() : 1;
    if (step < 0 && !open_start) require_begin(x, axis, start);
    if (step < 0 && open_start) start = builder_.type(x).dims[axis] - 1;
    if (step < 0 && open) stop = -1;
    return IndexItem::range(start, stop, step);
  }

  /// (A range that goes down and begins at -1 has no elements: of an array without any it is the whole.)
  void require_begin(ValueId x, std::size_t axis, const Dim& start) const {
    if (axis >= builder_.type(x).dims.size() || !start.is_constant() || start.constant() >= 0) return;
    throw negative_position(builder_, ErrorCode::slice_out_of_range,
                            str("axis ", axis, " begins at ", start.constant(), ", before 0"), x, axis, start);
  }

  // One rule for each op, in the order of `Op`.

  /// A number as it is written: where, and with its sign.
  struct Number {
    Token token;
    std::string text;
  };

  Number number() {
    const std::string sign = in_.accept("-") ? "-" : "";
    const Token& token = in_.peek();
    const bool known_name = token.kind == Token::Kind::name && (token.text == "true" || token.text == "false" ||
                                                                token.text == "inf" || token.text == "nan");
    if (token.kind != Token::Kind::integer && token.kind != Token::Kind::real && !known_name) {
      in_.fail_expected("a number");
    }
    return {token, sign + in_.next().text};
  }

  /// One number, or a complex one by its parts: (1.5, -2).
  std::vector<Number> element() {
    if (!in_.accept("(")) return {number()};
    std::vector<Number> parts = {number()};
    in_.expect(",");
    parts.push_back(number());
    in_.expect(")");
    return parts;
  }

  ValueId literal() {
    std::vector<std::vector<Number>> elements;
    const bool scalar = !in_.accept("[");
    if (scalar) {
      elements.push_back(element());
    } else {
      list("]", [&] { elements.push_back(element()); });
    }
    in_.expect(":");
    const TensorType declared = type(NewSymbols::no);
    std::vector<Literal> values;
    for (const std::vector<Number>& written : elements) values.push_back(literal(declared.dtype, written));
    if (scalar && declared.dims.empty()) return builder_.literal(values[0]);
    return builder_.literal(std::move(values), declared.dims);
  }

  Literal literal(DType dtype, const std::vector<Number>& written) const {
    if (is_complex(dtype) && written.size() == 2) {
      const DType part = real_of(dtype);
      return Literal::of_float(dtype, literal(part, written[0]).f, literal(part, written[1]).f);
    }
    if (is_complex(dtype)) return Literal::of_float(dtype, literal(real_of(dtype), written[0]).f);
    if (written.size() == 1) return literal(dtype, written[0]);
    throw Error(ErrorCode::wrong_dtype, in_.location(written[0].token),
                str("literal: (", written[0].text, ", ", written[1].text, ") is no ", dtype_name(dtype)));
  }

  Literal literal(DType dtype, const Number& number) const {
    const auto& [token, text] = number;
    const bool is_word = token.kind == Token::Kind::name && token.text != "inf" && token.text != "nan";
    if (is_float(dtype) && !is_word) {
      if (const auto value = number_of(text)) return Literal::of_float(dtype, *value);
    }
    if (dtype == DType::boolean && (text == "true" || text == "false"))
      return Literal::of_integer(dtype, text == "true");
    if (is_integer(dtype) && token.kind == Token::Kind::integer) {
      if (const auto value = fitting_integer(dtype, text)) return Literal::of_integer(dtype, *value);
    }
    throw Error(ErrorCode::wrong_dtype, in_.location(token), str("literal: ", text, " is no ", dtype_name(dtype)));
  }

  /// u64 as its bits.
  static std::optional<int64_t> fitting_integer(DType dtype, const std::string& text) {
    const char *first = text.data(), *last = text.data() + text.size();
    if (dtype == DType::u64) {
      uint64_t value = 0;
      const auto read = std::from_chars(first, last, value);
      return read.ec == std::errc() && read.ptr == last ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
    }
    int64_t value = 0;
    const auto read = std::from_chars(first, last, value);
    const int bits = static_cast<int>(size_bytes(dtype)) * 8;
    const bool is_signed = is_signed_integer(dtype);
    const int64_t least = is_signed ? -(int64_t{1} << (bits - 2)) * 2 : 0;
    const int64_t greatest = is_signed ? -(least + 1) : (int64_t{1} << bits) - 1;
    const bool fits = read.ec == std::errc() && read.ptr == last && value >= least && value <= greatest;
    return fits ? std::optional(value) : std::nullopt;
  }

  ValueId cast() {
    const ValueId x = value();
    in_.expect(":");
    const Token start = in_.peek();
    return declared_result("cast", start, [&](const TensorType& t) { return builder_.cast(x, t.dtype); });
  }

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

  ValueId broadcast() { return to_dims("broadcast", &GraphBuilder::broadcast); }
  ValueId reshape() { return to_dims("reshape", &GraphBuilder::reshape); }

  ValueId to_dims(const char* op, ValueId (GraphBuilder::*make)(ValueId, std::vector<Dim>)) {
    const ValueId x = value();
    in_.expect(":");
    const Token start = in_.peek();
    TensorType declared = type(NewSymbols::no);
    if (declared.dtype != builder_.type(x).dtype) {
      throw Error(ErrorCode::wrong_dtype, in_.location(start),
                  str(op, ": from ", dtype_name(builder_.type(x).dtype), " to ", dtype_name(declared.dtype)))
          .help("cast changes the dtype");
    }
    return (builder_.*make)(x, std::move(declared.dims));
  }

  ValueId transpose() {
    const ValueId x = value();
    return builder_.transpose(x, axes());
  }

  ValueId flip() {
    const ValueId x = value();
    return builder_.flip(x, axes());
  }

  ValueId diagonal() {
    const ValueId x = value();
    const Token start = in_.peek();
    const std::vector<int> over = axes();
    if (over.size() == 2) return builder_.diagonal(x, over[0], over[1]);
    throw Error(ErrorCode::wrong_arity, in_.location(start), str("diagonal: takes 2 axes, not ", over.size()));
  }

  ValueId slice() {
    const ValueId x = value();
    return builder_.slice(x, index_of(x));
  }

  ValueId gather() {
    const ValueId x = value();
    std::vector<IndexItem> index = index_of(x);
    const bool named = in_.accept_name("as");
    return builder_.gather(x, std::move(index), named ? in_.expect(Token::Kind::string, "an op in quotes").text : "");
  }

  ValueId update() { return write("update", &GraphBuilder::update); }
  ValueId scatter() { return write("scatter", &GraphBuilder::scatter); }

  ValueId write(const char* op,
                ValueId (GraphBuilder::*make)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace)) {
    const InPlace in_place = in_.accept("!") ? InPlace::required : InPlace::wanted;
    const Combine how = combine(op, {"set", "add", "mul", "max", "min"});
    const ValueId x = value();
    std::vector<IndexItem> index = index_of(x);
    in_.expect(",");
    const ValueId v = value();
    return (builder_.*make)(how, x, std::move(index), v, in_place);
  }

  ValueId reduce() {
    const Combine how = combine("reduce", {"add", "mul", "max", "min", "and", "or", "xor"});
    const ValueId x = value();
    const std::vector<int> over = axes();
    in_.expect(":");
    const Token start = in_.peek();
    return declared_result("reduce", start,
                           [&](const TensorType& t) { return builder_.reduce(how, x, over, t.dtype); });
  }

  ValueId cumulative() {
    const Combine how = combine("cumulative", {"add", "mul", "max", "min"});
    const ValueId x = value();
    const std::vector<int> along = axes();
    if (along.size() != 1) throw Error(ErrorCode::wrong_arity, location_, "cumulative: runs along one axis");
    in_.expect(":");
    const Token start = in_.peek();
    return declared_result("cumulative", start,
                           [&](const TensorType& t) { return builder_.cumulative(how, x, along[0], t.dtype); });
  }

  ValueId concat() {
    const int axis = static_cast<int>(signed_integer());
    return builder_.concat(operands(), axis);
  }

  ValueId iota() {
    const Dim length = dim();
    in_.expect(":");
    const Token start = in_.peek();
    return declared_result("iota", start, [&](const TensorType& t) { return builder_.iota(length, t.dtype); });
  }

  ValueId size() { return builder_.size(dim()); }

  ValueId as_size() {
    const ValueId n = value();
    return builder_.as_size(n, bound_symbol());
  }

  std::vector<ValueId> compress() {
    std::vector<ValueId> all = operands();
    return builder_.compress(all[0], {all.begin() + 1, all.end()}, bound_symbol());
  }

  /// `: k`: the symbol that the statement binds.
  Dim bound_symbol() {
    in_.expect(":");
    return symbol(in_.expect(Token::Kind::name, "the symbol that the value is the number of"), NewSymbols::yes);
  }

  /// Read only: what it is made of is what is printed.
  ValueId einsum() {
    const std::string subscripts = in_.expect(Token::Kind::string, "the subscripts in quotes").text;
    return linalg::einsum(builder_, subscripts, operands());
  }

  std::vector<ValueId> library_call(LibraryOp op) {
    std::vector<ValueId> values = operands();
    LibraryOptions options = 0;
    while (in_.peek().kind == Token::Kind::name && !in_.peek().first_on_line && !in_.at_name("at")) {
      const Token word = in_.next();
      const auto option = library_option_from_name(word.text);
      if (!option || !has(facts(op).options, *option)) throw no_option(op, word);
      options = options | *option;
    }
    // Of integers it is no library op.
    if (op == LibraryOp::matmul && values.size() == 2 && options == 0) return {builder_.matmul(values[0], values[1])};
    return builder_.library(op, std::move(values), options);
  }

  Error no_option(LibraryOp op, const Token& word) const {
    const std::vector<std::string> all = words(options_text(facts(op).options));
    const auto guess = text::nearest(word.text, all);
    return Error(ErrorCode::unknown_name, in_.location(word), str(facts(op).name, ": has no option ", word.text))
        .help(guess         ? str("did you mean ", *guess, "?")
              : all.empty() ? "it has none"
                            : str("it has ", join(all, ", ")));
  }

  static std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == ' ') {
        out.emplace_back();
      } else {
        out.back() += text[at];
      }
    }
    return out;
  }

  std::vector<ValueId> host_call() {
    const std::string name = in_.expect(Token::Kind::string, "the function's name in quotes").text;
    std::vector<ValueId> arguments;
    in_.expect("(");
    list(")", [&] { arguments.push_back(value()); });
    std::vector<TensorType> results;
    if (in_.accept(":")) {
      do results.push_back(type(NewSymbols::yes));
      while (in_.accept(","));
    }
    return builder_.host_call(name, num_host_calls_++, std::move(arguments), std::move(results));
  }

  // Regions. A body is closed: it has names of its own.

  /// `(%a = %x, %b = %y)`: names inside, values outside.
  struct Captured {
    std::vector<Definition> inside;
    std::vector<ValueId> outside;
  };
  void captured(std::string_view word, Captured& out) {
    if (!in_.accept_name(word)) return;
    in_.expect("(");
    list(")", [&] {
      out.inside.push_back({in_.expect(Token::Kind::value, "a name in the body, such as `%a`"), {}});
      Definition& made = out.inside.back();
      if (text::is_identifier(made.label.text)) made.name = made.label.text;
      if (in_.peek().kind == Token::Kind::string) made.name = in_.next().text;
      in_.expect("=");
      out.outside.push_back(value());
    });
  }

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

  void expect_new(const Definition& made) const {
    if (values_.contains(made.label.text))
      throw Error(ErrorCode::duplicate_name, in_.location(made.label), str("%", made.label.text, " is defined twice"));
  }

  /// Values up to a word or the brace.
  int returned() {
    int count = 0;
    if (in_.peek().kind != Token::Kind::value) return count;
    do {
      builder_.output(value());
      ++count;
    } while (in_.accept(","));
    return count;
  }

  void accept_origin() {
    if (in_.accept_name("at")) in_.expect(Token::Kind::string, "where it comes from, in quotes");
  }

  std::vector<ValueId> cond() {
    const ValueId condition = value();
    Captured in;
    captured("with", in);
    accept_origin();
    Graph then = body(nullptr, 0, in, [&] { returned(); });
    in_.expect_name("else");
    Graph otherwise = body(nullptr, 0, in, [&] { returned(); });
    builder_.at(location_);
    return builder_.cond(condition, in.outside, std::move(then), std::move(otherwise));
  }

  std::vector<ValueId> loop() {
    Definition step{in_.expect(Token::Kind::value, "the name of the step, such as `%i`"), {}};
    if (text::is_identifier(step.label.text)) step.name = step.label.text;
    if (in_.peek().kind == Token::Kind::string) step.name = in_.next().text;
    in_.expect("<");
    const Dim count = dim();
    Captured in;
    captured("carry", in);
    const auto num_carried = static_cast<std::ptrdiff_t>(in.outside.size());
    captured("with", in);
    accept_origin();
    Ends ends = Ends::after_count;
    Graph once = body(&step, count, in, [&] {
      if (const int next = returned(); next != num_carried) {
        throw Error(ErrorCode::wrong_arity, location_,
                    str("loop: carries ", counted(num_carried, "value"), ", and the body returns ", next,
                        " for the next step"));
      }
      if (in_.accept_name("trace")) returned();
      if (!in_.accept_name("while")) return;
      ends = Ends::by_condition;
      builder_.output(value());
    });
    builder_.at(location_);
    const auto split = in.outside.begin() + num_carried;
    return builder_.loop(count, {in.outside.begin(), split}, {split, in.outside.end()}, std::move(once), ends);
  }

  ValueId assert_that() {
    const ValueId x = value();
    in_.expect(",");
    const ValueId condition = value();
    in_.expect(",");
    const std::string message = in_.expect(Token::Kind::string, "the message in quotes").text;
    std::vector<ValueId> numbers;
    if (in_.accept("(")) list(")", [&] { numbers.push_back(value()); });
    const ErrorCode code = in_.accept(",") ? error_code() : ErrorCode::assert_failed;
    return builder_.assert_that(x, condition, message, code, std::move(numbers));
  }

  /// `shape-mismatch`: names with hyphens between them.
  ErrorCode error_code() {
    Token token = in_.expect(Token::Kind::name, "the code of the error");
    while (in_.accept("-")) token.text += "-" + in_.expect(Token::Kind::name, "the code of the error").text;
    std::vector<std::string> known;
    for (int i = 0; i < kNumErrorCodes; ++i) {
      const auto code = static_cast<ErrorCode>(i);
      if (code_name(code) == token.text) return code;
      known.emplace_back(code_name(code));
    }
    throw unknown(token, "error", "", known);
  }

  struct SymbolEntry {
    Dim dim;
    Location location;
  };

  Cursor in_;
  GraphBuilder builder_;
  std::vector<std::pair<ValueId, std::vector<Dim>>> equated_;  // parameters whose dims have other names than given
  Location location_;                                          // of the statement
  std::map<std::string, ValueId, std::less<>> values_;         // none: its statement is wrong
  std::map<std::string, Location, std::less<>> definitions_;
  std::map<std::string, SymbolEntry, std::less<>> symbols_;
  int num_host_calls_ = 0;
  int sizes_around_ = 0, bodies_around_ = 0;  // what is read now
};

}  // namespace

ParseResult parse_all(std::string_view text, std::string_view file_name) {
  return Parser(text::lex(text, file_name)).run();
}

Graph parse(std::string_view text, std::string_view file_name) {
  ParseResult result = parse_all(text, file_name);
  if (!result.diagnostics.empty()) throw Error(result.diagnostics.front());
  return std::move(*result.graph);
}

}  // namespace inlay
