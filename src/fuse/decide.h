#pragma once
// What becomes of each value of a graph, and of each output: one decision, with its reason, in one table.
//
// Each round makes the table anew (Note [Rounds] in fuse.cpp). What reads it decides nothing again.
#include <string>
#include <unordered_map>
#include <vector>

#include "fuse/backwards.h"
#include "fuse/cone.h"
#include "fuse/left_over.h"
#include "fuse/library_operand.h"
#include "kernel/stored.h"

namespace inlay::fuse {

/// How a value is there for those who read it.
enum class How : uint8_t {
  unneeded,      // not at all: nobody asks for it
  given,         // a parameter
  inlined,       // computed wherever it is asked for
  constant,      // an array in the program
  number,        // its one element is in a register of the function
  stored,        // in memory
  hosted,        // in the host's memory
  view,          // by the bytes of `with`, under another shape
  updated_with,  // never: the update `with` writes to its bytes, and nothing else reads it
  in_parts,      // never: a concat, or an update and what it leaves of its base; its readers are made part by part
};
std::string_view how_name(How how);

/// What the bytes of a value hold before regions of it are written.
enum class Begin : uint8_t {
  nothing,    // it is not written by regions, or they are all of it, as the parts of a concat are
  fill,       // one number everywhere
  copy,       // the bytes of the base
  computed,   // every element of the base, which a loop computes there
  left_over,  // the elements that the regions leave of the base, which loops bring there
};
std::string_view begin_name(Begin begin);

struct Decision {
  How how = How::unneeded;
  kernel::Stored why;  // of what is in memory, if only for a call; no output needs one
  ValueId with;   // of what is stored or a number, also: the value in parts of which it is made part by part; or the
                  // count of the compress along with whose mask it is made
  int slot = -1;  // of what is stored: the output whose bytes it is, perhaps under another shape; of that shape,
                  // which is a view or inlined: the same output
  int folds = 0;  // of a reduction: how many a point of its loop makes; 0: it is no loop, but written out, term by
                  // term, where it is asked for
  Begin begin = Begin::nothing;
  bool operator==(const Decision&) const = default;
};

/// How a value is written region by region, if it is stored, or of which parts it is.
struct Regions {
  std::vector<ValueId> updates;  // in the order of writing: bases that are `updated_with` the next, then the value; the
                                 // first may be a concat
  std::optional<Literal> fill;   // that it begins with
  LeftOver left;                 // of its base, that it begins with
};

/// How an output gets its bytes.
enum class Returned : uint8_t {
  in_place,   // what makes the value writes there
  by_points,  // a loop writes each element
  copied,     // from where the value lies
};
struct OutputDecision {
  Returned how = Returned::in_place;
  const char* why = "";  // of a copy
  bool operator==(const OutputDecision&) const = default;
};

struct Decisions {
  IdMap<ValueId, Decision> of;
  std::unordered_map<NodeId, std::vector<LibraryOperand>> operands;  // of library calls: what they read
  std::unordered_map<ValueId, Regions> regions;                      // of what is written by them
  std::vector<OutputDecision> outputs;
  Directions directions;  // in which loops over values pass them

  const Decision& operator[](ValueId v) const { return of[v]; }
};

// decide_regions.cpp

/// Decides how `v`, stored and an update, a scatter or a concat, begins; all else is decided. Throws
/// Error(not-in-place) for an update that is required to be made in place of what has no bytes of its own.
void decide_regions(const Graph& graph, ValueId v, Decisions& decisions);

/// The regions of `v`, an update, and what they leave of its base, where each of its elements is in one of them. None
/// where they do not lie side by side. What `v` is made of is decided.
std::optional<Regions> regions_side_by_side(const Graph& graph, ValueId v, const Decisions& decisions, ReadBy by);

/// `uses`: count_uses.
Decisions decide(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                 const IdMap<ValueId, int>& uses);

/// A table of what differs from the round before, which is everything where that has none.
std::string text_of(const Graph& graph, const Decisions& round, const Decisions& before);

}  // namespace inlay::fuse
