#pragma once
// Array expressions in C++: `exp(x) / sum(exp(x), 1, Keep::yes)`.
//
//   inlay::ArrayProgram p("softmax");
//   const inlay::Dim n = p.symbol("n");
//   const inlay::Value x = p.param("x", inlay::DType::f64, {n});
//   p.output(exp(x) / sum(exp(x)), "softmax");
//   const inlay::Executable f = inlay::compile(p.finish());
//
// A thin layer over GraphBuilder: each function here makes the nodes of one call there, or of one composition, with its
// checks. Names and meanings are NumPy's. Errors say the file and the line of the call: an operand becomes an Operand
// at the call, which std::source_location sees.
#include <concepts>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/builder.h"
#include "ir/compose.h"
#include "ir/compose_reduce.h"

namespace inlay {

class Subscript;

/// A value of a program that is being built. Cheap to copy; keeps the builder alive.
class Value {
 public:
  Value(std::shared_ptr<GraphBuilder> builder, ValueId id) : builder_(std::move(builder)), id_(id) {}

  const TensorType& type() const { return builder_->type(id_); }
  DType dtype() const { return type().dtype; }
  int rank() const { return type().rank(); }
  /// Returns the number of elements along `axis`; a negative axis counts from the end.
  Dim size(int axis) const;

  /// x[2], x[n - 1], x[from(1)], x[{all, range(0, k)}], x[i] with an index array: see Item.
  Value operator[](const Subscript& subscript) const;

  ValueId id() const { return id_; }
  GraphBuilder& builder() const { return *builder_; }
  /// Returns another value of the same builder.
  Value with(ValueId id) const { return {builder_, id}; }

 private:
  std::shared_ptr<GraphBuilder> builder_;
  ValueId id_;
};

/// An operand: a value, or a number or a size, which take the dtype of the values next to them.
class Operand {
 public:
  Operand(Value value, std::source_location where = std::source_location::current())  // NOLINT: a value is an operand
      : is_(std::move(value)), where_(where) {}
  Operand(Dim size, std::source_location where = std::source_location::current())  // NOLINT: so is a size
      : is_(std::move(size)), where_(where) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T number, std::source_location where = std::source_location::current())  // NOLINT: and a number
      : where_(where) {
    if constexpr (std::is_floating_point_v<T>) {
      is_ = static_cast<double>(number);
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t)) {
      if (number > static_cast<T>(std::numeric_limits<int64_t>::max())) {
        is_ = static_cast<double>(number);
      } else {
        is_ = static_cast<int64_t>(number);
      }
    } else {
      is_ = static_cast<int64_t>(number);
    }
  }

  const Value* value() const { return std::get_if<Value>(&is_); }
  /// Returns the value. Throws Error(wrong-dtype), which names `op`, if it is a number or a size.
  const Value& value(std::string_view op) const;
  /// Returns a value of `builder`; a number or a size becomes one of `dtype`. Throws Error(wrong-dtype) if the number
  /// does not fit the dtype.
  ValueId id(GraphBuilder& builder, DType dtype) const;
  const std::source_location& where() const { return where_; }

 private:
  std::variant<int64_t, double, Dim, Value> is_;
  std::source_location where_;
};

// Brackets.

/// Every `step`-th index from `start` to before `stop`. If step > 0, negative numbers count from the end, and without a
/// stop it goes to the end. If step < 0, -1 <= stop <= start, as in GraphBuilder::slice.
struct Range {
  Dim start = 0;
  std::optional<Dim> stop;
  int64_t step = 1;
};
inline Range range(Dim start, Dim stop, int64_t step = 1) { return {std::move(start), std::move(stop), step}; }
inline Range from(Dim start, int64_t step = 1) { return {std::move(start), std::nullopt, step}; }
inline Range until(Dim stop) { return {0, std::move(stop), 1}; }
inline constexpr struct All {
} all;

/// One item in the brackets, for one axis: a position, which drops the axis (a negative number counts from the end); a
/// range; `all`; or a value, an index array, whose negative elements count from the end.
class Item {
 public:
  template <std::integral T>
  Item(T position) : is_(Dim(static_cast<int64_t>(position))) {}  // NOLINT: an item of brackets
  Item(Dim position) : is_(std::move(position)) {}                // NOLINT
  Item(Range range) : is_(std::move(range)) {}                    // NOLINT
  Item(All) : is_(Range{}) {}                                     // NOLINT
  Item(Value array) : is_(std::move(array)) {}                    // NOLINT
  IndexItem of(const Value& x, int axis) const;
  bool is_array() const { return std::holds_alternative<Value>(is_); }

 private:
  std::variant<Dim, Range, Value> is_;
};

/// An item for each axis; missing ones select the whole axis.
class Subscript {
 public:
  template <std::convertible_to<Item> T>
  Subscript(T item, std::source_location where = std::source_location::current())  // NOLINT: x[1]
      : items_{Item(std::move(item))}, where_(where) {}
  Subscript(std::initializer_list<Item> items, std::source_location where = std::source_location::current())
      : items_(items), where_(where) {}

  std::vector<IndexItem> of(const Value& x) const;
  bool has_arrays() const;
  const std::source_location& where() const { return where_; }

 private:
  std::vector<Item> items_;
  std::source_location where_;
};

/// Returns a new value: x with x[subscript] set to v, or combined with it. If elements of index arrays are equal, `set`
/// keeps the last.
Value update(const Operand& x, const Subscript& subscript, const Operand& v, Combine combine = Combine::set,
             InPlace in_place = InPlace::wanted);

// Elementwise ops. Operands broadcast and must have one dtype; use cast otherwise.

Value scalar(ScalarOp op, std::initializer_list<Operand> operands);

inline Value operator+(const Operand& x, const Operand& y) { return scalar(ScalarOp::add_, {x, y}); }
inline Value operator-(const Operand& x, const Operand& y) { return scalar(ScalarOp::sub_, {x, y}); }
inline Value operator*(const Operand& x, const Operand& y) { return scalar(ScalarOp::mul_, {x, y}); }
inline Value operator/(const Operand& x, const Operand& y) { return scalar(ScalarOp::div_, {x, y}); }
/// The remainder, with the sign of y, as in NumPy.
inline Value operator%(const Operand& x, const Operand& y) { return scalar(ScalarOp::mod_, {x, y}); }
inline Value operator-(const Operand& x) { return scalar(ScalarOp::neg_, {x}); }
inline Value operator==(const Operand& x, const Operand& y) { return scalar(ScalarOp::eq_, {x, y}); }
inline Value operator!=(const Operand& x, const Operand& y) { return scalar(ScalarOp::ne_, {x, y}); }
inline Value operator<(const Operand& x, const Operand& y) { return scalar(ScalarOp::lt_, {x, y}); }
inline Value operator<=(const Operand& x, const Operand& y) { return scalar(ScalarOp::le_, {x, y}); }
inline Value operator>(const Operand& x, const Operand& y) { return scalar(ScalarOp::gt_, {x, y}); }
inline Value operator>=(const Operand& x, const Operand& y) { return scalar(ScalarOp::ge_, {x, y}); }
inline Value operator&(const Operand& x, const Operand& y) { return scalar(ScalarOp::and_, {x, y}); }
inline Value operator|(const Operand& x, const Operand& y) { return scalar(ScalarOp::or_, {x, y}); }
inline Value operator^(const Operand& x, const Operand& y) { return scalar(ScalarOp::xor_, {x, y}); }
inline Value operator~(const Operand& x) { return scalar(ScalarOp::not_, {x}); }
inline Value operator!(const Operand& x) { return scalar(ScalarOp::not_, {x}); }
inline Value operator<<(const Operand& x, const Operand& y) { return scalar(ScalarOp::left_shift_, {x, y}); }
inline Value operator>>(const Operand& x, const Operand& y) { return scalar(ScalarOp::right_shift_, {x, y}); }
inline Value& operator+=(Value& x, const Operand& y) { return x = scalar(ScalarOp::add_, {{x, y.where()}, y}); }
inline Value& operator-=(Value& x, const Operand& y) { return x = scalar(ScalarOp::sub_, {{x, y.where()}, y}); }
inline Value& operator*=(Value& x, const Operand& y) { return x = scalar(ScalarOp::mul_, {{x, y.where()}, y}); }
inline Value& operator/=(Value& x, const Operand& y) { return x = scalar(ScalarOp::div_, {{x, y.where()}, y}); }
inline Value maximum(const Operand& x, const Operand& y) { return scalar(ScalarOp::max_, {x, y}); }
inline Value minimum(const Operand& x, const Operand& y) { return scalar(ScalarOp::min_, {x, y}); }

// The ops with a function of their name (docs/ops.md has what each means); the others have an operator above.
// clang-format off
#define INLAY_FUNCTIONS_OF_1(OP) \
  OP(abs) OP(sign) OP(reciprocal) OP(square) OP(sqrt) OP(cbrt) OP(exp) OP(exp2) OP(expm1) OP(log) OP(log2) OP(log10) \
  OP(log1p) OP(log1mexp) OP(sigmoid) OP(softplus) OP(sin) OP(cos) OP(tan) OP(arcsin) OP(arccos) OP(arctan) OP(sinh) \
  OP(cosh) OP(tanh) OP(arcsinh) OP(arccosh) OP(arctanh) OP(deg2rad) OP(rad2deg) OP(floor) OP(ceil) OP(round) OP(trunc) \
  OP(erf) OP(erfc) OP(erfcx) OP(erfinv) OP(erfcinv) OP(ndtr) OP(ndtri) OP(ndtri_exp) OP(log_ndtr) OP(logit) OP(lgamma) \
  OP(gamma) OP(digamma) OP(trigamma) OP(i0) OP(i1) OP(j0) OP(j1) OP(isnan) OP(isinf) OP(isfinite) OP(signbit) OP(real) \
  OP(imag) OP(conj) OP(angle)
#define INLAY_FUNCTIONS_OF_2(OP) \
  OP(floor_div) OP(pow) OP(arctan2) OP(copysign) OP(nextafter) OP(complex) OP(xlogy) OP(xlog1py) OP(logaddexp) OP(beta) \
  OP(lbeta) OP(polygamma) OP(gammainc) OP(gammaincc) OP(gammainc_da) OP(gammaincinv) OP(gammainccinv) OP(owens_t) OP(jv) \
  OP(ive) OP(kve)
#define INLAY_FUNCTIONS_OF_3(OP) OP(clip) OP(betainc) OP(betainc_da) OP(betainc_db) OP(betaincinv)
// clang-format on

#define INLAY_FUNCTION(name) \
  inline Value name(const Operand& x) { return scalar(ScalarOp::name##_, {x}); }
INLAY_FUNCTIONS_OF_1(INLAY_FUNCTION)
#undef INLAY_FUNCTION
#define INLAY_FUNCTION(name) \
  inline Value name(const Operand& x, const Operand& y) { return scalar(ScalarOp::name##_, {x, y}); }
INLAY_FUNCTIONS_OF_2(INLAY_FUNCTION)
#undef INLAY_FUNCTION
#define INLAY_FUNCTION(name)                                                \
  inline Value name(const Operand& x, const Operand& y, const Operand& z) { \
    return scalar(ScalarOp::name##_, {x, y, z});                            \
  }
INLAY_FUNCTIONS_OF_3(INLAY_FUNCTION)
#undef INLAY_FUNCTION
inline Value hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x) {
  return scalar(ScalarOp::hyp2f1_, {a, b, c, x});
}
/// Returns `yes` where the condition is not zero, else `no`.
Value where(const Operand& condition, const Operand& yes, const Operand& no);
Value cast(const Operand& x, DType dtype);

// Reductions over axes, which count from the end if they are negative: ir/compose_reduce.h.

/// All axes where nothing is said, or `{}`; an empty Axes names none.
struct Along {
  std::optional<Axes> axes;

  Along() = default;
  template <std::integral T>
  Along(T axis) : axes(Axes{static_cast<int64_t>(axis)}) {}   // NOLINT: sum(x, 0)
  Along(std::initializer_list<int64_t> axes) : axes(axes) {}  // NOLINT: sum(x, {0, 1})
  Along(Axes axes) : axes(std::move(axes)) {}                 // NOLINT

  Axes of(const GraphBuilder& b, ValueId x) const;
};
Value sum(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value prod(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value max(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value min(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value mean(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value var(const Operand& x, const Along& along = {}, int64_t ddof = 0, Keep keep = Keep::no);
Value stddev(const Operand& x, const Along& along = {}, int64_t ddof = 0, Keep keep = Keep::no);
Value all_of(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value any_of(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value argmax(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value argmin(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value logsumexp(const Operand& x, const Along& along = {}, Keep keep = Keep::no);
Value softmax(const Operand& x, const Along& along = {});
Value log_softmax(const Operand& x, const Along& along = {});
Value cumsum(const Operand& x, int64_t axis);
Value cumprod(const Operand& x, int64_t axis);

// Shapes: ir/compose_shape.h.

Value reshape(const Operand& x, std::vector<Dim> dims);
Value broadcast_to(const Operand& x, std::vector<Dim> dims);
/// Permutes the axes; without a permutation it reverses them.
Value transpose(const Operand& x, std::vector<int> permutation = {});
Value flip(const Operand& x, const Along& along = {});
Value expand_dims(const Operand& x, const Along& along);
Value squeeze(const Operand& x, const Along& along);
Value concat(const std::vector<Operand>& parts, int64_t axis);
Value stack(const std::vector<Operand>& parts, int64_t axis);

// Matrix ops. Axes before the last two are batch axes.

Value matmul(const Operand& x, const Operand& y);
/// einsum("ij,j->i", {a, x}): ir/linalg.h.
Value einsum(std::string_view subscripts, const std::vector<Operand>& operands);
/// Returns the results of a library op: cholesky, solve, qr, sort, ... (src/ops/library_ops.def).
std::vector<Value> library_op(LibraryOp op, const std::vector<Operand>& operands, LibraryOptions options = 0);
/// Applies a composition by its name in text: compose("roll", {x}, {{"shift", {{1}}}, {"axis", {{0}}}}) (docs/text.md).
std::vector<Value> compose(std::string_view name, const std::vector<Operand>& operands,
                           const NamedArguments& named = {});

/// A program that is being built: a GraphBuilder whose values are Values.
class ArrayProgram {
 public:
  using Where = std::source_location;

  explicit ArrayProgram(std::string name = "main") : builder_(std::make_shared<GraphBuilder>(std::move(name))) {}

  /// Makes a symbolic size. The first parameter that has it as a whole dim defines its value.
  Dim symbol(std::string name) { return builder_->symbol(std::move(name)); }
  Value param(std::string name, DType dtype, std::vector<Dim> dims = {}, Where where = Where::current());
  /// Make a parameter that is bound once, and one whose bytes the caller gives up, as in GraphBuilder.
  Value bound(std::string name, DType dtype, std::vector<Dim> dims = {}, Facts facts = {},
              Where where = Where::current());
  Value donated(std::string name, DType dtype, std::vector<Dim> dims = {}, Where where = Where::current());
  /// Makes a 0-d value. Next to a value a number needs no literal.
  Value literal(const Operand& number, DType dtype = DType::f64);
  /// Makes the values 0, 1, ..., length - 1.
  Value iota(Dim length, DType dtype = DType::i64, Where where = Where::current());

  /// A step returns the next carried values, then the traced ones, and last, if the loop has a condition, whether to go
  /// on.
  using Step = std::function<std::vector<Value>(const Value& step, std::span<const Value> carried,
                                                std::span<const Value> captured)>;
  /// Runs the step `count` times. It gets outside values only as `captured`. See GraphBuilder::loop.
  std::vector<Value> loop(Dim count, const std::vector<Value>& initial, const std::vector<Value>& captured,
                          const Step& step, Ends ends = Ends::after_count, Where where = Where::current());
  using Branch = std::function<std::vector<Value>(std::span<const Value> captured)>;
  std::vector<Value> cond(const Operand& condition, const std::vector<Value>& captured, const Branch& then,
                          const Branch& otherwise);

  void output(const Operand& value, std::string name = "");
  /// Returns the graph. The program is empty afterwards.
  Graph finish() { return std::move(*builder_).finish(); }

  GraphBuilder& builder() { return *builder_; }
  /// Returns a value that the builder made.
  Value value(ValueId id) const { return {builder_, id}; }

 private:
  std::shared_ptr<GraphBuilder> builder_;
};

}  // namespace inlay
