// What is drawn by chance. An element is a function of the network's argument `seed`, of the node that draws, of the
// steps of the loops around it and of the element's place: there is no state, draws fuse with what reads them, and one
// seed gives the same bits in every order, on any number of threads and on every machine.
//
// The function is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
// whose n-th number is the mixed n-th multiple of a constant, from a start that is the mixed seed and node.
#include <cmath>

#include "inlay/compose.h"
#include "onnx/importer.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

constexpr uint64_t kStep = 0x9e3779b97f4a7c15, kFirstFactor = 0xbf58476d1ce4e5b9, kSecondFactor = 0x94d049bb133111eb;

ValueId bits_of(GraphBuilder& b, uint64_t number) {
  return b.literal(Literal::of_integer(DType::u64, static_cast<int64_t>(number)));
}

ValueId shifted(GraphBuilder& b, ValueId bits, uint64_t count) {
  return b.scalar(Op::right_shift_, {bits, bits_of(b, count)});
}

/// Bits of which each depends on each that is given.
ValueId mixed(GraphBuilder& b, ValueId bits) {
  const auto with_itself = [&](ValueId x, uint64_t count) { return b.scalar(Op::xor_, {x, shifted(b, x, count)}); };
  bits = b.scalar(Op::mul_, {with_itself(bits, 30), bits_of(b, kFirstFactor)});
  bits = b.scalar(Op::mul_, {with_itself(bits, 27), bits_of(b, kSecondFactor)});
  return with_itself(bits, 31);
}

/// start + number * kStep.
ValueId stepped(GraphBuilder& b, ValueId start, ValueId number) {
  return b.scalar(Op::add_, {start, b.scalar(Op::mul_, {number, bits_of(b, kStep)})});
}

/// The seed as a frame has it: in the body of a loop another one in each step.
ValueId seed_in(Importer& importer, Frame& frame) {
  if (!frame.outer()) return importer.seed();
  const ValueId seed = frame.bring(*frame.outer(), seed_in(importer, *frame.outer()));
  const std::vector<Param>& params = frame.b.graph().params;
  if (params.empty() || !params.front().below) return seed;
  return mixed(frame.b, stepped(frame.b, seed, frame.b.cast(params.front().value, DType::u64)));
}

/// Of each element which one it is, from 1 on.
ValueId numbers_of(GraphBuilder& b, const std::vector<Dim>& dims) {
  ValueId number = bits_of(b, 1);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<Dim> along(dims.size(), Dim(1));
    along[axis] = dims[axis];
    const ValueId at = b.reshape(b.iota(dims[axis], DType::u64), std::move(along));
    const ValueId apart = b.cast(b.size(product(std::span(dims).subspan(axis + 1))), DType::u64);
    number = b.scalar(Op::add_, {number, b.scalar(Op::mul_, {at, apart})});
  }
  return number;
}

/// 64 bits for each element. Each call of this has numbers of its own.
ValueId drawn_bits(Call& c, const std::vector<Dim>& dims) {
  const ValueId seed = seed_in(c.importer, c.scope.frame);
  const ValueId start = mixed(c.b, stepped(c.b, seed, bits_of(c.b, ++c.importer.num_draws)));
  return mixed(c.b, stepped(c.b, start, numbers_of(c.b, dims)));
}

/// Half precision is drawn as f32.
DType drawn_in(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// The first so many bits, and an offset below 1, as a part of 1.
ValueId part_of_one(Call& c, ValueId bits, int count, double offset, DType dtype) {
  const ValueId first = c.b.cast(shifted(c.b, bits, static_cast<uint64_t>(64 - count)), DType::i64);  // a fast cast
  const ValueId number = c.b.cast(first, dtype);
  const ValueId moved = offset == 0 ? number : c.with(Op::add_, number, offset);
  return c.with(Op::mul_, moved, std::ldexp(1.0, -count));
}

/// Uniform in [0, 1): multiples of the least distance of two numbers below 1.
ValueId uniform(Call& c, const std::vector<Dim>& dims, DType dtype) {
  return part_of_one(c, drawn_bits(c, dims), dtype == DType::f64 ? 53 : 24, 0, dtype);
}

/// Uniform in (0, 1): as far from 1 as from 0.
ValueId inner_uniform(Call& c, const std::vector<Dim>& dims, DType dtype) {
  return part_of_one(c, drawn_bits(c, dims), dtype == DType::f64 ? 52 : 23, 0.5, dtype);
}

ValueId normal(Call& c, const std::vector<Dim>& dims, DType dtype) {
  return c.scalar(Op::ndtri_, {inner_uniform(c, dims, dtype)});
}

/// The dtype that a node asks for. Errors: unsupported: that is none of floats.
DType drawn_dtype(Call& c, DType otherwise) {
  const DType dtype = c.dtype_attribute("dtype").value_or(otherwise);
  if (!is_float(dtype)) throw c.unsupported(str("draws of ", dtype_name(dtype)));
  return dtype;
}

std::vector<Dim> shape_attribute(Call& c) {
  const auto shape = c.integers("shape");
  if (!shape) throw c.wrong("it has no shape");
  for (const int64_t size : *shape) {
    if (size < 0) throw c.error(ErrorCode::negative_size, str("a size is ", size));
  }
  return {shape->begin(), shape->end()};
}

void put_normal(Call& c, const std::vector<Dim>& dims, DType dtype) {
  const ValueId scaled = c.with(Op::mul_, normal(c, dims, drawn_in(dtype)), c.number("scale", 1));
  c.out(c.b.cast(c.with(Op::add_, scaled, c.number("mean", 0)), dtype));
}

void put_uniform(Call& c, const std::vector<Dim>& dims, DType dtype) {
  const double low = c.number("low", 0), high = c.number("high", 1);
  const ValueId scaled = c.with(Op::mul_, uniform(c, dims, drawn_in(dtype)), high - low);
  c.out(c.b.cast(c.with(Op::add_, scaled, low), dtype));
}

void random_normal(Call& c) { put_normal(c, shape_attribute(c), drawn_dtype(c, DType::f32)); }
void random_normal_like(Call& c) { put_normal(c, c.dims(0), drawn_dtype(c, c.dtype(0))); }
void random_uniform(Call& c) { put_uniform(c, shape_attribute(c), drawn_dtype(c, DType::f32)); }
void random_uniform_like(Call& c) { put_uniform(c, c.dims(0), drawn_dtype(c, c.dtype(0))); }

/// 1 as often as the input says.
void bernoulli(Call& c) {
  const DType dtype = c.dtype_attribute("dtype").value_or(c.dtype(0)), drawn = drawn_in(c.dtype(0));
  const ValueId is_one = c.scalar(Op::lt_, {uniform(c, c.dims(0), drawn), c.b.cast(c.in(0), drawn)});
  c.out(c.b.cast(is_one, dtype));
}

/// Classes by the logarithms of their weights: that whose sum of logarithm and Gumbel noise is the maximum.
void multinomial(Call& c) {
  const std::vector<Dim> dims = c.dims(0, 2);
  const DType dtype = c.dtype_attribute("dtype").value_or(DType::i32), drawn = drawn_in(c.dtype(0));
  if (!is_integer(dtype)) throw c.unsupported(str("classes as ", dtype_name(dtype)));
  const Dim count = c.integer("sample_size", 1);
  const ValueId logs = c.b.reshape(c.b.cast(c.in(0), drawn), {dims[0], 1, dims[1]});
  const ValueId u = inner_uniform(c, {dims[0], count, dims[1]}, drawn);
  const auto minus_log = [&](ValueId x) { return c.scalar(Op::neg_, {c.scalar(Op::log_, {x})}); };
  const ValueId best = argmax(c.b, c.scalar(Op::add_, {logs, minus_log(minus_log(u))}), {2});
  c.out(c.b.cast(best, dtype));
}

/// A network in use leaves nothing out. From version 12 on it trains where an input says so: each element is left out
/// with the probability `ratio`, and the others make up for it.
void dropout(Call& c) {
  const ValueId x = c.in(0);
  const DType mask = c.version >= 10 ? DType::boolean : c.dtype(0);
  std::optional<bool> trains = false;
  if (c.version >= 12 && c.has(2)) {
    trains = c.known_truth(c.in(2));
    if (!trains) throw c.needs(c.in(2), "whether it trains");
  }
  if (!*trains) {
    c.out(0, x);
    if (c.wants(1)) c.out(1, full(c.b, c.literal(mask, 1), c.dims(0)));
    return;
  }
  const DType dtype = drawn_in(c.dtype(0));
  const ValueId ratio = c.has(1) ? c.b.cast(c.b.reshape(c.in(1), {}), dtype) : c.literal(dtype, 0.5);
  const ValueId stays = c.scalar(Op::ge_, {uniform(c, c.dims(0), dtype), ratio});
  const ValueId rest = c.scalar(Op::sub_, {c.literal(dtype, 1), ratio});
  const ValueId scaled = c.scalar(Op::div_, {c.b.cast(x, dtype), rest});
  c.out(0, c.b.cast(c.scalar(Op::select_, {stays, scaled, c.literal(dtype, 0)}), c.dtype(0)));
  if (c.wants(1)) c.out(1, c.b.cast(stays, mask));
}

constexpr OpRow kOps[] = {
    {"Bernoulli", bernoulli},
    {"Dropout", dropout},
    {"Multinomial", multinomial},
    {"RandomNormal", random_normal},
    {"RandomNormalLike", random_normal_like},
    {"RandomUniform", random_uniform},
    {"RandomUniformLike", random_uniform_like},
};

}  // namespace

std::span<const OpRow> random_ops() { return kOps; }

}  // namespace inlay::onnx
