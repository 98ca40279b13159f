# GRADUS_CUDA=SIM: the CUDA backend for simulated devices, by the host compiler alone
# (docs/simulator.md). Sets GRADUS_SIMULATED, and
# gradus_simulate(), which lets a target have .cu files.
include(CheckCXXSourceCompiles)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "GRADUS_CUDA=SIM needs GCC, for it sees the accesses of kernels through GCC's calls and options; "
                      "the compiler is ${CMAKE_CXX_COMPILER_ID}; configure with -DCMAKE_CXX_COMPILER=g++, or with "
                      "-DGRADUS_CUDA=OFF")
endif()
if(GRADUS_SANITIZE)
  message(FATAL_ERROR "GRADUS_CUDA=SIM looks at kernels through the sanitizers' hooks, and excludes "
                      "GRADUS_SANITIZE=${GRADUS_SANITIZE}; configure one of them with GRADUS_CUDA=OFF")
endif()
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("#include <backtrace.h>
  int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }"
  GRADUS_HAS_BACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT GRADUS_HAS_BACKTRACE)
  message(FATAL_ERROR "GRADUS_CUDA=SIM needs libbacktrace, which comes with GCC on Debian and Ubuntu, "
                      "to name lines; install it, or configure with -DGRADUS_CUDA=OFF")
endif()
find_program(GRADUS_READELF readelf REQUIRED)
find_program(GRADUS_OBJCOPY objcopy REQUIRED)
set(GRADUS_HAS_CUDA ON)
set(GRADUS_SIMULATED ON)

# -O1: the lines of a finding are those of the source text, and fewer accesses are optimised away. What -O1
# would still change before GCC looks for accesses to instrument is switched off:
#   tree-sra                    moves a float4 by four accesses of 4 bytes
#   tree-loop-im                takes a load out of its loop, past the condition that it stands behind
#   tree-sink, tree-cselim      move an access into a branch, or make one store, at no line, of two branches' two
#   ipa-reference-addressable   knows that shared memory which nobody writes is zero
# memcpy and its like are functions of the simulator (cuda/sim/include/sim/library.h), not the compiler's; assert() holds
# in kernels whatever the host's code is built for.
# -Wshadow takes the second `extern __shared__ T name[]` of a file for a shadow of the first.
set(GRADUS_KERNEL_OPTIONS -D__CUDACC__ -include cuda_runtime.h -O1 -g1
    -fno-tree-sra -fno-tree-loop-im -fno-tree-sink -fno-tree-cselim -fno-ipa-reference-addressable
    -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
    -fsanitize=bounds,alignment,shift-exponent,float-cast-overflow,integer-divide-by-zero
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-builtin-malloc -U_FORTIFY_SOURCE -UNDEBUG
    -fno-extern-tls-init -ffp-contract=off -Wno-unknown-pragmas -Wno-shadow)

function(gradus_simulate target)
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "[.]cu$")
  set_source_files_properties(${files} TARGET_DIRECTORY ${target} PROPERTIES
    LANGUAGE CXX COMPILE_OPTIONS "${GRADUS_KERNEL_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
  set(launcher ${PROJECT_SOURCE_DIR}/cuda/sim/compile ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
endfunction()
