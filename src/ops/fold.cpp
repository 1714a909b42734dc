#include "ops/fold.h"

#include <algorithm>
#include <array>

#include "support/error.h"

namespace inlay {
namespace {

std::vector<FoldFacts> read_rows() {
  std::vector<FoldFacts> rows = {{"none", "", {}, 0}};
  const auto state = [&](std::string_view name, FoldState::Class dtype, Combine combine, bool is_stored,
                         std::string_view lift, std::string_view merge) {
    FoldFacts& row = rows.back();
    INLAY_CHECK(!is_stored || !row.has_hidden(), "the stored states of ", row.name, " come first");
    row.states.push_back({name, dtype, combine, is_stored, parse_expression(lift), parse_expression(merge)});
    row.num_stored += is_stored ? 1 : 0;
  };
#define FOLD(name, formula) rows.push_back({#name, formula, {}, 0});
#define STATE(name, dtype, combine, lift, merge) \
  state(#name, FoldState::Class::dtype, Combine::combine, true, lift, merge);
#define HIDDEN(name, dtype, combine, lift, merge) \
  state(#name, FoldState::Class::dtype, Combine::combine, false, lift, merge);
#include "ops/folds.def"
#undef FOLD
#undef STATE
#undef HIDDEN
  return rows;
}

const std::vector<FoldFacts>& rows() {
  static const std::vector<FoldFacts> all = read_rows();
  return all;
}

}  // namespace

const FoldFacts& facts(Fold fold) {
  INLAY_CHECK(fold != Fold::none, "a fold of one state has no row");
  return rows()[static_cast<std::size_t>(fold)];
}

bool counts_points(Fold fold, int state) {
  return fold != Fold::none && facts(fold).states[static_cast<std::size_t>(state)].counts_points();
}

std::size_t FoldFacts::num_operands() const {
  const auto folds = [](const FoldState& state) { return state.is_stored && !state.counts_points(); };
  return static_cast<std::size_t>(std::ranges::count_if(states, folds));
}

std::span<const Fold> all_folds() {
  static constexpr std::array kAll = {
#define FOLD(name, formula) Fold::name,
#define STATE(name, dtype, combine, lift, merge)
#define HIDDEN(name, dtype, combine, lift, merge)
#include "ops/folds.def"
#undef FOLD
#undef STATE
#undef HIDDEN
  };
  return kAll;
}

std::optional<Fold> fold_from_name(std::string_view name) {
  for (Fold fold : all_folds()) {
    if (facts(fold).name == name) return fold;
  }
  return std::nullopt;
}

bool accepts(FoldState::Class state, DType dtype) {
  switch (state) {
    case FoldState::Class::place: return dtype == DType::i64;
    case FoldState::Class::ordered: return accepts(ScalarOp::gt_, dtype);
    case FoldState::Class::real: return dtype == DType::f32 || dtype == DType::f64;
    case FoldState::Class::count: return dtype == DType::f64;
  }
  return false;
}

std::vector<DType> state_dtypes(Fold fold, std::span<const DType> stored) {
  std::vector<DType> out(stored.begin(), stored.end());
  for (const FoldState& state : facts(fold).states) {
    if (!state.is_stored) out.push_back(state.dtype == FoldState::Class::count ? DType::f64 : stored[0]);
  }
  return out;
}

}  // namespace inlay
