# The CUDA backend, parley_cuda.so: a file of its own, loaded where a driver answers. Built where there is nvcc.
#
#   -DPARLEY_CUDA=OFF                 never; ON: it is an error when nvcc is missing; AUTO: skipped then
#   -DPARLEY_CUDA_ARCHITECTURES=90a   one GPU's alone: all of them take long
#   -DPARLEY_CUDA_TRACE=ON            writes when each grid ran to the file that PARLEY_CUDA_TRACE names: see gpu_trace.cuh
set(PARLEY_CUDA AUTO CACHE STRING "The CUDA backend: AUTO (where there is nvcc), ON or OFF")
set(PARLEY_CUDA_TRACE OFF CACHE BOOL "The CUDA backend takes down when each grid ran")
set(PARLEY_CUDA_ARCHITECTURES "80;89;90a;120" CACHE STRING "Compute capabilities with code of their own")

find_program(PARLEY_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(PARLEY_CUDA AND NOT PARLEY_NVCC)
  if(PARLEY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "PARLEY_CUDA is ON, but there is no nvcc")
  endif()
  message(STATUS "CUDA backend: skipped, there is no nvcc")
endif()

if(PARLEY_CUDA AND PARLEY_NVCC)
  set(NVCC_FLAGS -std=c++17 -O3 --expt-relaxed-constexpr -fmad=false -lineinfo -cudart static
    -Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off,-Wall,-Wno-unknown-pragmas
    -I${CMAKE_CURRENT_SOURCE_DIR} -DPARLEY_PLUGIN_INTERFACE=\"${PLUGIN_INTERFACE}\")
  set(NVCC_TARGETS "")
  foreach(architecture ${PARLEY_CUDA_ARCHITECTURES})
    list(APPEND NVCC_TARGETS -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  if(PARLEY_CUDA_TRACE)
    list(APPEND NVCC_FLAGS -DPARLEY_CUDA_TRACE)
  endif()
  # For GPUs that are newer than this.
  list(APPEND NVCC_TARGETS -gencode=arch=compute_80,code=compute_80)
  # CMake's own CUDA language would ask every build machine for a compiler that only this file needs.
  set(CUDA_OBJECTS "")
  foreach(source ${CUDA_BACKEND_SOURCES} ${CUDA_DEVICE_SOURCES} kernels/kernels.cc kernels/speech_kernels.cc)
    get_filename_component(name ${source} NAME_WE)
    set(language "")  # as the file's name says
    if(source IN_LIST CUDA_BACKEND_SOURCES AND name MATCHES "^cuda_")
      set(language -x cu)
    endif()
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${PARLEY_NVCC} ${NVCC_FLAGS} ${NVCC_TARGETS} ${language} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Compiling ${source} for GPUs" VERBATIM)
    list(APPEND CUDA_OBJECTS ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  set(CUDA_EXPORTS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/exports.map)
  set(CUDA_BACKEND ${CMAKE_CURRENT_BINARY_DIR}/parley_cuda.so)
  add_custom_command(OUTPUT ${CUDA_BACKEND}
    COMMAND ${PARLEY_NVCC} -shared ${NVCC_TARGETS} -cudart static -Xlinker -zdefs -Xlinker --version-script=${CUDA_EXPORTS}
      -o ${CUDA_BACKEND} ${CUDA_OBJECTS}
    DEPENDS ${CUDA_OBJECTS} ${CUDA_EXPORTS} COMMENT "Linking parley_cuda.so" VERBATIM)
  add_custom_target(parley_cuda DEPENDS ${CUDA_BACKEND})
  foreach(bench product_bench lost_wait)
    add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cuda/${bench}
      COMMAND ${PARLEY_NVCC} ${NVCC_FLAGS} ${NVCC_TARGETS} -cudart static -o ${CMAKE_CURRENT_BINARY_DIR}/cuda/${bench}
        ${CMAKE_CURRENT_SOURCE_DIR}/bench/${bench}.cu ${CUDA_OBJECTS}
      DEPENDS bench/${bench}.cu ${CUDA_OBJECTS} COMMENT "Compiling ${bench} for GPUs" VERBATIM)
    add_custom_target(${bench} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/cuda/${bench})
  endforeach()
  message(STATUS "CUDA backend: by ${PARLEY_NVCC} for ${PARLEY_CUDA_ARCHITECTURES} (target parley_cuda)")
endif()
