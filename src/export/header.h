#pragma once
// The header of an exported program, and the functions beside its entry that the header declares. Inside export/ only.
#include <optional>
#include <string>
#include <vector>

#include "backend/c/backend.h"
#include "backend/c/text.h"
#include "compiler/compile.h"
#include "export/export.h"

namespace inlay {

/// A parameter or a result, as C knows it.
struct Slot {
  std::string name;        // x
  std::string enumerator;  // softmax_IN_x
  std::string type;        // f64[n, 3]
  std::string variable;    // of the typed function; empty: it does not have it
  DType dtype = DType::f64;
  int64_t num_elements = 0;     // where sizes are fixed
  bool is_written = false;      // of a parameter: a call overwrites its bytes
  int taken = -1;               // of a result: the parameter in whose bytes it lies
  bool is_in_the_code = false;  // of a bound parameter
  int segment = 0;              // of a result: the segment at whose beginning its size is known
};

class Interface {
 public:
  /// `results`: their names; empty where one has none: it is called by its position, out0.
  Interface(const Lowered& made, const std::string& name, const std::vector<std::string>& results);

  /// Is every size fixed?
  bool is_typed() const { return is_typed_; }
  /// The whole header.
  std::string header() const;
  /// The functions beside the entry.
  std::string functions() const;
  /// All names that the header gives.
  std::vector<std::string> names() const;

  /// NAME_ARENA_BYTES, where neither sizes nor segments decide during a call.
  std::optional<int64_t> arena_bytes() const;
  /// The function that lays out working memory; empty: there is none.
  std::string layout() const;
  std::string entry() const { return str(name_, "_entry"); }

 private:
  std::vector<std::string> fixed_names() const;
  void add_params();
  void add_outputs(const std::vector<std::string>& names);
  void describe(c_backend::Text& out) const;
  void write_slots(c_backend::Text& out) const;
  void write_arena(c_backend::Text& out) const;
  void write_alignment(c_backend::Text& out) const;
  void write_segments(c_backend::Text& out) const;
  bool has_segments() const { return made_.plan.sharing.num_segments() > 1; }
  void write_codes(c_backend::Text& out) const;
  void write_prototypes(c_backend::Text& out) const;
  void write_typed(c_backend::Text& out) const;
  void write_message(c_backend::Text& out) const;
  void write_message_with(c_backend::Text& out) const;
  std::string message_with_prototype() const;
  std::string typed_prototype() const;
  std::string code_of(kernel::SiteId site) const;
  std::string enumerator(std::string_view of, std::string_view name);

  const Lowered& made_;
  const std::string name_;
  bool is_typed_;     // every size is fixed: there is a function of arrays
  bool has_numbers_;  // a message tells numbers of the call that failed
  c_backend::NameTable enumerators_, variables_{c_backend::NameTable::For::a_header};
  std::vector<Slot> params_, outputs_;
  std::vector<std::string> sizes_;  // enumerators
};

}  // namespace inlay
