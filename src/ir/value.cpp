#include "ir/value.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/compose_fill.h"
#include "ir/compose_shape.h"
#include "ir/linalg.h"

namespace inlay {
namespace {

Location location_of(const std::source_location& where) { return {str(where.file_name(), ":", where.line())}; }

/// While it lives, new nodes get this location.
class At {
 public:
  At(GraphBuilder& builder, const std::source_location& where) : builder_(builder) { builder.at(location_of(where)); }
  ~At() { builder_.at({}); }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

 private:
  GraphBuilder& builder_;
};

/// Returns the first operand that is a value: it determines the builder, and the dtype of numbers.
const Value& first_value(std::span<const Operand> operands, std::string_view op) {
  if (operands.empty()) throw Error(ErrorCode::wrong_arity, {}, str(op, ": takes one value at least"));
  for (const Operand& operand : operands) {
    if (const Value* value = operand.value()) return *value;
  }
  return operands.front().value(op);
}

std::vector<ValueId> ids_of(std::span<const Operand> operands, const Value& like) {
  std::vector<ValueId> ids;
  for (const Operand& operand : operands) ids.push_back(operand.id(like.builder(), like.dtype()));
  return ids;
}

std::vector<ValueId> ids_of(std::span<const Value> values) {
  std::vector<ValueId> ids;
  for (const Value& value : values) ids.push_back(value.id());
  return ids;
}

std::vector<Value> values_of(const Value& like, std::span<const ValueId> ids) {
  std::vector<Value> values;
  for (ValueId id : ids) values.push_back(like.with(id));
  return values;
}

/// Returns the value that `make` makes of one operand.
template <class Make>
Value made(const char* op, const Operand& x, const Make& make) {
  const Value& value = x.value(op);
  const At at(value.builder(), x.where());
  return value.with(make(value.builder(), value.id()));
}

/// Returns the value that `make` makes of several operands, numbers among them.
template <class Make>
auto made_of_all(std::string_view op, std::span<const Operand> operands, const Make& make) {
  const Value like = first_value(operands, op);
  const At at(like.builder(), operands.front().where());
  return make(like, ids_of(operands, like));
}

bool fits(DType dtype, int64_t number) {
  if (dtype == DType::boolean) return number == 0 || number == 1;
  const int bits = static_cast<int>(8 * size_bytes(dtype));
  if (is_unsigned_integer(dtype)) return number >= 0 && (bits == 64 || number >> bits == 0);
  return bits == 64 || (number >> (bits - 1)) == (number < 0 ? -1 : 0);
}

Literal literal_of(const GraphBuilder& builder, double number, DType dtype) {
  if (is_float(dtype) || is_complex(dtype)) return Literal::of_float(dtype, number);
  throw builder.error(ErrorCode::wrong_dtype, str(number, " is a float, and stands beside ", dtype_name(dtype)))
      .help("write an integer, or cast the value");
}

Literal literal_of(const GraphBuilder& builder, int64_t number, DType dtype) {
  if (is_float(dtype) || is_complex(dtype)) return Literal::of_float(dtype, static_cast<double>(number));
  if (dtype != DType::opaque && fits(dtype, number)) return Literal::of_integer(dtype, number);
  throw builder.error(ErrorCode::wrong_dtype, str(number, " does not fit ", dtype_name(dtype)))
      .help("cast the value beside it");
}

/// Counts a negative number from the end. Calls `refuse` if it is before the beginning.
template <class Refuse>
Dim from_the_end(const Dim& place, const Dim& length, const Refuse& refuse) {
  if (!place.is_constant() || place.constant() >= 0) return place;
  const Dim from_the_start = length + place;
  if (from_the_start.is_constant() && from_the_start.constant() < 0) refuse();
  return from_the_start;
}

}  // namespace

Dim Value::size(int axis) const { return type().dims[axis_of(*builder_, id_, axis, "size")]; }

const Value& Operand::value(std::string_view op) const {
  if (const Value* found = value()) return *found;
  throw Error(ErrorCode::wrong_dtype, location_of(where_), str(op, ": takes a value, not a number alone"))
      .help("ArrayProgram::literal makes one a value");
}

ValueId Operand::id(GraphBuilder& builder, DType dtype) const {
  if (const Value* found = value()) return found->id();
  if (const Dim* size = std::get_if<Dim>(&is_)) return builder.cast(builder.size(*size), dtype);
  if (const double* number = std::get_if<double>(&is_)) return builder.literal(literal_of(builder, *number, dtype));
  return builder.literal(literal_of(builder, std::get<int64_t>(is_), dtype));
}

IndexItem Item::of(const Value& x, int axis) const {
  if (const Value* array = std::get_if<Value>(&is_)) return IndexItem::through(array->id());
  const Dim length = axis < x.rank() ? x.type().dims[static_cast<std::size_t>(axis)] : Dim(0);
  const auto wrong = [&](ErrorCode code, const auto&... words) {
    if (axis >= x.rank()) return;  // the rank is reported instead
    throw x.builder().error(code, str(words...)).note("operand", x.builder().graph().describe(x.id()));
  };
  if (const Dim* position = std::get_if<Dim>(&is_)) {
    return IndexItem::at(from_the_end(*position, length, [&] {
      wrong(ErrorCode::index_out_of_bounds, "index ", position->constant(), " is out of bounds for axis ", axis,
            " with size ", length.constant());
    }));
  }
  const Range& range = std::get<Range>(is_);
  if (range.step < 0) return IndexItem::range(range.start, range.stop.value_or(-1), range.step);
  const auto end_of_range = [&](const Dim& place, const char* verb) {
    return from_the_end(place, length, [&] {
      wrong(ErrorCode::slice_out_of_range, "axis ", axis, " ", verb, " at ", place.constant(), ", and its size is ",
            length.constant());
    });
  };
  const Dim stop = range.stop ? end_of_range(*range.stop, "ends") : length;
  return IndexItem::range(end_of_range(range.start, "begins"), stop, range.step);
}

std::vector<IndexItem> Subscript::of(const Value& x) const {
  std::vector<IndexItem> index;
  for (const Item& item : items_) index.push_back(item.of(x, static_cast<int>(index.size())));
  return index;
}

bool Subscript::has_arrays() const {
  return std::ranges::any_of(items_, [](const Item& item) { return item.is_array(); });
}

Value Value::operator[](const Subscript& subscript) const {
  const At at(*builder_, subscript.where());
  std::vector<IndexItem> index = subscript.of(*this);
  return with(subscript.has_arrays() ? builder_->gather(id_, std::move(index))
                                     : builder_->slice(id_, std::move(index)));
}

Value update(const Operand& x, const Subscript& subscript, const Operand& v, Combine combine, InPlace in_place) {
  const Value& base = x.value("update");
  GraphBuilder& b = base.builder();
  const At at(b, x.where());
  const ValueId value = v.id(b, base.dtype());
  std::vector<IndexItem> index = subscript.of(base);
  return base.with(subscript.has_arrays() ? b.scatter(combine, base.id(), std::move(index), value, in_place)
                                          : b.update(combine, base.id(), std::move(index), value, in_place));
}

Value scalar(ScalarOp op, std::initializer_list<Operand> operands) {
  return made_of_all(facts(op).name, operands, [&](const Value& like, std::vector<ValueId> ids) {
    return like.with(like.builder().scalar(op, std::move(ids)));
  });
}

Value where(const Operand& condition, const Operand& yes, const Operand& no) {
  const Value& c = condition.value("where");
  const At at(c.builder(), condition.where());
  const Operand branches[] = {yes, no};
  const std::vector<ValueId> ids = ids_of(branches, first_value(branches, "where"));
  return c.with(where(c.builder(), c.id(), ids[0], ids[1]));
}

Value cast(const Operand& x, DType dtype) {
  return made("cast", x, [&](GraphBuilder& b, ValueId v) { return b.cast(v, dtype); });
}

Axes Along::of(const GraphBuilder& b, ValueId x) const { return axes ? *axes : all_axes(b, x); }

Value sum(const Operand& x, const Along& along, Keep keep) {
  return made("sum", x, [&](GraphBuilder& b, ValueId v) { return sum(b, v, along.of(b, v), keep); });
}

Value prod(const Operand& x, const Along& along, Keep keep) {
  return made("prod", x, [&](GraphBuilder& b, ValueId v) { return prod(b, v, along.of(b, v), keep); });
}

Value max(const Operand& x, const Along& along, Keep keep) {
  return made("max", x, [&](GraphBuilder& b, ValueId v) {
    return reduce(b, Fold::max, v, along.of(b, v), b.type(v).dtype, keep, "max");
  });
}

Value min(const Operand& x, const Along& along, Keep keep) {
  return made("min", x, [&](GraphBuilder& b, ValueId v) {
    return reduce(b, Fold::min, v, along.of(b, v), b.type(v).dtype, keep, "min");
  });
}

Value mean(const Operand& x, const Along& along, Keep keep) {
  return made("mean", x, [&](GraphBuilder& b, ValueId v) { return mean(b, v, along.of(b, v), keep); });
}

Value var(const Operand& x, const Along& along, int64_t ddof, Keep keep) {
  return made("var", x, [&](GraphBuilder& b, ValueId v) { return var(b, v, along.of(b, v), ddof, keep); });
}

Value stddev(const Operand& x, const Along& along, int64_t ddof, Keep keep) {
  return made("stddev", x, [&](GraphBuilder& b, ValueId v) { return stddev(b, v, along.of(b, v), ddof, keep); });
}

Value all_of(const Operand& x, const Along& along, Keep keep) {
  return made("all_of", x, [&](GraphBuilder& b, ValueId v) { return all_of(b, v, along.of(b, v), keep); });
}

Value any_of(const Operand& x, const Along& along, Keep keep) {
  return made("any_of", x, [&](GraphBuilder& b, ValueId v) { return any_of(b, v, along.of(b, v), keep); });
}

Value argmax(const Operand& x, const Along& along, Keep keep) {
  return made("argmax", x, [&](GraphBuilder& b, ValueId v) { return argmax(b, v, along.of(b, v), keep); });
}

Value argmin(const Operand& x, const Along& along, Keep keep) {
  return made("argmin", x, [&](GraphBuilder& b, ValueId v) { return argmin(b, v, along.of(b, v), keep); });
}

Value logsumexp(const Operand& x, const Along& along, Keep keep) {
  return made("logsumexp", x, [&](GraphBuilder& b, ValueId v) { return logsumexp(b, v, along.of(b, v), keep); });
}

Value softmax(const Operand& x, const Along& along) {
  return made("softmax", x, [&](GraphBuilder& b, ValueId v) { return softmax(b, v, along.of(b, v)); });
}

Value log_softmax(const Operand& x, const Along& along) {
  return made("log_softmax", x, [&](GraphBuilder& b, ValueId v) { return log_softmax(b, v, along.of(b, v)); });
}

Value cumsum(const Operand& x, int64_t axis) {
  return made("cumsum", x, [&](GraphBuilder& b, ValueId v) {
    return b.cumulative(Combine::add, v, axis_of(b, v, axis, "cumsum"), accumulator_of(b.type(v).dtype));
  });
}

Value cumprod(const Operand& x, int64_t axis) {
  return made("cumprod", x, [&](GraphBuilder& b, ValueId v) {
    return b.cumulative(Combine::mul, v, axis_of(b, v, axis, "cumprod"), accumulator_of(b.type(v).dtype));
  });
}

Value reshape(const Operand& x, std::vector<Dim> dims) {
  return made("reshape", x, [&](GraphBuilder& b, ValueId v) { return b.reshape(v, std::move(dims)); });
}

Value broadcast_to(const Operand& x, std::vector<Dim> dims) {
  return made("broadcast_to", x, [&](GraphBuilder& b, ValueId v) { return b.broadcast(v, std::move(dims)); });
}

Value transpose(const Operand& x, std::vector<int> permutation) {
  return made("transpose", x, [&](GraphBuilder& b, ValueId v) {
    for (int axis = b.type(v).rank(); permutation.size() < static_cast<std::size_t>(axis); --axis) {
      permutation.push_back(axis - 1);
    }
    return b.transpose(v, std::move(permutation));
  });
}

Value flip(const Operand& x, const Along& along) {
  return made("flip", x, [&](GraphBuilder& b, ValueId v) { return b.flip(v, axes_of(b, v, along.of(b, v), "flip")); });
}

Value expand_dims(const Operand& x, const Along& along) {
  return made("expand_dims", x,
              [&](GraphBuilder& b, ValueId v) { return expand_dims(b, v, along.axes.value_or(Axes())); });
}

Value squeeze(const Operand& x, const Along& along) {
  return made("squeeze", x, [&](GraphBuilder& b, ValueId v) { return squeeze(b, v, along.of(b, v)); });
}

Value concat(const std::vector<Operand>& parts, int64_t axis) {
  return made_of_all("concat", parts, [&](const Value& like, std::vector<ValueId> ids) {
    GraphBuilder& b = like.builder();
    const int at = axis_of(b, like.id(), axis, "concat");
    return like.with(b.concat(std::move(ids), at));
  });
}

Value stack(const std::vector<Operand>& parts, int64_t axis) {
  return made_of_all("stack", parts, [&](const Value& like, const std::vector<ValueId>& ids) {
    return like.with(stack(like.builder(), ids, axis));
  });
}

Value matmul(const Operand& x, const Operand& y) {
  const ValueId right = y.value("matmul").id();
  return made("matmul", x, [&](GraphBuilder& b, ValueId left) { return linalg::matmul(b, left, right); });
}

Value einsum(std::string_view subscripts, const std::vector<Operand>& operands) {
  return made_of_all("einsum", operands, [&](const Value& like, std::vector<ValueId> ids) {
    return like.with(linalg::einsum(like.builder(), subscripts, std::move(ids)));
  });
}

std::vector<Value> library_op(LibraryOp op, const std::vector<Operand>& operands, LibraryOptions options) {
  return made_of_all(facts(op).name, operands, [&](const Value& like, std::vector<ValueId> ids) {
    return values_of(like, like.builder().library(op, std::move(ids), options));
  });
}

std::vector<Value> compose(std::string_view name, const std::vector<Operand>& operands, const NamedArguments& named) {
  return made_of_all("compose", operands, [&](const Value& like, const std::vector<ValueId>& ids) {
    return values_of(like, compose(like.builder(), name, ids, named));
  });
}

Value ArrayProgram::param(std::string name, DType dtype, std::vector<Dim> dims, Where where) {
  const At at(*builder_, where);
  return value(builder_->param(std::move(name), {dtype, std::move(dims)}));
}

Value ArrayProgram::bound(std::string name, DType dtype, std::vector<Dim> dims, Facts facts, Where where) {
  const At at(*builder_, where);
  return value(builder_->bound(std::move(name), {dtype, std::move(dims)}, facts));
}

Value ArrayProgram::donated(std::string name, DType dtype, std::vector<Dim> dims, Where where) {
  const At at(*builder_, where);
  return value(builder_->donated(std::move(name), {dtype, std::move(dims)}));
}

Value ArrayProgram::literal(const Operand& number, DType dtype) {
  const At at(*builder_, number.where());
  return value(number.id(*builder_, dtype));
}

Value ArrayProgram::iota(Dim length, DType dtype, Where where) {
  const At at(*builder_, where);
  return value(builder_->iota(std::move(length), dtype));
}

namespace {

/// Makes a body with a parameter for each of `outside`, and the values that `make` makes of them.
template <class Make>
Graph body_of(const std::shared_ptr<GraphBuilder>& body, std::span<const Value> outside, const GraphBuilder& around,
              const Make& make) {
  std::vector<Value> inside;
  for (const Value& v : outside) inside.emplace_back(body, body->param("", around.type(v.id())));
  for (const Value& result : make(inside)) body->output(result.id());
  return std::move(*body).finish();
}

}  // namespace

std::vector<Value> ArrayProgram::loop(Dim count, const std::vector<Value>& initial, const std::vector<Value>& captured,
                                      const Step& step, Ends ends, Where where) {
  const At at(*builder_, where);
  const auto body = std::make_shared<GraphBuilder>(builder_->body());
  const Value number(body, body->step("", count));
  std::vector<Value> outside = initial;
  outside.insert(outside.end(), captured.begin(), captured.end());
  Graph graph = body_of(body, outside, *builder_, [&](std::span<const Value> inside) {
    return step(number, inside.first(initial.size()), inside.subspan(initial.size()));
  });
  builder_->at(location_of(where));  // the step may have been somewhere else
  return values_of(value({}),
                   builder_->loop(std::move(count), ids_of(initial), ids_of(captured), std::move(graph), ends));
}

std::vector<Value> ArrayProgram::cond(const Operand& condition, const std::vector<Value>& captured, const Branch& then,
                                      const Branch& otherwise) {
  const At at(*builder_, condition.where());
  const ValueId holds = condition.value("cond").id();
  Graph yes = body_of(std::make_shared<GraphBuilder>(builder_->body()), captured, *builder_, then);
  Graph no = body_of(std::make_shared<GraphBuilder>(builder_->body()), captured, *builder_, otherwise);
  builder_->at(location_of(condition.where()));  // a branch may have been somewhere else
  return values_of(value({}), builder_->cond(holds, ids_of(captured), std::move(yes), std::move(no)));
}

void ArrayProgram::output(const Operand& value, std::string name) {
  const At at(*builder_, value.where());
  builder_->output(value.value("output").id(), std::move(name));
}

}  // namespace inlay
