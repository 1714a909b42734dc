// If, Loop and Scan: what is known while reading is read in place; what is not is a cond or a loop of the graph.
#include <algorithm>
#include <limits>

#include "ir/compose_sizes.h"
#include "onnx/body.h"
#include "onnx/importer.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

const Graph& graph_attribute(const Call& c, std::string_view name) {
  const Attribute* found = c.attribute(name);
  if (!found || !found->graph) throw c.wrong(str("it has no graph `", name, "`"));
  return *found->graph;
}

/// One bool, which may have axes of one element.
ValueId one_bool(const Call& c, GraphBuilder& b, ValueId v) {
  if (b.type(v).dtype != DType::boolean) {
    throw c.wrong(str("the condition is to be a bool, and is ", b.graph().describe(v)));
  }
  return b.type(v).rank() == 0 ? v : b.reshape(v, {});
}
ValueId one_bool(const Call& c, ValueId v) { return one_bool(c, c.b, v); }

bool is_same(const GraphBuilder& b, const Dim& left, const Dim& right) {
  return holds(b.graph(), left, right, DimCheck::Relation::equal);
}
bool is_same(const GraphBuilder& b, const TensorType& left, const TensorType& right) {
  const auto same = [&](const Dim& x, const Dim& y) { return is_same(b, x, y); };
  return left.dtype == right.dtype && std::ranges::equal(left.dims, right.dims, same);
}

/// The first of `dims` that is found within the body.
std::optional<Dim> found_within(const inlay::Graph& body, const std::vector<Dim>& dims) {
  const auto found = std::ranges::find_if(dims, [&](const Dim& dim) { return !body.is_given(dim); });
  return found == dims.end() ? std::nullopt : std::optional(*found);
}

void require_outputs(const Call& c, const Graph& graph, std::size_t at_least) {
  if (graph.outputs.size() >= at_least) return;
  throw c.wrong(str("its graph `", graph.name, "` has ", graph.outputs.size(), " outputs, and is to have ", at_least));
}

void branch_in_place(Call& c, const Graph& branch) {
  Scope inside(c.scope.frame, &c.scope);
  c.importer.read(branch, inside);
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    if (c.wants(i)) c.scope.set(c.node.outputs[i], c.importer.thing(branch.outputs[i].name, inside));
  }
}

/// Reads a branch that the network takes or not. One that does not fit sizes with which it is not taken can be left out
/// where the condition is fixed.
void read_branch(Call& c, ValueId condition, const Graph& branch, Body& body) {
  try {
    c.importer.read(branch, body.scope);
  } catch (const NeedsFixed&) {
    throw;
  } catch (const Error& error) {
    const bool is_of_sizes = error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_file &&
                             error.code() != ErrorCode::internal;
    if (!is_of_sizes || c.importer.origins_of(condition, c.scope.frame).empty()) throw;
    const Diagnostic& why = error.diagnostic();
    throw c.needs(condition,
                  str("which branch is taken (one cannot be made: ", why.message, ", at ", why.location.text, ")"));
  }
}

/// The outputs of a branch that the network takes or not: tensors.
std::vector<ValueId> outputs_of(Call& c, ValueId condition, const Graph& branch, Body& body) {
  read_branch(c, condition, branch, body);
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    const Thing thing = c.importer.thing(branch.outputs[i].name, body.scope);
    if (std::holds_alternative<Sequence>(thing) || std::holds_alternative<EmptyOptional>(thing)) {
      throw c.needs(condition, str("which branch is taken (output ", i, " is a sequence or an optional)"));
    }
    out.push_back(c.importer.value(branch.outputs[i].name, body.scope));
  }
  return out;
}

/// Both branches of an If, with a parameter for each value that one of them reads, in one order.
class Branches {
 public:
  Branches(Call& c, ValueId condition, const Graph& then, const Graph& otherwise)
      : c_(c), condition_(condition), then_(c.scope), otherwise_(c.scope) {
    yes_ = outputs_of(c, condition, then, then_);
    for (ValueId v : then_.frame.captured()) otherwise_.bring(v);
    no_ = outputs_of(c, condition, otherwise, otherwise_);
    captured_ = otherwise_.frame.captured();
    for (ValueId v : captured_) then_.bring(v);
  }

  /// The sizes of an output; none: they hang on which branch is taken, or on what it finds.
  std::vector<std::optional<Dim>> sizes(std::size_t output) const {
    const inlay::Graph &a = then_.b.graph(), &b = otherwise_.b.graph();
    const TensorType &left = a.type(yes_[output]), &right = b.type(no_[output]);
    if (left.dtype != right.dtype || left.rank() != right.rank()) {
      throw c_.needs(condition_, str("which branch is taken (output ", output, " is ", a.type_text(left), " or ",
                                     b.type_text(right), ")"));
    }
    std::vector<std::optional<Dim>> out;
    for (std::size_t axis = 0; axis < left.dims.size(); ++axis) {
      const Dim &x = left.dims[axis], &y = right.dims[axis];
      const bool is_one = a.is_given(x) && b.is_given(y) && is_same(c_.b, x, y);
      out.push_back(is_one ? std::optional(x) : std::nullopt);
    }
    return out;
  }

  void return_size(std::size_t output, std::size_t axis) {
    each(output, [&](GraphBuilder& b, ValueId v) { b.output(b.size(b.type(v).dims[axis])); });
  }
  void return_output(std::size_t output) {
    each(output, [&](GraphBuilder& b, ValueId v) { b.output(v); });
  }
  void return_output(std::size_t output, const std::vector<Dim>& sizes) {
    each(output, [&](GraphBuilder& b, ValueId v) { b.output(with_sizes(c_, b, v, sizes, str("output ", output))); });
  }

  std::vector<ValueId> cond() {
    const ValueId holds = one_bool(c_, condition_);
    return c_.b.cond(holds, captured_, then_.finish(), otherwise_.finish());
  }

 private:
  template <class Do>
  void each(std::size_t output, const Do& act) {
    act(then_.b, yes_[output]);
    act(otherwise_.b, no_[output]);
  }

  Call& c_;
  const ValueId condition_;
  Body then_, otherwise_;
  std::vector<ValueId> yes_, no_, captured_;
};

/// A value of the graph has one type: sizes that the branches have differently are found by a cond of their own, which
/// computes no more than it must, and are symbols of the one that follows.
void branches(Call& c, ValueId condition, const Graph& then, const Graph& otherwise) {
  std::vector<std::size_t> wanted;
  std::vector<std::vector<Dim>> all;
  const auto set_outputs = [&](const std::vector<ValueId>& results) {
    for (std::size_t i = 0; i < wanted.size(); ++i) c.out(wanted[i], results[i]);
  };
  std::vector<ValueId> found;
  const uint64_t num_draws = c.importer.num_draws;
  {
    Branches once(c, condition, then, otherwise);
    for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
      if (!c.wants(i)) continue;
      wanted.push_back(i);
      all.emplace_back();
      const std::vector<std::optional<Dim>> sizes = once.sizes(i);
      for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        all.back().push_back(sizes[axis].value_or(-1));
        if (!sizes[axis]) once.return_size(i, axis);
      }
    }
    const bool is_open =
        std::ranges::any_of(all, [](const auto& dims) { return std::ranges::count(dims, Dim(-1)) > 0; });
    if (!is_open) {
      for (std::size_t i : wanted) once.return_output(i);
      return set_outputs(once.cond());
    }
    found = once.cond();
  }
  std::size_t next = 0;
  for (std::vector<Dim>& dims : all) {
    for (Dim& dim : dims) {
      if (dim.is(-1)) dim = c.scope.frame.size_of(found[next++], 0);
    }
  }
  c.importer.num_draws = num_draws;
  Branches again(c, condition, then, otherwise);
  for (std::size_t i = 0; i < wanted.size(); ++i) again.return_output(wanted[i], all[i]);
  set_outputs(again.cond());
}

void if_else(Call& c) {
  const ValueId condition = c.in(0);
  const Graph &then = graph_attribute(c, "then_branch"), &otherwise = graph_attribute(c, "else_branch");
  for (const Graph* branch : {&then, &otherwise}) require_outputs(c, *branch, c.node.outputs.size());
  if (const std::optional<bool> holds = c.known_truth(condition)) return branch_in_place(c, *holds ? then : otherwise);
  branches(c, condition, then, otherwise);
}

constexpr int64_t kMostUnrolled = 256;             // steps that are read one by one
constexpr int64_t kMostTraced = int64_t{1} << 20;  // a larger limit of the steps says nothing of their number

/// Does a size become another one, as n becomes n + 1, 2 n or n / 2, and not one that may be the same, as n becomes m?
bool is_change(const Dim& next, const Dim& before) {
  if (next == before) return false;
  return (next - before).lower_bound({}) >= 0 || (before - next).lower_bound({}) >= 0;
}

/// What a body gives for a value that is carried, as one of the type with which it began. Sizes that may differ are
/// compared when the network runs. `count`: how often a loop runs, which could be read step by step if it were known.
ValueId carried_on(const Call& c, Body& body, ValueId next, const TensorType& wanted, const std::string& name,
                   std::optional<ValueId> count = {}) {
  GraphBuilder& b = body.b;
  const TensorType type = b.type(next);
  if (is_same(b, type, wanted)) return next;
  bool may_be = type.dtype == wanted.dtype && type.rank() == wanted.rank();
  for (std::size_t i = 0; may_be && i < wanted.dims.size(); ++i) {
    may_be = !is_change(type.dims[i], wanted.dims[i]);
  }
  if (!may_be) {
    const std::string change = str("`", name, "` begins as ", b.graph().type_text(wanted), " and is ",
                                   b.graph().type_text(type), " after a step");
    if (count) throw c.needs(*count, str("how often it runs (", change, ")"));
    throw c.unsupported(str(change, "; what is carried keeps its type and its sizes"));
  }
  return with_sizes(c, b, next, wanted.dims, str("`", name, "`"));
}

/// An output of a body of which a row is kept for each step. A size that a step finds is to be the one that the body
/// declares.
ValueId traced(const Call& c, Body& body, ValueId row, const Declared& declared) {
  const TensorType type = body.b.type(row);
  if (!found_within(body.b.graph(), type.dims)) return row;
  std::vector<Dim> wanted = type.dims;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_declared = declared.dims && declared.dims->size() == wanted.size() && (*declared.dims)[i].number;
    if (is_declared && !body.b.graph().is_given(wanted[i])) wanted[i] = *(*declared.dims)[i].number;
  }
  if (found_within(body.b.graph(), wanted)) {
    throw c.unsupported(str("`", declared.name, "` is ", body.b.graph().type_text(type),
                            ", of a size that each step finds anew; its rows are not of one size"));
  }
  return with_sizes(c, body.b, row, wanted, str("`", declared.name, "`"));
}

ValueId truth(GraphBuilder& b, bool value) { return b.literal(Literal::of_integer(DType::boolean, value ? 1 : 0)); }
ValueId integer(GraphBuilder& b, int64_t value) { return b.literal(Literal::of_integer(DType::i64, value)); }

/// As a body declares it: some want a number of the step, or a condition, with an axis.
ValueId as_declared(GraphBuilder& b, ValueId scalar, const Declared& declared) {
  if (!declared.dims) return scalar;
  return declared.dims->empty() ? scalar : b.reshape(scalar, std::vector<Dim>(declared.dims->size(), Dim(1)));
}

/// A Loop: inputs M, the condition, what is carried; its body takes the step, the condition and what is carried, and
/// returns the condition, what is carried, and what is kept of each step.
class LoopNode {
 public:
  explicit LoopNode(Call& c) : c_(c), graph_(graph_attribute(c, "body")) {
    if (c.node.inputs.size() < 2) throw c.error(ErrorCode::wrong_arity, "it has fewer than 2 inputs");
    num_carried_ = c.node.inputs.size() - 2;
    if (graph_.inputs.size() != 2 + num_carried_) {
      throw c.wrong(str("it carries ", num_carried_, " values, and its body takes ", graph_.inputs.size(), " inputs"));
    }
    require_outputs(c, graph_, 1 + std::max(c.node.outputs.size(), num_carried_));
    if (c.has(1)) {
      condition_ = one_bool(c, c.in(1));
      begins_ = c.known_truth(*condition_);
    }
    if (c.has(0)) known_count_ = known_count();
  }

  /// Lists and sizes that change cannot be carried by a loop of the graph: its steps are read one by one if it is known
  /// when it ends.
  void run() {
    if (carries_sequences()) return unrolled();
    if (!may_be_unrolled()) return native();
    try {
      native();
    } catch (const Error&) {
      unrolled();
    }
  }

 private:
  struct Loop {
    std::vector<ValueId> carried, traces;
    std::optional<ValueId> steps;  // how many were done, where a condition may end it
  };

  std::optional<Dim> known_count() {
    const std::vector<std::optional<Dim>> numbers = c_.known_integers(0);
    if (numbers.size() != 1) throw c_.wrong(str("M is to be one number, and has ", numbers.size()));
    if (!numbers[0]) return {};
    return numbers[0]->lower_bound({}) >= 0 ? *numbers[0] : max(*numbers[0], 0);
  }

  std::optional<ValueId> unknown_count() {
    return known_count_ && known_count_->is_constant() ? std::nullopt : c_.maybe(0);
  }

  const std::string& name_of(std::size_t output) const { return graph_.outputs[output].name; }

  bool carries_sequences() {
    for (std::size_t i = 0; i < num_carried_; ++i) {
      const Thing thing = c_.importer.thing(c_.node.inputs[2 + i], c_.scope);
      if (std::holds_alternative<Sequence>(thing) || std::holds_alternative<EmptyOptional>(thing)) return true;
    }
    return false;
  }

  bool may_be_unrolled() const {
    if (!begins_.value_or(false)) return false;
    return known_count_ && known_count_->is_constant() && known_count_->constant() <= kMostUnrolled;
  }

  void native() {
    const bool wants_traces = c_.node.outputs.size() > num_carried_;
    Loop loop = made(most_steps(), wants_traces ? Traces::unless_open : Traces::none, true);
    if (wants_traces && loop.steps) {
      const Dim reached = late_size(c_.b, *loop.steps);
      if (loop.traces.empty()) loop.traces = made(reached, Traces::all, false).traces;
      for (ValueId& trace : loop.traces) trace = c_.b.slice(trace, {IndexItem::range(0, reached)});
    }
    for (std::size_t i = 0; i < loop.carried.size(); ++i) c_.out(i, loop.carried[i]);
    for (std::size_t i = 0; i < loop.traces.size(); ++i) c_.out(num_carried_ + i, loop.traces[i]);
  }

  /// Does no size say how many rows a trace may have? Then the steps are counted by a loop that keeps none, and are
  /// done once more.
  bool is_open() const {
    return !known_count_ || (known_count_->is_constant() && known_count_->constant() > kMostTraced);
  }

  /// M, or 0 where the condition does not hold from the beginning.
  Dim most_steps() {
    if (begins_ == false) return 0;
    const bool hangs_on_condition = condition_ && !begins_;
    if (known_count_ && !hangs_on_condition) return *known_count_;
    constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();
    if (!c_.has(0) && !hangs_on_condition) return kEndless;
    GraphBuilder& b = c_.b;
    ValueId count = known_count_ ? b.size(*known_count_) : c_.has(0) ? c_.element(0, 0) : integer(b, kEndless);
    if (!known_count_ && c_.has(0)) count = c_.with(ScalarOp::max_, count, 0);
    if (hangs_on_condition) count = c_.scalar(ScalarOp::select_, {*condition_, count, integer(b, 0)});
    return late_size(b, count);
  }

  enum class Traces : uint8_t { none, unless_open, all };

  Loop made(Dim count, Traces traces, bool looks_at_condition) {
    std::vector<ValueId> initial;
    for (std::size_t i = 0; i < num_carried_; ++i) initial.push_back(c_.in(2 + i));
    Body body(c_.scope);
    GraphBuilder& b = body.b;
    const ValueId step = b.step("step", count);
    std::vector<ValueId> params;
    for (std::size_t i = 0; i < num_carried_; ++i)
      params.push_back(b.param(graph_.inputs[2 + i].name, c_.type(initial[i])));
    if (looks_at_condition) {  // and how many steps are done
      initial.push_back(integer(c_.b, 0));
      b.param("", c_.type(initial.back()));
    }
    const std::vector<ValueId> outputs = read(body, step, params);
    const std::optional<bool> goes_on = looks_at_condition ? truth_of(body, outputs[0]) : true;
    if (goes_on == false) count = min(count, 1);
    for (std::size_t i = 0; i < num_carried_; ++i) {
      b.output(carried_on(c_, body, outputs[1 + i], c_.type(initial[i]), name_of(1 + i), unknown_count()));
    }
    if (looks_at_condition) b.output(b.scalar(ScalarOp::add_, {step, integer(b, 1)}));
    if (traces == Traces::unless_open && !goes_on && is_open()) traces = Traces::none;
    const std::size_t num_traces = traces == Traces::none ? 0 : c_.node.outputs.size() - num_carried_;
    for (std::size_t i = 0; i < num_traces; ++i) {
      b.output(traced(c_, body, outputs[1 + num_carried_ + i], graph_.outputs[1 + num_carried_ + i]));
    }
    if (!goes_on) b.output(one_bool(c_, b, outputs[0]));
    const std::vector<ValueId> captured = body.frame.captured();
    const std::vector<ValueId> results =
        c_.b.loop(count, std::move(initial), captured, body.finish(), goes_on ? Ends::after_count : Ends::by_condition);
    const auto end = results.begin() + static_cast<std::ptrdiff_t>(num_carried_);
    Loop out{{results.begin(), end}, {end + (looks_at_condition ? 1 : 0), results.end()}, {}};
    if (!goes_on) out.steps = *end;
    return out;
  }

  std::vector<ValueId> read(Body& body, ValueId step, const std::vector<ValueId>& carried) {
    body.scope.set(graph_.inputs[0].name, as_declared(body.b, step, graph_.inputs[0]));
    body.scope.set(graph_.inputs[1].name, as_declared(body.b, truth(body.b, true), graph_.inputs[1]));
    for (std::size_t i = 0; i < carried.size(); ++i) body.scope.set(graph_.inputs[2 + i].name, carried[i]);
    return c_.importer.graph(graph_, body.scope);
  }

  static std::optional<bool> truth_of(Body& body, ValueId condition) {
    const auto elements = body.frame.known.of(condition);
    if (!elements || elements->numbers.size() != 1) return {};
    const std::optional<Literal> literal = as_literal(elements->numbers[0], DType::boolean);
    return literal ? std::optional(literal->i != 0) : std::nullopt;
  }

  void unrolled() {
    std::vector<Thing> carried;
    for (std::size_t i = 0; i < num_carried_; ++i)
      carried.push_back(c_.importer.thing(c_.node.inputs[2 + i], c_.scope));
    std::vector<std::vector<ValueId>> rows(c_.node.outputs.size() - std::min(c_.node.outputs.size(), num_carried_));
    if (condition_ && !begins_) throw c_.needs(*condition_, "whether a loop that carries sequences begins");
    bool goes_on = begins_.value_or(true);
    for (int64_t step = 0; goes_on && step < steps_to_unroll(); ++step) {
      if (step == kMostUnrolled)
        throw c_.unsupported(str("sequences that are carried over more than ", step, " steps"));
      goes_on = one_step(step, carried, rows);
    }
    for (std::size_t i = 0; i < num_carried_; ++i) {
      if (c_.wants(i)) c_.scope.set(c_.node.outputs[i], carried[i]);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!c_.wants(num_carried_ + i)) continue;
      if (rows[i].empty()) throw c_.unsupported(str("`", name_of(1 + num_carried_ + i), "` of a loop of no steps"));
      c_.out(num_carried_ + i, stack(c_.b, rows[i], 0));
    }
  }

  int64_t steps_to_unroll() {
    if (!c_.has(0)) return std::numeric_limits<int64_t>::max();
    if (known_count_ && known_count_->is_constant()) return known_count_->constant();
    throw c_.needs(c_.in(0), "how often a loop runs that carries sequences, or values whose sizes change,");
  }

  /// Does another one follow?
  bool one_step(int64_t step, std::vector<Thing>& carried, std::vector<std::vector<ValueId>>& rows) {
    Scope inside(c_.scope.frame, &c_.scope);
    inside.set(graph_.inputs[0].name, as_declared(c_.b, integer(c_.b, step), graph_.inputs[0]));
    inside.set(graph_.inputs[1].name, as_declared(c_.b, truth(c_.b, true), graph_.inputs[1]));
    for (std::size_t i = 0; i < num_carried_; ++i) inside.set(graph_.inputs[2 + i].name, carried[i]);
    c_.importer.read(graph_, inside);
    for (std::size_t i = 0; i < num_carried_; ++i) carried[i] = c_.importer.thing(name_of(1 + i), inside);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(c_.importer.value(name_of(1 + num_carried_ + i), inside));
    }
    const ValueId condition = c_.importer.value(name_of(0), inside);
    const std::optional<bool> goes_on = c_.known_truth(condition);
    if (!goes_on)
      throw c_.needs(condition, "how often a loop runs that carries sequences, or values whose sizes change,");
    return *goes_on;
  }

  Call& c_;
  const Graph& graph_;
  std::size_t num_carried_ = 0;
  std::optional<ValueId> condition_;
  std::optional<bool> begins_ = true;
  std::optional<Dim> known_count_;
};

void loop(Call& c) { LoopNode(c).run(); }

/// A list of numbers, one for each of `count`; 0 where it is left out.
std::vector<int64_t> each_of(const Call& c, std::string_view name, std::size_t count) {
  const std::vector<int64_t> given = c.integers(name).value_or(std::vector<int64_t>(count, 0));
  if (given.size() == count) return given;
  throw c.wrong(str("`", name, "` has ", given.size(), " numbers, not ", count));
}

/// What a Scan goes over, and how: inputs along axis 0 in the order in which they are read.
struct Scanned {
  std::vector<ValueId> initial, inputs;
};

/// The steps of a Scan in `around`: the states after the last one, and a trace for each further output of its body.
std::vector<ValueId> scan_in(Call& c, const Graph& graph, Scope& around, const Scanned& scanned) {
  GraphBuilder& outside = around.frame.b;
  const std::size_t num_states = scanned.initial.size();
  const Dim count = outside.type(scanned.inputs.at(0)).dims[0];
  for (std::size_t i = 1; i < scanned.inputs.size(); ++i) {
    const auto message = [&] { return std::string("Scan: the inputs that it goes over have {0} and {1} elements"); };
    outside.require(count, outside.type(scanned.inputs[i]).dims[0], message, {{"scanned", scanned.inputs[i]}});
  }
  Body body(around);
  const ValueId step = body.b.step("step", count);
  for (std::size_t i = 0; i < num_states; ++i) {
    const std::string& name = graph.inputs[i].name;
    body.scope.set(name, body.b.param(name, outside.type(scanned.initial[i])));
  }
  for (std::size_t i = 0; i < scanned.inputs.size(); ++i) {
    const ValueId row = body.b.gather(body.bring(scanned.inputs[i]), {IndexItem::through(step)});
    body.scope.set(graph.inputs[num_states + i].name, row);
  }
  const std::vector<ValueId> outputs = c.importer.graph(graph, body.scope);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.outputs[i].name;
    body.b.output(i < num_states ? carried_on(c, body, outputs[i], outside.type(scanned.initial[i]), name)
                                 : traced(c, body, outputs[i], graph.outputs[i]));
  }
  const std::vector<ValueId> captured = body.frame.captured();
  return outside.loop(count, scanned.initial, captured, body.finish());
}

struct ScanArity {
  std::size_t states, inputs, traces;
};

/// `first`: the first input that is a state.
ScanArity arity_of(const Call& c, const Graph& graph, std::size_t first) {
  const int64_t inputs = c.integer("num_scan_inputs");
  const std::size_t all = c.node.inputs.size() - std::min(first, c.node.inputs.size());
  if (inputs < 1 || static_cast<std::size_t>(inputs) > all) {
    throw c.wrong(str("it goes over ", inputs, " of its ", all, " inputs"));
  }
  const ScanArity out{all - static_cast<std::size_t>(inputs), static_cast<std::size_t>(inputs),
                      graph.outputs.size() - std::min(graph.outputs.size(), all - static_cast<std::size_t>(inputs))};
  if (graph.inputs.size() != all) throw c.wrong(str("its body takes ", graph.inputs.size(), " inputs, not ", all));
  require_outputs(c, graph, std::max(out.states, c.node.outputs.size()));
  return out;
}

void scan(Call& c) {
  const Graph& graph = graph_attribute(c, "body");
  const ScanArity arity = arity_of(c, graph, 0);
  const std::vector<int64_t> axes = each_of(c, "scan_input_axes", arity.inputs),
                             backwards = each_of(c, "scan_input_directions", arity.inputs),
                             out_axes = each_of(c, "scan_output_axes", arity.traces),
                             out_backwards = each_of(c, "scan_output_directions", arity.traces);
  Scanned scanned;
  for (std::size_t i = 0; i < arity.states; ++i) scanned.initial.push_back(c.in(i));
  for (std::size_t i = 0; i < arity.inputs; ++i) {
    const std::size_t input = arity.states + i;
    const ValueId x = move_axis(c.b, c.in(input), c.axis(axes[i], c.rank(input)), 0);
    scanned.inputs.push_back(backwards[i] != 0 ? c.b.flip(x, {0}) : x);
  }
  const std::vector<ValueId> results = scan_in(c, graph, c.scope, scanned);
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    if (i < arity.states) {
      c.out(i, results[i]);
      continue;
    }
    const std::size_t trace = i - arity.states;
    const ValueId rows = out_backwards[trace] != 0 ? c.b.flip(results[i], {0}) : results[i];
    c.out(i, move_axis(c.b, rows, 0, c.axis(out_axes[trace], c.type(rows).rank())));
  }
}

/// Version 8: for each element of a batch, which is the first axis of everything, a scan along the second one.
void scan_of_batch(Call& c) {
  const Graph& graph = graph_attribute(c, "body");
  if (c.has(0)) throw c.unsupported("sequence_lens of version 8");
  const ScanArity arity = arity_of(c, graph, 1);
  const std::vector<int64_t> backwards = each_of(c, "directions", arity.inputs);
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < arity.states + arity.inputs; ++i) {
    const bool is_input = i >= arity.states;
    if (c.rank(1 + i) < (is_input ? 2 : 1)) throw c.wrong(str("input ", 1 + i, " has no axis of a batch"));
    const bool flips = is_input && backwards[i - arity.states] != 0;
    all.push_back(flips ? c.b.flip(c.in(1 + i), {1}) : c.in(1 + i));
  }
  const Dim batch = c.type(all[0]).dims[0];
  for (ValueId x : all) {
    const auto message = [] { return std::string("Scan: the batches of its inputs are {0} and {1}"); };
    c.b.require(batch, c.type(x).dims[0], message, {{"input", x}});
  }
  Body body(c.scope);
  const ValueId element = body.b.step("element", batch);
  Scanned scanned;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ValueId one = body.b.gather(body.bring(all[i]), {IndexItem::through(element)});
    (i < arity.states ? scanned.initial : scanned.inputs).push_back(one);
  }
  for (ValueId result : scan_in(c, graph, body.scope, scanned)) body.b.output(result);
  const std::vector<ValueId> captured = body.frame.captured();
  const std::vector<ValueId> results = c.b.loop(batch, {}, captured, body.finish());
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) c.out(i, results[i]);
}

constexpr OpRow kOps[] = {
    {"If", if_else},
    {"Loop", loop},
    {"Scan", scan_of_batch, 8},
    {"Scan", scan, 9},
};

}  // namespace

std::span<const OpRow> control_ops() { return kOps; }

}  // namespace inlay::onnx
