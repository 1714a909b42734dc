// A softmax over the rows of a matrix of any size: built from C++, compiled once, called two ways.
#include <chrono>
#include <cstdio>

#include <inlay/inlay.h>

namespace {

using inlay::Combine;
using inlay::DType;
using inlay::ScalarOp;

/// exp(x - max(x)) / sum(exp(x - max(x))), row by row, and the sum of each row's exponentials.
inlay::Graph softmax() {
  inlay::GraphBuilder b("softmax");
  const inlay::Dim rows = b.symbol("rows"), columns = b.symbol("columns");
  const inlay::ValueId x = b.param("x", {DType::f64, {rows, columns}});
  const inlay::ValueId greatest = b.reduce(Combine::max, x, {1}, DType::f64);
  const inlay::ValueId centred = b.scalar(ScalarOp::sub_, {x, b.reshape(greatest, {rows, 1})});
  const inlay::ValueId e = b.scalar(ScalarOp::exp_, {centred});
  const inlay::ValueId sums = b.reduce(Combine::add, e, {1}, DType::f64);
  b.output(b.scalar(ScalarOp::div_, {e, b.reshape(sums, {rows, 1})}), "softmax");
  b.output(sums, "sums");
  return std::move(b).finish();
}

}  // namespace

int main() {
  try {
    const inlay::Graph graph = softmax();
    std::printf("%s\n", inlay::print(graph).c_str());
    const inlay::Executable f = inlay::compile(graph);

    // The plain way: arrays in, new arrays out, everything checked.
    inlay::Array x(DType::f64, {2, 3});
    for (double value = 0; double& element : x.elements<double>()) element = value++;
    const std::vector<inlay::Array> results = f({x});
    for (double share : results[0].elements<double>()) std::printf("%.6f ", share);
    std::printf("\n");

    // The fast way, for sizes that stay: checked once, then addresses in, addresses out.
    const std::vector<inlay::ArrayRef> like = {x};
    const inlay::Executable::Call call = f.prepare(like);
    double shares[6], sums[2];
    const void* arguments[] = {x.data()};
    void* places[] = {shares, sums};
    const auto begin = std::chrono::steady_clock::now();
    constexpr int kCalls = 10000;
    for (int i = 0; i < kCalls; ++i) call(arguments, places);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    std::printf("%.6f %.6f, %.0f ns a call\n", sums[0], sums[1], spent.count() / kCalls);

    // A mistake is an Error with a code, the values and where they come from.
    (void)f({inlay::Array(DType::f32, {2, 3})});
  } catch (const inlay::Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == inlay::ErrorCode::wrong_dtype ? 0 : 1;
  }
  return 1;
}
