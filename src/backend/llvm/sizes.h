#pragma once
// Sizes as machine code: a Dim is evaluated where the function's spine is, once, and kept.
#include <optional>
#include <span>
#include <unordered_map>

#include "backend/llvm/ends.h"
#include "ir/hash.h"

namespace inlay::llvm_backend {

/// Values of sizes, in the order in which they were computed.
class KnownSizes {
 public:
  Value* find(const Dim& dim) const;  // null: not known
  void add(const Dim& dim, Value* value);

  struct Step {
    Value* before;
    Dim rest;  // one term
  };
  /// One of the last sizes that is all but a term of this sum of three or more: the offsets of a concat of many parts
  /// are such sums, each with one size more than the one before.
  std::optional<Step> step_to(const Dim& dim) const;
  std::size_t count() const { return sizes_.size(); }
  void forget_all_but(std::size_t count);

 private:
  std::vector<Dim> sizes_;
  std::unordered_map<Dim, Value*, DimHash> values_;
};

class Sizes {
 public:
  Sizes(std::size_t num_symbols, llvm::IRBuilder<>& builder, Frame& frame, Ends& ends)
      : b_(builder), frame_(frame), ends_(ends), symbols_(num_symbols) {}

  Value* of(const Dim& dim);  // i64, on the spine
  /// Leaves with INLAY_SIZE_OVERFLOW where a size, or a part of it, does not fit in 64 bits.
  void require_fit(std::span<const Dim> sizes);
  void set_symbol(SymbolId symbol, Value* value) { symbols_[symbol.index] = value; }

  /// What has been computed by now, to go back to.
  struct Known {
    std::size_t num_sizes = 0, num_tested = 0;
    std::vector<Value*> symbols;
  };
  Known known() const { return {known_.count(), tested_.count(), symbols_}; }
  void forget_all_but(Known known);

 private:
  Value* dim_value(const Dim& dim);
  Value* term_value(const Dim::Term& term);
  Value* factor(const Dim::Atom& atom);
  Value* atom_value(const Dim::Atom& atom);
  Value* tested_size(const Dim& dim, Value*& overflows);
  Value* tested_term(const Dim::Term& term, Value*& overflows);
  void also(Value* bit, Value*& overflows);
  Value* exact(llvm::Intrinsic::ID operation, Value* left, Value* right, Value*& overflows);

  llvm::IRBuilder<>& b_;
  Frame& frame_;
  Ends& ends_;
  KnownSizes known_;
  KnownSizes tested_;            // of which it is known that they and their parts fit
  std::vector<Value*> symbols_;  // by symbol
};

}  // namespace inlay::llvm_backend
