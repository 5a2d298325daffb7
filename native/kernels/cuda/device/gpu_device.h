// Opens devices through the CUDA runtime.
#ifndef PARLEY_KERNELS_CUDA_GPU_DEVICE_H_
#define PARLEY_KERNELS_CUDA_GPU_DEVICE_H_

#include <memory>
#include <string>

#include "kernels/cuda/device/device.h"

namespace parley::cuda {

struct GpuOptions {
  int device = 0;
  double longest_wait = 30;  // seconds; a device that needs longer is lost
};

// Why `device` cannot be used: no driver, one too old, no GPU, one too old. Empty when it can.
std::string WhyNoGpu(int device);

// Throws std::runtime_error with what WhyNoGpu says, and std::bad_alloc.
std::unique_ptr<Device> OpenGpu(const GpuOptions& options);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_DEVICE_H_
