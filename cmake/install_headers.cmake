# Run by `cmake --install`: include/inlay/*.h, and of src/ exactly the headers that they stand on.
#
# In the repository those are "ir/graph.h" and the like. On a user's include path such names are the user's, so an
# install has them as "inlay/parts/ir/graph.h", and every #include says so.
#
#   SOURCE: the repository; INCLUDE_DIR: where headers go
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)
file(GLOB waiting RELATIVE "${SOURCE}/include" "${SOURCE}/include/inlay/*.h")
set(done)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done "${header}")

  if(header MATCHES "^inlay/")
    set(from "${SOURCE}/include/${header}")
    set(to "${INCLUDE_DIR}/${header}")
  else()
    set(from "${SOURCE}/src/${header}")
    set(to "${INCLUDE_DIR}/inlay/parts/${header}")
  endif()
  file(READ "${from}" text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
  list(TRANSFORM includes REPLACE "#include \"([^\"]+)\"" "\\1")
  list(APPEND waiting ${includes})
  string(REPLACE "#include \"" "#include \"inlay/parts/" text "${text}")
  string(REPLACE "#include \"inlay/parts/inlay/" "#include \"inlay/" text "${text}")
  file(WRITE "${to}" "${text}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${to}")
endwhile()
list(LENGTH done count)
message(STATUS "Installed ${count} headers: ${INCLUDE_DIR}/inlay")
cmake_policy(POP)
