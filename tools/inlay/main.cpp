#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "command_line.h"
#include "library/routines.h"

namespace {

/// A BLAS that does not know this CPU takes kernels by their name, while it is loaded: so the program begins anew.
/// Where it cannot, it goes on with what there is.
void begin_with_kernels_of_this_cpu(char** argv) {
  if (!inlay::library::is_linked_blas_too_old()) return;
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return;
  setenv("OPENBLAS_CORETYPE", inlay::library::newest_known_core(), 1);
  execv(program.c_str(), argv);
  unsetenv("OPENBLAS_CORETYPE");
}

}  // namespace

int main(int argc, char** argv) {
  begin_with_kernels_of_this_cpu(argv);
  return inlay::tool::run_command_line(argc, argv);
}
