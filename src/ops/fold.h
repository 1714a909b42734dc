#pragma once
// The table of folds (folds.def): sums, products and extremes; their arguments, log-sum-exp, moments.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/expression.h"

namespace inlay {

enum class Fold : uint8_t {
  none,  // what is there counts no more: no fold
#define FOLD(name, flops, formula) name,
#define STATE(name, dtype, combine, lift, merge)
#define HIDDEN(name, dtype, combine, lift, merge)
#include "ops/folds.def"
#undef FOLD
#undef STATE
#undef HIDDEN
};

struct FoldState {
  enum class Class : uint8_t { number, ordered, logical, place, real, count };
  std::string_view name;
  Class dtype;
  Combine combine;  // its identity is the state of no points
  bool is_stored;
  Expression lift, merge;
  /// Is it of a point the same whatever that folds?
  bool counts_points() const { return lift.kind == Expression::Kind::number; }
};

struct FoldFacts {
  std::string_view name;
  std::string_view formula;       // {0}: what the last stored state folds
  std::vector<FoldState> states;  // those that are stored come first
  std::size_t num_stored;
  int flops;                         // of a point, in all states
  std::size_t num_operands() const;  // what a point has: one for each stored state that does not count points
  bool has_hidden() const { return num_stored < states.size(); }
  bool has_one_state() const { return states.size() == 1; }
  /// Has it no result of no points? There is no maximum of none.
  bool needs_a_point() const {
    const Combine last = states[num_stored - 1].combine;
    return last == Combine::max || last == Combine::min;
  }
};

/// Not of `none`.
const FoldFacts& facts(Fold fold);
/// Is it a state that is of a point the same whatever that folds?
bool counts_points(Fold fold, int state);
/// How a state combines; `set` where there is no fold.
Combine combine_of(Fold fold, int state);
/// The fold of one state that combines so; none for `set`.
Fold fold_by(Combine combine);
/// As text forms call a state: `add`, `argmax place`.
std::string state_name(Fold fold, int state);
std::span<const Fold> all_folds();
std::optional<Fold> fold_from_name(std::string_view name);

/// May the state be of this dtype?
bool accepts(FoldState::Class state, DType dtype);
/// Of all states, by those of the stored ones.
std::vector<DType> state_dtypes(Fold fold, std::span<const DType> stored);

}  // namespace inlay
