#include <algorithm>
#include <optional>

#include "kernel/kernel_reader.h"

namespace inlay::kernel {

/// `tiled`: the name of the axis of which only a tile is passed here, if any, and where it was found.
std::vector<Axis> KernelReader::axes(TiledAxis* tiled) {
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
void KernelReader::typed_literal(Statement& out) {
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

Statement KernelReader::with_result() {
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
    fold(out);
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

Combine KernelReader::combine() {
  const Token token = expect(Token::Kind::name, "how the element is combined");
  if (const std::optional<Combine> found = combine_from_name(token.text)) return *found;
  throw error(token, ErrorCode::unknown_name, str("elements cannot be combined by `", token.text, "`"))
      .help(join(combine_names(), ", "));
}

/// The one state of a fold is called as the fold is.
int KernelReader::fold_state(Fold fold) {
  if (facts(fold).has_one_state()) return 0;
  const Token token = expect(Token::Kind::name, "a state of the fold");
  const std::span<const FoldState> stored(facts(fold).states.data(), facts(fold).num_stored);
  for (std::size_t k = 0; k < stored.size(); ++k) {
    if (stored[k].name == token.text) return static_cast<int>(k);
  }
  throw error(token, ErrorCode::unknown_name, str("`", facts(fold).name, "` stores no state `", token.text, "`"))
      .help(join(stored, ", ", [](const FoldState& state) { return state.name; }));
}

void KernelReader::fold(Statement& out) {
  const Token token = expect(Token::Kind::name, "a fold");
  const std::optional<Fold> found = fold_from_name(token.text);
  if (!found) {
    throw error(token, ErrorCode::unknown_name, str("there is no fold `", token.text, "`"))
        .help(join(all_folds(), ", ", [](Fold known) { return facts(known).name; }));
  }
  out.kind = Statement::Kind::fold;
  out.fold = *found;
  out.state = fold_state(*found);
  out.buffer = buffer();
  out.map = map();
  out.operands = {reg()};
}

Statement KernelReader::statement() {
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
    out.fold = fold_by(combine());
    out.operands = {reg()};
    if (accept("if")) out.predicate = reg();
    out.elided = accept("elided");
    out.dtype = out_.buffers[out.buffer].dtype;
    return out;
  }
  if (!accept("fold")) fail_expected("a statement");
  fold(out);
  expect(":");
  out.dtype = dtype();
  return out;
}

void KernelReader::statements(Stage& stage) {
  expect("{");
  while (!accept("}")) {
    stage.statements.push_back(statement());
    const RegisterId result = stage.statements.back().result;
    if (result.valid()) stage.num_registers = std::max(stage.num_registers, static_cast<int>(result.index) + 1);
  }
}

Stage KernelReader::stage() {
  const std::size_t num_outer = axes_.size();
  Stage out;
  out.once = is_once_;
  const Token token = peek();
  TiledAxis tiled{num_outer > 0 ? axes_.back() : "", std::nullopt};
  const bool passes_tile = is_tiled_ && !out.once;
  out.axes = axes(passes_tile ? &tiled : nullptr);
  if (passes_tile && !tiled.at) {
    throw error(token, ErrorCode::syntax,
                str("the stage does not say where it passes the points of a tile, `", tiled.name, "`"));
  }
  out.tile_at = tiled.at.value_or(0);
  statements(out);
  axes_.resize(num_outer);
  return out;
}

KernelOutput KernelReader::start() {
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

KernelOutput KernelReader::local() {
  KernelOutput out;
  out.buffer = buffer();
  out.is_local = true;
  if (!accept("start")) return out;
  expect("fill");
  out.start.kind = Start::Kind::fill;
  out.start.value = literal(out_.buffers[out.buffer].dtype);
  return out;
}

Kernel KernelReader::kernel() {
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
  if (accept("workspace")) out.workspace = buffer();
  is_once_ = accept("once");
  while (accept("stage")) {
    out.stages.push_back(stage());
    is_once_ = accept("once");
  }
  expect("}");
  list_outputs(out);
  axes_.clear();
  return out;
}

Kernel KernelReader::scalar() {
  Kernel out;
  out.stages.emplace_back();
  statements(out.stages.back());
  list_outputs(out);
  return out;
}

}  // namespace inlay::kernel
