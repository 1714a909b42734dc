#include <algorithm>

#include "ir/compose_diagonal.h"
#include "ir/linalg.h"
#include "support/counted.h"

namespace inlay::linalg {
namespace {

/// An array and a letter for each of its axes.
struct Labelled {
  ValueId value;
  std::string labels;
};

bool contains(std::string_view labels, char label) { return labels.find(label) != std::string_view::npos; }

class Contraction {
 public:
  Contraction(GraphBuilder& b, std::string_view subscripts) : b_(b), subscripts_(subscripts) {}

  ValueId run(const std::vector<ValueId>& operands) {
    read(operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      Labelled next = without_repeats({operands[i], inputs_[i]});
      for (char label : next.labels) require_size(next, label);
      next = summed(std::move(next), wanted_after(i, i == 0 ? "" : result_.labels));
      result_ = i == 0 ? next : joined(result_, next, wanted_after(i, ""));
    }
    result_ = summed(std::move(result_), output_);
    return b_.transpose(result_.value, order_of(result_.labels, output_));
  }

 private:
  Error error(ErrorCode code, std::string message) const {
    constexpr std::size_t kMostShown = 80;
    const bool is_long = subscripts_.size() > kMostShown;
    const std::string_view shown = std::string_view(subscripts_).substr(0, kMostShown);
    return b_.error(code, str("einsum \"", shown, is_long ? "...\": " : "\": ", message));
  }

  /// `ij,jk->ik`: without an arrow the result has what stands once, in alphabetical order.
  void read(const std::vector<ValueId>& operands) {
    std::string text;
    for (char c : subscripts_) {
      if (c != ' ') text += c;
    }
    const std::size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    inputs_ = {""};
    for (char c : left) {
      if (c == ',') {
        inputs_.emplace_back();
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        inputs_.back() += c;
      } else {
        throw error(ErrorCode::syntax, str("`", c, "` is no letter"));
      }
    }
    if (inputs_.size() != operands.size()) {
      throw error(ErrorCode::wrong_arity, str(counted(operands.size(), "operand"), " for ",
                                              counted(inputs_.size(), "list", "lists"), " of letters"));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto rank = static_cast<std::size_t>(b_.type(operands[i]).rank());
      if (rank != inputs_[i].size()) {
        throw error(ErrorCode::wrong_rank, str(counted(inputs_[i].size(), "letter"), " for ",
                                               counted(static_cast<std::size_t>(rank), "axis", "axes")))
            .note("operand", b_.graph().describe(operands[i]));
      }
    }
    if (arrow != std::string::npos) {
      output_ = text.substr(arrow + 2);
    } else {
      for (char c : left) {
        if (c != ',' && std::ranges::count(left, c) == 1) output_ += c;
      }
      std::ranges::sort(output_);
    }
    for (char c : output_) {
      if (c == ',' || !contains(left, c))
        throw error(ErrorCode::syntax, str("`", c, "` of the result is of no operand"));
      if (std::ranges::count(output_, c) > 1)
        throw error(ErrorCode::syntax, str("`", c, "` stands twice in the result"));
    }
  }

  /// Letters that the result, the operands after `i` or `also` have.
  std::string wanted_after(std::size_t i, std::string_view also) const {
    std::string out = output_ + std::string(also);
    for (std::size_t k = i + 1; k < inputs_.size(); ++k) out += inputs_[k];
    return out;
  }

  std::vector<int> order_of(std::string_view from, std::string_view to) const {
    std::vector<int> axes;
    for (char label : to) axes.push_back(static_cast<int>(from.find(label)));
    return axes;
  }
  Dim size_of(const Labelled& x, char label) const { return b_.type(x.value).dims[x.labels.find(label)]; }

  /// One letter, one size; the ways that ops compare sizes would name axes that the user never wrote.
  void require_size(const Labelled& x, char label) {
    const Dim size = size_of(x, label);
    for (const auto& [known, dim] : sizes_) {
      if (known != label) continue;
      const Dim difference = dim - size;
      if (difference.is_constant() && !difference.is(0)) {
        const auto names = b_.graph().symbol_names();
        throw error(ErrorCode::shape_mismatch,
                    str("size ", label, " is ", dim.to_text(names), " and ", size.to_text(names)));
      }
      return;
    }
    sizes_.emplace_back(label, size);
  }

  /// The diagonal over axes that have one letter.
  Labelled without_repeats(Labelled x) {
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      const std::size_t again = x.labels.find(x.labels[i], i + 1);
      if (again == std::string::npos) continue;
      std::string labels = x.labels;
      labels.erase(again, 1).erase(i, 1);
      const std::vector<Dim>& dims = b_.type(x.value).dims;
      if (same_dim(dims[i], dims[again]) == Answer::no) {
        throw error(ErrorCode::shape_mismatch, str("two axes `", x.labels[i], "` of one operand differ"));
      }
      const auto first = static_cast<int64_t>(i), second = static_cast<int64_t>(again);
      return without_repeats({extract_diagonal(b_, x.value, 0, first, second), labels + x.labels[i]});
    }
    return x;
  }

  /// Without the axes whose letter is not wanted.
  Labelled summed(Labelled x, std::string_view wanted) {
    std::vector<int> axes;
    std::string labels;
    for (std::size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (contains(wanted, x.labels[axis])) {
        labels += x.labels[axis];
      } else {
        axes.push_back(static_cast<int>(axis));
      }
    }
    if (axes.empty()) return x;
    const DType dtype = b_.type(x.value).dtype;
    const Fold fold = dtype == DType::boolean ? Fold::or_ : Fold::add;
    return {b_.reduce(fold, x.value, axes, dtype), labels};
  }

  /// The axes of `x` as [batch, first, second], each group one axis but the batch.
  ValueId grouped(const Labelled& x, const std::string& batch, const std::string& first, const std::string& second) {
    const ValueId ordered = b_.transpose(x.value, order_of(x.labels, batch + first + second));
    std::vector<Dim> dims;
    for (char label : batch) dims.push_back(size_of(x, label));
    for (const std::string* group : {&first, &second}) {
      Dim size = 1;
      for (char label : *group) size = size * size_of(x, label);
      dims.push_back(size);
    }
    return b_.reshape(ordered, std::move(dims));
  }

  /// One product: letters of both that are wanted are its batch, those that are not are summed.
  Labelled joined(const Labelled& x, const Labelled& y, std::string_view wanted) {
    std::string batch, shared, rows, columns;
    for (char label : x.labels) (!contains(y.labels, label) ? rows : contains(wanted, label) ? batch : shared) += label;
    for (char label : y.labels) {
      if (!contains(x.labels, label)) columns += label;
    }
    const ValueId product = matmul(b_, grouped(x, batch, rows, shared), grouped(y, batch, shared, columns));
    std::vector<Dim> dims;
    for (char label : batch + rows) dims.push_back(size_of(x, label));
    for (char label : columns) dims.push_back(size_of(y, label));
    return {b_.reshape(product, std::move(dims)), batch + rows + columns};
  }

  GraphBuilder& b_;
  std::string_view subscripts_;
  std::vector<std::string> inputs_;
  std::string output_;
  std::vector<std::pair<char, Dim>> sizes_;
  Labelled result_;
};

}  // namespace

ValueId einsum(GraphBuilder& b, std::string_view subscripts, std::vector<ValueId> operands) {
  return Contraction(b, subscripts).run(operands);
}

}  // namespace inlay::linalg
