# Every library that pepe needs is found here, with its minimum version and the Debian package that brings it.

# pepe_require(NAME VERSION PACKAGE [CONFIG]): find_package that names what to install when it is missing.
macro(pepe_require name version package)
  find_package(${name} ${version} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "pepe needs ${name} ${version} or newer: apt-get install ${package}")
  endif()
endmacro()

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
find_path(PEPE_DYGRAPHS_DIR dygraph.min.js PATHS /usr/share/javascript/dygraphs
          DOC "Folder of dygraph.min.js and dygraph.min.css, which plots are drawn with")
if(NOT PEPE_DYGRAPHS_DIR)
  message(FATAL_ERROR "pepe needs dygraphs 2: apt-get install libjs-dygraphs")
endif()
if(PEPE_TESTS)
  pepe_require(GTest 1.12 "libgtest-dev libgmock-dev" CONFIG)
  find_package(Python3 3.9 COMPONENTS Interpreter)
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
