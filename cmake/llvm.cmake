# inlay_find_llvm(): the INTERFACE target `inlay_llvm_static`, which is LLVM 19's code generator for this machine and its
# bitcode reader as static libraries, with headers and definitions.
#
# INLAY_LLVM_VERSION is which 19 it is. Nothing else of LLVM: no passes beyond those that code generation needs, no ORC.
# Link it into one shared object with hidden visibility (`inlay_hide_static_libraries(<target>)`), so that another LLVM
# in the process never meets ours.

function(inlay_find_llvm)
  if(TARGET inlay_llvm_static)
    return()
  endif()
  find_program(INLAY_LLVM_CONFIG NAMES llvm-config-19 llvm-config DOC "llvm-config of LLVM 19")
  if(NOT INLAY_LLVM_CONFIG)
    message(FATAL_ERROR "llvm-config-19 was not found: install llvm-19-dev, or give -DINLAY_LLVM=OFF")
  endif()
  _inlay_llvm_config(version --version)
  if(NOT version MATCHES "^19\\.")
    message(FATAL_ERROR "${INLAY_LLVM_CONFIG} is LLVM ${version}; inlay needs 19")
  endif()

  set(INLAY_LLVM_VERSION "${version}" PARENT_SCOPE)

  _inlay_llvm_config(include_dir --includedir)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(codegen aarch64codegen)
  else()
    set(codegen x86codegen)
  endif()
  _inlay_llvm_config(libraries --link-static --libfiles ${codegen} bitreader)
  separate_arguments(libraries UNIX_COMMAND "${libraries}")
  inlay_find_system_library(INLAY_ZLIB z)
  find_package(Threads REQUIRED)

  # llvm-config's own list of system libraries names also z3 and libxml2, which nothing of the above refers to, and zstd,
  # for which src/backend/llvm/left_out.cpp stands.
  add_library(inlay_llvm_static INTERFACE)
  target_include_directories(inlay_llvm_static SYSTEM INTERFACE "${include_dir}")
  target_compile_definitions(inlay_llvm_static INTERFACE
    _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  target_link_libraries(inlay_llvm_static INTERFACE
    ${libraries} "${INLAY_ZLIB}" Threads::Threads ${CMAKE_DL_LIBS} rt m)
endfunction()

function(_inlay_llvm_config out)
  execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${INLAY_LLVM_CONFIG}" ${ARGN}
    OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# A shared object exports what it says itself, nothing that came with a static library; unused sections are
# dropped, and its calls of itself go to itself (-Bsymbolic), though the program has an LLVM of its own.
function(inlay_hide_static_libraries target)
  target_link_options(${target} PRIVATE
    "LINKER:--exclude-libs,ALL" "LINKER:--gc-sections" "LINKER:-Bsymbolic"
    "$<$<CONFIG:Release>:LINKER:--strip-all>")
endfunction()
