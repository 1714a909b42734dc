// Arrays made by a rule, and arrays with more or fewer elements of their own.
#include <algorithm>

#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// How many steps of `step` lie between start and stop, as an i64.
ValueId num_steps(Call& c, ValueId start, ValueId stop, ValueId step) {
  const std::optional<std::vector<Literal>> known = c.known_literals(step);
  if (!known) {
    step = c.b.assert_that(step, c.with(Op::ne_, step, 0), "Range: the step is 0", ErrorCode::zero_step);
  } else if (known->front().i == 0 && known->front().f == 0) {
    throw c.error(ErrorCode::zero_step, "the step is 0");
  }
  ValueId steps;
  if (c.type(step).dtype == DType::f64) {
    steps = c.scalar(Op::ceil_, {c.scalar(Op::div_, {c.scalar(Op::sub_, {stop, start}), step})});
  } else if (known && known->front().i < 0) {  // sizes are divided by what is positive
    const ValueId back = c.scalar(Op::sub_, {stop, start});
    steps = c.scalar(Op::neg_, {c.scalar(Op::floor_div_, {back, c.scalar(Op::neg_, {step})})});
  } else {
    steps = c.scalar(Op::neg_, {c.scalar(Op::floor_div_, {c.scalar(Op::sub_, {start, stop}), step})});
  }
  return c.b.cast(c.with(Op::max_, steps, 0), DType::i64);
}

/// start + i * step, for as many i as lie before stop.
void range(Call& c) {
  const ValueId start = one_number(c, c.in(0)), stop = one_number(c, c.in(1)), step = one_number(c, c.in(2));
  const DType dtype = c.dtype(0), counted = is_integer(dtype) ? DType::i64 : DType::f64;
  const auto as_counted = [&](ValueId v) { return c.b.cast(v, counted); };
  const Dim length = c.scope.frame.size_of(num_steps(c, as_counted(start), as_counted(stop), as_counted(step)), 0);
  const DType computed = computed_in(dtype);
  const auto as_computed = [&](ValueId v) { return c.b.cast(v, computed); };
  const ValueId way = c.scalar(Op::mul_, {c.b.iota(length, computed), as_computed(step)});
  c.out(c.b.cast(c.scalar(Op::add_, {as_computed(start), way}), dtype));
}

void tile_all(Call& c) { c.out(tile(c.b, c.in(0), c.sizes(1))); }

/// How an axis grows (or where it is cut) on one side.
struct Width {
  Dim added = 0, cut = 0;
};

/// A width may be negative, also one that is found when the network runs: then it is two sizes, of which one is 0.
Width width(Call& c, const std::optional<Dim>& known, std::size_t input, int64_t place) {
  const auto positive = [](const Dim& size) { return max(size, 0); };
  if (known) return {positive(*known), positive(0 - *known)};
  const ValueId value = c.element(input, place);
  const auto size = [&](ValueId v) { return c.scope.frame.size_of(c.with(Op::max_, v, 0), 0); };
  return {size(value), size(c.scalar(Op::neg_, {value}))};
}

/// First those before the axes, then those behind them.
std::vector<Width> widths(Call& c) {
  std::vector<Width> out;
  if (c.version < 11) {
    for (int64_t each : c.integers("pads").value_or(std::vector<int64_t>())) {
      out.push_back(width(c, Dim(each), 0, 0));
    }
    return out;
  }
  for (const std::optional<Dim>& known : c.known_integers(1)) {
    out.push_back(width(c, known, 1, static_cast<int64_t>(out.size())));
  }
  return out;
}

PadMode pad_mode(Call& c) {
  constexpr std::pair<std::string_view, PadMode> kModes[] = {
      {"constant", PadMode::constant}, {"edge", PadMode::edge}, {"reflect", PadMode::reflect}, {"wrap", PadMode::wrap}};
  const std::string word = c.word("mode", "constant");
  const auto* const found = std::ranges::find(kModes, word, &std::pair<std::string_view, PadMode>::first);
  if (found == std::end(kModes)) throw c.wrong(str("`", word, "` is no mode"));
  return found->second;
}

ValueId pad_value(Call& c) {
  if (c.version < 11) return c.literal(c.dtype(0), c.number("value", 0));
  return c.has(2) ? one_number(c, c.in(2)) : c.literal(c.dtype(0), 0);
}

/// Negative widths cut first.
void pad_axes(Call& c) {
  ValueId x = c.in(0);
  const int rank = c.rank(0);
  std::vector<int> axes;
  if (c.version >= 18 && c.has(3)) {
    axes = c.axes(c.constants(3), rank);
  } else {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  const std::vector<Width> given = widths(c);
  if (given.size() != 2 * axes.size()) {
    throw c.wrong(str(given.size(), " widths for ", axes.size(), " axes, which have two each"));
  }
  const std::vector<Dim> dims = c.dims(0);
  std::vector<Dim> before(dims.size(), Dim(0)), after = before;
  std::vector<IndexItem> kept = whole(dims);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const Width &first = given[i], &last = given[i + axes.size()];
    before[axis] = first.added;
    after[axis] = last.added;
    kept[axis] = IndexItem::range(first.cut, dims[axis] - last.cut);
  }
  x = c.b.slice(x, std::move(kept));
  c.out(pad(c.b, x, before, after, pad_mode(c), pad_value(c)));
}

/// The elements on one side of a diagonal, and zeros; the diagonal may be found when the network runs.
void trilu(Call& c) {
  const ValueId x = c.in(0);
  const std::vector<Dim> dims = c.dims(0);
  if (dims.size() < 2) throw c.wrong(str("of ", c.b.graph().describe(x), ", which is no matrix"));
  ValueId row = places(c.b, dims[dims.size() - 2], 1);
  if (c.has(1)) {
    constexpr double kFar = 0x1p62;  // beyond any column, and so near to 0 that no sum overflows
    const ValueId k = c.b.cast(one_number(c, c.in(1)), DType::i64);
    const ValueId bounded = c.scalar(Op::clip_, {k, c.literal(DType::i64, -kFar), c.literal(DType::i64, kFar)});
    row = c.scalar(Op::add_, {row, bounded});
  }
  const ValueId column = places(c.b, dims.back(), 0);
  const ValueId stays = c.scalar(c.flag("upper", true) ? Op::ge_ : Op::le_, {column, row});
  c.out(c.scalar(Op::select_, {stays, x, c.literal(c.dtype(0), 0)}));
}

void eye_like(Call& c) {
  const std::vector<Dim> dims = c.dims(0);
  if (dims.size() != 2) throw c.wrong(str("of ", c.b.graph().describe(c.in(0)), ", which is no matrix"));
  const DType dtype = c.dtype_attribute("dtype").value_or(c.dtype(0));
  c.out(eye(c.b, dims[0], dims[1], c.integer("k", 0), dtype));
}

/// Each axis cut or padded with zeros, on both sides alike, to a size.
void center_crop_pad(Call& c) {
  const ValueId x = c.in(0);
  const std::vector<Dim> dims = c.dims(0), sizes = c.sizes(1);
  const int rank = c.rank(0);
  std::vector<int> axes;
  if (const auto given = c.integers("axes")) {
    axes = c.axes(*given, rank);
  } else {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  if (axes.size() != sizes.size()) throw c.wrong(str(sizes.size(), " sizes for ", axes.size(), " axes"));
  std::vector<Dim> before(dims.size(), Dim(0)), after = before;
  std::vector<IndexItem> kept = whole(dims);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const Dim& dim = dims[axis];
    const Dim cut = floor_div(max(dim - sizes[i], 0), 2), missing = max(sizes[i] - dim, 0);
    kept[axis] = IndexItem::range(cut, cut + min(dim, sizes[i]));
    before[axis] = floor_div(missing, 2);
    after[axis] = missing - before[axis];
  }
  const ValueId inner = c.b.slice(x, std::move(kept));
  c.out(pad(c.b, inner, before, after, PadMode::constant, c.literal(c.dtype(0), 0)));
}

/// What DepthToSpace and SpaceToDepth have in common.
struct Blocks {
  int64_t size = 1;
  bool depth_first = true;  // DCR: within the depth, the places in a block come first; CRD: last
  Dim batch, depth, height, width;
};

Blocks blocks(Call& c) {
  const std::vector<Dim> dims = c.dims(0);
  const std::string mode = c.word("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw c.wrong(str("`", mode, "` is no mode"));
  if (dims.size() != 4) throw c.wrong(str("of ", c.b.graph().describe(c.in(0)), ", which is to be of rank 4"));
  const int64_t size = c.integer("blocksize");
  if (size < 1) throw c.wrong(str("blocks of ", size));
  return {size, mode == "DCR", dims[0], dims[1], dims[2], dims[3]};
}

void depth_to_space(Call& c) {
  const Blocks k = blocks(c);
  const Dim size = k.size, rest = floor_div(k.depth, k.size * k.size);
  const std::vector<Dim> apart = k.depth_first ? std::vector<Dim>{k.batch, size, size, rest, k.height, k.width}
                                               : std::vector<Dim>{k.batch, rest, size, size, k.height, k.width};
  const std::vector<int> order =
      k.depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3};
  const ValueId moved = c.b.transpose(c.b.reshape(c.in(0), apart), order);
  c.out(c.b.reshape(moved, {k.batch, rest, k.height * size, k.width * size}));
}

void space_to_depth(Call& c) {
  const Blocks k = blocks(c);
  const Dim size = k.size, rows = floor_div(k.height, k.size), columns = floor_div(k.width, k.size);
  const std::vector<int> order =
      k.depth_first ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4};
  const ValueId apart = c.b.reshape(c.in(0), {k.batch, k.depth, rows, size, columns, size});
  c.out(c.b.reshape(c.b.transpose(apart, order), {k.batch, k.depth * size * size, rows, columns}));
}

/// Integers of one width have the same bits; a bool is a byte.
void bit_cast(Call& c) {
  const int64_t to = c.integer("to");
  const std::optional<DType> dtype = dtype_of_type(to);
  const DType from = c.dtype(0);
  if (dtype == from) return c.out(c.in(0));
  const bool has_bits = is_integer(from) || from == DType::boolean;
  if (!dtype || !is_integer(*dtype) || !has_bits) {
    throw c.unsupported(
        str("the bits of ", dtype_name(from), " as ", type_name(to), "; those of integers are read only"));
  }
  if (size_bytes(*dtype) != size_bytes(from)) {
    throw c.wrong(str("the bits of ", dtype_name(from), " as ", type_name(to), ", which has another number of them"));
  }
  c.out(c.b.cast(c.in(0), *dtype));
}

constexpr OpRow kOps[] = {
    {"BitCast", bit_cast},
    {"CenterCropPad", center_crop_pad},
    {"DepthToSpace", depth_to_space},
    {"EyeLike", eye_like},
    {"Pad", pad_axes},
    {"Range", range},
    {"SpaceToDepth", space_to_depth},
    {"Tile", tile_all},
    {"Trilu", trilu},
};

}  // namespace

std::span<const OpRow> fill_ops() { return kOps; }

}  // namespace inlay::onnx
