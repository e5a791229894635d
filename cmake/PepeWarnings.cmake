# Warnings for pepe's own code, carried by one INTERFACE target. Errors only where PEPE_WERROR asks for it.
add_library(pepe_warnings INTERFACE)
target_compile_options(pepe_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wformat=2 -Wimplicit-fallthrough $<$<BOOL:${PEPE_WERROR}>:-Werror>)
# GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(pepe_warnings INTERFACE -Wno-restrict)
  # With -O1 or a sanitizer it follows std::string and std::regex into faults that are not there either. What ships is
  # compiled with these warnings.
  target_compile_options(pepe_warnings INTERFACE
    "$<$<NOT:$<CONFIG:Release>>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()
