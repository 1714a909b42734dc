// The generator knows all ops: each row of each table is in one of the programs that it draws.
#include "random_graph.h"

#include <set>
#include <string>

#include <gmock/gmock.h>

#include "ir/region.h"

namespace inlay::fuzz {
namespace {

using testing::IsEmpty;

constexpr int kNumOps = static_cast<int>(Op::loop) + 1;  // the last one

/// The names of what the programs of some seeds are made of: `gather`, `scalar exp`, `library svd`, `reduce max`.
std::set<std::string> drawn_names() {
  constexpr int kPrograms = 20000;
  std::set<std::string> names;
  tool::Random random(1);
  for (int i = 0; i < kPrograms; ++i) {
    for_each_node(random_graph(random).graph, [&](const Node& node) {
      const std::string op(op_name(node.op));
      names.insert(op);
      for (const auto& body : node.region.bodies) {
        if (body->symbols.size() > body->num_given) names.insert(str(op, " that finds a size"));
      }
      if (node.op == Op::scalar) names.insert(str(op, " ", facts(node.scalar).name));
      if (node.op == Op::library) names.insert(str(op, " ", facts(node.library).name));
      if (node.op == Op::reduce) names.insert(str(op, " ", facts(node.fold).name));
      if (node.op == Op::update || node.op == Op::scatter || node.op == Op::cumulative) {
        names.insert(str(op, " ", combine_name(node.combine)));
      }
    });
  }
  return names;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (int op = 0; op < kNumOps; ++op) names.emplace_back(op_name(static_cast<Op>(op)));
  for (int op = 0; op < kNumScalarOps; ++op) names.push_back(str("scalar ", facts(static_cast<ScalarOp>(op)).name));
  for (int op = 0; op < kNumLibraryOps; ++op) names.push_back(str("library ", facts(static_cast<LibraryOp>(op)).name));
  for (const char* region : {"cond", "loop"}) names.push_back(str(region, " that finds a size"));
  for (Fold fold : all_folds()) names.push_back(str("reduce ", facts(fold).name));
  for (const char* combine : {"add", "mul", "max", "min"}) names.push_back(str("cumulative ", combine));
  for (const char* combine : {"set", "add", "mul", "max", "min"}) {
    names.push_back(str("update ", combine));
    names.push_back(str("scatter ", combine));
  }
  return names;
}

TEST(RandomGraph, DrawsEachOp) {
  const std::set<std::string> drawn = drawn_names();
  std::vector<std::string> missing;
  for (const std::string& name : all_names()) {
    if (!drawn.contains(name)) missing.push_back(name);
  }
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace inlay::fuzz
