# PEPE_PCH: the headers that most sources include are precompiled, once for all targets that compile with the same
# flags. Headers of libraries alone: pepe's own would be compiled again with every change.
if(PEPE_PCH)
  set(_pepe_headers <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string>
      <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)

  # _pepe_precompiled(KIND LIBRARY HEADER...): a library that holds nothing but the precompiled headers.
  function(_pepe_precompiled kind library)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled_${kind}.cc" CONTENT "")
    add_library(pepe_precompiled_${kind} OBJECT "${CMAKE_BINARY_DIR}/precompiled_${kind}.cc")
    target_compile_features(pepe_precompiled_${kind} PRIVATE cxx_std_20)
    set_target_properties(pepe_precompiled_${kind} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(pepe_precompiled_${kind} PRIVATE pepe_fmt pepe_warnings ${library})
    target_precompile_headers(pepe_precompiled_${kind} PRIVATE ${_pepe_headers} ${ARGN})
  endfunction()

  _pepe_precompiled(base "")
  _pepe_precompiled(asio pepe_asio <boost/asio.hpp>)
  if(PEPE_TESTS)
    _pepe_precompiled(test GTest::gmock <gtest/gtest.h> <gmock/gmock.h>)
  endif()
  # With this ccache knows precompiled headers; it wants CCACHE_SLOPPINESS=pch_defines,time_macros besides.
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
endif()

# pepe_precompile(TARGET KIND): base, asio or test.
function(pepe_precompile target kind)
  if(PEPE_PCH)
    target_precompile_headers(${target} REUSE_FROM pepe_precompiled_${kind})
  endif()
endfunction()
