#include "rewrite/bound_part.h"

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> outputs_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const Output& output : graph.outputs) out.push_back(output.name);
  return out;
}

TEST(SplitBoundPart, WhatHangsOnBoundParametersAloneIsComputedOnce) {
  const BoundPart part = split_bound_part(program(R"(graph @main(%x: f64[n, 3], %w: f64[3] bound, %s: f64[3] bound) {
    %p = mul %w, %s
    %q = exp %p
    %y = mul %x, %q
    return %y
  })"));
  verified(part.once);
  verified(part.call);
  EXPECT_THAT(outputs_of(part.once), ElementsAre("q"));
  EXPECT_THAT(part.operands, ElementsAre(0, 1));
  EXPECT_EQ(part.call.nodes.size(), 1u);
  EXPECT_THAT(part.bound, ElementsAre(~0));
}

TEST(SplitBoundPart, BytesStayBytesWhereNoneMayBeAdded) {
  const Graph graph = program(R"(graph @main(%x: f32[4, 8], %w: i8[4, 8] bound, %b: i32[8] bound, %s: f32[8] bound) {
    %f = cast %w : f32
    %g = mul %f, %s
    %h = cast %b : f32
    %i = mul %h, %s
    %y = mul %x, %g
    %z = add %y, %i
    return %z
  })");
  const BoundPart part = split_bound_part(graph, Growth::none_of_bytes);
  verified(part.once);
  verified(part.call);
  EXPECT_THAT(outputs_of(part.once), ElementsAre("i"));  // as many bytes as one of what it is made of
  EXPECT_THAT(part.bound, ElementsAre(0, 2, ~0));        // g has four times those of w
  EXPECT_THAT(outputs_of(split_bound_part(graph).once), ElementsAre("g", "i"));
}

TEST(SplitBoundPart, WhatIsReadTwiceHasItsBytesOnce) {
  const Graph graph = program(R"(graph @main(%x: f32[4, 8], %w: i8[4, 8] bound) {
    %f = cast %w : f32
    %g = mul %f, %f
    %h = mul %g, %g
    %y = mul %x, %h
    return %y
  })");
  EXPECT_THAT(split_bound_part(graph, Growth::none_of_bytes).bound, ElementsAre(0));
}

TEST(SplitBoundPart, ViewsLiteralsAndWhatGrowsStayWithTheCalls) {
  const BoundPart part = split_bound_part(program(R"(graph @main(%x: f64[4, 3], %w: f64[3] bound, %v: f64[4, 1] bound) {
    %b = broadcast %w : f64[4, 3]
    %i = iota 3 : f64
    %two = literal 2.0 : f64
    %j = mul %i, %two
    %g = add %w, %v
    %y = add %x, %b
    %z = add %y, %j
    %r = add %z, %g
    return %r
  })"));
  EXPECT_THAT(part.once.outputs, IsEmpty());
  EXPECT_THAT(part.bound, ElementsAre(0, 1));
  EXPECT_EQ(verified(part.call).nodes.size(), 8u);
}

TEST(SplitBoundPart, TransposesLieAsLoopsAndProductsReadThem) {
  const BoundPart part = split_bound_part(program(R"(graph @main(
      %x: f64[n, 3], %y: f64[n, 400], %w: f64[5, 3] bound, %v: f64[5, 3] bound, %u: f64[500, 400] bound) {
    %of_loop = transpose %w [1, 0]
    %of_product = transpose %v [1, 0]
    %large = transpose %u [1, 0]
    %of_sum = transpose %w [1, 0]
    %zero = literal 0.0 : f64
    %first = broadcast %zero : f64[3, 5]
    %last = loop %step < 4 carry (%s = %first) with (%a = %of_loop) {
      %next = add %s, %a
      return %next
    }
    %p = matmul %x, %of_product
    %q = matmul %y, %large
    %r = add %last, %of_sum
    return %p, %q, %r
  })"));
  verified(part.once);
  verified(part.call);
  EXPECT_THAT(outputs_of(part.once), ElementsAre("of_loop", "of_product"));
  EXPECT_THAT(part.operands, ElementsAre(0, 1));
}

TEST(SplitBoundPart, WhatMayFailOrWantsASizeOfACallIsComputedByIt) {
  const BoundPart part = split_bound_part(program(R"(graph @main(%x: f64[n], %w: f64 bound, %u: f64[7] bound) {
    %zero = literal 0.0 : f64
    %ok = gt %w, %zero
    %c = assert %w, %ok, "negative"
    %m = size n
    %f = cast %m : f64
    %s = mul %w, %f
    %y = mul %x, %c
    %z = mul %y, %s
    return %z
  })"));
  EXPECT_THAT(outputs_of(part.once), ElementsAre("ok"));  // the assert looks at it in each call
  EXPECT_THAT(part.bound, ElementsAre(0, ~0));            // nothing reads %u
  EXPECT_EQ(verified(part.call).params.size(), 3u);
}

TEST(SplitBoundPart, AResultMayBeAllOfIt) {
  const BoundPart part = split_bound_part(program(R"(graph @main(%x: f64[n], %w: f64[3] bound) {
    %e = exp %w
    return %e, %w
  })"));
  EXPECT_THAT(part.bound, ElementsAre(0, ~0));
  EXPECT_EQ(verified(part.call).outputs.size(), 2u);
}

}  // namespace
}  // namespace inlay::rewrite
