// Random programs: every pass keeps what they compute.
//
// Judged by the reference before and after, the verifier, and the text form. With the rules that keep every bit the
// results must be the same bits; with all rules the programs must still run, and scalar_rules_test judges the numbers.
// A second long; INLAY_FUZZ_SECONDS=3600 makes it an hour. INLAY_FUZZ_SEED=17 runs the program that a failure named,
// first.
#include "compiler/passes.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "compare.h"
#include "host_functions.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "oracle/reference/evaluate.h"
#include "random_graph.h"
#include "seeds.h"

namespace inlay::fuzz {
namespace {

using reference::Tensor;

/// One NaN is as good as another.
bool same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  if (a.data == b.data) return true;
  if (!is_float(a.dtype) && !is_complex(a.dtype)) return false;
  return std::ranges::equal(tool::numbers_of(a), tool::numbers_of(b), same_number);
}

struct Outcome {
  std::vector<Tensor> outputs;
  std::optional<ErrorCode> error;
};

Outcome outcome_of(const Graph& graph, std::span<const Tensor> inputs,
                   std::span<const reference::HostFunction> functions) {
  try {
    return {reference::evaluate(graph, inputs, functions), std::nullopt};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
    return {{}, error.code()};
  }
}

/// What is wrong with what a program gives that a pass made of one that gave `wanted`. What nothing needs cannot fail
/// any more, so an error may go; none may come.
std::string complaint(const Outcome& wanted, const Outcome& found, Close farthest) {
  if (wanted.error) return "";
  if (found.error) return str("fails: ", code_name(*found.error));
  for (std::size_t i = 0; i < wanted.outputs.size(); ++i) {
    if (wanted.outputs[i].type_text() != found.outputs[i].type_text()) return str("output ", i, " has another type");
    if (farthest != Close::bitwise) continue;
    if (!same_bits(wanted.outputs[i], found.outputs[i])) return str("output ", i, " has other bits");
  }
  return "";
}

/// What is wrong with the text of what a pass has made. A pass that edits may leave nodes that the builder makes less
/// of, of a slice that has become whole its operand: fewer nodes are read then, whose text reads as it is, and which is
/// `judged` too.
template <class Judged>
std::string text_complaint(const std::string& text, const Judged& judged) {
  const Graph read = parse(text);
  const std::string again = print(read);
  if (again == text) return "";
  const auto lines = [](const std::string& t) { return std::ranges::count(t, '\n'); };  // those of bodies, too
  const bool is_less = lines(again) < lines(text) && print(parse(again)) == again;
  return is_less ? judged(read) : "its text does not read back";
}

/// One program; the first thing that goes wrong with it.
std::string check_program(uint64_t seed, Close farthest) {
  tool::Random random(seed);
  const tool::Elements elements = random() % 2 ? tool::Elements::nasty : tool::Elements::plain;
  const RandomGraph made = random_graph(random, {.most_nodes = 25, .elements = elements});
  const std::vector<Tensor> inputs = tool::random_inputs(made.graph, made.given, random, elements);
  const auto functions = tool::host_functions_of(made.graph);
  Graph graph = made.graph;
  std::string text = print(graph);
  const char* name = "source";
  try {
    const Outcome wanted = outcome_of(graph, inputs, functions);
    const auto judged = [&](const Graph& after) {
      return complaint(wanted, outcome_of(after, inputs, functions), farthest);
    };
    for (int turn = 0; turn < 2; ++turn) {  // what a pass leaves must be food for every other
      for (const GraphPass& pass : graph_passes()) {
        name = pass.name;
        PassContext context(PassOptions{.farthest = farthest});
        std::optional<Graph> made_of_it = pass.run(graph, context);
        if (!made_of_it) continue;
        graph = std::move(*made_of_it);
        const std::string text_before = std::exchange(text, print(graph));
        const std::vector<Diagnostic> unsound = verify(graph);
        if (text == text_before && unsound.empty()) continue;
        std::string wrong = unsound.empty() ? judged(graph) : unsound[0].to_text();
        if (wrong.empty()) wrong = text_complaint(text, judged);
        if (!wrong.empty()) return str("seed ", seed, ", ", name, ": ", wrong, "\n", text_before, text);
      }
    }
  } catch (const Error& error) {
    return str("seed ", seed, ", ", name, ": ", error.what(), "\n", print(graph));
  }
  return "";
}

TEST(Passes, KeepTheMeaningOfRandomPrograms) {
  int failures = 0;
  for (Seeds seeds; seeds.more() && failures < 10;) {
    const uint64_t seed = seeds.next();
    for (Close farthest : {Close::bitwise, Close::better}) {
      const std::string failure = check_program(seed, farthest);
      if (failure.empty()) continue;
      ADD_FAILURE() << failure;
      ++failures;
    }
  }
}

}  // namespace
}  // namespace inlay::fuzz
