# cmake --install: the tool, the code generator, the headers and static libraries, and a package for find_package(inlay).
# `--component cpp` leaves out the tool and the Python module.
include(CMakePackageConfigHelpers)

set(INLAY_PACKAGE_DIR lib/cmake/inlay)

# include/inlay/*.h stand on the headers of these folders of src/, which keep their names below a folder of their own.
set(INLAY_PARTS_DIR include/inlay/parts)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/inlay" DESTINATION include COMPONENT cpp)
foreach(folder support ops ir)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/${folder}" DESTINATION ${INLAY_PARTS_DIR} COMPONENT cpp
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
endforeach()

foreach(folder IN LISTS folders)
  string(REPLACE "/" "_" stem "${folder}")
  if(stem STREQUAL "reference")
    continue()  # an oracle, for tests
  endif()
  install(TARGETS inlay_${stem} EXPORT inlayTargets ARCHIVE DESTINATION lib COMPONENT cpp)
endforeach()
install(EXPORT inlayTargets NAMESPACE inlay:: DESTINATION ${INLAY_PACKAGE_DIR} COMPONENT cpp)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/inlayConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/inlayConfig.cmake" INSTALL_DESTINATION ${INLAY_PACKAGE_DIR} PATH_VARS INLAY_PARTS_DIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/inlayConfig.cmake" "${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake"
  DESTINATION ${INLAY_PACKAGE_DIR} COMPONENT cpp)
