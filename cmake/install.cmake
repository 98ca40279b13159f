# cmake --install lays the library down so that find_package(gradus) finds it.
include(CMakePackageConfigHelpers)
get_target_property(GRADUS_TYPE gradus TYPE)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gradus)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/gradus)
set(data_dir ${CMAKE_INSTALL_DATADIR}/gradus/data)

install(TARGETS gradus gradus_compat EXPORT gradus)
install(EXPORT gradus NAMESPACE gradus:: FILE gradus-targets.cmake DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gradus-config.cmake.in
  ${PROJECT_BINARY_DIR}/gradus-config.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS data_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gradus-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gradus-config.cmake
  ${PROJECT_BINARY_DIR}/gradus-config-version.cmake
  DESTINATION ${package_dir})

get_property(headers GLOBAL PROPERTY GRADUS_PUBLIC_HEADERS)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${include_dir}/${folder})
endforeach()
install(DIRECTORY ${GRADUS_COMPAT_INCLUDE}/ DESTINATION ${include_dir}/compat)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/digits ${PROJECT_SOURCE_DIR}/data/cars DESTINATION ${data_dir}
  PATTERN *.py EXCLUDE)
