# The functions that the modules, tests, fuzz targets and bench programs are declared with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

# What the static libraries bring and nothing calls is left out of the binary.
add_compile_options($<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
add_link_options($<$<CONFIG:Release>:-Wl,--gc-sections> $<$<CONFIG:Release>:-Wl,--as-needed>)

# pepe_add_module(NAME SOURCES ... [COLD sources...] [DEPENDS module...] [LIBRARIES target...])
# A static library pepe_<name>; it sees the public headers and links only the modules and libraries that it names.
# What runs once a run or once a connection is COLD: what counts there is how many pages of code are loaded.
function(pepe_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;COLD;DEPENDS;LIBRARIES")
  add_library(pepe_${name} STATIC ${arg_SOURCES} ${arg_COLD})
  set_source_files_properties(${arg_COLD} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
  add_library(pepe::${name} ALIAS pepe_${name})
  target_include_directories(pepe_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  list(TRANSFORM arg_DEPENDS PREPEND pepe_)
  target_link_libraries(pepe_${name} PUBLIC ${arg_DEPENDS} ${arg_LIBRARIES} pepe_fmt PRIVATE pepe_warnings)
  set(headers base)
  if("pepe_asio" IN_LIST arg_LIBRARIES OR "pepe_engine" IN_LIST arg_DEPENDS)
    set(headers asio)
  endif()
  pepe_precompile(pepe_${name} ${headers})
endfunction()

# pepe_add_test(NAME SOURCES ... LINK target...): a GoogleTest binary, registered with CTest test by test.
function(pepe_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main pepe_warnings)
  pepe_precompile(${name} test)
  target_compile_definitions(${name} PRIVATE PEPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# pepe_add_fuzz(NAME SOURCES ... LINK target... [CHANGES n]): tests/fuzz/<name>.cc with LLVMFuzzerTestOneInput. The
# default build links a main that replays corpus/<name>/ as a test, with so many changes to each entry (300);
# -DPEPE_FUZZ=ON links libFuzzer instead.
function(pepe_add_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CHANGES" "SOURCES;LINK")
  set(target fuzz_${name})
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${arg_LINK} pepe_warnings)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  if(PEPE_FUZZ)
    add_dependencies(fuzz_targets ${target})
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${target} PRIVATE pepe_replay)
    if(NOT arg_CHANGES)
      set(arg_CHANGES 300)
    endif()
    add_test(NAME Fuzz.${name}.ReplaysItsCorpus
             COMMAND ${target} -changes=${arg_CHANGES} "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(Fuzz.${name}.ReplaysItsCorpus PROPERTIES TIMEOUT 300)
  endif()
endfunction()
