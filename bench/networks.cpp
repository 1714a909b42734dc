#include "networks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>

namespace inlay::bench {
namespace {

/// The same numbers everywhere: the distributions of <random> differ from library to library.
class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(generator_() % static_cast<uint64_t>(n)); }
  int64_t one_of(std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

 private:
  std::mt19937 generator_;
};

/// What the gradient of an op reads beside the gradient of its result.
enum class Keeps : uint8_t { nothing, operands, result };

/// Ops in the order they run, each with one result; then, if it is wanted, those of the gradient.
class Tape {
 public:
  int input(int64_t elements) { return add({}, elements, Keeps::nothing, false); }
  /// With weights: a convolution, a product with a matrix.
  int layer(int x, int64_t elements, int64_t weights) {
    const int out = add({x}, elements, Keeps::operands, false);
    ops_[static_cast<std::size_t>(out)].weights = weights;
    return out;
  }
  int product(int x, int y, int64_t elements) { return add({x, y}, elements, Keeps::operands, false); }
  int activation(int x) { return add({x}, elements(x), Keeps::result, true); }
  int norm(int x) { return add({x}, elements(x), Keeps::operands, false); }
  int sum(int x, int y) { return add({x, y}, elements(x), Keeps::nothing, true); }
  int gate(int x, int y) { return add({x, y}, elements(x), Keeps::operands, true); }
  /// Pooling, resizing, a slice, a transpose.
  int moved(int x, int64_t elements) { return add({x}, elements, Keeps::nothing, false); }
  int joined(const std::vector<int>& parts) {
    int64_t total = 0;
    for (int part : parts) total += elements(part);
    return add(parts, total, Keeps::nothing, false);
  }
  int64_t elements(int value) const { return ops_[static_cast<std::size_t>(value)].elements; }

  void differentiate();
  std::vector<memory::Storage> storages(Sharing sharing) const;

 private:
  struct Op {
    std::vector<int> operands;
    int64_t elements = 0;
    Keeps keeps = Keeps::nothing;
    bool may_share = false;
    int64_t weights = 0;
    bool is_result = false;
  };
  int add(std::vector<int> operands, int64_t elements, Keeps keeps, bool may_share) {
    ops_.push_back({std::move(operands), elements, keeps, may_share});
    return static_cast<int>(ops_.size()) - 1;
  }

  std::vector<Op> ops_;  // op i makes value i
};

/// Backwards over all ops. A value that several ops read gets the sum of their gradients; weights keep theirs to the
/// end.
void Tape::differentiate() {
  std::map<int, int> gradients = {{static_cast<int>(ops_.size()) - 1, static_cast<int>(ops_.size()) - 1}};
  for (int i = static_cast<int>(ops_.size()) - 1; i >= 0; --i) {
    const auto found = gradients.find(i);
    const Op op = ops_[static_cast<std::size_t>(i)];
    if (found == gradients.end() || op.operands.empty()) continue;
    const int gradient = found->second;
    for (int operand : op.operands) {
      std::vector<int> reads = {gradient};
      if (op.keeps == Keeps::operands) reads.insert(reads.end(), op.operands.begin(), op.operands.end());
      if (op.keeps == Keeps::result) reads.push_back(i);
      if (ops_[static_cast<std::size_t>(operand)].operands.empty()) continue;  // nobody asks for an input's
      int made = add(reads, elements(operand), Keeps::nothing, op.may_share);
      const auto before = gradients.find(operand);
      gradients[operand] = before == gradients.end() ? made : sum(before->second, made);
    }
    if (op.weights > 0) {
      const int made = add({gradient, op.operands[0]}, op.weights, Keeps::nothing, false);
      ops_[static_cast<std::size_t>(made)].is_result = true;
    }
  }
}

/// Op i reads at tick 2i and writes at 2i + 1.
std::vector<memory::Storage> Tape::storages(Sharing sharing) const {
  const auto count = static_cast<int>(ops_.size());
  std::vector<int> last_use(ops_.size(), -1), storage_of(ops_.size(), -1);
  for (int i = 0; i < count; ++i) {
    for (int operand : ops_[static_cast<std::size_t>(i)].operands) last_use[static_cast<std::size_t>(operand)] = i;
  }
  for (int i = 0; i < count; ++i) {
    if (last_use[static_cast<std::size_t>(i)] < 0 || ops_[static_cast<std::size_t>(i)].is_result)
      last_use[static_cast<std::size_t>(i)] = count;
  }
  std::vector<memory::Storage> out;
  for (int i = 0; i < count; ++i) {
    const Op& op = ops_[static_cast<std::size_t>(i)];
    const int32_t end = 2 * last_use[static_cast<std::size_t>(i)] + 2;
    int& storage = storage_of[static_cast<std::size_t>(i)];
    for (int operand : op.operands) {
      const bool dies = last_use[static_cast<std::size_t>(operand)] == i;
      const bool is_input = ops_[static_cast<std::size_t>(operand)].operands.empty();
      if (sharing == Sharing::on && op.may_share && dies && !is_input && storage < 0 &&
          elements(operand) == op.elements)
        storage = storage_of[static_cast<std::size_t>(operand)];
    }
    if (storage >= 0) {
      out[static_cast<std::size_t>(storage)].live.end = end;
      continue;
    }
    storage = static_cast<int>(out.size());
    const int64_t bytes = std::max<int64_t>((4 * op.elements + 63) / 64 * 64, 64);
    out.push_back({.live = {op.operands.empty() ? 0 : 2 * i + 1, end}, .size_bytes = bytes});
  }
  return out;
}

/// An image of side x side points with so many channels.
struct Image {
  int value = 0;
  int64_t side = 0, channels = 0;
};

class Maker {
 public:
  Maker(Tape& tape, uint32_t seed) : tape(tape), random(seed), batch(random.one_of({1, 1, 2, 4})) {}

  Image image(int64_t side, int64_t channels) { return {tape.input(batch * side * side * channels), side, channels}; }
  Image conv(Image x, int64_t channels, int64_t stride = 1, int64_t kernel = 3) {
    const int64_t side = (x.side + stride - 1) / stride;
    return {tape.layer(x.value, batch * side * side * channels, kernel * kernel * x.channels * channels), side,
            channels};
  }
  Image active(Image x) { return {tape.activation(x.value), x.side, x.channels}; }
  Image conv_norm_active(Image x, int64_t channels, int64_t stride = 1, int64_t kernel = 3) {
    Image out = conv(x, channels, stride, kernel);
    if (with_norms) out.value = tape.norm(out.value);
    return active(out);
  }
  Image sum(Image x, Image y) { return {tape.sum(x.value, y.value), x.side, x.channels}; }
  Image resized(Image x, int64_t side) {
    return {tape.moved(x.value, batch * side * side * x.channels), side, x.channels};
  }
  Image joined(const std::vector<Image>& parts) {
    std::vector<int> values;
    int64_t channels = 0;
    for (const Image& part : parts) {
      values.push_back(part.value);
      channels += part.channels;
    }
    return {tape.joined(values), parts[0].side, channels};
  }
  void classify(Image x) { tape.layer(tape.moved(x.value, batch * x.channels), batch * 1000, 1000 * x.channels); }

  Tape& tape;
  Random random;
  int64_t batch = 1;
  bool with_norms = false;
};

void mobilenet(Maker& m) {
  const int64_t width = m.random.one_of({8, 12, 16});
  Image x = m.conv_norm_active(m.image(m.random.one_of({96, 128, 192, 224}), 3), 2 * width, 2);
  const int64_t plan[][3] = {{1, 1, 1}, {2, 2, 2}, {2, 3, 2}, {4, 4, 2}, {6, 3, 1}, {10, 3, 2}, {20, 1, 1}};
  for (const auto& [scale, repeats, first_stride] : plan) {
    for (int64_t k = 0; k < repeats; ++k) {
      const int64_t stride = k ? 1 : first_stride;
      Image y = m.conv_norm_active(x, 6 * x.channels, 1, 1);
      y = m.conv_norm_active(y, y.channels, stride);
      y = m.conv(y, scale * width, 1, 1);
      x = stride == 1 && y.channels == x.channels ? m.sum(x, y) : y;
    }
  }
  m.classify(m.conv_norm_active(x, 80 * width, 1, 1));
}

void resnet(Maker& m) {
  const int64_t width = m.random.one_of({32, 64});
  Image x = m.conv_norm_active(m.image(m.random.one_of({112, 160, 224}), 3), width, 2, 7);
  x = m.resized(x, x.side / 2);
  const int64_t deep = m.random.below(3);
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t blocks = (const int64_t[]){3, 4, 6 + 4 * deep, 3}[stage], channels = width << stage;
    for (int64_t k = 0; k < blocks; ++k) {
      const int64_t stride = k == 0 && stage > 0 ? 2 : 1;
      Image y = m.conv_norm_active(x, channels, 1, 1);
      y = m.conv_norm_active(y, channels, stride);
      y = m.conv(y, 4 * channels, 1, 1);
      x = m.active(m.sum(y, k == 0 ? m.conv(x, 4 * channels, stride, 1) : x));
    }
  }
  m.classify(x);
}

void unet(Maker& m) {
  const int64_t depth = 3 + m.random.below(3), width = m.random.one_of({16, 24, 32, 64});
  Image x = m.image(m.random.one_of({64, 128, 256}), m.random.one_of({1, 3}));
  std::vector<Image> skips;
  for (int64_t level = 0; level < depth; ++level) {
    x = m.conv_norm_active(m.conv_norm_active(x, width << level), width << level);
    skips.push_back(x);
    x = m.resized(x, x.side / 2);
  }
  x = m.conv_norm_active(m.conv_norm_active(x, width << depth), width << depth);
  for (int64_t level = depth; level-- > 0;) {
    x = m.conv(m.resized(x, skips.back().side), width << level, 1, 2);
    x = m.joined({skips.back(), x});
    skips.pop_back();
    x = m.conv_norm_active(m.conv_norm_active(x, width << level), width << level);
  }
  m.conv(x, 2, 1, 1);
}

void densenet(Maker& m) {
  const int64_t growth = m.random.one_of({12, 24, 32});
  Image x = m.conv_norm_active(m.image(m.random.one_of({64, 112, 224}), 3), 2 * growth, 2, 7);
  x = m.resized(x, x.side / 2);
  for (int64_t layers : {int64_t{6}, int64_t{12}, 12 + 4 * m.random.below(4), int64_t{16}}) {
    for (int64_t k = 0; k < layers; ++k) {
      const Image y = m.conv_norm_active(m.conv_norm_active(x, 4 * growth, 1, 1), growth);
      x = m.joined({x, y});
    }
    x = m.conv_norm_active(x, x.channels / 2, 1, 1);
    if (x.side > 1) x = m.resized(x, x.side / 2);
  }
  m.classify(x);
}

void inception(Maker& m) {
  const int64_t width = m.random.one_of({16, 24, 32});
  Image x = m.conv_norm_active(m.image(m.random.one_of({112, 192, 224}), 3), 2 * width, 2, 7);
  x = m.resized(m.conv_norm_active(x, 6 * width), x.side / 2);
  for (int64_t block = 0; block < 9; ++block) {
    const auto channels = [&] { return width * (1 + m.random.below(6)); };
    const Image a = m.conv_norm_active(x, channels(), 1, 1);
    const Image b = m.conv_norm_active(m.conv_norm_active(x, channels(), 1, 1), channels());
    const Image c =
        m.conv_norm_active(m.conv_norm_active(m.conv_norm_active(x, channels(), 1, 1), channels()), channels());
    const Image d = m.conv_norm_active(m.resized(x, x.side), channels(), 1, 1);
    x = m.joined({a, b, c, d});
    if (block == 1 || block == 6) x = m.resized(x, x.side / 2);
  }
  m.classify(x);
}

/// A feature pyramid with a detector's heads on each level.
void pyramid(Maker& m) {
  Image x = m.image(m.random.one_of({128, 256, 320}), 3);
  std::vector<Image> levels;
  for (int64_t level = 0; level < 5; ++level) {
    x = m.conv_norm_active(x, int64_t{16} << level, 2);
    for (int64_t k = 0; k < 1 + m.random.below(3); ++k) x = m.sum(x, m.conv_norm_active(x, x.channels));
    if (level > 0) levels.push_back(x);
  }
  const int64_t channels = m.random.one_of({64, 96, 128});
  std::vector<int> found;
  Image above;
  for (std::size_t k = levels.size(); k-- > 0;) {
    Image side = m.conv(levels[k], channels, 1, 1);
    if (k + 1 < levels.size()) side = m.sum(side, m.resized(above, side.side));
    above = side;
    for (const int64_t outputs : {int64_t{18}, int64_t{36}}) {
      Image head = m.conv_norm_active(m.conv_norm_active(side, channels), channels);
      found.push_back(m.conv(head, outputs, 1, 1).value);
    }
  }
  m.tape.joined(found);
}

void lstm(Maker& m) {
  const int64_t width = m.random.one_of({64, 128, 256}), steps = m.random.one_of({8, 16, 24, 32});
  std::vector<int> inputs;
  for (int64_t t = 0; t < steps; ++t) inputs.push_back(m.tape.input(m.batch * width));
  for (int64_t depth = 0; depth < 2; ++depth) {
    int h = m.tape.input(m.batch * width), c = m.tape.input(m.batch * width);
    for (int& x : inputs) {
      const int gates = m.tape.sum(m.tape.layer(x, 4 * m.batch * width, 4 * width * width),
                                   m.tape.layer(h, 4 * m.batch * width, 4 * width * width));
      const auto gate = [&] { return m.tape.activation(m.tape.moved(gates, m.batch * width)); };
      const int i = gate(), f = gate(), g = gate(), o = gate();
      c = m.tape.sum(m.tape.gate(f, c), m.tape.gate(i, g));
      h = m.tape.gate(o, m.tape.activation(c));
      x = h;
    }
  }
  m.tape.joined(inputs);
}

void attention_block(Maker& m, int& x, int64_t tokens, int64_t width, int64_t heads) {
  Tape& tape = m.tape;
  const int64_t rows = m.batch * tokens;
  const int normal = tape.norm(x);
  const int q = tape.layer(normal, rows * width, width * width), k = tape.layer(normal, rows * width, width * width);
  const int v = tape.layer(normal, rows * width, width * width);
  const int turned_q = tape.moved(q, rows * width), turned_k = tape.moved(k, rows * width);
  const int scores = tape.activation(tape.product(turned_q, turned_k, m.batch * heads * tokens * tokens));
  const int mixed = tape.product(scores, tape.moved(v, rows * width), rows * width);
  x = tape.sum(x, tape.layer(tape.moved(mixed, rows * width), rows * width, width * width));
  const int wide = tape.activation(tape.layer(tape.norm(x), 4 * rows * width, 4 * width * width));
  x = tape.sum(x, tape.layer(wide, rows * width, 4 * width * width));
}

void transformer(Maker& m) {
  const int64_t tokens = m.random.one_of({32, 64, 128, 197}), width = m.random.one_of({128, 192, 256, 384});
  int x = m.tape.input(m.batch * tokens * width);
  for (int64_t layer = 0; layer < 4 + 2 * m.random.below(5); ++layer) attention_block(m, x, tokens, width, width / 32);
  m.tape.layer(m.tape.norm(x), m.batch * 1000, 1000 * width);
}

/// A decoder of a language model: the scores of all words at the end are its largest value.
void decoder(Maker& m) {
  const int64_t tokens = m.random.one_of({64, 128, 256}), width = m.random.one_of({128, 256});
  int x = m.tape.sum(m.tape.input(m.batch * tokens * width), m.tape.input(m.batch * tokens * width));
  for (int64_t layer = 0; layer < 4 + m.random.below(5); ++layer) attention_block(m, x, tokens, width, width / 64);
  m.tape.activation(m.tape.layer(m.tape.norm(x), m.batch * tokens * 8000, 8000 * width));
}

/// Stages of randomly wired nodes, each the sum of some that stand before it.
void wired(Maker& m) {
  Image x = m.conv_norm_active(m.image(m.random.one_of({64, 112, 224}), 3), m.random.one_of({24, 39}), 2);
  for (int64_t stage = 0; stage < 3; ++stage) {
    std::vector<Image> nodes = {m.conv_norm_active(x, 2 * x.channels, 2)};
    const int64_t count = 16 + m.random.below(17);
    for (int64_t k = 1; k < count; ++k) {
      Image in = nodes[static_cast<std::size_t>(std::max<int64_t>(k - 1 - m.random.below(4), 0))];
      for (int64_t more = m.random.below(4); more > 0; --more)
        in = m.sum(in, nodes[static_cast<std::size_t>(m.random.below(k))]);
      nodes.push_back(m.conv_norm_active(in, in.channels));
    }
    x = nodes.back();
    for (std::size_t k = 0; k + 1 < nodes.size(); k += 1 + static_cast<std::size_t>(m.random.below(6)))
      x = m.sum(x, nodes[k]);
  }
  m.classify(x);
}

const std::vector<std::pair<std::string, void (*)(Maker&)>> kFamilies = {
    {"mobilenet", mobilenet}, {"resnet", resnet},   {"unet", unet}, {"densenet", densenet},
    {"inception", inception}, {"pyramid", pyramid}, {"lstm", lstm}, {"transformer", transformer},
    {"decoder", decoder},     {"wired", wired},
};

}  // namespace

const std::vector<std::string>& network_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& family : kFamilies) out.push_back(family.first);
    return out;
  }();
  return names;
}

Network make_network(const std::string& family, uint32_t seed, Pass pass, Sharing sharing) {
  Tape tape;
  Maker maker(tape, seed);
  maker.with_norms = pass == Pass::training;
  for (const auto& [name, make] : kFamilies) {
    if (name == family) make(maker);
  }
  if (pass == Pass::training) tape.differentiate();
  return {str(family, "/", seed, pass == Pass::training ? "/training" : "/inference",
              sharing == Sharing::on ? "/sharing" : ""),
          tape.storages(sharing)};
}

std::vector<memory::Storage> random_storages(int count, int crowd, uint32_t seed) {
  Random random(seed);
  std::vector<memory::Storage> out;
  for (int i = 0; i < count; ++i) {
    const auto begin = static_cast<int32_t>(random.below(count));
    const auto length = static_cast<int32_t>(1 + random.below(2 * crowd));
    out.push_back({.live = {begin, begin + length}, .size_bytes = 64 * (1 + random.below(1024))});
  }
  return out;
}

}  // namespace inlay::bench
