// inlay list: what there is, from the tables that the compiler itself is made of.
#include <iostream>

#include <nlohmann/json.hpp>

#include "backend/c/backend.h"
#include "backend/llvm/backend.h"
#include "commands.h"
#include "compiler/passes.h"
#include "ops/derivative.h"
#include "rewrite/rules.h"

namespace inlay::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string_view class_name(OperandClass operands) {
  switch (operands) {
    case OperandClass::Numeric: return "numbers";
    case OperandClass::Floating: return "floats";
    case OperandClass::Ordered: return "numbers and bool";
    case OperandClass::Logical: return "bool and integers";
    case OperandClass::Integer: return "integers";
    case OperandClass::Number: return "numbers and complex";
    case OperandClass::Analytic: return "floats and complex";
    case OperandClass::Complex: return "complex";
    case OperandClass::Part: return "floats that are parts of a complex";
    case OperandClass::Any: return "all";
  }
  return "";
}

std::string_view result_name(ResultRule result) {
  switch (result) {
    case ResultRule::Same: return "as the operands";
    case ResultRule::Bool: return "bool";
    case ResultRule::Real: return "real";
    case ResultRule::Pair: return "complex";
  }
  return "";
}

std::string_view support_by_llvm(ScalarOp op, DType dtype) {
  return accepts(op, dtype) ? support_text(llvm_backend::caps().support(op, dtype)) : "";
}

std::string_view close_name(Close close) {
  switch (close) {
    case Close::bitwise: return "bitwise";
    case Close::rounding: return "rounding";
    case Close::better: return "better";
  }
  return "";
}

/// By operand: "mul(r, 2)", or "none: its result is a truth value".
std::string derivatives(ScalarOp op) {
  std::vector<std::string> out;
  for (int operand = 0; operand < facts(op).arity; ++operand) {
    const Derivative& one = derivative(op, operand);
    out.push_back(one.text.empty() ? str("none: ", one.why) : std::string(one.text));
  }
  return join(out, "; ");
}

/// Of the backend `c`: "called" where C99 has no such function and ours has no source in C.
std::string_view support_by_c(ScalarOp op, DType dtype) {
  if (!accepts(op, dtype)) return "";
  if (c_backend::is_called(op, dtype)) return "called";
  return support_text(c_backend::caps().support(op, dtype));
}

/// One object for each scalar op.
Json ops() {
  Json out = Json::array();
  for (int i = 0; i < kNumScalarOps; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    const ScalarOpFacts& row = facts(op);
    out.push_back({{"name", row.name},
                   {"arity", row.arity},
                   {"operands", class_name(row.operands)},
                   {"result", result_name(row.result)},
                   {"f64", support_by_llvm(op, DType::f64)},
                   {"i64", support_by_llvm(op, DType::i64)},
                   {"c", support_by_c(op, accepts(op, DType::f64) ? DType::f64 : DType::i64)},
                   {"cost", row.cost},
                   {"derivatives", derivatives(op)}});
  }
  return out;
}

Json rules() {
  Json out = Json::array();
  for (const rewrite::RuleInfo& rule : rewrite::all_rules()) {
    out.push_back({{"name", rule.name},
                   {"from", rule.from},
                   {"to", rule.to},
                   {"when", rule.when},
                   {"close", close_name(rule.close)}});
  }
  return out;
}

Json passes() {
  Json out = Json::array();
  for (const GraphPass& pass : graph_passes())
    out.push_back({{"name", pass.name}, {"of", "graphs"}, {"what", pass.what}});
  out.push_back({{"name", "fuse"}, {"of", "both"}, {"what", "makes kernels of a graph"}});
  for (const LoopPass& pass : loop_passes())
    out.push_back({{"name", pass.name}, {"of", "kernels"}, {"what", pass.what}});
  return out;
}

Json errors() {
  Json out = Json::array();
  for (int i = 0; i < kNumErrorCodes; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    out.push_back({{"name", code_name(code)}, {"class", python_class(code)}});
  }
  return out;
}

/// Columns, as wide as their widest word.
void print_table(const Json& rows) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells;
  std::vector<std::string> head;
  for (const auto& [key, value] : rows.at(0).items()) head.push_back(key);
  cells.push_back(head);
  for (const Json& row : rows) {
    std::vector<std::string> line;
    for (const auto& [key, value] : row.items())
      line.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    cells.push_back(std::move(line));
  }
  for (std::size_t column = 0; column < head.size(); ++column) {
    widths.push_back(0);
    for (const auto& line : cells) widths.back() = std::max(widths.back(), line[column].size());
  }
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t column = 0; column < line.size(); ++column) {
      text += line[column] + std::string(widths[column] - line[column].size() + 2, ' ');
    }
    std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << "\n";
  }
}

}  // namespace

int list(const ListCommand& command) {
  const Json rows = command.what == "ops"      ? ops()
                    : command.what == "rules"  ? rules()
                    : command.what == "passes" ? passes()
                                               : errors();
  if (command.json) {
    std::cout << rows.dump(1) << "\n";
  } else {
    print_table(rows);
  }
  return kDone;
}

}  // namespace inlay::tool
