#include "kernel/access_map.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace inlay::kernel {
namespace {

using Point = std::vector<int64_t>;
using Element = std::vector<int64_t>;

// ---- The naive twin: a map is what enumerating its points gives. ----

std::vector<Point> points_of(const std::vector<int64_t>& extents) {
  std::vector<Point> out = {{}};
  for (int64_t extent : extents) {
    std::vector<Point> longer;
    for (const Point& point : out) {
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    }
    out = std::move(longer);
  }
  return out;
}

/// What a register holds at a point: any numbers, the same each time.
int64_t loaded_index(RegisterId index, const Point& point, int64_t extent) {
  int64_t hash = 7 + index.index;
  for (int64_t i : point) hash = hash * 31 + i * 17 + 3;
  return extent == 0 ? 0 : hash % extent;
}

Element touched(const AccessMap& map, const Point& point, std::span<const int64_t> symbols) {
  Element out;
  for (const Subscript& subscript : map.subscripts) {
    int64_t value = subscript.base.evaluate(symbols);
    for (const AxisTerm& term : subscript.axes)
      value += term.step.evaluate(symbols) * point[static_cast<std::size_t>(term.axis)];
    if (subscript.index) {
      const int64_t extent = subscript.index->extent.evaluate(symbols);
      value += subscript.index->step * loaded_index(subscript.index->index, point, extent);
    }
    out.push_back(value);
  }
  return out;
}

struct Twin {
  std::vector<Point> points;
  std::vector<Element> elements;  // by point
  std::set<Element> region;

  Twin(const AccessMap& map, std::span<const Dim> extents, std::span<const int64_t> symbols) {
    std::vector<int64_t> sizes;
    for (const Dim& extent : extents) sizes.push_back(extent.evaluate(symbols));
    points = points_of(sizes);
    for (const Point& point : points) elements.push_back(touched(map, point, symbols));
    region.insert(elements.begin(), elements.end());
  }
  bool is_injective() const { return region.size() == elements.size(); }
};

std::vector<int64_t> evaluated(std::span<const Dim> dims, std::span<const int64_t> symbols) {
  std::vector<int64_t> out;
  for (const Dim& dim : dims) out.push_back(dim.evaluate(symbols));
  return out;
}

int64_t row_major(const Element& element, const std::vector<int64_t>& dims) {
  int64_t out = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) out = out * dims[d] + element[d];
  return out;
}

// ---- Random maps ----

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t between(int64_t minimum, int64_t maximum) {
    return std::uniform_int_distribution<int64_t>(minimum, maximum)(engine_);
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }

  Dim size(int num_symbols) {
    if (num_symbols == 0 || one_in(2)) return between(0, 4);
    Dim n = Dim::symbol(SymbolId(static_cast<std::size_t>(between(0, num_symbols - 1))));
    switch (between(0, 5)) {
      case 0: return n + between(0, 2);
      case 1: return Dim(2) * n;
      case 2: return ceil_div(n, 2);
      case 3: return max(n - 1, 0);
      default: return n;
    }
  }

  /// One that may be 0, negative, or both, among others.
  Dim step(int num_symbols) {
    if (one_in(2)) return 1;
    if (num_symbols == 0 || one_in(2)) return one_in(2) ? between(-3, -1) : between(1, 4);
    const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1));
    switch (between(0, 7)) {
      case 0: return min(n, 1);
      case 1: return Dim(-2) * min(m, 1);
      case 2: return Dim(1) - min(n, 1);
      case 3: return min(n, 1) * min(m, 1);
      case 4: return n + 1;
      case 5: return m - n;
      case 6: return Dim(2) * m;
      default: return Dim(0) - n;
    }
  }

  AccessMap map(int rank, int num_axes, int num_symbols) {
    AccessMap out;
    for (int d = 0; d < rank; ++d) {
      Subscript subscript;
      subscript.base = one_in(2) ? Dim(between(-2, 4)) : size(num_symbols);
      for (int axis = 0; axis < num_axes; ++axis) {
        if (one_in(2)) subscript.axes.push_back({axis, step(num_symbols)});
      }
      if (one_in(8)) {
        subscript.index = IndexTerm{RegisterId(static_cast<std::size_t>(between(0, 1))), one_in(3) ? -2 : 1,
                                    Dim(between(1, 4)), one_in(2) ? Bounds::checked : Bounds::proved, SiteId(0)};
      }
      out.subscripts.push_back(std::move(subscript));
    }
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

uint64_t seed_of_this_run() {
  if (const char* text = std::getenv("INLAY_FUZZ_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

std::vector<std::vector<int64_t>> symbol_values(int num_symbols) {
  if (num_symbols == 0) return {{}};
  std::vector<std::vector<int64_t>> out;
  for (int64_t n : {0, 1, 2, 3}) {
    for (int64_t m : {0, 1, 2}) out.push_back({n, m});
  }
  return out;
}

/// Two maps over spaces of their own, on one buffer.
struct Case {
  AccessMap a, b;
  std::vector<Dim> extents, other_extents, dims;
};

Case random_case(Random& random, int num_symbols) {
  Case out;
  const int rank = static_cast<int>(random.between(0, 3)), num_axes = static_cast<int>(random.between(0, 3));
  const auto new_or = [&](bool reuse, std::size_t i) { return reuse ? out.extents[i] : random.size(num_symbols); };
  for (int i = 0; i < num_axes; ++i) out.extents.push_back(random.size(num_symbols));
  for (std::size_t i = 0; i < out.extents.size(); ++i) out.other_extents.push_back(new_or(random.one_in(2), i));
  for (int i = 0; i < rank; ++i) {
    out.dims.push_back(new_or(random.one_in(2) && i < num_axes, static_cast<std::size_t>(i)));
  }
  const bool plain = random.one_in(4) && rank <= num_axes;
  out.a = plain ? AccessMap::identity(rank) : random.map(rank, num_axes, num_symbols);
  out.b = random.one_in(3) ? out.a : random.map(rank, num_axes, num_symbols);
  return out;
}

/// What AccessMap says of a case, once for all sizes.
struct Answers {
  explicit Answers(const Case& c)
      : injective(is_injective(c.a, c.extents)),
        overlap(regions_overlap(c.a, c.extents, c.b, c.other_extents)),
        same_only(same_element_only(c.a, c.b, c.extents)),
        other(linearize(c.b, c.dims)),
        strides(strides_by_dim(c.a, c.extents, c.dims, other)),
        region(bounding_region(c.a, c.extents, c.dims)),
        linear(linearize(c.a, c.dims)) {
    for (std::size_t d = 0; d < c.dims.size(); ++d)
      within.push_back(within_dim(c.a.subscripts[d], c.extents, c.dims[d]));
  }
  Answer injective, overlap;
  bool same_only;
  LinearMap other;
  std::optional<std::vector<Dim>> strides;
  std::optional<Region> region;
  LinearMap linear;
  std::vector<Answer> within;
};

bool agrees(Answer answer, bool truth) { return answer == Answer::unknown || (answer == Answer::yes) == truth; }

int64_t evaluated_at(const LinearMap& linear, const Point& point, std::span<const int64_t> symbols) {
  int64_t out = linear.base.evaluate(symbols);
  for (const auto& [axis, stride] : linear.axes)
    out += stride.evaluate(symbols) * point[static_cast<std::size_t>(axis)];
  for (const auto& [term, stride] : linear.indices) {
    out += stride.evaluate(symbols) * loaded_index(term.index, point, term.extent.evaluate(symbols));
  }
  return out;
}

void compare_with_twin(const Case& c, const Answers& said, std::span<const int64_t> symbols) {
  const Twin left(c.a, c.extents, symbols), right(c.b, c.other_extents, symbols), same_space(c.b, c.extents, symbols);
  const std::vector<int64_t> sizes = evaluated(c.dims, symbols);
  ASSERT_TRUE(agrees(said.injective, left.is_injective()));

  const bool meet = std::ranges::any_of(left.region, [&](const Element& e) { return right.region.contains(e); });
  const bool both_have_points = !left.points.empty() && !right.points.empty();
  ASSERT_FALSE(said.overlap == Answer::no && meet);
  ASSERT_FALSE(said.overlap == Answer::yes && both_have_points && !meet);

  ASSERT_FALSE(said.same_only && !(left.elements == same_space.elements && left.is_injective()));

  for (std::size_t p = 0; p < left.points.size(); ++p) {
    const int64_t at = evaluated_at(said.linear, left.points[p], symbols);
    ASSERT_EQ(at, row_major(left.elements[p], sizes));
    ASSERT_FALSE(said.region && at < said.region->first.evaluate(symbols));
    ASSERT_FALSE(said.region && at >= said.region->last.evaluate(symbols));
  }
  if (said.strides) {
    std::set<int64_t> reached;
    for (const Point& point : left.points) {
      int64_t rest = row_major(touched(c.a, point, symbols), sizes), to = said.other.base.evaluate(symbols);
      ASSERT_TRUE(reached.insert(rest).second);
      for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) {
        to += (*said.strides)[d].evaluate(symbols) * (rest % sizes[d]);
      }
      ASSERT_EQ(rest, 0);
      ASSERT_EQ(to, evaluated_at(said.other, point, symbols));
    }
    ASSERT_EQ(reached.size(), points_of(sizes).size());
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool inside =
        std::ranges::all_of(left.elements, [&](const Element& e) { return 0 <= e[d] && e[d] < sizes[d]; });
    ASSERT_TRUE(agrees(said.within[d], inside));
  }
}

void run_in_lockstep(int num_symbols, int rounds) {
  const uint64_t seed = seed_of_this_run();
  SCOPED_TRACE(testing::Message() << "INLAY_FUZZ_SEED=" << seed << ", " << num_symbols << " symbols");
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const Case c = random_case(random, num_symbols);
    const Answers said(c);
    for (const std::vector<int64_t>& symbols : symbol_values(num_symbols)) {
      SCOPED_TRACE(testing::Message() << "symbols " << testing::PrintToString(symbols));
      compare_with_twin(c, said, symbols);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(AccessMapTwin, AgreesWhereSizesAreKnown) { run_in_lockstep(0, 20000); }
TEST(AccessMapTwin, AgreesForAllSizesWhereTheyAreSymbols) { run_in_lockstep(2, 4000); }

// ---- Plain cases must be answered, not merely not answered wrongly. ----

const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1)), k = Dim::symbol(SymbolId(2));

Subscript at(Dim base) { return {std::move(base), {}, {}}; }
Subscript along(int axis, Dim base = 0, Dim step = 1) { return {std::move(base), {{axis, std::move(step)}}, {}}; }
Subscript through(std::size_t index, Dim extent) { return {0, {}, IndexTerm{RegisterId(index), 1, std::move(extent)}}; }

using Dims = std::vector<Dim>;

TEST(AccessMap, DisjointSlicesDoNotOverlap) {
  const auto overlap = [](const AccessMap& a, const Dims& ea, const AccessMap& b, const Dims& eb) {
    return regions_overlap(a, ea, b, eb);
  };
  // [0:k) and [k:n), for any k and n
  EXPECT_EQ(overlap({{along(0)}}, {k}, {{along(0, k)}}, {n - k}), Answer::no);
  // x[0] and x[1:n]
  EXPECT_EQ(overlap({{at(0)}}, {}, {{along(0, 1)}}, {n - 1}), Answer::no);
  // x[n-1] and x[0:n-1]
  EXPECT_EQ(overlap({{at(n - 1)}}, {}, {{along(0)}}, {n - 1}), Answer::no);
  // even and odd elements
  EXPECT_EQ(overlap({{along(0, 0, 2)}}, {n}, {{along(0, 1, 2)}}, {m}), Answer::no);
  EXPECT_EQ(overlap({{along(0, 0, 2)}}, {n}, {{along(0, Dim(2) * m + 1, 2)}}, {m}), Answer::no);
  // x[0:n:2] and what lies behind it
  EXPECT_EQ(overlap({{along(0, 0, 2)}}, {ceil_div(n, 2)}, {{along(0, n)}}, {m}), Answer::no);
  // three concat slots
  EXPECT_EQ(overlap({{along(0, n)}}, {m}, {{along(0, n + m)}}, {k}), Answer::no);
  // columns 0 and 1 of a matrix; rows 0..k of one and k.. of the other
  EXPECT_EQ(overlap({{along(0), at(0)}}, {n}, {{along(0), at(1)}}, {n}), Answer::no);
  EXPECT_EQ(overlap({{along(0), along(1)}}, {k, m}, {{along(0, k), along(1)}}, {n, m}), Answer::no);
  // a flipped slice: x[9 - i] i < 5 is x[5:10)
  EXPECT_EQ(overlap({{along(0, 9, -1)}}, {5}, {{along(0)}}, {5}), Answer::no);
  // a gather stays within its extent
  EXPECT_EQ(overlap({{through(0, k)}}, {n}, {{along(0, k)}}, {m}), Answer::no);
  // thirds of a concat of one value of k - 1 elements: k - 1 is at least 1 where there is a point
  EXPECT_EQ(overlap({{along(0)}}, {k - 1}, {{along(0, Dim(2) * k - 2)}}, {k - 1}), Answer::no);
  EXPECT_EQ(overlap({{along(0, k - 1)}}, {k - 1}, {{along(0, Dim(2) * k - 2)}}, {k - 1}), Answer::no);
  // nothing is touched
  EXPECT_EQ(overlap({{along(0)}}, {0}, {{along(0)}}, {n}), Answer::no);
}

TEST(AccessMap, OverlapsThatAreSureOrOpen) {
  const Dims points = {n};
  EXPECT_EQ(regions_overlap({{along(0)}}, points, {{along(0)}}, points), Answer::yes);
  EXPECT_EQ(regions_overlap({{along(0)}}, Dims{5}, {{along(0, 2)}}, Dims{5}), Answer::yes);
  EXPECT_EQ(regions_overlap({{along(0)}}, points, {{along(0, 1)}}, points), Answer::unknown);  // not for n = 1
  EXPECT_EQ(regions_overlap({{through(0, n)}}, points, {{along(0)}}, points), Answer::unknown);
}

TEST(AccessMap, PlainMapsAreInjective) {
  EXPECT_EQ(is_injective(AccessMap::identity(2), Dims{n, m}), Answer::yes);
  EXPECT_EQ(is_injective({{along(1), along(0)}}, Dims{n, m}), Answer::yes);         // transposed
  EXPECT_EQ(is_injective({{along(0, n - 1, -1)}}, Dims{n}), Answer::yes);           // flipped
  EXPECT_EQ(is_injective({{along(0, 0, 3)}}, Dims{n}), Answer::yes);                // strided
  EXPECT_EQ(is_injective({{along(0), at(2)}}, Dims{n}), Answer::yes);               // a column
  EXPECT_EQ(is_injective({{along(0)}}, Dims{n, 1}), Answer::yes);                   // an axis of one point
  EXPECT_EQ(is_injective({{{0, {{0, 5}, {1, 1}}, {}}}}, Dims{n, 5}), Answer::yes);  // 5*i + j, j < 5: a reshape
  EXPECT_EQ(is_injective({{{0, {{0, 1}, {1, 1}}, {}}, along(1)}}, Dims{n, m}), Answer::yes);  // (i + j, j)
  EXPECT_EQ(is_injective({}, Dims{}), Answer::yes);
}

TEST(AccessMap, ABroadcastIsNotInjective) {
  EXPECT_EQ(is_injective({{along(1)}}, Dims{3, 4}), Answer::no);
  EXPECT_EQ(is_injective({}, Dims{n + 2}), Answer::no);
  EXPECT_EQ(is_injective({}, Dims{n}), Answer::unknown);  // it is for n = 1
  EXPECT_EQ(is_injective({{through(0, n)}}, Dims{m}), Answer::unknown);
}

TEST(AccessMap, SameElementNeedsTheSameInjectiveMap) {
  const Dims points = {n};
  EXPECT_TRUE(same_element_only({{along(0, 1)}}, {{along(0, 1)}}, points));
  EXPECT_FALSE(same_element_only({{along(0)}}, {{along(0, 1)}}, points));
  EXPECT_FALSE(same_element_only({{at(0)}}, {{at(0)}}, points));
  EXPECT_FALSE(same_element_only({{through(0, n)}}, {{through(0, n)}}, points));  // two points may share an index
  EXPECT_TRUE(same_element_only({{along(0), {0, {{1, 1}}, {}}}}, {{along(0), at(0)}}, Dims{n, 1}));
}

TEST(AccessMap, StridesByDim) {
  const auto strides = [](const AccessMap& map, const Dims& extents, const Dims& dims, const LinearMap& to) {
    const auto found = strides_by_dim(map, extents, dims, to);
    return found ? *found : Dims{-1};
  };
  const Dims none = {-1}, apart = {7, 2}, flipped = {2, 7};
  const LinearMap to = {5, {{0, 7}, {1, 2}}, {}}, rows = {0, {{0, 3}, {1, 1}}, {}};
  EXPECT_EQ(strides(AccessMap::identity(2), {n, m}, {n, m}, to), apart);
  EXPECT_EQ(strides({{along(1), along(0)}}, {n, m}, {m, n}, to), flipped);
  EXPECT_EQ(strides({{along(0), at(0)}}, {n}, {n, 1}, to), (Dims{7, 0}));
  EXPECT_EQ(strides({{along(0)}}, {n, 1}, {n}, to), Dims{7});
  const AccessMap flat = {{{0, {{0, 3}, {1, 1}}, {}}}};
  EXPECT_EQ(strides(flat, {n, 3}, {Dim(3) * n}, rows), Dims{1});
  EXPECT_EQ(strides(flat, {n, 3}, {Dim(3) * n}, to), none);  // a row does not go on where the one before it ends
  EXPECT_EQ(strides({{along(0, 1)}}, {n - 1}, {n}, to), none);
  EXPECT_EQ(strides({{along(0)}}, {n}, {m}, to), none);
  EXPECT_EQ(strides({{along(0)}}, {n, m}, {n}, to), none);
  EXPECT_EQ(strides({{through(0, n)}}, {n}, {n}, to), none);
}

TEST(AccessMap, PlacesThatFollowEachOther) {
  const Dims part = {n, m}, all = {Dim(3) * n, m};
  const AccessMap first = {{along(0), along(1)}}, second = {{along(0, n), along(1)}},
                  third = {{along(0, Dim(2) * n), along(1)}};
  const auto follow = [&](std::initializer_list<const AccessMap*> maps) {
    std::vector<Touched> places;
    for (const AccessMap* map : maps) places.push_back({*map, part, all});
    return follow_each_other(places);
  };
  EXPECT_TRUE(follow({&first, &second, &third}));
  EXPECT_TRUE(follow({&first}));
  EXPECT_FALSE(follow({&first, &third, &second}));
  EXPECT_FALSE(follow({&first, &first}));
}

TEST(AccessMap, RegionOfASlice) {
  const auto region = bounding_region({{along(0, 2), along(1)}}, Dims{k, m}, Dims{n, m});
  ASSERT_TRUE(region);
  EXPECT_EQ(region->first, Dim(2) * m);
  EXPECT_EQ(region->last, Dim(2) * m + k * m);
  EXPECT_FALSE(bounding_region({{through(0, n)}}, Dims{m}, Dims{n}));
}

TEST(AccessMap, WithinDim) {
  EXPECT_EQ(within_dim(along(0), Dims{n}, n), Answer::yes);
  EXPECT_EQ(within_dim(along(0, 1), Dims{n}, n + 1), Answer::yes);
  EXPECT_EQ(within_dim(along(0, n - 1, -1), Dims{n}, n), Answer::yes);
  EXPECT_EQ(within_dim(along(0, 0, 2), Dims{ceil_div(n, 2)}, n), Answer::yes);
  EXPECT_EQ(within_dim(at(n - 1), Dims{n}, n), Answer::yes);
  EXPECT_EQ(within_dim(at(n - 1), Dims{}, n), Answer::unknown);
  EXPECT_EQ(within_dim(along(0, 1), Dims{m}, n), Answer::unknown);
  EXPECT_EQ(within_dim(along(0, 1), Dims{n + 1}, n + 1), Answer::no);
  EXPECT_EQ(within_dim(at(-1), Dims{}, n), Answer::no);
  EXPECT_EQ(within_dim(through(0, n), Dims{m}, n), Answer::yes);
}

const Dim is_long = min(max(m - 1, 0), 1);  // 0 or 1, as `stretch` has it

TEST(AccessMap, AStepMayBeASize) {
  EXPECT_EQ(is_injective({{along(0, 0, n + 1)}}, Dims{m}), Answer::yes);
  EXPECT_EQ(is_injective({{{0, {{0, m * k}, {1, k}, {2, 1}}, {}}}}, Dims{n, m, k}), Answer::yes);  // a reshape
  EXPECT_EQ(is_injective({{along(0, 0, Dim(-1) - n)}}, Dims{m}), Answer::yes);
  EXPECT_EQ(is_injective({{along(0, 0, n)}}, Dims{m}), Answer::unknown);  // n may be 0
  EXPECT_EQ(within_dim(along(0, n, Dim(0) - n), Dims{2}, n + 1), Answer::yes);
  EXPECT_EQ(within_dim(along(0, 0, n - m), Dims{k}, n), Answer::unknown);
  // even and odd multiples
  EXPECT_EQ(regions_overlap({{along(0, 0, Dim(2) * n)}}, Dims{k}, {{along(0, 1, 2)}}, Dims{m}), Answer::no);
}

TEST(AccessMap, AStepThatMayBeZero) {
  // Where it is 0 there is one element, and elements as long as is asked for where it is not.
  const Dim fits = (k - 1) * is_long + max(min(m, 1), min(k, 1));
  EXPECT_EQ(within_dim(along(0, 0, is_long), Dims{k}, fits), Answer::yes);
  EXPECT_EQ(is_injective({{along(0, 0, is_long)}}, Dims{k}), Answer::unknown);
  EXPECT_FALSE(same_element_only({{along(0, 0, is_long)}}, {{along(0, 0, is_long)}}, Dims{k}));
  EXPECT_FALSE(strides_by_dim({{along(0, 0, is_long)}}, Dims{k}, Dims{k}, {}));
  EXPECT_FALSE(along(0, 0, is_long).is_told_by(0));
  const auto region = bounding_region({{along(0, 0, is_long)}}, Dims{k}, Dims{m});
  ASSERT_TRUE(region);
  EXPECT_EQ(region->last, is_long * (k - 1) + 1);
}

TEST(AccessMap, AMapWhereAStepIsZeroAndWhereItIsNot) {
  const AccessMap map{{along(0, is_long * k, Dim(3) * is_long), along(1, n, n)}};
  const std::vector<Dim> sizes = stretching_sizes(map);
  ASSERT_EQ(sizes, std::vector<Dim>{is_long});
  EXPECT_EQ(where(map, sizes, 1), (AccessMap{{along(0, k, 3), along(1, n, n)}}));
  EXPECT_EQ(where(map, sizes, 0), (AccessMap{{at(0), along(1, n, n)}}));
  EXPECT_TRUE(stretching_sizes({{along(0, is_long, 2)}}).empty());  // not a step
}

TEST(AccessMap, AStepOfZeroOrOneFromTheFirstElementOn) {
  EXPECT_EQ(stretching_step(along(0, 0, is_long)), is_long);
  EXPECT_EQ(stretching_step(along(0, 0, 1)), std::nullopt);            // whatever the sizes are
  EXPECT_EQ(stretching_step(along(0, 0, is_long * 2)), std::nullopt);  // 0 or 2
  EXPECT_EQ(stretching_step(along(0, 1, is_long)), std::nullopt);      // from the second on
  EXPECT_EQ(stretching_step(at(0)), std::nullopt);
}

TEST(AccessMap, TwoAreToldApartByAnAxisThatAloneTellsASubscriptOfBoth) {
  const AccessMap rows = AccessMap::identity(2);
  AccessMap first_column = rows, sums = rows;
  first_column.subscripts[1] = {.base = 0};
  sums.subscripts[0].axes.push_back({1, 1});
  EXPECT_TRUE(told_apart_by(rows, first_column, 0));
  EXPECT_FALSE(told_apart_by(rows, first_column, 1));
  EXPECT_FALSE(told_apart_by(sums, sums, 0));
}

TEST(LinearMap, SameStridesAlongAxesWithSeveralPoints) {
  const LinearMap rows = linearize(AccessMap::identity(2), std::vector<Dim>{n, m});
  const LinearMap wider = linearize(AccessMap::identity(2), std::vector<Dim>{n, m + 1});
  EXPECT_TRUE(same_strides(rows, rows, std::vector<Dim>{n, m}));
  EXPECT_FALSE(same_strides(rows, wider, std::vector<Dim>{n, m}));
  EXPECT_TRUE(same_strides(rows, wider, std::vector<Dim>{1, m}));
}

}  // namespace
}  // namespace inlay::kernel
