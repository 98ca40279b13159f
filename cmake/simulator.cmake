# GRADUS_CUDA=SIM: the CUDA backend for simulated devices, by the host compiler alone (docs/simulator.md). cuda/sim is a
# project of its own, which cmake/library.cmake adds: gradus::sim, and gradus_simulate(), which lets a target have .cu files.
if(GRADUS_SANITIZE)
  message(FATAL_ERROR "GRADUS_CUDA=SIM looks at kernels through the sanitizers' hooks, and excludes "
                      "GRADUS_SANITIZE=${GRADUS_SANITIZE}; configure one of them with GRADUS_CUDA=OFF")
endif()
set(GRADUS_HAS_CUDA ON)
set(GRADUS_SIMULATED ON)
set(CMAKE_CUDA_ARCHITECTURES 90a)  # what simulated devices are
