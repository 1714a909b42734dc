// A verifier that takes every plan proves nothing: so right plans of random programs are made wrong, one fact at a
// time, and each must be rejected.
#include <cstdlib>
#include <ctime>

#include "memory/destination.h"
#include "memory/testdata/planned.h"
#include "memory/testdata/random_program.h"

namespace inlay::memory {
namespace {

using kernel::BufferId;
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
void on_random_programs(int least, Mutate mutate) {
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
  EXPECT_GE(mutations, least);
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
        if (!is_whole && placement.reason != Reason::destination) continue;
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

/// Is the register that this store writes in one other buffer only? Else its bytes may be there by yet another one.
bool is_in_one_other(const kernel::KernelProgram& program, const Elided& elided) {
  const auto& kernel = std::get<kernel::Kernel>(program.steps[elided.step.index]);
  const kernel::Stage& stage = kernel.stages[static_cast<std::size_t>(elided.stage)];
  const kernel::Statement& store = stage.statements[static_cast<std::size_t>(elided.statement)];
  return std::ranges::count_if(stage.statements, [&](const kernel::Statement& other) {
           return &other != &store && (other.result == store.operands[0] || other.operands == store.operands);
         }) == 1;
}

/// Of something that is left out: whose bytes were to be there. None where others hold the same.
BufferId source_of(const kernel::KernelProgram& program, const Elided& elided) {
  if (elided.stage >= 0 && !is_in_one_other(program, elided)) return {};
  for (const Transfer& transfer : find_transfers(program)) {
    const bool is_it = transfer.step == elided.step && transfer.stage == elided.stage &&
                       transfer.statement == elided.statement && transfer.destination == elided.buffer;
    if (is_it) return transfer.source;
  }
  const auto* kernel = std::get_if<kernel::Kernel>(&program.steps[elided.step.index]);
  for (const kernel::KernelOutput& output : kernel ? kernel->outputs : std::vector<kernel::KernelOutput>()) {
    if (elided.stage < 0 && output.buffer == elided.buffer) return output.start.source;
  }
  return {};
}

/// Is its content that of another buffer, whose bytes may be there as well?
bool is_copied(const kernel::KernelProgram& program, BufferId buffer) {
  return std::ranges::any_of(find_transfers(program),
                             [&](const Transfer& transfer) { return transfer.destination == buffer; });
}

// Two buffers that lie in the same bytes, so that nothing has to be copied, are laid apart; the copy is still left out.
TEST(Mutations, ADroppedAliasIsRejected) {
  on_random_programs(50, [](const Planned& right) {
    int count = 0;
    for (const Elided& elided : right.plan.sharing.elided) {
      const BufferId source = source_of(right.program, elided);
      if (!source.valid() || is_copied(right.program, source)) continue;
      Planned wrong = right;
      Sharing& sharing = wrong.plan.sharing;
      SharedStorage own = sharing.storages[sharing.placements[source].storage];
      own.owner = Owner::arena;
      own.size_bytes = kernel::size_bytes(right.program.buffers[source]);
      sharing.placements[source] = {sharing.storages.push_back(own), 0, Reason::own, {}};
      EXPECT_FALSE(problems(wrong, layouts_of(wrong)).empty())
          << right.program.buffers[source].name << " apart from " << right.program.buffers[elided.buffer].name;
      ++count;
    }
    return count;
  });
}

// A result in somebody else's bytes.
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
