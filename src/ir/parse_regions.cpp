#include <utility>

#include "ir/parser.h"
#include "support/counted.h"

namespace inlay::text {

namespace {

/// `(%a = %x, %b = %y)`: names inside, values outside.
struct Captured {
  std::vector<Definition> inside;
  std::vector<ValueId> outside;
};

void captured(Parser& p, std::string_view word, Captured& out) {
  if (!p.in.accept(word)) return;
  p.in.expect("(");
  p.in.list(")", [&] {
    out.inside.push_back(p.label("a name in the body, such as `%a`"));
    p.in.expect("=");
    out.outside.push_back(p.value());
  });
}

/// For as long as it lives a body is read, in a scope of its own.
class InBody {
 public:
  explicit InBody(Parser& p)
      : parser_(p),
        deeper_(p.in, p.bodies_around, "a body"),
        mistakes_(p.in.diagnostics().size()),
        symbols_(p.sizes.symbols()) {
    Scope inside{p.builder().body(), {}, {}, p.scope.location};
    outer_ = std::exchange(p.scope, std::move(inside));
    p.builder().at(p.scope.location);
  }
  ~InBody() {
    parser_.scope = std::move(outer_);
    parser_.sizes.set_symbols(std::move(symbols_));
  }
  InBody(const InBody&) = delete;
  InBody& operator=(const InBody&) = delete;

  const TensorType& outer_type(ValueId v) const { return outer_.builder.type(v); }
  bool has_mistakes() const { return parser_.in.diagnostics().size() > mistakes_; }

 private:
  Parser& parser_;
  Deeper deeper_;
  std::size_t mistakes_;
  Sizes::Symbols symbols_;
  Scope outer_;
};

void expect_new(Parser& p, const Definition& made) {
  if (p.scope.values.contains(made.label.text))
    throw Error(ErrorCode::duplicate_name, p.in.location(made.label), str("%", made.label.text, " is defined twice"));
}

/// `{ statements return ... }` with these parameters. `finish` reads what is returned.
template <class Finish>
Graph body(Parser& p, const Definition* step, const Dim& count, const Captured& captured, Finish finish) {
  const InBody inside(p);
  p.in.end_line();
  if (step) {
    expect_new(p, *step);
    p.define(*step, p.builder().step(step->name, count));
  }
  for (std::size_t i = 0; i < captured.inside.size(); ++i) {
    const Definition& made = captured.inside[i];
    expect_new(p, made);
    p.define(made, p.builder().param(made.name, inside.outer_type(captured.outside[i])));
  }
  p.statements();
  p.in.expect("return");
  finish();
  p.in.expect("}");
  if (inside.has_mistakes()) throw FollowUpError();
  p.sizes.check_bound();
  return std::move(p.scope.builder).finish();
}

/// Values up to a word or the brace.
int returned(Parser& p) {
  int count = 0;
  if (p.in.peek().kind != Token::Kind::value) return count;
  do {
    p.builder().output(p.value());
    ++count;
  } while (p.in.accept(","));
  return count;
}

}  // namespace

std::vector<ValueId> cond(Parser& p) {
  const ValueId condition = p.value();
  Captured in;
  captured(p, "with", in);
  p.accept_origin();
  Graph then = body(p, nullptr, 0, in, [&] { returned(p); });
  p.in.expect("else");
  Graph otherwise = body(p, nullptr, 0, in, [&] { returned(p); });
  p.builder().at(p.scope.location);
  return p.builder().cond(condition, in.outside, std::move(then), std::move(otherwise));
}

std::vector<ValueId> loop(Parser& p) {
  const Definition step = p.label("the name of the step, such as `%i`");
  p.in.expect("<");
  const Dim count = p.sizes.dim();
  Captured in;
  captured(p, "carry", in);
  const auto num_carried = static_cast<std::ptrdiff_t>(in.outside.size());
  captured(p, "with", in);
  p.accept_origin();
  Ends ends = Ends::after_count;
  Graph once = body(p, &step, count, in, [&] {
    if (const int next = returned(p); next != num_carried) {
      throw Error(
          ErrorCode::wrong_arity, p.scope.location,
          str("loop: carries ", counted(num_carried, "value"), ", and the body returns ", next, " for the next step"));
    }
    if (p.in.accept("trace")) returned(p);
    if (!p.in.accept("while")) return;
    ends = Ends::by_condition;
    p.builder().output(p.value());
  });
  p.builder().at(p.scope.location);
  const auto split = in.outside.begin() + num_carried;
  return p.builder().loop(count, {in.outside.begin(), split}, {split, in.outside.end()}, std::move(once), ends);
}

}  // namespace inlay::text
