# Builds llhttp from the C sources of Debian's node-llhttp (or of LLHTTP_ROOT): target Llhttp::Llhttp.
find_path(Llhttp_INCLUDE_DIR llhttp.h HINTS ${LLHTTP_ROOT} PATH_SUFFIXES include llhttp include/llhttp
          PATHS /usr/share/include/llhttp /usr/share/llhttp)
find_path(Llhttp_SOURCE_DIR api.c HINTS ${LLHTTP_ROOT} PATH_SUFFIXES src llhttp PATHS /usr/share/llhttp)
if(Llhttp_INCLUDE_DIR)
  file(STRINGS "${Llhttp_INCLUDE_DIR}/llhttp.h" _llhttp_lines REGEX "define LLHTTP_VERSION_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "[^0-9]+" "." Llhttp_VERSION "${_llhttp_lines}")
  string(REGEX REPLACE "^\\.|\\.$" "" Llhttp_VERSION "${Llhttp_VERSION}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Llhttp REQUIRED_VARS Llhttp_SOURCE_DIR Llhttp_INCLUDE_DIR VERSION_VAR Llhttp_VERSION)
if(Llhttp_FOUND AND NOT TARGET Llhttp::Llhttp)
  add_library(pepe_llhttp STATIC ${Llhttp_SOURCE_DIR}/api.c ${Llhttp_SOURCE_DIR}/http.c ${Llhttp_SOURCE_DIR}/llhttp.c)
  target_include_directories(pepe_llhttp SYSTEM PUBLIC ${Llhttp_INCLUDE_DIR})
  # The sources hold a loose and a strict parser; only the strict one minds the bytes between chunks.
  target_compile_definitions(pepe_llhttp PUBLIC LLHTTP_STRICT_MODE=1)
  target_compile_options(pepe_llhttp PRIVATE $<$<CONFIG:Debug>:-O2> -w)
  add_library(Llhttp::Llhttp ALIAS pepe_llhttp)
endif()
