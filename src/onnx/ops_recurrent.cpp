// RNN, GRU and LSTM: one loop over time for each direction. What the inputs give is one product for all steps, before
// the loop; what is carried from step to step is read and written in place.
#include <algorithm>
#include <array>
#include <functional>

#include "ir/linalg.h"
#include "onnx/body.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "onnx/quantised.h"
#include "support/ascii.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// A function of the gates: a name of ONNX's list, and its numbers where they are given.
struct Activation {
  std::string name;
  std::optional<double> alpha, beta;
};

/// What is known of each: does it take alpha, beta?
struct ActivationRow {
  std::string_view name;
  bool takes_alpha = false, takes_beta = false;
};
constexpr ActivationRow kActivations[] = {
    {"Relu"},
    {"Tanh"},
    {"Sigmoid"},
    {"Softsign"},
    {"Softplus"},
    {"LeakyRelu", true},
    {"ThresholdedRelu", true},
    {"Elu", true},
    {"Affine", true, true},
    {"ScaledTanh", true, true},
    {"HardSigmoid", true, true},
};

bool is_same_word(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, to_lower, to_lower); }

/// The functions of all gates and directions; alpha and beta are taken, in order, by those that have them.
std::vector<Activation> activations_of(const Call& c, const std::vector<std::string_view>& defaults,
                                       std::size_t directions) {
  std::vector<std::string> names = c.words("activations");
  if (names.empty()) {
    for (std::size_t i = 0; i < directions; ++i) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * directions) {
    throw c.wrong(str("it has ", names.size(), " activations, not ", defaults.size() * directions));
  }
  const auto alphas = c.numbers("activation_alpha").value_or(std::vector<float>());
  const auto betas = c.numbers("activation_beta").value_or(std::vector<float>());
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    const auto* const row =
        std::ranges::find_if(kActivations, [&](const ActivationRow& row) { return is_same_word(row.name, name); });
    if (row == std::end(kActivations)) throw c.unsupported(str("the activation `", name, "`"));
    Activation activation{std::string(row->name), {}, {}};
    if (row->takes_alpha && next_alpha < alphas.size()) activation.alpha = static_cast<double>(alphas[next_alpha++]);
    if (row->takes_beta && next_beta < betas.size()) activation.beta = static_cast<double>(betas[next_beta++]);
    out.push_back(std::move(activation));
  }
  return out;
}

/// The weights of one direction, outside of the loop.
struct Weights {
  ValueId w;  // [gates hidden, input]
  ValueId r;  // [directions, hidden, gates hidden]: all of it, so that the loop has no copy of a part
  std::size_t direction = 0;
  // [gates hidden]; one is the sum of both where the cell reads them together.
  std::optional<ValueId> bias, r_bias;
  std::optional<ValueId> peepholes;
  // Of integers, [input, gates hidden] and as above: what they are times, and less what; one number or one for each
  // gate of each element.
  std::optional<ValueId> w_scale, r_scale, w_zero, r_zero;
  std::optional<ByteColumns> r_columns;  // of this direction
};

/// Within the body of a loop: the arithmetic of one step.
class Step {
 public:
  Step(Call& c, Body& body, const Dim& hidden, std::span<const Activation> activations)
      : b(body.b), c_(c), body_(body), hidden_(hidden), activations_(activations) {
    if (const double clip = c.number("clip", 0); clip > 0) clip_ = clip;
  }

  ValueId add(ValueId x, ValueId y) { return b.scalar(Op::add_, {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return b.scalar(Op::mul_, {x, y}); }
  ValueId one_less(ValueId x) { return b.scalar(Op::sub_, {number(x, 1), x}); }
  ValueId number(ValueId like, double value) { return b.literal(Literal::of(b.type(like).dtype, value)); }

  /// Gate `place` of all gates side by side.
  ValueId gate(ValueId all, int64_t place) {
    std::vector<IndexItem> index;
    const std::vector<Dim>& dims = b.type(all).dims;
    for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) index.push_back(IndexItem::range(0, dims[axis]));
    index.push_back(IndexItem::range(place * hidden_, (place + 1) * hidden_));
    return b.slice(all, std::move(index));
  }

  /// What the state h gives to the gates [from, to).
  ValueId product(ValueId h, const Weights& weights, int64_t from, int64_t to) {
    if (const auto& all = weights.r_columns) {
      const auto rows = IndexItem::range(from * hidden_, to * hidden_);
      const ValueId columns = b.slice(bring(all->columns), {rows, IndexItem::range(0, hidden_)});
      const ByteColumns part{columns, of_gates(all->zero, rows), b.slice(bring(all->sums), {rows})};
      Call within(c_.importer, body_.scope, c_.node, c_.version);
      return dynamically_quantised_dots(within, h, part, *of_gates(weights.r_scale, rows));
    }
    const ValueId r =
        b.slice(bring(weights.r), {IndexItem::at(static_cast<int64_t>(weights.direction)), IndexItem::range(0, hidden_),
                                   IndexItem::range(from * hidden_, to * hidden_)});
    if (!weights.r_scale) return linalg::matmul(b, h, r);
    Call within(c_.importer, body_.scope, c_.node, c_.version);
    return dynamically_quantised_product(within, h, {r, bring(*weights.r_zero)}, bring(*weights.r_scale));
  }

  ValueId clipped(ValueId x) {
    if (!clip_) return x;
    return b.scalar(Op::min_, {b.scalar(Op::max_, {x, number(x, -*clip_)}), number(x, *clip_)});
  }

  /// Function `which` of the cell, of the sum of a gate, which is kept within the clip.
  ValueId gated(std::size_t which, ValueId sum) { return activated(which, clipped(sum)); }

  ValueId activated(std::size_t which, ValueId x) {
    const Activation& f = activations_[which];
    if (f.name == "Affine") return add(mul(x, number(x, f.alpha.value_or(1))), number(x, f.beta.value_or(0)));
    if (f.name == "ScaledTanh") {
      return mul(b.scalar(Op::tanh_, {mul(x, number(x, f.beta.value_or(1)))}), number(x, f.alpha.value_or(1)));
    }
    return as_node(f, x);
  }

  ValueId bring(ValueId outside) { return body_.bring(outside); }

  /// One number, or one for each element of these gates.
  std::optional<ValueId> of_gates(std::optional<ValueId> outside, const IndexItem& rows) {
    if (!outside) return std::nullopt;
    const ValueId inside = bring(*outside);
    return b.type(inside).rank() == 0 || b.type(inside).dims[0].is(1) ? inside : b.slice(inside, {rows});
  }

  GraphBuilder& b;

 private:
  /// The op of that name, as a network would call it.
  ValueId as_node(const Activation& f, ValueId x) {
    Node node{.op = f.name};
    const auto set = [&](const char* name, std::optional<double> value) {
      if (value) node.attributes.push_back({.name = name, .f = static_cast<float>(*value)});
    };
    set("alpha", f.alpha);
    set("beta", f.beta);
    return applied(c_.importer, body_.scope, std::move(node), std::array{x}, c_.version);
  }

  Call& c_;
  Body& body_;
  Dim hidden_;
  std::span<const Activation> activations_;
  std::optional<double> clip_;
};

/// The next states, h first. `given`: what the inputs and the bias give to all gates of this step.
using Cell =
    std::function<std::vector<ValueId>(Step&, ValueId given, const std::vector<ValueId>& states, const Weights&)>;

/// A recurrent op: how many gates stand side by side in its weights, what it carries, and a step of it.
struct Recurrent {
  int64_t gates = 1;
  std::size_t states = 1;
  std::vector<std::string_view> activations;
  bool sums_biases = true;
  Cell cell;
  bool is_quantised = false;  // integers as weights, transposed; what is multiplied with them is quantised as it is
};

std::vector<ValueId> rnn_cell(Step& s, ValueId given, const std::vector<ValueId>& states, const Weights& weights) {
  return {s.gated(0, s.add(given, s.product(states[0], weights, 0, 1)))};
}

/// Gates in the order i, o, f, c. What is clipped is the sums of the gates, not the cell: so onnxruntime has it, and
/// the standard leaves it open.
std::vector<ValueId> lstm_cell(Step& s, ValueId given, const std::vector<ValueId>& states, const Weights& weights,
                               bool couples) {
  const ValueId h = states[0], cell = states[1];
  const ValueId all = s.add(given, s.product(h, weights, 0, 4));
  const auto seeing = [&](int64_t place, int64_t peephole, ValueId what) {
    const ValueId gate = s.gate(all, place);
    return weights.peepholes ? s.add(gate, s.mul(s.gate(s.bring(*weights.peepholes), peephole), what)) : gate;
  };
  const ValueId input = s.gated(0, seeing(0, 0, cell));
  const ValueId forget = couples ? s.one_less(input) : s.gated(0, seeing(2, 2, cell));
  const ValueId candidate = s.gated(1, s.gate(all, 3));
  const ValueId next = s.add(s.mul(forget, cell), s.mul(input, candidate));
  const ValueId output = s.gated(0, seeing(1, 1, next));
  return {s.mul(output, s.activated(2, next)), next};
}

/// Gates in the order z, r, h. The last one sees what the reset gate r leaves of h: of the product with h, or of h
/// before the product.
std::vector<ValueId> gru_cell(Step& s, ValueId given, const std::vector<ValueId>& states, const Weights& weights,
                              bool resets_product) {
  const ValueId h = states[0];
  ValueId update, candidate;
  if (resets_product) {
    ValueId all = s.product(h, weights, 0, 3);
    if (weights.r_bias) all = s.add(all, s.bring(*weights.r_bias));
    const auto sum = [&](int64_t place) { return s.add(s.gate(given, place), s.gate(all, place)); };
    update = s.gated(0, sum(0));
    const ValueId reset = s.gated(0, sum(1));
    candidate = s.gated(1, s.add(s.gate(given, 2), s.mul(reset, s.gate(all, 2))));
  } else {
    const ValueId both = s.product(h, weights, 0, 2);
    const auto sum = [&](int64_t place) { return s.add(s.gate(given, place), s.gate(both, place)); };
    update = s.gated(0, sum(0));
    const ValueId reset = s.gated(0, sum(1));
    const ValueId last = s.product(s.mul(reset, h), weights, 2, 3);
    candidate = s.gated(1, s.add(s.gate(given, 2), last));
  }
  return {s.add(s.mul(s.one_less(update), candidate), s.mul(update, h))};
}

/// A node of a recurrent op: its directions one after the other.
class Directions {
 public:
  Directions(Call& c, Recurrent op) : c_(c), b_(c.b), op_(std::move(op)) {
    const std::string direction = c.word("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      throw c.wrong(str("`", direction, "` is no direction"));
    }
    directions_ = direction == "bidirectional" ? 2 : 1;
    count_ = static_cast<int64_t>(directions_);
    begins_reverse_ = direction == "reverse";
    batch_first_ = c.flag("layout");
    const std::vector<Dim> x = require_rank(0, 3), r = require_rank(2, 3);
    require_rank(1, 3);
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    input_ = x[2];
    hidden_ = c.has_attribute("hidden_size") ? Dim(c.integer("hidden_size")) : r[op_.is_quantised ? 1 : 2];
    dtype_ = is_half(c.dtype(0)) ? DType::f32 : c.dtype(0);
    activations_ = activations_of(c, op_.activations, directions_);
    if (c.has(4)) lengths_ = with_sizes(c, b_, b_.cast(c.in(4), DType::i64), {batch_}, "input 4");
  }

  void run() {
    std::vector<ValueId> all;                            // of each direction [steps, batch, hidden]
    std::vector<std::vector<ValueId>> last(op_.states);  // of each state, of each direction [batch, hidden]
    for (std::size_t d = 0; d < directions_; ++d) {
      const std::vector<ValueId> results = one(d);
      for (std::size_t i = 0; i < op_.states; ++i) last[i].push_back(results[i]);
      if (c_.wants(0)) all.push_back(is_reverse(d) ? b_.flip(results.back(), {0}) : results.back());
    }
    if (c_.wants(0)) {
      const ValueId y = stack(b_, all, 1);
      c_.out(0, b_.cast(batch_first_ ? b_.transpose(y, {2, 0, 1, 3}) : y, c_.dtype(0)));
    }
    for (std::size_t i = 0; i < op_.states; ++i) {
      if (c_.wants(1 + i)) c_.out(1 + i, b_.cast(stack(b_, last[i], batch_first_ ? 1 : 0), c_.dtype(0)));
    }
  }

 private:
  bool is_reverse(std::size_t d) const { return d == 1 || begins_reverse_; }

  std::vector<Dim> require_rank(std::size_t i, int rank) {
    if (c_.rank(i) != rank) {
      throw c_.error(ErrorCode::wrong_rank,
                     str("input ", i, " is to have ", rank, " axes, and is ", b_.graph().describe(c_.in(i))));
    }
    return c_.dims(i);
  }

  /// Input i, computed in one dtype, of these sizes.
  ValueId sized(std::size_t i, const std::vector<Dim>& dims) {
    return with_sizes(c_, b_, b_.cast(c_.in(i), dtype_), dims, str("input ", i));
  }

  /// What direction d has of input i, whose direction is its first axis.
  ValueId part(std::size_t i, std::size_t d, std::vector<Dim> dims) {
    dims.insert(dims.begin(), count_);
    return b_.slice(sized(i, dims), {IndexItem::at(static_cast<int64_t>(d))});
  }

  /// Input i, which has a number for each direction, or one for each gate of each element of it.
  ValueId for_gates(std::size_t i) {
    std::vector<Dim> dims = {count_};
    if (c_.rank(i) != 1) dims.push_back(op_.gates * hidden_);
    require_rank(i, static_cast<int>(dims.size()));
    return with_sizes(c_, b_, c_.in(i), dims, str("input ", i));
  }

  Weights weights(std::size_t d) {
    const Dim all = op_.gates * hidden_;
    Weights out;
    out.direction = d;
    if (op_.is_quantised) {
      const auto direction = static_cast<int64_t>(d);
      const auto of_direction = [&](ValueId v) { return b_.slice(v, {IndexItem::at(direction)}); };
      out.w = of_direction(with_sizes(c_, b_, c_.in(1), {count_, input_, all}, "input 1"));
      out.w_scale = of_direction(for_gates(8));
      out.w_zero = of_direction(for_gates(9));
      if (!r_.valid()) r_ = with_sizes(c_, b_, c_.in(2), {count_, hidden_, all}, "input 2");
      out.r_scale = of_direction(for_gates(10));
      out.r_zero = of_direction(for_gates(11));
      out.r_columns = byte_columns(c_, {of_direction(r_), *out.r_zero});
    } else {
      out.w = part(1, d, {all, input_});
      if (!r_.valid()) r_ = linalg::swapped(b_, sized(2, {count_, all, hidden_}));
    }
    out.r = r_;
    if (c_.has(3)) {
      const ValueId both = part(3, d, {2 * all});
      out.bias = b_.slice(both, {IndexItem::range(0, all)});
      out.r_bias = b_.slice(both, {IndexItem::range(all, 2 * all)});
      if (op_.sums_biases) out.bias = b_.scalar(Op::add_, {*out.bias, *out.r_bias});
    }
    if (op_.states == 2 && c_.has(7)) out.peepholes = part(7, d, {3 * hidden_});
    return out;
  }

  ValueId initial(std::size_t i, std::size_t d) {
    if (!batch_first_) return part(i, d, {batch_, hidden_});
    const auto direction = static_cast<int64_t>(d);
    return b_.slice(sized(i, {batch_, count_, hidden_}), {IndexItem::range(0, batch_), IndexItem::at(direction)});
  }

  std::vector<ValueId> initial_states(std::size_t d) {
    std::vector<ValueId> out;
    for (std::size_t i = 0; i < op_.states; ++i) {
      out.push_back(c_.has(5 + i) ? initial(5 + i, d) : full(b_, c_.literal(dtype_, 0), {batch_, hidden_}));
    }
    return out;
  }

  /// The products of all steps with W, in the order of x.
  ValueId products(const Weights& weights) {
    const ValueId x = b_.cast(c_.in(0), dtype_);
    const Dim rows = steps_ * batch_, all = op_.gates * hidden_;
    const ValueId flat = b_.reshape(x, {rows, input_});
    const ValueId lines = weights.w_scale
                              ? dynamically_quantised_product(c_, flat, {weights.w, *weights.w_zero}, *weights.w_scale)
                              : linalg::matmul(b_, flat, linalg::swapped(b_, weights.w));
    return b_.reshape(lines,
                      batch_first_ ? std::vector<Dim>{batch_, steps_, all} : std::vector<Dim>{steps_, batch_, all});
  }

  /// The states after all steps and, where they are wanted, h after each.
  std::vector<ValueId> one(std::size_t d) {
    const Weights own = weights(d);
    ValueId given = products(own);
    if (is_reverse(d)) given = b_.flip(given, {batch_first_ ? 1 : 0});
    std::vector<ValueId> before = initial_states(d);
    Body body(c_.scope);
    GraphBuilder& b = body.b;
    const ValueId at = b.step("step", steps_);
    std::vector<ValueId> states;
    for (ValueId state : before) states.push_back(b.param("", b_.type(state)));
    Step step(c_, body, hidden_, std::span(activations_).subspan(d * op_.activations.size(), op_.activations.size()));
    ValueId row = row_at(b, body.bring(given), at);
    if (own.bias) row = step.add(row, body.bring(*own.bias));
    std::vector<ValueId> next = op_.cell(step, row, states, own);
    std::optional<ValueId> trace;
    if (c_.wants(0)) trace = next[0];
    if (lengths_) {
      const ValueId time = is_reverse(d) ? b.scalar(Op::sub_, {b.size(steps_ - 1), at}) : at;
      const ValueId goes_on = b.reshape(b.scalar(Op::gt_, {body.bring(*lengths_), time}), {batch_, 1});
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = b.scalar(Op::select_, {goes_on, next[i], states[i]});
      if (trace) trace = b.scalar(Op::select_, {goes_on, *trace, step.number(*trace, 0)});
    }
    for (ValueId state : next) b.output(state);
    if (trace) b.output(*trace);
    const std::vector<ValueId> captured = body.frame.captured();
    std::vector<ValueId> results = b_.loop(steps_, std::move(before), captured, body.finish());
    if (lengths_) {  // a sequence of no steps ends in 0, as in onnxruntime, also where it begins with something else
      const ValueId is_any = b_.reshape(c_.with(Op::gt_, *lengths_, 0), {batch_, 1});
      for (std::size_t i = 0; i < op_.states; ++i) {
        results[i] = b_.scalar(Op::select_, {is_any, results[i], c_.literal(dtype_, 0)});
      }
    }
    return results;
  }

  ValueId row_at(GraphBuilder& b, ValueId x, ValueId step) const {
    std::vector<IndexItem> index = {IndexItem::through(step)};
    if (batch_first_) index.insert(index.begin(), IndexItem::range(0, batch_));
    return b.gather(x, std::move(index));
  }

  Call& c_;
  GraphBuilder& b_;
  Recurrent op_;
  std::size_t directions_ = 1;
  Dim count_;  // of directions
  bool begins_reverse_ = false, batch_first_ = false;
  Dim steps_, batch_, input_, hidden_;
  DType dtype_ = DType::f32;
  std::vector<Activation> activations_;
  ValueId r_;  // of all directions, as the loops read it
  std::optional<ValueId> lengths_;
};

void rnn(Call& c) { Directions(c, {1, 1, {"Tanh"}, true, rnn_cell}).run(); }

void lstm_of(Call& c, bool is_quantised) {
  const bool couples = c.flag("input_forget");
  const Cell cell = [couples](Step& s, ValueId given, const std::vector<ValueId>& states, const Weights& weights) {
    return lstm_cell(s, given, states, weights, couples);
  };
  Directions(c, {4, 2, {"Sigmoid", "Tanh", "Tanh"}, true, cell, is_quantised}).run();
}
void lstm(Call& c) { lstm_of(c, false); }
void dynamically_quantised_lstm(Call& c) { lstm_of(c, true); }

void gru(Call& c) {
  const bool resets_product = c.flag("linear_before_reset");
  const Cell cell = [=](Step& s, ValueId given, const std::vector<ValueId>& states, const Weights& weights) {
    return gru_cell(s, given, states, weights, resets_product);
  };
  Directions(c, {3, 1, {"Sigmoid", "Tanh"}, !resets_product, cell}).run();
}

constexpr OpRow kOps[] = {
    {.name = "DynamicQuantizeLSTM", .make = dynamically_quantised_lstm, .domain = "com.microsoft"},
    {"GRU", gru},
    {"LSTM", lstm},
    {"RNN", rnn},
};

}  // namespace

std::span<const OpRow> recurrent_ops() { return kOps; }

}  // namespace inlay::onnx
