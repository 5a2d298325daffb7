# The tests: every native/test/*_test.cc is one program without Node.
enable_testing()
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)

add_library(media STATIC ${MEDIA_SOURCES})
target_include_directories(media PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(media PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

add_library(kernels STATIC ${KERNELS_SOURCES})
target_include_directories(kernels PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(kernels PUBLIC Threads::Threads)

foreach(part media kernels)
  if(PARLEY_SANITIZE)
    # Without recovery: a report of undefined behaviour alone would let the test pass.
    target_compile_options(${part} PUBLIC -fsanitize=${PARLEY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${part} PUBLIC -fsanitize=${PARLEY_SANITIZE})
  endif()
endforeach()

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/*_test.cc)
foreach(source ${TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE media kernels)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endforeach()


# Figures: cmake --build <folder> --target kernels_bench
add_executable(kernels_bench EXCLUDE_FROM_ALL bench/kernels_bench.cc)
target_link_libraries(kernels_bench PRIVATE kernels)
