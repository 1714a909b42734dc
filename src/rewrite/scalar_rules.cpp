#include "rewrite/scalar_rules.h"

namespace inlay::rewrite {
namespace {

using enum Close;

// clang-format off: a table
constexpr Rule kRules[] = {
    // name               from                               to                       when                   how close
    // Operands that change nothing.
    {"mul-one",            "mul(x, 1)",                       "x",                     "",                    bitwise},
    {"div-one",            "div(x, 1)",                       "x",                     "",                    bitwise},
    {"sub-zero",           "sub(x, 0)",                       "x",                     "",                    bitwise},
    {"add-minus-zero",     "add(x, -0)",                      "x",                     "",                    bitwise},
    // add(x, 0) -> x is not here for floats: -0.0 + 0.0 is 0.0.
    {"and-all",            "and(x, 1)",                       "x",                     "boolean(x)",          bitwise},
    {"or-zero",            "or(x, 0)",                        "x",                     "",                    bitwise},
    {"xor-zero",           "xor(x, 0)",                       "x",                     "",                    bitwise},
    {"and-same",           "and(x, x)",                       "x",                     "",                    bitwise},
    {"or-same",            "or(x, x)",                        "x",                     "",                    bitwise},
    {"select-true",        "select(1, x, y)",                 "x",                     "",                    bitwise, true},
    {"select-false",       "select(0, x, y)",                 "y",                     "",                    bitwise, true},
    {"select-same",        "select(p, x, x)",                 "x",                     "",                    bitwise, true},
    {"select-again-yes",   "select(p, select(p, x, y), z)",   "select(p, x, z)",       "",                    bitwise},
    {"select-again-no",    "select(p, x, select(p, y, z))",   "select(p, x, z)",       "",                    bitwise},
    {"max-same",           "max(x, x)",                       "x",                     "",                    bitwise},
    {"min-same",           "min(x, x)",                       "x",                     "",                    bitwise},
    {"max-zero",           "max(x, 0)",                       "x",                     "never_negative(x) and floating(x)", bitwise},
    {"floor-div-one",      "floor_div(x, 1)",                 "x",                     "integer(x)",          bitwise},
    {"floor-floor",        "floor(floor(x))",                 "floor(x)",              "",                    bitwise},
    {"ceil-ceil",          "ceil(ceil(x))",                   "ceil(x)",               "",                    bitwise},
    {"round-round",        "round(round(x))",                 "round(x)",              "",                    bitwise},
    {"trunc-trunc",        "trunc(trunc(x))",                 "trunc(x)",              "",                    bitwise},

    // Results that are known.
    {"and-zero",           "and(x, 0)",                       "0",                     "",                    bitwise},
    {"or-true",            "or(x, true)",                     "true",                  "",                    bitwise},
    {"xor-same",           "xor(x, x)",                       "0",                     "",                    bitwise},
    {"sub-same",           "sub(x, x)",                       "0",                     "integer(x)",          bitwise},
    {"mul-zero",           "mul(x, 0)",                       "0",                     "integer(x)",          bitwise},
    {"mod-one",            "mod(x, 1)",                       "0",                     "integer(x)",          bitwise},
    {"lt-same",            "lt(x, x)",                        "false",                 "",                    bitwise},
    {"gt-same",            "gt(x, x)",                        "false",                 "",                    bitwise},
    {"eq-same",            "eq(x, x)",                        "true",                  "integer(x)",          bitwise},
    {"ne-same",            "ne(x, x)",                        "false",                 "integer(x)",          bitwise},
    {"le-same",            "le(x, x)",                        "true",                  "integer(x)",          bitwise},
    {"ge-same",            "ge(x, x)",                        "true",                  "integer(x)",          bitwise},

    // Truth values.
    {"not-not",            "not(not(x))",                     "x",                     "",                    bitwise},
    {"not-eq",             "not(eq(x, y))",                   "ne(x, y)",              "",                    bitwise},
    {"not-ne",             "not(ne(x, y))",                   "eq(x, y)",              "",                    bitwise},
    {"eq-true",            "eq(x, true)",                     "x",                     "",                    bitwise},
    {"ne-false",           "ne(x, false)",                    "x",                     "",                    bitwise},
    {"eq-false",           "eq(x, false)",                    "not(x)",                "",                    bitwise},
    {"ne-true",            "ne(x, true)",                     "not(x)",                "",                    bitwise},
    {"select-not",         "select(not(p), x, y)",            "select(p, y, x)",       "",                    bitwise, true},
    {"select-true-false",  "select(p, true, false)",          "p",                     "",                    bitwise},
    {"select-false-true",  "select(p, false, true)",          "not(p)",                "",                    bitwise},

    // Signs.
    {"neg-neg",            "neg(neg(x))",                     "x",                     "",                    bitwise, true},
    {"mul-minus-one",      "mul(x, -1)",                      "neg(x)",                "",                    bitwise},
    {"add-neg",            "add(x, neg(y))",                  "sub(x, y)",             "",                    bitwise, true},
    {"sub-neg",            "sub(x, neg(y))",                  "add(x, y)",             "",                    bitwise, true},
    {"mul-neg-neg",        "mul(neg(x), neg(y))",             "mul(x, y)",             "",                    bitwise, true},
    {"mul-neg-literal",    "mul(neg(x), c)",                  "mul(x, neg(c))",        "",                    bitwise},
    {"neg-of-mul",         "neg(mul(x, c))",                  "mul(x, neg(c))",        "",                    bitwise},
    {"div-neg-literal",    "div(neg(x), c)",                  "div(x, neg(c))",        "",                    bitwise},
    {"neg-of-div",         "neg(div(x, c))",                  "div(x, neg(c))",        "",                    bitwise},
    {"abs-neg",            "abs(neg(x))",                     "abs(x)",                "has_sign(x)",         bitwise},
    {"abs-abs",            "abs(abs(x))",                     "abs(x)",                "",                    bitwise},
    {"abs-plain",          "abs(x)",                          "x",                     "never_negative(x) and floating(x)", bitwise},
    {"mul-abs-abs",        "mul(abs(x), abs(y))",             "abs(mul(x, y))",        "floating(x)",         bitwise},
    {"square-neg",         "square(neg(x))",                  "square(x)",             "",                    bitwise, true},
    {"square-abs",         "square(abs(x))",                  "square(x)",             "",                    bitwise},
    {"cos-neg",            "cos(neg(x))",                     "cos(x)",                "",                    bitwise},
    {"cos-abs",            "cos(abs(x))",                     "cos(x)",                "",                    bitwise},
    {"cosh-neg",           "cosh(neg(x))",                    "cosh(x)",               "",                    bitwise},
    {"cosh-abs",           "cosh(abs(x))",                    "cosh(x)",               "",                    bitwise},
    // neg(sub(x, y)) -> sub(y, x) is not here: for x = y it turns -0.0 into 0.0.

    // Cheaper ops.
    {"add-literals",       "add(add(x, c), d)",               "add(x, add(c, d))",     "integer(x)",          bitwise},
    {"mul-literals",       "mul(mul(x, c), d)",               "mul(x, mul(c, d))",     "integer(x)",          bitwise},
    {"mod-by-pow2",        "mod(x, c)",                       "and(x, sub(c, 1))",     "power_of_two(c)",     bitwise},
    {"div-by-pow2",        "div(x, c)",                       "mul(x, reciprocal(c))", "exact_reciprocal(c)", bitwise},
    // No other division becomes a product: x * (1/c) is not x / c rounded, and 1/c may overflow where x / c does not. The backends compute divisions by a loop invariant without dividing.
    {"mul-same",           "mul(x, x)",                       "square(x)",             "",                    bitwise, true},
    {"pow-zero",           "pow(x, 0)",                       "1",                     "",                    bitwise},
    {"pow-one",            "pow(x, 1)",                       "x",                     "",                    bitwise},
    {"pow-two",            "pow(x, 2)",                       "square(x)",             "",                    rounding, true},
    {"pow-three",          "pow(x, 3)",                       "mul(square(x), x)",     "",                    rounding, true},
    {"pow-four",           "pow(x, 4)",                       "square(square(x))",     "",                    rounding, true},
    {"pow-five",           "pow(x, 5)",                       "mul(square(square(x)), x)", "",                    rounding},
    // Not pow(x, 6), pow(x, 8): every squaring doubles the error, past the 4 ulp that rounding may cost.
    {"pow-minus-one",      "pow(x, -1)",                      "reciprocal(x)",         "floating(x)",         rounding},
    {"pow-minus-two",      "pow(x, -2)",                      "square(reciprocal(x))", "floating(x)",         rounding},
    {"pow-half-plain",     "pow(x, 0.5)",                     "sqrt(x)",               "never_negative(x)",   rounding},
    // pow takes -inf to inf and -0.0 to 0.0, where sqrt gives nan and -0.0.
    {"pow-half",           "pow(x, 0.5)",                     "select(eq(x, -inf), inf, sqrt(add(x, 0)))", "",                    rounding},
    {"pow-minus-half",     "pow(x, -0.5)",                    "reciprocal(sqrt(x))",   "never_negative(x)",   rounding},
    {"pow-three-halves",   "pow(x, 1.5)",                     "mul(x, sqrt(x))",       "never_negative(x)",   rounding},
    {"pow-of-two",         "pow(2, x)",                       "exp2(x)",               "floating(x)",         rounding},

    // No overflow, no cancellation.
    {"log-of-exp",         "log(exp(x))",                     "x",                     "",                    better},
    {"log2-of-exp2",       "log2(exp2(x))",                   "x",                     "",                    better},
    {"exp-of-log",         "exp(log(x))",                     "x",                     "never_negative(x)",   better},
    {"sqrt-of-square",     "sqrt(square(x))",                 "abs(x)",                "",                    better},
    {"square-of-sqrt",     "square(sqrt(x))",                 "x",                     "never_negative(x)",   better},
    {"sqrt-of-exp",        "sqrt(exp(x))",                    "exp(mul(x, 0.5))",      "",                    better},
    {"log-of-sqrt",        "log(sqrt(x))",                    "mul(log(x), 0.5)",      "",                    better},
    {"log-of-square",      "log(square(x))",                  "mul(log(abs(x)), 2)",   "",                    better},
    {"log-of-pow",         "log(pow(x, c))",                  "mul(log(x), c)",        "never_negative(x)",   better},
    {"log-of-reciprocal",  "log(reciprocal(x))",              "neg(log(x))",           "never_negative(x)",   better},
    {"reciprocal-twice",   "reciprocal(reciprocal(x))",       "x",                     "",                    better},
    {"div-reciprocal",     "div(x, reciprocal(y))",           "mul(x, y)",             "",                    better},
    {"log1p",              "log(add(x, 1))",                  "log1p(x)",              "",                    better},
    {"log1p-minus",        "log(sub(1, x))",                  "log1p(neg(x))",         "",                    better},
    {"log-of-log1p",       "log1p(sub(x, 1))",                "log(x)",                "",                    better},
    {"log-of-log1p-add",   "log1p(add(x, -1))",               "log(x)",                "",                    better},
    {"log1p-of-expm1",     "log1p(expm1(x))",                 "x",                     "",                    better},
    {"expm1-of-log1p",     "expm1(log1p(x))",                 "x",                     "never_negative(x)",   better},
    {"expm1",              "sub(exp(x), 1)",                  "expm1(x)",              "",                    better},
    {"expm1-minus-one",    "add(exp(x), -1)",                 "expm1(x)",              "",                    better},
    // (Not its negative, which at 0 is -0.0.)
    {"expm1-neg",          "sub(1, exp(x))",                  "sub(0, expm1(x))",      "",                    better},
    {"exp-of-expm1",       "add(expm1(x), 1)",                "exp(x)",                "",                    better},
    {"logaddexp",          "log(add(exp(x), exp(y)))",        "logaddexp(x, y)",       "",                    better},
    {"logaddexp-from-x",   "sub(x, logaddexp(x, y))",         "neg(softplus(sub(y, x)))", "",                 better},
    {"logaddexp-from-y",   "sub(y, logaddexp(x, y))",         "neg(softplus(sub(x, y)))", "",                 better},
    // erfc(-x / sqrt(2)) / 2, as 1/sqrt(2) is written and rounded: erfc magnifies the rounding of its operand.
    {"ndtr-of-div",        "mul(erfc(div(x, -1.4142135623730951)), 0.5)", "ndtr(x)",   "",                    better},
    {"ndtr-of-div-minus",  "mul(erfc(div(x, 1.4142135623730951)), 0.5)", "ndtr(neg(x))", "",                  better},
    {"ndtr",               "mul(erfc(mul(x, -0.7071067811865475)), 0.5)", "ndtr(x)",   "",                    better},
    {"ndtr-minus",         "mul(erfc(mul(x, 0.7071067811865475)), 0.5)", "ndtr(neg(x))", "",                  better},
    {"ndtr-of-root",       "mul(erfc(mul(x, -0.7071067811865476)), 0.5)", "ndtr(x)",   "",                    better},
    {"ndtr-of-root-minus", "mul(erfc(mul(x, 0.7071067811865476)), 0.5)", "ndtr(neg(x))", "",                  better},
    {"log-of-ndtr",        "log(ndtr(x))",                    "log_ndtr(x)",           "",                    better},
    {"logit",              "log(div(x, sub(1, x)))",          "logit(x)",              "",                    better},
    {"logit-sub",          "sub(log(x), log1p(neg(x)))",      "logit(x)",              "",                    better},
    {"logit-of-sigmoid",   "logit(sigmoid(x))",               "x",                     "",                    better},
    {"softplus",           "log1p(exp(x))",                   "softplus(x)",           "",                    better},
    {"log1mexp",           "log1p(neg(exp(x)))",              "log1mexp(x)",           "",                    better},
    {"log1mexp-expm1",     "log(neg(expm1(x)))",              "log1mexp(x)",           "",                    better},
    {"log1mexp-minus",     "log(sub(0, expm1(x)))",           "log1mexp(x)",           "",                    better},
    {"sigmoid",            "reciprocal(add(1, exp(neg(x))))", "sigmoid(x)",            "",                    better},
    {"sigmoid-div",        "div(1, add(1, exp(neg(x))))",     "sigmoid(x)",            "",                    better},
    {"sigmoid-exp",        "div(exp(x), add(1, exp(x)))",     "sigmoid(x)",            "",                    better},
    {"one-minus-sigmoid",  "sub(1, sigmoid(x))",              "sigmoid(neg(x))",       "alone(x)",            better},
    {"log-sigmoid",        "log(sigmoid(x))",                 "neg(softplus(neg(x)))", "",                    better},
    {"log1m-sigmoid",      "log1p(neg(sigmoid(x)))",          "neg(softplus(x))",      "",                    better},
    {"log-sigmoid-sub",    "sub(x, softplus(x))",             "neg(softplus(neg(x)))", "",                    better},
    {"arctanh-of-tanh",    "arctanh(tanh(x))",                "x",                     "",                    better},
    {"arcsinh-of-sinh",    "arcsinh(sinh(x))",                "x",                     "",                    better},
    {"one-minus-erf",      "sub(1, erf(x))",                  "erfc(x)",               "",                    better},
    {"one-plus-erf",       "add(erf(x), 1)",                  "erfc(neg(x))",          "",                    better},
    {"one-minus-erfc",     "sub(1, erfc(x))",                 "erf(x)",                "",                    better},
    {"log-of-erfc",        "log(erfc(x))",                    "select(lt(x, 1), log1p(neg(erf(x))), sub(log(erfcx(x)), square(x)))", "",                    better},
    // The minimum prevents this rule from matching again; for x >= 0.5 it is erfc(x).
    {"log1m-erfc",         "log1p(neg(erfc(x)))",             "select(lt(x, 0.5), log(erf(x)), log1p(neg(min(erfc(x), 0.5))))", "",                    better},

    // One spelling.
    {"reciprocal",         "div(1, x)",                       "reciprocal(x)",         "",                    bitwise},
};
// clang-format on

}  // namespace

std::span<const Rule> scalar_rules() { return kRules; }

}  // namespace inlay::rewrite
