#include "explain/why_stored.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "kernel/regions.h"
#include "ops/library_op.h"

namespace inlay::explain {

using kernel::Buffer;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::RegisterId;
using kernel::Role;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StepId;
using kernel::StoredFor;

namespace {

bool is_temporary(const Buffer& buffer) { return buffer.role == Role::temporary && !buffer.view_of.valid(); }

/// Collects what the steps show; of several reasons the one that stands first in stored.def is kept.
class Reasons {
 public:
  explicit Reasons(KernelProgram& program)
      : program_(program),
        num_stores_(program.buffers.size(), 0),
        writes_(program.buffers.size()),
        reads_(program.buffers.size()),
        innermost_(program.steps.size(), -1) {
    find_bodies();
  }

  void run() {
    for (StepId step : ids<StepId>(program_.steps.size())) note_access(step);
    for (StepId step : ids<StepId>(program_.steps.size())) {
      const Step& it = program_.steps[step.index];
      if (const auto* kernel = std::get_if<Kernel>(&it)) look_at(*kernel, step);
      if (const auto* call = std::get_if<kernel::LibraryCall>(&it)) look_at(*call);
      if (const auto* call = std::get_if<kernel::HostCall>(&it)) {
        for (BufferId b : call->operands) offer(b, StoredFor::call_operand, str("host call \"", call->name, "\""));
      }
      if (const auto* copy = std::get_if<kernel::Copy>(&it)) look_at(*copy, step);
    }
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.view_of.valid()) offer(buffer.view_of, StoredFor::reshape, buffer.name);
    }
    look_at_regions();
  }

 private:
  void offer(BufferId b, StoredFor why, std::string what = {}) {
    Buffer& buffer = program_.buffers[root_of(program_, b)];
    const bool says_more = buffer.stored.why == StoredFor::unsaid || why < buffer.stored.why;
    if (is_temporary(buffer) && says_more) buffer.stored = {why, std::move(what)};
  }

  void note_access(StepId step) {
    const Step& it = program_.steps[step.index];
    const kernel::StepAccess access = access_of(program_, it);
    for (BufferId b : access.reads) reads_[b].push_back(step);
    for (BufferId b : access.writes) writes_[b].push_back(step);
    const auto* kernel = std::get_if<Kernel>(&it);
    if (!kernel) return;
    for (const Stage& stage : kernel->stages) {
      for (const Statement& s : stage.statements) {
        if (s.kind == Statement::Kind::store) ++num_stores_[s.buffer];
      }
    }
  }

  void look_at(const kernel::LibraryCall& call) {
    const std::string name(facts(call.op).name);
    const std::string makes = join(
        call.results, " and ", [&](const kernel::CallArray& result) { return program_.buffers[result.buffer].name; });
    for (const kernel::CallArray& operand : call.operands) {
      offer(operand.buffer, StoredFor::call_operand, str(name, ", which makes ", makes, ","));
    }
    for (const kernel::CallArray& result : call.results) offer(result.buffer, StoredFor::call_result, name);
    if (call.workspace.valid()) offer(call.workspace, StoredFor::workspace, name);
  }

  void look_at(const kernel::Copy& copy, StepId step) {
    const BufferId to = root_of(program_, copy.destination);
    bool is_carried = false;
    for (int r = innermost_[step]; r >= 0; r = parent_[r]) {
      const auto outside = [&](StepId other) { return !regions_[r].holds(other); };
      is_carried |= regions_[r].is_loop() && std::ranges::any_of(writes_[to], outside);
    }
    for (BufferId b : {copy.source, copy.destination}) {
      is_carried ? offer(b, StoredFor::carried) : offer(b, StoredFor::copied, copy.reason);
    }
  }

  void look_at(const Kernel& kernel, StepId step) {
    for (const KernelOutput& output : kernel.outputs) {
      if (output.start.kind == Start::Kind::copy) {
        offer(output.start.source, StoredFor::copied,
              str(program_.buffers[output.buffer].name, " begins with what it holds"));
      }
      if (output.start.kind != Start::Kind::keep) offer(output.buffer, StoredFor::by_parts);
    }
    last_loads_.clear();
    for (std::size_t stage = 0; stage < kernel.stages.size(); ++stage) {
      for (const Statement& s : kernel.stages[stage].statements) {
        if (s.kind == Statement::Kind::load) last_loads_[s.buffer.index] = stage;
      }
    }
    for (std::size_t stage = 0; stage < kernel.stages.size(); ++stage) {
      std::vector<RegisterId> running;
      for (const Statement& s : kernel.stages[stage].statements) {
        if (s.kind == Statement::Kind::fold && s.result.valid()) running.push_back(s.result);
        if (!s.has_place() || !is_temporary(program_.buffers[root_of(program_, s.buffer)])) continue;
        if (s.kind == Statement::Kind::fold) look_at_fold(stage, s, step);
        if (s.kind == Statement::Kind::store) look_at_store(s, running);
      }
    }
  }

  void look_at_fold(std::size_t stage, const Statement& fold, StepId step) {
    if (fold.result.valid()) return offer(fold.buffer, StoredFor::running_state);
    const auto last_load = last_loads_.find(fold.buffer.index);
    if (last_load != last_loads_.end() && last_load->second > stage)
      return offer(fold.buffer, StoredFor::fold, "a later stage");
    const std::vector<StepId>& readers = reads_[root_of(program_, fold.buffer)];
    const auto after = std::ranges::find_if(readers, [&](StepId reader) { return reader > step; });
    offer(fold.buffer, StoredFor::fold, after == readers.end() ? "the next pass" : step_name(*after));
  }

  std::string step_name(StepId step) const {
    const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
    return kernel && !kernel->name.empty() ? "@" + kernel->name : "what follows";
  }

  /// `running`: results of folds that stand before the store.
  void look_at_store(const Statement& store, const std::vector<RegisterId>& running) {
    const bool is_running = std::ranges::find(running, store.operands[0]) != running.end();
    if (is_running) offer(store.buffer, StoredFor::running_values);
    const bool is_part = store.accumulates() || store.map.has_index() || store.predicate.valid();
    if (is_part || num_stores_[store.buffer] > 1) offer(store.buffer, StoredFor::by_parts);
  }

  /// Which bodies each step stands in.
  void find_bodies() {
    std::vector<int> open;
    for (StepId step : ids<StepId>(program_.steps.size())) {
      while (!open.empty() && regions_[open.back()].end <= step) open.pop_back();
      if (!open.empty()) innermost_[step] = open.back();
      if (const std::size_t next = parent_.size(); next < regions_.size() && regions_[next].begin == step) {
        parent_.push_back(innermost_[step]);
        open.push_back(static_cast<int>(next));
      }
    }
  }

  void look_at_regions() {
    struct Inside {
      std::size_t writes = 0, reads = 0;
    };
    for (BufferId b : ids<BufferId>(program_.buffers.size())) {
      std::map<int, Inside> inside;  // by region: outer ones before inner ones
      for (StepId step : writes_[b]) {
        for (int r = innermost_[step]; r >= 0; r = parent_[r]) ++inside[r].writes;
      }
      for (StepId step : reads_[b]) {
        for (int r = innermost_[step]; r >= 0; r = parent_[r]) ++inside[r].reads;
      }
      for (const auto& [r, steps] : inside) {
        const bool is_loop = regions_[r].is_loop();
        if (steps.writes > 0 && steps.reads < reads_[b].size())
          offer(b, StoredFor::by_region, is_loop ? "a loop" : "a branch");
        if (steps.writes == 0) offer(b, StoredFor::captured, is_loop ? "every pass of a loop" : "a branch");
      }
    }
  }

  KernelProgram& program_;
  IdMap<BufferId, int> num_stores_;                       // statements that store to it
  IdMap<BufferId, std::vector<StepId>> writes_, reads_;   // by root
  std::unordered_map<uint32_t, std::size_t> last_loads_;  // of one kernel: by buffer, the last stage that loads from it
  const std::vector<kernel::RegionSpan> regions_ = kernel::regions_of(program_);
  IdMap<StepId, int> innermost_;  // the region whose body a step stands in; -1: none
  std::vector<int> parent_;       // by region: the one that it stands in; -1: none
};

}  // namespace

void say_why_stored(KernelProgram& program) { Reasons(program).run(); }

}  // namespace inlay::explain
