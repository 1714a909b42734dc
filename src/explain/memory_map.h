#pragma once
// What a plan of memory is, in words, as a table and as a picture.
#include <span>
#include <string>
#include <vector>

#include "explain/memory_table.h"
#include "explain/page.h"
#include "kernel/kernel.h"
#include "kernel/summary.h"
#include "memory/plan.h"

namespace inlay::explain {

/// The program with its plan: which value lives in which storage, what it took over, what it costs; and as text.
MemoryTable memory_table(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);
std::string memory_map(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);

/// What the picture of a plan says that the plan does not know.
struct PageWords {
  std::string title;
  std::vector<kernel::NamedPart> parts;
  std::vector<std::string> lines;  // of the user's source, by step; may be empty
};

/// The same as a picture (page.h): the buffers in the arena, with arguments and results. Throws Error(unsupported)
/// where offsets depend on sizes. `symbols`: the sizes that the plan's layouts are for, where it has none for all.
Page memory_page(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const PageWords& words,
                 std::span<const int64_t> symbols = {});

/// A temporary: what it is called in the text of the kernels, where its bytes are, and why it has any.
struct StoredValue {
  kernel::BufferId buffer;
  std::string name, where;  // "s1", "out0"; "@k0, s1": each of the kernel's outer points has its own
  Dim bytes;
  std::string reason;     // "call-operand: matmul reads it from memory"; empty where the program does not say
  std::string_view help;  // what can be done so that it has none; may be empty
};
std::vector<StoredValue> stored_values(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);
std::string stored_table(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);

}  // namespace inlay::explain
