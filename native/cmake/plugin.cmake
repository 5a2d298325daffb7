# Addon and CUDA backend must agree in these headers, from which both are compiled.
set(PLUGIN_INTERFACE "")
foreach(header kernels/cuda/plugin.h kernels/kernels.h kernels/speech_kernels.h kernels/matrix.h kernels/sampling.h)
  file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${header} digest)
  string(APPEND PLUGIN_INTERFACE ${digest})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
endforeach()
string(SHA256 PLUGIN_INTERFACE "${PLUGIN_INTERFACE}")
add_compile_definitions(PARLEY_PLUGIN_INTERFACE="${PLUGIN_INTERFACE}")
