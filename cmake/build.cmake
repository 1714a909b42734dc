# How everything is compiled: one place, so that no folder chooses its own flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)   # the static libraries end in shared objects
# A shared object exports only what is marked, so that it meets no name of the program that loads it.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
# -O2: what runs long is generated code, and -O3 makes only the compiler larger.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")     # INLAY_CHECK does not look at NDEBUG: our own checks stay
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g1")            # steps by lines; -g triples the size of what is linked against LLVM
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")

if(SKBUILD)  # the linker leaves out what nobody calls, by the function
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

# bin/inlay, lib/libinlay_jit.so: the same places beside each other as after an install.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# Where an install puts them: a wheel keeps everything in the package, so the extension finds the JIT library beside it.
if(SKBUILD)
  set(INLAY_LIBRARY_DIR inlay)
else()
  set(INLAY_LIBRARY_DIR lib)
endif()

find_program(INLAY_CCACHE ccache)
if(INLAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${INLAY_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${INLAY_CCACHE}")
endif()

# The default linker takes seconds over LLVM's static libraries.
include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX "-fuse-ld=${linker}" INLAY_HAVE_${linker})
  if(INLAY_HAVE_${linker})
    add_link_options("-fuse-ld=${linker}")
    break()
  endif()
endforeach()

# Every number is rounded as it is written. What x86-64 began with has no fused multiply-add, so there is nothing to ask
# for there.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  add_compile_options(-ffp-contract=off)
  add_compile_options(-Wno-psabi)             # gcc notes what gcc 9 did otherwise
endif()
add_compile_options(-Wall -Wextra
  -Werror=switch                              # a new op without its case is an error in every build
  -Wno-missing-field-initializers)            # our structs give every member a default, and literals name what differs
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)          # gcc 12 sees overlaps in std::string that are not there (PR 105651)
else()
  add_compile_options(-Wno-deprecated-declarations)   # clang 19 warns inside libstdc++ 12's own std::stable_sort
endif()
if(INLAY_WERROR)
  add_compile_options(-Werror)
endif()

if(INLAY_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)   # what libFuzzer watches; its programs link the rest
endif()
set(INLAY_IS_SANITIZED 0)   # for tests that count allocations, or ask for what a sanitizer refuses
if(INLAY_SANITIZE)
  set(INLAY_IS_SANITIZED 1)
  add_compile_options(-fsanitize=${INLAY_SANITIZE}
    -fno-sanitize-recover=all                       # what is found ends the program: a test that goes on has not failed
    -fno-omit-frame-pointer                         # stacks in reports
    -O1                                             # instrumented code is slow enough, and -O2 takes twice as long to compile
    -D_GLIBCXX_ASSERTIONS)                          # an index beyond a vector that stays in its memory
  add_link_options(-fsanitize=${INLAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)   # noise under instrumentation
  else()
    # It reads a signature in front of every function that is called through a pointer; generated code has none.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
