# find_package(gradus_sim), and find_package(gradus) where Gradus was built on simulated devices: gradus::sim and
# gradus_simulate().
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(gradus_sim_FOUND OFF)
  set(gradus_sim_NOT_FOUND_MESSAGE "the simulator needs GCC; configure with -DCMAKE_CXX_COMPILER=g++")
  return()
endif()
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/gradus_sim-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/simulate.cmake)
