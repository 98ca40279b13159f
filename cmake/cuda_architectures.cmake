# Which GPUs the kernels are compiled for, and which files have kernels for Hopper alone.

# They run on every chip of compute capability 7.5 to 9.x: a binary runs on all chips of its major version from its minor
# version on, so that of 8.0 serves 8.6, 8.7 and 8.9. Later chips compile the PTX of 9.0.
set(GRADUS_CUDA_ARCHITECTURES 75-real 80-real 90)

# Sets `out` to what CMAKE_CUDA_ARCHITECTURES stands for, without the words `native`, `all` and `all-major`.
function(gradus_cuda_architectures out)
  set(names ${CMAKE_CUDA_ARCHITECTURES})
  if(names STREQUAL "native")
    set(names ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    list(FILTER names INCLUDE REGEX "^[0-9]")  # where there is no GPU, CMake 4 has a sentence here
    if(NOT names)
      set(names ${GRADUS_CUDA_ARCHITECTURES})
      message(STATUS "CMAKE_CUDA_ARCHITECTURES is native, and no GPU answers; compiling for ${names}")
    endif()
  elseif(names MATCHES "^all(-major)?$")
    # CMake's own lists are older than nvcc.
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[0-9]+" numbers "${listed}")
    list(SORT numbers COMPARE NATURAL)
    list(GET numbers 0 first)
    list(GET numbers -1 last)
    if(names STREQUAL "all-major")
      list(FILTER numbers INCLUDE REGEX "^${first}$|0$")
    endif()
    list(TRANSFORM numbers APPEND -real OUTPUT_VARIABLE names)
    list(APPEND names ${last}-virtual)
  endif()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Compiles those of `files` whose kernels use wgmma or clusters for compute capability 9.0a, too, where
# CMAKE_CUDA_ARCHITECTURES has any form of 90; only 9.0a has wgmma.
function(gradus_compile_for_hopper files)
  if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)90")
    return()
  endif()
  set(options -DGRADUS_HOPPER)
  if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)90a")
    list(PREPEND options --generate-code=arch=compute_90a,code=sm_90a)
  endif()
  list(FILTER files INCLUDE REGEX "(wgmma|clusters)[.]cu$")
  set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS ${options})
endfunction()
