# The kernels. Files of an instruction set are compiled with its flags and chosen
# at run time; everywhere the compiler may not fuse what is not written as fused,
# so that all of them give the same bits.
set(KERNELS_SOURCES
  kernels/cpu/cpu_attention.cc
  kernels/cpu/cpu_convolutions.cc
  kernels/cpu/cpu_elements.cc
  kernels/cpu/cpu_kernels.cc
  kernels/cpu/cpu_statistics.cc
  kernels/cpu/portable.cc
  kernels/cpu/thread_pool.cc
  kernels/cpu/variant.cc
  kernels/cuda/plugin.cc
  kernels/kernels.cc
  kernels/speech_kernels.cc
  kernels/log_mel.cc
  kernels/quantization.cc
  kernels/sampling.cc)

set_source_files_properties(${KERNELS_SOURCES} PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
# Hundreds of millions of weights at load: loops that are wide only at this level.
if(NOT PARLEY_SANITIZE)
  set_source_files_properties(kernels/quantization.cc PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;-O3")
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND KERNELS_SOURCES kernels/cpu/avx2.cc kernels/cpu/avx512.cc)
  set_source_files_properties(kernels/cpu/variant.cc PROPERTIES COMPILE_DEFINITIONS PARLEY_X86_VARIANTS)
  set(AVX2_FLAGS -O3 -ffp-contract=off -mavx2 -mfma -mf16c)
  # Under the sanitizers these loops would take many minutes to compile: their checks of memory are calls here, and
  # undefined behaviour is looked for in the portable loops, which are written the same way.
  if(PARLEY_SANITIZE)
    list(TRANSFORM AVX2_FLAGS REPLACE "-O3" "-O2")
  endif()
  if(PARLEY_SANITIZE MATCHES "address")
    list(APPEND AVX2_FLAGS -fno-sanitize=undefined --param=asan-instrumentation-with-call-threshold=0 --param=asan-stack=0)
  endif()
  set_source_files_properties(kernels/cpu/avx2.cc PROPERTIES COMPILE_OPTIONS "${AVX2_FLAGS}")
  # GCC 12 takes its own undefined vectors for uninitialized ones.
  set_source_files_properties(kernels/cpu/avx512.cc PROPERTIES COMPILE_OPTIONS
    "${AVX2_FLAGS};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-Wno-uninitialized;-Wno-maybe-uninitialized")
endif()

# The kernels of GPUs on the host, for tests.
set(CUDA_BACKEND_SOURCES
  kernels/cuda/cuda_elements.cc
  kernels/cuda/fused/cuda_layer_run.cc
  kernels/cuda/cuda_layers.cc
  kernels/cuda/cuda_memory.cc
  kernels/cuda/products/cuda_planned.cc
  kernels/cuda/products/cuda_products.cc
  kernels/cuda/device/memory_pool.cc
  kernels/cuda/device/recorder.cc)
set(CUDA_DEVICE_SOURCES
  kernels/cuda/device/gpu_device.cu
  kernels/cuda/parley_cuda.cu
  kernels/cuda/products/tile_map.cu)
set(EMULATED_SOURCES
  ${CUDA_BACKEND_SOURCES}
  test/emulator/block.cc
  test/emulator/emulated_device.cc
  test/emulator/emulator.cc
  test/emulator/fiber.cc
  test/emulator/tile_intrinsics.cc)
set_source_files_properties(${EMULATED_SOURCES} PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;-Wno-unknown-pragmas")
