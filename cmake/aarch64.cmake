# Toolchain: for aarch64 by Debian's cross compiler, against the libraries that scripts/cross unpacked into
# build/root-aarch64. What is built runs under qemu-user, in tests and where the build itself asks (llvm-config).

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/root-aarch64")
set(CMAKE_SYSROOT "${root}")
# A cross compiler looks for another linker (cmake/build.cmake) among its own programs, not on PATH.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${root}/../bin-aarch64")
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(INLAY_LLVM_CONFIG "${root}/usr/lib/llvm-19/bin/llvm-config" CACHE FILEPATH "llvm-config of LLVM 19")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${root}")

# Of `scripts/cross --python`. An emulated interpreter runs as INLAY_PYTHON; FindPython does not ask it for headers. Who
# builds a wheel (scripts/wheel --aarch64) gives others.
set(Python_INCLUDE_DIR "${root}/usr/include/python3.11" CACHE PATH "")
set(Python_NumPy_INCLUDE_DIR "${root}/../site-aarch64/numpy/_core/include" CACHE PATH "")
