# What a wheel's shared objects need beyond those of a development build, so that they load on systems that are older than
# the one that built them, and beside other people's copies of the same libraries.
#
# inlay_make_portable(<target>): libstdc++ inside and hidden (gcc 12's asks for GLIBCXX_3.4.30, which RHEL 9 has not);
# nothing exported but what is marked; no unused sections, no symbol table. libgcc_s stays shared: unwinding through two
# objects is one unwinder's work, and what is used of it is as old as gcc 4. cmake/portable.c stands for functions that
# only newer C libraries have; docs/install.md says which symbols remain and so set the tag. Functions of the same code
# are one, where the linker can do that: a twentieth of LLVM.
function(inlay_make_portable target)
  if(NOT SKBUILD)
    return()
  endif()
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/portable.c")
  # The others' link-time optimization would lose the names of versions.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/portable.c" PROPERTIES COMPILE_OPTIONS "-fno-lto;-fno-builtin"
    TARGET_DIRECTORY ${target})
  target_link_options(${target} PRIVATE -static-libstdc++
    "LINKER:--exclude-libs,ALL" "LINKER:--gc-sections" "LINKER:--as-needed" "LINKER:--strip-all"
    "LINKER:--wrap=hypot" "LINKER:--wrap=hypotf")
  if(INLAY_HAVE_mold OR INLAY_HAVE_lld)
    target_link_options(${target} PRIVATE "LINKER:--icf=all")
  endif()
endfunction()

# inlay_find_system_library(<variable> <name>): the path of libNAME.a in a wheel, of libNAME.so otherwise.
function(inlay_find_system_library variable name)
  if(SKBUILD)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  endif()
  find_library(${variable} ${name} REQUIRED)
endfunction()
