#pragma once
// Makes one random graph: a method for each kind of op, in a file for each family (make_*.cpp).
#include <algorithm>
#include <optional>

#include "ir/compose.h"
#include "random_graph.h"

namespace inlay::fuzz {

using tool::Random;

constexpr DType kDTypes[] = {DType::f64,  DType::f64, DType::f64,  DType::f64,     DType::f64, DType::i64,
                             DType::i64,  DType::f32, DType::f32,  DType::boolean, DType::i32, DType::u8,
                             DType::i8,   DType::f64, DType::f64,  DType::i64,     DType::f32, DType::f16,
                             DType::bf16, DType::c64, DType::c128, DType::c128};

/// A value so far, and what the maker must know of it.
struct Entry {
  ValueId v;
  bool exact = true;  // no rounding on its way: equal bit by bit in every evaluator
};

class GraphMaker {
 public:
  GraphMaker(Random& random, const RandomGraphOptions& options);

  RandomGraph make();

 private:
  /// All that nothing uses, and some of the rest.
  void add_outputs();

  // Chance.

  int64_t draw(int64_t minimum, int64_t maximum) {
    return std::uniform_int_distribution<int64_t>(minimum, maximum)(random_);
  }
  bool chance(int percent) { return draw(0, 99) < percent; }
  template <class Range>
  std::ranges::range_value_t<Range> of(const Range& range) {
    return std::begin(range)[draw(0, static_cast<int64_t>(std::size(range)) - 1)];
  }

  // Sizes.

  int64_t size_of(const Dim& dim) const { return dim.evaluate(symbol_sizes_); }
  /// Can a parameter have these dims?
  bool are_of_params(const std::vector<Dim>& dims) const;

  /// A symbol that a parameter is about to bind.
  Dim symbol();
  Dim dim_for_param();
  std::vector<Dim> dims_for_param();
  /// A size of something that exists, or a number.
  Dim known_dim();

  // Values.

  const TensorType& type(ValueId v) const { return builder_.type(v); }

  ValueId new_param(DType dtype, std::vector<Dim> dims);

  template <class Predicate>
  std::optional<std::size_t> pick(Predicate wanted) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (wanted(pool_[i])) found.push_back(i);
    }
    if (found.empty()) return std::nullopt;
    // The later half twice as often: deep graphs rather than wide ones.
    const auto at = std::max(draw(0, static_cast<int64_t>(found.size()) - 1),
                             chance(50) ? 0 : draw(0, static_cast<int64_t>(found.size()) - 1));
    return found[static_cast<std::size_t>(at)];
  }

  ValueId use(std::size_t i) const { return pool_[i].v; }

  void add(ValueId v, bool exact);

  /// Floats and complex numbers: what ops on them may round.
  static bool is_inexact(DType dtype) { return is_float(dtype) || is_complex(dtype); }

  ValueId literal(DType dtype);

  static bool computes(DType dtype) { return dtype != DType::opaque; }

  /// The same shape when stretched, without a check.
  static bool stretches(const std::vector<Dim>& a, const std::vector<Dim>& b);
  static bool stretches_to(const std::vector<Dim>& from, const std::vector<Dim>& to);

  // Ops.

  void step();

  /// Does a small change of an operand change the result by a jump?
  static bool jumps(ScalarOp op);
  /// Most complex functions jump across a branch cut, and the axes are where results meet it.
  static bool jumps_in_the_plane(ScalarOp op);
  /// Is the result exact where the operands are?
  static bool rounds(ScalarOp op, DType dtype);

  void scalar();
  void cast();
  void broadcast();
  void stretched();
  void stretched_rows();
  void reshape();
  void transpose();
  void flip();
  void diagonal();

  // Compositions (ir/compose.h).

  ValueId composed(std::string_view name, std::size_t x, const std::vector<std::pair<std::string, Dim>>& numbers,
                   NamedArguments named = {}, std::vector<ValueId> more = {});

  static ComposeArgument list(std::vector<Dim> sizes) { return {std::move(sizes), true, ""}; }

  /// The elements of a value, some of them, or some several times.
  void moved();

  /// Elements of a value, and others, by where they stand.
  void placed();

  /// Reductions of several nodes.
  void reduced();
  void fold();
  ValueId sum_of_exponentials(ValueId x);
  ValueId rows_less_their_sums(ValueId x);
  ValueId less_its_mean(ValueId x);

  /// Ranges and positions that hold for the chosen sizes.
  IndexItem item(const Dim& dim);

  std::vector<IndexItem> items(ValueId x);

  void slice();

  /// `2 * i - j + start` at the point (i, j, ...), where that lies within an axis of this size.
  std::optional<ValueId> arithmetic_on_places(const Dim& dim, const std::vector<Dim>& dims);

  /// An index array for an axis of this size, or none where there is nothing to index.
  std::optional<ValueId> index_array(const Dim& dim, const std::vector<Dim>& dims);

  /// At most one place in a program fails, so that all evaluators fail in the same one.
  bool may_fail();

  std::vector<Dim> index_dims();

  /// Items with at least one index array.
  std::optional<std::vector<IndexItem>> items_with_arrays(ValueId x);

  void gather();

  Combine write_combine(DType dtype);

  /// A product of tiny numbers and infinities is NaN or not by the order in which it underflows.
  bool order_shows(Combine combine, DType dtype) const;

  /// The dims of x[index], by asking the builder for the gather that would read them.
  std::vector<Dim> region_dims(ValueId x, const std::vector<IndexItem>& index);

  std::optional<std::size_t> stretchable(DType dtype, const std::vector<Dim>& dims);

  using Write = ValueId (GraphBuilder::*)(Combine, ValueId, std::vector<IndexItem>, ValueId, InPlace);
  void write(Write make, std::size_t x, const std::vector<IndexItem>& index);
  /// What nothing else is and nobody else reads: an update of it, in no loop, need not copy it.
  ValueId fresh(ValueId x);

  void update();
  void update_by_rows();
  void update_two();
  void scatter();
  void reduce();
  void concat();
  void cumulative();

  /// Sizes that are found on the way are known to nobody here; so what has them is an output, or of another size again.
  Dim late_symbol();
  /// But for this one: it is the number of an argument.
  Dim late_size(int64_t size);
  /// What has such a size, as an output; in a body, which returns none, the sum of its elements.
  void give_out(ValueId v);
  /// In a body: an array as long as a number that is known there, and the sum of what is made of it.
  void found_size();
  void late_slice();

  void compress();

  /// Sizes that a composition has bound by itself.
  void note_late_symbols();
  void where();
  void arange();
  void iota();
  void size();

  /// Of all ranks, and of integers; what does not fit is no product.
  void matmul();

  /// Of some elements of one value and some others of it, turned: what a library function may read where they lie.
  void products_of_bytes();
  void matmul_of_parts();
  /// The value with its last two axes, or one of them, turned, or some of its elements.
  ValueId seen(ValueId x);
  /// Adds the value, or a larger one that holds it.
  void add_held(ValueId x);

  // Factorizations. Of matrices that are far from singular, so that the results are sharp; and of each its unique part:
  // not a singular vector, whose sign is open, but the product of the factors.

  ValueId literal_like(ValueId x, double value);
  ValueId swapped(ValueId x);
  /// x with a row of its own scale in each column: x * row.
  ValueId scaled(ValueId x, ValueId row);
  ValueId eye(const Dim& n, DType dtype);
  ValueId call(LibraryOp op, std::vector<ValueId> operands, LibraryOptions options = 0);

  /// A matrix of numbers in [0, 1], in both parts where they are complex.
  ValueId bounded(ValueId x);
  ValueId adjoint(ValueId x);

  void factorization();

  static LibraryOptions perhaps(bool yes, LibraryOption option) {
    return yes ? static_cast<LibraryOptions>(option) : 0;
  }

  /// Of a positive definite matrix that lies in memory: its transpose, it backwards, or a corner of it.
  ValueId corner(ValueId a);
  /// By a matrix that is positive definite.
  void triangles(ValueId a, ValueId m);

  void tridiagonal(ValueId a, ValueId m);
  void orthogonal(ValueId a, ValueId m);

  ValueId diagonal(ValueId a, int64_t offset);
  void schur(ValueId a, ValueId m);
  /// Of a and another matrix at once, which may be singular.
  void qz(ValueId a, ValueId m);
  void singular(ValueId m);

  void eigenvalues(ValueId a);

  void rows();

  /// Each row is swapped with one behind it.
  void permutation(const Dim& n);

  void some_extremes(std::size_t x);

  void host_call();
  void assert_that();

  // Regions. What fails stands outside of them: a branch is not always taken.

  /// The maker's state around a body.
  struct Outside {
    GraphBuilder builder;
    std::vector<Entry> pool;
    std::optional<ValueId> step;
    Dim loop_count;
    std::vector<int64_t> symbol_sizes;
  };
  Outside enter();
  Graph leave(Outside outside);

  std::vector<Entry> some_values(int64_t most);

  static std::vector<ValueId> ids_of(const std::vector<Entry>& entries);

  void come_in(const Outside& outside, const std::vector<Entry>& captured);

  void some_steps();

  /// The last value of this type: there is one, since a parameter has it.
  Entry last_of(const TensorType& wanted);

  void cond();
  void loop();

  Random& random_;
  const RandomGraphOptions options_;
  GraphBuilder builder_;
  std::vector<int64_t> sizes_;  // of n, m, k
  std::optional<Dim> symbols_[3];
  std::vector<int64_t> symbol_sizes_;  // by SymbolId
  std::vector<Entry> pool_;
  std::optional<ValueId> step_;  // of the innermost loop
  Dim loop_count_;
  int depth_ = 0;  // regions around
  int nodes_ = 0, failing_places_ = 0, fresh_values_ = 0, host_functions_ = 0, next_bound_ = 0;
  bool has_late_size_ = false;
};

}  // namespace inlay::fuzz
