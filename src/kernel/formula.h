#pragma once
// The statements of a stage as formulas: `%3 = mul %1, %2; store y[i] set %3` is `y = a*b`.
#include <functional>
#include <string>
#include <vector>

#include "kernel/summary.h"
#include "kernel/text.h"

namespace inlay::kernel {

/// Text with what it needs to stand within other text.
struct Expression {
  enum class Binds : uint8_t { logic, comparison, sum, product, sign, power, atom };  // ascending
  std::string text;
  Binds binds = Binds::atom;
  int ops = 0;  // how many operations it is
};

/// How buffers are called, and what single numbers are: those that the 0-d arithmetic of a program makes.
class Vocabulary {
 public:
  Vocabulary(const KernelProgram& program, const std::vector<NamedPart>& parts);

  const KernelProgram& program() const { return program_; }
  const Names& names() const { return names_; }
  /// `alpha`; `result_1` of a result without a name.
  std::string name(BufferId buffer) const;
  /// The number where few operations make it, else its name.
  Expression number(BufferId scalar) const;
  /// Is it shown where it is read, as what makes it?
  bool stands_where_read(BufferId scalar) const { return !numbers_[scalar].text.empty(); }
  /// The part that [first, first + length) of the buffer lies in; null: none.
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
  IdMap<BufferId, Expression> numbers_;  // an empty text: by its name
};

/// The formulas of a kernel, in order.
std::vector<std::string> formulas(const Vocabulary& vocabulary, const Kernel& kernel);

/// How a place in a buffer is written: `alpha`, `x[1:9]`, `rate[county]`.
Expression place_text(const Vocabulary& vocabulary, const Kernel& kernel, const Stage& stage, BufferId buffer,
                      const AccessMap& map, const std::function<Expression(RegisterId)>& index);

}  // namespace inlay::kernel
