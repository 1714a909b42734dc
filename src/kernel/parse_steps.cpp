// The steps of a program.
#include <algorithm>
#include <optional>

#include "kernel/parser.h"

namespace inlay::kernel {

/// Is the array the whole buffer? Else it is said where it lies.
bool Parser::call_array(CallArray& out) {
  out.buffer = buffer();
  if (!accept("at")) return true;
  out.offset = dim();
  if (accept("index")) {
    out.index = buffer();
    expect("by");
    out.index_stride = dim();
  }
  expect("strides");
  expect("(");
  std::size_t next = 0;
  list(")", [&] {
    const Dim stride = dim();
    if (next < out.strides.size()) out.strides[next] = stride;
    ++next;
  });
  return false;
}

LibraryCall Parser::library_call() {
  LibraryCall out;
  const Token function = expect(Token::Kind::name, "the name of a library function");
  const auto op = library_op_from_name(function.text);
  if (!op) throw error(function, ErrorCode::unknown_op, str("there is no library function `", function.text, "`"));
  out.op = *op;
  std::vector<bool> is_whole;
  const auto arrays = [&](std::vector<CallArray>& list) {
    do is_whole.push_back(call_array(list.emplace_back()));
    while (accept(","));
  };
  arrays(out.results);
  const std::size_t num_results = out.results.size();
  expect("=");
  arrays(out.operands);
  expect("(");
  list(")", [&] { out.sizes.push_back(dim()); });
  const LibrarySignature& signature = inlay::facts(out.op).signature;
  const auto lay_out = [&](std::vector<CallArray>& list, const std::vector<CoreAxes>& axes, std::size_t first) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool can_be_whole = i < axes.size() && out.sizes.size() == signature.letters.size() + 1;
      if (is_whole[first + i] && can_be_whole) list[i] = row_major_array(out, axes[i], list[i].buffer);
    }
  };
  lay_out(out.results, signature.results, 0);
  lay_out(out.operands, signature.operands, num_results);
  while (const auto option = library_option_from_name(peek().text)) {
    next();
    out.options = out.options | *option;
  }
  if (accept("workspace")) out.workspace = buffer();
  while (peek().kind == Token::Kind::site) out.sites.push_back(site());
  return out;
}

HostCall Parser::host_call() {
  HostCall out;
  out.name = string("the name of the call, in quotes");
  out.function = static_cast<int>(integer());
  expect("(");
  list(")", [&] { out.operands.push_back(buffer()); });
  if (accept("->")) {
    do out.results.push_back(buffer());
    while (accept(","));
  }
  if (accept("bind")) {
    do {
      HostCall::Binding binding{symbol()};
      expect("=");
      const Token token = peek();
      const auto found = std::ranges::find(out.results, buffer());
      if (found == out.results.end()) {
        throw error(token, ErrorCode::unknown_name, str("`", token.text, "` is not a result of this call"));
      }
      binding.result = static_cast<int>(found - out.results.begin());
      expect(".");
      binding.axis = small_integer();
      out.bindings.push_back(binding);
    } while (accept(","));
  }
  out.site = optional_site();
  return out;
}

BindSize Parser::bind_size() {
  BindSize out{.symbol = symbol()};
  expect("=");
  out.value = buffer();
  out.site = site();
  return out;
}

Copy Parser::copy() {
  Copy out;
  out.source = buffer();
  expect("->");
  out.destination = buffer();
  out.reason = string("the reason of the copy, in quotes");
  out.elided = accept("elided");
  return out;
}

SizeCheck Parser::size_check() {
  SizeCheck out;
  out.left = dim();
  if (!at("==") && !at("<=")) fail_expected("`==` or `<=`");
  out.relation = next().text == "==" ? DimCheck::Relation::equal : DimCheck::Relation::at_most;
  out.right = dim();
  out.site = site();
  return out;
}

void Parser::steps_in_braces() {
  expect("{");
  while (!accept("}")) step();
}

void Parser::loop() {
  LoopBegin begin{buffer(), 0};
  expect("<");
  begin.count = dim();
  out_.steps.emplace_back(begin);
  steps_in_braces();
  LoopEnd end;
  if (accept("while")) end.go_on = buffer();
  out_.steps.emplace_back(end);
}

void Parser::cond() {
  out_.steps.emplace_back(CondBegin{buffer()});
  steps_in_braces();
  out_.steps.emplace_back(CondElse{});
  expect("else");
  steps_in_braces();
  out_.steps.emplace_back(CondEnd{});
}

void Parser::step() {
  if (accept("kernel")) {
    out_.steps.emplace_back(kernel());
  } else if (accept("scalar")) {
    out_.steps.emplace_back(scalar());
  } else if (accept("call")) {
    out_.steps.emplace_back(library_call());
  } else if (accept("host_call")) {
    out_.steps.emplace_back(host_call());
  } else if (accept("copy")) {
    out_.steps.emplace_back(copy());
  } else if (accept("check")) {
    out_.steps.emplace_back(size_check());
  } else if (accept("size")) {
    out_.steps.emplace_back(bind_size());
  } else if (accept("loop")) {
    loop();
  } else if (accept("cond")) {
    cond();
  } else {
    fail_expected("a step");
  }
}

}  // namespace inlay::kernel
