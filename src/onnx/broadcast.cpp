#include "onnx/broadcast.h"

#include <algorithm>

#include "ir/compose_shape.h"

namespace inlay::onnx {
namespace {

/// Is it 0 or 1, as that of x[:1], and only the run says which?
bool is_short(const Dim& size) { return !size.is_constant() && (Dim(1) - size).lower_bound({}) >= 0; }

}  // namespace

bool may_stretch(const Frame& frame, const Dim& from, const Dim& to) {
  if (from.is_constant() || from == to || from.lower_bound({}) >= 2) return false;
  if (is_short(from)) return true;
  if (holds(frame.b.graph(), from, to, DimCheck::Relation::equal)) return false;
  return from.symbols() != to.symbols() && !(frame.is_found(from) && frame.is_found(to));
}

std::vector<Dim> BroadcastSizes::parts(const Dim& size) const {
  const auto found = std::ranges::find(made_, size, &std::pair<Dim, std::vector<Dim>>::first);
  return found == made_.end() ? std::vector<Dim>{size} : found->second;
}

Dim BroadcastSizes::of(const Frame& frame, const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  const bool first = may_stretch(frame, a, b), second = may_stretch(frame, b, a);
  if (!first) return a;
  if (!second) return b;
  if (is_short(a) != is_short(b)) return is_short(a) ? b : a;
  return joined(a, b);
}

Dim BroadcastSizes::joined(const Dim& a, const Dim& b) {
  std::vector<Dim> all = parts(a);
  for (const Dim& part : parts(b)) {
    if (std::ranges::find(all, part) == all.end()) all.push_back(part);
  }
  const auto is_of_all = [&](const auto& made) { return std::ranges::is_permutation(made.second, all); };
  if (const auto found = std::ranges::find_if(made_, is_of_all); found != made_.end()) return found->first;
  constexpr std::size_t kMostParts = 16;  // the work grows faster than they do
  if (all.size() > kMostParts) {
    throw Error(ErrorCode::unsupported, {},
                str("more than ", kMostParts, " sizes meet along one axis, each of which may be 1 in a call"));
  }
  // Those that are not 1 are equal: 0, or the largest one.
  Dim largest = all[0], least = 1;
  for (const Dim& part : all) {
    largest = max(largest, part);
    least = min(least, part);
  }
  return made_.emplace_back(largest * least, std::move(all)).first;
}

void BroadcastSizes::add(const Frame& frame, std::vector<Dim>& sizes, const std::vector<Dim>& operand,
                         std::size_t num_core) {
  const std::size_t count = operand.size() - std::min(operand.size(), num_core);
  if (sizes.size() < count) sizes.insert(sizes.begin(), count - sizes.size(), Dim(1));
  for (std::size_t i = 0; i < count; ++i) {
    Dim& size = sizes[sizes.size() - count + i];
    size = of(frame, size, operand[i]);
  }
}

ValueId stretched(Frame& frame, ValueId x, const std::vector<Dim>& sizes, std::size_t num_core,
                  const std::string& made_for) {
  const std::vector<Dim> own = frame.b.type(x).dims;
  std::vector<Dim> dims = own;
  const std::size_t count = own.size() - std::min(own.size(), num_core);
  for (std::size_t i = 0; i < count; ++i) {
    const Dim& to = sizes[sizes.size() - count + i];
    if (may_stretch(frame, dims[i], to)) dims[i] = to;
  }
  return dims == own ? x : stretch(frame.b, x, dims, made_for);
}

}  // namespace inlay::onnx
