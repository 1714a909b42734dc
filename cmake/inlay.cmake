# A folder is a static library; its link line is the architecture.
#
# The headers of src/ir are included as "ir/graph.h". Were src/ itself on the include path, every folder could include
# every other. So each library gets an include directory of its own that holds one link, <build>/include/ir/ir -> src/ir,
# and a folder sees the headers of what it links, and no others.

# ir -> inlay_ir, backend/llvm -> inlay_backend_llvm; a name that is no folder of src/ is a target and stays as it is.
function(_inlay_targets out)
  set(targets)
  foreach(name IN LISTS ARGN)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/src/${name}")
      string(REPLACE "/" "_" stem "${name}")
      list(APPEND targets "inlay_${stem}")
    else()
      list(APPEND targets "${name}")
    endif()
  endforeach()
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# The directory whose only entry is a link to `folder`, under the name that its headers are included by.
function(_inlay_include_dir out folder)
  string(REPLACE "/" "_" stem "${folder}")
  set(root "${PROJECT_BINARY_DIR}/include/${stem}")
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY "${root}/${parent}")
  if(NOT EXISTS "${root}/${folder}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${folder}" "${root}/${folder}" SYMBOLIC)
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# inlay_library(<folder> [LINKS <folders or targets>...] [SOURCES <files>...] [TEST_LINKS <folders or targets>...]
#               [TEST_LABELS <labels>...])
#
# The library inlay_<folder> of every *.cpp here but *_test.cpp (or of SOURCES), and one test program <folder>_test of
# every *_test.cpp. The label `threads` is for what scripts/check runs with ThreadSanitizer.
function(inlay_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS;SOURCES;TEST_LINKS;TEST_LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "inlay_library(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  set(sources ${arg_SOURCES})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  endif()

  string(REPLACE "/" "_" stem "${folder}")
  _inlay_targets(links ${arg_LINKS})
  _inlay_include_dir(include_dir "${folder}")
  add_library(inlay_${stem} STATIC ${sources})
  # include/inlay/ is the product: what it says belongs to everyone.
  target_include_directories(inlay_${stem} PUBLIC "$<BUILD_INTERFACE:${include_dir};${PROJECT_SOURCE_DIR}/include>")
  target_link_libraries(inlay_${stem} PUBLIC ${links})

  if(INLAY_TESTS AND tests)
    _inlay_targets(test_links ${arg_TEST_LINKS})
    inlay_test(${stem}_test SOURCES ${tests} LINKS inlay_${stem} ${test_links} LABELS ${arg_TEST_LABELS})
  endif()
endfunction()

# inlay_test(<name> SOURCES <files>... [LINKS <folders or targets>...] [LABELS <labels>...]): a GoogleTest program, one
# test of CTest.
function(inlay_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;LABELS")
  if(NOT INLAY_TESTS)
    return()
  endif()
  _inlay_targets(links ${arg_LINKS})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${links} GTest::gmock_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "gtest;${arg_LABELS}" TIMEOUT ${INLAY_TEST_SECONDS})
endfunction()
