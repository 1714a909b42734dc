#include "fuse/stage_writer.h"

#include <algorithm>
#include <bit>

#include "fuse/affine_index.h"
#include "fuse/selection.h"
#include "fuse/view_maps.h"

namespace inlay::fuse {

using kernel::Bounds;
using kernel::IndexTerm;
using kernel::RegisterId;
using kernel::Statement;
using kernel::Subscript;

RegisterId StageWriter::add(Statement statement, bool has_result) {
  RegisterId result;
  if (has_result) result = RegisterId(stage_.num_registers++);
  statement.result = result;
  stage_.statements.push_back(std::move(statement));
  return result;
}

RegisterId StageWriter::literal(const Literal& literal) {
  return add({.kind = Statement::Kind::literal, .dtype = literal.dtype, .literal = literal});
}

RegisterId StageWriter::size(const Dim& dim) {
  if (dim.is_constant()) return literal(Literal::of_integer(DType::i64, dim.constant()));
  return add({.kind = Statement::Kind::size, .dtype = DType::i64, .size = dim});
}

RegisterId StageWriter::op(ScalarOp op, DType dtype, SmallVector<RegisterId, 4> operands) {
  return add({.kind = Statement::Kind::op, .dtype = dtype, .op = op, .operands = std::move(operands)});
}

RegisterId StageWriter::load(BufferId buffer, DType dtype, AccessMap map) {
  return add({.kind = Statement::Kind::load, .dtype = dtype, .buffer = buffer, .map = std::move(map)});
}

void StageWriter::check(RegisterId condition, ErrorCode code, std::string message, const Node& node,
                        const std::vector<RegisterId>& numbers) {
  kernel::Site failure{code, std::move(message), {}, node.location};
  // The message of an assert is its author's, and says what there is to say.
  for (ValueId v : node.op == Op::assert_ ? std::vector<ValueId>() : node.operands) {
    failure.notes.emplace_back("operand", graph_.describe(v));
  }
  const kernel::SiteId site = sites_.push_back(std::move(failure));
  Statement statement{.kind = Statement::Kind::check, .operands = {condition}, .site = site};
  for (RegisterId number : numbers) statement.operands.push_back(number);
  add(std::move(statement), /*has_result=*/false);
}

RegisterId StageWriter::value(ValueId v, const AccessMap& at) {
  const std::vector<Dim>& dims = graph_.type(v).dims;
  return value(v, points_.find_or_add(is_normal(at, dims) ? at : normalized(at, dims)));
}

/// `at` is normal for the value.
RegisterId StageWriter::value(ValueId v, Point at) {
  if (stage_.num_registers > max_registers_) return RegisterId(0);
  if (selection_ && graph_.node_of(v) == selection_ && v != selection_->results[0]) {
    return value(selected_from(*selection_, v), *at);
  }
  if (const RegisterId* known = questions_.find(v, at)) return *known;
  const BufferId buffer = homes_[v].buffer;
  const int question = questions_.ask({.value = v, .at = at, .loaded = buffer.valid()});
  const RegisterId result = buffer.valid() ? load(buffer, graph_.type(v).dtype, *at) : definition(v, at);
  questions_.answer(question, result);
  return result;
}

RegisterId StageWriter::broadcast_value(ValueId v, Point at) {
  const std::vector<Dim>& dims = graph_.type(v).dims;
  if (at->rank() == static_cast<int>(dims.size()) && is_normal(*at, dims)) return value(v, at);
  return value(v, broadcast_point(*at, dims));
}

RegisterId StageWriter::definition(ValueId v, Point point) {
  const AccessMap& at = *point;
  const Node* node = graph_.node_of(v);
  INLAY_CHECK(node, "a parameter has no definition");
  const ValueId x = node->operands.empty() ? ValueId() : node->operands[0];
  switch (node->op) {
    case Op::literal: return literal(node->elements[0]);
    case Op::scalar: return scalar(*node, v, point);
    case Op::cast: return cast(*node, v, point);
    case Op::broadcast: return broadcast_value(x, point);
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal: return value(x, *view_point(graph_, v, at));
    case Op::slice:
    case Op::gather: return gather(*node, at);
    case Op::reduce: return unrolled_reduce(*node, at);
    case Op::iota: return iota(graph_.type(v).dtype, at);
    case Op::size: return size(node->size);
    case Op::as_size:
    case Op::assert_: return value(x, point);
    case Op::concat:
    case Op::update: return part(v, point);
    case Op::scatter:
    case Op::cumulative:
    case Op::compress:
    case Op::library:
    case Op::host_call:
    case Op::cond:
    case Op::loop: break;
  }
  INLAY_CHECK(false, op_name(node->op), " is not computed at a point: ", graph_.describe(v));
  return {};
}

/// What is nowhere as a whole is asked for by loops over its parts.
RegisterId StageWriter::part(ValueId whole, Point at) {
  INLAY_CHECK(piece_ && piece_->of_whole && piece_->of_whole->whole == whole,
              "asked for beside its parts: ", graph_.describe(whole));
  const PartOfWhole& part = *piece_->of_whole;
  const RegisterId x = value(part.value, part.at);
  if (part.combine == Combine::set) return x;
  return op(combine_op(part.combine), graph_.type(whole).dtype, {value(part.onto, at), x});
}

RegisterId StageWriter::scalar(const Node& node, ValueId v, Point at) {
  SmallVector<RegisterId, 4> operands;
  for (ValueId operand : node.operands) operands.push_back(broadcast_value(operand, at));
  const DType dtype = graph_.type(v).dtype;
  if (may_fail(graph_, node)) {
    const RegisterId zero = literal(Literal::of_integer(dtype, 0));
    check(op(ScalarOp::ge_, DType::boolean, {operands[1], zero}), ErrorCode::negative_power,
          "pow: an integer to a negative integer power", node);
  }
  return op(node.scalar, dtype, std::move(operands));
}

RegisterId StageWriter::cast(const Node& node, ValueId v, Point at) {
  const RegisterId x = value(node.operands[0], at);
  const DType to = graph_.type(v).dtype;
  if (may_fail(graph_, node)) {
    check(op(ScalarOp::eq_, DType::boolean, {x, x}), ErrorCode::nan_to_integer, str("cast: NaN to ", dtype_name(to)),
          node);
  }
  return add({.kind = Statement::Kind::cast, .dtype = to, .operands = {x}});
}

IndexTerm StageWriter::index_term(ValueId array, const AccessMap& at, int64_t step, const Dim& extent, int axis,
                                  ValueId base, const Node* node) {
  IndexTerm term{value(array, at), step, extent, Bounds::checked, {}};
  if (always_within(graph_, array, extent)) {
    term.bounds = Bounds::proved;
    return term;
  }
  kernel::Site site{
      ErrorCode::index_out_of_bounds,
      str(node ? called(*node) : "gather", ": index {0} is out of bounds for axis ", axis, " with size {1}"),
      {{"array", graph_.describe(base)}, {"index", graph_.describe(array)}},
      node ? node->location : Location{}};
  term.site = sites_.push_back(std::move(site));
  return term;
}

RegisterId StageWriter::gather(const Node& node, const AccessMap& at) {
  const ValueId base = node.operands[0];
  PlacedIndex placed = place_index(graph_, node.index, graph_.type(base).dims, at);
  for (const WriteIndex& index : placed.arrays) {
    const auto affine = affine_index(graph_, index.array, index.extent);
    if (const auto place = affine ? at_point(*affine, index.at) : std::nullopt) {
      placed.map.subscripts[index.dim] = *place;
      if (piece_ && piece_->part && piece_->part->known_size())
        placed.map = where(std::move(placed.map), piece_->part->sizes, *piece_->part->known_size());
      continue;
    }
    placed.map.subscripts[index.dim].index =
        index_term(index.array, index.at, index.step, index.extent, index.dim, base, &node);
  }
  const std::size_t first_statement = stage_.statements.size();
  const RegisterId result = value(base, placed.map);
  for (const Subscript& subscript : placed.map.subscripts) {
    if (subscript.index && subscript.index->bounds == Bounds::checked)
      check_if_dropped(*subscript.index, first_statement);
  }
  return result;
}

/// Along an axis that is only broadcast no load goes through the index, and so none checks it.
void StageWriter::check_if_dropped(const IndexTerm& term, std::size_t first_statement) {
  const auto loads_through = [&](const Statement& statement) {
    return std::ranges::any_of(statement.map.subscripts, [&](const Subscript& subscript) {
      return subscript.index && subscript.index->site == term.site;
    });
  };
  if (std::any_of(stage_.statements.begin() + static_cast<std::ptrdiff_t>(first_statement), stage_.statements.end(),
                  loads_through)) {
    return;
  }
  add(kernel::check_of(term), /*has_result=*/false);
}

RegisterId StageWriter::unrolled_reduce(const Node& node, const AccessMap& at) {
  const ValueId x = node.operands[0];
  const std::vector<Dim>& dims = graph_.type(x).dims;
  AccessMap point;
  for (std::size_t axis = 0, kept = 0; axis < dims.size(); ++axis) {
    const bool folded = std::ranges::binary_search(node.axes, static_cast<int>(axis));
    point.subscripts.push_back(folded ? constant(0) : at.subscripts[kept++]);
  }
  int64_t count = 1;
  for (int axis : node.axes) count *= dims[axis].constant();
  const DType dtype = graph_.type(node.results[0]).dtype;
  const Combine combine = combine_of(node.fold, 0);
  if (count == 0) return literal(identity_of(combine, dtype));
  std::vector<RegisterId> terms;
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    for (auto axis = node.axes.rbegin(); axis != node.axes.rend(); ++axis) {
      point.subscripts[*axis] = constant(rest % dims[*axis].constant());
      rest /= dims[*axis].constant();
    }
    terms.push_back(value(x, point));
  }
  // By halves, as the lanes of a vector are put together: a sum is the same number where its length is not known.
  while (terms.size() > 1) {
    const std::size_t half = std::bit_ceil(terms.size()) / 2;
    for (std::size_t k = 0; k + half < terms.size(); ++k) {
      terms[k] = op(combine_op(combine), dtype, {terms[k], terms[k + half]});
    }
    terms.resize(half);
  }
  return terms.front();
}

RegisterId StageWriter::iota(DType dtype, const AccessMap& at) {
  const Subscript& place = at.subscripts[0];
  INLAY_CHECK(!place.index, "iota read through an index array must be stored");
  RegisterId total;
  const auto accumulate = [&](RegisterId term) {
    total = total.valid() ? op(ScalarOp::add_, DType::i64, {total, term}) : term;
  };
  for (const kernel::AxisTerm& term : place.axes) {
    RegisterId axis = add({.kind = Statement::Kind::axis, .dtype = DType::i64, .axis = term.axis});
    if (!term.step.is(1)) axis = op(ScalarOp::mul_, DType::i64, {axis, size(term.step)});
    accumulate(axis);
  }
  if (!place.base.is(0) || !total.valid()) accumulate(size(place.base));
  if (dtype == DType::i64) return total;
  return add({.kind = Statement::Kind::cast, .dtype = dtype, .operands = {total}});
}

/// Of what nothing reads.
void StageWriter::check_unread(const Write& write) {
  const Node& node = *graph_.node_of(write.target);
  if (node.op != Op::gather) {
    value(write.value, write.at);
    return;
  }
  for (const WriteIndex& index : write.indices) {
    if (always_within(graph_, index.array, index.extent)) continue;
    const IndexTerm term =
        index_term(index.array, index.at, index.step, index.extent, index.dim, node.operands[0], &node);
    add(kernel::check_of(term), /*has_result=*/false);
  }
}

void StageWriter::check_assert(const Node& node, RegisterId condition) {
  std::vector<RegisterId> numbers;
  for (std::size_t i = 2; i < node.operands.size(); ++i) numbers.push_back(value(node.operands[i], AccessMap()));
  check(condition, node.error, node.text, node, numbers);
}

/// Where it writes, with its loaded indices.
AccessMap StageWriter::place_of(const Write& write) {
  AccessMap map = write.map;
  for (const WriteIndex& index : write.indices) {
    map.subscripts[index.dim].index =
        index.running.valid() ? IndexTerm{running_.at(index.running), index.step, index.extent, Bounds::proved, {}}
                              : index_term(index.array, index.at, index.step, index.extent, index.dim, write.target,
                                           graph_.node_of(write.target));
  }
  return map;
}

void StageWriter::write(const Write& write) {
  if (write.kind == Statement::Kind::check && graph_.node_of(write.target)->op != Op::assert_) {
    return check_unread(write);
  }
  const TensorType& type = graph_.type(write.value);
  const Point at = points_.find_or_add(normalized(write.at, type.dims));
  // The other states follow at once.
  for (ValueId x : write.along) value(x, write.at);
  selection_ = write.selection.valid() ? &graph_.nodes[write.selection] : nullptr;
  RegisterId source;
  if (write.defines) {
    const int question = questions_.ask({.value = write.value, .at = at, .made = true});
    source = definition(write.value, at);
    questions_.answer(question, source);
  } else {
    source = value(write.value, at);
  }
  selection_ = nullptr;
  if (write.kind == Statement::Kind::check) return check_assert(*graph_.node_of(write.target), source);
  if (write.converted && *write.converted != type.dtype && !counts_points(write.fold, write.state)) {
    source = add({.kind = Statement::Kind::cast, .dtype = *write.converted, .operands = {source}});
  }
  const bool is_onto = write.onto.valid() && write.fold != Fold::none;
  const Combine combine = combine_of(write.fold, write.state);
  if (is_onto) source = op(combine_op(combine), type.dtype, {value(write.onto, write.map), source});
  AccessMap map = place_of(write);
  RegisterId predicate;
  if (write.predicate.valid()) predicate = value(write.predicate, write.at);
  if (write.kind == Statement::Kind::fold && predicate.valid()) {
    // What is not selected changes nothing.
    const DType dtype = write.converted.value_or(type.dtype);
    source = op(ScalarOp::select_, dtype, {predicate, source, literal(identity_of(combine, dtype))});
    predicate = RegisterId();
  }
  const RegisterId result = add({.kind = write.kind,
                                 .dtype = write.converted.value_or(type.dtype),
                                 .operands = {source},
                                 .predicate = predicate,
                                 .buffer = write.buffer,
                                 .map = std::move(map),
                                 .fold = is_onto ? Fold::none : write.fold,
                                 .state = write.state},
                                /*has_result=*/write.runs);
  if (write.runs) running_[write.buffer] = result;
  if (!write.running.valid()) return;
  questions_.answer(questions_.ask({.value = write.running, .at = at, .made = true}), result);
}

}  // namespace inlay::fuse
