# The library. A new source file needs no line here.
set(folders tensor cpu autograd nn optim data serialize watch distributed)
list(TRANSFORM folders REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
list(FILTER sources EXCLUDE REGEX "/distributed/(mpi|nccl)/|/data/digits/|/cpu/simd/|/data/readers/pictures/")
include(cmake/instruction_sets.cmake)  # gradus_simd_sources
foreach(backend mpi nccl)
  string(TOUPPER ${backend} name)
  if(GRADUS_HAS_${name})
    file(GLOB backend_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/distributed/${backend}/*.cpp)
    list(REMOVE_ITEM backend_sources ${PROJECT_SOURCE_DIR}/distributed/${backend}/absent.cpp)
  else()
    set(backend_sources ${PROJECT_SOURCE_DIR}/distributed/${backend}/absent.cpp)
  endif()
  list(APPEND sources ${backend_sources})
endforeach()
foreach(format png jpeg)
  string(TOUPPER ${format} name)
  set(absent no_)
  if(GRADUS_HAS_${name})
    set(absent)
  endif()
  list(APPEND sources ${PROJECT_SOURCE_DIR}/data/readers/pictures/${absent}${format}.cpp)
endforeach()
# The page of watch::Dashboard becomes a text of the library.
set(page ${PROJECT_SOURCE_DIR}/watch/dashboard/page.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(READ ${page} page)
file(CONFIGURE OUTPUT dashboard_page.cpp CONTENT "#include \"gradus/watch/dashboard/page.h\"
namespace gradus::watch::detail {
const char* const kDashboardPage = R\"html(${page})html\";
}  // namespace gradus::watch::detail
" @ONLY)
list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/dashboard_page.cpp)
list(APPEND sources ${PROJECT_SOURCE_DIR}/version.cpp)
if(GRADUS_HAS_CUDA)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/*.cu ${PROJECT_SOURCE_DIR}/cuda/*.cpp)
  list(REMOVE_ITEM cuda_sources ${PROJECT_SOURCE_DIR}/cuda/stub.cpp)
  list(FILTER cuda_sources EXCLUDE REGEX "/cuda/sim/")  # a project of its own
  # First what takes longest to compile, so that nobody waits for it alone in the end.
  set(pointwise ${cuda_sources})
  list(FILTER pointwise INCLUDE REGEX "/ops/pointwise/")
  list(REMOVE_ITEM cuda_sources ${pointwise})
  if(GRADUS_SIMULATED)  # where the headers of such a part take longer than its kernels
    foreach(table map zip)
      set(parts ${pointwise})
      list(FILTER parts INCLUDE REGEX "/${table}_[a-z_]+[.]cu$")
      list(REMOVE_ITEM pointwise ${parts})
      list(TRANSFORM parts REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN parts "" parts)
      file(CONFIGURE OUTPUT pointwise/${table}.cu CONTENT "${parts}" @ONLY)
      list(APPEND pointwise ${CMAKE_CURRENT_BINARY_DIR}/pointwise/${table}.cu)
    endforeach()
  endif()
  list(PREPEND sources ${pointwise})
else()
  set(cuda_sources ${PROJECT_SOURCE_DIR}/cuda/stub.cpp ${PROJECT_SOURCE_DIR}/cuda/nvtx.cpp ${PROJECT_SOURCE_DIR}/cuda/rtc/source.cpp)
endif()
# A build from scratch (CMAKE_UNITY_BUILD) keeps -O3 for loops: the other sources compile in three quarters of the time at
# -O2, and a call costs more then. At -O1 they take three quarters of that again, as layers and what is above them do.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
  if(GRADUS_TESTS STREQUAL "QUICK")
    string(REPLACE -O3 -O1 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  else()
    string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
    set(release_calls $<$<CONFIG:Release>:-O1>)
  endif()
  set(release_loops $<$<CONFIG:Release>:-O3>)
endif()
include(cmake/show_config.cmake)
# The library is three sets of objects. A program of the build tree that links gradus_core and gradus_layers leaves unbuilt what a
# model on one device does not need.
set(extras autograd/ops/spectral autograd/tools data/loader data/transforms distributed nn/parallel watch/metrics watch/profiler
    watch/tensorboard)
set(layers data nn optim serialize watch)
list(FILTER sources EXCLUDE REGEX "/autograd/tools/function[.]cpp$")
foreach(part extras layers)
  list(TRANSFORM ${part} REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE taken CONFIGURE_DEPENDS ${patterns})
  set(${part}_sources ${sources})
  list(REMOVE_ITEM sources ${taken})
  list(REMOVE_ITEM ${part}_sources ${sources})
endforeach()
list(APPEND sources ${PROJECT_SOURCE_DIR}/autograd/tools/function.cpp)  # layers use it
add_library(gradus_core OBJECT ${sources} ${gradus_simd_sources} ${cuda_sources})
add_library(gradus_layers OBJECT ${layers_sources})
add_library(gradus_extras OBJECT ${extras_sources})
add_library(gradus $<TARGET_OBJECTS:gradus_core> $<TARGET_OBJECTS:gradus_layers> $<TARGET_OBJECTS:gradus_extras>)
add_library(gradus::gradus ALIAS gradus)
# gradus_each(COMMAND ARGUMENT...): for the library and for its objects, whose users compile and link alike.
function(gradus_each command)
  foreach(target gradus gradus_core gradus_layers gradus_extras)
    cmake_language(CALL ${command} ${target} ${ARGN})
  endforeach()
endfunction()
target_precompile_headers(gradus_core PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.h>)
foreach(part gradus_layers gradus_extras)
  target_precompile_headers(${part} REUSE_FROM gradus_core)
  target_compile_options(${part} PRIVATE ${release_calls})
endforeach()
# Sources with options of their own cannot take the common precompiled header.
file(GLOB own_options ${PROJECT_SOURCE_DIR}/distributed/nccl/*.cpp ${PROJECT_SOURCE_DIR}/distributed/mpi/*.cpp)
set_source_files_properties(${own_options} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
# With CMAKE_UNITY_BUILD=ON the other sources of a folder are compiled as one, which makes a build from scratch shorter.
# Names in their anonymous namespaces are distinct within a folder.
set_target_properties(gradus_core gradus_layers gradus_extras PROPERTIES UNITY_BUILD_MODE GROUP)
foreach(source IN LISTS sources layers_sources extras_sources gradus_simd_sources cuda_sources)
  if(source MATCHES "/cpu/(convolution|ops|simd|matmul|walk)/")
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${release_loops})
    # GCC 12 crashes where a source at -O3 takes a header that was precompiled at -O1.
    if(GRADUS_TESTS STREQUAL "QUICK")
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  elseif(NOT source MATCHES "[.]cu$")
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endif()
endforeach()

# Sources include "gradus/tensor/tensor.h", and so do consumers: the build tree holds a folder
# `gradus` with a link to each public folder of the source tree, as an installation does.
set(GRADUS_FOLDERS gradus.h version.h tensor autograd nn optim data serialize watch distributed cuda compat cpu)
# Public are gradus.h, nn/named_class.h, the headers of compat/, these of cuda/, which name no CUDA type, and what they
# include. All others are internal: they are not installed, and may change with any version.
set(GRADUS_PUBLIC_CUDA cuda.h device_status.h graphed.h nvtx.h runtime/device.h runtime/generator.h runtime/stream.h runtime/event.h
    runtime/allocator.h runtime/graph.h runtime/stats.h runtime/peer.h runtime/pinned.h runtime/piece_streams.h ops/matmul.h ops/convolution.h ops/add_part.h
    rtc/source.h rtc/program.h rtc/argument.h rtc/core_kernel.h rtc/raw_kernel.h rtc/elementwise_kernel.h rtc/reduction_kernel.h)
# Adds a header and what it includes to GRADUS_PUBLIC_HEADERS, where it is not there yet.
function(gradus_publish header)
  get_property(known GLOBAL PROPERTY GRADUS_PUBLIC_HEADERS)
  if(header IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY GRADUS_PUBLIC_HEADERS ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"gradus/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"gradus/([^\"]*).*" "\\1" included "${line}")
    gradus_publish(${included})
  endforeach()
endfunction()
file(GLOB_RECURSE roots RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/compat/*.h)
list(TRANSFORM GRADUS_PUBLIC_CUDA PREPEND cuda/ OUTPUT_VARIABLE cuda_roots)
foreach(header gradus.h version.h nn/named_class.h ${roots} ${cuda_roots})
  gradus_publish(${header})
endforeach()
set(GRADUS_INCLUDE ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${GRADUS_INCLUDE}/gradus)
foreach(part ${GRADUS_FOLDERS})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${part} ${GRADUS_INCLUDE}/gradus/${part} SYMBOLIC)
endforeach()

gradus_each(target_include_directories PUBLIC $<BUILD_INTERFACE:${GRADUS_INCLUDE}>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
gradus_each(target_compile_features PUBLIC cxx_std_20)
set_target_properties(gradus gradus_core gradus_layers gradus_extras PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
set_target_properties(gradus PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH_USE_LINK_PATH ON)
gradus_each(target_link_libraries PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB)
foreach(format PNG JPEG)
  if(GRADUS_HAS_${format})
    gradus_each(target_link_libraries PRIVATE ${format}::${format})
  endif()
endforeach()
gradus_each(target_include_directories SYSTEM PRIVATE ${NLOHMANN_JSON_INCLUDE_DIR})  # headers alone
# Its threads never end: the library stays when a plugin that uses it is unloaded.
get_target_property(gradus_type gradus TYPE)
if(gradus_type STREQUAL "SHARED_LIBRARY")
  # Its own functions call each other directly: no program replaces one. Some compilers have libstdc++ as an archive alone:
  # its locales would take those of another libstdc++ in the process, such as NumPy's, for their own.
  target_link_options(gradus PRIVATE LINKER:-z,nodelete LINKER:-Bsymbolic-functions LINKER:--exclude-libs,libstdc++.a)
else()
  target_link_options(gradus INTERFACE LINKER:-z,nodelete)
endif()

# For programs that say #include <torch/torch.h> and torch::
include(cmake/compat.cmake)  # GRADUS_COMPAT_INCLUDE
add_library(gradus_compat INTERFACE)
add_library(gradus::compat ALIAS gradus_compat)
set_target_properties(gradus_compat PROPERTIES EXPORT_NAME compat)
target_include_directories(gradus_compat INTERFACE
  "$<BUILD_INTERFACE:${GRADUS_INCLUDE}/gradus/compat;${GRADUS_COMPAT_INCLUDE}>"
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gradus/compat>)
target_link_libraries(gradus_compat INTERFACE gradus)

add_library(gradus_warnings INTERFACE)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wdouble-promotion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC sees overlaps and sizes of 2^63 bytes in "text" + std::string(), and GCC 13 unset members of variants.
  list(APPEND warnings -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND warnings -Wno-maybe-uninitialized)
  endif()
endif()
target_compile_options(gradus_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(GRADUS_WERROR)
  target_compile_options(gradus_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
if(GRADUS_SANITIZE)
  # PUBLIC: what links a sanitized library must be sanitized too.
  gradus_each(target_compile_options PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GRADUS_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  gradus_each(target_link_options PUBLIC -fsanitize=${GRADUS_SANITIZE})
endif()
gradus_each(target_link_libraries PRIVATE $<BUILD_INTERFACE:gradus_warnings>)
# Nobody reads errno after sqrt, and without it loops of sqrt become vector code. No program replaces a function of the
# library, so that GCC may inline one into another of its source, as Clang does.
# `#pragma omp simd` asks for vector code. Threads are the library's own (cpu/parallel.cpp).
gradus_each(target_compile_options PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)

if(GRADUS_HAS_BLAS)
  # Loaded at run time, and only where it is used.
  set(blas_sources cpu/openblas.cpp cpu/matmul/blas.cpp cpu/ops/factorize.cpp)
  list(TRANSFORM blas_sources PREPEND ${PROJECT_SOURCE_DIR}/)
  set_source_files_properties(${blas_sources} PROPERTIES
    COMPILE_OPTIONS "-isystem;${OpenBLAS_INCLUDE_DIR}" SKIP_PRECOMPILE_HEADERS ON
    COMPILE_DEFINITIONS GRADUS_BLAS="${OpenBLAS_LIBRARY}")
  gradus_each(target_link_libraries PRIVATE ${CMAKE_DL_LIBS})
endif()
# Only the backends know these libraries.
if(GRADUS_HAS_NCCL)
  file(GLOB backend_sources ${PROJECT_SOURCE_DIR}/distributed/nccl/*.cpp)
  set_source_files_properties(${backend_sources} PROPERTIES
                              COMPILE_OPTIONS "-isystem;${NCCL_INCLUDE_DIR}")
  gradus_each(target_link_libraries PRIVATE ${NCCL_LIBRARY})
endif()
if(GRADUS_HAS_MPI)
  file(GLOB backend_sources ${PROJECT_SOURCE_DIR}/distributed/mpi/*.cpp)
  list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND "-isystem;" OUTPUT_VARIABLE mpi_options)
  set_source_files_properties(${backend_sources} PROPERTIES
    COMPILE_OPTIONS "${mpi_options};-DOMPI_SKIP_MPICXX;-DMPICH_SKIP_MPICXX")
  gradus_each(target_link_libraries PRIVATE $<LINK_ONLY:MPI::MPI_CXX>)
endif()
if(GRADUS_HAS_CUDA)
  include(cmake/run_time_kernels.cmake)
endif()
if(GRADUS_SIMULATED)
  add_subdirectory(cuda/sim)
  target_link_libraries(gradus_sim PRIVATE $<BUILD_INTERFACE:gradus_warnings>)
  gradus_each(target_link_libraries PUBLIC gradus::sim)
  set_target_properties(gradus PROPERTIES INSTALL_RPATH $ORIGIN)
  gradus_simulate(gradus_core)
  gradus_compile_for_hopper("${cuda_sources}")
  # Without these checks the largest files compile in about half the time. The accesses themselves show the simulator
  # alignments up to 8 bytes, and load_vector (cuda/kernels/vector.cuh) checks wider ones. A kernel that stores a call's
  # result of class type directly needs the option: without it GCC does not instrument that store. These files have none.
  set(unaligned map.cu map_grad.cu zip.cu ternary.cu)
  list(TRANSFORM unaligned PREPEND ${PROJECT_SOURCE_DIR}/cuda/ops/)
  list(APPEND unaligned ${pointwise})
  if(GRADUS_TESTS STREQUAL "QUICK")
    set(unaligned ${cuda_sources})
    list(FILTER unaligned INCLUDE REGEX "[.]cu$")
    list(APPEND unaligned ${pointwise})
    list(FILTER unaligned EXCLUDE REGEX "/(counts|fill|random)[.]cu$")  # which store halves so
  endif()
  list(FILTER unaligned EXCLUDE REGEX "/ops/complex/")  # whose kernels store complex numbers
  set_property(SOURCE ${unaligned} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=alignment)
elseif(GRADUS_HAS_CUDA)
  # CMake 3.25 knows no C++20 for nvcc 13, so the standard is given as a plain option.
  set(GRADUS_CUDA_OPTIONS -std=c++20)
  if(NOT GRADUS_SMALL_KERNELS)
    list(APPEND GRADUS_CUDA_OPTIONS -lineinfo)
  elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND GRADUS_CUDA_OPTIONS --compress-mode=size)
  endif()
  # A file has hundreds of kernels, which ptxas else optimizes one after the other.
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND GRADUS_CUDA_OPTIONS --split-compile=0)
  endif()
  target_compile_options(gradus_core PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${GRADUS_CUDA_OPTIONS}>)
  gradus_compile_for_hopper("${cuda_sources}")
  # Those that open cuBLAS, which is of the toolkit's version.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/cuda/ops/cublas.cpp ${PROJECT_SOURCE_DIR}/cuda/ops/cublas_lt.cpp
    PROPERTIES COMPILE_DEFINITIONS GRADUS_CUDA_MAJOR="${CUDAToolkit_VERSION_MAJOR}" SKIP_PRECOMPILE_HEADERS ON)
  string(REPLACE Shared cudart runtime "${CMAKE_CUDA_RUNTIME_LIBRARY}")
  string(REPLACE Static cudart_static runtime "${runtime}")
  gradus_each(target_link_libraries PRIVATE CUDA::${runtime})
  # Where cuBLAS and others lie that are opened by name.
  set_property(TARGET gradus APPEND PROPERTY BUILD_RPATH ${CUDAToolkit_LIBRARY_DIR})
  set_property(TARGET gradus APPEND PROPERTY INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR})
endif()
