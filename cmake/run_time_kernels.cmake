# What cuda/rtc must know to compile kernels at run time: where the compiler and its headers are.
if(GRADUS_SIMULATED)
  set(compiler ${PROJECT_SOURCE_DIR}/cuda/rtc/simulated.cpp)
  set(definitions
    GRADUS_SIM_COMPILER="${CMAKE_CXX_COMPILER}"
    GRADUS_SIM_COMPILER_VERSION="${CMAKE_CXX_COMPILER_VERSION}"
    GRADUS_SIM_SOURCE="${PROJECT_SOURCE_DIR}/cuda/sim"
    GRADUS_SIM_BUILD_INCLUDE="${PROJECT_BINARY_DIR}/include"
    GRADUS_SIM_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/cmake/gradus_sim"
    GRADUS_SIM_INSTALLED_INCLUDE="${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  set(compiler ${PROJECT_SOURCE_DIR}/cuda/rtc/nvrtc.cpp)
  list(GET CUDAToolkit_INCLUDE_DIRS 0 include)
  set(definitions
    GRADUS_CUDA_MAJOR="${CUDAToolkit_VERSION_MAJOR}"
    GRADUS_CUDA_LIBRARIES="${CUDAToolkit_LIBRARY_DIR}"
    GRADUS_CUDA_INCLUDE="${include}")
endif()
set_source_files_properties(${compiler} PROPERTIES COMPILE_DEFINITIONS "${definitions}" SKIP_PRECOMPILE_HEADERS ON)
gradus_each(target_link_libraries PRIVATE ${CMAKE_DL_LIBS})
