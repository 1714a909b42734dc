#pragma once
// Groups of buffers that share a storage, while the sharing is being decided.
#include <string>
#include <vector>

#include "memory/commit.h"
#include "memory/liveness.h"
#include "memory/load.h"
#include "memory/plan.h"

namespace inlay::memory {

/// Every root with bytes begins in a group of its own; `join` puts one group into another. A group has a container (the
/// buffer that is as large as the whole group) and the offsets of its members in it.
class Groups {
 public:
  Groups(const kernel::KernelProgram& program, const Liveness& liveness,
         const IdMap<SymbolId, kernel::StepId>& known_from, const Commit& commit);

  /// How a joined pair relates: the second takes over the bytes of the first where the first dies, or the first is made
  /// in its region of the second, which then has the same values.
  enum class Relation : uint8_t { takes_over, part_of };

  /// May the arena's minimum size grow?
  enum class Room : uint8_t { must_not_grow, may_grow };

  /// Puts the group of `child` into that of `parent`, `child` at `offset_bytes` within `parent`. Returns why that is
  /// impossible, and then changes nothing; empty on success. The caller must have proved that the pair itself may
  /// share.
  std::string join(kernel::BufferId child, kernel::BufferId parent, const Dim& offset_bytes, Relation relation,
                   Room room = Room::must_not_grow);

  bool has_bytes(kernel::BufferId root) const { return group_of_[root] >= 0; }
  bool together(kernel::BufferId a, kernel::BufferId b) const { return group_of_[a] == group_of_[b]; }

  /// Sets the storages, in the order of their first buffers, and the placement of each root (without its reason).
  void place(Sharing& sharing) const;

 private:
  struct Member {
    kernel::BufferId buffer;
    int32_t latest_end;  // of the live ranges of the members up to this one
  };
  struct Group {
    kernel::BufferId container;
    std::vector<Member> members;  // by the beginnings of their live ranges
    Lifetime live;
    kernel::BufferId given;  // the donated parameter among the members; none: there is none
  };

  std::string harmed(kernel::BufferId child, kernel::BufferId parent, const Dim& offset_bytes, Relation relation) const;
  std::string harms_caller(const Group& from, const Group& to, const Dim& shift) const;
  bool may_meet(kernel::BufferId a, const Dim& offset_a, kernel::BufferId b, const Dim& offset_b) const;
  bool is_started(kernel::BufferId buffer) const;
  bool only_begins(kernel::BufferId other, kernel::BufferId parent, kernel::BufferId child) const;
  bool is_known_at(const Dim& size, kernel::StepId step) const;
  bool in_arena(const Group& group) const;
  double bytes_in_arena(const Group& group) const;
  void add_load(const Group& from, const Group& to, double sign);
  void add_member(Group& group, kernel::BufferId b) const;
  template <class IsAskedFor>
  kernel::BufferId find_meeting(const Group& group, const Lifetime& life, IsAskedFor is_asked_for) const;

  const kernel::KernelProgram& program_;
  const Liveness& liveness_;
  const Commit& commit_;
  const IdMap<SymbolId, kernel::StepId>& known_from_;
  IdMap<kernel::BufferId, int> group_of_;  // -1: no bytes that the plan places
  IdMap<kernel::BufferId, Dim> offset_bytes_;
  IdMap<kernel::BufferId, Dim> size_bytes_;
  // To compare memory use, with a large size for every symbol.
  IdMap<kernel::BufferId, double> nominal_bytes_;
  std::vector<Group> groups_;
  Load load_;  // nominal bytes of the groups in the arena
};

}  // namespace inlay::memory
