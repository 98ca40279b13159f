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

foreach(part ${GRADUS_PUBLIC})
  if(part STREQUAL "cuda")
    foreach(header ${GRADUS_PUBLIC_CUDA})
      cmake_path(GET header PARENT_PATH folder)
      install(FILES ${PROJECT_SOURCE_DIR}/cuda/${header} DESTINATION ${include_dir}/cuda/${folder})
    endforeach()
  elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${part})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part} DESTINATION ${include_dir}
            FILES_MATCHING PATTERN *.h PATTERN *.def
            PATTERN distributed/mpi EXCLUDE PATTERN distributed/nccl EXCLUDE
            PATTERN distributed/net EXCLUDE)
  else()
    install(FILES ${PROJECT_SOURCE_DIR}/${part} DESTINATION ${include_dir})
  endif()
endforeach()
install(DIRECTORY ${GRADUS_COMPAT_INCLUDE}/ DESTINATION ${include_dir}/compat)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/digits DESTINATION ${data_dir}
  PATTERN *.py EXCLUDE)
