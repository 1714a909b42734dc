// Host calls, asserts and bodies.
#include "graph_maker.h"

namespace inlay::fuzz {

void GraphMaker::host_call() {
  if (!chance(20)) return;
  const bool late = chance(40);
  const auto x = pick([&](const Entry& e) {
    return computes(type(e.v).dtype) && (!late || (e.exact && type(e.v).dtype == DType::f64 && type(e.v).rank() == 1));
  });
  if (!x || (late && depth_ == 0 && has_late_size_)) return;
  TensorType result = type(pool_[*x].v);
  if (late) {
    // Its length is known to nobody here; so no size of it may be chosen, and it is an output as it is.
    has_late_size_ = has_late_size_ || depth_ == 0;
    result.dims = {builder_.symbol("late")};
    symbol_sizes_.push_back(0);
    const ValueId v = builder_.host_call("positive", host_functions_++, {use(*x)}, {result})[0];
    give_out(builder_.scalar(ScalarOp::exp_, {v}));
    const ValueId sum = builder_.reduce(Fold::add, v, {0}, DType::f64);
    depth_ == 0 ? builder_.output(sum) : add(sum, false);
    ++nodes_;
    return;
  }
  add(builder_.host_call("copy", host_functions_++, {use(*x)}, {result})[0], pool_[*x].exact);
}

void GraphMaker::assert_that() {
  if (!chance(30)) return;
  const auto x = pick([](const Entry&) { return true; });
  const auto condition =
      pick([&](const Entry& e) { return type(e.v).dtype == DType::boolean && type(e.v).rank() == 0; });
  const bool computed = condition && may_fail();
  const ValueId holds = computed ? use(*condition) : builder_.literal(Literal::of_integer(DType::boolean, 1));
  const auto number = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::i64, {}}; });
  if (number && chance(50)) {
    add(builder_.assert_that(use(*x), holds, "it is {0}", ErrorCode::shape_mismatch, {use(*number)}), pool_[*x].exact);
  } else {
    add(builder_.assert_that(use(*x), holds, "as it was asked to"), pool_[*x].exact);
  }
}

GraphMaker::Outside GraphMaker::enter() {
  Outside outside{std::move(builder_), std::move(pool_), step_, loop_count_, symbol_sizes_};
  builder_ = outside.builder.body();
  pool_.clear();
  step_.reset();
  ++depth_;
  return outside;
}

Graph GraphMaker::leave(Outside outside) {
  Graph body = std::move(builder_).finish();
  builder_ = std::move(outside.builder);
  pool_ = std::move(outside.pool);
  step_ = outside.step;
  loop_count_ = outside.loop_count;
  symbol_sizes_ = std::move(outside.symbol_sizes);
  --depth_;
  return body;
}

std::vector<Entry> GraphMaker::some_values(int64_t most) {
  std::vector<Entry> out;
  for (int64_t i = draw(0, most); i > 0; --i) {
    const auto x = pick([&](const Entry& e) { return computes(type(e.v).dtype); });
    if (x) out.push_back(pool_[*x]);
  }
  return out;
}

std::vector<ValueId> GraphMaker::ids_of(const std::vector<Entry>& entries) {
  std::vector<ValueId> out;
  for (const Entry& e : entries) out.push_back(e.v);
  return out;
}

void GraphMaker::come_in(const Outside& outside, const std::vector<Entry>& captured) {
  for (const Entry& e : captured) {
    pool_.push_back({builder_.param(str("c", pool_.size()), outside.builder.type(e.v)), e.exact});
  }
}

void GraphMaker::some_steps() {
  for (int64_t i = draw(1, 4); i > 0; --i) chance(15) ? found_size() : step();
}

Entry GraphMaker::last_of(const TensorType& wanted) {
  for (std::size_t i = pool_.size(); i-- > 0;) {
    if (type(pool_[i].v) == wanted) return pool_[i];
  }
  return pool_[0];
}

void GraphMaker::cond() {
  if (depth_ > 1 || !chance(50)) return;
  std::vector<Entry> captured = some_values(3);
  if (captured.empty()) return;
  const auto found = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::boolean, {}}; });
  const ValueId condition = found         ? use(*found)
                            : depth_ == 0 ? builder_.param(str("q", next_bound_++), {DType::boolean, {}})
                                          : builder_.literal(Literal::of_integer(DType::boolean, draw(0, 1)));
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < captured.size() && (i == 0 || chance(50)); ++i) types.push_back(type(captured[i].v));
  std::vector<bool> exact(types.size(), true);
  const auto branch = [&] {
    Outside outside = enter();
    come_in(outside, captured);
    some_steps();
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Entry e = last_of(types[i]);
      builder_.output(e.v);
      exact[i] = exact[i] && e.exact;
    }
    return leave(std::move(outside));
  };
  Graph then = branch(), otherwise = branch();
  const auto results = builder_.cond(condition, ids_of(captured), std::move(then), std::move(otherwise));
  for (std::size_t i = 0; i < results.size(); ++i) add(results[i], exact[i] || !is_inexact(types[i].dtype));
}

void GraphMaker::loop() {
  if (depth_ > 1 || !chance(50)) return;
  Dim count = known_dim();
  if (size_of(count) > 5) count = draw(0, 3);
  const std::vector<Entry> carried = some_values(2), captured = some_values(2);
  std::vector<Entry> all = carried;
  // What rounding does to a carried value goes round with it.
  for (Entry& e : all) e.exact = !is_inexact(type(e.v).dtype);
  all.insert(all.end(), captured.begin(), captured.end());
  std::vector<TensorType> types;
  for (const Entry& e : carried) types.push_back(type(e.v));
  Outside outside = enter();
  loop_count_ = count;
  step_ = builder_.step("i", count);
  pool_.push_back({*step_});
  come_in(outside, all);
  some_steps();
  std::vector<bool> exact;
  for (const TensorType& carried_type : types) {
    builder_.output(last_of(carried_type).v);
    exact.push_back(!is_inexact(carried_type.dtype));
  }
  for (const Entry& traced : some_values(2)) {
    builder_.output(traced.v);
    exact.push_back(traced.exact);
  }
  const auto go_on = pick([&](const Entry& e) { return type(e.v) == TensorType{DType::boolean, {}}; });
  const bool ends = go_on && chance(60);
  if (ends) builder_.output(use(*go_on));
  Graph body = leave(std::move(outside));
  const auto results = builder_.loop(count, ids_of(carried), ids_of(captured), std::move(body),
                                     ends ? Ends::by_condition : Ends::after_count);
  for (std::size_t i = 0; i < results.size(); ++i) {
    add(results[i], exact[i] || !is_inexact(type(results[i]).dtype));
  }
}

}  // namespace inlay::fuzz
