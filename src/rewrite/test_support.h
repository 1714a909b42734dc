#pragma once
// For the tests of passes: run one, believe nothing, and count what is left.
#include <algorithm>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "oracle/reference/evaluate.h"
#include "rewrite/rules.h"

namespace inlay::rewrite {

inline int64_t count_nodes(const Graph& graph, Op op) { return std::ranges::count(graph.nodes, op, &Node::op); }
inline int64_t count_nodes(const Graph& graph, ScalarOp op) {
  return std::ranges::count_if(graph.nodes,
                               [&](const Node& node) { return node.op == Op::scalar && node.scalar == op; });
}

/// The result of a pass, which the verifier has accepted.
inline Graph verified(Graph graph) {
  for (const Diagnostic& diagnostic : verify(graph)) ADD_FAILURE() << diagnostic.to_text() << "\n" << print(graph);
  return graph;
}

/// All rules but one.
inline std::vector<std::string> other_rules(std::string_view rule) {
  std::vector<std::string> out;
  for (const RuleInfo& other : all_rules()) {
    if (other.name != rule) out.emplace_back(other.name);
  }
  return out;
}

/// `f` of the one statement after the parameters that the test is about.
inline Graph program(std::string_view text) { return parse(text, "test"); }

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

inline const std::vector<double>& nasty_values() {
  static const std::vector<double> kValues = {0.0,     -0.0,   1.0,     -1.0,   0.5,    -0.5,   2.0,    3.0,
                                              -2.5,    kInf,   -kInf,   kNan,   40.0,   -40.0,  1000.0, -1e3,
                                              1e-300,  -1e-20, 1e300,   5e-324, 2.5e-9, -1e154, 1e-39,  1.5e38f,
                                              0.99999, 17.25,  -0.3333, 1e16,   -710.0, 88.0};
  return kValues;
}

/// Nasty values of any dtype, in a shuffled order; `tame`: ordinary ones.
inline reference::Tensor random_tensor(DType dtype, const std::vector<int64_t>& dims, std::mt19937& random, bool tame) {
  reference::Tensor out = reference::Tensor::zeros(dtype, dims);
  std::uniform_real_distribution<double> ordinary(-3, 3);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const double value = tame ? ordinary(random) : nasty_values()[random() % nasty_values().size()];
    const uint64_t bits = random();
    const Literal literal = is_float(dtype)           ? Literal::of_float(dtype, value)
                            : dtype == DType::boolean ? Literal::of_integer(dtype, static_cast<int64_t>(bits & 1))
                            : tame                    ? Literal::of_integer(dtype, static_cast<int64_t>(bits % 5))
                                                      : Literal::of_integer(dtype, static_cast<int64_t>(bits * bits));
    literal.store(out.element(i));
  }
  return out;
}

/// The same bits, but for the payload of NaNs.
inline bool same_bits(const reference::Tensor& a, const reference::Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const Literal left = Literal::load(a.dtype, a.element(i)), right = Literal::load(b.dtype, b.element(i));
    if (!(left == right) && !(left.f != left.f && right.f != right.f)) return false;
  }
  return true;
}

inline std::vector<reference::Tensor> random_inputs(const Graph& graph, const std::vector<int64_t>& symbols,
                                                    std::mt19937& random, bool tame = false) {
  std::vector<reference::Tensor> out;
  for (const Param& param : graph.params) {
    std::vector<int64_t> dims;
    for (const Dim& dim : graph.type(param.value).dims) dims.push_back(dim.evaluate(symbols));
    out.push_back(random_tensor(graph.type(param.value).dtype, dims, random, tame));
  }
  return out;
}

/// Both graphs give the same bits on random inputs.
inline void expect_same_results(const Graph& before, const Graph& after, const std::vector<int64_t>& symbols = {}) {
  std::mt19937 random(7);
  for (int round = 0; round < 4; ++round) {
    const auto inputs = random_inputs(before, symbols, random);
    const auto expected = reference::evaluate(before, inputs), found = reference::evaluate(after, inputs);
    ASSERT_EQ(expected.size(), found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(expected[i], found[i])) << print(before) << print(after);
    }
  }
}

}  // namespace inlay::rewrite
