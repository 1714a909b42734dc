#pragma once
// What stands in the entry function, one step at a time.
#include "backend/c/program.h"
#include "kernel/regions.h"

namespace inlay::c_backend {

/// A kernel with loops becomes a function and a call of it; 0-d arithmetic stands in the entry itself.
void write_kernel(ProgramText& p, Text& entry, const kernel::Kernel& kernel);

void write_library_call(ProgramText& p, Text& entry, const kernel::LibraryCall& call);
void write_host_call(ProgramText& p, Text& entry, const kernel::HostCall& call);
void write_size_check(ProgramText& p, Text& entry, const kernel::SizeCheck& check);
void write_bind_size(ProgramText& p, Text& entry, const kernel::BindSize& bind);
/// `by_address`: the 0-d values that are named by their addresses where this stands.
void write_transfer(ProgramText& p, Text& out, BufferId source, BufferId destination,
                    const std::vector<BufferId>& by_address = {});
void write_fill(ProgramText& p, Text& out, BufferId buffer, const Literal& value,
                const std::vector<BufferId>& by_address = {});

/// A 0-d value where it stands: a variable, or what an address points to.
std::string variable(ProgramText& p, BufferId buffer, const std::vector<BufferId>& by_address = {});

}  // namespace inlay::c_backend
