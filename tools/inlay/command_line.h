#pragma once
// inlay: run, test, look into programs in text form. Reads the command line; commands.h has what is done.

namespace inlay::tool {

/// All that the tool does, `argv` as main has it. Returns the exit code; what is wrong is on stderr. It has Ctrl-C for
/// itself, and leaves by that signal if it came.
int run_command_line(int argc, char** argv);

}  // namespace inlay::tool
