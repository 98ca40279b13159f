# gradus_precompile(TARGET HEADER...): headers that the target compiles once. GCC knows a header that it has in a compiled one
# by its whole text; so ccache, which tells sources apart without their comments, counts these in here.
function(gradus_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_property(TARGET ${target} PROPERTY
                 CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_COMMENTS=1 ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endfunction()
