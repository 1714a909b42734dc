#include "fuse/materialize.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "fuse/backwards.h"
#include "fuse/in_place.h"
#include "fuse/left_over.h"
#include "fuse/library_operand.h"
#include "fuse/regions.h"
#include "fuse/stage_writer.h"
#include "ir/library_types.h"
#include "ir/region.h"
#include "ops/library_workspace.h"

namespace inlay::fuse {

using kernel::Buffer;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Start;
using kernel::Statement;

namespace {

class Cutter {
 public:
  Cutter(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
         const FusedBodies& bodies, KernelProgram& program)
      : graph_(graph),
        caps_(caps),
        cones_(cones),
        forced_(forced),
        bodies_(bodies),
        program_(program),
        needs_(find_needs(graph, caps, cones, forced)),
        regions_(find_regions(graph, caps, cones, forced, needs_)),
        directions_(graph),
        is_made_(graph.values.size(), false),
        first_slot_(graph.values.size(), -1),
        reshaped_slot_(graph.values.size(), -1) {
    out_.homes = IdMap<ValueId, Home>(graph.values.size());
    out_.pieces.reserve(graph.values.size());
    program.buffers.reserve(graph.values.size());
    names_.reserve(graph.values.size());
  }

  Pieces run() {
    for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) {
      int& first = first_slot_[graph_.outputs[slot].value];
      if (first < 0) first = static_cast<int>(slot);
    }
    find_reshaped_outputs();
    for (std::size_t slot = 0; slot < graph_.params.size(); ++slot) make_param(static_cast<int>(slot));
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      materialize(v);
    }
    for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) make_output(static_cast<int>(slot));
    out_.needed = needs_.needed;
    return std::move(out_);
  }

 private:
  // --- buffers ---

  /// The name, with as many quotes as it takes.
  std::string unique_name(std::string name) {
    const auto [used, is_new] = names_.emplace(name, 0);
    if (is_new) return name;
    int& quotes = used->second;  // a reference stays where it is when others come
    do {
      ++quotes;
    } while (!names_.emplace(name + std::string(static_cast<std::size_t>(quotes), '\''), 0).second);
    return name + std::string(static_cast<std::size_t>(quotes), '\'');
  }

  std::string unique_name(ValueId v) { return unique_name(graph_.name_text(v)); }

  BufferId new_buffer(ValueId v, Role role, int slot = -1) {
    const TensorType& type = graph_.type(v);
    Buffer buffer{.name = unique_name(v), .dtype = type.dtype, .dims = type.dims, .role = role, .slot = slot};
    buffer.value = v;
    return program_.buffers.push_back(std::move(buffer));
  }

  /// A sum with its axis kept is the sum under another shape. (A body's outputs may be rows of a trace, by their maps.)
  void find_reshaped_outputs() {
    if (graph_.is_body) return;
    for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) {
      const ValueId v = graph_.outputs[slot].value;
      const Node* node = graph_.node_of(v);
      if (!node || node->op != Op::reshape || first_slot_[v] != static_cast<int>(slot)) continue;
      const ValueId source = node->operands[0];
      const bool is_free = first_slot_[source] < 0 && reshaped_slot_[source] < 0;
      if (is_free && is_known_with(v, source)) reshaped_slot_[source] = static_cast<int>(slot);
    }
  }

  /// Is the size of `v` known where that of `other` is? Not where it is bound on the way.
  bool is_known_with(ValueId v, ValueId other) const {
    std::vector<SymbolId> before;
    for (const Dim& dim : graph_.type(other).dims) std::ranges::copy(dim.symbols(), std::back_inserter(before));
    return std::ranges::all_of(graph_.type(v).dims, [&](const Dim& dim) {
      return std::ranges::all_of(dim.symbols(), [&](SymbolId s) {
        return !graph_.node_of(graph_.symbols[s].source) || std::ranges::find(before, s) != before.end();
      });
    });
  }

  /// Where the bytes of a stored value go: straight into the output if it is returned, if only under another shape.
  BufferId new_memory(ValueId v) {
    if (const int slot = first_slot_[v]; slot >= 0) return new_output_buffer(v, slot);
    const int slot = reshaped_slot_[v];
    if (slot < 0 || program_.outputs[slot].valid()) {
      const BufferId buffer = new_buffer(v, Role::temporary);
      if (const auto why = needs_.because.find(v); why != needs_.because.end()) {
        program_.buffers[buffer].stored = why->second;
      }
      return buffer;
    }
    const BufferId output = new_output_buffer(graph_.outputs[slot].value, slot);
    return new_view(v, output);
  }

  BufferId new_view(ValueId v, BufferId of) {
    const BufferId buffer = new_buffer(v, program_.buffers[of].role, program_.buffers[of].slot);
    program_.buffers[buffer].view_of = kernel::root_of(program_, of);
    return buffer;
  }

  BufferId new_output_buffer(ValueId v, int slot) {
    const BufferId buffer = new_buffer(v, Role::output, slot);
    if (!graph_.outputs[slot].name.empty()) program_.buffers[buffer].name = rename(buffer, graph_.outputs[slot].name);
    program_.outputs[slot] = buffer;
    return buffer;
  }

  std::string rename(BufferId buffer, const std::string& name) {
    return names_.emplace(name, 0).second ? name : program_.buffers[buffer].name;
  }

  void make_param(int slot) {
    const Param& param = graph_.params[slot];
    const BufferId buffer = new_buffer(param.value, Role::param, slot);
    program_.buffers[buffer].dims = given_dims(graph_, param);
    program_.buffers[buffer].bound = param.bound;
    program_.buffers[buffer].donated = param.donated;
    program_.buffers[buffer].facts = param.facts;
    program_.params.push_back(buffer);
    out_.homes[param.value].buffer = buffer;
  }

  // --- pieces ---

  PieceId add(ValueId v, Piece piece) {
    piece.value = v;
    const PieceId id = out_.pieces.push_back(std::move(piece));
    out_.homes[v].pieces.push_back(id);
    return id;
  }

  /// `buffer`[every element of v] = v.
  Piece elementwise(ValueId v, BufferId buffer, bool defines) {
    return over(loop_over(graph_.type(v).dims), v, buffer, defines);
  }

  static Piece over(Loop loop, ValueId v, BufferId buffer, bool defines) {
    Piece piece{.axes = std::move(loop.axes)};
    piece.writes.push_back(
        {.buffer = buffer, .map = loop.at, .value = v, .at = loop.at, .defines = defines, .target = v});
    return piece;
  }

  /// Once, and only what is needed and no part of what is made as a whole.
  void materialize(ValueId v) {
    const Node* node = graph_.node_of(v);
    if (!needs_.needed[v] || !node || regions_.written_by[v].valid() || regions_.made_by_parts[v]) return;
    if (is_made_[v]) return;
    is_made_[v] = true;
    materialize(v, *node);
  }

  void materialize(ValueId v, const Node& node) {
    switch (node.op) {
      case Op::literal:
        if (!has_one_element(graph_.type(v))) {
          out_.homes[v].buffer = new_buffer(v, Role::literal);
          program_.buffers[out_.homes[v].buffer].elements = node.elements;
        }
        return;
      case Op::host_call:
        if (v == node.results[0]) host_call(node);
        return;
      case Op::cond:
        if (v == node.results[0]) cond(node);
        return;
      case Op::loop:
        if (v == node.results[0]) loop(node);
        return;
      case Op::library:
        if (v == node.results[0]) library_call(node);
        return;
      case Op::update:
      case Op::scatter: return regions(v);
      case Op::cumulative: return cumulative(v, node);
      case Op::compress:
        if (v == node.results[0]) compress(node);
        return;
      case Op::concat: return regions(v);
      case Op::reduce:
        if (!is_unrolled(graph_, node, caps_) && !out_.homes[v].sum) return reduce(v, node);
        break;
      case Op::reshape:
        if (first_slot_[v] >= 0 && program_.outputs[first_slot_[v]].valid()) return returned_view(v, node);
        if (!reshape_is_map(graph_, node)) return view(v, node);
        break;
      case Op::assert_: check(v, node); break;
      case Op::as_size: return as_size(v, node);
      default: break;
    }
    if (!is_stored(v)) return;
    const BufferId buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
    out_.homes[v].buffer = buffer;
    if (const ValueId concat = regions_.concat_in[v]; concat.valid()) return by_parts(v, *graph_.node_of(concat));
    add(v, over(directions_.loop_over(v), v, buffer, /*defines=*/true));
  }

  bool is_stored(ValueId v) const { return fuse::is_stored(graph_, cones_, forced_, needs_, v); }

  void by_parts(ValueId v, const Node& concat) {
    for (ConcatPart& part : parts_of(graph_, concat)) {
      Piece piece{.axes = std::move(part.loop.axes)};
      piece.writes.push_back({.buffer = out_.homes[v].buffer,
                              .map = part.in_whole,
                              .value = v,
                              .at = part.in_whole,
                              .defines = true,
                              .target = v});
      add(v, std::move(piece));
    }
  }

  void view(ValueId v, const Node& node) {
    const Home& source = out_.homes[node.operands[0]];
    out_.homes[v] = {new_view(v, source.place()), {}, source.pieces};
  }

  /// What it shows has been written in its place. Loops ask for that, so that all of them name the bytes alike.
  void returned_view(ValueId v, const Node& node) {
    const BufferId output = program_.outputs[first_slot_[v]];
    out_.homes[v] = {{}, output, out_.homes[node.operands[0]].pieces};
    if (!reshape_is_map(graph_, node)) out_.homes[v].buffer = output;
  }

  void reduce(ValueId v, const Node& node) {
    const ValueId x = node.operands[0];
    const NodeId selection = needs_.selection[v];
    const ValueId mask = selection.valid() ? graph_.nodes[selection].operands[0] : ValueId();
    const std::vector<Dim>& dims = graph_.type(mask.valid() ? mask : x).dims;
    const BufferId buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
    out_.homes[v].buffer = buffer;
    if (const ValueId concat = regions_.concat_in[v]; concat.valid()) {
      return fold_parts(v, node, *graph_.node_of(concat));
    }
    // A short static result beside a long sum is written out: one fold for each element, so that it joins loops over
    // the long axis (X.T @ r over the observations).
    const int64_t short_result = short_static_size(graph_.type(v).dims);
    const std::optional<Beside> beside = make_beside(v);
    const int ops = cones_.of(x, forced_.values).ops + (beside ? cones_.of(beside->value, forced_.values).ops + 2 : 1);
    const bool written_out = short_result > 1 && short_result * ops <= caps_.max_body_ops;
    std::vector<Dim> loop_dims = dims;
    if (written_out) {
      for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
        if (!std::ranges::binary_search(node.axes, axis)) loop_dims[axis] = 1;
      }
    }
    const Loop loop = loop_over(loop_dims);
    Piece piece{.axes = loop.axes};
    piece.starts.push_back({buffer, {Start::Kind::fill, identity_of(node.combine, graph_.type(v).dtype), {}}});
    for (int64_t k = 0; k < (written_out ? short_result : 1); ++k) {
      AccessMap at = loop.at;
      int64_t rest = k, below = short_result;
      for (int axis = 0; written_out && axis < static_cast<int>(dims.size()); ++axis) {
        if (std::ranges::binary_search(node.axes, axis)) continue;
        below /= dims[axis].constant();
        at.subscripts[axis] = {rest / below, {}, {}};
        rest %= below;
      }
      Write write = fold_at(v, node, std::move(at));
      write.predicate = mask;
      write.selection = selection;
      if (beside) piece.writes.push_back(write_beside(write, *beside));
      piece.writes.push_back(std::move(write));
    }
    if (beside) piece.starts.push_back({beside->buffer, {Start::Kind::fill, nothing(*beside), {}}});
    const PieceId id = add(v, std::move(piece));
    if (beside && beside->pair == kernel::Pair::place) out_.homes[needs_.beside[v]].pieces.push_back(id);
  }

  /// The fold of the reduce's operand at a point of that.
  Write fold_at(ValueId v, const Node& reduce, AccessMap at) const {
    Write write{.kind = Statement::Kind::fold,
                .combine = reduce.combine,
                .buffer = out_.homes[v].buffer,
                .value = reduce.operands[0],
                .at = std::move(at),
                .target = v};
    for (int axis = 0; axis < write.at.rank(); ++axis) {
      if (!std::ranges::binary_search(reduce.axes, axis)) write.map.subscripts.push_back(write.at.subscripts[axis]);
    }
    return write;
  }

  /// A fold for each part of a concat that is read for nothing else. One that is a loop begins.
  void fold_parts(ValueId v, const Node& reduce, const Node& concat) {
    std::vector<Piece> pieces;
    for (ConcatPart& part : parts_of(graph_, concat)) {
      Piece& piece = pieces.emplace_back(Piece{.axes = std::move(part.loop.axes)});
      piece.writes.push_back(fold_at(v, reduce, std::move(part.in_whole)));
    }
    std::ranges::stable_partition(pieces, [](const Piece& piece) { return !piece.axes.empty(); });
    const Literal nothing = identity_of(reduce.combine, graph_.type(v).dtype);
    pieces.front().starts.push_back({out_.homes[v].buffer, {Start::Kind::fill, nothing, {}}});
    std::vector<PieceId> first;
    for (Piece& piece : pieces) {
      piece.after = first;
      const PieceId id = add(v, std::move(piece));
      if (first.empty()) first = {id};
    }
  }

  /// What is folded beside an extreme or a sum.
  struct Beside {
    kernel::Pair pair = kernel::Pair::none;
    ValueId value;
    BufferId buffer;
  };

  std::optional<Beside> make_beside(ValueId other) {
    const ValueId v = needs_.beside[other];
    if (!v.valid()) return std::nullopt;
    if (const std::optional<SumFold>& fold = needs_.sum_folds[v]) {
      const BufferId folded = new_state(v, graph_.type(v).dtype, {});
      out_.homes[v].sum = {fold->pair, folded, other, fold->if_finite};
      return Beside{fold->pair, fold->x, folded};
    }
    make_places(v);
    return Beside{kernel::Pair::place, needs_.place_folds[v]->number, out_.homes[v].buffer};
  }

  Literal nothing(const Beside& beside) const {
    const Combine combine = beside.pair == kernel::Pair::place ? Combine::min : Combine::add;
    return identity_of(combine, program_.buffers[beside.buffer].dtype);
  }

  /// What finds the places of an extreme is folded with it: so what it is made of, sizes and places, is made before.
  void make_places(ValueId v) {
    is_made_[v] = true;
    out_.homes[v].buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
    std::vector<ValueId> made_of = {needs_.place_folds[v]->number};
    for (std::size_t i = 0; i < made_of.size(); ++i) {
      const Node& node = *graph_.node_of(made_of[i]);
      made_of.insert(made_of.end(), node.operands.begin(), node.operands.end());
    }
    std::ranges::sort(made_of);
    for (ValueId part : made_of) materialize(part);
  }

  Write write_beside(const Write& other, const Beside& beside) const {
    Write write = other;
    write.pair = beside.pair;
    write.combine = beside.pair == kernel::Pair::place ? Combine::min : Combine::add;
    write.target = needs_.beside[other.target];
    write.buffer = beside.buffer;
    write.value = beside.value;
    write.converted = program_.buffers[beside.buffer].dtype;
    write.at = broadcast_point(other.at, graph_.type(beside.value).dims);
    write.beside_of = other.value;
    write.beside_at = other.at;
    return write;
  }

  int64_t short_static_size(std::span<const Dim> dims) const {
    int64_t size = 1;
    for (const Dim& dim : dims) {
      if (!dim.is_constant() || dim.constant() > caps_.max_short_side) return 0;
      size *= dim.constant();
    }
    return size <= caps_.max_short_side ? size : 0;
  }

  /// A buffer that holds no value of the graph: what a running fold has got so far.
  BufferId new_state(ValueId of, DType dtype, std::vector<Dim> dims) {
    const bool one = std::ranges::all_of(dims, [](const Dim& dim) { return dim.is(1); });
    std::string name = unique_name(str(graph_.name_text(of), "_so_far"));
    return program_.buffers.push_back(Buffer{.name = std::move(name),
                                             .dtype = dtype,
                                             .dims = std::move(dims),
                                             .role = one ? Role::scalar : Role::temporary});
  }

  void cumulative(ValueId v, const Node& node) {
    const TensorType& type = graph_.type(v);
    const auto axis = static_cast<std::size_t>(node.axes[0]);
    const BufferId buffer = new_memory(v);
    out_.homes[v].buffer = buffer;
    Piece piece = elementwise(v, buffer, /*defines=*/false);
    Write fold{.kind = Statement::Kind::fold,
               .combine = node.combine,
               .map = piece.writes[0].map,
               .value = node.operands[0],
               .at = piece.writes[0].at,
               .running = v,
               .runs = true,
               .target = v};
    std::vector<Dim> rest = type.dims;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    fold.map.subscripts.erase(fold.map.subscripts.begin() + static_cast<std::ptrdiff_t>(axis));
    fold.buffer = new_state(v, type.dtype, std::move(rest));
    piece.starts.push_back({fold.buffer, {Start::Kind::fill, first_of(node.combine, type.dtype), {}}});
    piece.writes.insert(piece.writes.begin(), std::move(fold));
    add(v, std::move(piece));
  }

  /// What leaves even the sign of a first zero as it is.
  static Literal first_of(Combine combine, DType dtype) {
    return combine == Combine::add && is_float(dtype) ? Literal::of_float(dtype, -0.0) : identity_of(combine, dtype);
  }

  /// The number is known before anything of that size is touched.
  PieceId bind(ValueId v, const Node& node) {
    kernel::Site site{ErrorCode::negative_size, "as_size: a size of {0}", {}, node.location};
    site.notes.emplace_back("operand", graph_.describe(node.operands[0]));
    // What is asserted before it may be why it is no size: that is said first.
    Piece piece{.value = v, .step_operands = {v}, .after = before_host_call_};
    piece.steps = {
        kernel::BindSize{out_.homes[v].buffer, node.size.as_symbol(), program_.sites.push_back(std::move(site))}};
    return out_.pieces.push_back(std::move(piece));
  }

  void as_size(ValueId v, const Node& node) {
    const BufferId buffer = new_buffer(v, Role::scalar);
    Piece piece = elementwise(v, buffer, /*defines=*/true);
    out_.homes[v].buffer = buffer;
    add(v, std::move(piece));
    bind(v, node);
  }

  /// Twice over the mask: to count, and then each element that counts goes where the count stands.
  void compress(const Node& node) {
    const ValueId mask = node.operands[0], count = node.results[0];
    const Loop loop = loop_over(graph_.type(mask).dims);
    const auto counting = [&](BufferId into, int64_t first) {
      Piece piece{.axes = loop.axes};
      piece.starts.push_back({into, {Start::Kind::fill, Literal::of_integer(DType::i64, first), {}}});
      piece.writes.push_back({.kind = Statement::Kind::fold,
                              .combine = Combine::add,
                              .buffer = into,
                              .value = mask,
                              .at = loop.at,
                              .converted = DType::i64,
                              .target = count});
      return piece;
    };
    out_.homes[count].buffer = new_buffer(count, Role::scalar);
    add(count, counting(out_.homes[count].buffer, 0));
    const PieceId bound = bind(count, node);

    Piece piece = counting(new_state(count, DType::i64, {}), -1);
    piece.writes[0].runs = true;
    piece.after = {bound};
    piece.value = count;
    std::vector<ValueId> made;
    const auto move = [&](ValueId v, ValueId value, NodeId selection) {
      made.push_back(v);
      out_.homes[v].buffer = new_memory(v);
      Write write{.buffer = out_.homes[v].buffer,
                  .value = value,
                  .at = loop.at,
                  .defines = selection.valid(),
                  .predicate = mask,
                  .selection = selection,
                  .target = v};
      write.map.subscripts.emplace_back();
      write.indices.push_back({.extent = node.size, .running = piece.writes[0].buffer});
      piece.writes.push_back(std::move(write));
    };
    for (std::size_t r = 1; r < node.results.size(); ++r) {
      if (needs_.needed[node.results[r]]) move(node.results[r], node.operands[r], {});
    }
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      const NodeId selection = needs_.selection[v];
      if (!selection.valid() || &graph_.nodes[selection] != &node || graph_.node_of(v)->op == Op::reduce) continue;
      is_made_[v] = true;
      move(v, v, selection);
    }
    if (made.empty()) return;
    const PieceId id = out_.pieces.push_back(std::move(piece));
    for (ValueId v : made) out_.homes[v].pieces = {id};
  }

  /// A value that is written region by region, and the bases below it that nothing else reads.
  void regions(ValueId v) {
    out_.homes[v].buffer = new_memory(v);
    Buffer& made = program_.buffers[out_.homes[v].buffer];
    const bool is_unsaid = made.stored.why == kernel::StoredFor::unsaid;
    if (is_unsaid && made.role == Role::temporary) made.stored.why = kernel::StoredFor::by_parts;
    std::vector<ValueId> chain = {v};
    while (graph_.node_of(chain.back())->op != Op::concat) {
      const ValueId base = graph_.node_of(chain.back())->operands[0];
      if (!regions_.written_by[base].valid()) break;
      chain.push_back(base);
    }
    std::ranges::reverse(chain);
    const Node& lowest = *graph_.node_of(chain.front());
    const bool is_concat = lowest.op == Op::concat;
    if (is_concat) write_parts(chain.front(), lowest, v);
    Piece first;
    const std::size_t boxes = is_concat ? 0 : begin(chain, v, first);
    // Boxes wait for nothing; the next region for all that is there, and then each for the one before.
    for (std::size_t i = is_concat ? 1 : 0; i < chain.size(); ++i) {
      const ValueId onto = i < boxes ? lowest.operands[0] : ValueId();
      const std::vector<PieceId>& there = out_.homes[v].pieces;
      const bool waits_for_all = i == std::max<std::size_t>(boxes, is_concat ? 1 : 0);
      if (!onto.valid()) first.after = waits_for_all ? there : std::vector{there.back()};
      write_region(chain[i], v, onto, std::exchange(first, {}));
    }
  }

  void write_parts(ValueId v, const Node& concat, ValueId whole) {
    for (ConcatPart& part : parts_of(graph_, concat)) {
      Piece piece{.axes = std::move(part.loop.axes)};
      piece.writes.push_back({.buffer = out_.homes[whole].buffer,
                              .map = std::move(part.in_whole),
                              .value = part.value,
                              .at = std::move(part.loop.at),
                              .target = v});
      add(whole, std::move(piece));
    }
  }

  /// With the axes and the write of the region, `piece` is complete. `onto`: if valid, what the region is combined
  /// with, for nothing of it is there yet.
  void write_region(ValueId v, ValueId whole, ValueId onto, Piece piece) {
    const Node& node = *graph_.node_of(v);
    const ValueId base = node.operands[0], value = node.operands[1];
    Loop loop = loop_over(region_dims(graph_, node.index));
    PlacedIndex placed = place_index(graph_, node.index, graph_.type(base).dims, loop.at);
    piece.axes = std::move(loop.axes);
    piece.writes.push_back({.combine = node.combine,
                            .buffer = out_.homes[whole].buffer,
                            .map = std::move(placed.map),
                            .indices = std::move(placed.arrays),
                            .value = value,
                            .at = broadcast_point(loop.at, graph_.type(value).dims),
                            .onto = onto,
                            .target = v});
    add(whole, std::move(piece));
  }

  /// What `whole` is where no region is written; `first` writes the first region. How many of `updates` write boxes of
  /// their own, where only what they leave was brought.
  std::size_t begin(std::span<const ValueId> updates, ValueId whole, Piece& first) {
    const Node& region = *graph_.node_of(updates.front());
    const ValueId base = region.operands[0];
    const BufferId buffer = out_.homes[whole].buffer, from = bytes_of_base(base);
    const bool is_required = region.in_place == InPlace::required;
    const bool has_bytes = from.valid() && program_.buffers[from].role != Role::scalar;
    // An argument is not overwritten, so it is copied; in a body it may be what is carried, which is, as a donated one.
    const bool is_argument = has_bytes && program_.buffers[from].role == Role::param &&
                             !program_.buffers[kernel::root_of(program_, from)].donated && !graph_.is_body;
    if (is_required && !has_bytes) require_own_bytes(graph_, out_.homes, program_, region);
    const std::optional<Literal> fill = fill_literal(base);
    if (!has_bytes || (is_argument && !is_required)) {
      const Brings brings = has_bytes || fill ? Brings::elements : Brings::values;
      if (const std::size_t boxes = begin_with_rest(updates, whole, brings); boxes > 0) return boxes;
    }
    if (fill) {
      first.starts.push_back({buffer, {Start::Kind::fill, *fill, {}}});
    } else if (has_bytes) {
      first.starts.push_back({buffer, {Start::Kind::copy, {}, from, {}}});
      if (is_required) first.starts.back().start.required = program_.sites.push_back(in_place_site(graph_, region));
      first.step_operands.push_back(base);
    } else {
      Piece all = elementwise(base, buffer, /*defines=*/false);
      all.writes[0].target = whole;
      add(whole, std::move(all));
    }
    return 0;
  }

  /// Where an update's base lies as a whole: in memory of its own, or in that of which it is another shape.
  BufferId bytes_of_base(ValueId base) {
    Home& home = out_.homes[base];
    const Node* node = graph_.node_of(base);
    if (home.memory.valid() && program_.buffers[home.memory].view_of.valid()) return home.memory;
    if (home.place().valid() || !node || node->op != Op::reshape) return home.buffer;
    const ValueId shown = node->operands[0];
    const BufferId from = bytes_of_base(shown);
    const bool has_bytes =
        from.valid() && program_.buffers[from].role != Role::scalar && program_.buffers[from].role != Role::literal;
    if (!has_bytes) return {};
    home.memory = new_view(base, from);
    home.pieces = out_.homes[shown].pieces;
    return home.memory;
  }

  /// Of the base, what the updates leave.
  std::size_t begin_with_rest(std::span<const ValueId> updates, ValueId whole, Brings brings) {
    const ValueId base = graph_.node_of(updates.front())->operands[0];
    const std::optional<LeftOver> left = left_over(graph_, updates, brings);
    if (!left || !may_be_left_out(graph_, cones_, forced_, base)) return 0;
    for (const Box& box : left->boxes) {
      std::vector<Dim> dims;
      for (std::size_t axis = 0; axis < box.begin.size(); ++axis) dims.push_back(box.end[axis] - box.begin[axis]);
      Loop loop = loop_over(dims);
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        Dim& begin = loop.at.subscripts[axis].base;
        begin = begin + box.begin[axis];
      }
      Piece piece{.axes = std::move(loop.axes)};
      piece.writes.push_back(
          {.buffer = out_.homes[whole].buffer, .map = loop.at, .value = base, .at = loop.at, .target = whole});
      add(whole, std::move(piece));
    }
    return left->regions;
  }

  /// The literal that every element of `v` is, if nothing on the way to it is stored.
  std::optional<Literal> fill_literal(ValueId v) const {
    return splat(graph_, v, [&](ValueId at) { return forced_.values[at]; });
  }

  void check(ValueId v, const Node& node) {
    const ValueId condition = node.operands[1];
    Piece piece;
    piece.writes.push_back({.kind = Statement::Kind::check, .value = condition, .target = v});
    before_host_call_.push_back(out_.pieces.push_back(std::move(piece)));
  }

  /// The buffer of `v` whose bytes a call can read.
  BufferId in_memory(ValueId v, Piece& reader) {
    Home& home = out_.homes[v];
    const bool literal = graph_.node_of(v) && graph_.node_of(v)->op == Op::literal;
    reader.after.insert(reader.after.end(), home.pieces.begin(), home.pieces.end());
    if (home.buffer.valid() && program_.buffers[home.buffer].role != Role::scalar) return home.buffer;
    if (!home.memory.valid()) {
      INLAY_CHECK(home.buffer.valid() || literal, "a value without a home is read by a call: ", graph_.describe(v));
      home.memory = new_buffer(v, Role::temporary);
      Piece piece = elementwise(v, home.memory, /*defines=*/false);
      piece.value = v;
      memory_piece_[v] = out_.pieces.push_back(std::move(piece));
    }
    if (memory_piece_.contains(v)) reader.after.push_back(memory_piece_[v]);
    return home.memory;
  }

  void library_call(const Node& node) {
    Piece piece;
    kernel::LibraryCall call{.op = node.library, .options = node.library_options, .sizes = library_sizes(graph_, node)};
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      LibraryOperand operand = library_operand(graph_, cones_, forced_, node, i, call.sizes);
      operand.array.buffer = in_memory(operand.base, piece);
      if (operand.index.valid()) operand.array.index = out_.homes[operand.index].buffer;
      if (!operand.why_copied.empty()) note_copied(node, operand);
      call.operands.push_back(std::move(operand.array));
      piece.step_operands.push_back(operand.base);
    }
    const LibrarySignature& signature = facts(node.library).signature;
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      out_.homes[node.results[r]].buffer = new_memory(node.results[r]);
      call.results.push_back(row_major_array(call, signature.results[r], out_.homes[node.results[r]].buffer));
    }
    const std::vector<Dim> sizes(call.sizes.begin() + 1, call.sizes.end());
    const Dim bytes = library_workspace_bytes(node.library, graph_.type(node.operands[0]).dtype, sizes);
    if (!bytes.is(0)) call.workspace = new_workspace(node, bytes);
    call.sites = library_sites(node);
    // What is asserted before it may be why it fails: that is said first.
    const bool may_fail = call.sites.size() >= static_cast<std::size_t>(kernel::LibraryStatus::failed);
    if (may_fail) piece.after.insert(piece.after.end(), before_host_call_.begin(), before_host_call_.end());
    piece.steps = {std::move(call)};
    piece.value = node.results[0];
    const PieceId id = out_.pieces.push_back(std::move(piece));
    for (ValueId result : node.results) out_.homes[result].pieces.push_back(id);
  }

  void note_copied(const Node& node, const LibraryOperand& operand) {
    Buffer& buffer = program_.buffers[operand.array.buffer];
    const std::string makes = join(node.results, " and ", [&](ValueId v) { return graph_.name_text(v); });
    if (buffer.role != Role::temporary || buffer.view_of.valid()) return;
    buffer.stored = {kernel::StoredFor::call_layout,
                     str(facts(node.library).name, ", which makes ", makes, ": ", operand.why_copied)};
  }

  BufferId new_workspace(const Node& node, const Dim& bytes) {
    std::string name = unique_name(str("workspace of ", facts(node.library).name));
    return program_.buffers.push_back({.name = std::move(name), .dtype = DType::u8, .dims = {bytes}});
  }

  /// By LibraryStatus.
  std::vector<kernel::SiteId> library_sites(const Node& node) {
    std::vector<kernel::SiteId> out;
    const LibraryOpFacts& row = facts(node.library);
    if (row.dtypes == LibraryOpFacts::DTypes::Ordered) return out;
    out.push_back(program_.sites.push_back(
        {ErrorCode::size_overflow, str(row.name, ": a size is beyond 2147483647"), {}, node.location}));
    if (row.failure.empty() || has(node.library_options, LibraryOption::nan)) return out;
    std::vector<std::pair<std::string, std::string>> notes;
    for (ValueId v : node.operands) notes.emplace_back("operand", graph_.describe(v));
    out.push_back(program_.sites.push_back(
        {ErrorCode::factorization_failed, failure_message(node.library), std::move(notes), node.location}));
    return out;
  }

  /// Of a result with another shape than its type says, met when the call has returned.
  kernel::SiteId host_site(const Node& node) {
    std::vector<std::pair<std::string, std::string>> notes;
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      notes.emplace_back(str("result ", r), graph_.describe(node.results[r]));
    }
    return program_.sites.push_back({ErrorCode::shape_mismatch,
                                     str(node.text, ": axis {3} of result {2} has {0} elements, not {1}"),
                                     std::move(notes), node.location});
  }

  void host_call(const Node& node) {
    Piece piece;
    kernel::HostCall call{.name = node.text, .function = node.host_function};
    for (ValueId operand : node.operands) call.operands.push_back(in_memory(operand, piece));
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      const ValueId result = node.results[r];
      call.results.push_back(new_buffer(result, Role::host));
      out_.homes[result].buffer = call.results.back();
      for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
        if (graph_.symbols[s].source == result) {
          call.bindings.push_back({s, static_cast<int>(r), graph_.symbols[s].axis});
        }
      }
    }
    call.site = host_site(node);
    piece.steps = {std::move(call)};
    add_call(node, std::move(piece));
  }

  /// A piece that makes all results of a node.
  void add_call(const Node& node, Piece piece) {
    piece.value = node.results[0];
    const bool effects = has_effects(node);
    // It may have effects, and what stands behind an assert may rely on it: in program order.
    if (effects) piece.after.insert(piece.after.end(), before_host_call_.begin(), before_host_call_.end());
    const PieceId id = out_.pieces.push_back(std::move(piece));
    for (ValueId result : node.results) out_.homes[result].pieces.push_back(id);
    if (effects) before_host_call_ = {id};
  }

  // --- regions ---

  /// Where the bodies read a value of the outside.
  BufferId captured(ValueId v, Piece& reader) {
    const Home& home = out_.homes[v];
    reader.step_operands.push_back(v);
    const Node* node = graph_.node_of(v);
    const bool is_literal = node && node->op == Op::literal;
    if (home.buffer.valid() || (!is_literal && home.memory.valid())) return home.place();
    INLAY_CHECK(is_literal, "a value without a home is read in a body: ", graph_.describe(v));
    const BufferId buffer = new_buffer(v, Role::literal);
    program_.buffers[buffer].elements = node->elements;
    return buffer;
  }

  /// Where a region leaves a result.
  BufferId result_of_region(ValueId v) {
    const bool is_handle = graph_.type(v).dtype == DType::opaque;
    const BufferId buffer = is_handle                         ? new_buffer(v, Role::host)
                            : has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar)
                                                              : new_memory(v);
    out_.homes[v].buffer = buffer;
    return buffer;
  }

  Piece region_piece(const Node& node) const {
    Piece piece{.value = node.results[0]};
    for (SymbolId s : node.region.count.symbols()) piece.step_symbols.push_back(s);
    for (const auto& body : node.region.bodies) {
      for (SymbolId s : symbols_in(*body)) piece.step_symbols.push_back(s);
    }
    return piece;
  }

  void cond(const Node& node) {
    Piece piece = region_piece(node);
    CondBuffers buffers{.condition = captured(node.operands[0], piece)};
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      buffers.captured.push_back(captured(node.operands[i], piece));
    }
    for (ValueId v : node.results) buffers.results.push_back(result_of_region(v));
    piece.steps =
        cond_steps(program_, buffers, bodies_.at(node.region.bodies[0].get()), bodies_.at(node.region.bodies[1].get()));
    add_call(node, std::move(piece));
  }

  void loop(const Node& node) {
    Piece piece = region_piece(node);
    LoopBuffers buffers{.count = node.region.count, .has_condition = node.region.has_condition};
    const auto num_carried = static_cast<std::size_t>(node.region.num_carried);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (i >= num_carried) {
        buffers.captured.push_back(captured(node.operands[i], piece));
        continue;
      }
      buffers.carried.push_back(result_of_region(node.results[i]));
      if (kernel::is_handle(program_.buffers[buffers.carried.back()])) {
        piece.steps.emplace_back(
            kernel::Copy{captured(node.operands[i], piece), buffers.carried.back(), "the first value"});
        continue;
      }
      Piece initial = elementwise(node.operands[i], buffers.carried.back(), /*defines=*/false);
      initial.value = initial.writes[0].target = node.results[i];
      piece.after.push_back(out_.pieces.push_back(std::move(initial)));
    }
    for (std::size_t i = num_carried; i < node.results.size(); ++i) {
      const ValueId trace = node.results[i];
      buffers.traces.push_back(new_memory(trace));
      out_.homes[trace].buffer = buffers.traces.back();
      if (!node.region.has_condition) continue;
      // Rows that are not reached.
      Piece zeros{.value = trace};
      const Literal zero = Literal::of(graph_.type(trace).dtype, 0);
      zeros.starts.push_back({buffers.traces.back(), {Start::Kind::fill, zero, {}}});
      piece.after.push_back(out_.pieces.push_back(std::move(zeros)));
    }
    std::ranges::move(loop_steps(program_, buffers, bodies_.at(node.region.bodies[0].get())),
                      std::back_inserter(piece.steps));
    add_call(node, std::move(piece));
  }

  void make_output(int slot) {
    const ValueId v = graph_.outputs[slot].value;
    if (program_.outputs[slot].valid()) return;  // its pieces write there
    const Home& home = out_.homes[v];
    const BufferId buffer = new_output_buffer(v, slot);
    const bool in_bytes = home.buffer.valid() && program_.buffers[home.buffer].role != Role::scalar;
    // A body's outputs are written by points: so that they may be rows, or joined by the loop that makes the value.
    const bool by_points = graph_.is_body && in_bytes && !kernel::is_handle(program_.buffers[home.buffer]) &&
                           !program_.buffers[home.buffer].view_of.valid();
    if (!in_bytes || by_points) {  // a one-element value, or a literal
      Piece piece = elementwise(v, buffer, /*defines=*/false);
      piece.value = v;
      out_.pieces.push_back(std::move(piece));
      return;
    }
    const bool view = program_.buffers[home.buffer].view_of.valid();
    const Role role = program_.buffers[home.buffer].role;
    const char* reason = view                    ? "returned under another shape"
                         : role == Role::param   ? "an output never shares the bytes of an input"
                         : role == Role::host    ? "made by a host call, in the host's memory"
                         : role == Role::literal ? "a constant is returned"
                                                 : "returned more than once";
    Piece piece{.value = v, .steps = {kernel::Copy{home.buffer, buffer, reason}}, .after = home.pieces};
    out_.pieces.push_back(std::move(piece));
  }

  const Graph& graph_;
  const kernel::BackendCaps& caps_;
  Cones& cones_;
  const Forced& forced_;
  const FusedBodies& bodies_;
  KernelProgram& program_;
  const Needs needs_;
  const Regions regions_;
  const Directions directions_;
  IdMap<ValueId, bool> is_made_;  // or no longer to be made
  IdMap<ValueId, int> first_slot_;
  IdMap<ValueId, int> reshaped_slot_;           // of a value that is returned under another shape only: where that is
  std::unordered_map<std::string, int> names_;  // that are taken, with the quotes that the last one to want it got
  std::unordered_map<ValueId, PieceId> memory_piece_;
  std::vector<PieceId> before_host_call_;  // the last host call, and the asserts since
  Pieces out_;
};

}  // namespace

Pieces cut(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
           const FusedBodies& bodies, std::span<const UnreadCheck> checks, KernelProgram& program) {
  program.outputs.assign(graph.outputs.size(), BufferId());
  Pieces out = Cutter(graph, caps, cones, forced, bodies, program).run();
  for (const UnreadCheck& check : checks) out.pieces.push_back(piece_of(graph, check));
  return out;
}

}  // namespace inlay::fuse
