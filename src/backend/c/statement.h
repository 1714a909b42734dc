#pragma once
// What stands at a point of a stage: values, stores, checks.
#include "backend/c/fold.h"

namespace inlay::c_backend {

class StatementText {
 public:
  StatementText(NestText& nest, FoldText& folds) : nest_(nest), p_(nest.p), out_(nest.out), folds_(folds) {}

  void write_statement(std::size_t i);

 private:
  void write_value(const kernel::Statement& s, std::size_t i);
  void write_load(const kernel::Statement& s, std::size_t i);
  bool is_unchanging(const kernel::Statement& load) const;
  void write_check(const kernel::Statement& s);
  void write_store(std::size_t i);

  NestText& nest_;
  ProgramText& p_;
  Text& out_;
  FoldText& folds_;
};

}  // namespace inlay::c_backend
