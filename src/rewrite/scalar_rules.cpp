#include "rewrite/scalar_rules.h"

namespace inlay::rewrite {
namespace {

using enum Close;

// clang-format off: a table
constexpr Rule kRules[] = {
    // name               from                               to                       when                   how close
    // Operands that change nothing.
    {"mul-one",           "mul(x, 1)",                       "x",                     "",                    bitwise},
    {"div-one",           "div(x, 1)",                       "x",                     "",                    bitwise},
    {"sub-zero",          "sub(x, 0)",                       "x",                     "",                    bitwise},
    {"add-minus-zero",    "add(x, -0)",                      "x",                     "",                    bitwise},
    // add(x, 0) -> x is not here for floats: -0.0 + 0.0 is 0.0.
    {"and-true",          "and(x, 1)",                       "x",                     "boolean(x)",          bitwise},
    {"or-false",          "or(x, 0)",                        "x",                     "",                    bitwise},
    {"select-true",       "select(1, x, y)",                 "x",                     "",                    bitwise},
    {"select-false",      "select(0, x, y)",                 "y",                     "",                    bitwise},
    {"select-same",       "select(p, x, x)",                 "x",                     "",                    bitwise},
    {"max-same",          "max(x, x)",                       "x",                     "",                    bitwise},
    {"min-same",          "min(x, x)",                       "x",                     "",                    bitwise},

    // Signs.
    {"neg-neg",           "neg(neg(x))",                     "x",                     "",                    bitwise},
    {"not-not",           "not(not(x))",                     "x",                     "",                    bitwise},
    {"select-not",        "select(not(p), x, y)",            "select(p, y, x)",       "",                    bitwise},
    {"mul-minus-one",     "mul(x, -1)",                      "neg(x)",                "",                    bitwise},
    {"add-neg",           "add(x, neg(y))",                  "sub(x, y)",             "",                    bitwise},
    {"sub-neg",           "sub(x, neg(y))",                  "add(x, y)",             "",                    bitwise},
    {"mul-neg-neg",       "mul(neg(x), neg(y))",             "mul(x, y)",             "",                    bitwise},
    {"abs-neg",           "abs(neg(x))",                     "abs(x)",                "has_sign(x)",         bitwise},
    {"square-neg",        "square(neg(x))",                  "square(x)",             "",                    bitwise},
    {"square-abs",        "square(abs(x))",                  "square(x)",             "",                    bitwise},
    // neg(sub(x, y)) -> sub(y, x) is not here: for x = y it turns -0.0 into 0.0.

    // Cheaper ops.
    {"div-by-pow2",       "div(x, c)",                       "mul(x, 1/c)",           "exact_reciprocal(c)", bitwise},
    // One division before the loop, not one at every element. (A divisor below 2^-1022 overflows early.)
    {"div-by-scalar",     "div(x, y)",                       "mul(x, reciprocal(y))", "one(y) and many(x)",  rounding},
    {"mul-same",          "mul(x, x)",                       "square(x)",             "",                    bitwise},
    {"pow-zero",          "pow(x, 0)",                       "1",                     "",                    bitwise},
    {"pow-one",           "pow(x, 1)",                       "x",                     "",                    bitwise},
    {"pow-two",           "pow(x, 2)",                       "square(x)",             "",                    rounding},
    {"pow-three",         "pow(x, 3)",                       "mul(square(x), x)",     "",                    rounding},
    {"pow-four",          "pow(x, 4)",                       "square(square(x))",     "",                    rounding},
    {"pow-minus-one",     "pow(x, -1)",                      "reciprocal(x)",         "floating(x)",         rounding},
    {"pow-half-plain",    "pow(x, 0.5)",                     "sqrt(x)",               "never_negative(x)",   rounding},
    // pow takes -inf to inf and -0.0 to 0.0, where sqrt gives nan and -0.0.
    {"pow-half",          "pow(x, 0.5)",                     "select(eq(x, -inf), inf, sqrt(add(x, 0)))", "", rounding},

    // No overflow, no cancellation.
    {"log-of-exp",        "log(exp(x))",                     "x",                     "",                    better},
    {"sqrt-of-square",    "sqrt(square(x))",                 "abs(x)",                "",                    better},
    {"log1p",             "log(add(x, 1))",                  "log1p(x)",              "",                    better},
    {"log1p-minus",       "log(sub(1, x))",                  "log1p(neg(x))",         "",                    better},
    {"expm1",             "sub(exp(x), 1)",                  "expm1(x)",              "",                    better},
    {"expm1-minus-one",   "add(exp(x), -1)",                 "expm1(x)",              "",                    better},
    {"softplus",          "log1p(exp(x))",                   "softplus(x)",           "",                    better},
    {"log1mexp",          "log1p(neg(exp(x)))",              "log1mexp(x)",           "",                    better},
    {"sigmoid",           "reciprocal(add(1, exp(neg(x))))", "sigmoid(x)",            "",                    better},
    {"sigmoid-div",       "div(1, add(1, exp(neg(x))))",     "sigmoid(x)",            "",                    better},
    {"one-minus-sigmoid", "sub(1, sigmoid(x))",              "sigmoid(neg(x))",       "",                    better},
    {"log-sigmoid",       "log(sigmoid(x))",                 "neg(softplus(neg(x)))", "",                    better},
    {"log1m-sigmoid",     "log1p(neg(sigmoid(x)))",          "neg(softplus(x))",      "",                    better},
    {"logaddexp",         "log(add(exp(x), exp(y)))",        "logaddexp(x, y)",       "",                    better},
    {"logit",             "log(div(x, sub(1, x)))",          "logit(x)",              "",                    better},
    {"logit-sub",         "sub(log(x), log1p(neg(x)))",      "logit(x)",              "",                    better},
};
// clang-format on

}  // namespace

std::span<const Rule> scalar_rules() { return kRules; }

}  // namespace inlay::rewrite
