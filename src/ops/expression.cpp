#include "ops/expression.h"

#include "support/error.h"
#include "support/number_text.h"

namespace inlay {
namespace {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Expression whole() {
    Expression out = expression();
    INLAY_CHECK(at_ == text_.size(), "after the expression: ", text_);
    return out;
  }

 private:
  Expression expression() {
    const std::string_view word = next_word();
    INLAY_CHECK(!word.empty(), "an expression is missing: ", text_);
    if (take('(')) return call(word);
    Expression out{.word = word};
    if (const std::optional<double> number = number_of(word)) {
      out.kind = Expression::Kind::number;
      out.number = *number;
    }
    return out;
  }

  Expression call(std::string_view name) {
    const std::optional<ScalarOp> op = scalar_op_from_name(name);
    INLAY_CHECK(op, "no scalar op is named ", name, ": ", text_);
    Expression out{.kind = Expression::Kind::op, .word = name, .op = *op};
    do {
      out.operands.push_back(expression());
    } while (take(','));
    INLAY_CHECK(take(')'), "a call is not closed: ", text_);
    INLAY_CHECK(static_cast<int>(out.operands.size()) == facts(*op).arity, "operands of ", name, ": ", text_);
    return out;
  }

  std::string_view next_word() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_.find_first_of("(), ", at_) != at_) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool take(char symbol) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Expression parse_expression(std::string_view text) { return ExpressionParser(text).whole(); }

}  // namespace inlay
