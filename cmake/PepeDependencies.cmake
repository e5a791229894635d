# Every library that pepe needs is found here, with its minimum version and the Debian package that brings it.

# pepe_require(NAME VERSION PACKAGE [CONFIG]): find_package that names what to install when it is missing.
macro(pepe_require name version package)
  find_package(${name} ${version} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "pepe needs ${name} ${version} or newer: apt-get install ${package}")
  endif()
endmacro()

# pepe_require_library(NAME HEADER SHOWN PACKAGE): one that comes without a CMake package, as the target pepe_<NAME>.
function(pepe_require_library name header shown package)
  string(TOUPPER ${name} prefix)
  find_path(${prefix}_INCLUDE_DIR ${header})
  set(names ${name})
  if(PEPE_STATIC)
    list(PREPEND names lib${name}.a)
  endif()
  find_library(${prefix}_LIBRARY NAMES ${names} NAMES_PER_DIR)
  if(NOT ${prefix}_INCLUDE_DIR OR NOT ${prefix}_LIBRARY)
    message(FATAL_ERROR "pepe needs ${shown} or newer: apt-get install ${package}")
  endif()
  add_library(pepe_${name} INTERFACE)
  target_include_directories(pepe_${name} SYSTEM INTERFACE ${${prefix}_INCLUDE_DIR})
  target_link_libraries(pepe_${name} INTERFACE ${${prefix}_LIBRARY})
endfunction()

if(PEPE_STATIC)
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(Boost_NO_WARN_NEW_VERSIONS ON)
pepe_require(Boost 1.74 libboost-dev)
pepe_require(OpenSSL 3.0 libssl-dev)
pepe_require(Llhttp 8.1 node-llhttp)
pepe_require(CLI11 2.1 libcli11-dev CONFIG)
pepe_require(fmt 9.1 libfmt-dev CONFIG)
pepe_require(msgpack 4.1 libmsgpack-cxx-dev CONFIG)
pepe_require(RapidJSON 1.1 rapidjson-dev CONFIG)
pepe_require(ZLIB 1.2 zlib1g-dev)
pepe_require_library(cares ares.h "c-ares 1.18" libc-ares-dev)
pepe_require_library(nghttp2 nghttp2/nghttp2.h "nghttp2 1.52" libnghttp2-dev)
target_compile_definitions(pepe_nghttp2 INTERFACE $<$<BOOL:${PEPE_STATIC}>:NGHTTP2_STATICLIB>)
find_path(PEPE_DYGRAPHS_DIR dygraph.min.js PATHS /usr/share/javascript/dygraphs
          DOC "Folder of dygraph.min.js and dygraph.min.css, which plots are drawn with")
if(NOT PEPE_DYGRAPHS_DIR)
  message(FATAL_ERROR "pepe needs dygraphs 2: apt-get install libjs-dygraphs")
endif()
if(PEPE_TESTS)
  pepe_require(GTest 1.12 "libgtest-dev libgmock-dev" CONFIG)
  find_package(Python3 3.9 COMPONENTS Interpreter)
endif()

# Header-only, fmt costs every source that formats seconds. Its compiled part is private to its version: for another one
# it stays header-only.
if(fmt_VERSION VERSION_LESS 10)
  add_library(pepe_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cc)
  target_compile_features(pepe_fmt PRIVATE cxx_std_20)
  # Without traps, rounding needs no function of libm, which is a third of a megabyte of every run's memory.
  target_compile_options(pepe_fmt PRIVATE -w -fno-trapping-math $<$<CONFIG:Release>:-O2>)
  set_target_properties(pepe_fmt PROPERTIES CXX_CLANG_TIDY "")
  get_target_property(_fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(pepe_fmt SYSTEM PUBLIC ${_fmt_include})
else()
  add_library(pepe_fmt INTERFACE)
  target_link_libraries(pepe_fmt INTERFACE fmt::fmt-header-only)
endif()

# Boost.Asio is header-only here: no Boost library is linked.
add_library(pepe_asio INTERFACE)
target_link_libraries(pepe_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(pepe_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

add_library(pepe_msgpack INTERFACE)
target_link_libraries(pepe_msgpack INTERFACE msgpackc-cxx)
target_compile_definitions(pepe_msgpack INTERFACE MSGPACK_NO_BOOST)

add_library(pepe_rapidjson INTERFACE)
target_include_directories(pepe_rapidjson SYSTEM INTERFACE ${RapidJSON_INCLUDE_DIR} ${RAPIDJSON_INCLUDE_DIRS})
