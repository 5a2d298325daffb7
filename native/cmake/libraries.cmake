# The libraries that the addon and the tests have in common. Both are built in one folder, native/build, so that each
# source is compiled once, and the tests check the very code that the addon runs.
foreach(layer audio kernels model runtime)
  string(TOUPPER ${layer} name)
  add_library(${layer} STATIC EXCLUDE_FROM_ALL ${${name}_SOURCES})
  target_include_directories(${layer} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${layer} PUBLIC Threads::Threads)
  compile_together(${layer})
endforeach()
target_link_libraries(audio PUBLIC opus)
target_link_libraries(model PUBLIC kernels)
target_link_libraries(runtime PUBLIC model)
