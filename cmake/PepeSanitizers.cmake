# PEPE_SANITIZE="address;undefined" or "thread" instruments everything that is built here, llhttp included.
if(PEPE_SANITIZE)
  list(JOIN PEPE_SANITIZE "," _pepe_sanitize)
  add_compile_options(-fsanitize=${_pepe_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_pepe_sanitize})
  if("thread" IN_LIST PEPE_SANITIZE)
    # Asio's fences, which ThreadSanitizer does not follow and GCC warns of, stand beside locks that it does.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()
# libFuzzer steers by what it covers: of the modules too, not only of the fuzz target.
if(PEPE_FUZZ)
  add_compile_definitions(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  add_compile_options(-fsanitize=fuzzer-no-link
                      "-fsanitize-ignorelist=${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/ignored.txt")
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
# UndefinedBehaviorSanitizer takes a lack of descriptors for bad memory; `target` is tested without any.
function(pepe_let_sanitizers_lack_descriptors target)
  if("undefined" IN_LIST PEPE_SANITIZE)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sanitizer_descriptors.cc)
    target_link_options(${target} PRIVATE -Wl,--wrap=__ubsan_handle_dynamic_type_cache_miss_abort)
  endif()
endfunction()
