// A verifier that takes every plan proves nothing: so right plans of random programs are made wrong, one fact at a
// time, and each must be rejected.
#include <cstdlib>
#include <ctime>

#include "kernel/transfers.h"
#include "memory/testdata/planned.h"
#include "memory/testdata/random_program.h"

namespace inlay::memory {
namespace {

using kernel::BufferId;
using kernel::Transfer;
using ::testing::IsEmpty;
using testing::Planned;
using testing::RandomProgram;

const std::vector<int64_t> kSizes = {3};

std::vector<Layout> layouts_of(const Planned& p) {
  return {plan(Planner::greedy, storages_of_segment(p.plan.sharing, 0, kSizes))};
}

std::vector<Diagnostic> problems(const Planned& p, std::span<const Layout> layouts) {
  return verify(p.program, p.plan, layouts, kSizes);
}

/// For as long as INLAY_FUZZ_SECONDS says, a second if it does not: `mutate` makes all mutations of one kind and says
/// how many.
template <class Mutate>
void on_random_programs(int minimum, Mutate mutate) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const char* seconds = std::getenv("INLAY_FUZZ_SECONDS");
  const auto first = given ? static_cast<uint32_t>(std::atol(given)) : std::random_device()();
  const double limit = seconds ? std::atof(seconds) : 1;
  const std::clock_t start = std::clock();
  int mutations = 0;
  for (uint32_t seed = first; static_cast<double>(std::clock() - start) < limit * CLOCKS_PER_SEC; ++seed) {
    const std::string text = RandomProgram(seed).text();
    SCOPED_TRACE(str("INLAY_FUZZ_SEED=", seed, "\n", text));
    const Planned right(text);
    ASSERT_THAT(problems(right, layouts_of(right)), IsEmpty());
    mutations += mutate(right);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(mutations, minimum);
}

// A storage where another one lives, beyond the arena, or where its alignment does not hold.
TEST(Mutations, AShiftedStorageIsRejected) {
  on_random_programs(100, [](const Planned& right) {
    int count = 0;
    const std::vector<Layout> layouts = layouts_of(right);
    const std::vector<Storage> storages = storages_of_segment(right.plan.sharing, 0, kSizes);
    const auto expect_rejected = [&](std::size_t s, int64_t offset) {
      std::vector<Layout> wrong = layouts;
      wrong[0].offset_bytes[s] = offset;
      EXPECT_FALSE(problems(right, wrong).empty()) << "storage " << s << " at " << offset;
      ++count;
    };
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (!is_placed(storages[s]) || storages[s].live.begin >= storages[s].live.end) continue;
      expect_rejected(s, layouts[0].offset_bytes[s] + 8);
      expect_rejected(s, layouts[0].arena_bytes);
      expect_rejected(s, -64);
      for (std::size_t other = 0; other < s; ++other) {
        const bool meets = is_placed(storages[other]) && meet(storages[s].live, storages[other].live);
        if (meets) expect_rejected(s, layouts[0].offset_bytes[other]);
      }
    }
    return count;
  });
}

/// Is what would move the buffer to its place left out, since it is there?
bool is_moved_by_nothing(const Planned& p, kernel::BufferId buffer) {
  return std::ranges::any_of(kernel::find_transfers(p.program), [&](const kernel::Transfer& transfer) {
    if (transfer.source != buffer) return false;
    const kernel::Step& step = p.program.steps[transfer.step.index];
    if (transfer.stage < 0) return std::get<kernel::Copy>(step).elided;
    return std::get<kernel::Kernel>(step).stages[transfer.stage].statements[transfer.store].elided;
  });
}

// A buffer at another place in its storage, with all that the plan leaves out left out.
TEST(Mutations, AShiftedBufferIsRejected) {
  on_random_programs(100, [](const Planned& right) {
    int count = 0;
    for (const kernel::Buffer& buffer : right.program.buffers) {
      if (!right.at(buffer.name).storage.valid()) continue;
      for (int64_t shift : {-8, 8}) {
        Planned wrong = right;
        Placement& placement = wrong.plan.sharing.placements[wrong.buffer(buffer.name)];
        // Within a larger one it may come to lie where nothing else is, and be as right as before.
        const bool is_whole = kernel::size_bytes(buffer) == wrong.plan.sharing.storages[placement.storage].size_bytes;
        if (!is_whole && !is_moved_by_nothing(wrong, wrong.buffer(buffer.name))) continue;
        placement.offset_bytes = placement.offset_bytes + Dim(shift);
        EXPECT_FALSE(problems(wrong, layouts_of(wrong)).empty()) << buffer.name << " shifted by " << shift;
        ++count;
      }
    }
    return count;
  });
}

TEST(Mutations, AShortenedLifeIsRejected) {
  on_random_programs(100, [](const Planned& right) {
    int count = 0;
    for (StorageId s : ids<StorageId>(right.plan.sharing.storages.size())) {
      for (bool at_end : {false, true}) {
        Planned wrong = right;
        Lifetime& live = wrong.plan.sharing.storages[s].live;
        if (live.begin >= live.end) continue;
        at_end ? --live.end : ++live.begin;
        EXPECT_FALSE(problems(wrong, layouts_of(wrong)).empty()) << "storage " << s.index;
        ++count;
      }
    }
    return count;
  });
}

const kernel::Stage& stage_of(const kernel::KernelProgram& program, const Transfer& transfer) {
  return std::get<kernel::Kernel>(program.steps[transfer.step.index]).stages[static_cast<std::size_t>(transfer.stage)];
}

bool is_elided(const kernel::KernelProgram& program, const Transfer& transfer) {
  if (transfer.stage < 0) return std::get<kernel::Copy>(program.steps[transfer.step.index]).elided;
  return stage_of(program, transfer).statements[static_cast<std::size_t>(transfer.store)].elided;
}

/// Is the register that this store writes in one other buffer only? Else its bytes may be there by yet another one.
bool is_in_one_other(const kernel::KernelProgram& program, const Transfer& transfer) {
  if (transfer.stage < 0) return true;
  const kernel::Stage& stage = stage_of(program, transfer);
  const kernel::Statement& store = stage.statements[static_cast<std::size_t>(transfer.store)];
  return std::ranges::count_if(stage.statements, [&](const kernel::Statement& other) {
           return &other != &store && (other.result == store.operands[0] || other.operands == store.operands);
         }) == 1;
}

/// What is left out, each as its source, whose bytes were to be there, and what it would have written. Not where others
/// hold the same.
std::vector<std::pair<BufferId, BufferId>> left_out(const kernel::KernelProgram& program) {
  std::vector<std::pair<BufferId, BufferId>> out;
  for (const Transfer& transfer : find_transfers(program)) {
    const bool is_it = is_elided(program, transfer) && is_in_one_other(program, transfer);
    if (is_it) out.emplace_back(transfer.source, transfer.destination);
  }
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<kernel::Kernel>(&step);
    if (!kernel) continue;
    for (const kernel::KernelOutput& output : kernel->outputs) {
      if (output.start.elided) out.emplace_back(output.start.source, output.buffer);
    }
  }
  return out;
}

/// Is its content that of another buffer, whose bytes may be there as well?
bool is_copied(const kernel::KernelProgram& program, BufferId buffer) {
  return std::ranges::any_of(find_transfers(program), [&](const Transfer& transfer) {
    return transfer.keeps_order && transfer.destination == buffer;
  });
}

// Two buffers that lie in the same bytes, so that nothing has to be copied, are laid apart; the copy is still left out.
TEST(Mutations, ADroppedAliasIsRejected) {
  on_random_programs(50, [](const Planned& right) {
    int count = 0;
    for (const auto& [source, destination] : left_out(right.program)) {
      if (is_copied(right.program, source)) continue;
      Planned wrong = right;
      Sharing& sharing = wrong.plan.sharing;
      SharedStorage own = sharing.storages[sharing.placements[source].storage];
      own.owner = Owner::arena;
      own.size_bytes = kernel::size_bytes(right.program.buffers[source]);
      sharing.placements[source] = {sharing.storages.push_back(own), 0, Reason::own, {}};
      EXPECT_FALSE(problems(wrong, layouts_of(wrong)).empty())
          << right.program.buffers[source].name << " apart from " << right.program.buffers[destination].name;
      ++count;
    }
    return count;
  });
}

/// Do two buffers lie in one storage? Then what is copied from one to the other may be there.
bool are_together(const Planned& p, BufferId a, BufferId b) {
  const StorageId storage = p.plan.sharing.placements[kernel::root_of(p.program, a)].storage;
  return storage == p.plan.sharing.placements[kernel::root_of(p.program, b)].storage;
}

bool may_be_there(const Planned& p, const kernel::Stage& stage, const kernel::Statement& store) {
  return std::ranges::any_of(stage.statements, [&](const kernel::Statement& other) {
    const bool has_it = other.result == store.operands[0] || other.operands == store.operands;
    return &other != &store && has_it && other.has_place() && are_together(p, other.buffer, store.buffer);
  });
}

/// Marks of a step that no plan sets, nor could: each belongs to bytes that do not exist.
std::vector<bool*> needed(const Planned& p, kernel::Step& step) {
  std::vector<bool*> out;
  const auto add = [&](bool& elided, bool may_be) {
    if (!elided && !may_be) out.push_back(&elided);
  };
  if (auto* copy = std::get_if<kernel::Copy>(&step))
    add(copy->elided, are_together(p, copy->source, copy->destination));
  auto* kernel = std::get_if<kernel::Kernel>(&step);
  if (!kernel) return out;
  for (kernel::KernelOutput& output : kernel->outputs) {
    const bool copies = output.start.kind == kernel::Start::Kind::copy;
    if (copies) add(output.start.elided, are_together(p, output.start.source, output.buffer));
  }
  for (kernel::Stage& stage : kernel->stages) {
    for (kernel::Statement& s : stage.statements) {
      if (s.kind == kernel::Statement::Kind::store) add(s.elided, may_be_there(p, stage, s));
    }
  }
  return out;
}

// A copy, a start or a store is marked though somebody has to make it. Storages lie apart: in the bytes of a dead one
// may be what a copy would have brought.
TEST(Mutations, AMarkForNothingIsRejected) {
  on_random_programs(100, [](const Planned& right) {
    int count = 0;
    Planned wrong = right;
    const std::vector<Layout> apart = {plan(Planner::naive, storages_of_segment(right.plan.sharing, 0, kSizes))};
    for (kernel::Step& step : wrong.program.steps) {
      for (bool* elided : needed(right, step)) {
        *elided = true;
        EXPECT_FALSE(problems(wrong, apart).empty()) << kernel::print(wrong.program);
        *elided = false;
        ++count;
      }
    }
    return count;
  });
}

// A result in the bytes of another buffer.
TEST(Mutations, AResultElsewhereIsRejected) {
  on_random_programs(50, [](const Planned& right) {
    int count = 0;
    const Sharing& sharing = right.plan.sharing;
    for (BufferId a : ids<BufferId>(right.program.buffers.size())) {
      for (BufferId b : ids<BufferId>(right.program.buffers.size())) {
        const Placement &one = sharing.placements[a], &other = sharing.placements[b];
        if (!one.storage.valid() || !other.storage.valid() || one.storage == other.storage) continue;
        if (right.program.buffers[b].role == kernel::Role::output) {  // wherever it goes, it leaves its own bytes
          Planned wrong = right;
          wrong.plan.sharing.placements[b] = one;
          EXPECT_FALSE(problems(wrong, layouts_of(wrong)).empty());
          ++count;
        }
      }
    }
    return count;
  });
}

}  // namespace
}  // namespace inlay::memory
