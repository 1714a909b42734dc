#pragma once
// The statements of a stage as formulas: `%3 = mul %1, %2; store y[i] set %3` is `y = a*b`.
#include <functional>
#include <string>
#include <vector>

#include "kernel/summary.h"
#include "kernel/text.h"

namespace inlay::kernel {

/// Text of an expression, with its precedence, so that it can be put into other text.
struct Expression {
  enum class Binds : uint8_t { logic, comparison, sum, product, sign, power, atom };  // ascending
  std::string text;
  Binds binds = Binds::atom;
  int ops = 0;  // how many operations it has
};

/// The names of buffers, and the expressions of scalars that the 0-d arithmetic of a program makes.
class Vocabulary {
 public:
  Vocabulary(const KernelProgram& program, const std::vector<NamedPart>& parts);

  const KernelProgram& program() const { return program_; }
  const Names& names() const { return names_; }
  /// Returns `alpha`, or `result_1` for a result without a name.
  std::string name(BufferId buffer) const;
  /// Returns the scalar's expression if it has few operations, else its name.
  Expression number(BufferId scalar) const;
  /// Is its expression shown in place of its name?
  bool stands_where_read(BufferId scalar) const { return !numbers_[scalar].text.empty(); }
  /// Returns the part that contains [first, first + length) of the buffer; null without one.
  const NamedPart* part(BufferId buffer, const Dim& first, int64_t length) const;
  bool is_taken(const std::string& name) const;

 private:
  void find_numbers();
  bool is_made_once(BufferId scalar) const;
  void name_by_places();

  const KernelProgram& program_;
  Names names_;
  const std::vector<NamedPart>& parts_;
  IdMap<BufferId, int> num_writers_;     // steps
  IdMap<BufferId, Expression> numbers_;  // an empty text: shown by its name
};

/// Returns the formulas of a kernel, in order.
std::vector<std::string> formulas(const Vocabulary& vocabulary, const Kernel& kernel);

/// Returns the text of an element or a region of a buffer: `alpha`, `x[1:9]`, `rate[county]`.
Expression place_text(const Vocabulary& vocabulary, const Kernel& kernel, const Stage& stage, BufferId buffer,
                      const AccessMap& map, const std::function<Expression(RegisterId)>& index);

}  // namespace inlay::kernel
