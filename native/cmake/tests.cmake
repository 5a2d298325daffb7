# The tests: every native/test/*_test.cc is one program without Node.
enable_testing()
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)

add_library(media STATIC ${MEDIA_SOURCES})
target_include_directories(media PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(media PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

# The layers of the speech engine that nothing uses yet: half of the time that the tests take to build.
option(PARLEY_SPEECH "Build and test the layers of the native speech engine" OFF)

add_library(kernels STATIC EXCLUDE_FROM_ALL ${KERNELS_SOURCES})
add_library(model STATIC EXCLUDE_FROM_ALL ${MODEL_SOURCES})
add_library(runtime STATIC EXCLUDE_FROM_ALL ${RUNTIME_SOURCES})
add_library(tools STATIC EXCLUDE_FROM_ALL ${TOOLS_SOURCES})
foreach(part kernels model runtime tools)
  target_include_directories(${part} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${part} PUBLIC Threads::Threads)
endforeach()
target_link_libraries(model PUBLIC kernels)
target_link_libraries(runtime PUBLIC model)
target_link_libraries(tools PUBLIC runtime)
foreach(part media kernels model runtime tools)
  if(PARLEY_SANITIZE)
    # Without recovery: a report of undefined behaviour alone would let the test pass.
    target_compile_options(${part} PUBLIC -fsanitize=${PARLEY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${part} PUBLIC -fsanitize=${PARLEY_SANITIZE})
  endif()
endforeach()

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/*_test.cc)
if(NOT PARLEY_SPEECH)
  list(FILTER TEST_SOURCES EXCLUDE REGEX "/(checkpoint|checkpoint_fuzz|codec_[a-z]+|kernels_[a-z]+|prompt|resampling|runtime_[a-z_]+|safetensors|sampling|speech_[a-z]+|thread_pool|tokenizer|tool_files|transformer|voice_[a-z]+|weights|write_checkpoint)_test\\.cc$")
endif()
foreach(source ${TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE media)
  if(PARLEY_SPEECH)
    target_link_libraries(${name} PRIVATE tools)
    target_compile_definitions(${name} PRIVATE PARLEY_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/test/golden")
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endforeach()


# Figures: cmake --build <folder> --target kernels_bench
add_executable(kernels_bench EXCLUDE_FROM_ALL bench/kernels_bench.cc)
target_link_libraries(kernels_bench PRIVATE kernels)
add_executable(speech_bench EXCLUDE_FROM_ALL bench/speech_bench.cc)
target_link_libraries(speech_bench PRIVATE model)
add_executable(voice_bench EXCLUDE_FROM_ALL bench/voice_bench.cc)
target_link_libraries(voice_bench PRIVATE model)
add_executable(codec_bench EXCLUDE_FROM_ALL bench/codec_bench.cc)
target_link_libraries(codec_bench PRIVATE kernels model)
target_compile_definitions(codec_bench PRIVATE PARLEY_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/test/golden")

# Command lines: --target speak
foreach(name speak write_checkpoint)
  add_executable(${name} EXCLUDE_FROM_ALL tools/${name}.cc)
  target_link_libraries(${name} PRIVATE tools)
endforeach()
