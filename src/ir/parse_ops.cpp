#include <algorithm>
#include <optional>

#include "ir/compose.h"
#include "ir/linalg.h"
#include "ir/nearest.h"
#include "ir/parser.h"

namespace inlay::text {

namespace {

/// Ops whose line ends in the result's dtype, or in its whole type.
template <class Make>
ValueId declared_result(Parser& p, const char* op, Make make) {
  p.in.expect(":");
  const Token start = p.in.peek();
  const TensorType declared = p.sizes.type();
  const bool whole = !declared.dims.empty();
  const ValueId v = make(declared);
  const Graph& graph = p.builder().graph();
  if (!whole || same_dims(graph, declared.dims, graph.type(v).dims)) return v;
  const bool rank = declared.rank() != graph.type(v).rank();
  throw Error(rank ? ErrorCode::wrong_rank : ErrorCode::shape_mismatch, p.in.location(start),
              str(op, ": the result is ", graph.type_text(graph.type(v)), ", not ", graph.type_text(declared)));
}

ValueId to_dims(Parser& p, const char* op, ValueId (GraphBuilder::*make)(ValueId, std::vector<Dim>)) {
  const ValueId x = p.value();
  p.in.expect(":");
  const Token start = p.in.peek();
  TensorType declared = p.sizes.type();
  if (declared.dtype != p.type(x).dtype) {
    throw Error(ErrorCode::wrong_dtype, p.in.location(start),
                str(op, ": from ", dtype_name(p.type(x).dtype), " to ", dtype_name(declared.dtype)))
        .help("cast changes the dtype");
  }
  return (p.builder().*make)(x, std::move(declared.dims));
}

/// The word that says how `op` combines: one of `ways`.
std::string way(Parser& p, std::string_view op, const std::vector<std::string>& ways) {
  const std::string all = join(ways, ", ");
  const Token token = p.in.expect(Token::Kind::name, str("how to combine: ", all));
  if (std::ranges::find(ways, token.text) != ways.end()) return token.text;
  const auto of_numpy = way_for_numpy(token.text);
  const auto guess = of_numpy ? of_numpy : nearest(token.text, ways);
  throw Error(ErrorCode::unknown_name, p.in.location(token), str(op, ": there is no way to combine ", token.text))
      .help(str(guess ? str("did you mean ", *guess, "? ") : "", op, " takes ", all));
}

ValueId write(Parser& p, const char* op,
              ValueId (GraphBuilder::*make)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace)) {
  const InPlace in_place = p.in.accept("!") ? InPlace::required : InPlace::wanted;
  const Combine how = *combine_from_name(way(p, op, {"set", "add", "mul", "max", "min"}));
  const ValueId x = p.value();
  std::vector<IndexItem> index = index_of(p, x);
  p.in.expect(",");
  const ValueId v = p.value();
  return (p.builder().*make)(how, x, std::move(index), v, in_place);
}

/// `: k`: the symbol that the statement binds.
Dim bound_symbol(Parser& p) {
  p.in.expect(":");
  const Token token = p.in.expect(Token::Kind::name, "the symbol that the value is the number of");
  const Dim symbol = p.sizes.symbol(token, NewSymbols::yes);
  if (symbol.is_symbol()) return symbol;
  throw Error(ErrorCode::unsupported, p.in.location(token),
              str("the size ", token.text, " is found during a call, and cannot be fixed"));
}

ValueId cast(Parser& p) {
  const ValueId x = p.value();
  return declared_result(p, "cast", [&](const TensorType& t) { return p.builder().cast(x, t.dtype); });
}

ValueId broadcast(Parser& p) { return to_dims(p, "broadcast", &GraphBuilder::broadcast); }

ValueId reshape(Parser& p) { return to_dims(p, "reshape", &GraphBuilder::reshape); }

ValueId transpose(Parser& p) {
  const ValueId x = p.value();
  return p.builder().transpose(x, p.axes());
}

ValueId flip(Parser& p) {
  const ValueId x = p.value();
  return p.builder().flip(x, p.axes());
}

ValueId diagonal(Parser& p) {
  const ValueId x = p.value();
  const Token start = p.in.peek();
  const std::vector<int> over = p.axes();
  if (over.size() == 2) return p.builder().diagonal(x, over[0], over[1]);
  throw Error(ErrorCode::wrong_arity, p.in.location(start), str("diagonal: takes 2 axes, not ", over.size()));
}

ValueId slice(Parser& p) {
  const ValueId x = p.value();
  return p.builder().slice(x, index_of(p, x));
}

ValueId gather(Parser& p) {
  const ValueId x = p.value();
  std::vector<IndexItem> index = index_of(p, x);
  const bool named = p.in.accept("as");
  return p.builder().gather(x, std::move(index), named ? p.in.expect(Token::Kind::string, "an op in quotes").text : "");
}

ValueId update(Parser& p) { return write(p, "update", &GraphBuilder::update); }

ValueId scatter(Parser& p) { return write(p, "scatter", &GraphBuilder::scatter); }

std::vector<std::string> fold_names() {
  std::vector<std::string> out;
  for (Fold fold : all_folds()) out.emplace_back(facts(fold).name);
  return out;
}

/// `reduce argmax %places, %x [1] : i64`: the type is that of the first result.
std::vector<ValueId> reduce(Parser& p) {
  static const std::vector<std::string> kFolds = fold_names();
  const Fold fold = *fold_from_name(way(p, "reduce", kFolds));
  std::vector<ValueId> folded = p.operands();
  std::vector<int> over = p.axes();
  std::vector<ValueId> results;
  declared_result(p, "reduce", [&](const TensorType& t) {
    results = p.builder().reduce(fold, std::move(folded), std::move(over), t.dtype);
    return results[0];
  });
  return results;
}

ValueId cumulative(Parser& p) {
  const Combine how = *combine_from_name(way(p, "cumulative", {"add", "mul", "max", "min"}));
  const ValueId x = p.value();
  const std::vector<int> along = p.axes();
  if (along.size() != 1) throw Error(ErrorCode::wrong_arity, p.scope.location, "cumulative: runs along one axis");
  return declared_result(p, "cumulative",
                         [&](const TensorType& t) { return p.builder().cumulative(how, x, along[0], t.dtype); });
}

ValueId concat(Parser& p) {
  const int axis = static_cast<int>(signed_integer(p.in));
  return p.builder().concat(p.operands(), axis);
}

ValueId iota(Parser& p) {
  const Dim length = p.sizes.dim();
  return declared_result(p, "iota", [&](const TensorType& t) { return p.builder().iota(length, t.dtype); });
}

ValueId size(Parser& p) { return p.builder().size(p.sizes.dim()); }

ValueId as_size(Parser& p) {
  const ValueId n = p.value();
  return p.builder().as_size(n, bound_symbol(p));
}

/// Read only: what it is made of is what is printed.
ValueId einsum(Parser& p) {
  const std::string subscripts = p.in.expect(Token::Kind::string, "the subscripts in quotes").text;
  return linalg::einsum(p.builder(), subscripts, p.operands());
}

std::vector<ValueId> compress(Parser& p) {
  std::vector<ValueId> all = p.operands();
  return p.builder().compress(all[0], {all.begin() + 1, all.end()}, bound_symbol(p));
}

std::vector<ValueId> host_call(Parser& p) {
  const std::string name = p.in.expect(Token::Kind::string, "the function's name in quotes").text;
  std::vector<ValueId> arguments;
  p.in.expect("(");
  p.in.list(")", [&] { arguments.push_back(p.value()); });
  std::vector<TensorType> results;
  if (p.in.accept(":")) {
    do results.push_back(p.sizes.type(NewSymbols::yes));
    while (p.in.accept(","));
  }
  return p.builder().host_call(name, p.num_host_calls++, std::move(arguments), std::move(results));
}

/// `shape-mismatch`: names with hyphens between them.
ErrorCode error_code(Parser& p) {
  Token token = p.in.expect(Token::Kind::name, "the code of the error");
  while (p.in.accept("-")) token.text += "-" + p.in.expect(Token::Kind::name, "the code of the error").text;
  std::vector<std::string> known;
  for (int i = 0; i < kNumErrorCodes; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (code_name(code) == token.text) return code;
    known.emplace_back(code_name(code));
  }
  throw unknown(p.in, token, "error", "", known);
}

ValueId assert_that(Parser& p) {
  const ValueId x = p.value();
  p.in.expect(",");
  const ValueId condition = p.value();
  p.in.expect(",");
  const std::string message = p.in.expect(Token::Kind::string, "the message in quotes").text;
  std::vector<ValueId> numbers;
  if (p.in.accept("(")) p.in.list(")", [&] { numbers.push_back(p.value()); });
  const ErrorCode code = p.in.accept(",") ? error_code(p) : ErrorCode::assert_failed;
  return p.builder().assert_that(x, condition, message, code, std::move(numbers));
}

using Rule = std::vector<ValueId> (*)(Parser&);

template <ValueId (*rule)(Parser&)>
std::vector<ValueId> one(Parser& p) {
  return {rule(p)};
}

struct NamedRule {
  std::string_view op;
  Rule rule;
};
constexpr NamedRule kRules[] = {
    {"as_size", one<as_size>},
    {"assert", one<assert_that>},
    {"broadcast", one<broadcast>},
    {"cast", one<cast>},
    {"concat", one<concat>},
    {"cumulative", one<cumulative>},
    {"diagonal", one<diagonal>},
    {"einsum", one<einsum>},
    {"flip", one<flip>},
    {"gather", one<gather>},
    {"iota", one<iota>},
    {"literal", one<literal>},
    {"reshape", one<reshape>},
    {"scatter", one<scatter>},
    {"size", one<size>},
    {"slice", one<slice>},
    {"transpose", one<transpose>},
    {"update", one<update>},
    {"host_call", host_call},
    {"compress", compress},
    {"reduce", reduce},
    {"cond", cond},
    {"loop", loop},
};

/// `[n, 3]`, a size, or a word.
ComposeArgument argument(Parser& p) {
  ComposeArgument out;
  if (p.in.accept("[")) {
    out.is_list = true;
    p.in.list("]", [&] { out.sizes.push_back(p.sizes.dim()); });
    return out;
  }
  const bool word = p.in.peek().kind == Token::Kind::name && !p.in.at("(", 1);
  if (word) out.word = p.in.peek().text;
  if (word && !p.sizes.has_symbol(out.word)) {
    p.in.next();
  } else {
    out.sizes.push_back(p.sizes.dim());
  }
  return out;
}

/// `softmax %x, axes = [1]`: operands, then named arguments.
std::vector<ValueId> composition(Parser& p, const Token& op) {
  std::vector<ValueId> values;
  NamedArguments named;
  const auto item = [&] {
    if (p.in.peek().kind == Token::Kind::value && named.empty()) {
      values.push_back(p.value());
      return;
    }
    if (p.in.at("(")) {
      throw p.in.expected("an operand, or the name of an argument")
          .help(str("operands stand without parentheses: `", op.text, " %x`"));
    }
    const Token name = p.in.expect(Token::Kind::name, "an operand, or the name of an argument");
    p.in.expect("=");
    if (!named.emplace(name.text, argument(p)).second) {
      throw Error(ErrorCode::duplicate_name, p.in.location(name), str(op.text, ": `", name.text, "` is given twice"));
    }
  };
  do item();
  while (p.in.accept(","));
  p.expect_no_value();
  return compose(p.builder(), op.text, values, named);
}

std::vector<std::string> words(std::string_view text) {
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

Error no_option(const Parser& p, LibraryOp op, const Token& word) {
  const std::vector<std::string> all = words(options_text(facts(op).options));
  const auto guess = nearest(word.text, all);
  return Error(ErrorCode::unknown_name, p.in.location(word), str(facts(op).name, ": has no option ", word.text))
      .help(guess         ? str("did you mean ", *guess, "?")
            : all.empty() ? "it has none"
                          : str("it has ", join(all, ", ")));
}

std::vector<ValueId> library_call(Parser& p, LibraryOp op) {
  std::vector<ValueId> values = p.operands();
  LibraryOptions options = 0;
  while (p.in.peek().kind == Token::Kind::name && !p.in.peek().first_on_line && !p.in.at("at")) {
    const Token word = p.in.next();
    const auto option = library_option_from_name(word.text);
    if (!option || !has(facts(op).options, *option)) throw no_option(p, op, word);
    options = options | *option;
  }
  // Of integers it is no library op.
  if (op == LibraryOp::matmul && values.size() == 2 && options == 0) {
    return {linalg::matmul(p.builder(), values[0], values[1])};
  }
  return p.builder().library(op, std::move(values), options);
}

std::vector<std::string> known_ops();

/// Of what is written as a member of a module, `np.linalg.inv`.
Error no_member(const Parser& p, const Token& module) {
  std::string path = module.text;
  Token op = module;
  for (std::size_t at = 0; p.in.at(".", at) && p.in.peek(at + 1).kind == Token::Kind::name; at += 2) {
    op = p.in.peek(at + 1);
    path += "." + op.text;
  }
  const Error error(ErrorCode::unknown_op, p.in.location(module), str("there is no op ", path));
  const std::vector<std::string> known = known_ops();
  const auto word = std::ranges::find(known, op.text) != known.end() ? op.text : word_for_numpy(op.text);
  const std::string of = path.substr(0, path.rfind('.'));
  return word ? Error(error).help(str("ops are no members of `", of, "`: write `", *word, "`")) : error;
}

std::vector<std::string> known_ops() {
  std::vector<std::string> known;
  for (const NamedRule& each : kRules) known.emplace_back(each.op);
  for (const std::string& name : composition_names()) known.push_back(name);
  for (int i = 0; i < kNumScalarOps; ++i) known.emplace_back(facts(static_cast<ScalarOp>(i)).name);
  for (int i = 0; i < kNumLibraryOps; ++i) known.emplace_back(facts(static_cast<LibraryOp>(i)).name);
  return known;
}

}  // namespace

bool is_op(const std::string& name) { return std::ranges::count(known_ops(), name) > 0; }

std::vector<ValueId> results_of(Parser& p, const Token& op) {
  const auto rule = std::ranges::find(kRules, op.text, &NamedRule::op);
  if (rule != std::end(kRules)) return rule->rule(p);
  if (is_composition(op.text)) return composition(p, op);
  if (const auto scalar = scalar_op_from_name(op.text)) return {p.builder().scalar(*scalar, p.operands())};
  if (const auto library = library_op_from_name(op.text)) return library_call(p, *library);
  if (p.in.at(".") && !p.in.peek(1).first_on_line && p.in.peek(1).kind == Token::Kind::name) throw no_member(p, op);
  const Error error = unknown(p.in, op, "op", "", known_ops(), ErrorCode::unknown_op);
  if (p.scope.values.contains(op.text)) throw Error(error).help("a line is one op and its operands: `%z = add %x, %y`");
  throw error;
}

}  // namespace inlay::text
