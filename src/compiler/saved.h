#pragma once
// A compiled program as a file, and back.
#include <string>

#include "compiler/compile.h"
#include "file/function_file.h"

namespace inlay {

/// The file of a program, with `executable`'s code. Throws Error(unsupported) where a function of the caller's lays out
/// its memory or chose what shares bytes: a file cannot hold that function.
file::FunctionFile file_of(const EmittedProgram& program, const runtime::Executable& executable);

/// The sections of an API in place of those that the file has, but for what `file_of` says there.
void set_sections(file::FunctionFile& file, const std::vector<file::Section>& sections);

/// Notes in the file's sections on how many threads calls may run; `file_of` has done it.
void keep_threads(file::FunctionFile& file, const runtime::Executable& executable);

/// Says why the code of a file cannot run here: "this CPU has no avx512f"; empty if it can.
std::string why_not_here(const file::FunctionFile& file);

/// Was f64 that is rounded to f32 in the end computed in f32?
bool is_single_precision(const file::FunctionFile& file);

/// Loads the code of a file. Throws Error(unsupported) where it cannot run here.
runtime::Executable load_code(const file::FunctionFile& file);

/// What the file says of the program besides its code: its texts are read, and its memory is planned once more.
EmittedProgram read_program(const file::FunctionFile& file);

/// Compiles the kernels of a file once more, for the machine at hand.
Program emit_again(const file::FunctionFile& file);

}  // namespace inlay
