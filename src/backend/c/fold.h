#pragma once
// Folds of a stage: variables that are opened outside of the loops that they fold, and a step for each point.
#include "backend/c/nest.h"

namespace inlay::c_backend {

class FoldText {
 public:
  explicit FoldText(NestText& nest) : nest_(nest), p_(nest.p), out_(nest.out), facts_(nest.facts) {}

  /// Around the loop that opens at `level`.
  void open_variables(int level);
  void close_variables(int level);
  bool opens_hidden(std::size_t i) const {
    return nest_.statement(i).opens_fold() && nest_.statement(i).has_hidden_states();
  }

  /// A point more of the fold of several states that statement `i` opens.
  void fold_states(std::size_t i);
  /// Likewise of one state.
  void combine_into(const std::string& place, const kernel::Statement& s);

 private:
  bool opens_at(std::size_t i, int level) const {
    return facts_[i].live && facts_[i].accumulates && facts_[i].opened == level;
  }
  Dim points_of_sum(std::size_t i) const;
  bool is_long_sum(std::size_t i) const;
  void open_sum(std::size_t i);
  void close_sum(std::size_t i);
  void open_hidden(std::size_t i);
  struct Texts;
  void merge_states(std::size_t i);
  void add_exponential(std::size_t i);

  NestText& nest_;
  ProgramText& p_;
  Text& out_;
  std::vector<NestText::Facts>& facts_;
};

}  // namespace inlay::c_backend
