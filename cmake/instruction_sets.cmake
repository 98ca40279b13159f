# The instruction sets that every source of cpu/simd is compiled for, once for each: the bytes of a vector, and what the
# compiler may use beyond what all processors of the architecture have. A processor of one set runs those before it, too;
# cpu/instruction_set.cpp finds out. GRADUS_CPU_SETS leaves some out.
set(GRADUS_SETS baseline)
set(baseline_vector 16)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND GRADUS_SETS avx2 avx512)
  set(avx2_vector 32)
  set(avx2_features "avx2,fma,f16c")
  set(avx512_vector 64)
  set(avx512_features "avx512f,avx512dq,avx512bw,avx512vl,fma,f16c")
endif()
if(GRADUS_CPU_SETS)
  set(known ${GRADUS_SETS})
  list(TRANSFORM GRADUS_CPU_SETS REPLACE "(.+)" "^\\1$" OUTPUT_VARIABLE wanted)
  list(JOIN wanted "|" wanted)
  list(FILTER GRADUS_SETS INCLUDE REGEX "${wanted}")
  if(NOT GRADUS_SETS)
    message(FATAL_ERROR "GRADUS_CPU_SETS is '${GRADUS_CPU_SETS}'; expected some of: ${known}")
  endif()
endif()

# Products and sums are fused where the source says so, and nowhere by chance, but in the kernels of matrix products.
# Nobody reads floating point exceptions, so that both sides of a condition may be computed. Integers wrap around. GCC
# would make a chain of conditions into copies of what follows them.
set(loop_options
    "-ffp-contract=off;-fno-trapping-math;-fwrapv;$<IF:$<CXX_COMPILER_ID:GNU>,-fno-thread-jumps,-Wno-pass-failed>")

# gradus_simd_sources: for each set and each source of cpu/simd, a source that includes it. <gradus_sets.def> names the
# sets. The first one has every loop; the others lack what wider vectors do not speed up.
set(gradus_simd_sources)
set(names "// The instruction sets of this build. Made by cmake/instruction_sets.cmake.\n")
set(complete true)
file(GLOB simd_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cpu/simd/*.cpp)
foreach(set IN LISTS GRADUS_SETS)
  string(APPEND names "SET(${set})\n")
  set(defines "#define GRADUS_SET ${set}\n#define GRADUS_VECTOR ${${set}_vector}\n#define GRADUS_COMPLETE ${complete}\n")
  if(DEFINED ${set}_features)
    string(APPEND defines "#define GRADUS_FEATURES \"${${set}_features}\"\n")
  endif()
  foreach(source IN LISTS simd_sources)
    cmake_path(GET source STEM name)
    set(made ${PROJECT_BINARY_DIR}/cpu/simd/${name}_${set}.cpp)
    file(CONFIGURE OUTPUT ${made} CONTENT "${defines}#include \"gradus/cpu/simd/${name}.cpp\"\n")
    set_source_files_properties(${made} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    if(name MATCHES "^(loops|folds|softmax_loops|draws)$")
      set_source_files_properties(${made} PROPERTIES COMPILE_OPTIONS "${loop_options}")
    endif()
    list(APPEND gradus_simd_sources ${made})
  endforeach()
  set(complete false)
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/gradus_sets.def CONTENT "${names}#undef SET\n")
