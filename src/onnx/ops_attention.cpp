// Attention and what goes with it: embeddings by rotation, and recurrences in place of the softmax.
#include <cmath>
#include <limits>

#include "ir/compose_shape.h"
#include "ir/linalg.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// [batch, length, heads * size] as [batch, length, heads, size].
ValueId split_heads(Call& c, ValueId x, int64_t heads) {
  const std::vector<Dim> dims = c.type(x).dims;
  if (dims.size() != 3) {
    throw c.error(ErrorCode::wrong_rank,
                  str("heads stand side by side in 3 axes, and not in ", c.b.graph().describe(x)));
  }
  if (heads < 1) throw c.wrong(str(heads, " heads"));
  return c.b.reshape(x, {dims[0], dims[1], heads, floor_div(dims[2], heads)});
}

/// [batch, length, heads, size] as [batch, length, heads * size].
ValueId joined_heads(Call& c, ValueId x) {
  const std::vector<Dim> dims = c.type(x).dims;
  return c.b.reshape(x, {dims[0], dims[1], dims[2] * dims[3]});
}

/// x[batch, heads, n, k] @ y[batch, heads of y, k, m], where several heads of x that follow each other share one of y:
/// their rows are those of one matrix.
ValueId matmul_of_heads(Call& c, ValueId x, ValueId y) {
  const std::vector<Dim> dims = c.type(x).dims, other = c.type(y).dims;
  if (dims[1] == other[1]) return linalg::matmul(c.b, x, y);
  const Dim rows = floor_div(dims[1], other[1]) * dims[2];
  const ValueId product = linalg::matmul(c.b, c.b.reshape(x, {dims[0], other[1], rows, dims[3]}), y);
  return c.b.reshape(product, {dims[0], dims[1], dims[2], other[3]});
}

/// Queries times `scale`, by default 1 / sqrt(size of a head), with the keys: [batch, heads, queries, keys].
ValueId scores_of(Call& c, ValueId queries, ValueId keys) {
  const DType dtype = c.type(queries).dtype;
  const Dim size = c.type(queries).dims[3];
  ValueId scale;
  if (c.has_attribute("scale")) {
    scale = c.literal(dtype, c.number("scale", 1));
  } else if (size.is_constant()) {
    scale = c.literal(dtype, 1 / std::sqrt(static_cast<double>(size.constant())));
  } else {
    scale = c.scalar(Op::reciprocal_, {c.scalar(Op::sqrt_, {c.b.cast(c.b.size(size), dtype)})});
  }
  return matmul_of_heads(c, c.scalar(Op::mul_, {queries, scale}), linalg::swapped(c.b, keys));
}

/// The softmax along the last axis as a quotient. Where all scores are -inf the weights are 0.
struct Weights {
  ValueId exponentials, sum;
};
Weights weights_of(Call& c, ValueId scores) {
  const DType dtype = c.type(scores).dtype;
  const ValueId zero = c.literal(dtype, 0), one = c.literal(dtype, 1);
  const ValueId maximum = extreme_of(c, Fold::max, scores, {3}, Keep::yes);
  const ValueId by = c.scalar(Op::select_, {c.with(Op::eq_, maximum, -kInfinity), zero, maximum});
  const ValueId exponentials = c.scalar(Op::exp_, {c.scalar(Op::sub_, {scores, by})});
  const ValueId sum = folded(c, Fold::add, exponentials, {3}, Keep::yes);
  return {exponentials, c.scalar(Op::select_, {c.scalar(Op::eq_, {sum, zero}), one, sum})};
}

ValueId quotient(Call& c, const Weights& weights) { return c.scalar(Op::div_, {weights.exponentials, weights.sum}); }

/// The dtype in which weights are computed: never with less precision than `softmax_precision` and the operands have.
DType weights_dtype(Call& c) {
  DType dtype = promote(promote(c.dtype(0), c.dtype(2)), DType::f32);
  if (!c.has_attribute("softmax_precision")) return dtype;
  const int64_t type = c.integer("softmax_precision");
  const std::optional<DType> asked = dtype_of_type(type);
  if (!asked || !is_float(*asked)) throw c.unsupported(str("a softmax_precision of ", type_name(type)));
  return promote(dtype, *asked);
}

/// Scores with what keys each query sees: those that it does not see have -inf.
class Masks {
 public:
  Masks(Call& c, ValueId scores, std::optional<Dim> past) : c_(c), scores_(scores), past_(std::move(past)) {}

  ValueId masked() {
    if (c_.has(3)) given(c_.in(3));
    const ValueId keys = places(c_.b, dims()[3], 0);
    const int64_t left = c_.integer("left_window_size", -1), right = c_.integer("right_window_size", -1);
    if (c_.flag("is_causal")) sees(c_.scalar(Op::le_, {keys, positions()}));
    if (left >= 0) sees(c_.scalar(Op::ge_, {keys, shifted(positions(), -left)}));
    if (right >= 0) sees(c_.scalar(Op::le_, {keys, shifted(positions(), right)}));
    if (c_.has(6)) sees(c_.scalar(Op::lt_, {keys, lengths()}));
    return seen_ ? c_.scalar(Op::select_, {*seen_, scores_, nothing()}) : scores_;
  }

 private:
  std::vector<Dim> dims() { return c_.type(scores_).dims; }
  ValueId nothing() { return c_.literal(c_.type(scores_).dtype, -kInfinity); }
  ValueId shifted(ValueId x, int64_t by) { return c_.with(Op::add_, x, static_cast<double>(by)); }

  void sees(ValueId condition) { seen_ = seen_ ? c_.scalar(Op::and_, {*seen_, condition}) : condition; }

  /// How many keys each sample of the batch has: [batch, 1, 1, 1].
  ValueId lengths() { return c_.b.reshape(c_.b.cast(c_.in(6), DType::i64), {c_.dims(6).at(0), 1, 1, 1}); }

  /// The place of each query among the keys, behind those that precede all of them: [queries, 1], or
  /// [batch, 1, queries, 1].
  ValueId positions() {
    const Dim queries = dims()[2];
    const ValueId own = places(c_.b, queries, 1);
    if (past_) return c_.scalar(Op::add_, {own, c_.b.size(*past_)});
    if (!c_.has(6)) return own;
    return c_.scalar(Op::add_, {own, c_.scalar(Op::sub_, {lengths(), c_.b.size(queries)})});
  }

  /// The mask that is given, of bools or to be added. Keys beyond its end are not seen. Neither are those to whose
  /// scores it adds -inf, whatever these are.
  void given(ValueId mask) {
    const bool is_bool = c_.type(mask).dtype == DType::boolean;
    const DType dtype = c_.type(scores_).dtype;
    if (!is_bool) mask = c_.b.cast(mask, dtype);
    const TensorType type = c_.type(mask);
    if (type.rank() < 1) throw c_.wrong("its mask has no axis");
    if (type.dims.back() != dims()[3]) {
      std::vector<Dim> before(type.dims.size(), Dim(0)), after(type.dims.size(), Dim(0));
      after.back() = dims()[3] - type.dims.back();
      mask = pad(c_.b, mask, before, after, PadMode::constant, is_bool ? c_.literal(type.dtype, 0) : nothing());
    }
    if (is_bool) return sees(mask);
    sees(c_.with(Op::ne_, mask, -kInfinity));
    scores_ = c_.scalar(Op::add_, {scores_, mask});
  }

  Call& c_;
  ValueId scores_;
  std::optional<Dim> past_;
  std::optional<ValueId> seen_;
};

ValueId capped(Call& c, ValueId scores) {
  const double cap = c.number("softcap", 0);
  return cap > 0 ? c.with(Op::mul_, c.scalar(Op::tanh_, {c.with(Op::div_, scores, cap)}), cap) : scores;
}

/// Input i as [batch, heads, length, size].
ValueId heads_of(Call& c, std::size_t i, std::string_view num_heads) {
  if (c.rank(i) == 4) return c.in(i);
  if (c.rank(i) != 3) throw c.wrong(str("input ", i, " is ", c.b.graph().describe(c.in(i)), ", of no 3 or 4 axes"));
  return c.b.transpose(split_heads(c, c.in(i), c.integer(num_heads)), {0, 2, 1, 3});
}

/// Where keys or values are kept from call to call, the past ones stand before those of this call.
ValueId with_past(Call& c, std::size_t past, ValueId now) {
  return c.has(past) ? c.b.concat({c.in(past), now}, 2) : now;
}

void attention(Call& c) {
  const DType dtype = c.dtype(0), computed = weights_dtype(c);
  const auto cast = [&](ValueId x) { return c.b.cast(x, computed); };
  if (c.has(4) != c.has(5)) throw c.wrong("past keys and past values go together");
  if (c.has(4) && c.has(6)) throw c.wrong("past keys and lengths of padded keys exclude each other");
  const ValueId keys = with_past(c, 4, heads_of(c, 1, "kv_num_heads"));
  const ValueId values = with_past(c, 5, heads_of(c, 2, "kv_num_heads"));
  const std::optional<Dim> past = c.has(4) ? std::optional(c.dims(4, 4)[2]) : std::nullopt;

  const ValueId product = scores_of(c, cast(heads_of(c, 0, "q_num_heads")), cast(keys));
  const ValueId with_cap = capped(c, product);
  const ValueId masked = Masks(c, with_cap, past).masked();
  const Weights weights = weights_of(c, masked);
  // A quotient for each query is less than one for each query and key.
  ValueId result = c.scalar(Op::div_, {matmul_of_heads(c, weights.exponentials, cast(values)), weights.sum});
  if (c.rank(0) == 3) result = joined_heads(c, c.b.transpose(result, {0, 2, 1, 3}));
  c.out(0, c.b.cast(result, dtype));
  c.out(1, keys);
  c.out(2, values);
  if (!c.wants(3)) return;
  const int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) throw c.wrong(str("a qk_matmul_output_mode of ", mode));
  c.out(3, c.b.cast(mode == 0 ? product : mode == 1 ? with_cap : mode == 2 ? masked : quotient(c, weights), dtype));
}

/// What a graph that is an attribute makes of x, which is its input.
ValueId modified(Call& c, std::string_view name, ValueId x) {
  const Attribute* attribute = c.attribute(name);
  if (!attribute) return x;
  if (!attribute->graph || attribute->graph->inputs.size() != 1) throw c.wrong(str("`", name, "` has not one input"));
  Scope inside(c.scope.frame, &c.scope);
  inside.set(attribute->graph->inputs[0].name, x);
  const std::vector<ValueId> results = c.importer.graph(*attribute->graph, inside);
  if (results.size() != 1) throw c.wrong(str("`", name, "` has not one output"));
  return results[0];
}

void flex_attention(Call& c) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (c.rank(i) != 4) throw c.wrong(str("input ", i, " is not of 4 axes"));
  }
  const DType computed = weights_dtype(c);
  const auto in = [&](std::size_t i) { return c.b.cast(c.in(i), computed); };
  const ValueId scores = modified(c, "score_mod", scores_of(c, in(0), in(1)));
  const ValueId weights = modified(c, "prob_mod", quotient(c, weights_of(c, scores)));
  c.out(c.b.cast(matmul_of_heads(c, weights, in(2)), c.dtype(0)));
}

/// A part of axis 3; `last`: what of an axis behind it.
ValueId part_of_heads(Call& c, ValueId x, const Dim& start, const Dim& stop, std::optional<int64_t> last = {}) {
  std::vector<IndexItem> index = whole(c.type(x).dims);
  index[3] = IndexItem::range(start, stop);
  if (last) index[4] = IndexItem::at(*last);
  return c.b.slice(x, std::move(index));
}

/// The sines or cosines of input i, [batch, length, size / 2], with one axis more for the heads of x.
ValueId rotation(Call& c, std::size_t i, int axis_of_heads, DType computed) {
  ValueId cache = c.in(i);
  if (c.has(3)) {
    cache = c.b.gather(cache, {IndexItem::through(c.in(3)), IndexItem::range(0, c.dims(i).at(1))});
  }
  return c.b.cast(expand_dims(c.b, cache, {axis_of_heads}), computed);
}

/// Elements by two, next to each other or half the rotated part away, are turned by an angle of their own.
void rotary_embedding(Call& c) {
  const DType dtype = c.dtype(0), computed = computed_in(dtype);
  const bool is_packed = c.rank(0) == 3;
  const ValueId x = is_packed ? split_heads(c, c.in(0), c.integer("num_heads")) : c.in(0);
  const std::vector<Dim> dims = c.type(x).dims;
  const Dim& size = dims.at(3);
  const int64_t given = c.integer("rotary_embedding_dim", 0);
  const Dim rotated = given == 0 ? size : Dim(given), half = floor_div(rotated, 2);
  const ValueId sine = rotation(c, 2, is_packed ? 2 : 1, computed),
                cosine = rotation(c, 1, is_packed ? 2 : 1, computed);

  // Next to each other they are rows of two, [..., size / 2, 2].
  const bool by_turns = c.flag("interleaved");
  std::vector<Dim> in_twos = dims;
  in_twos.back() = floor_div(size, 2);
  in_twos.emplace_back(2);
  const ValueId all = by_turns ? c.b.reshape(x, in_twos) : x;
  const auto product = [&](ValueId factor, int64_t i) {
    const ValueId side = by_turns ? part_of_heads(c, all, 0, half, i) : part_of_heads(c, all, half * i, half * (i + 1));
    return c.scalar(Op::mul_, {factor, c.b.cast(side, computed)});
  };
  const ValueId first = c.scalar(Op::sub_, {product(cosine, 0), product(sine, 1)});
  const ValueId second = c.scalar(Op::add_, {product(sine, 0), product(cosine, 1)});
  ValueId result = by_turns ? stack(c.b, {first, second}, 4) : c.b.concat({first, second}, 3);
  result = c.b.cast(result, dtype);
  if (rotated != size) {
    const Dim start = by_turns ? half : rotated, stop = by_turns ? in_twos[3] : size;
    result = c.b.concat({result, part_of_heads(c, all, start, stop)}, 3);
  }
  if (by_turns) result = c.b.reshape(result, dims);
  c.out(is_packed ? joined_heads(c, result) : result);
}

/// The operands of a linear attention at all steps, as its loop reads them.
struct Recurrence {
  ValueId queries;               // [batch, steps, heads of keys, queries of one, key size]
  ValueId keys, values;          // [batch, steps, heads of keys, size]
  std::optional<ValueId> decay;  // [batch, steps, heads of keys, key size or 1]
  std::optional<ValueId> rate;   // [batch, steps, heads of keys or 1, 1]
};

/// One step: the state [batch, heads, key size, value size] forgets, learns the value of the step's key, and is read by
/// the step's queries.
class LinearStep {
 public:
  LinearStep(GraphBuilder& outside, const Dim& steps) : outside_(outside), b_(outside.body()) {
    step_ = b_.step("i", steps);
  }

  inlay::Graph made(const TensorType& state_type, const Recurrence& all) {
    ValueId state = b_.param("state", state_type);
    const ValueId queries = at_step("queries", all.queries), keys = at_step("keys", all.keys);
    ValueId values = at_step("values", all.values);
    const ValueId key = expand_dims(b_, keys, {-1});
    if (all.decay) {
      const ValueId kept = b_.scalar(Op::exp_, {expand_dims(b_, at_step("decay", *all.decay), {-1})});
      state = b_.scalar(Op::mul_, {state, kept});
    }
    if (all.rate) {
      const ValueId recalled = summed_over_keys(b_.scalar(Op::mul_, {state, key}));
      values = b_.scalar(Op::mul_, {at_step("rate", *all.rate), b_.scalar(Op::sub_, {values, recalled})});
    }
    state = b_.scalar(Op::add_, {state, b_.scalar(Op::mul_, {key, expand_dims(b_, values, {-2})})});
    b_.output(state);
    const ValueId read = b_.scalar(Op::mul_, {expand_dims(b_, state, {2}), expand_dims(b_, queries, {-1})});
    b_.output(summed_over_keys(read));
    return std::move(b_).finish();
  }

  const std::vector<ValueId>& captured() const { return captured_; }

 private:
  ValueId at_step(const char* name, ValueId v) {
    captured_.push_back(v);
    const ValueId inside = b_.param(name, outside_.type(v));
    std::vector<IndexItem> index = whole(b_.type(inside).dims);
    index[1] = IndexItem::through(step_);
    return b_.gather(inside, std::move(index));
  }

  ValueId summed_over_keys(ValueId x) {
    const TensorType type = b_.type(x);
    return b_.reduce(Fold::add, x, {type.rank() - 2}, type.dtype);
  }

  GraphBuilder& outside_;
  GraphBuilder b_;
  ValueId step_;
  std::vector<ValueId> captured_;
};

Recurrence recurrence_of(Call& c, DType computed) {
  const int64_t key_heads = c.integer("kv_num_heads"), query_heads = c.integer("q_num_heads");
  const std::string rule = c.word("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") {
    throw c.wrong(str("`", rule, "` is no update rule"));
  }
  if (key_heads < 1 || query_heads % key_heads != 0) {
    throw c.wrong(str(query_heads, " heads of queries for ", key_heads, " of keys"));
  }
  const auto split = [&](std::size_t i, int64_t heads) { return split_heads(c, c.b.cast(c.in(i), computed), heads); };
  const ValueId queries = split(0, query_heads);
  std::vector<Dim> grouped = c.type(queries).dims;
  grouped[2] = query_heads / key_heads;
  grouped.insert(grouped.begin() + 2, Dim(key_heads));
  Recurrence out{c.b.reshape(queries, grouped), split(1, key_heads), split(2, key_heads), {}, {}};
  if (rule == "gated" || rule == "gated_delta") out.decay = split(4, key_heads);
  if (rule == "delta" || rule == "gated_delta") out.rate = split(5, c.dims(5, 3)[2].is(1) ? 1 : key_heads);
  return out;
}

/// A loop over the tokens.
void linear_attention(Call& c) {
  const DType dtype = c.dtype(0);
  const DType computed = promote(c.has(3) ? promote(dtype, c.dtype(3)) : dtype, DType::f32);
  const Recurrence all = recurrence_of(c, computed);
  const std::vector<Dim> keys = c.type(all.keys).dims, values = c.type(all.values).dims;
  const TensorType state = {computed, {keys[0], keys[2], keys[3], values[3]}};
  const ValueId initial =
      c.has(3) ? c.b.broadcast(c.b.cast(c.in(3), computed), state.dims) : full(c.b, c.literal(computed, 0), state.dims);
  LinearStep step(c.b, keys[1]);
  inlay::Graph body = step.made(state, all);
  const std::vector<ValueId> made = c.b.loop(keys[1], {initial}, step.captured(), std::move(body));

  ValueId scale = c.literal(computed, c.number("scale", 0));
  if (c.number("scale", 0) == 0) {
    scale = c.scalar(Op::reciprocal_, {c.scalar(Op::sqrt_, {c.b.cast(c.b.size(keys[3]), computed)})});
  }
  const ValueId result = c.scalar(Op::mul_, {c.b.transpose(made[1], {1, 0, 2, 3, 4}), scale});
  const std::vector<Dim> dims = c.type(result).dims;
  c.out(0, c.b.cast(c.b.reshape(result, {dims[0], dims[1], dims[2] * dims[3] * dims[4]}), dtype));
  c.out(1, c.b.cast(made[0], c.has(3) ? c.dtype(3) : dtype));
}

constexpr OpRow kOps[] = {
    {"Attention", attention, 23},
    {"FlexAttention", flex_attention, 1, "ai.onnx.preview"},
    {"LinearAttention", linear_attention, 27},
    {"RotaryEmbedding", rotary_embedding, 23},
};

}  // namespace

std::span<const OpRow> attention_ops() { return kOps; }

}  // namespace inlay::onnx
