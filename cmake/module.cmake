# SPDX-License-Identifier: GPL-2.0-only
# rowsocket_module(NAME [DEPENDS module...]): a static library rowsocket_NAME from the *.cc files of the
# current folder. Files that end in _test.cc become the test program rowsocket_NAME_test, each *_fuzz.cc a
# fuzzing program of its own.

find_package(Threads REQUIRED)
if(ROWSOCKET_TESTS OR ROWSOCKET_CONFORMANCE)
  find_package(GTest REQUIRED)
endif()

add_library(rowsocket_flags INTERFACE)
target_include_directories(rowsocket_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# No unique symbols: they would keep the plugin in memory after UNINSTALL.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rowsocket_flags INTERFACE -fno-gnu-unique)
endif()
target_compile_options(rowsocket_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                 -Werror=return-type -Werror=unused-result)
# Fields say which lock guards them; only clang understands it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(rowsocket_flags INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(ROWSOCKET_SANITIZE)
  target_compile_options(rowsocket_flags INTERFACE -fsanitize=${ROWSOCKET_SANITIZE} -fno-omit-frame-pointer
                                                   -fno-sanitize-recover=all)
  target_link_options(rowsocket_flags INTERFACE -fsanitize=${ROWSOCKET_SANITIZE})
endif()
if(ROWSOCKET_FUZZ)
  target_compile_options(rowsocket_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# What is tested is compiled as it is shipped, or with all sanitizers. The tests themselves (targets with the
# property ROWSOCKET_IS_TEST) need neither the optimizer nor UBSan: either doubles the time that they take.
target_compile_options(
  rowsocket_flags INTERFACE "$<$<BOOL:$<TARGET_PROPERTY:ROWSOCKET_IS_TEST>>:-O0;-fno-sanitize=undefined>")

# With ROWSOCKET_PCH what nearly every file includes is compiled once. Libraries and programs differ in how
# their code is placed (-fPIC, -fPIE), so there are two. No source depends on it.
if(ROWSOCKET_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/nothing.cc CONTENT "")
  set(headers <algorithm> <functional> <memory> <string> <string_view> <utility> <vector>)
  add_library(rowsocket_library_pch STATIC ${CMAKE_BINARY_DIR}/nothing.cc)
  target_link_libraries(rowsocket_library_pch PRIVATE rowsocket_flags)
  target_precompile_headers(rowsocket_library_pch PRIVATE ${headers})
  if(ROWSOCKET_TESTS)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/main.cc CONTENT "int main() {}\n")
    add_executable(rowsocket_test_pch ${CMAKE_BINARY_DIR}/main.cc)
    target_link_libraries(rowsocket_test_pch PRIVATE rowsocket_flags GTest::gmock)
    set_target_properties(rowsocket_test_pch PROPERTIES ROWSOCKET_IS_TEST ON) # else no test can use it
    target_precompile_headers(rowsocket_test_pch PRIVATE ${headers} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

function(rowsocket_module name)
  cmake_parse_arguments(MODULE "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(TRANSFORM MODULE_DEPENDS PREPEND rowsocket_)

  if(sources)
    add_library(rowsocket_${name} STATIC ${sources})
    target_link_libraries(rowsocket_${name} PUBLIC rowsocket_flags ${MODULE_DEPENDS} Threads::Threads)
    if(ROWSOCKET_PCH)
      target_precompile_headers(rowsocket_${name} REUSE_FROM rowsocket_library_pch)
    endif()
  else()
    add_library(rowsocket_${name} INTERFACE)
    target_link_libraries(rowsocket_${name} INTERFACE rowsocket_flags ${MODULE_DEPENDS} Threads::Threads)
  endif()

  if(ROWSOCKET_TESTS AND tests)
    add_executable(rowsocket_${name}_test ${tests})
    target_link_libraries(rowsocket_${name}_test PRIVATE rowsocket_${name} GTest::gmock GTest::gtest_main)
    set_target_properties(rowsocket_${name}_test PROPERTIES ROWSOCKET_IS_TEST ON)
    if(ROWSOCKET_PCH)
      target_precompile_headers(rowsocket_${name}_test REUSE_FROM rowsocket_test_pch)
    endif()
    add_test(NAME rowsocket_${name}_test COMMAND rowsocket_${name}_test)
  endif()
  if(ROWSOCKET_FUZZ)
    # What no fuzzing program needs is not built: the server is the larger half.
    set_target_properties(rowsocket_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    foreach(fuzzer ${fuzzers})
      get_filename_component(program ${fuzzer} NAME_WE)
      add_executable(${program} ${fuzzer})
      target_link_libraries(${program} PRIVATE rowsocket_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
