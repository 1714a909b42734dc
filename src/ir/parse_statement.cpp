#include <algorithm>
#include <charconv>
#include <limits>

#include "ir/linalg.h"
#include "ir/mistakes.h"
#include "ir/nearest.h"
#include "ir/parser.h"
#include "support/counted.h"
#include "support/number_text.h"

namespace inlay::text {

/// Each on a line of its own, or with `;` between them.
void Parser::recovering_statement() {
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
Location Parser::statement_location() const {
  for (std::size_t i = 1; in_.peek(i).kind != Token::Kind::end && !in_.peek(i).first_on_line; ++i) {
    const bool origin = in_.peek(i).kind == Token::Kind::name && in_.peek(i).text == "at";
    if (origin && in_.peek(i + 1).kind == Token::Kind::string) return {in_.peek(i + 1).text};
  }
  return in_.location(in_.peek());
}

void Parser::statement(std::vector<Definition>& made) {
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
Error Parser::no_op() const {
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
      return std::move(error).help(str(before, "c`, where a number is a value of its own: `%c = literal ", second.text,
                                       " : ", dtype_name(dtype), "`"));
    }
  }
  return std::move(error).help("a line is one op and its operands: `%z = add %x, %y`");
}

void Parser::check_type(const Token& op, ValueId v) {
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
bool Parser::same_dims(std::span<const Dim> a, std::span<const Dim> b) const {
  const auto same = [&](const Dim& left, const Dim& right) {
    if (same_dim(left, right) != Answer::unknown) return left == right;
    for (const auto& [x, y] : builder_.graph().assumptions) {
      if (left - right == x - y || left - right == y - x) return true;
    }
    return false;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

std::vector<ValueId> Parser::right_side(const Token& op) {
  if (op.text == "host_call") return host_call();
  if (op.text == "compress") return compress();
  if (op.text == "fold") return fold();
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

std::vector<std::string> Parser::known_ops() {
  std::vector<std::string> known = keys(rules());
  known.insert(known.end(), {"host_call", "compress", "fold", "cond", "loop"});
  for (const std::string& name : composition_names()) known.push_back(name);
  for (int i = 0; i < kNumScalarOps; ++i) known.emplace_back(facts(static_cast<ScalarOp>(i)).name);
  for (int i = 0; i < kNumLibraryOps; ++i) known.emplace_back(facts(static_cast<LibraryOp>(i)).name);
  return known;
}

bool Parser::is_op(const std::string& name) { return std::ranges::count(known_ops(), name) > 0; }

const std::map<std::string, Parser::Rule, std::less<>>& Parser::rules() {
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
std::vector<ValueId> Parser::composition(const Token& op) {
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
ComposeArgument Parser::argument() {
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

std::vector<ValueId> Parser::operands() {
  std::vector<ValueId> values;
  do values.push_back(value());
  while (in_.accept(","));
  expect_no_value();
  return values;
}

void Parser::expect_no_value() const {
  if (in_.line_is_over() || in_.peek().kind != Token::Kind::value) return;
  throw in_.expected("`,` or the end of the line").help("commas stand between operands: `add %x, %y`");
}

std::vector<int> Parser::axes() {
  std::vector<int> result;
  in_.expect("[");
  list("]", [&] { result.push_back(static_cast<int>(signed_integer())); });
  return result;
}

/// How `op` combines, which is one of `ways`.
Combine Parser::combine(std::string_view op, const std::vector<std::string>& ways) {
  const std::string all = join(ways, ", ");
  const Token token = in_.expect(Token::Kind::name, str("how to combine: ", all));
  if (std::ranges::find(ways, token.text) != ways.end()) return *combine_from_name(token.text);
  const auto of_numpy = text::way_for_numpy(token.text);
  const auto guess = of_numpy ? of_numpy : text::nearest(token.text, ways);
  throw Error(ErrorCode::unknown_name, in_.location(token), str(op, ": there is no way to combine ", token.text))
      .help(str(guess ? str("did you mean ", *guess, "? ") : "", op, " takes ", all));
}

/// `[0:n, 3, %i]` of x.
std::vector<IndexItem> Parser::index_of(ValueId x) {
  std::vector<IndexItem> index;
  in_.expect("[");
  list("]", [&] { index.push_back(index_item(x, index.size())); });
  return index;
}

IndexItem Parser::index_item(ValueId x, std::size_t axis) {
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
void Parser::require_begin(ValueId x, std::size_t axis, const Dim& start) const {
  if (axis >= builder_.type(x).dims.size() || !start.is_constant() || start.constant() >= 0) return;
  throw negative_position(builder_, ErrorCode::slice_out_of_range,
                          str("axis ", axis, " begins at ", start.constant(), ", before 0"), x, axis, start);
}

}  // namespace inlay::text
