#include <algorithm>
#include <optional>

#include "kernel/parser.h"

namespace inlay::kernel {

// ---- Steps ----

/// `tiled`: the name of the axis of which only a tile is passed here, if any, and where it was found.
std::vector<Axis> Parser::axes(TiledAxis* tiled) {
  std::vector<Axis> out;
  expect("(");
  list(")", [&] {
    const Token token = peek();
    Axis axis{name("the name of an axis"), 0};
    if (tiled && !tiled->at && axis.name == tiled->name) {
      tiled->at = out.size();
      return;
    }
    expect("<");
    axis.extent = dim();
    if (std::ranges::find(axes_, axis.name) != axes_.end() || symbols_.contains(axis.name)) {
      throw error(token, ErrorCode::duplicate_name,
                  str("`", axis.name, "` is the name of an axis or a symbol already"));
    }
    axes_.push_back(axis.name);
    out.push_back(std::move(axis));
  });
  return out;
}

/// The dtype stands behind the number, and tells how to read it.
void Parser::typed_literal(Statement& out) {
  out.kind = Statement::Kind::literal;
  const std::size_t number_at = position();
  const auto skip_number = [&] {
    accept("-");
    next();
  };
  if (accept("(")) {
    skip_number();
    expect(",");
    skip_number();
    expect(")");
  } else {
    skip_number();
  }
  expect(":");
  out.dtype = dtype();
  const std::size_t behind = position();
  go_to(number_at);
  out.literal = literal(out.dtype);
  go_to(behind);
}

Statement Parser::with_result() {
  Statement out;
  out.result = reg();
  expect("=");
  const Token op = expect(Token::Kind::name, "what the register holds");
  if (op.text == "load") {
    out.kind = Statement::Kind::load;
    out.buffer = buffer();
    out.map = map();
  } else if (op.text == "literal") {
    typed_literal(out);
    return out;
  } else if (op.text == "axis") {
    out.kind = Statement::Kind::axis;
    const std::optional<int> axis = axis_named(peek());
    if (!axis) fail_expected("an axis of this stage");
    next();
    out.axis = *axis;
  } else if (op.text == "size") {
    out.kind = Statement::Kind::size;
    out.size = dim();
  } else if (op.text == "fold") {
    out.kind = Statement::Kind::fold;
    out.combine = combine();
    out.buffer = buffer();
    out.map = map();
    out.operands = {reg()};
  } else {
    out.kind = op.text == "cast" ? Statement::Kind::cast : Statement::Kind::op;
    const std::optional<ScalarOp> found = scalar_op_from_name(op.text);
    if (out.kind == Statement::Kind::op && !found) {
      throw error(op, ErrorCode::unknown_op, str("there is no scalar op `", op.text, "`"));
    }
    out.op = found.value_or(ScalarOp::add_);
    do out.operands.push_back(reg());
    while (accept(","));
  }
  expect(":");
  out.dtype = dtype();
  return out;
}

Combine Parser::combine() {
  const Token token = expect(Token::Kind::name, "how the element is combined");
  if (const std::optional<Combine> found = combine_from_name(token.text)) return *found;
  throw error(token, ErrorCode::unknown_name, str("elements cannot be combined by `", token.text, "`"))
      .help(join(combine_names(), ", "));
}

int Parser::fold_state(Fold fold) {
  const Token token = expect(Token::Kind::name, "a state of the fold");
  const std::span<const FoldState> stored(inlay::facts(fold).states.data(), inlay::facts(fold).num_stored);
  for (std::size_t k = 0; k < stored.size(); ++k) {
    if (stored[k].name == token.text) return static_cast<int>(k);
  }
  throw error(token, ErrorCode::unknown_name, str("`", inlay::facts(fold).name, "` stores no state `", token.text, "`"))
      .help(join(stored, ", ", [](const FoldState& state) { return state.name; }));
}

Statement Parser::statement() {
  if (peek().kind == Token::Kind::value) return with_result();
  Statement out;
  if (accept("check")) {
    out.kind = Statement::Kind::check;
    if (at("wrap")) {
      out = check_of(index_term());
      return out;
    }
    do out.operands.push_back(reg());
    while (accept(","));
    out.site = site();
    return out;
  }
  if (accept("store")) {
    out.kind = Statement::Kind::store;
    out.buffer = buffer();
    out.map = map();
    out.combine = combine();
    out.operands = {reg()};
    if (accept("if")) out.predicate = reg();
    out.elided = accept("elided");
    out.dtype = out_.buffers[out.buffer].dtype;
    return out;
  }
  if (!accept("fold")) fail_expected("a statement");
  out.kind = Statement::Kind::fold;
  if (const auto fold = peek().kind == Token::Kind::name ? fold_from_name(peek().text) : std::nullopt) {
    next();
    out.fold = *fold;
    out.state = fold_state(*fold);
    out.combine = inlay::facts(*fold).states[static_cast<std::size_t>(out.state)].combine;
  } else {
    out.combine = combine();
  }
  out.buffer = buffer();
  out.map = map();
  out.operands = {reg()};
  expect(":");
  out.dtype = dtype();
  return out;
}

void Parser::statements(Stage& stage) {
  expect("{");
  while (!accept("}")) {
    stage.statements.push_back(statement());
    const RegisterId result = stage.statements.back().result;
    if (result.valid()) stage.num_registers = std::max(stage.num_registers, static_cast<int>(result.index) + 1);
  }
}

Stage Parser::stage() {
  const std::size_t num_outer = axes_.size();
  Stage out;
  const Token token = peek();
  TiledAxis tiled{num_outer > 0 ? axes_.back() : "", std::nullopt};
  out.axes = axes(is_tiled_ ? &tiled : nullptr);
  if (is_tiled_ && !tiled.at) {
    throw error(token, ErrorCode::syntax,
                str("the stage does not say where it passes the points of a tile, `", tiled.name, "`"));
  }
  out.tile_at = tiled.at.value_or(0);
  statements(out);
  axes_.resize(num_outer);
  return out;
}

KernelOutput Parser::start() {
  KernelOutput out;
  out.buffer = buffer();
  expect("start");
  if (accept("keep")) return out;
  if (accept("fill")) {
    out.start.kind = Start::Kind::fill;
    out.start.value = literal(out_.buffers[out.buffer].dtype);
    return out;
  }
  expect("copy");
  out.start.kind = Start::Kind::copy;
  out.start.source = buffer();
  if (accept("in")) {
    expect("place");
    out.start.required = site();
  }
  out.start.elided = accept("elided");
  return out;
}

KernelOutput Parser::local() {
  KernelOutput out;
  out.buffer = buffer();
  out.is_local = true;
  if (!accept("start")) return out;
  expect("fill");
  out.start.kind = Start::Kind::fill;
  out.start.value = literal(out_.buffers[out.buffer].dtype);
  return out;
}

Kernel Parser::kernel() {
  Kernel out;
  axes_.clear();
  if (!accept("{")) {  // a kernel has no name before name-kernels
    out.name = expect(Token::Kind::global, "the name of a kernel").text;
    expect("{");
  }
  if (accept("outer")) {
    out.outer = axes();
    if (accept("by")) out.tile = integer();
  }
  is_tiled_ = out.is_tiled();
  for (;;) {
    if (accept("out")) {
      out.outputs.push_back(start());
    } else if (accept("local")) {
      out.outputs.push_back(local());
    } else {
      break;
    }
  }
  while (accept("stage")) out.stages.push_back(stage());
  expect("}");
  list_outputs(out);
  axes_.clear();
  return out;
}

Kernel Parser::scalar() {
  Kernel out;
  out.stages.emplace_back();
  statements(out.stages.back());
  list_outputs(out);
  return out;
}

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
