// Products of matrices and of what has more axes, and determinants.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "inlay/linalg.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "onnx/quantised.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// Half precision is computed in f32, and rounded at the end.
void matmul_node(Call& c) {
  const DType dtype = c.dtype(0), computed = computed_in(dtype);
  if (const auto product = dequantised_product(c, c.in(0), c.in(1))) return c.out(*product);
  c.out(c.b.cast(matmul(c, c.b.cast(c.in(0), computed), c.b.cast(c.in(1), computed)), dtype));
}

/// x times a factor, which of integers is to be one.
ValueId scaled(Call& c, ValueId x, std::string_view name) {
  const double factor = c.number(name, 1);
  if (factor == 1) return x;
  if (is_integer(c.type(x).dtype) && factor != std::floor(factor)) {
    throw c.unsupported(str("integers with the factor ", name, " = ", factor));
  }
  return c.with(Op::mul_, x, factor);
}

/// alpha * a @ b + beta * c.
void gemm(Call& c) {
  const DType dtype = c.dtype(0), computed = computed_in(dtype);
  const auto operand = [&](std::size_t i, std::string_view transposed) {
    if (c.rank(i) != 2) throw c.wrong(str("input ", i, " is ", c.b.graph().describe(c.in(i)), ", which is no matrix"));
    const ValueId x = c.b.cast(c.in(i), computed);
    return c.flag(transposed) ? linalg::swapped(c.b, x) : x;
  };
  const ValueId left = operand(0, "transA"), right = operand(1, "transB");
  const auto of_bytes = c.flag("transA") ? std::nullopt : dequantised_product(c, c.in(0), c.in(1), c.flag("transB"));
  ValueId result = scaled(c, of_bytes ? *of_bytes : linalg::matmul(c.b, left, right), "alpha");
  if (c.has(2) && c.number("beta", 1) != 0) {
    const std::vector<Dim> dims = c.type(result).dims;
    ValueId added = scaled(c, c.b.cast(c.in(2), computed), "beta");
    if (c.rank(2) <= 2) added = stretched(c.scope.frame, added, dims, 0, c.node.op);
    result = c.scalar(Op::add_, {result, c.b.broadcast(added, dims)});
  }
  c.out(c.b.cast(result, dtype));
}

void determinant(Call& c) {
  const DType dtype = c.dtype(0);
  c.out(c.b.cast(linalg::determinant(c.b, c.b.cast(c.in(0), computed_in(dtype))), dtype));
}

/// The equation of an Einsum with a letter for each axis: those for which an ellipsis stands have letters of their own,
/// which are aligned at the last one.
class Equation {
 public:
  Equation(Call& c, std::string_view text) : c_(c), operands_(c.inputs()) {
    for (char letter : text) {
      if (letter != ' ') text_ += letter;
    }
    const std::size_t arrow = text_.find("->");
    split(text_.substr(0, arrow));
    if (labels_.size() != operands_.size()) {
      throw c.wrong(str("`", text.substr(0, 80), text.size() > 80 ? "...` is of " : "` is of ", labels_.size(),
                        " operands, and has ", operands_.size()));
    }
    name_ellipses();
    output_ = arrow == std::string::npos ? every_single() : expanded(text_.substr(arrow + 2), ellipsis_.size());
    find_longer();
    for (std::size_t i = 0; i < operands_.size(); ++i) drop_stretched(i);
    stretch_late();
  }

  ValueId run(DType computed) {
    std::string equation;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      equation += str(i == 0 ? "" : ",", labels_[i]);
      operands_[i] = c_.b.cast(operands_[i], computed);
    }
    return linalg::einsum(c_.b, str(equation, "->", output_), operands_);
  }

 private:
  static constexpr std::string_view kEllipsis = "...";
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  void split(const std::string& left) {
    labels_ = {""};
    for (char letter : left) {
      if (letter == ',') {
        labels_.emplace_back();
      } else {
        labels_.back() += letter;
      }
    }
  }

  int rank(std::size_t i) const { return c_.type(operands_[i]).rank(); }

  /// How many axes the ellipsis of operand i stands for.
  std::size_t num_elided(std::size_t i) const {
    if (labels_[i].find(kEllipsis) == std::string::npos) return 0;
    const std::size_t letters = labels_[i].size() - kEllipsis.size();
    if (static_cast<std::size_t>(rank(i)) < letters) {
      throw c_.wrong(str("`", labels_[i], "` is of ", letters, " axes or more, and operand ", i, " has ", rank(i)));
    }
    return static_cast<std::size_t>(rank(i)) - letters;
  }

  void name_ellipses() {
    std::size_t most = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) most = std::max(most, num_elided(i));
    for (char letter : kLetters) {
      if (ellipsis_.size() < most && text_.find(letter) == std::string::npos) ellipsis_ += letter;
    }
    if (ellipsis_.size() < most) throw c_.unsupported("an equation with more axes than there are letters");
    for (std::size_t i = 0; i < operands_.size(); ++i) labels_[i] = expanded(labels_[i], num_elided(i));
  }

  std::string expanded(std::string labels, std::size_t count) const {
    const std::size_t at = labels.find(kEllipsis);
    if (at != std::string::npos) labels.replace(at, kEllipsis.size(), ellipsis_.substr(ellipsis_.size() - count));
    return labels;
  }

  /// Without an arrow: the axes of the ellipsis, and then the letters that stand once, in their order.
  std::string every_single() const {
    std::string all, out;
    for (const std::string& each : labels_) all += each;
    std::map<char, int> times;
    for (char letter : all) ++times[letter];
    for (const auto& [letter, count] : times) {
      if (count == 1 && ellipsis_.find(letter) == std::string::npos) out += letter;
    }
    return ellipsis_ + out;
  }

  void find_longer() {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const std::vector<Dim> dims = c_.type(operands_[i]).dims;
      for (std::size_t axis = 0; axis < std::min(labels_[i].size(), dims.size()); ++axis) {
        if (!dims[axis].is(1)) longer_.insert(labels_[i][axis]);
      }
    }
  }

  /// An axis of one element that stretches is none.
  void drop_stretched(std::size_t i) {
    const std::vector<Dim> dims = c_.type(operands_[i]).dims;
    if (dims.size() != labels_[i].size()) return;  // an error, which einsum words
    std::vector<Dim> kept;
    std::string labels;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis].is(1) && longer_.contains(labels_[i][axis])) continue;
      kept.push_back(dims[axis]);
      labels += labels_[i][axis];
    }
    if (kept.size() == dims.size()) return;
    operands_[i] = c_.b.reshape(operands_[i], std::move(kept));
    labels_[i] = labels;
  }

  /// One that stretches where only the run says so. (Of a diagonal none does.)
  void stretch_late() {
    std::map<char, Dim> sizes;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const std::vector<Dim> dims = c_.type(operands_[i]).dims;
      for (std::size_t axis = 0; axis < std::min(dims.size(), labels_[i].size()); ++axis) {
        const auto [size, is_new] = sizes.try_emplace(labels_[i][axis], dims[axis]);
        if (!is_new) size->second = c_.importer.broadcast_sizes.of(c_.scope.frame, size->second, dims[axis]);
      }
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      std::vector<Dim> wanted = c_.type(operands_[i]).dims;
      if (wanted.size() != labels_[i].size()) continue;  // an error, which einsum words
      for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
        const char letter = labels_[i][axis];
        if (std::ranges::count(labels_[i], letter) == 1) wanted[axis] = sizes.at(letter);
      }
      operands_[i] = stretched(c_.scope.frame, operands_[i], wanted, 0, c_.node.op);
    }
  }

  Call& c_;
  std::vector<ValueId> operands_;
  std::string text_, ellipsis_, output_;
  std::vector<std::string> labels_;
  std::set<char> longer_;  // letters of axes that have not one element
};

void einsum(Call& c) {
  const DType dtype = c.dtype(0);
  c.out(c.b.cast(Equation(c, c.word("equation", "")).run(computed_in(dtype)), dtype));
}

constexpr OpRow kOps[] = {
    {"Det", determinant},
    {"Einsum", einsum},
    {"Gemm", gemm},
    {"MatMul", matmul_node},
};

}  // namespace

std::span<const OpRow> matrix_ops() { return kOps; }

}  // namespace inlay::onnx
