#include "backend/c/statement.h"

#include <algorithm>

#include "backend/c/scalar.h"
#include "kernel/ranges.h"
#include "support/error.h"

namespace inlay::c_backend {

using kernel::Statement;
using Kind = Statement::Kind;

void StatementText::write_statement(std::size_t i) {
  const Statement& s = nest_.statement(i);
  switch (s.kind) {
    case Kind::load:
    case Kind::literal:
    case Kind::axis:
    case Kind::size:
    case Kind::op:
    case Kind::cast: return write_value(s, i);
    case Kind::store:
    case Kind::fold: return write_store(i);
    case Kind::check: return write_check(s);
  }
}

void StatementText::write_value(const Statement& s, std::size_t i) {
  switch (s.kind) {
    case Kind::load: return write_load(s, i);
    case Kind::literal: return nest_.set_value(s.result, constant(p_.needs, s.literal));
    case Kind::axis:
    case Kind::size: {
      const std::string number = s.kind == Kind::axis ? nest_.point(s.axis, false) : p_.factor(s.size);
      if (s.dtype == DType::i64 && s.kind == Kind::axis && p_.index_type() != "int64_t")
        return nest_.define(s, number);  // arithmetic on it has 64 bits
      if (s.dtype == DType::i64) return nest_.set_value(s.result, number);
      return nest_.define(s, cast_text(p_.needs, number, DType::i64, s.dtype));
    }
    case Kind::op:
    case Kind::cast: {
      std::vector<std::string> operands;
      for (kernel::RegisterId r : s.operands) operands.push_back(nest_.value(r));
      const DType dtype = nest_.dtype(s.operands.back());
      if (s.kind == Kind::cast) {
        const bool is_small = kernel::casts_within_i32(nest_.stage, s, dtype);
        return nest_.define(s, is_small ? small_cast_text(p_.needs, operands[0], s.dtype)
                                        : cast_text(p_.needs, operands[0], dtype, s.dtype));
      }
      return nest_.define(s, op_text(p_.needs, s.op, dtype, operands));
    }
    case Kind::store:
    case Kind::fold:
    case Kind::check: break;
  }
  INLAY_CHECK(false, "a statement without a value");
}

void StatementText::write_load(const Statement& s, std::size_t i) {
  const bool is_constant = p_.is_constant(s.buffer);
  if (is_constant) nest_.set_value(s.result, constant(p_.needs, p_.root_buffer(s.buffer).elements[0]));
  if (is_constant || !nest_.is_needed(s.result)) return static_cast<void>(nest_.index_text(i));  // may be checked
  if (is_unchanging(s)) return nest_.set_value(s.result, nest_.element(i));
  nest_.define(s, str(nest_.element(i), s.dtype == DType::boolean ? " != 0" : ""));
}

/// A 0-d value that stays as it is in this kernel is its own name.
bool StatementText::is_unchanging(const Statement& load) const {
  return p_.is_scalar(load.buffer) && load.dtype != DType::boolean && !load.can_fail() &&
         std::ranges::count(nest_.place.written, p_.root(load.buffer)) == 0;
}

void StatementText::write_check(const Statement& s) {
  if (const kernel::IndexTerm* index = s.index_to_check()) return void(nest_.wrapped(*index));
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i < s.operands.size(); ++i) numbers.push_back(nest_.value(s.operands[i]));
  out_.fail_if(str("!", nest_.value(s.operands[0])), p_.failure(s.site, numbers));
}

void StatementText::write_store(std::size_t i) {
  const Statement& s = nest_.statement(i);
  if (s.has_several_states()) {
    if (s.opens_fold()) return folds_.fold_states(i);
    if (s.fold != Fold::log_sum_exp) return;  // done with the first
  }
  const std::size_t wrapped_before = nest_.num_wrapped();
  if (s.predicate.valid()) out_.open("if (", nest_.value(s.predicate), ")");
  const std::string place = nest_.facts[i].accumulates ? nest_.facts[i].sum : nest_.element(i);
  if (!s.accumulates()) {
    out_.line(place, " = ", nest_.value(s.operands[0]), ";");
  } else {
    folds_.combine_into(place, s);
  }
  if (s.predicate.valid()) {
    out_.close();
    nest_.forget_wrapped(wrapped_before);
  }
  if (s.result.valid()) nest_.define(s, str(place, s.dtype == DType::boolean ? " != 0" : ""));
}

}  // namespace inlay::c_backend
