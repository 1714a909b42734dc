# inlay_find_python(): Python and NumPy headers (Python::Module, Python::NumPy) and nanobind_add_module, for INLAY_PYTHON.
# With INLAY_STABLE_ABI also Python::SABIModule. nanobind leaves the stable ABI out without a word where that is missing,
# and the wheel would say cp312-abi3 of a module that only one Python loads: so it is required here.
#
# A macro: nanobind's functions look for variables of their caller.
macro(inlay_find_python)
  set(Python_EXECUTABLE "${INLAY_PYTHON}")
  set(_inlay_python_parts Interpreter Development.Module NumPy)
  if(INLAY_STABLE_ABI AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
    list(APPEND _inlay_python_parts Development.SABIModule)
  endif()
  find_package(Python 3.11 REQUIRED COMPONENTS ${_inlay_python_parts})
  if(INLAY_STABLE_ABI)
    if(Python_VERSION VERSION_LESS 3.12)
      message(FATAL_ERROR "INLAY_STABLE_ABI needs Python 3.12 or later, not ${Python_VERSION}: nanobind's begins there")
    endif()
    # The FindPython of CMake 3.25 (Debian 12) does not know it. Under Linux it is Development.Module by another name:
    # the same headers and no library.
    if(NOT TARGET Python::SABIModule AND CMAKE_VERSION VERSION_LESS 3.26 AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
      add_library(Python::SABIModule INTERFACE IMPORTED)
      set_target_properties(Python::SABIModule PROPERTIES INTERFACE_LINK_LIBRARIES Python::Module)
    endif()
    if(NOT TARGET Python::SABIModule)
      message(FATAL_ERROR "INLAY_STABLE_ABI: ${INLAY_PYTHON} has no Python::SABIModule; python3-dev has its headers")
    endif()
  endif()
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED NO_CMAKE_FIND_ROOT_PATH)  # no library of the target
endmacro()

# Where an extension module belongs: beside the package's Python files, so that python/ alone on sys.path is the whole
# package, and modules of several Python versions stand there side by side (their names differ). There its run path leads
# to libinlay_jit.so in the build folder; a wheel has both in one folder, and is what an install of the module is for.
function(inlay_place_extension target)
  if(SKBUILD)
    install(TARGETS ${target} LIBRARY DESTINATION inlay)
    return()
  endif()
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_SOURCE_DIR}/python/inlay"
    BUILD_RPATH "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endfunction()
