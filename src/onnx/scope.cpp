#include "onnx/scope.h"

#include <algorithm>

#include "ir/compose_sizes.h"

namespace inlay::onnx {

ValueId Frame::bring(Frame& from, ValueId v) {
  if (&from == this) return v;
  const ValueId outside = outer_->bring(from, v);
  const auto found = std::ranges::find(captured_, outside, &std::pair<ValueId, ValueId>::first);
  if (found != captured_.end()) return found->second;
  const ValueId inside = b.param("", outer_->b.type(outside));
  if (auto elements = outer_->known.of(outside)) known.set(inside, std::move(elements));
  captured_.emplace_back(outside, inside);
  return inside;
}

std::vector<ValueId> Frame::captured() const {
  std::vector<ValueId> out;
  for (const auto& [outside, inside] : captured_) out.push_back(outside);
  return out;
}

std::optional<ValueId> Frame::outside(ValueId inside) const {
  const auto found = std::ranges::find(captured_, inside, &std::pair<ValueId, ValueId>::second);
  return found == captured_.end() ? std::nullopt : std::optional(found->first);
}

std::optional<Dim> Frame::known_size(ValueId vector, int64_t place) {
  const auto elements = known.of(vector);
  if (!elements) return {};
  const auto& number = elements->numbers[static_cast<std::size_t>(place)];
  if (!number || !std::holds_alternative<Dim>(*number)) return {};
  return std::get<Dim>(*number);
}

Dim Frame::size_of(ValueId vector, int64_t place) {
  if (const std::optional<Dim> known_one = known_size(vector, place)) return *known_one;
  const auto [entry, is_new] = late_sizes_.try_emplace({vector.index, place});
  if (is_new) {
    const bool is_scalar = b.type(vector).rank() == 0;
    entry->second = late_size(b, is_scalar ? vector : b.slice(vector, {IndexItem::at(place)}));
  }
  return entry->second;
}

bool Frame::is_found(const Dim& size) const {
  return std::ranges::any_of(size.symbols(), [&](SymbolId symbol) {
    const Frame* of = this;
    while (of->b.graph().is_given(symbol)) of = of->outer_;
    return of->b.graph().binder_of(symbol).valid();
  });
}

Scope::Found Scope::find(const std::string& name) {
  for (Scope* scope = this; scope; scope = scope->outer_) {
    if (const auto thing = scope->things_.find(name); thing != scope->things_.end()) return {scope, &thing->second};
  }
  return {};
}

void Scope::declare(const Graph& graph) {
  for (const std::vector<Declared>* list : {&graph.values, &graph.outputs}) {
    for (const Declared& declared : *list) {
      if (declared.dims) ranks_[declared.name] = declared.dims->size();
    }
  }
}

std::optional<std::size_t> Scope::declared_rank(const std::string& name) const {
  const auto found = ranks_.find(name);
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace inlay::onnx
