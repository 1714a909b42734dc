// Sequences and optionals, which are taken apart while they are read: a name stands for as many values as it has.
#include <algorithm>

#include "onnx/importer.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

Thing thing(Call& c, std::size_t i) {
  if (!c.has(i)) throw c.error(ErrorCode::wrong_arity, str("input ", i, " is missing"));
  return c.importer.thing(c.node.inputs[i], c.scope);
}

Sequence sequence(Call& c, std::size_t i) {
  Thing found = thing(c, i);
  if (auto* const values = std::get_if<Sequence>(&found)) return std::move(*values);
  throw c.wrong(str("input ", i, ", `", c.node.inputs[i], "`, is to be a sequence"));
}

void give(Call& c, Thing thing) {
  if (c.wants(0)) c.scope.set(c.node.outputs[0], std::move(thing));
}

/// A place in a sequence, which may count from the end, within [0, end].
std::size_t place(Call& c, std::size_t input, std::size_t length, std::size_t end) {
  const int64_t given = c.constant(input), at = given < 0 ? given + static_cast<int64_t>(length) : given;
  if (at >= 0 && at <= static_cast<int64_t>(end)) return static_cast<std::size_t>(at);
  throw c.error(ErrorCode::index_out_of_bounds, str("place ", given, " of a sequence of ", length));
}

void construct(Call& c) { give(c, Sequence{c.inputs()}); }
void empty(Call& c) { give(c, Sequence{}); }
void length(Call& c) {
  c.out(c.b.literal(Literal::of_integer(DType::i64, static_cast<int64_t>(sequence(c, 0).values.size()))));
}

void insert(Call& c) {
  Sequence all = sequence(c, 0);
  const std::size_t count = all.values.size(), at = c.has(2) ? place(c, 2, count, count) : count;
  all.values.insert(all.values.begin() + static_cast<std::ptrdiff_t>(at), c.in(1));
  give(c, std::move(all));
}

void erase(Call& c) {
  Sequence all = sequence(c, 0);
  const std::size_t count = all.values.size();
  if (count == 0) throw c.error(ErrorCode::index_out_of_bounds, "it takes a value out of a sequence that has none");
  const std::size_t at = c.has(1) ? place(c, 1, count, count - 1) : count - 1;
  all.values.erase(all.values.begin() + static_cast<std::ptrdiff_t>(at));
  give(c, std::move(all));
}

/// A place that is found when the network runs needs values of one type: they are rows of one array.
void element(Call& c) {
  const Sequence all = sequence(c, 0);
  const std::size_t count = all.values.size();
  if (count == 0) throw c.error(ErrorCode::index_out_of_bounds, "it reads a sequence that has no values");
  const bool one_type = std::ranges::all_of(all.values, [&](ValueId v) { return c.type(v) == c.type(all.values[0]); });
  if (one_type && !c.known_literals(c.in(1))) {
    return c.out(c.b.gather(stack(c.b, all.values, 0), {IndexItem::through(c.element(1, 0))}));
  }
  give(c, all.values[place(c, 1, count, count - 1)]);
}

/// The sizes of the parts: given one by one, or one for all, of which the last may be smaller.
std::vector<Dim> part_sizes(Call& c, const Dim& dim) {
  if (c.has(1) && c.rank(1) == 1) return c.sizes(1);
  const int64_t size = c.has(1) ? c.constant(1) : 1;
  if (size < 1) throw c.wrong(str("parts of ", size, " elements"));
  if (!dim.is_constant()) throw c.unsupported("parts of which only the run says how many there are");
  constexpr int64_t kMost = 4096;  // each is a value
  if (ceil_div(dim, size).constant() > kMost) {
    throw c.unsupported(str(ceil_div(dim, size).constant(), " parts, more than ", kMost));
  }
  std::vector<Dim> out;
  for (int64_t begin = 0; begin < dim.constant(); begin += size)
    out.emplace_back(std::min(size, dim.constant() - begin));
  return out;
}

void split_to_sequence(Call& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const std::vector<Dim> sizes = part_sizes(c, c.dims(0)[static_cast<std::size_t>(axis)]);
  Sequence parts{split(c.b, c.in(0), sizes, axis)};
  if (!c.has(1) && !c.flag("keepdims", true)) {
    for (ValueId& part : parts.values) part = squeeze(c.b, part, {axis});
  }
  give(c, std::move(parts));
}

void concat_from_sequence(Call& c) {
  const Sequence all = sequence(c, 0);
  if (all.values.empty()) throw c.unsupported("a sequence that has no values");
  const bool stacks = c.flag("new_axis");
  const int axis = c.axis(c.integer("axis"), c.type(all.values[0]).rank() + (stacks ? 1 : 0));
  c.out(stacks ? stack(c.b, all.values, axis) : c.b.concat(all.values, axis));
}

/// The graph for each value of the first sequence, and of others beside it; what is no sequence is the same each time.
void map(Call& c) {
  const Attribute* body = c.attribute("body");
  if (!body || !body->graph) throw c.wrong("it has no graph `body`");
  const Graph& graph = *body->graph;
  if (graph.inputs.size() != c.node.inputs.size() || graph.outputs.size() < c.node.outputs.size()) {
    throw c.wrong(str("its body takes ", graph.inputs.size(), " and returns ", graph.outputs.size(), " values"));
  }
  std::vector<Thing> inputs;
  for (std::size_t i = 0; i < c.node.inputs.size(); ++i) inputs.push_back(thing(c, i));
  const std::size_t count = sequence(c, 0).values.size();
  std::vector<Sequence> outputs(c.node.outputs.size());
  for (std::size_t at = 0; at < count; ++at) {
    Scope inside(c.scope.frame, &c.scope);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto* const list = std::get_if<Sequence>(&inputs[i]);
      if (list && list->values.size() != count) {
        throw c.wrong(str("input ", i, " has ", list->values.size(), " values, and input 0 has ", count));
      }
      inside.set(graph.inputs[i].name, list ? Thing(list->values[at]) : inputs[i]);
    }
    c.importer.read(graph, inside);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].values.push_back(c.importer.value(graph.outputs[i].name, inside));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (c.wants(i)) c.scope.set(c.node.outputs[i], std::move(outputs[i]));
  }
}

void optional(Call& c) { give(c, c.has(0) ? thing(c, 0) : Thing(EmptyOptional())); }

void has_element(Call& c) {
  const bool has = c.has(0) && !std::holds_alternative<EmptyOptional>(thing(c, 0));
  c.out(c.b.literal(Literal::of_integer(DType::boolean, has ? 1 : 0)));
}

void get_element(Call& c) {
  Thing found = thing(c, 0);
  if (std::holds_alternative<EmptyOptional>(found)) throw c.wrong(str("`", c.node.inputs[0], "` has no element"));
  give(c, std::move(found));
}

constexpr OpRow kOps[] = {
    {"ConcatFromSequence", concat_from_sequence},
    {"Optional", optional},
    {"OptionalGetElement", get_element},
    {"OptionalHasElement", has_element},
    {"SequenceAt", element},
    {"SequenceConstruct", construct},
    {"SequenceEmpty", empty},
    {"SequenceErase", erase},
    {"SequenceInsert", insert},
    {"SequenceLength", length},
    {"SequenceMap", map},
    {"SplitToSequence", split_to_sequence},
};

}  // namespace

std::span<const OpRow> sequence_ops() { return kOps; }

}  // namespace inlay::onnx
