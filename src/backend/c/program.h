#pragma once
// One program while it is being written: its names, what it needs, sizes and addresses as C expressions.
//
// int32_t ENTRY(InlayCall*) runs the steps one after the other. Each kernel with loops is a function of its own,
// so that `restrict` on its parameters says what the plan has proved. Buffers are pointers, 0-d values variables of
// the entry; a kernel takes what it writes by address and what it only reads by value.
#include <map>

#include "backend/c/backend.h"
#include "backend/c/text.h"
#include "backend/c/types.h"
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::c_backend {

using kernel::BufferId;
using kernel::SiteId;

class ProgramText {
 public:
  ProgramText(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const SourceOptions& options);

  const kernel::KernelProgram& program;
  const memory::MemoryPlan& plan;
  Needs needs;
  NameTable names;  // of the file and of the entry: those of a kernel go on from a copy
  Text kernels;     // functions before the entry
  Text tables;      // literals, and parameters that are bound

  // ---- sizes
  /// An expression; `factor` one that may stand beside any operator.
  std::string size(const Dim& dim);
  /// As `size`, and sets the variable `overflows` where it, or a part of it, does not fit.
  std::string exact_size(const Dim& dim);
  std::string factor(const Dim& dim);
  const std::string& symbol(SymbolId symbol);

  // ---- buffers
  BufferId root(BufferId buffer) const { return kernel::root_of(program, buffer); }
  const kernel::Buffer& root_buffer(BufferId buffer) const { return program.buffers[root(buffer)]; }
  bool is_scalar(BufferId buffer) const { return root_buffer(buffer).role == kernel::Role::scalar; }
  /// A 0-d value that nobody reads: what wrote it left it to a destination.
  bool is_unread_scalar(BufferId buffer) const;
  /// A literal of one element is a constant wherever it stands.
  bool is_constant(BufferId buffer) const;
  const std::string& name(BufferId buffer) const { return buffer_names_[root(buffer)]; }
  std::string address(BufferId buffer);  // for somebody else's function
  /// Where its bytes are, from the call; and the segment at whose beginning that is known.
  std::string place(BufferId buffer);
  int segment_of(BufferId buffer) const;
  /// Of a parameter whose elements the file has; else null.
  const BoundElements* bound_elements(BufferId buffer) const;

  /// `return fail(call, ...);`
  std::string failure(SiteId site, std::span<const std::string> numbers);

  bool is_freestanding() const { return options_.freestanding; }

  /// Where the number is that says whether to end. Who uses it may return INLAY_INTERRUPTED.
  std::string stop_flag();
  /// `if (ended(...)) return INLAY_INTERRUPTED;`, where `when` holds.
  std::string look_up(const std::string& when = "");
  /// Of what counts points and elements.
  std::string_view index_type() const { return has_short_indices_ ? "int32_t" : "int64_t"; }
  /// min_i32 or min_i64
  const std::string& min_of_indices() { return needs.use(has_short_indices_ ? "min_i32" : "min_i64"); }
  bool writing = false;  // may bytes have been written that the caller would see?

  // ---- what is written meanwhile uses
  struct Uses {
    std::vector<SymbolId> symbols;  // in order of first use
    std::vector<BufferId> buffers;  // roots, likewise
    bool can_fail = false;
    bool can_be_interrupted = false;
  };
  void use(BufferId buffer);
  Uses uses;

 private:
  std::string atom(const Dim::Atom& atom);
  std::string exact_atom(const Dim::Atom& atom);
  std::string literal_table(BufferId buffer);
  std::string bound_table(BufferId buffer, const BoundElements& elements);
  std::string table(BufferId buffer, const std::vector<std::string>& elements);
  void begin_tables();
  void find_read();

  const SourceOptions& options_;
  const bool has_short_indices_;
  IdMap<BufferId, bool> is_read_;  // by root
  IdMap<SymbolId, std::string> symbol_names_;
  IdMap<BufferId, std::string> buffer_names_;  // of roots
};

}  // namespace inlay::c_backend
