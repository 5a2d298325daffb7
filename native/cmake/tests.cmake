# The tests: every native/test/*_test.cc is one program without Node.
enable_testing()
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)

add_library(media STATIC ${MEDIA_SOURCES})
target_include_directories(media PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(media PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
add_library(model STATIC ${MODEL_SOURCES})
target_include_directories(model PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
if(PARLEY_SANITIZE)
  foreach(library media model)
    # Without recovery: a report of undefined behaviour alone would let the test pass.
    target_compile_options(${library} PUBLIC -fsanitize=${PARLEY_SANITIZE} -fno-sanitize-recover=all
      -fno-omit-frame-pointer -g)
    target_link_options(${library} PUBLIC -fsanitize=${PARLEY_SANITIZE})
  endforeach()
endif()

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/*_test.cc)
foreach(source ${TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE media model)
  target_compile_definitions(${name} PRIVATE PARLEY_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/test/golden")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endforeach()
