#pragma once
// Buffers that share a storage, while it is being decided who shares with whom.
#include <string>
#include <vector>

#include "memory/commit.h"
#include "memory/liveness.h"
#include "memory/plan.h"

namespace inlay::memory {

/// Every root with bytes begins in a group of its own; `join` puts one group into another. A group is a container (the
/// buffer that is as large as all of it) and where its members lie in it.
class Groups {
 public:
  Groups(const kernel::KernelProgram& program, const Liveness& liveness,
         const IdMap<SymbolId, kernel::StepId>& known_from, const Commit& commit);

  /// How a joined pair may stand to each other: the second takes the bytes of the first where it dies, or the first is
  /// made in its place within the second.
  enum class Relation : uint8_t { takes_over, part_of };

  /// May the arena's least size rise by it?
  enum class Room : uint8_t { must_not_grow, may_grow };

  /// Puts the group of `child` into that of `parent`, `child` at `offset_bytes` within `parent`. Empty: done. Otherwise
  /// nothing has changed, and this says why not. That the pair itself may share is the caller's proof.
  std::string join(kernel::BufferId child, kernel::BufferId parent, const Dim& offset_bytes, Relation relation,
                   Room room = Room::must_not_grow);

  bool has_bytes(kernel::BufferId root) const { return group_of_[root] >= 0; }
  bool together(kernel::BufferId a, kernel::BufferId b) const { return group_of_[a] == group_of_[b]; }

  /// Storages in the order of their first buffers, and each root's placement (without its reason).
  void place(Sharing& sharing) const;

 private:
  struct Group {
    kernel::BufferId container;
    std::vector<kernel::BufferId> members;
    Lifetime live;
  };

  std::string harmed(kernel::BufferId child, kernel::BufferId parent, const Dim& offset_bytes, Relation relation,
                     Room room) const;
  std::string harms_caller(const Group& from, const Group& to, const Dim& shift) const;
  bool may_meet(kernel::BufferId a, const Dim& offset_a, kernel::BufferId b, const Dim& offset_b) const;
  bool is_started(kernel::BufferId buffer) const;
  bool is_known_at(const Dim& size, kernel::StepId step) const;
  bool in_arena(const Group& group) const;
  bool raises_peak(int child, int parent) const;
  void add_load(const Group& group, double sign);
  void find_peak();

  const kernel::KernelProgram& program_;
  const Liveness& liveness_;
  const Commit& commit_;
  const IdMap<SymbolId, kernel::StepId>& known_from_;
  IdMap<kernel::BufferId, int> group_of_;  // -1: no bytes of ours
  IdMap<kernel::BufferId, Dim> offset_bytes_;
  IdMap<kernel::BufferId, Dim> size_bytes_;
  // For the question of more or less memory, with every symbol a large size; double: sums cannot overflow.
  IdMap<kernel::BufferId, double> nominal_bytes_;
  std::vector<Group> groups_;
  std::vector<double> load_bytes_;  // nominal, of the groups in the arena, by tick
  double peak_bytes_ = 0;
  std::size_t peak_tick_ = 0;
};

}  // namespace inlay::memory
