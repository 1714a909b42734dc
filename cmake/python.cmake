# inlay_find_python(): Python and NumPy headers (Python::Module, Python::NumPy) and nanobind_add_module, for INLAY_PYTHON.
#
# A macro: nanobind's functions look for variables of their caller.
macro(inlay_find_python)
  set(Python_EXECUTABLE "${INLAY_PYTHON}")
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
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
