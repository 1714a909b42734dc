#pragma once
// A program from text with its plan, for tests: by name instead of by number.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "kernel/visit.h"
#include "memory/plan.h"
#include "memory/verify.h"

namespace inlay::memory::testing {

struct Planned : PlannedProgram {
  explicit Planned(std::string_view text) : Planned(kernel::parse(text)) {}
  explicit Planned(kernel::KernelProgram of) : PlannedProgram(plan_memory(std::move(of))) {}

  /// How many copies, starts and stores are marked as elided.
  int num_elided() const {
    int out = 0;
    for (const kernel::Step& step : program.steps) kernel::for_each_elidable(step, [&](bool elided) { out += elided; });
    return out;
  }
  /// All copies, starts and stores are made.
  void mark_none() {
    for (kernel::Step& step : program.steps) kernel::for_each_elidable(step, [](bool& elided) { elided = false; });
  }
  bool is_elided(std::size_t step, std::size_t stage, std::size_t statement) const {
    return std::get<kernel::Kernel>(program.steps[step]).stages[stage].statements[statement].elided;
  }

  kernel::BufferId buffer(std::string_view name) const {
    for (kernel::BufferId b : ids<kernel::BufferId>(program.buffers.size())) {
      if (program.buffers[b].name == name) return b;
    }
    ADD_FAILURE() << "no buffer " << name;
    return {};
  }

  const Placement& at(std::string_view name) const { return plan.sharing.placements[buffer(name)]; }

  /// "own", "in place of a", "in a at 8*n", "none".
  std::string where(std::string_view name) const {
    const Placement& placement = at(name);
    const auto other = [&] { return program.buffers[placement.took_over].name; };
    switch (placement.reason) {
      case Reason::own: return "own";
      case Reason::in_place: return "in place of " + other();
      case Reason::destination: {
        const Dim begin = placement.offset_bytes - plan.sharing.placements[placement.took_over].offset_bytes;
        return str("in ", other(), " at ", begin.to_text(program.symbol_names()));
      }
      case Reason::view: return "view of " + other();
      case Reason::none: return "none";
    }
    return "";
  }

  bool share(std::string_view a, std::string_view b) const {
    return at(a).storage.valid() && at(a).storage == at(b).storage;
  }

  std::vector<std::string> copies() const {
    std::vector<std::string> out;
    for (const PlannedCopy& copy : plan.sharing.copies) {
      out.push_back(
          str(program.buffers[copy.source].name, " -> ", program.buffers[copy.destination].name, ": ", copy.reason));
    }
    return out;
  }

  /// What the replay finds wrong, under every planner, for every symbol of each of these sizes.
  std::vector<std::string> problems(const std::vector<int64_t>& sizes = {0, 1, 2, 5}) const {
    std::vector<std::string> out;
    std::vector<std::size_t> pick(program.symbols.size(), 0);
    while (true) {
      std::vector<int64_t> symbols;
      for (std::size_t p : pick) symbols.push_back(sizes[p]);
      for (Planner planner : {Planner::naive, Planner::greedy, Planner::search, Planner::max}) {
        for (const Diagnostic& d : verify(program, plan, symbols, planner)) out.push_back(d.message);
      }
      std::size_t i = 0;
      while (i < pick.size() && ++pick[i] == sizes.size()) pick[i++] = 0;
      if (i == pick.size()) return out;
    }
  }
};

}  // namespace inlay::memory::testing
