# gradus_simulate(target) lets a target that links gradus::sim have .cu files.

# The options of kernels stand in a file that g++ takes as @kernel.options, too.
# -O1: the lines of a finding are those of the source text, and fewer accesses are optimised away. What -O1
# would still change before GCC looks for accesses to instrument is switched off:
#   tree-sra                    moves a float4 by four accesses of 4 bytes
#   tree-loop-im                takes a load out of its loop, past the condition that it stands behind
#   tree-sink, tree-cselim      move an access into a branch, or make one store, at no line, of two branches' two
#   ipa-reference-addressable   knows that shared memory which nobody writes is zero
#   thread-jumps                makes two calls of a barrier, one for those that come from each side of a branch
# memcpy and its like are functions of the simulator (include/sim/library.h), not the compiler's; assert() holds
# in kernels whatever the host's code is built for.
# -Wshadow takes the second `extern __shared__ T name[]` of a file for a shadow of the first.
file(READ ${CMAKE_CURRENT_LIST_DIR}/kernel.options GRADUS_KERNEL_OPTIONS)
separate_arguments(GRADUS_KERNEL_OPTIONS UNIX_COMMAND "${GRADUS_KERNEL_OPTIONS}")
set(GRADUS_KERNEL_OPTIONS ${GRADUS_KERNEL_OPTIONS} CACHE INTERNAL "How the simulator compiles .cu files")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/kernel.options)

function(gradus_simulate target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "gradus_simulate(${target}): kernels for the simulator need GCC, and the compiler is "
                        "${CMAKE_CXX_COMPILER_ID}; configure with -DCMAKE_CXX_COMPILER=g++")
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "[.]cu$")
  set_source_files_properties(${files} TARGET_DIRECTORY ${target} PROPERTIES
    LANGUAGE CXX COMPILE_OPTIONS "${GRADUS_KERNEL_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
  set(launcher ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
endfunction()
