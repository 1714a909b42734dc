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

Parser::Number Parser::number() {
  const std::string sign = in_.accept("-") ? "-" : "";
  const Token& token = in_.peek();
  const bool known_name = token.kind == Token::Kind::name &&
                          (token.text == "true" || token.text == "false" || token.text == "inf" || token.text == "nan");
  if (token.kind != Token::Kind::integer && token.kind != Token::Kind::real && !known_name) {
    in_.fail_expected("a number");
  }
  return {token, sign + in_.next().text};
}

/// One number, or a complex one by its parts: (1.5, -2).
std::vector<Parser::Number> Parser::element() {
  if (!in_.accept("(")) return {number()};
  std::vector<Number> parts = {number()};
  in_.expect(",");
  parts.push_back(number());
  in_.expect(")");
  return parts;
}

ValueId Parser::literal() {
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

Literal Parser::literal(DType dtype, const std::vector<Number>& written) const {
  if (is_complex(dtype) && written.size() == 2) {
    const DType part = real_of(dtype);
    return Literal::of_float(dtype, literal(part, written[0]).f, literal(part, written[1]).f);
  }
  if (is_complex(dtype)) return Literal::of_float(dtype, literal(real_of(dtype), written[0]).f);
  if (written.size() == 1) return literal(dtype, written[0]);
  throw Error(ErrorCode::wrong_dtype, in_.location(written[0].token),
              str("literal: (", written[0].text, ", ", written[1].text, ") is no ", dtype_name(dtype)));
}

Literal Parser::literal(DType dtype, const Number& number) const {
  const auto& [token, text] = number;
  const bool is_word = token.kind == Token::Kind::name && token.text != "inf" && token.text != "nan";
  if (is_float(dtype) && !is_word) {
    if (const auto value = number_of(text)) return Literal::of_float(dtype, *value);
  }
  if (dtype == DType::boolean && (text == "true" || text == "false")) return Literal::of_integer(dtype, text == "true");
  if (is_integer(dtype) && token.kind == Token::Kind::integer) {
    if (const auto value = fitting_integer(dtype, text)) return Literal::of_integer(dtype, *value);
  }
  throw Error(ErrorCode::wrong_dtype, in_.location(token), str("literal: ", text, " is no ", dtype_name(dtype)));
}

/// u64 as its bits.
std::optional<int64_t> Parser::fitting_integer(DType dtype, const std::string& text) {
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

ValueId Parser::cast() {
  const ValueId x = value();
  in_.expect(":");
  const Token start = in_.peek();
  return declared_result("cast", start, [&](const TensorType& t) { return builder_.cast(x, t.dtype); });
}

ValueId Parser::broadcast() { return to_dims("broadcast", &GraphBuilder::broadcast); }

ValueId Parser::reshape() { return to_dims("reshape", &GraphBuilder::reshape); }

ValueId Parser::to_dims(const char* op, ValueId (GraphBuilder::*make)(ValueId, std::vector<Dim>)) {
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

ValueId Parser::transpose() {
  const ValueId x = value();
  return builder_.transpose(x, axes());
}

ValueId Parser::flip() {
  const ValueId x = value();
  return builder_.flip(x, axes());
}

ValueId Parser::diagonal() {
  const ValueId x = value();
  const Token start = in_.peek();
  const std::vector<int> over = axes();
  if (over.size() == 2) return builder_.diagonal(x, over[0], over[1]);
  throw Error(ErrorCode::wrong_arity, in_.location(start), str("diagonal: takes 2 axes, not ", over.size()));
}

ValueId Parser::slice() {
  const ValueId x = value();
  return builder_.slice(x, index_of(x));
}

ValueId Parser::gather() {
  const ValueId x = value();
  std::vector<IndexItem> index = index_of(x);
  const bool named = in_.accept_name("as");
  return builder_.gather(x, std::move(index), named ? in_.expect(Token::Kind::string, "an op in quotes").text : "");
}

ValueId Parser::update() { return write("update", &GraphBuilder::update); }

ValueId Parser::scatter() { return write("scatter", &GraphBuilder::scatter); }

ValueId Parser::write(const char* op,
                      ValueId (GraphBuilder::*make)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace)) {
  const InPlace in_place = in_.accept("!") ? InPlace::required : InPlace::wanted;
  const Combine how = combine(op, {"set", "add", "mul", "max", "min"});
  const ValueId x = value();
  std::vector<IndexItem> index = index_of(x);
  in_.expect(",");
  const ValueId v = value();
  return (builder_.*make)(how, x, std::move(index), v, in_place);
}

ValueId Parser::reduce() {
  const Combine how = combine("reduce", {"add", "mul", "max", "min", "and", "or", "xor"});
  const ValueId x = value();
  const std::vector<int> over = axes();
  in_.expect(":");
  const Token start = in_.peek();
  return declared_result("reduce", start, [&](const TensorType& t) { return builder_.reduce(how, x, over, t.dtype); });
}

/// `fold argmax %places, %x [1] : i64`: the type is that of the first result.
std::vector<ValueId> Parser::fold() {
  const Token token = in_.expect(Token::Kind::name, "the name of a fold");
  const std::optional<Fold> fold = fold_from_name(token.text);
  if (!fold) {
    std::vector<std::string> names;
    for (Fold known : all_folds()) names.emplace_back(facts(known).name);
    throw unknown(token, "fold", "", names, ErrorCode::unknown_name).help(join(names, ", "));
  }
  std::vector<ValueId> folded = operands();
  std::vector<int> over = axes();
  in_.expect(":");
  const Token start = in_.peek();
  std::vector<ValueId> results;
  declared_result("fold", start, [&](const TensorType& t) {
    results = builder_.fold(*fold, std::move(folded), std::move(over), t.dtype);
    const DType dtype = builder_.type(results[0]).dtype;
    if (dtype != t.dtype) {
      throw Error(ErrorCode::wrong_dtype, in_.location(start),
                  str("fold ", token.text, ": the first result is ", dtype_name(dtype), ", not ", dtype_name(t.dtype)));
    }
    return results[0];
  });
  return results;
}

ValueId Parser::cumulative() {
  const Combine how = combine("cumulative", {"add", "mul", "max", "min"});
  const ValueId x = value();
  const std::vector<int> along = axes();
  if (along.size() != 1) throw Error(ErrorCode::wrong_arity, location_, "cumulative: runs along one axis");
  in_.expect(":");
  const Token start = in_.peek();
  return declared_result("cumulative", start,
                         [&](const TensorType& t) { return builder_.cumulative(how, x, along[0], t.dtype); });
}

ValueId Parser::concat() {
  const int axis = static_cast<int>(signed_integer());
  return builder_.concat(operands(), axis);
}

ValueId Parser::iota() {
  const Dim length = dim();
  in_.expect(":");
  const Token start = in_.peek();
  return declared_result("iota", start, [&](const TensorType& t) { return builder_.iota(length, t.dtype); });
}

ValueId Parser::size() { return builder_.size(dim()); }

ValueId Parser::as_size() {
  const ValueId n = value();
  return builder_.as_size(n, bound_symbol());
}

std::vector<ValueId> Parser::compress() {
  std::vector<ValueId> all = operands();
  return builder_.compress(all[0], {all.begin() + 1, all.end()}, bound_symbol());
}

/// `: k`: the symbol that the statement binds.
Dim Parser::bound_symbol() {
  in_.expect(":");
  return symbol(in_.expect(Token::Kind::name, "the symbol that the value is the number of"), NewSymbols::yes);
}

/// Read only: what it is made of is what is printed.
ValueId Parser::einsum() {
  const std::string subscripts = in_.expect(Token::Kind::string, "the subscripts in quotes").text;
  return linalg::einsum(builder_, subscripts, operands());
}

std::vector<ValueId> Parser::library_call(LibraryOp op) {
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

Error Parser::no_option(LibraryOp op, const Token& word) const {
  const std::vector<std::string> all = words(options_text(facts(op).options));
  const auto guess = text::nearest(word.text, all);
  return Error(ErrorCode::unknown_name, in_.location(word), str(facts(op).name, ": has no option ", word.text))
      .help(guess         ? str("did you mean ", *guess, "?")
            : all.empty() ? "it has none"
                          : str("it has ", join(all, ", ")));
}

std::vector<std::string> Parser::words(std::string_view text) {
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

std::vector<ValueId> Parser::host_call() {
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

}  // namespace inlay::text
