# check-format and check-tidy: targets of the `check` workflow. Reformat with the target `format`.

set(globs)
foreach(folder src include tools python/src tests bench examples)
  foreach(extension h cpp c)
    list(APPEND globs "${PROJECT_SOURCE_DIR}/${folder}/*.${extension}")
  endforeach()
endforeach()
file(GLOB_RECURSE inlay_cxx_files CONFIGURE_DEPENDS ${globs})

find_program(INLAY_CLANG_FORMAT NAMES clang-format-19 clang-format)
find_program(INLAY_RUN_CLANG_TIDY NAMES run-clang-tidy-19 run-clang-tidy)

# A target that runs a tool, or says that it is missing.
function(inlay_check name tool package)
  if(tool)
    add_custom_target(${name} COMMAND ${tool} ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM USES_TERMINAL)
  else()
    add_custom_target(${name} COMMAND ${CMAKE_COMMAND} -E echo "${name}: ${package} is not installed: scripts/setup --dev"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
endfunction()

inlay_check(check-format "${INLAY_CLANG_FORMAT}" clang-format-19 --dry-run --Werror ${inlay_cxx_files})
inlay_check(format "${INLAY_CLANG_FORMAT}" clang-format-19 -i ${inlay_cxx_files})
inlay_check(check-tidy "${INLAY_RUN_CLANG_TIDY}" clang-tidy-19
  -quiet -extra-arg=-Wno-unknown-warning-option -p "${PROJECT_BINARY_DIR}" "^${PROJECT_SOURCE_DIR}/(src|tools|python)/.*")
