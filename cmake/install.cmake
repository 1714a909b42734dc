# cmake --install: the tool, the code generator, the headers and static libraries, and a package for find_package(inlay).
# `--component cpp` leaves out the tool. (The Python module is installed as a wheel.)
include(CMakePackageConfigHelpers)

set(INLAY_PACKAGE_DIR lib/cmake/inlay)

install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")
set(INCLUDE_DIR \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/include\")
include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")" COMPONENT cpp)

foreach(folder IN LISTS folders)
  string(REPLACE "/" "_" stem "${folder}")
  if(folder MATCHES "^oracle/")
    continue()  # for tests
  endif()
  install(TARGETS inlay_${stem} EXPORT inlayTargets ARCHIVE DESTINATION lib COMPONENT cpp)
endforeach()
install(EXPORT inlayTargets NAMESPACE inlay:: DESTINATION ${INLAY_PACKAGE_DIR} COMPONENT cpp)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/inlayConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/inlayConfig.cmake" INSTALL_DESTINATION ${INLAY_PACKAGE_DIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/inlayConfig.cmake" "${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/inlay_add_function.cmake" DESTINATION ${INLAY_PACKAGE_DIR} COMPONENT cpp)
