# The target `format` reformats all C and C++ of the repository. scripts/check tidy says what it would change.
find_program(INLAY_CLANG_FORMAT NAMES clang-format-19)
if(INLAY_CLANG_FORMAT)
  add_custom_target(format COMMAND sh -c "git ls-files '*.h' '*.cpp' '*.c' | xargs '${INLAY_CLANG_FORMAT}' -i"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
endif()
