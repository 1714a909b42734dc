#pragma once
// Sizes as machine code: a Dim is evaluated where the function's spine is, once, and kept.
#include <span>

#include "backend/llvm/ends.h"

namespace inlay::llvm_backend {

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
  Known known() const { return {known_.size(), tested_.size(), symbols_}; }
  void forget_all_but(Known known);

 private:
  Value* dim_value(const Dim& dim);
  Value* factor(const Dim::Atom& atom);
  Value* atom_value(const Dim::Atom& atom);
  Value* tested_size(const Dim& dim, Value*& overflows);

  llvm::IRBuilder<>& b_;
  Frame& frame_;
  Ends& ends_;
  std::vector<std::pair<Dim, Value*>> known_;
  std::vector<std::pair<Dim, Value*>> tested_;  // of which it is known that they and their parts fit
  std::vector<Value*> symbols_;                 // by symbol
};

}  // namespace inlay::llvm_backend
