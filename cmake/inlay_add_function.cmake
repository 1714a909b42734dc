# inlay_add_function(<target> <program.inlay> [NAME <name>] [SIZES <size>=<number>...]
#                    [BOUND <parameter>=<file.npy>...] [COMPILE_OPTIONS <flag>...]
#                    [SECTION <name>] [FREESTANDING] [BLAS] [SINGLE_PRECISION])
#
# Compiles a program in text form whenever it changed and the target is built: an object, which becomes part of the
# target, and its header NAME.h, which the target's sources include. A target may have any number of them.
#
#   NAME             of the function in C; that of the file where none is given
#   SIZES            what every call has
#   BOUND            the array of each bound parameter, which then lies in the object
#   COMPILE_OPTIONS  further flags of the C compiler: -march=native, --sysroot=...
#   SECTION          bound arrays and constants lie in this section of the object
#   FREESTANDING     for a machine that has no C library but libm: no headers of it, sizes in 32 bits where they fit
#   BLAS             products, factors and solves call BLAS and LAPACK, which the program links
#   SINGLE_PRECISION what is computed in f64 only to be rounded to f32 is computed in f32
#
# Files are relative to the folder of the CMakeLists.txt; one that is made during the build has its whole path. The C
# compiler is the project's, where it has the language C, and else the system's cc. INLAY_TOOL names another inlay than
# that of the package: one that runs here where the package is of another architecture.
#
# What is made is what `inlay export --kind=object` makes: docs/file.md has what the header says.

function(inlay_add_function target program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FREESTANDING;BLAS;SINGLE_PRECISION" "NAME;SECTION" "SIZES;BOUND;COMPILE_OPTIONS")
  set(call "inlay_add_function(${target} ${program})")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call}: what are ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}? After the file \
come NAME, SIZES, BOUND, COMPILE_OPTIONS or SECTION, each with what it has, FREESTANDING, BLAS or SINGLE_PRECISION.")
  endif()
  _inlay_require_target("${call}" "${target}")
  _inlay_require_tool(tool "${call}")
  _inlay_input_file(file "${call}" "${program}")
  set(name "${arg_NAME}")
  if(NOT name)
    cmake_path(GET file STEM LAST_ONLY name)
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${call}: no function of C is called ${name}. NAME says how it is called.")
  endif()

  get_property(names TARGET ${target} PROPERTY INLAY_FUNCTIONS)
  if(name IN_LIST names)
    message(FATAL_ERROR "${call}: ${target} has a function ${name} already. NAME says how this one is called.")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY INLAY_FUNCTIONS ${name})

  set(options)
  set(files "${file}")
  foreach(size IN LISTS arg_SIZES)
    list(APPEND options "--size=${size}")
  endforeach()
  foreach(bound IN LISTS arg_BOUND)
    if(NOT bound MATCHES "^([^=]+)=(.+)$")
      message(FATAL_ERROR "${call}: BOUND has parameters and files, as weights=weights.npy, not ${bound}")
    endif()
    set(parameter "${CMAKE_MATCH_1}")
    _inlay_input_file(array "${call}" "${CMAKE_MATCH_2}")
    list(APPEND options "--bound=${parameter}=${array}")
    list(APPEND files "${array}")
  endforeach()

  if(arg_SECTION)
    list(APPEND options "--section=${arg_SECTION}")
  endif()
  if(arg_FREESTANDING)
    list(APPEND options --freestanding)
  endif()
  if(arg_BLAS)
    list(APPEND options --blas)
  endif()
  if(arg_SINGLE_PRECISION)
    list(APPEND options --single-precision)
  endif()

  set(environment)
  if(CMAKE_C_COMPILER)
    list(APPEND environment "CC=${CMAKE_C_COMPILER}")
  endif()
  if(arg_COMPILE_OPTIONS)
    list(JOIN arg_COMPILE_OPTIONS " " flags)
    list(APPEND environment "INLAY_CFLAGS=${flags}")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/inlay_functions/${target}")
  set(header "${folder}/${name}.h")
  set(object "${folder}/${name}.o")
  add_custom_command(OUTPUT "${header}" "${object}"
    COMMAND "${CMAKE_COMMAND}" -E env ${environment}
      "${tool}" export "${file}" --kind=object "--name=${name}" ${options} -o "${folder}"
    DEPENDS ${files} "${tool}" COMMENT "Compiling ${program}" VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE "${header}" "${object}")
  target_include_directories(${target} PRIVATE "${folder}")
  target_link_libraries(${target} PRIVATE m)
endfunction()

# A target whose parts can be an object, and whose folder is this one: it is here that the object is made.
function(_inlay_require_target call target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${call}: there is no target ${target}")
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(is_imported ${target} IMPORTED)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    message(FATAL_ERROR "${call}: ${target} is another name of ${aliased}, which gets its functions by that")
  endif()
  if(is_imported OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE)_LIBRARY)$")
    message(FATAL_ERROR "${call}: ${target} is no program and no library of this project that an object can be part of")
  endif()
  get_target_property(place ${target} SOURCE_DIR)
  if(NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "${call}: ${target} is a target of ${place}, where it gets its functions")
  endif()
endfunction()

function(_inlay_require_tool out call)
  cmake_path(SET tool NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin/inlay")  # where an install has both
  if(INLAY_TOOL)
    set(tool "${INLAY_TOOL}")
  endif()
  if(NOT EXISTS "${tool}")
    message(FATAL_ERROR "${call}: the command line tool, which compiles it, is not there: ${tool}. An install of inlay \
has it unless it is of the component cpp alone; INLAY_TOOL names one that is elsewhere.")
  endif()
  set(${out} "${tool}" PARENT_SCOPE)
endfunction()

# The whole path of a file that is there, or will be when it is needed.
function(_inlay_input_file out call name)
  cmake_path(ABSOLUTE_PATH name NORMALIZE OUTPUT_VARIABLE path)
  get_source_file_property(is_made "${path}" GENERATED)
  if(NOT is_made AND (NOT EXISTS "${path}" OR IS_DIRECTORY "${path}"))
    message(FATAL_ERROR "${call}: there is no file ${path}")
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
