// A softmax over the rows of a matrix of any size: built from C++, compiled once, called two ways.
#include <cstdio>

#include <inlay/inlay.h>

int main() try {
  inlay::ArrayProgram p("softmax");
  const inlay::Value x = p.param("x", inlay::DType::f64, {p.symbol("rows"), p.symbol("columns")});
  const inlay::Value e = exp(x - max(x, 1, inlay::Keep::yes));
  const inlay::Value sums = sum(e, 1, inlay::Keep::yes);
  p.output(e / sums, "softmax");
  p.output(sums, "sums");
  const inlay::Executable f = compile(p.finish());

  // The plain way: arrays in (here a matrix that lies column by column), new arrays out, everything checked.
  const double columns[] = {0, 3, 1, 4, 2, 5};
  const std::vector<inlay::Array> results = f({inlay::View(columns, {2, 3}, {1, 2})});
  for (double share : results[0].elements<double>()) std::printf("%.6f ", share);

  // The fast way, for sizes that stay: checked once, then addresses in, addresses out.
  const inlay::Executable::Call call = f.prepare(std::vector<inlay::ArrayRef>{results[0]});
  double shares[6], totals[2];
  const void* arguments[] = {results[0].data()};
  void* places[] = {shares, totals};
  call(arguments, places);
  std::printf("\n%.6f %.6f\n", totals[0], totals[1]);

  // A mistake is an Error with a code, the values and where they come from.
  (void)f({inlay::Array(inlay::DType::f32, {2, 3})});
} catch (const inlay::Error& error) {
  std::printf("%s\n", error.what());
}
