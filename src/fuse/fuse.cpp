#include "fuse/fuse.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fuse/cut_graph.h"
#include "fuse/schedule.h"
#include "fuse/split_loops.h"
#include "fuse/stage_writer.h"
#include "fuse/unread_checks.h"
#include "support/stop.h"

namespace inlay::fuse {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::SizeCheck;
using kernel::Stage;

namespace {

// Note [Rounds]
// A graph is decided, cut and scheduled in rounds. What a value costs shows only when it is known which loops ask for
// it, and at which points; so each round begins anew (decide.h) with what the rounds before have forced: a value that
// is expensive and would be computed more than once is stored from then on. Nothing that was forced is taken back, so
// the rounds end. Real programs take two or three; after those a round stores more than may be needed, so that deep
// graphs come to an end.
constexpr int kCarefulRounds = 3, kMaxRounds = 12;

// --- computing again, or storing ---

/// Where a value is computed: at these points of a stage.
struct Place {
  std::size_t stage = 0;
  Point at = nullptr;
  const Piece* piece = nullptr;

  ValueId asked_for() const { return piece->value; }  // what is written there
};

/// The questions for one value that are answered by computing it.
struct Answers {
  SmallVector<Place, 2> places;     // each once, until two of them meet
  bool some_element_again = false;  // two places may compute the same element
  bool through_index = false;
  bool again_per_outer_point = false;
};

/// Does the loop run only where all that it reads through a step of 0 or 1 is one element?
bool reads_one_element(const Piece& piece) { return piece.part && piece.part->is_other_of_reader(); }

/// May both compute one element? Where a step is 0 there is but one, which is little work: so where none is.
bool may_meet(const Place& a, const Place& b) {
  if (reads_one_element(*a.piece) || reads_one_element(*b.piece)) return false;
  const std::vector<Dim>&a_axes = a.piece->axes, &b_axes = b.piece->axes;
  std::vector<Dim> sizes = kernel::stretching_sizes(*a.at);
  for (const Dim& size : kernel::stretching_sizes(*b.at)) sizes.push_back(size);
  if (sizes.empty()) return kernel::regions_overlap(*a.at, a_axes, *b.at, b_axes) != Answer::no;
  return kernel::regions_overlap(where(*a.at, sizes, 1), a_axes, where(*b.at, sizes, 1), b_axes) != Answer::no;
}

void add_place(Answers& answers, Place place) {
  if (answers.some_element_again) return;
  for (const Place& other : answers.places) {
    if (other.stage == place.stage && other.at == place.at) return;
  }
  for (const Place& other : answers.places) {
    // The elements (i, 0) and (i, 1) of one value, or its two halves, are different work.
    const bool same = other.at == place.at && other.piece->axes == place.piece->axes;
    answers.some_element_again |= same || may_meet(other, place);
  }
  answers.places.push_back(place);
}

/// Does the point leave out an axis that lies outside one it uses? Then a loop around computes it again and again.
bool skips_outer_axis(const AccessMap& at, int num_axes) {
  bool skipped = false;
  for (int axis = 0; axis < num_axes; ++axis) {
    if (!at.uses_axis(axis)) {
      skipped = true;
    } else if (skipped) {
      return true;
    }
  }
  return false;
}

IdMap<ValueId, Answers> find_answers(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts,
                                     const Schedule& schedule) {
  IdMap<ValueId, Answers> out(graph.values.size());
  for (std::size_t stage = 0; stage < schedule.size(); ++stage) {
    checkpoint();
    for (PieceId id : schedule[stage]) {
      const Piece& piece = pieces.pieces[id];
      for (const Demand& demand : facts[id]->demands) {
        if (demand.loaded) continue;
        Answers& answers = out[demand.value];
        add_place(answers, {stage, demand.at, &piece});
        answers.through_index |= demand.at->has_index();
        answers.again_per_outer_point |= skips_outer_axis(*demand.at, static_cast<int>(piece.axes.size()));
      }
    }
  }
  return out;
}

/// What a piece is written for.
std::string name_of(const Graph& graph, ValueId v) { return v.valid() ? graph.name_text(v) : "an assert"; }

/// Why a value that costs so much is stored.
kernel::Stored too_expensive(const Graph& graph, const Answers& of, int cost, int max_cost) {
  const std::string figures = str("it costs ", cost, ", more than ", max_cost);
  if (!of.some_element_again) {
    return {of.through_index ? kernel::StoredFor::every_index : kernel::StoredFor::outer_loop, figures};
  }
  const Place &first = of.places.front(), &last = of.places.back();
  const std::string where =
      first.asked_for() == last.asked_for()
          ? str("more than once for ", name_of(graph, last.asked_for()))
          : str("for ", name_of(graph, first.asked_for()), " and for ", name_of(graph, last.asked_for()));
  return {kernel::StoredFor::several_places, str(where, "; ", figures)};
}

/// Marks the values of a cone that nothing outside of it uses.
/// `inside` holds zeros, and does so again afterwards.
void serve_own_parts(const Graph& graph, const std::vector<ValueId>& cone, const IdMap<ValueId, int>& uses,
                     IdMap<ValueId, int>& inside, IdMap<ValueId, bool>& served) {
  for (ValueId part : cone) {
    const Node* node = graph.node_of(part);
    if (!node) continue;
    for (ValueId operand : node->operands) ++inside[operand];
  }
  for (ValueId part : cone) served[part] = served[part] || inside[part] == uses[part];
  for (ValueId part : cone) {
    const Node* node = graph.node_of(part);
    if (!node) continue;
    for (ValueId operand : node->operands) inside[operand] = 0;
  }
}

/// Forces the expensive values that are computed more than once; true if there were any. What a forced value is made of
/// is computed with it, and maybe no longer twice: `careful` leaves that to the next round (Note [Rounds]).
bool force_recomputed(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts, const Schedule& schedule,
                      const kernel::BackendCaps& caps, const IdMap<ValueId, int>& uses, Cones& cones, bool careful,
                      Forced& forced) {
  const IdMap<ValueId, Answers> answers = find_answers(graph, pieces, facts, schedule);
  IdMap<ValueId, bool> served(graph.values.size(), false);  // part of one that was just forced
  IdMap<ValueId, int> inside(careful ? 0 : graph.values.size(), 0);
  IdMap<ValueId, bool> stored = forced.values;
  for (const Node& node : graph.nodes) {  // what is gathered from in memory is not computed along, whatever it costs
    if (node.op != Op::gather) continue;
    ValueId base = node.operands[0];
    for (const Node* view = graph.node_of(base); view && view->op == Op::broadcast; view = graph.node_of(base)) {
      if (pieces.homes[base].buffer.valid()) break;
      base = view->operands[0];
    }
    if (pieces.homes[base].buffer.valid()) stored[base] = true;
  }
  std::vector<ValueId> cone;
  bool any = false;
  for (uint32_t i = static_cast<uint32_t>(graph.values.size()); i-- > 0;) {
    const ValueId v(i);
    const Answers& of = answers[v];
    if (served[v] || pieces.homes[v].buffer.valid() || !graph.node_of(v)) continue;
    if (!of.some_element_again && !of.through_index && !of.again_per_outer_point) continue;
    const int cost = cones.of(v, stored, &cone).cost;
    if (cost <= caps.max_inline_cost) continue;
    stored[v] = true;
    forced.add(v, too_expensive(graph, of, cost, caps.max_inline_cost));
    if (careful) {
      for (ValueId part : cone) served[part] = true;
    } else {
      serve_own_parts(graph, cone, uses, inside, served);
    }
    any = true;
  }
  return any;
}

// --- steps ---

class Assembler {
 public:
  Assembler(const Graph& graph, const Pieces& pieces, Points& points, KernelProgram& program)
      : graph_(graph),
        pieces_(pieces),
        points_(points),
        program_(program),
        questions_(graph.values.size()),
        listed_in_(program.buffers.size(), 0),
        is_known_(graph.symbols.size(), true),
        check_done_(graph.checks.size(), false) {
    for (SymbolId s : ids<SymbolId>(graph.symbols.size())) {
      is_known_[s] = !graph.binder_of(s).valid();
    }
  }

  void run(const Schedule& schedule) {
    add_size_checks();
    for (const auto& stage : schedule) {
      const Piece& first = pieces_.pieces[stage.front()];
      if (first.steps.empty()) {
        add_stage(stage);
        continue;
      }
      program_.steps.insert(program_.steps.end(), first.steps.begin(), first.steps.end());
      const std::vector<SymbolId> bound = symbols_bound_by(first.steps.front());
      for (SymbolId symbol : bound) is_known_[symbol] = true;
      if (!bound.empty()) add_size_checks();
    }
  }

 private:
  /// Every size check whose symbols are known by now, and that was not added before.
  void add_size_checks() {
    for (std::size_t i = 0; i < graph_.checks.size(); ++i) {
      const DimCheck& check = graph_.checks[i];
      const auto known = [&](const Dim& dim) {
        return std::ranges::all_of(dim.symbols(), [&](SymbolId s) { return is_known_[s]; });
      };
      if (check_done_[i] || !known(check.left) || !known(check.right)) continue;
      check_done_[i] = true;
      const kernel::SiteId site = program_.sites.push_back({check.code, check.message, check.notes, check.location});
      program_.steps.push_back(SizeCheck{check.left, check.right, check.relation, site});
    }
  }

  void add_stage(const std::vector<PieceId>& ids) {
    Kernel kernel;
    Stage stage;
    ++num_stages_;
    const auto list = [&](const KernelOutput& output) {
      listed_in_[output.buffer] = num_stages_;
      kernel.outputs.push_back(output);
    };
    const std::vector<Dim>& axes = pieces_.pieces[ids.front()].axes;
    for (std::size_t i = 0; i < axes.size(); ++i) stage.axes.push_back({axis_name(i), axes[i]});
    questions_.clear();
    StageWriter writer(graph_, pieces_.homes, points_, questions_, program_.sites, stage);
    for (PieceId id : ids) {
      const Piece& piece = pieces_.pieces[id];
      writer.begin(piece);
      for (const KernelOutput& start : piece.starts) list(start);
      for (const Write& write : piece.writes) {
        writer.write(write);
        if (write.buffer.valid() && listed_in_[write.buffer] != num_stages_) list({write.buffer, {}});
      }
    }
    kernel.stages.push_back(std::move(stage));
    program_.steps.push_back(std::move(kernel));
  }

  const Graph& graph_;
  const Pieces& pieces_;
  Points& points_;
  KernelProgram& program_;
  Questions questions_;  // of the stage that is written
  int num_stages_ = 0;
  IdMap<BufferId, int> listed_in_;  // the last stage that has the buffer among its outputs
  IdMap<SymbolId, bool> is_known_;
  std::vector<bool> check_done_;
};

bool computes(const Node& node) {
  return node.op == Op::scalar || node.op == Op::cast || node.op == Op::gather || node.op == Op::reduce ||
         node.op == Op::iota || node.op == Op::update || node.op == Op::scatter || node.op == Op::concat;
}

/// What `mode` stores without asking what it costs: what computes, or of that only what has several readers.
void force_by(Mode mode, const Graph& graph, const IdMap<ValueId, int>& uses, Forced& forced) {
  if (mode == Mode::full) return;
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Node* node = graph.node_of(v);
    // (What is selected is in memory anyway; that it is forced keeps what is made of it from being computed along.)
    if (mode == Mode::none && node && node->op == Op::compress) forced.values[v] = true;
    if (!node || !computes(*node)) continue;
    if (mode == Mode::none) forced.add(v, {kernel::StoredFor::fusion_off, {}});
    if (mode == Mode::greedy && uses[v] > 1) forced.add(v, {kernel::StoredFor::several_readers, {}});
  }
}

/// Says of each fold in memory which loop reads it first.
void note_readers(const Graph& graph, const Decisions& decisions, const Pieces& pieces, const FactsOfPieces& facts,
                  const Schedule& stages, KernelProgram& program) {
  for (const std::vector<PieceId>& stage : stages) {
    for (PieceId id : stage) {
      for (const Demand& demand : facts[id]->demands) {
        if (!demand.loaded || decisions[demand.value].folds == 0) continue;
        kernel::Stored& stored = program.buffers[pieces.homes[demand.value].buffer].stored;
        if (stored.why == kernel::StoredFor::fold && stored.what.empty())
          stored.what = name_of(graph, pieces.pieces[id].value);
      }
    }
  }
}

constexpr std::array<std::string_view, 3> kModeNames = {"full", "greedy", "none"};

}  // namespace

std::string_view mode_name(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

Mode mode_named(std::string_view name, std::string_view setting) {
  const auto found = std::ranges::find(kModeNames, name);
  if (found == kModeNames.end()) {
    throw Error(ErrorCode::unknown_name, {}, str(setting, "=", name, ": there is no such way to fuse"))
        .help("the ways are full, greedy and none");
  }
  return static_cast<Mode>(found - kModeNames.begin());
}

KernelProgram fuse(const Graph& graph, const kernel::BackendCaps& caps, Mode mode, const FusedBodies& bodies,
                   std::string* rounds) {
  const IdMap<ValueId, int> uses = count_uses(graph);
  Forced forced{IdMap<ValueId, bool>(graph.values.size(), false), {}};
  force_by(mode, graph, uses, forced);
  Points points;
  Cones cones(graph, caps);
  cap_bodies(graph, caps, cones, points, forced);
  Examiner examine(graph, points);
  std::vector<UnreadCheck> checks;
  Decisions decisions;
  for (int round = 0;; ++round) {
    const Decisions before = std::exchange(decisions, decide(graph, caps, cones, forced, uses));
    if (rounds) *rounds += str("# @", graph.name, ", round ", round, "\n", text_of(graph, decisions, before));
    KernelProgram program;
    program.name = graph.name;
    program.symbols = graph.symbols;
    Pieces pieces = cut(graph, decisions, bodies, checks, program);
    FactsOfPieces facts = examine(pieces);
    if (mode == Mode::full && split_loops(graph, facts, pieces)) facts = examine(pieces);
    const Schedule stages = schedule(graph, pieces, facts, caps, mode);
    const auto force_more = [&](Forced& more) {
      return force_recomputed(graph, pieces, facts, stages, caps, uses, cones, round < kCarefulRounds, more);
    };
    if (round < kMaxRounds) {
      if (force_more(forced)) continue;
    } else if (Forced more = forced; force_more(more)) {
      program.refusals.push_back(str("some values are still computed in more than one place after ", kMaxRounds,
                                     " rounds of storing such values"));
    }
    if (std::vector<UnreadCheck> wanted = find_unread_checks(graph, decisions, pieces, facts); wanted != checks) {
      checks = std::move(wanted);
      continue;
    }
    Assembler(graph, pieces, points, program).run(stages);
    note_readers(graph, decisions, pieces, facts, stages, program);
    return program;
  }
}

}  // namespace inlay::fuse
