# find_package(gradus_sim), and find_package(gradus) where Gradus was built on simulated devices: gradus::sim and
# gradus_simulate().
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/gradus_sim-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/simulate.cmake)
