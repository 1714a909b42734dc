#include "ops/fold.h"

#include <algorithm>
#include <array>

#include "support/error.h"

namespace inlay {
namespace {

/// `and_`: "and".
std::string_view text_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

std::vector<FoldFacts> read_rows() {
  std::vector<FoldFacts> rows = {{"none", "", {}, 0, 0}};
  const auto state = [&](std::string_view name, FoldState::Class dtype, Combine combine, bool is_stored,
                         std::string_view lift, std::string_view merge) {
    FoldFacts& row = rows.back();
    INLAY_CHECK(!is_stored || !row.has_hidden(), "the stored states of ", row.name, " come first");
    row.states.push_back({text_name(name), dtype, combine, is_stored, parse_expression(lift), parse_expression(merge)});
    row.num_stored += is_stored ? 1 : 0;
  };
#define FOLD(name, flops, formula) rows.push_back({text_name(#name), formula, {}, 0, flops});
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
  INLAY_CHECK(fold != Fold::none, "no fold has no row");
  return rows()[static_cast<std::size_t>(fold)];
}

bool counts_points(Fold fold, int state) {
  return fold != Fold::none && facts(fold).states[static_cast<std::size_t>(state)].counts_points();
}

Combine combine_of(Fold fold, int state) {
  return fold == Fold::none ? Combine::set : facts(fold).states[static_cast<std::size_t>(state)].combine;
}

Fold fold_by(Combine combine) {
  const auto makes_it = [&](Fold fold) { return facts(fold).has_one_state() && combine_of(fold, 0) == combine; };
  const auto found = std::ranges::find_if(all_folds(), makes_it);
  return found == all_folds().end() ? Fold::none : *found;
}

std::string state_name(Fold fold, int state) {
  const FoldFacts& row = facts(fold);
  return row.has_one_state() ? std::string(row.name)
                             : str(row.name, " ", row.states[static_cast<std::size_t>(state)].name);
}

std::size_t FoldFacts::num_operands() const {
  const auto folds = [](const FoldState& state) { return state.is_stored && !state.counts_points(); };
  return static_cast<std::size_t>(std::ranges::count_if(states, folds));
}

std::span<const Fold> all_folds() {
  static constexpr std::array kAll = {
#define FOLD(name, flops, formula) Fold::name,
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
    case FoldState::Class::number: return accepts(ScalarOp::add_, dtype);
    case FoldState::Class::ordered: return accepts(ScalarOp::gt_, dtype);
    case FoldState::Class::logical: return accepts(ScalarOp::and_, dtype);
    case FoldState::Class::place: return dtype == DType::i64;
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
